/*
 * isolate.c
 *	  Slices that have edits become extents by themselves.
 */
#include "postgres.h"

#include "tree/edits.h"
#include "tree/isolate.h"

/* Let slices, which ascend, be extents by themselves: slice 'best' of 'n', or all if they are many. */
static void
isolate(Tree *t, Limb *limb, Branch *b, const SlicedTreeSlice *slices, int best, int n, bool all)
{
	uint32	   *cuts = palloc(2 * n * sizeof(uint32));
	Branch	  **parts = palloc((2 * n + 1) * sizeof(Branch *));
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

void
isolate_slices(Tree *t, Limb *limb, Branch *b, int first, int last, bool all)
{
	SlicedTreeSlice *slices = palloc_extended((last - first + 2) * sizeof(SlicedTreeSlice), MCXT_ALLOC_HUGE);
	int			n = 0;
	int			best = 0;
	uint32		most = 0;
	uint32		cost = 0;
	uint32		pos = b->seq;	/* in the object */

	for (int i = first; i <= last; i++)
	{
		LimbItem   *item = &limb->items[i];
		uint32		edited = pos;

		if (item->branch == b)
			edited = b->seq + item->start;
		edited = Min(edited, b->seq + b->len - 1);
		if (n == 0 || edited >= slices[n - 1].start + slices[n - 1].len)
		{
			slices[n++] = t->store->slice(t->store->arg, b->objid, edited);
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
