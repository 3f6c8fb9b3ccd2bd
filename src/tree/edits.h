/*
 * edits.h
 *	  The items of a limb: what bytes they are, and how they change.
 */
#ifndef SLICED_TREE_EDITS_H
#define SLICED_TREE_EDITS_H

#include "postgres.h"

#include "tree/limbs.h"

/* Add bytes [skip, skip + len) of an item. */
extern void limb_add_part(Tree *t, Limb *limb, const LimbItem *item, uint32 skip, uint32 len);

/* The same as literal bytes. */
extern void limb_add_read(Tree *t, Limb *limb, const LimbItem *item, uint32 skip, uint32 len);

/*
 * Add items [start, start + len) of another limb, those of nodes that have runs of the slice
 * in the place of these nodes.
 */
extern void limb_add_flat(Tree *t, Limb *limb, Limb *from, uint32 start, uint32 len,
						  const Branch *slice);

/* Copy bytes [start, start + len) of the limb's content. */
extern void limb_read(Tree *t, Limb *limb, uint32 start, uint32 len, char *dst);

/* Make one new extent of the content of some items. */
extern Branch *items_copy(Tree *t, const LimbItem *items, int n);

/* Put all of some branches in the place of items. */
extern void limb_replace_items(Limb *limb, int first, int last, const Branches *branches);

/*
 * Make the limb's content what 'edits' says.  Runs of branch 'self' in there are runs of
 * the old content, and ascend; some may be lists that have moved.
 */
extern void limb_apply(Tree *t, Limb *limb, const LimbItem *edits, int nedits, const Branch *self);

/*
 * Divide an extent, which has runs in the limb alone, at some bytes of it, which ascend,
 * where slices begin: into one part more than there are 'cuts'.  A part that has no runs
 * then is dropped at the end.
 */
extern void extent_divide(Tree *t, Limb *limb, Branch *b, const uint32 *cuts, int ncuts,
						  Branch **parts);

#endif
