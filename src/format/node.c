/*
 * node.c
 *	  Nodes: what a changed value consists of, in the order of its bytes.
 */
#include "postgres.h"

#include <limits.h>

#include "format/node.h"
#include "storage/off.h"

/* The lower two bits of an item's first number. */
#define ITEM_BYTES	0
#define ITEM_NEXT	1
#define ITEM_RUN	2
#define ITEM_LIST	3

/* The lower two bits of the first number of an extent with a hint; others are as in SlicedChildKind. */
#define KIND_HINTED	3

/* The fewest bytes that a child takes. */
#define CHILD_LEAST	1

/* Room for items at first. */
#define ITEMS_FIRST	32

/* ---- numbers ---- */

typedef struct Source
{
	const char *next;
	const char *end;
	bool		damaged;
} Source;

static uint32
get_long_number(Source *s)
{
	uint64		result = 0;

	for (int shift = 0; shift < 35; shift += 7)
	{
		uint8		byte;

		if (s->next == s->end)
			break;
		byte = (uint8) *s->next++;
		result |= (uint64) (byte & 0x7F) << shift;
		if (!(byte & 0x80))
		{
			/* one way only to write a number, and short ones do not come here */
			if (result > PG_UINT32_MAX || byte == 0)
				break;
			return result;
		}
	}
	s->damaged = true;
	return 0;
}

static inline uint32
get_number(Source *s)
{
	if (s->next < s->end && !(*s->next & 0x80))
		return *s->next++;
	return get_long_number(s);
}

/* Where bytes go; only counted if 'dst' is NULL. */
typedef struct Target
{
	char	   *dst;
	uint32		size;
} Target;

static void
put_number(Target *t, uint32 number)
{
	do
	{
		if (t->dst != NULL)
			t->dst[t->size] = (number & 0x7F) | (number > 0x7F ? 0x80 : 0);
		t->size++;
		number >>= 7;
	} while (number > 0);
}

static inline uint32
fold(int32 n)
{
	return ((uint32) n << 1) ^ (uint32) (n >> 31);
}

static inline int32
unfold(uint32 n)
{
	return (int32) (n >> 1) ^ -(int32) (n & 1);
}

/* ---- decoding ---- */

static bool
get_hint(Source *s, ItemPointer hint)
{
	uint32		offset = get_number(s);
	uint32		block;

	if (offset == 0)
		return true;
	block = get_number(s);
	ItemPointerSet(hint, block, offset);
	return offset <= MaxOffsetNumber;
}

static bool
get_child(Source *s, SlicedChild *child, uint32 objid, uint32 borrowed)
{
	uint32		kind = get_number(s);

	*child = (SlicedChild) {.kind = kind & 3, .height = kind >> 2};
	if ((kind & 3) == KIND_HINTED)
		child->kind = SLICED_CHILD_EXTENT;
	if (child->height > (child->kind == SLICED_CHILD_NODE ? SLICED_NODE_HEIGHT_MAX : 0))
		return false;
	if (child->kind == SLICED_CHILD_BORROWED)
	{
		child->len = borrowed;
		return borrowed > 0;
	}
	child->objid = objid - (uint32) unfold(get_number(s));
	child->seq = unfold(get_number(s));
	child->len = get_number(s);
	if (child->objid == 0 || child->len == 0 || child->len > INT_MAX)
		return false;
	if (child->kind == SLICED_CHILD_NODE)
		return child->seq < -1 && (child->height > 0 || get_hint(s, &child->hint));
	return child->seq >= 0 && child->len <= INT_MAX - (uint32) child->seq &&
		((kind & 3) != KIND_HINTED ||
		 (get_hint(s, &child->hint) && ItemPointerIsValid(&child->hint)));
}

static bool
get_list(Source *s, SlicedItem *item)
{
	uint32		delta;

	item->list.end = get_number(s);
	item->list.phase = get_number(s);
	delta = get_number(s);
	item->list.delta = (uint32) unfold(delta) & SLICED_LIST_BITS;
	return item->len % sizeof(SlicedListWord) == 0 && item->list.end <= SLICED_LIST_BITS &&
		item->list.phase < SLICED_LIST_STRIDE && delta <= SLICED_LIST_BITS;
}

/*
 * 'ends' has where the last run of each child ended, 'last' the number of the last
 * run's child.
 */
static bool
get_item(Source *s, SlicedItem *item, const SlicedNode *node, uint32 *ends, uint32 *last)
{
	uint32		number = get_number(s);
	uint32		left_out;

	*item = (SlicedItem) {.len = number >> 2};
	if (item->len == 0)
		return false;
	if ((number & 3) == ITEM_BYTES)
	{
		if (item->len > s->end - s->next)
			return false;
		item->bytes = s->next;
		s->next += item->len;
		return true;
	}
	item->is_list = (number & 3) == ITEM_LIST;
	if ((number & 3) != ITEM_NEXT)
		*last = get_number(s);
	left_out = get_number(s);
	if (*last >= node->nchildren || left_out > node->children[*last].len - ends[*last] ||
		item->len > node->children[*last].len - ends[*last] - left_out)
		return false;
	item->child = *last;
	item->start = ends[*last] + left_out;
	ends[*last] = item->start + item->len;
	return !item->is_list || get_list(s, item);
}

static bool
get_node(Source *s, SlicedNode *node, uint32 *ends, uint32 objid, uint32 borrowed)
{
	uint32		last = PG_UINT32_MAX;
	uint32		room = ITEMS_FIRST;

	for (uint32 i = 0; i < node->nchildren; i++)
	{
		ends[i] = 0;
		if (!get_child(s, &node->children[i], objid, borrowed) || s->damaged)
			return false;
	}
	while (s->next < s->end)
	{
		SlicedItem *item;

		if (node->nitems == room)
			node->items = repalloc(node->items, (room *= 2) * sizeof(SlicedItem));
		item = &node->items[node->nitems++];
		if (!get_item(s, item, node, ends, &last) || s->damaged || item->len > INT_MAX - node->len)
			return false;
		node->len += item->len;
		node->has_lists |= item->is_list;
	}
	for (uint32 i = node->owns ? 1 : 0; i < node->nchildren; i++)
		if (ends[i] == 0)
			return false;
	return node->nitems > 0 &&
		(!node->owns || (node->nchildren > 0 && node->children[0].kind == SLICED_CHILD_EXTENT));
}

SlicedDamage
sliced_node_decode(SlicedNode *node, const char *src, uint32 size, uint32 objid, uint32 borrowed)
{
	Source		s = {.next = src, .end = src + size};
	uint32	   *ends;
	bool		sound;

	memset(node, 0, sizeof(*node));
	node->nchildren = get_number(&s);
	node->owns = node->nchildren & 1;
	node->nchildren >>= 1;
	if (s.damaged || node->nchildren > (s.end - s.next) / CHILD_LEAST)
		return SLICED_NODE_IMPOSSIBLE;
	node->children = palloc((node->nchildren + 1) * sizeof(SlicedChild));
	node->items = palloc(ITEMS_FIRST * sizeof(SlicedItem));
	ends = palloc((node->nchildren + 1) * sizeof(uint32));
	sound = get_node(&s, node, ends, objid, borrowed);
	pfree(ends);
	if (sound)
		return SLICED_SOUND;
	sliced_node_free(node);
	return SLICED_NODE_IMPOSSIBLE;
}

void
sliced_node_free(SlicedNode *node)
{
	pfree(node->children);
	pfree(node->items);
	node->children = NULL;
	node->items = NULL;
}

/* ---- encoding ---- */

static void
put_hint(Target *t, const ItemPointerData *hint)
{
	put_number(t, ItemPointerGetOffsetNumberNoCheck(hint));
	if (ItemPointerIsValid(hint))
		put_number(t, ItemPointerGetBlockNumberNoCheck(hint));
}

static void
put_child(Target *t, const SlicedChild *child, uint32 objid)
{
	bool		hinted = child->kind == SLICED_CHILD_EXTENT && ItemPointerIsValid(&child->hint);

	put_number(t, child->height << 2 | (hinted ? KIND_HINTED : child->kind));
	if (child->kind == SLICED_CHILD_BORROWED)
		return;
	put_number(t, fold((int32) (objid - child->objid)));
	put_number(t, fold(child->seq));
	put_number(t, child->len);
	if (hinted || (child->kind == SLICED_CHILD_NODE && child->height == 0))
		put_hint(t, &child->hint);
}

static void
put_list(Target *t, const SlicedList *list)
{
	/* the 28 bits are a signed number */
	int32		delta = (int32) (list->delta << 4) / 16;

	put_number(t, list->end);
	put_number(t, list->phase);
	put_number(t, fold(delta));
}

static void
put_item(Target *t, const SlicedItem *item, uint32 *ends, uint32 *last)
{
	if (item->bytes != NULL)
	{
		put_number(t, item->len << 2 | ITEM_BYTES);
		if (t->dst != NULL)
			memcpy(t->dst + t->size, item->bytes, item->len);
		t->size += item->len;
		return;
	}
	put_number(t, item->len << 2 | (item->is_list ? ITEM_LIST :
									item->child == *last ? ITEM_NEXT : ITEM_RUN));
	if (item->is_list || item->child != *last)
		put_number(t, item->child);
	put_number(t, item->start - ends[item->child]);
	if (item->is_list)
		put_list(t, &item->list);
	ends[item->child] = item->start + item->len;
	*last = item->child;
}

static uint32
put_node(char *dst, const SlicedNode *node, uint32 objid)
{
	Target		t = {.dst = dst};
	uint32		last = PG_UINT32_MAX;
	uint32	   *ends = palloc0((node->nchildren + 1) * sizeof(uint32));

	put_number(&t, node->nchildren << 1 | (node->owns ? 1 : 0));
	for (uint32 i = 0; i < node->nchildren; i++)
		put_child(&t, &node->children[i], objid);
	for (uint32 i = 0; i < node->nitems; i++)
		put_item(&t, &node->items[i], ends, &last);
	pfree(ends);
	return t.size;
}

uint32
sliced_node_size(const SlicedNode *node, uint32 objid)
{
	return put_node(NULL, node, objid);
}

void
sliced_node_encode(char *dst, const SlicedNode *node, uint32 objid)
{
	put_node(dst, node, objid);
}
