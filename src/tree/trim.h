/*
 * trim.h
 *	  Extents of which runs have gone.
 */
#ifndef SLICED_TREE_TRIM_H
#define SLICED_TREE_TRIM_H

#include "postgres.h"

#include "tree/limbs.h"

/*
 * Give back the slices of which the limb needs nothing any more, and copy what it needs
 * of slices of which that is less than half.
 */
extern void limb_trim_extents(Tree *t, Limb *limb);

#endif
