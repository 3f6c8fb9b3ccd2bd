/*
 * layout.h
 *	  The pieces that a value consists of: its head, taken apart.
 *
 * A value written at once, in the order of its bytes, is the object of its own id,
 * from offset 0.  Any other has a root in its head, a tree of slices and literal bytes
 * (tree/tree.h).  If its pointer covers more than that, the rest are bytes of the
 * object of its own id, from where the head says.  So either kind grows at the end of
 * its own object, and the head need not change for that.
 *
 * Readers ask for the pieces of a range, in the order of the value's bytes.
 */
#ifndef SLICED_STORE_LAYOUT_H
#define SLICED_STORE_LAYOUT_H

#include "postgres.h"

#include "store/object.h"
#include "store/toast_scan.h"
#include "tree/tree.h"
#include "utils/hsearch.h"

typedef struct SlicedLayout
{
	Oid			valueid;
	char	   *root;			/* palloc'd; NULL if there is none */
	uint32		root_size;
	SlicedNode	node;			/* the root, taken apart */
	bool		flat;			/* it has no nodes below it, and no lists that have moved */
	uint32		total;			/* length of its content */
	uint32		own;			/* where in its own object the value goes on */
	uint32		ascii;
	SlicedKept	lists;		/* to read lists that have moved */
	HTAB	   *nodes;			/* see sliced_layout_keep_nodes() */
	MemoryContext kept_in;
} SlicedLayout;

/*
 * Find the head of a value.  If nothing is wrong, the scan stands on it, and may go
 * on forward up to row 'last'.
 */
extern SlicedDamage sliced_head_find(ToastScan *ts, Oid valueid, int32 last, SlicedRow *head);

/*
 * Take apart the head that the scan has just returned, decoded as 'head'.
 */
extern SlicedDamage sliced_layout_load(SlicedLayout *layout, ToastScan *ts,
									   const SlicedRow *head);

extern void sliced_layout_free(SlicedLayout *layout);

/* Keep nodes that are read in 'mcxt', for when they are needed again. */
extern void sliced_layout_keep_nodes(SlicedLayout *layout, MemoryContext mcxt);

/*
 * True if the value, of 'size' bytes, is as it was when it was written in cuts: all
 * slices are its own, and all of their bytes are needed.
 */
extern bool sliced_layout_is_cut(const SlicedLayout *layout, uint32 size);

/*
 * Find the row of a node, or the first one of an extent.  It may be where the hint
 * says; the hint is corrected.  The scan moves.
 */
extern bool sliced_name_find(ToastScan *ts, Oid objid, int32 seq, ItemPointer hint);

/* Read it; 'bytes' is palloc'd. */
extern SlicedDamage sliced_node_read(ToastScan *ts, Oid objid, int32 seq, ItemPointer hint,
									 char **bytes, uint32 *size);

/*
 * Show all rows of a value with a root, except the head and the rows behind the
 * root's content.
 */
extern void sliced_layout_names(const SlicedLayout *layout, ToastScan *ts,
								void (*show) (void *arg, const SlicedTreeName *name), void *arg);

/* Bytes [start, start + len) of object 'objid'; 0: of literal bytes. */
typedef struct SlicedPiece
{
	Oid			objid;
	uint32		start;
	uint32		len;
	bool		in_slice;		/* all in one slice, which begins at 'slice' */
	uint32		slice;
	ItemPointerData hint;		/* where the row that begins there may be */
} SlicedPiece;

/* What a range of a value consists of. */
typedef struct SlicedPieces
{
	uint32		from;			/* where it begins in the value */
	int			n;
	int			room;
	SlicedPiece *list;
	uint32		nliterals;
	uint32		literals_room;
	char	   *literals;
} SlicedPieces;

/*
 * Find the pieces of bytes [from, to) of the value.  The scan moves unless the layout
 * is flat.  The caller frees the pieces, even if there is damage.
 */
extern SlicedDamage sliced_pieces_find(SlicedPieces *pieces, SlicedLayout *layout, ToastScan *ts,
									   uint32 from, uint32 to);

/*
 * The same, but end with the piece that has byte 'enough' - 1; '*to' is lowered to its
 * end.
 */
extern SlicedDamage sliced_pieces_find_some(SlicedPieces *pieces, SlicedLayout *layout,
											ToastScan *ts, uint32 from, uint32 enough,
											uint32 *to);

extern void sliced_pieces_free(SlicedPieces *pieces);

/*
 * Goes through pieces in their order:
 *
 *		SlicedPieceIterator it = {pieces};
 *
 *		while (sliced_piece_next(&it))
 *			... it.piece, which begins at byte it.at of the value ...
 */
typedef struct SlicedPieceIterator
{
	const SlicedPieces *pieces;
	int			next;			/* number of the piece to come */
	uint32		at;
	SlicedPiece piece;
} SlicedPieceIterator;

static inline bool
sliced_piece_next(SlicedPieceIterator *it)
{
	if (it->next == it->pieces->n)
		return false;
	it->at = it->next == 0 ? it->pieces->from : it->at + it->piece.len;
	it->piece = it->pieces->list[it->next++];
	return true;
}

#endif
