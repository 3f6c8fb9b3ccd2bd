/*
 * layout.h
 *	  What a value consists of: its head, taken apart.
 *
 * A value consists of the pieces that its head lists, in order, and then of
 * whatever its pointer covers beyond them: bytes of the object of its own id,
 * from the first byte that no piece names.  A value written at once has no
 * pieces, unless its own object has the bytes in another order
 * (toaster/jsonb/layout.h).  A derived value shares slices of the value it was
 * derived from.  Both grow at the end of their own object, and the head need not
 * change for that.
 */
#ifndef SLICED_STORE_LAYOUT_H
#define SLICED_STORE_LAYOUT_H

#include "postgres.h"

#include "store/toast_scan.h"

/*
 * The object of a value with pieces begins at this offset, so that a row with
 * chunk_seq 0 is always one of core's: our first rows are heads.
 */
#define SLICED_OWN_START	1

typedef struct SlicedLayout
{
	Oid			valueid;
	int			npieces;
	SlicedPiece *pieces;		/* objid 0: of the inline bytes */
	uint32		total;			/* length of the pieces */
	uint32		own;			/* where in its own object the value goes on */
	uint32		inline_len;
	const char *inline_bytes;	/* palloc'd; NULL if there are no pieces */
	uint32		ascii;
	uint32		garbage;
	SlicedPatchTable *patches;	/* palloc'd; NULL if there are none */
} SlicedLayout;

/*
 * Find the head of a value.  The scan stands on it, if nothing is wrong, and may
 * go on forward as far as row 'last'.
 */
extern SlicedDamage sliced_head_find(ToastScan *ts, Oid valueid, int32 last, SlicedRow *head);

/*
 * Take apart the head that the scan has just returned, decoded as 'head'.
 */
extern SlicedDamage sliced_layout_load(SlicedLayout *layout, ToastScan *ts,
									   const SlicedRow *head);

extern void sliced_layout_free(SlicedLayout *layout);

/* The last piece of a value of 'size' bytes: what follows the pieces of its head. */
static inline SlicedPiece
sliced_layout_rest(const SlicedLayout *layout, uint32 size)
{
	SlicedPiece rest = {
		.objid = layout->valueid,
		.start = layout->own,
		.len = size > layout->total ? size - layout->total : 0
	};

	return rest;
}

/*
 * Goes through the pieces of a value of 'size' bytes in their order, to the last
 * one behind those of its head:
 *
 *		SlicedPieceIterator it = {layout, size};
 *
 *		while (sliced_piece_next(&it))
 *			... it.piece, which begins at byte it.at of the value ...
 */
typedef struct SlicedPieceIterator
{
	const SlicedLayout *layout;
	uint32		size;
	int			next;			/* number of the piece to come */
	uint32		at;
	SlicedPiece piece;
} SlicedPieceIterator;

static inline bool
sliced_piece_next(SlicedPieceIterator *it)
{
	it->at += it->piece.len;
	if (it->next < it->layout->npieces)
		it->piece = it->layout->pieces[it->next];
	else if (it->next == it->layout->npieces)
		it->piece = sliced_layout_rest(it->layout, it->size);
	else
		return false;
	it->next++;
	return it->piece.len > 0;
}

#endif
