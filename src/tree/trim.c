/*
 * trim.c
 *	  Frees slices that a node no longer needs.
 */
#include "postgres.h"

#include "tree/edits.h"
#include "tree/trim.h"

/* Where to divide an extent. */
typedef struct Cuts
{
	uint32	   *list;
	int			n;
	int			room;
} Cuts;

static void
cuts_add(Cuts *cuts, const Branch *b, uint32 cut)
{
	if (cut <= (cuts->n > 0 ? cuts->list[cuts->n - 1] : 0) || cut >= b->len)
		return;
	if (cuts->n == cuts->room)
	{
		cuts->room = Max(8, cuts->room * 2);
		cuts->list = cuts->list == NULL ? palloc(cuts->room * sizeof(uint32)) :
			repalloc(cuts->list, cuts->room * sizeof(uint32));
	}
	cuts->list[cuts->n++] = cut;
}

/* The slice that the last gap has reached, and how many of its bytes gaps have. */
typedef struct Worn
{
	SlicedTreeSlice slice;		/* of no bytes: there is none yet */
	uint32		gone;
} Worn;

/* Turn to the slice that has byte 'pos', and count its bytes in the gap [pos, end). */
static void
wear_slice(Tree *t, Worn *worn, const Branch *b, uint32 pos, uint32 end)
{
	if (worn->slice.len == 0 || pos - worn->slice.start >= worn->slice.len)
	{
		worn->slice = t->store->slice(t->store->arg, b->objid, b->seq + pos);
		worn->slice.start -= b->seq;
		worn->gone = 0;
	}
	worn->gone += Min(end, worn->slice.start + worn->slice.len) - pos;
}

/* If no more than half of the slice is needed, it becomes an extent. */
static void
cut_worn(Cuts *cuts, const Branch *b, const Worn *worn)
{
	if (worn->gone < worn->slice.len / 2)
		return;
	cuts_add(cuts, b, worn->slice.start);
	cuts_add(cuts, b, worn->slice.start + worn->slice.len);
}

/*
 * Nothing needs bytes [start, end) of an extent.  Divide it, so that the slices
 * within these bytes have no runs any more.
 */
static void
cut_gap(Tree *t, Cuts *cuts, Worn *worn, const Branch *b, uint32 start, uint32 end)
{
	uint32		behind;

	wear_slice(t, worn, b, start, end);
	cut_worn(cuts, b, worn);
	behind = worn->slice.start + worn->slice.len;
	if (end <= behind)
		return;
	/* the last one, and all between */
	wear_slice(t, worn, b, end - 1, end);
	worn->gone = end - Max(behind, worn->slice.start);
	if (behind < worn->slice.start)
	{
		cuts_add(cuts, b, behind);
		cuts_add(cuts, b, worn->slice.start);
	}
	cut_worn(cuts, b, worn);
}

/* Free the slices of an extent that have no run any more. */
static void
free_gaps(Tree *t, Limb *limb, Branch *b)
{
	Cuts		cuts = {0};
	Worn		worn = {{0}};
	Branch	  **parts;
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
			cut_gap(t, &cuts, &worn, b, pos, next);
		if (i < limb->nitems)
			pos = item->start + item->len;
	}
	if (cuts.n == 0)
		return;
	parts = palloc((cuts.n + 1) * sizeof(Branch *));
	extent_divide(t, limb, b, cuts.list, cuts.n, parts);
	pfree(parts);
	pfree(cuts.list);
}

/* True if the runs use less than half of the slice. */
static bool
is_remnant(Limb *limb, const Branch *b)
{
	uint32		used = 0;

	if (b->kind != SLICED_CHILD_EXTENT || b->is_new || b == limb->slice || b->info.len < b->len)
		return false;
	for (int i = b->first; i <= b->last; i++)
		if (limb->items[i].branch == b)
			used += limb->items[i].len;
	return used < b->len / 2;
}

/* Copy the runs of such slices, and the items between them. */
static void
copy_remnants(Tree *t, Limb *limb)
{
	Limb		old = *limb;

	limb_find_spans(t, limb);
	limb_clear(limb);
	for (int i = 0; i < old.nitems; i++)
	{
		LimbItem   *item = &old.items[i];
		Branch	   *b = item->branch;

		if (b == NULL || b->first != i || !is_remnant(&old, b))
		{
			limb_add(limb, item);
			continue;
		}
		i = b->last;
		b = items_copy(t, item, b->last - b->first + 1);
		limb_add(limb, &(LimbItem) {.branch = b, .len = b->len});
	}
	if (old.items != NULL)
		pfree(old.items);
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
	copy_remnants(t, limb);
}
