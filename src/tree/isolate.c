/*
 * isolate.c
 *	  Makes extents of the slices that have edits.
 */
#include "postgres.h"

#include "tree/edits.h"
#include "tree/isolate.h"

/* Make extents of slices, which ascend: of slice 'best' of 'n', or of all. */
static void
isolate(Tree *t, Limb *limb, Branch *b, const SlicedTreeSlice *slices, int best, int n, bool all)
{
	uint32	   *cuts = palloc_extended(2 * n * sizeof(uint32), MCXT_ALLOC_HUGE);
	Branch	  **parts = palloc_extended((2 * n + 1) * sizeof(Branch *), MCXT_ALLOC_HUGE);
	int			ncuts = 0;
	uint32		done = 0;

	for (int i = 0; i < n; i++)
	{
		uint32		start = slices[i].start - b->seq;

		if (i != best && !all)
			continue;
		if (start > done)
			cuts[ncuts++] = start;
		done = start + slices[i].len;
		if (done < b->len)
			cuts[ncuts++] = done;
	}
	extent_divide(t, limb, b, cuts, ncuts, parts);
	for (int i = 0, p = 0; i < n; i++)
	{
		if (i != best && !all)
			continue;
		while (parts[p]->seq != slices[i].start)
			p++;
		parts[p]->info = slices[i];
	}
	pfree(parts);
	pfree(cuts);
}

/* The slice that has byte 'pos' of the object.  It must begin at 'done' or behind. */
static SlicedTreeSlice
look_at_slice(Tree *t, const Branch *b, uint32 pos, uint32 done)
{
	SlicedTreeSlice slice = t->store->slice(t->store->arg, b->objid, pos);

	if (slice.start < done || slice.start > pos || slice.len <= pos - slice.start ||
		slice.len > b->seq + b->len - slice.start)
		t->store->damaged(t->store->arg, b->objid, pos, SLICED_SLICE_MISPLACED);
	return slice;
}

void
isolate_slices(Tree *t, Limb *limb, Branch *b, int first, int last, bool all)
{
	SlicedTreeSlice *slices = palloc_extended((last - first + 2) * sizeof(SlicedTreeSlice), MCXT_ALLOC_HUGE);
	int			n = 0;
	int			best = 0;
	uint32		most = 0;
	uint32		cost = 0;
	uint32		pos = b->seq;	/* in the object */
	uint32		done = b->seq;	/* where the last slice ends */

	for (int i = first; i <= last; i++)
	{
		LimbItem   *item = &limb->items[i];
		uint32		edited = pos;

		if (item->branch == b)
			edited = b->seq + item->start;
		edited = Min(edited, b->seq + b->len - 1);
		if (edited >= done)
		{
			slices[n] = look_at_slice(t, b, edited, done);
			done = slices[n].start + slices[n].len;
			n++;
			cost = 0;
		}
		if (item->branch == b)
			pos = b->seq + item->start + item->len;
		cost += item_cost(item);
		if (cost > most)
		{
			most = cost;
			best = n - 1;
		}
	}
	isolate(t, limb, b, slices, best, n, all);
	pfree(slices);
}
