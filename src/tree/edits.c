/*
 * edits.c
 *	  The items of a limb: what bytes they are, and how they change.
 */
#include "postgres.h"

#include "tree/edits.h"

/* ---- the bytes of a node that is in memory ---- */

void
limb_read(Tree *t, Limb *limb, uint32 start, uint32 len, char *dst)
{
	for (int i = 0; i < limb->nitems && len > 0; i++)
	{
		LimbItem   *item = &limb->items[i];
		uint32		skip = Min(start, item->len);
		uint32		n = Min(len, item->len - skip);
		Branch	   *b = item->branch;

		start -= skip;
		if (n == 0)
			continue;
		if (b == NULL)
			memcpy(dst, item->bytes + skip, n);
		else if (b->bytes != NULL)
			memcpy(dst, b->bytes + item->start + skip, n);
		else if (b->kind == SLICED_CHILD_NODE)
			limb_read(t, limb_of(t, b), item->start + skip, n, dst);
		else
			t->store->read(t->store->arg, b->objid, b->seq + item->start + skip, n, dst);
		dst += n;
		len -= n;
	}
}

/* Some items of a node as one new extent. */
Branch *
limb_copy_items(Tree *t, Limb *limb, int first, int last)
{
	uint32		start = 0;
	uint32		len = 0;
	char	   *bytes;

	for (int i = 0; i < first; i++)
		start += limb->items[i].len;
	for (int i = first; i <= last; i++)
		len += limb->items[i].len;
	bytes = palloc(len);
	limb_read(t, limb, start, len, bytes);
	return branch_new_extent(t, bytes, len);
}

/* Put runs of all of some branches in the place of items. */
void
limb_replace_items(Limb *limb, int first, int last, const Branches *branches)
{
	LimbItem   *old = limb->items;
	int			n = limb->nitems;

	limb_clear(limb);
	for (int i = 0; i < first; i++)
		limb_add(limb, &old[i]);
	for (int i = 0; i < branches->n; i++)
		limb_add(limb, &(LimbItem) {.branch = branches->list[i], .len = branches->list[i]->len});
	for (int i = last + 1; i < n; i++)
		limb_add(limb, &old[i]);
	pfree(old);
}

/* ---- applying edits ---- */

/* Literals that are too long for a node become slices. */
static void
move_long_literals(Tree *t, Limb *limb)
{
	for (int i = 0; i < limb->nitems; i++)
	{
		LimbItem   *item = &limb->items[i];

		if (item->branch == NULL && item->len > t->limits->longest)
			*item = (LimbItem) {.branch = branch_new_extent(t, item->bytes, item->len), .len = item->len};
	}
}

/*
 * The node's content becomes what 'edits' says, in which runs of branch 'self' are runs
 * of the old content.  Those ascend.
 */
void
limb_apply(Tree *t, Limb *limb, const LimbItem *edits, int nedits, const Branch *self)
{
	LimbItem   *old = limb->items;
	int			nold = limb->nitems;
	uint32	   *dropped = palloc((nold + 1) * sizeof(uint32));
	int			at = 0;
	uint32		begin = 0;		/* of item 'at' in the old content */

	for (int i = 0; i < nold; i++)
		dropped[i] = old[i].len;
	limb_clear(limb);
	for (int i = 0; i < nedits; i++)
	{
		uint32		start = edits[i].start;
		uint32		left = edits[i].len;

		if (edits[i].branch != self)
		{
			limb_add(limb, &edits[i]);
			continue;
		}
		while (left > 0)
		{
			LimbItem	item = old[at];
			uint32		skip = start - begin;

			Assert(start >= begin);
			if (skip >= item.len)
			{
				begin += item.len;
				at++;
				continue;
			}
			item.len = Min(left, item.len - skip);
			if (item.branch != NULL)
				item.start += skip;
			else
				item.bytes += skip;
			limb_add(limb, &item);
			dropped[at] -= item.len;
			start += item.len;
			left -= item.len;
		}
	}
	for (int i = 0; i < nold; i++)
		if (old[i].branch != NULL && dropped[i] > t->limits->longest)
			old[i].branch->trimmed = true;
	pfree(dropped);
	move_long_literals(t, limb);
}
