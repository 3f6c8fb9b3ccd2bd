/*
 * jsonb_part.h
 *	  A container within a document, as a datum that is not a copy of it.
 *
 * In doc->'a'->'b'->>'c' what doc->'a' is, is asked only by ->'b'.  So functions
 * whose result is the argument of another one of ours return just where it is.
 * Whoever else gets such a datum, an expanded object, finds it flattened.
 */
#ifndef SLICED_TOASTER_JSONB_PART_H
#define SLICED_TOASTER_JSONB_PART_H

#include "postgres.h"

#include "toaster/jsonb_tree.h"

/* A datum for the container at 'place'. */
extern Datum sliced_part_make(const SlicedDocument *doc, const SlicedPlace *place);

/*
 * The container that a function's argument is: the root of a document, or one
 * within it.  False if it is none of ours.
 */
extern bool sliced_part_get(FunctionCallInfo fcinfo, int arg, SlicedNode *node);

#endif
