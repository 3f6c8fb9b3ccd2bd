/*
 * document.h
 *	  Documents in memory.  A target must not look at bytes before it asks for them.
 */
#ifndef FUZZ_DOCUMENT_H
#define FUZZ_DOCUMENT_H

#include "postgres.h"

#include "value/document.h"

/* Make a document of these bytes.  It lasts until the next call. */
extern SlicedDocument *document_make(const char *bytes, uint32 len);

/* Check that a rope of that document results in these bytes. */
extern void document_check_rope(const SlicedRope *rope, const char *bytes, uint32 len);

#endif
