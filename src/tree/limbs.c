/*
 * limbs.c
 *	  The nodes of a tree that a change has loaded or made.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "tree/limbs.h"
#include "tree/seen.h"

/* ---- branches ---- */

Branch *
branch_new(Tree *t, SlicedChildKind kind)
{
	Branch	   *b = palloc0(sizeof(Branch));

	b->kind = kind;
	if (t->newest != NULL)
		t->newest->next = b;
	else
		t->branches = b;
	t->newest = b;
	return b;
}

Branch *
branch_new_extent(Tree *t, const char *bytes, uint32 len)
{
	Branch	   *b = branch_new(t, SLICED_CHILD_EXTENT);

	b->is_new = true;
	b->bytes = bytes;
	b->len = len;
	return b;
}

Branch *
branch_new_node(Tree *t, Branch *slice)
{
	Branch	   *b = branch_new(t, SLICED_CHILD_NODE);

	b->is_new = true;
	b->limb = palloc0(sizeof(Limb));
	b->limb->slice = slice;
	return b;
}

void
branches_add(Branches *branches, Branch *b)
{
	if (branches->n % 8 == 0)
		branches->list = branches->list == NULL ? palloc(8 * sizeof(Branch *)) :
			repalloc(branches->list, (branches->n + 8) * sizeof(Branch *));
	branches->list[branches->n++] = b;
}

void
branch_look(Tree *t, Branch *b)
{
	if (b->info.len > 0)
		return;
	b->info = t->store->slice(t->store->arg, b->objid, b->seq);
	if (b->info.start != b->seq || b->info.len == 0 || b->info.len > b->len)
		t->store->damaged(t->store->arg, b->objid, b->seq, SLICED_SLICE_MISPLACED);
}

/* ---- limbs ---- */

Limb *
limb_decode(Tree *t, const Branch *b, const char *bytes, uint32 size)
{
	Limb	   *limb = palloc0(sizeof(Limb));
	Branch	   *slice = b->lends;
	SlicedNode	node;
	SlicedDamage damage = sliced_node_decode(&node, bytes, size, b->objid, slice != NULL ? slice->len : 0);
	Branch	  **branches;

	if (damage == SLICED_SOUND && b->depth >= SLICED_TREE_DEPTH)
		damage = SLICED_NODE_IMPOSSIBLE;
	if (damage != SLICED_SOUND)
		t->store->damaged(t->store->arg, b->objid, b->seq, damage);
	branches = palloc((node.nchildren + 1) * sizeof(Branch *));
	for (uint32 i = 0; i < node.nchildren; i++)
	{
		const SlicedChild *child = &node.children[i];

		if (child->kind == SLICED_CHILD_BORROWED)
		{
			branches[i] = slice;
			continue;
		}
		branches[i] = branch_new(t, child->kind);
		branches[i]->depth = b->depth + 1;
		branches[i]->height = child->height;
		branches[i]->objid = child->objid;
		branches[i]->seq = child->seq;
		branches[i]->len = child->len;
		branches[i]->hint = child->hint;
	}
	limb->owns = node.owns;
	limb->slice = node.owns ? branches[0] : slice;
	for (uint32 i = 0; i < node.nchildren; i++)
		if (branches[i]->kind == SLICED_CHILD_NODE)
			branches[i]->lends = limb->slice;
	for (uint32 i = 0; i < node.nitems; i++)
	{
		const SlicedItem *item = &node.items[i];

		limb_add(limb, &(LimbItem) {
			.branch = item->bytes == NULL ? branches[item->child] : NULL,
			.bytes = item->bytes, .start = item->start, .len = item->len,
			.is_list = item->is_list, .list = item->list
		});
	}
	if (limb->owns)
		branch_look(t, limb->slice);
	pfree(branches);
	sliced_node_free(&node);
	return limb;
}

Limb *
limb_of(Tree *t, Branch *b)
{
	if (b->limb == NULL)
	{
		uint32		size;
		char	   *bytes;
		SlicedDamage damage = t->store->node(t->store->arg, b->objid, b->seq, &b->hint, &bytes, &size);

		if (damage != SLICED_SOUND)
			t->store->damaged(t->store->arg, b->objid, b->seq, damage);
		b->limb = limb_decode(t, b, bytes, size);
		if (b->limb->len != b->len)
			t->store->damaged(t->store->arg, b->objid, b->seq, SLICED_NODE_IMPOSSIBLE);
	}
	return b->limb;
}

void
limb_clear(Limb *limb)
{
	limb->items = NULL;
	limb->nitems = limb->maxitems = 0;
	limb->len = 0;
}

/* Consecutive literals are joined to one. */
static void
join_literals(LimbItem *last, const LimbItem *item)
{
	char	   *bytes = palloc(last->len + item->len);

	memcpy(bytes, last->bytes, last->len);
	memcpy(bytes + last->len, item->bytes, item->len);
	last->bytes = bytes;
	last->len += item->len;
}

void
limb_add(Limb *limb, const LimbItem *item)
{
	LimbItem   *last = limb->nitems > 0 ? &limb->items[limb->nitems - 1] : NULL;

	if (item->len == 0)
		return;
	limb->len += item->len;
	if (last != NULL && last->branch == item->branch)
	{
		if (item->branch == NULL)
		{
			join_literals(last, item);
			return;
		}
		if (last->start + last->len == item->start && !last->is_list && !item->is_list)
		{
			last->len += item->len;
			return;
		}
	}
	if (limb->nitems == limb->maxitems)
	{
		limb->maxitems = Max(16, limb->maxitems * 2);
		limb->items = limb->items == NULL ? palloc(limb->maxitems * sizeof(LimbItem)) :
			repalloc_huge(limb->items, limb->maxitems * sizeof(LimbItem));
	}
	limb->items[limb->nitems++] = *item;
}

void
limb_find_spans(Tree *t, Limb *limb)
{
	t->marks++;
	for (int i = 0; i < limb->nitems; i++)
	{
		Branch	   *b = limb->items[i].branch;

		if (b == NULL)
			continue;
		if (b->mark != t->marks)
			b->first = i;
		b->mark = t->marks;
		b->last = i;
	}
}

static uint32
count_children(Tree *t, Limb *limb, bool nodes)
{
	uint32		n = 0;

	limb_find_spans(t, limb);
	for (int i = 0; i < limb->nitems; i++)
	{
		Branch	   *b = limb->items[i].branch;

		if (b != NULL && b->first == i && (!nodes || b->kind == SLICED_CHILD_NODE))
			n++;
	}
	return n;
}

uint32
limb_children(Tree *t, Limb *limb)
{
	return count_children(t, limb, false);
}

uint32
limb_nodes(Tree *t, Limb *limb)
{
	return count_children(t, limb, true);
}

uint32
limb_cost(Tree *t, Limb *limb)
{
	uint32		cost = 0;

	limb_find_spans(t, limb);
	for (int i = 0; i < limb->nitems; i++)
	{
		Branch	   *b = limb->items[i].branch;

		cost += item_cost(&limb->items[i]) + (b != NULL && b->first == i ? child_cost(t, b) : 0);
	}
	return cost;
}

uint32
limb_edits_cost(Tree *t, Limb *limb)
{
	uint32		cost = 0;

	limb_find_spans(t, limb);
	for (int i = 0; i < limb->nitems; i++)
		if (limb->items[i].branch == NULL || limb->items[i].branch->first != i)
			cost += item_cost(&limb->items[i]);
	return cost;
}

/* ---- the end ---- */

static void
reach(Limb *limb)
{
	if (limb->owns)
		limb->slice->reached = true;
	for (int i = 0; i < limb->nitems; i++)
	{
		Branch	   *b = limb->items[i].branch;

		if (b == NULL || (b->reached && b != limb->slice))
			continue;
		b->reached = true;
		if (b->limb != NULL)
			reach(b->limb);
	}
}

static void
write_add(SlicedTreeChange *change, const Branch *b, const char *bytes, uint32 size)
{
	if (change->nwrites % 16 == 0)
		change->writes = change->writes == NULL ? palloc(16 * sizeof(SlicedTreeWrite)) :
			repalloc(change->writes, (change->nwrites + 16) * sizeof(SlicedTreeWrite));
	change->writes[change->nwrites++] = (SlicedTreeWrite) {
		{.kind = b->kind, .objid = b->objid, .seq = b->seq, .len = b->len}, bytes, size
	};
}

static void
drop_add(SlicedTreeChange *change, const Branch *b)
{
	if (change->ndrops % 16 == 0)
		change->drops = change->drops == NULL ? palloc(16 * sizeof(SlicedTreeName)) :
			repalloc(change->drops, (change->ndrops + 16) * sizeof(SlicedTreeName));
	change->drops[change->ndrops++] = (SlicedTreeName) {
		.kind = b->kind, .objid = b->objid, .seq = b->seq, .len = b->len
	};
}

static SlicedChild
child_of(const Branch *b)
{
	return (SlicedChild) {b->kind, b->height, b->objid, b->seq, b->len, b->hint};
}

/*
 * Rows that the last change wrote had no place yet when their parents were written.
 * This change looks for them.
 */
static void
find_places(Tree *t, Limb *limb)
{
	for (int i = 0; i < limb->nitems; i++)
	{
		Branch	   *b = limb->items[i].branch;

		if (b != NULL && branch_is_hinted(t, b) && !b->is_new && !ItemPointerIsValid(&b->hint))
			t->store->locate(t->store->arg, b->objid, b->seq, &b->hint);
	}
}

static char *
limb_encode(Tree *t, Limb *limb, uint32 objid, uint32 *size)
{
	SlicedNode	node = {.owns = limb->owns, .nitems = limb->nitems, .len = limb->len};
	char	   *bytes;

	find_places(t, limb);
	node.children = palloc((limb_children(t, limb) + 1) * sizeof(SlicedChild));
	node.items = palloc((limb->nitems + 1) * sizeof(SlicedItem));
	t->marks++;
	/* the slice that is owned is child 0; 'first' is a child's number from here on */
	if (limb->owns)
	{
		Branch	   *b = limb->slice;

		node.children[node.nchildren++] = child_of(b);
		b->mark = t->marks;
		b->first = 0;
	}
	for (int i = 0; i < limb->nitems; i++)
	{
		LimbItem   *item = &limb->items[i];
		Branch	   *b = item->branch;

		if (b != NULL && b->mark != t->marks)
		{
			b->mark = t->marks;
			b->first = node.nchildren;
			node.children[node.nchildren++] = b == limb->slice ?
				(SlicedChild) {.kind = SLICED_CHILD_BORROWED, .len = b->len} :
				child_of(b);
		}
		node.items[i] = (SlicedItem) {
			.bytes = item->bytes, .child = b != NULL ? b->first : 0,
			.start = item->start, .len = item->len,
			.is_list = item->is_list, .list = item->list
		};
	}
	*size = sliced_node_size(&node, objid);
	bytes = palloc(*size);
	sliced_node_encode(bytes, &node, objid);
	sliced_node_free(&node);
	return bytes;
}

typedef struct Naming
{
	Tree	   *tree;
	SlicedTreeChange *change;
	int32		seq;			/* of the last node */
	uint32		own;			/* where the next extent begins */
} Naming;

/*
 * Let a node be higher than the nodes below it.  So no tree is deeper than heights allow,
 * however it has grown: nodes of one slice may have other slices' nodes between them, and so on.
 */
static void
raise_above_children(Branch *b)
{
	for (int i = 0; i < b->limb->nitems; i++)
	{
		const Branch *child = b->limb->items[i].branch;

		if (child != NULL && child->kind == SLICED_CHILD_NODE)
			b->height = Max(b->height, child->height + 1);
	}
}

/*
 * Name the new branches below a limb, in the order in which they have to be written.
 */
static void
name_new(Naming *n, Limb *limb)
{
	for (int i = 0; i < limb->nitems; i++)
	{
		Branch	   *b = limb->items[i].branch;
		const char *bytes;
		uint32		size;

		if (b == NULL || !b->is_new || b->objid != 0)
			continue;
		CHECK_FOR_INTERRUPTS();
		if (b->kind == SLICED_CHILD_NODE)
		{
			b->len = b->limb->len;
			name_new(n, b->limb);
			raise_above_children(b);
			b->seq = --n->seq;
			bytes = limb_encode(n->tree, b->limb, n->change->objid, &size);
			n->change->too_long |= size > SLICED_NODE_MAX || b->height > SLICED_NODE_HEIGHT_MAX;
		}
		else
		{
			b->seq = n->own;
			n->own += b->len;
			bytes = b->bytes;
			size = b->len;
		}
		b->objid = n->change->objid;
		write_add(n->change, b, bytes, size);
	}
}

void
tree_finish(Tree *t, Limb *root, SlicedTreeChange *change)
{
	Naming		n = {t, change, -1, change->own};
	sliced_seen_hash *seen = sliced_seen_create(16, NULL);

	name_new(&n, root);
	change->root = limb_encode(t, root, change->objid, &change->root_size);
	change->too_long |= change->root_size > SLICED_NODE_MAX;
	change->own_end = n.own;
	reach(root);
	/* loading a dropped node makes branches of its children */
	for (Branch *b = t->branches; b != NULL; b = b->next)
	{
		CHECK_FOR_INTERRUPTS();
		if (b->reached || b->is_new || b->divided ||
			(b->kind == SLICED_CHILD_NODE && !sliced_seen_first(seen, b->objid, b->seq)))
			continue;
		drop_add(change, b);
		if (b->kind == SLICED_CHILD_NODE)
			limb_of(t, b);
	}
	sliced_seen_destroy(seen);
}
