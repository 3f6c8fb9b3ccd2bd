/*
 * isolate.h
 *	  Slices that have edits become extents by themselves.
 */
#ifndef SLICED_TREE_ISOLATE_H
#define SLICED_TREE_ISOLATE_H

#include "postgres.h"

#include "tree/limbs.h"

/*
 * Let the slice of an extent in which most is edited be an extent by itself, or all slices
 * that have edits.  The extent's items, and its edits, are 'first' to 'last'.
 */
extern void isolate_slices(Tree *t, Limb *limb, Branch *b, int first, int last, bool all);

#endif
