/*
 * partial.h
 *	  A value in memory, read only where its bytes were needed.
 *
 * There is room for all bytes from the beginning, each in its place, but a byte is
 * read only when a caller needs it: memory that is never touched costs nothing.  So
 * code that follows offsets can work on the value as if all of it had been read, if
 * it first says which bytes it needs.
 */
#ifndef SLICED_STORE_PARTIAL_H
#define SLICED_STORE_PARTIAL_H

#include "postgres.h"

#include "access/detoast.h"
#include "store/kept.h"
#include "store/layout.h"

/* Bytes [from, to) of the value. */
typedef struct SlicedRange
{
	uint32		from;
	uint32		to;
} SlicedRange;

typedef struct SlicedPartial
{
	MemoryContext mcxt;			/* of all that follows */
	struct varlena *varlena;	/* header, which is valid, and bytes */
	char	   *bytes;			/* the bytes in it */
	uint32		size;			/* their number */
	SlicedRange last;			/* a range that is there: the one asked for last */
	int			nranges;
	int			maxranges;
	SlicedRange *ranges;		/* those that are there: in order, not touching */
	bool		have_layout;
	SlicedLayout layout;
	SlicedPieces pieces;		/* of a flat value: of all of it */

	/* Of others, whose slices have bytes in many ranges: those that were read last ... */
	SlicedKept	kept;

	/* ... and where reading has ended, to go ahead the more the longer it goes on there. */
	uint32		reached;
	uint32		ahead;
} SlicedPartial;

/* Prepare for a value of 'size' bytes; none of them is there. */
extern void sliced_partial_init(SlicedPartial *partial, MemoryContext mcxt, uint32 size);

/*
 * The first range of bytes [from, to) that is not there; its 'from' is 'to' if all
 * are there.
 */
extern SlicedRange sliced_partial_missing(SlicedPartial *partial, uint32 from, uint32 to);

/* Note that bytes [from, to) are in their places now. */
extern void sliced_partial_add(SlicedPartial *partial, uint32 from, uint32 to);

/*
 * Read bytes [from, to) of the value 'ptr', and other bytes of the same slices that
 * are cheap to have.
 */
extern void sliced_partial_read(SlicedPartial *partial, const struct varatt_external *ptr,
								uint32 from, uint32 to);

/* The same, but returns false if the value is damaged or missing. */
extern bool sliced_partial_try_read(SlicedPartial *partial, const struct varatt_external *ptr,
									uint32 from, uint32 to);

/*
 * True if bytes [from, to) are there.  False if 'to' is before 'from', as with
 * damaged offsets.
 */
static inline bool
sliced_partial_has(const SlicedPartial *partial, uint32 from, uint32 to)
{
	return from >= partial->last.from && to <= partial->last.to && from <= to;
}

#endif
