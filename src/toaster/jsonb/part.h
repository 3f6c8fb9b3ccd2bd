/*
 * part.h
 *	  A container within a document, as a datum that is not a copy of it.
 *
 * In doc->'a'->'b'->>'c', only ->'b' looks at the result of doc->'a', so we pass on
 * where it is instead of a copy.  The same in (doc->'a') || x: the result shares
 * these bytes with the document.  Such a datum is an expanded object; core's
 * functions flatten it.
 */
#ifndef SLICED_JSONB_PART_H
#define SLICED_JSONB_PART_H

#include "postgres.h"

#include "toaster/jsonb/tree.h"

/* A value of ours, or a container within one: bytes [start, start + len). */
typedef struct SlicedPart
{
	struct varatt_external doc;
	uint32		start;
	uint32		len;
} SlicedPart;

/* A datum for the container at 'place'. */
extern Datum sliced_part_make(const SlicedDocument *doc, const SlicedPlace *place);

/* The part that the datum is.  Returns false if it is not ours. */
extern bool sliced_part_of(Datum datum, SlicedPart *part);

/*
 * Find the container that is a function's argument: the root of a document, or a
 * container within one.  Returns false if the argument is not ours.
 */
extern bool sliced_part_get(FunctionCallInfo fcinfo, int arg, SlicedJsonbNode *node);

#endif
