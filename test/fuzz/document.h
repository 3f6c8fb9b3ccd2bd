/*
 * document.h
 *	  Documents in memory.  Bytes that nobody has asked for must not be looked at.
 */
#ifndef FUZZ_DOCUMENT_H
#define FUZZ_DOCUMENT_H

#include "postgres.h"

#include "value/document.h"

/* A document of these bytes, until the next call. */
extern SlicedDocument *document_make(const char *bytes, uint32 len);

/* The result of a rope of that document must be these bytes. */
extern void document_check_rope(const SlicedRope *rope, const char *bytes, uint32 len);

#endif
