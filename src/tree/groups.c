/*
 * groups.c
 *	  Finds the edits that go down to a child, and the child.
 */
#include "postgres.h"

#include "tree/groups.h"

static inline bool
is_literal(const Limb *limb, int i)
{
	return i >= 0 && i < limb->nitems && limb->items[i].branch == NULL;
}

static uint32
items_cost(const Limb *limb, int first, int last)
{
	uint32		cost = 0;

	for (int i = first; i <= last; i++)
		cost += item_cost(&limb->items[i]);
	return cost;
}

/* True if edits could go down to the branch. */
static bool
takes_edits(const Limb *limb, const Branch *b)
{
	return b->kind == SLICED_CHILD_NODE || (b != limb->slice && b->bytes == NULL);
}

/* The edits that could go down to the branch that begins with item 'i'; cost 0: none. */
static Group
group_at(const Limb *limb, int i)
{
	Branch	   *b = limb->items[i].branch;
	Group		g = {.branch = b};

	if (b == NULL || b->first != i || !takes_edits(limb, b))
		return g;
	g.first = is_literal(limb, b->first - 1) ? b->first - 1 : b->first;
	g.last = is_literal(limb, b->last + 1) ? b->last + 1 : b->last;
	if (g.first < g.last)
		g.cost = items_cost(limb, g.first, g.last) - COST_RUN;
	return g;
}

Group
largest_group(Tree *t, Limb *limb)
{
	Group		best = {.cost = 0};

	limb_find_spans(t, limb);
	for (int i = 0; i < limb->nitems; i++)
	{
		Group		g = group_at(limb, i);

		if (g.cost > best.cost)
			best = g;
	}
	return best;
}

Group *
all_groups(Tree *t, Limb *limb, int *n)
{
	Group	   *groups = palloc_extended((limb->nitems + 1) * sizeof(Group), MCXT_ALLOC_HUGE);
	int			done = 0;

	*n = 0;
	limb_find_spans(t, limb);
	for (int i = 0; i < limb->nitems; i++)
	{
		Group		g = group_at(limb, i);

		if (g.cost == 0 || i < done)
			continue;
		/* another group may have got the literal before it, perhaps its only one */
		g.first = Max(g.first, done);
		if (g.first == g.last)
			continue;
		done = g.last + 1;
		groups[(*n)++] = g;
	}
	return groups;
}
