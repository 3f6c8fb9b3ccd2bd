/*
 * trim.h
 *	  Frees slices that a node no longer needs.
 */
#ifndef SLICED_TREE_TRIM_H
#define SLICED_TREE_TRIM_H

#include "postgres.h"

#include "tree/limbs.h"

/*
 * Free slices that have no run in the limb.  Where the runs use less than half of a slice,
 * copy these bytes and free the slice.
 */
extern void limb_trim_extents(Tree *t, Limb *limb);

#endif
