/*
 * difference.h
 *	  Finds what a jsonb document has in common with the one it replaces.
 */
#ifndef SLICED_JSONB_DIFFERENCE_H
#define SLICED_JSONB_DIFFERENCE_H

#include "postgres.h"

#include "store/rope.h"

/*
 * The document 'raw', of 'len' bytes, as a rope of 'old', a stored one.  'raw' has
 * to last as long as the rope.
 */
extern SlicedRope *sliced_jsonb_difference(const struct varatt_external *old,
										   const char *raw, uint32 len);

#endif
