/*
 * difference.h
 *	  Finds what a new value has in common with the one it replaces.
 *
 * Applications that do not say what they have changed send the whole value.
 */
#ifndef SLICED_TOASTER_DIFFERENCE_H
#define SLICED_TOASTER_DIFFERENCE_H

#include "postgres.h"

#include "base/toaster.h"
#include "store/rope.h"
#include "utils/rel.h"

/*
 * Describe the 'len' bytes at 'raw' as a rope of 'old', a value of ours, in the
 * current context.  NULL if they have too little in common, or if comparing has not
 * paid for this column before.  'raw' has to last as long as the rope.  If nothing
 * has changed, the rope is one run with all of the base.
 */
extern SlicedRope *sliced_difference(Relation rel, int attno, const SlicedToaster *toaster,
									 const struct varatt_external *old,
									 const char *raw, uint32 len);

#endif
