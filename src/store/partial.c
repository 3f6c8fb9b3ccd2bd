/*
 * partial.c
 *	  A value in memory, as far as anybody has needed it.
 *
 * Slices are decompressed into their places.  A long slice is decompressed only
 * as far as needed at first, and completely when more of it is needed.  So the
 * beginning of a long slice is cheap, and no slice is decompressed more than
 * twice.
 *
 * This file handles the ordinary case.  Anything unusual, such as a slice that
 * its writer has not written yet, is left to the reader, which knows what to do
 * and which error to raise.
 */
#include "postgres.h"

#include "access/table.h"
#include "base/codec_ids.h"
#include "base/limits.h"
#include "format/pointer.h"
#include "miscadmin.h"
#include "store/partial.h"
#include "store/reader.h"
#include "store/slice.h"

void
sliced_partial_init(SlicedPartial *partial, MemoryContext mcxt, uint32 size)
{
	memset(partial, 0, sizeof(*partial));
	partial->mcxt = mcxt;
	partial->size = size;
	partial->varlena = MemoryContextAllocHuge(mcxt, (Size) size + VARHDRSZ);
	SET_VARSIZE(partial->varlena, size + VARHDRSZ);
	partial->bytes = VARDATA(partial->varlena);
}

/* The number of the first range that ends at 'pos' or behind it. */
static int
find_range(const SlicedPartial *partial, uint32 pos)
{
	int			low = 0;
	int			high = partial->nranges;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (partial->ranges[middle].to < pos)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

SlicedRange
sliced_partial_missing(SlicedPartial *partial, uint32 from, uint32 to)
{
	SlicedRange missing = {from, to};
	int			i = find_range(partial, from);

	if (i < partial->nranges && partial->ranges[i].from <= from)
	{
		partial->last = partial->ranges[i];
		missing.from = Min(partial->ranges[i].to, to);
		i++;
	}
	if (i < partial->nranges && partial->ranges[i].from < to)
		missing.to = partial->ranges[i].from;
	return missing;
}

void
sliced_partial_add(SlicedPartial *partial, uint32 from, uint32 to)
{
	int			i = find_range(partial, from);
	int			n = 0;			/* how many ranges touch this one */

	while (i + n < partial->nranges && partial->ranges[i + n].from <= to)
	{
		from = Min(from, partial->ranges[i + n].from);
		to = Max(to, partial->ranges[i + n].to);
		n++;
	}
	if (n == 0 && partial->nranges == partial->maxranges)
	{
		partial->maxranges = Max(8, partial->maxranges * 2);
		partial->ranges = partial->ranges == NULL ?
			MemoryContextAlloc(partial->mcxt, partial->maxranges * sizeof(SlicedRange)) :
			repalloc(partial->ranges, partial->maxranges * sizeof(SlicedRange));
	}
	memmove(&partial->ranges[i + 1], &partial->ranges[i + n],
			(partial->nranges - i - n) * sizeof(SlicedRange));
	partial->ranges[i] = (SlicedRange) {from, to};
	partial->nranges += 1 - n;
}

/* Piece 'i'; the last one is what follows the pieces of the head. */
static SlicedPiece
piece_of(const SlicedPartial *partial, int i)
{
	return i < partial->layout.npieces ? partial->layout.pieces[i] :
		sliced_layout_rest(&partial->layout, partial->size);
}

/* Some bytes [from, to) of an object, and their place in the value. */
typedef struct Place
{
	uint32		from;
	uint32		to;
	uint32		place;
	int			next_piece;		/* to look at, and its place */
	uint32		next_at;
} Place;

/* The next place that bytes [start, end) of an object have, in the value's order. */
static bool
next_place(const SlicedPartial *partial, Oid objid, uint32 start, uint32 end, Place *p)
{
	while (p->next_piece <= partial->layout.npieces)
	{
		SlicedPiece piece = piece_of(partial, p->next_piece++);

		p->from = Max(start, piece.start);
		p->to = Min(end, piece.start + piece.len);
		p->place = p->next_at + (p->from - piece.start);
		p->next_at += piece.len;
		if (piece.objid == objid && p->from < p->to)
			return true;
	}
	return false;
}

/* The places of one slice's bytes in the value. */
typedef struct Places
{
	int			n;
	uint32		start;			/* the first of the bytes, in the object */
	uint32		end;
	uint32		at;				/* if there is one place: in the value */
} Places;

static Places
find_places(const SlicedPartial *partial, Oid objid, uint32 start, uint32 end)
{
	Places		places = {.start = end, .end = start};
	Place		p = {0};

	while (next_place(partial, objid, start, end, &p))
	{
		places.n++;
		places.at = p.place;
		places.start = Min(places.start, p.from);
		places.end = Max(places.end, p.to);
	}
	return places;
}

/* Copy bytes [start, end) of the object, which are at 'raw', to their places. */
static void
distribute(SlicedPartial *partial, Oid objid, const char *raw, uint32 start, uint32 end)
{
	Place		p = {0};

	while (next_place(partial, objid, start, end, &p))
	{
		memcpy(partial->bytes + p.place, raw + (p.from - start), p.to - p.from);
		sliced_partial_add(partial, p.place, p.place + (p.to - p.from));
	}
}

/* How much of the slice to decompress so that bytes up to 'end' are available. */
static uint32
worth_having(SlicedPartial *partial, const SlicedSlice *slice, const Places *places,
			 uint32 end)
{
	uint32		first = slice->start + SLICED_FIRST_PART;

	if (slice->codec == SLICED_CODEC_NONE || places->n > 1 || end > first ||
		places->end <= first + SLICED_FIRST_PART ||
		sliced_partial_missing(partial, places->at, places->at + 1).from > places->at)
		return places->end;
	return first;
}

/* Decompress a slice so that bytes up to 'end' are available. */
static const char *
take_slice(SlicedPartial *partial, Oid objid, const SlicedSlice *slice, uint32 end)
{
	Places		places = find_places(partial, objid, slice->start,
									 slice->start + slice->rawlen);
	uint32		to = worth_having(partial, slice, &places, end);
	const char *problem;

	if (places.n == 1)
	{
		problem = sliced_slice_decompress(slice, places.start - slice->start,
										  to - slice->start,
										  partial->bytes + places.at);
		if (problem == NULL)
			sliced_partial_add(partial, places.at, places.at + (to - places.start));
	}
	else
	{
		char	   *raw = palloc(slice->rawlen);

		problem = sliced_slice_decompress(slice, 0, slice->rawlen, raw);
		if (problem == NULL)
			distribute(partial, objid, raw, slice->start, slice->start + slice->rawlen);
		pfree(raw);
	}
	return problem;
}

/* Where a scan is: the next slice begins at 'pos' of its object. */
typedef struct Progress
{
	SlicedCursor cursor;
	uint32		pos;
} Progress;

/* Read bytes [pos, end) of an object. */
static const char *
read_object(SlicedPartial *partial, Progress *progress, Oid objid, uint32 pos, uint32 end)
{
	ToastScan  *ts = progress->cursor.ts;
	SlicedCursor cursor = {.ts = ts, .objid = objid, .moving = NoMovementScanDirection};

	if (progress->cursor.objid == objid && progress->pos == pos)
		cursor = progress->cursor;
	cursor.end = end;
	while (pos < end)
	{
		SlicedRow	row;
		SlicedSlice slice;
		uint32		start;
		const char *problem;

		CHECK_FOR_INTERRUPTS();
		problem = sliced_cursor_find(&cursor, pos, &row, &start);
		if (problem != NULL)
			return problem;
		problem = sliced_slice_gather(ts, &row, start, ScanDirectionIsBackward(cursor.moving) ?
									  sliced_last_seq(end) : 0, &slice);
		if (row.parts > 0)
			cursor.moving = ForwardScanDirection;
		if (problem == NULL)
			problem = take_slice(partial, objid, &slice, end);
		if (slice.buffer != NULL)
			pfree(slice.buffer);
		if (problem != NULL)
			return problem;
		pos = start + row.rawlen;
		*progress = (Progress) {cursor, pos};
	}
	return NULL;
}

/*
 * Read the head, which says what the value consists of.  The inline bytes come
 * with it, and the first slice as far as bytes before 'to' need it.
 */
static const char *
load_layout(SlicedPartial *partial, Progress *progress, Oid valueid, uint32 to)
{
	ToastScan  *ts = progress->cursor.ts;
	SlicedRow	head;
	SlicedSlice slice;
	MemoryContext old;
	const char *problem;

	sliced_scan_seek_within(ts, valueid, SLICED_HEAD_SEQ, sliced_last_seq(to));
	if (!sliced_scan_next(ts, ForwardScanDirection) || ts->seq != SLICED_HEAD_SEQ)
		return "the head is missing";
	problem = sliced_row_decode(&head, ts->data, ts->len, valueid, ts->seq);
	if (problem != NULL)
		return problem;

	old = MemoryContextSwitchTo(partial->mcxt);
	problem = sliced_layout_load(&partial->layout, ts, &head);
	MemoryContextSwitchTo(old);
	if (problem == NULL && partial->layout.total > partial->size)
		problem = "the pieces are longer than the value";
	if (problem != NULL)
		return problem;
	partial->have_layout = true;
	progress->cursor = (SlicedCursor) {ts, valueid, ForwardScanDirection};
	progress->pos = head.npieces > 0 ? SLICED_OWN_START : head.rawlen;
	if (head.npieces > 0)
	{
		distribute(partial, InvalidOid, partial->layout.inline_bytes, 0,
				   partial->layout.inline_len);
		return NULL;
	}
	if (head.rawlen == 0)
		return NULL;
	problem = sliced_slice_gather(ts, &head, 0, 0, &slice);
	if (problem == NULL)
		problem = take_slice(partial, valueid, &slice, Min(to, head.rawlen));
	if (slice.buffer != NULL)
		pfree(slice.buffer);
	return problem;
}

/* Read bytes [from, to); none of them is there. */
static const char *
read_missing(SlicedPartial *partial, Progress *progress, uint32 from, uint32 to)
{
	uint32		at = 0;
	const char *problem = NULL;

	for (int i = 0; i <= partial->layout.npieces && at < to && problem == NULL; i++)
	{
		SlicedPiece piece = piece_of(partial, i);
		uint32		first = Max(from, at);
		uint32		next = Min(to, at + piece.len);

		if (first < next && piece.objid != InvalidOid)
			problem = read_object(partial, progress, piece.objid, piece.start + (first - at),
								  piece.start + (next - at));
		at += piece.len;
	}
	return problem;
}

static const char *
try_to_read(SlicedPartial *partial, Relation toastrel, Oid valueid, uint32 from, uint32 to)
{
	const char *problem = NULL;
	SlicedRange missing;
	ToastScan	ts;
	Progress	progress = {{.ts = &ts}};

	sliced_scan_open(&ts, toastrel, NULL, AccessShareLock);
	if (!partial->have_layout)
		problem = load_layout(partial, &progress, valueid, to);
	while (problem == NULL)
	{
		missing = sliced_partial_missing(partial, from, to);
		if (missing.from == to)
			break;
		problem = read_missing(partial, &progress, missing.from, missing.to);
		from = missing.to;
	}
	sliced_scan_close(&ts, AccessShareLock);
	return problem;
}

bool
sliced_partial_try_read(SlicedPartial *partial, const struct varatt_external *ptr,
						uint32 from, uint32 to)
{
	Relation	toastrel = table_open(ptr->va_toastrelid, AccessShareLock);
	bool		ok = try_to_read(partial, toastrel, ptr->va_valueid, from, to) == NULL;

	table_close(toastrel, AccessShareLock);
	return ok;
}

void
sliced_partial_read(SlicedPartial *partial, const struct varatt_external *ptr,
					uint32 from, uint32 to)
{
	Relation	toastrel;

	if (sliced_partial_try_read(partial, ptr, from, to))
		return;
	toastrel = table_open(ptr->va_toastrelid, AccessShareLock);
	if (!sliced_value_read(toastrel, ptr->va_valueid, from, to - from, partial->bytes + from))
		sliced_report_corruption(toastrel, ptr->va_valueid, from,
								 "the value is not stored as slices");
	sliced_partial_add(partial, from, to);
	table_close(toastrel, AccessShareLock);
}
