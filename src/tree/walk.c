/*
 * walk.c
 *	  Goes through a tree in the order of the value's bytes.
 */
#include "postgres.h"

#include "tree/tree.h"

/*
 * Forget the nodes of this level and those below.  A walk keeps nodes when it leaves
 * them.
 */
static void
forget(SlicedTreeWalk *walk, int depth)
{
	while (walk->nlevels > depth)
	{
		SlicedTreeLevel *level = &walk->levels[--walk->nlevels];

		sliced_node_free(&level->node);
		if (level->bytes != NULL)
			pfree(level->bytes);
	}
}

/* Enter the node of a level, to go through 'left' bytes of it after the first 'skip'. */
static SlicedDamage
enter(SlicedTreeWalk *walk, uint32 skip, uint32 left)
{
	SlicedTreeLevel *level = &walk->levels[walk->depth];

	if ((uint64) skip + left > level->node.len)
		return SLICED_NODE_IMPOSSIBLE;
	level->next = 0;
	level->skip = skip;
	level->left = left;
	walk->depth++;
	return SLICED_SOUND;
}

/* Put a node in the level below the one that the walk is in. */
static SlicedDamage
load(SlicedTreeWalk *walk, const SlicedChild *name, const SlicedChild *slice,
	 const char *bytes, uint32 size)
{
	SlicedTreeLevel *level = &walk->levels[walk->depth];
	SlicedDamage damage = sliced_node_decode(&level->node, bytes, size, name->objid, slice->len);

	if (damage != SLICED_SOUND)
		return damage;
	walk->nlevels = walk->depth + 1;
	level->objid = name->objid;
	level->seq = name->seq;
	level->bytes = NULL;
	level->slice = level->node.owns ? level->node.children[0] : *slice;
	return SLICED_SOUND;
}

static SlicedTreeWalk *
begin(SlicedTreeWalk *walk, const SlicedTreeStore *store)
{
	walk->store = store;
	walk->depth = walk->nlevels = walk->above = 0;
	walk->words = NULL;
	walk->within = NULL;
	walk->damage = SLICED_SOUND;
	return walk;
}

void
sliced_tree_walk(SlicedTreeWalk *walk, const SlicedTreeStore *store, const char *bytes,
				 uint32 size, uint32 objid, int32 seq, uint32 start, uint32 len)
{
	SlicedChild name = {.kind = SLICED_CHILD_NODE, .objid = objid, .seq = seq};
	SlicedChild none = {.len = 0};

	begin(walk, store);
	walk->damage = load(walk, &name, &none, bytes, size);
	if (walk->damage == SLICED_SOUND)
		walk->damage = enter(walk, start, len);
}

/*
 * Enter the child node of the level.  Several runs of it may have edits between them,
 * so it may be in memory already.
 */
static SlicedDamage
descend(SlicedTreeWalk *walk, const SlicedTreeLevel *level, const SlicedChild *child,
		uint32 start, uint32 len)
{
	const SlicedTreeStore *store = walk->store;
	SlicedTreeLevel *below = &walk->levels[walk->depth];
	ItemPointerData hint = child->hint;
	char	   *bytes;
	uint32		size;
	SlicedDamage damage;

	if (walk->nlevels > walk->depth && below->objid == child->objid && below->seq == child->seq)
		return enter(walk, start, len);
	if (walk->above + walk->depth == SLICED_TREE_DEPTH)
		return SLICED_NODE_IMPOSSIBLE;
	forget(walk, walk->depth);
	damage = store->node(store->arg, child->objid, child->seq, &hint, &bytes, &size);
	if (damage != SLICED_SOUND)
		return damage;
	damage = load(walk, child, &level->slice, bytes, size);
	if (damage == SLICED_SOUND)
		below->bytes = store->keeps ? NULL : bytes;
	else if (!store->keeps)
		pfree(bytes);
	if (damage == SLICED_SOUND && below->node.len != child->len)
		damage = SLICED_NODE_IMPOSSIBLE;
	return damage == SLICED_SOUND ? enter(walk, start, len) : damage;
}

/* ---- lists that have moved ---- */

static bool find_piece(SlicedTreeWalk *walk, SlicedTreePiece *piece);

/* The child that is a list, for functions that read its words. */
typedef struct ListSource
{
	SlicedTreeWalk *walk;
	const SlicedTreeLevel *level;
	const SlicedChild *child;
	uint32		start;			/* of the list, in the child */
	SlicedDamage damage;
} ListSource;

/*
 * Read what is below a node, by a walk of its own.  That walk knows the nodes that it
 * was in last.
 */
static SlicedDamage
read_node(const ListSource *source, uint32 start, uint32 len, char *dst)
{
	const SlicedTreeStore *store = source->walk->store;
	SlicedTreeWalk *walk = source->walk->within;
	SlicedTreeLevel top = {.slice = source->level->slice};
	SlicedTreePiece piece;
	SlicedDamage damage;

	if (walk == NULL)
		source->walk->within = walk = begin(palloc(sizeof(SlicedTreeWalk)), store);
	walk->above = source->walk->above + source->walk->depth;
	damage = descend(walk, &top, source->child, start, len);
	while (damage == SLICED_SOUND && find_piece(walk, &piece))
	{
		if (piece.bytes != NULL)
			memcpy(dst, piece.bytes, piece.len);
		else
			damage = store->read(store->arg, piece.objid, piece.start, piece.len, dst);
		dst += piece.len;
	}
	return damage == SLICED_SOUND ? walk->damage : damage;
}

static bool
read_list(void *arg, uint32 start, uint32 len, char *dst)
{
	ListSource *source = arg;
	const SlicedTreeStore *store = source->walk->store;
	const SlicedChild *child = source->child;

	start += source->start;
	if (child->kind == SLICED_CHILD_NODE)
		source->damage = read_node(source, start, len, dst);
	else
		source->damage = store->read(store->arg, child->objid, child->seq + start, len, dst);
	return source->damage == SLICED_SOUND;
}

/* Bytes [start, start + len) of a list, as literal ones. */
static SlicedDamage
list_piece(SlicedTreeWalk *walk, const SlicedTreeLevel *level, const SlicedItem *item,
		   const SlicedChild *child, uint32 start, uint32 len, SlicedTreePiece *piece)
{
	ListSource	source = {walk, level, child, item->start};

	walk->words = palloc(len);
	sliced_list_read(&item->list, start, len, walk->words, read_list, &source);
	*piece = (SlicedTreePiece) {.bytes = walk->words, .len = len};
	return source.damage;
}

static void
forget_words(SlicedTreeWalk *walk)
{
	if (walk->words != NULL)
		pfree(walk->words);
	walk->words = NULL;
}

/* ---- pieces ---- */

static void
free_walk(SlicedTreeWalk *walk)
{
	forget_words(walk);
	forget(walk, 0);
	if (walk->within != NULL)
	{
		free_walk(walk->within);
		pfree(walk->within);
		walk->within = NULL;
	}
}

static bool
stop(SlicedTreeWalk *walk, SlicedDamage damage)
{
	walk->damage = damage;
	return false;
}

/* Find the next piece.  Nodes stay, also after damage. */
static bool
find_piece(SlicedTreeWalk *walk, SlicedTreePiece *piece)
{
	forget_words(walk);
	while (walk->depth > 0)
	{
		SlicedTreeLevel *level = &walk->levels[walk->depth - 1];
		const SlicedItem *item = &level->node.items[level->next];
		const SlicedChild *child;
		bool		owned;
		uint32		skip;
		uint32		len;

		if (level->left == 0)
		{
			walk->depth--;
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
		if (item->is_list)
		{
			SlicedDamage damage = list_piece(walk, level, item, child->kind == SLICED_CHILD_BORROWED ?
											 &level->slice : child, skip, len, piece);

			return damage == SLICED_SOUND || stop(walk, damage);
		}
		owned = child->kind == SLICED_CHILD_BORROWED || (level->node.owns && item->child == 0);
		if (child->kind == SLICED_CHILD_NODE)
		{
			SlicedDamage damage = descend(walk, level, child, item->start + skip, len);

			if (damage != SLICED_SOUND)
				return stop(walk, damage);
			continue;
		}
		if (child->kind == SLICED_CHILD_BORROWED)
			child = &level->slice;
		*piece = (SlicedTreePiece) {
			.objid = child->objid, .start = child->seq + item->start + skip, .len = len,
			.in_slice = owned, .slice = child->seq, .hint = child->hint
		};
		return true;
	}
	return false;
}

bool
sliced_tree_next(SlicedTreeWalk *walk, SlicedTreePiece *piece)
{
	if (find_piece(walk, piece))
		return true;
	sliced_tree_end(walk);
	return false;
}

void
sliced_tree_end(SlicedTreeWalk *walk)
{
	free_walk(walk);
	walk->depth = 0;
}
