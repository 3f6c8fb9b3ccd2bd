/*
 * walk.c
 *	  Goes through a tree in the order of the value's bytes.
 */
#include "postgres.h"

#include "tree/tree.h"

/* Enter a node, to go through 'left' bytes of it after the first 'skip'. */
static void
enter(SlicedTreeWalk *walk, const char *bytes, uint32 size, const SlicedChild *name,
	  const SlicedChild *slice, uint32 skip, uint32 left)
{
	SlicedTreeLevel *level = &walk->levels[walk->depth];
	SlicedDamage damage = SLICED_NODE_IMPOSSIBLE;

	if (walk->depth < SLICED_TREE_DEPTH)
		damage = sliced_node_decode(&level->node, bytes, size, name->objid, slice->len);
	if (damage == SLICED_SOUND && (uint64) skip + left > level->node.len)
		damage = SLICED_NODE_IMPOSSIBLE;
	if (damage != SLICED_SOUND)
		walk->store->damaged(walk->store->arg, name->objid, name->seq, damage);
	level->objid = name->objid;
	level->next = 0;
	level->skip = skip;
	level->left = left;
	level->slice = level->node.owns ? level->node.children[0] : *slice;
	level->bytes = NULL;
	walk->depth++;
}

static void
leave(SlicedTreeWalk *walk)
{
	SlicedTreeLevel *level = &walk->levels[--walk->depth];

	sliced_node_free(&level->node);
	if (level->bytes != NULL)
		pfree(level->bytes);
}

void
sliced_tree_walk(SlicedTreeWalk *walk, const SlicedTreeStore *store, const char *bytes,
				 uint32 size, uint32 objid, int32 seq, uint32 start, uint32 len)
{
	SlicedChild name = {.kind = SLICED_CHILD_NODE, .objid = objid, .seq = seq};
	SlicedChild none = {.len = 0};

	walk->store = store;
	walk->depth = 0;
	enter(walk, bytes, size, &name, &none, start, len);
}

/* Enter the node that is a child of the level. */
static void
descend(SlicedTreeWalk *walk, const SlicedTreeLevel *level, const SlicedChild *child,
		uint32 start, uint32 len)
{
	uint32		size;
	char	   *bytes = walk->store->node(walk->store->arg, child->objid, child->seq, &size);
	SlicedChild slice = level->slice;

	enter(walk, bytes, size, child, &slice, start, len);
	walk->levels[walk->depth - 1].bytes = bytes;
	if (walk->levels[walk->depth - 1].node.len != child->len)
		walk->store->damaged(walk->store->arg, child->objid, child->seq, SLICED_NODE_IMPOSSIBLE);
}

bool
sliced_tree_next(SlicedTreeWalk *walk, SlicedTreePiece *piece)
{
	while (walk->depth > 0)
	{
		SlicedTreeLevel *level = &walk->levels[walk->depth - 1];
		const SlicedItem *item = &level->node.items[level->next];
		const SlicedChild *child;
		uint32		skip;
		uint32		len;

		if (level->left == 0)
		{
			leave(walk);
			continue;
		}
		level->next++;
		skip = Min(level->skip, item->len);
		level->skip -= skip;
		len = Min(level->left, item->len - skip);
		level->left -= len;
		if (len == 0)
			continue;
		if (item->bytes != NULL)
		{
			*piece = (SlicedTreePiece) {.bytes = item->bytes + skip, .len = len};
			return true;
		}
		child = &level->node.children[item->child];
		if (child->kind == SLICED_CHILD_NODE)
		{
			descend(walk, level, child, item->start + skip, len);
			continue;
		}
		if (child->kind == SLICED_CHILD_BORROWED)
			child = &level->slice;
		*piece = (SlicedTreePiece) {
			.objid = child->objid, .start = child->seq + item->start + skip, .len = len
		};
		return true;
	}
	return false;
}
