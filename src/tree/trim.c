/*
 * trim.c
 *	  Frees slices that a node no longer needs.
 */
#include "postgres.h"

#include "tree/edits.h"
#include "tree/trim.h"

/*
 * Nothing needs bytes [start, end) of an extent.  Divide it, so that slices that are in
 * there have no runs any more, and those at its ends are by themselves if less than
 * half of them is needed.  Returns what is behind.
 */
static Branch *
extent_free_gap(Tree *t, Limb *limb, Branch *b, uint32 start, uint32 end)
{
	SlicedTreeSlice first = t->store->slice(t->store->arg, b->objid, b->seq + start);
	SlicedTreeSlice last = t->store->slice(t->store->arg, b->objid, b->seq + end - 1);
	uint32		cuts[4] = {0, 0, 0, 0};
	uint32		base = 0;

	first.start -= b->seq;
	last.start -= b->seq;
	/* slice 'first', all between, slice 'last' */
	if (Min(end, first.start + first.len) - start >= first.len / 2)
	{
		cuts[0] = first.start;
		cuts[1] = first.start + first.len;
	}
	if (end - Max(start, last.start) >= last.len / 2)
	{
		cuts[2] = last.start;
		cuts[3] = last.start + last.len;
	}
	if (first.start + first.len < last.start)
	{
		cuts[1] = first.start + first.len;
		cuts[2] = last.start;
	}
	for (int i = 0; i < 4; i++)
	{
		Branch	   *before;

		if (cuts[i] <= base || cuts[i] - base >= b->len)
			continue;
		extent_divide(t, limb, b, cuts[i] - base, &before, &b);
		base = cuts[i];
		before->trimmed = false;
	}
	return b;
}

/* Free the slices of an extent that have no run any more. */
static void
free_gaps(Tree *t, Limb *limb, Branch *b)
{
	uint32	   *gaps = palloc((limb->nitems + 1) * 2 * sizeof(uint32));
	int			ngaps = 0;
	uint32		pos = 0;

	b->trimmed = false;
	for (int i = 0; i <= limb->nitems; i++)
	{
		LimbItem   *item = &limb->items[i];
		uint32		next = b->len;

		if (i < limb->nitems && item->branch != b)
			continue;
		if (i < limb->nitems)
			next = item->start;
		if (next - pos > t->limits->longest)
		{
			gaps[ngaps * 2] = b->seq + pos;
			gaps[ngaps++ * 2 + 1] = b->seq + next;
		}
		if (i < limb->nitems)
			pos = item->start + item->len;
	}
	for (int i = 0; i < ngaps; i++)
		b = extent_free_gap(t, limb, b, gaps[i * 2] - b->seq, gaps[i * 2 + 1] - b->seq);
	pfree(gaps);
}

/* True if the runs use less than half of the slice. */
static bool
is_remnant(Limb *limb, const Branch *b)
{
	uint32		used = 0;

	if (b->info.len < b->len)
		return false;
	for (int i = b->first; i <= b->last; i++)
		if (limb->items[i].branch == b)
			used += limb->items[i].len;
	return used < b->len / 2;
}

void
limb_trim_extents(Tree *t, Limb *limb)
{
	for (int i = 0; i < limb->nitems; i++)
	{
		Branch	   *b = limb->items[i].branch;

		if (b != NULL && b->trimmed && b->kind == SLICED_CHILD_EXTENT && !b->is_new && b != limb->slice)
			free_gaps(t, limb, b);
	}
	limb_find_spans(t, limb);
	for (int i = 0; i < limb->nitems; i++)
	{
		Branch	   *b = limb->items[i].branch;

		if (b != NULL && b->kind == SLICED_CHILD_EXTENT && !b->is_new && b != limb->slice && is_remnant(limb, b))
		{
			Branches	copy = {0};

			branches_add(&copy, limb_copy_items(t, limb, b->first, b->last));
			limb_replace_items(limb, b->first, b->last, &copy);
			limb_find_spans(t, limb);
		}
	}
}
