/*
 * difference.h
 *	  Finds what a jsonb document has in common with the one it replaces.
 */
#ifndef SLICED_JSONB_DIFFERENCE_H
#define SLICED_JSONB_DIFFERENCE_H

#include "postgres.h"

#include "base/toaster.h"
#include "toaster/jsonb/edit.h"

/*
 * The document 'raw', of 'len' bytes, as a rope of 'old', which is stored.  'raw' has
 * to last as long as the rope.
 */
extern SlicedRope *sliced_jsonb_difference(SlicedDocument *old, const char *raw, uint32 len);

/*
 * A fragment to replace entry 'i' of a node, in 'doc' as a rope.  If it is a long
 * container in memory that has much in common with the old entry, it shares that.
 */
extern SlicedFragment sliced_fragment_replacing(const SlicedRope *doc, const SlicedJsonbNode *node, uint32 i,
												const SlicedFragment *new);

#endif
