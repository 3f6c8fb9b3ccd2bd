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
} SlicedLayout;

/*
 * Take apart the head that the scan has just returned, decoded as 'head'.
 * Returns NULL, or what is wrong.
 */
extern const char *sliced_layout_load(SlicedLayout *layout, ToastScan *ts,
									  const SlicedRow *head);

extern void sliced_layout_free(SlicedLayout *layout);

/* The last piece of a value of 'size' bytes: what follows the pieces of its head. */
extern SlicedPiece sliced_layout_rest(const SlicedLayout *layout, uint32 size);

#endif
