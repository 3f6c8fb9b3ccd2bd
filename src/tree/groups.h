/*
 * groups.h
 *	  Finds the edits that go down to a child, and the child.
 */
#ifndef SLICED_TREE_GROUPS_H
#define SLICED_TREE_GROUPS_H

#include "postgres.h"

#include "tree/limbs.h"

/* The edits of a child, and the items between them. */
typedef struct Group
{
	Branch	   *branch;
	int			first;			/* items, with the literals at both ends */
	int			last;
	uint32		cost;
} Group;

/* The group that takes most; cost 0 if there is none. */
extern Group largest_group(Tree *t, Limb *limb);

/* All groups of a limb that have no items in common, in order. */
extern Group *all_groups(Tree *t, Limb *limb, int *n);

#endif
