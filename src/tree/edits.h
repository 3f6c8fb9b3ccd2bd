/*
 * edits.h
 *	  The items of a limb: reads their bytes and changes them.
 */
#ifndef SLICED_TREE_EDITS_H
#define SLICED_TREE_EDITS_H

#include "postgres.h"

#include "tree/limbs.h"

/* Add bytes [skip, skip + len) of an item. */
extern void limb_add_part(Tree *t, Limb *limb, const LimbItem *item, uint32 skip, uint32 len);

/* Add them as literal bytes. */
extern void limb_add_read(Tree *t, Limb *limb, const LimbItem *item, uint32 skip, uint32 len);

/*
 * Add bytes [start, start + len) of another limb.  Nodes that have runs of the slice
 * are replaced by their items.
 */
extern void limb_add_flat(Tree *t, Limb *limb, Limb *from, uint32 start, uint32 len,
						  const Branch *slice);

/* Copy bytes [start, start + len) of the limb's content. */
extern void limb_read(Tree *t, Limb *limb, uint32 start, uint32 len, char *dst);

/* Make one new extent of the content of some items. */
extern Branch *items_copy(Tree *t, const LimbItem *items, int n);

/* Replace items by runs of whole branches. */
extern void limb_replace_items(Limb *limb, int first, int last, const Branches *branches);

/*
 * Change the limb's content to 'edits'.  Their runs of branch 'self' are runs of the
 * old content, and ascend; some may be lists that have moved.
 */
extern void limb_apply(Tree *t, Limb *limb, const LimbItem *edits, int nedits, const Branch *self);

/*
 * Divide an extent, which has runs in the limb alone, at 'cuts', where slices begin.
 * The cuts ascend; there is one part more than there are cuts.  A part without runs
 * is dropped at the end.
 */
extern void extent_divide(Tree *t, Limb *limb, Branch *b, const uint32 *cuts, int ncuts,
						  Branch **parts);

#endif
