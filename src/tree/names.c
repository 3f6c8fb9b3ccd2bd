/*
 * names.c
 *	  Finds all rows of a tree.
 */
#include "postgres.h"

#include "tree/seen.h"
#include "tree/tree.h"

typedef struct Naming
{
	const SlicedTreeStore *store;
	void		(*show) (void *arg, const SlicedTreeName *name);
	void	   *arg;
	sliced_seen_hash *seen;
} Naming;

static void names_below(const Naming *n, const SlicedNode *node, uint32 borrowed, int depth);

static void
name_node(const Naming *n, SlicedTreeName *name, uint32 borrowed, int depth)
{
	char	   *bytes = NULL;
	SlicedNode	node;

	name->damage = depth < SLICED_TREE_DEPTH ?
		n->store->node(n->store->arg, name->objid, name->seq, &name->hint, &bytes, &name->size) :
		SLICED_NODE_IMPOSSIBLE;
	if (name->damage == SLICED_SOUND)
		name->damage = sliced_node_decode(&node, bytes, name->size, name->objid, borrowed);
	if (name->damage == SLICED_SOUND && node.len != name->len)
	{
		sliced_node_free(&node);
		name->damage = SLICED_NODE_IMPOSSIBLE;
	}
	n->show(n->arg, name);
	if (name->damage == SLICED_SOUND)
	{
		if (sliced_seen_first(n->seen, name->objid, name->seq))
			names_below(n, &node, borrowed, depth);
		sliced_node_free(&node);
	}
	if (bytes != NULL && !n->store->keeps)
		pfree(bytes);
}

static void
names_below(const Naming *n, const SlicedNode *node, uint32 borrowed, int depth)
{
	if (node->owns)
		borrowed = node->children[0].len;
	for (uint32 i = 0; i < node->nchildren; i++)
	{
		const SlicedChild *child = &node->children[i];
		SlicedTreeName name = {child->kind, child->objid, child->seq, child->len, child->hint};

		if (child->kind == SLICED_CHILD_NODE)
			name_node(n, &name, borrowed, depth + 1);
		else if (child->kind == SLICED_CHILD_EXTENT)
			n->show(n->arg, &name);
	}
}

void
sliced_tree_names(const SlicedTreeStore *store, const SlicedNode *root,
				  void (*show) (void *arg, const SlicedTreeName *name), void *arg)
{
	Naming		n = {store, show, arg, sliced_seen_create(16, NULL)};

	names_below(&n, root, 0, 0);
	sliced_seen_destroy(n.seen);
}
