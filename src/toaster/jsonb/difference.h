/*
 * difference.h
 *	  Finds what a jsonb document has in common with the one it replaces.
 */
#ifndef SLICED_JSONB_DIFFERENCE_H
#define SLICED_JSONB_DIFFERENCE_H

#include "postgres.h"

#include "base/toaster.h"

/*
 * The document 'raw', of 'len' bytes, as a rope of 'old', a stored one.  'raw' has
 * to last as long as the rope.
 */
extern SlicedRope *sliced_jsonb_difference(SlicedDocument *old, const char *raw, uint32 len);

#endif
