/*
 * difference.h
 *	  Finds what an array has in common with the one it replaces.
 */
#ifndef SLICED_ARRAY_DIFFERENCE_H
#define SLICED_ARRAY_DIFFERENCE_H

#include "postgres.h"

#include "store/rope.h"
#include "value/document.h"

/*
 * The array 'raw', of 'len' bytes, as a rope of 'old', which has been read
 * completely.  NULL if one of them is no array.  'raw' has to last as long as the
 * rope.
 */
extern SlicedRope *sliced_array_difference(SlicedDocument *old, const char *raw, uint32 len);

#endif
