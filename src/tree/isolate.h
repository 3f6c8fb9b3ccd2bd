/*
 * isolate.h
 *	  Makes extents of the slices that have edits.
 */
#ifndef SLICED_TREE_ISOLATE_H
#define SLICED_TREE_ISOLATE_H

#include "postgres.h"

#include "tree/limbs.h"

/*
 * Make an extent of the slice in which most is edited, or of each slice that has
 * edits. 'first' to 'last' are the extent's items and its edits.
 */
extern void isolate_slices(Tree *t, Limb *limb, Branch *b, int first, int last, bool all);

#endif
