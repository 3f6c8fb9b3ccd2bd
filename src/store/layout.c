/*
 * layout.c
 *	  The pieces that a value consists of: its head, taken apart.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "store/layout.h"

/* A node that is kept in memory. */
typedef struct KeptNode
{
	struct
	{
		Oid			objid;
		int32		seq;
	}			name;
	char	   *bytes;
	uint32		size;
} KeptNode;

SlicedDamage
sliced_head_find(ToastScan *ts, Oid valueid, int32 last, SlicedRow *head)
{
	sliced_scan_seek_within(ts, valueid, SLICED_HEAD_SEQ, last);
	if (!sliced_scan_next(ts, ForwardScanDirection))
		return SLICED_VALUE_MISSING;
	if (ts->seq != SLICED_HEAD_SEQ)
		return ts->seq == 0 ? SLICED_NOT_SLICES : SLICED_HEAD_MISSING;
	return sliced_row_decode(head, ts->data, ts->len, valueid, ts->seq);
}

SlicedDamage
sliced_layout_load(SlicedLayout *layout, ToastScan *ts, const SlicedRow *head)
{
	SlicedDamage damage;

	memset(layout, 0, sizeof(*layout));
	layout->valueid = ts->objid;
	layout->flat = true;
	layout->ascii = head->ascii;
	layout->lists.mcxt = CurrentMemoryContext;
	if (head->root == NULL)
		return SLICED_SOUND;

	layout->own = head->own;
	layout->root = palloc(head->root_size);
	memcpy(layout->root, head->root, head->root_size);
	layout->root_size = head->root_size;
	damage = sliced_node_decode(&layout->node, layout->root, layout->root_size, layout->valueid, 0);
	if (damage != SLICED_SOUND)
	{
		memset(&layout->node, 0, sizeof(SlicedNode));
		return damage;
	}
	layout->total = layout->node.len;
	layout->flat = !layout->node.has_lists;
	for (uint32 i = 0; i < layout->node.nchildren; i++)
		layout->flat &= layout->node.children[i].kind == SLICED_CHILD_EXTENT;
	return SLICED_SOUND;
}

void
sliced_layout_free(SlicedLayout *layout)
{
	if (layout->root == NULL)
		return;
	sliced_kept_forget(&layout->lists);
	if (layout->node.children != NULL)
		sliced_node_free(&layout->node);
	pfree(layout->root);
	layout->root = NULL;
}

bool
sliced_layout_is_cut(const SlicedLayout *layout, uint32 size)
{
	uint64		own = 0;
	uint64		literals = 0;

	if (layout->root == NULL || !layout->flat || layout->total != size)
		return false;
	for (uint32 i = 0; i < layout->node.nchildren; i++)
	{
		if (layout->node.children[i].objid != layout->valueid)
			return false;
		own += layout->node.children[i].len;
	}
	for (uint32 i = 0; i < layout->node.nitems; i++)
		if (layout->node.items[i].bytes != NULL)
			literals += layout->node.items[i].len;
	return own + literals == size && SLICED_OWN_START + own == layout->own;
}

/* ---- nodes ---- */

bool
sliced_name_find(ToastScan *ts, Oid objid, int32 seq, ItemPointer hint)
{
	if (seq == 0)
		seq = SLICED_HEAD_SEQ;
	if (sliced_scan_is_at(ts, hint, objid, seq))
		return true;
	sliced_scan_seek_within(ts, objid, seq, seq);
	if (!sliced_scan_next(ts, ForwardScanDirection))
		return false;
	*hint = ts->tid;
	return true;
}

SlicedDamage
sliced_node_read(ToastScan *ts, Oid objid, int32 seq, ItemPointer hint, char **bytes, uint32 *size)
{
	SlicedRow	row;
	SlicedDamage damage;

	CHECK_FOR_INTERRUPTS();
	if (!sliced_name_find(ts, objid, seq, hint))
		return SLICED_NODE_MISSING;
	damage = sliced_row_decode(&row, ts->data, ts->len, objid, seq);
	if (damage == SLICED_SOUND && row.kind != SLICED_ROW_NODE)
		damage = SLICED_NODE_MISPLACED;
	if (damage != SLICED_SOUND)
		return damage;
	*size = row.payload_len;
	*bytes = memcpy(palloc(*size), row.payload, *size);
	return SLICED_SOUND;
}

void
sliced_layout_keep_nodes(SlicedLayout *layout, MemoryContext mcxt)
{
	HASHCTL		info = {
		.keysize = sizeof(((KeptNode *) NULL)->name), .entrysize = sizeof(KeptNode), .hcxt = mcxt
	};

	layout->kept_in = mcxt;
	layout->nodes = hash_create("nodes of a value", 64, &info,
								HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* Reads nodes of a layout, and lists in it that have moved. */
typedef struct NodeReader
{
	SlicedLayout *layout;
	ToastScan  *ts;
} NodeReader;

static SlicedDamage
node_read(void *arg, uint32 objid, int32 seq, ItemPointer hint, char **bytes, uint32 *size)
{
	NodeReader *reader = arg;
	KeptNode	wanted = {.name = {objid, seq}};
	KeptNode   *kept;
	SlicedDamage damage;

	if (reader->layout->nodes == NULL)
		return sliced_node_read(reader->ts, objid, seq, hint, bytes, size);
	kept = hash_search(reader->layout->nodes, &wanted.name, HASH_FIND, NULL);
	if (kept == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(reader->layout->kept_in);

		damage = sliced_node_read(reader->ts, objid, seq, hint, &wanted.bytes, &wanted.size);
		MemoryContextSwitchTo(old);
		if (damage != SLICED_SOUND)
			return damage;
		kept = hash_search(reader->layout->nodes, &wanted.name, HASH_ENTER, NULL);
		kept->bytes = wanted.bytes;
		kept->size = wanted.size;
	}
	*bytes = kept->bytes;
	*size = kept->size;
	return SLICED_SOUND;
}

static SlicedDamage
list_read(void *arg, uint32 objid, uint32 start, uint32 len, char *dst)
{
	NodeReader *reader = arg;

	return sliced_objects_read(&reader->layout->lists, reader->ts, objid, start, len, dst);
}

void
sliced_layout_names(const SlicedLayout *layout, ToastScan *ts,
					void (*show) (void *arg, const SlicedTreeName *name), void *arg)
{
	NodeReader	reader = {unconstify(SlicedLayout *, layout), ts};
	SlicedTreeStore store = {.arg = &reader, .node = node_read, .keeps = layout->nodes != NULL};

	sliced_tree_names(&store, &layout->node, show, arg);
}

/* ---- pieces ---- */

static void
pieces_add(SlicedPieces *pieces, SlicedPiece piece)
{
	SlicedPiece *last = pieces->n > 0 ? &pieces->list[pieces->n - 1] : NULL;

	if (last != NULL && last->objid == piece.objid && last->start + last->len == piece.start &&
		last->in_slice == piece.in_slice && last->slice == piece.slice)
	{
		last->len += piece.len;
		return;
	}
	if (pieces->n == pieces->room)
	{
		pieces->room = Max(8, pieces->room * 2);
		pieces->list = pieces->list == NULL ? palloc(pieces->room * sizeof(SlicedPiece)) :
			repalloc_huge(pieces->list, pieces->room * sizeof(SlicedPiece));
	}
	pieces->list[pieces->n++] = piece;
}

static void
pieces_add_literal(SlicedPieces *pieces, const char *bytes, uint32 len)
{
	if (len > pieces->literals_room - pieces->nliterals)
	{
		pieces->literals_room = Max(pieces->nliterals + len, pieces->literals_room * 2);
		pieces->literals = pieces->literals == NULL ? palloc(pieces->literals_room) :
			repalloc_huge(pieces->literals, pieces->literals_room);
	}
	memcpy(pieces->literals + pieces->nliterals, bytes, len);
	pieces_add(pieces, (SlicedPiece) {.start = pieces->nliterals, .len = len});
	pieces->nliterals += len;
}

/* The pieces of bytes [from, *to) of the tree, as for sliced_pieces_find_some(). */
static SlicedDamage
pieces_add_tree(SlicedPieces *pieces, SlicedLayout *layout, ToastScan *ts, uint32 from,
				uint32 enough, uint32 *to)
{
	uint32		at = from;
	NodeReader	reader = {layout, ts};
	SlicedTreeStore store = {
		.arg = &reader, .node = node_read, .keeps = layout->nodes != NULL, .read = list_read
	};
	SlicedTreeWalk walk;
	SlicedTreePiece piece;

	sliced_tree_walk(&walk, &store, layout->root, layout->root_size, layout->valueid,
					 SLICED_HEAD_SEQ, from, *to - from);
	while (sliced_tree_next(&walk, &piece))
	{
		if (piece.bytes != NULL)
			pieces_add_literal(pieces, piece.bytes, piece.len);
		else
			pieces_add(pieces, (SlicedPiece) {
				piece.objid, piece.start, piece.len, piece.in_slice,
				piece.in_slice || ItemPointerIsValid(&piece.hint) ? piece.slice : 0, piece.hint
			});
		at += piece.len;
		if (at >= enough && at < *to)
		{
			*to = at;
			sliced_tree_end(&walk);
			break;
		}
	}
	return walk.damage;
}

SlicedDamage
sliced_pieces_find_some(SlicedPieces *pieces, SlicedLayout *layout, ToastScan *ts, uint32 from,
						uint32 enough, uint32 *to)
{
	uint32		end = Min(*to, layout->total);
	SlicedDamage damage = SLICED_SOUND;

	memset(pieces, 0, sizeof(*pieces));
	pieces->from = from;
	if (from < end)
		damage = pieces_add_tree(pieces, layout, ts, from, enough, &end);
	if (enough > layout->total)
	{
		uint32		first = Max(from, layout->total);

		if (*to - layout->total > INT_MAX - layout->own)
			return SLICED_ROOT_TOO_LONG;
		pieces_add(pieces, (SlicedPiece) {
			layout->valueid, layout->own + (first - layout->total), *to - first
		});
	}
	else
		*to = end;
	return damage;
}

SlicedDamage
sliced_pieces_find(SlicedPieces *pieces, SlicedLayout *layout, ToastScan *ts, uint32 from,
				   uint32 to)
{
	return sliced_pieces_find_some(pieces, layout, ts, from, to, &to);
}

void
sliced_pieces_free(SlicedPieces *pieces)
{
	if (pieces->list != NULL)
		pfree(pieces->list);
	if (pieces->literals != NULL)
		pfree(pieces->literals);
	memset(pieces, 0, sizeof(*pieces));
}
