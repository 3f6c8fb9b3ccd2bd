/*
 * change.c
 *	  Changes a tree.
 *
 * First the root becomes what the change says: runs of its old content, and new
 * bytes. Then, while edits take too much of a node, those of the child that has most
 * go down to it: into a node, or into a new leaf for a slice.  A node that has become
 * too long is divided, as in a B-tree.  At the end changed nodes get names, children
 * first, and rows that no node names any more are dropped.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "tree/edits.h"
#include "tree/groups.h"
#include "tree/isolate.h"
#include "tree/trim.h"

/*
 * With this many edits in a group, each slice of an extent that has some is isolated
 * at once.
 */
#define ISOLATE_ALL		64

/* ---- dividing ---- */

/* How many children each of the nodes gets that another one is divided into. */
static uint32
half_of_children(const Tree *t)
{
	return Max(2, t->limits->children / 2);
}

/* Divide some items into nodes of about 'cost', but never the runs of one child. */
static Branches
divide_items(Tree *t, Limb *limb, int first, int last, uint32 cost, uint32 children, uint32 height)
{
	Branches	result = {0};
	Limb	   *part = NULL;
	uint32		done = 0;
	uint32		n = 0;
	int			open = -1;		/* the last item of the children that have begun */

	limb_find_spans(t, limb);
	for (int i = first; i <= last; i++)
	{
		LimbItem   *item = &limb->items[i];
		Branch	   *b = item->branch != limb->slice ? item->branch : NULL;
		bool		begins = b != NULL && b->first == i;

		if (part == NULL || (i > open && (done >= cost || (begins && n >= children))))
		{
			Branch	   *made = branch_new_node(t, limb->slice);

			made->height = height;
			part = made->limb;
			branches_add(&result, made);
			done = n = 0;
		}
		if (b != NULL)
			open = Max(open, b->last);
		if (begins)
			n++;
		limb_add(part, item);
		done += item_cost(item) + (begins ? child_cost(t, b) : 0);
	}
	for (int i = 0; i < result.n; i++)
		result.list[i]->len = result.list[i]->limb->len;
	return result;
}

/*
 * Divide a changed child if it is too long.  Returns the child itself, or its
 * divisions.
 */
static Branches
divide_if_too_long(Tree *t, Branch *b)
{
	Limb	   *limb = b->limb;
	Branches	one = {0};

	if (!limb->owns && limb->slice != NULL && limb_cost(t, limb) > t->limits->leaf)
		return divide_items(t, limb, 0, limb->nitems - 1, t->limits->leaf * 3 / 5, PG_UINT32_MAX, 0);
	if (limb->slice == NULL && limb_children(t, limb) > t->limits->children)
		return divide_items(t, limb, 0, limb->nitems - 1, PG_UINT32_MAX, half_of_children(t), b->height);
	branches_add(&one, b);
	return one;
}

/* Returns whether this child of a node that owns a slice has edits of it, or is between them. */
static bool
is_leaf(Tree *t, Branch *b)
{
	return b->kind == SLICED_CHILD_NODE && !limb_of(t, b)->owns;
}

/* Returns how many children are leaves. */
static uint32
count_leaves(Tree *t, Limb *limb)
{
	uint32		n = 0;

	limb_find_spans(t, limb);
	for (int i = 0; i < limb->nitems; i++)
	{
		Branch	   *b = limb->items[i].branch;

		n += b != NULL && b->first == i && is_leaf(t, b);
	}
	return n;
}

/* True if it is better to write the slice that the node owns anew, with its edits. */
static bool
slice_is_worn(Tree *t, Limb *limb)
{
	uint32		enough = 1 + limb->slice->info.stored / t->limits->stored_per_leaf;

	/* counting reads them all, as writing the slice does */
	return limb->len < limb->slice->len / 5 * 4 ||
		(limb_nodes(t, limb) > enough && count_leaves(t, limb) > enough);
}

/* True for a whole child that need not be copied with its neighbours. */
static bool
stands_alone(Tree *t, Limb *limb, const LimbItem *item)
{
	const Branch *b = item->branch;

	return b != NULL && b != limb->slice && item->len == b->len && b->len >= t->limits->small;
}

/*
 * Returns the node after the edits.  Their runs of the branch are runs of its old
 * content.
 */
static Branch *
edited_node(Tree *t, Branch *b, const LimbItem *edits, int n)
{
	Limb	   *old = limb_of(t, b);
	Branch	   *made = branch_new_node(t, old->slice);

	made->height = b->height;
	made->limb->owns = old->owns;
	for (int i = 0; i < old->nitems; i++)
		limb_add(made->limb, &old->items[i]);
	limb_apply(t, made->limb, edits, n, b);
	made->len = made->limb->len;
	return made;
}

/* Returns a branch whose whole content is the item. */
static Branch *
item_branch(Tree *t, const LimbItem *item)
{
	Branch	   *b = item->branch;
	Branch	   *made;

	if (!item->is_list)
		return b;
	if (b->kind == SLICED_CHILD_NODE)
		return edited_node(t, b, item, 1);
	made = branch_new_node(t, NULL);
	limb_add(made->limb, item);
	made->len = item->len;
	return made;
}

static void push_down(Tree *t, Limb *limb, const Group *g);

/* Let edits of long children other than the slice go down to them. */
static void
make_long_children_whole(Tree *t, Limb *limb)
{
	for (int i = 0; i < limb->nitems; i++)
	{
		LimbItem   *item = &limb->items[i];
		Branch	   *b = item->branch;
		Group		g = {.branch = b};

		if (b == NULL || b == limb->slice || b->bytes != NULL || item->len == b->len ||
			b->len < t->limits->small)
			continue;
		limb_find_spans(t, limb);
		g.first = b->first;
		g.last = b->last;
		push_down(t, limb, &g);
		i = g.first - 1;		/* several items may have taken its place */
	}
}

/*
 * Turn the node that owns a slice into extents.  Other children that are long stay,
 * wherever they are between the runs of the slice.
 */
static Branches
rewrite_all(Tree *t, Limb *owner)
{
	Branches	result = {0};
	Limb	   *limb = palloc0(sizeof(Limb));

	limb->slice = owner->slice;
	limb_add_flat(t, limb, owner, 0, owner->len, owner->slice);
	make_long_children_whole(t, limb);
	for (int i = 0, next; i < limb->nitems; i = next)
	{
		next = i + 1;
		if (stands_alone(t, limb, &limb->items[i]))
		{
			branches_add(&result, item_branch(t, &limb->items[i]));
			continue;
		}
		while (next < limb->nitems && !stands_alone(t, limb, &limb->items[next]))
			next++;
		branches_add(&result, items_copy(t, &limb->items[i], next - i));
	}
	return result;
}

/*
 * Short neighbours become one extent, with the literals between them, if there are
 * many.
 */
static void
join_small_neighbours(Tree *t, Limb *limb)
{
	for (int i = 0; i < limb->nitems; i++)
	{
		Branches	one = {0};
		uint32		n = 0;
		int			next;

		for (next = i; next < limb->nitems; next++)
		{
			LimbItem   *item = &limb->items[next];
			Branch	   *b = item->branch;

			if (b == NULL)
				continue;
			if (b == limb->slice || b->kind != SLICED_CHILD_EXTENT || item->len != b->len ||
				b->len >= t->limits->small)
				break;
			n++;
		}
		if (n >= t->limits->nsmall)
		{
			branches_add(&one, items_copy(t, &limb->items[i], next - i));
			limb_replace_items(limb, i, next - 1, &one);
		}
		else if (next > i)
			i = next - 1;
	}
}

static void settle(Tree *t, Limb *limb);

/* Edits of a slice that have become too long go to nodes below. */
static void
leaf_grow(Tree *t, Limb *limb)
{
	Branches	parts = divide_items(t, limb, 0, limb->nitems - 1, t->limits->leaf * 3 / 5, PG_UINT32_MAX, 0);

	limb_replace_items(limb, 0, limb->nitems - 1, &parts);
}

/* True for an extent of several slices. */
static bool
is_long_extent(Tree *t, Branch *b)
{
	if (b->kind != SLICED_CHILD_EXTENT)
		return false;
	branch_look(t, b);
	return b->info.len < b->len;
}

/* Returns what the branch of a group becomes with these items. */
static Branches
with_edits(Tree *t, Branch *b, const LimbItem *edits, int n)
{
	Branch	   *made;

	if (b->kind == SLICED_CHILD_EXTENT)
	{
		made = branch_new_node(t, b);
		made->limb->owns = true;
		for (int i = 0; i < n; i++)
			limb_add(made->limb, &edits[i]);
	}
	else
		made = edited_node(t, b, edits, n);
	settle(t, made->limb);
	made->len = made->limb->len;
	if (made->limb->owns && slice_is_worn(t, made->limb))
		return rewrite_all(t, made->limb);
	return divide_if_too_long(t, made);
}

/* Let the edits of a group go down to its branch. */
static void
push_down(Tree *t, Limb *limb, const Group *g)
{
	Branches	result;

	if (is_long_extent(t, g->branch))
	{
		isolate_slices(t, limb, g->branch, g->first, g->last, g->last - g->first >= ISOLATE_ALL);
		return;
	}
	result = with_edits(t, g->branch, &limb->items[g->first], g->last - g->first + 1);
	limb_replace_items(limb, g->first, g->last, &result);
}

/*
 * Add what a group's items become: first the slices of a long extent, then branches.
 */
static void
add_group(Tree *t, Limb *limb, const Limb *old, const Group *g, bool isolate)
{
	LimbItem   *items = &old->items[g->first];
	int			n = g->last - g->first + 1;
	bool		is_long = is_long_extent(t, g->branch);
	Limb		part = {0};

	if (!isolate && !is_long)
	{
		Branches	made = with_edits(t, g->branch, items, n);

		for (int i = 0; i < made.n; i++)
			limb_add(limb, &(LimbItem) {.branch = made.list[i], .len = made.list[i]->len});
		return;
	}
	for (int i = 0; i < n; i++)
		limb_add(&part, &items[i]);
	if (isolate && is_long)
		isolate_slices(t, &part, g->branch, 0, part.nitems - 1, true);
	for (int i = 0; i < part.nitems; i++)
		limb_add(limb, &part.items[i]);
	pfree(part.items);
}

/*
 * Let many edits go down at once: child by child, all items would be copied for each
 * of them.  First each slice that has edits becomes an extent.
 */
static void
push_all_down(Tree *t, Limb *limb)
{
	for (int isolate = 1; isolate >= 0; isolate--)
	{
		Limb		old = *limb;
		int			done = 0;
		int			n;
		Group	   *groups = all_groups(t, limb, &n);

		limb_clear(limb);
		for (int i = 0; i < n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			for (; done < groups[i].first; done++)
				limb_add(limb, &old.items[done]);
			add_group(t, limb, &old, &groups[i], isolate);
			done = groups[i].last + 1;
		}
		for (; done < old.nitems; done++)
			limb_add(limb, &old.items[done]);
		pfree(groups);
		pfree(old.items);
	}
}

/* True if it has runs of its slice itself, not only nodes below that have them. */
static bool
has_runs_of_slice(const Limb *limb)
{
	for (int i = 0; i < limb->nitems; i++)
		if (limb->items[i].branch != NULL && limb->items[i].branch == limb->slice)
			return true;
	return false;
}

/* Push edits down to the children until the node is within its limits, or none can take more. */
static void
settle(Tree *t, Limb *limb)
{
	bool		leaf = has_runs_of_slice(limb);

	limb_trim_extents(t, limb);
	join_small_neighbours(t, limb);
	if (limb->nitems > t->limits->many)
		push_all_down(t, limb);
	while (limb_edits_cost(t, limb) > (leaf ? t->limits->leaf : t->limits->literals))
	{
		Group		g = largest_group(t, limb);

		CHECK_FOR_INTERRUPTS();
		if (g.cost == 0)
			break;
		push_down(t, limb, &g);
	}
	if (leaf && limb->owns && limb_cost(t, limb) > t->limits->leaf)
		leaf_grow(t, limb);
}

/* ---- the root ---- */

/* If all of the value is in one slice, its root is a leaf. */
static void
root_owns_slice(Tree *t, Limb *root)
{
	Branch	   *b = root->nitems == 1 ? root->items[0].branch : NULL;

	if (root->slice != NULL || b == NULL || b->kind != SLICED_CHILD_EXTENT)
		return;
	branch_look(t, b);
	if (b->info.len == b->len)
	{
		root->slice = b;
		root->owns = true;
	}
}

/* Neighbours of this height, or less, go to nodes below the root if they are many. */
static void
group_children(Tree *t, Limb *root, uint32 height)
{
	limb_find_spans(t, root);
	for (int i = 0; i < root->nitems; i++)
	{
		uint32		n = 0;
		int			last;

		for (last = i; last < root->nitems; last++)
		{
			Branch	   *b = root->items[last].branch;

			if (b == NULL)
				continue;
			if (b->height > height)
				break;
			n += b->first == last;
		}
		last--;
		if (n >= half_of_children(t))
		{
			Branches	parts = divide_items(t, root, i, last, PG_UINT32_MAX, half_of_children(t), height + 1);

			limb_replace_items(root, i, last, &parts);
			i += parts.n - 1;
			limb_find_spans(t, root);
		}
		else if (last > i)
			i = last;
	}
}

/*
 * The slice that the root owns has become one child among many: it gets a node below
 * the root.
 */
static void
slice_gets_node(Tree *t, Limb *root)
{
	Branch	   *made = branch_new_node(t, root->slice);
	Branches	one = {0};
	int			first = root->nitems;
	int			last = 0;

	for (int i = 0; i < root->nitems; i++)
	{
		Branch	   *b = root->items[i].branch;

		if (b == NULL || (b != root->slice && !is_leaf(t, b)))
			continue;
		first = Min(first, i);
		last = i;
	}
	if (first > last)
		return;
	made->limb->owns = true;
	for (int i = first; i <= last; i++)
		limb_add(made->limb, &root->items[i]);
	made->len = made->limb->len;
	root->owns = false;
	root->slice = NULL;
	branches_add(&one, made);
	limb_replace_items(root, first, last, &one);
}

static void
root_settle(Tree *t, Limb *root)
{
	Branches	parts;

	settle(t, root);
	if (root->owns && slice_is_worn(t, root))
	{
		parts = rewrite_all(t, root);
		root->owns = false;
		root->slice = NULL;
		limb_replace_items(root, 0, root->nitems - 1, &parts);
	}
	if (root->owns && limb_children(t, root) > t->limits->children)
		slice_gets_node(t, root);
	for (uint32 height = 0; root->slice == NULL && limb_children(t, root) > t->limits->children; height++)
		group_children(t, root, height);
}

void
sliced_tree_change(SlicedTreeChange *change, const char *root, uint32 size, uint32 objid,
				   const SlicedTreeRun *runs, int nruns)
{
	Tree		t = {.store = change->store, .limits = change->limits};
	Branch		self = {.kind = SLICED_CHILD_NODE, .objid = objid, .seq = -1};
	LimbItem   *edits = palloc_extended(Max(nruns, 1) * sizeof(LimbItem), MCXT_ALLOC_HUGE);
	uint32		done = 0;		/* of the old value */
	Limb	   *limb = self.limb = limb_decode(&t, &self, root, size);

	root_owns_slice(&t, limb);
	for (int i = 0; i < nruns; i++)
	{
		const SlicedTreeRun *run = &runs[i];

		edits[i] = (LimbItem) {.bytes = run->bytes, .len = run->len};
		if (run->bytes != NULL && !(run->is_list && run->start >= done))
			continue;
		/* runs that go back, or come twice, are copied */
		if (run->start < done)
		{
			char	   *bytes = palloc(run->len);

			limb_read(&t, limb, run->start, run->len, bytes);
			edits[i].bytes = bytes;
			continue;
		}
		edits[i] = (LimbItem) {
			.branch = &self, .bytes = run->bytes, .start = run->start, .len = run->len,
			.is_list = run->is_list, .list = run->list
		};
		done = run->start + run->len;
	}
	limb_apply(&t, limb, edits, nruns, &self);
	pfree(edits);
	root_settle(&t, limb);
	tree_finish(&t, limb, change);
}
