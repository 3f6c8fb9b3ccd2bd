/*
 * partial.c
 *	  A value in memory, read only where its bytes were needed.
 *
 * Slices are decompressed into their places.  A long slice is decompressed only up to
 * the bytes needed at first, and completely when more of it is needed.  So the
 * beginning of a long slice is cheap, and no slice is decompressed more than twice.
 * In a tree of nodes we read only the nodes on the way.  They say where some of a
 * slice's bytes are, so the slice that was read last stays in memory.
 *
 * This file handles the ordinary case.  Anything unusual, such as a slice that
 * its writer has not written yet, is left to the reader, which knows what to do
 * and which error to raise.
 */
#include "postgres.h"

#include "access/table.h"
#include "base/codec_ids.h"
#include "base/counters.h"
#include "base/limits.h"
#include "base/stop.h"
#include "format/pointer.h"
#include "miscadmin.h"
#include "store/cursor.h"
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
	partial->kept.mcxt = mcxt;
}

/* The number of the first range that ends at 'pos' or behind it. */
static int
partial_find_range(const SlicedPartial *partial, uint32 pos)
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
	int			i = partial_find_range(partial, from);

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
	int			i = partial_find_range(partial, from);
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

/* Some bytes [from, to) of an object, and their place in the value. */
typedef struct Place
{
	uint32		from;
	uint32		to;
	uint32		place;
	SlicedPieceIterator pieces; /* at the piece that they are in */
} Place;

/* The next place that bytes [start, end) of an object have, in the value's order. */
static bool
slice_next_place(Oid objid, uint32 start, uint32 end, Place *p)
{
	while (sliced_piece_next(&p->pieces))
	{
		const SlicedPiece *piece = &p->pieces.piece;

		p->from = Max(start, piece->start);
		p->to = Min(end, piece->start + piece->len);
		p->place = p->pieces.at + (p->from - piece->start);
		if (piece->objid == objid && p->from < p->to)
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
slice_find_places(const SlicedPartial *partial, Oid objid, uint32 start, uint32 end)
{
	Places		places = {.start = end, .end = start};
	Place		p = {.pieces = {&partial->pieces}};

	while (slice_next_place(objid, start, end, &p))
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
slice_distribute(SlicedPartial *partial, Oid objid, const char *raw, uint32 start, uint32 end)
{
	Place		p = {.pieces = {&partial->pieces}};

	while (slice_next_place(objid, start, end, &p))
	{
		memcpy(partial->bytes + p.place, raw + (p.from - start), p.to - p.from);
		sliced_partial_add(partial, p.place, p.place + (p.to - p.from));
	}
}

/* How much of the slice to decompress so that bytes up to 'end' are available. */
static uint32
slice_worth_having(const SlicedSlice *slice, const Places *places, uint32 end)
{
	uint32		first = slice->start + SLICED_FIRST_PART;

	if (slice->codec == SLICED_CODEC_NONE || places->n > 1 || end > first ||
		places->end <= first + SLICED_FIRST_PART)
		return places->end;
	return first;
}

/* Decompress a slice so that bytes up to 'end' are available. */
static SlicedDamage
slice_load(SlicedPartial *partial, Oid objid, const SlicedSlice *slice, uint32 end)
{
	Places		places = slice_find_places(partial, objid, slice->start,
										   slice->start + slice->rawlen);
	uint32		to = slice_worth_having(slice, &places, end);
	SlicedDamage damage;

	if (places.n == 1)
	{
		damage = sliced_slice_decompress(slice, places.start - slice->start,
										 to - slice->start, partial->bytes + places.at);
		if (damage == SLICED_SOUND)
			sliced_partial_add(partial, places.at, places.at + (to - places.start));
	}
	else
	{
		char	   *raw = palloc(slice->rawlen);

		damage = sliced_slice_decompress(slice, 0, slice->rawlen, raw);
		if (damage == SLICED_SOUND)
			slice_distribute(partial, objid, raw, slice->start, slice->start + slice->rawlen);
		pfree(raw);
	}
	return damage;
}

/* Where a scan is: the next slice begins at 'pos' of its object. */
typedef struct Progress
{
	SlicedCursor cursor;
	uint32		pos;
} Progress;

/*
 * The bytes [pos, end) to read from a piece's object, and where they go, unless
 * slices know their places.
 */
typedef struct Wanted
{
	const SlicedPiece *piece;
	uint32		pos;
	uint32		end;
	uint32		likely;			/* bytes up to there may be wanted next */
	char	   *dst;			/* of a value with nodes */
} Wanted;

/* Find the slice that has byte 'pos', and copy its bytes to their places. */
static SlicedDamage
wanted_slice_load(SlicedPartial *partial, SlicedCursor *cursor, Wanted *w)
{
	ToastScan  *ts = cursor->ts;
	Oid			objid = w->piece->objid;
	SlicedRow	row;
	SlicedSlice slice;
	uint32		start;
	uint32		n;
	SlicedDamage damage;

	damage = sliced_cursor_find(cursor, w->pos, &row, &start);
	if (damage != SLICED_SOUND)
		return damage;
	damage = sliced_slice_gather(ts, &row, start, ScanDirectionIsBackward(cursor->moving) ?
								 sliced_last_seq(w->end) : 0, &slice);
	if (row.continuations > 0)
		cursor->moving = ForwardScanDirection;
	if (damage != SLICED_SOUND)
		return damage;
	if (partial->layout.flat)
	{
		damage = slice_load(partial, objid, &slice, w->end);
		n = start + row.rawlen - w->pos;
	}
	else
	{
		damage = sliced_kept_load(&partial->kept, objid, &slice, w->pos, w->end, w->likely, w->dst, &n);
		w->dst += n;
	}
	if (slice.buffer != NULL)
		pfree(slice.buffer);
	if (damage == SLICED_SOUND)
		w->pos += n;
	return damage;
}

static SlicedDamage
wanted_load(SlicedPartial *partial, Progress *progress, Wanted *w)
{
	const SlicedPiece *piece = w->piece;
	SlicedCursor cursor = {
		.ts = progress->cursor.ts, .objid = piece->objid, .moving = NoMovementScanDirection,
		.in_slice = piece->in_slice, .slice = piece->slice, .hint = piece->hint
	};

	if (progress->cursor.objid == piece->objid && progress->pos == w->pos &&
		progress->cursor.moving != NoMovementScanDirection)
		cursor = progress->cursor;
	cursor.end = w->end;
	while (w->pos < w->end)
	{
		uint32		n = partial->layout.flat ? 0 :
			sliced_kept_read(&partial->kept, piece->objid, w->pos, w->end, w->dst);
		SlicedDamage damage;

		CHECK_FOR_INTERRUPTS();
		if (n > 0)
		{
			w->pos += n;
			w->dst += n;
			continue;
		}
		damage = wanted_slice_load(partial, &cursor, w);
		if (damage != SLICED_SOUND)
			return damage;
		SLICED_STOP("document.slice-read");
		*progress = (Progress) {cursor, w->pos};
	}
	return SLICED_SOUND;
}

/*
 * Read the head, which says what the value consists of.  With it come the bytes
 * before 'to' that are in the first slice, or literal bytes.
 */
static SlicedDamage
layout_load(SlicedPartial *partial, Progress *progress, Oid valueid, uint32 to)
{
	ToastScan  *ts = progress->cursor.ts;
	SlicedRow	head;
	SlicedSlice slice;
	MemoryContext old;
	SlicedDamage damage;

	damage = sliced_head_find(ts, valueid, sliced_last_seq(to), &head);
	if (damage != SLICED_SOUND)
		return damage;

	old = MemoryContextSwitchTo(partial->mcxt);
	damage = sliced_layout_load(&partial->layout, ts, &head);
	if (damage == SLICED_SOUND && partial->layout.total > partial->size)
		damage = SLICED_ROOT_TOO_LONG;
	if (damage == SLICED_SOUND && partial->layout.flat)
		damage = sliced_pieces_find(&partial->pieces, &partial->layout, ts, 0, partial->size);
	else if (damage == SLICED_SOUND)
		sliced_layout_keep_nodes(&partial->layout, partial->mcxt);
	MemoryContextSwitchTo(old);
	if (damage != SLICED_SOUND)
		return damage;
	SLICED_STOP("document.layout-read");
	partial->have_layout = true;
	progress->cursor = (SlicedCursor) {ts, valueid, ForwardScanDirection};
	progress->pos = head.root != NULL ? SLICED_OWN_START : head.rawlen;
	if (head.root != NULL)
	{
		slice_distribute(partial, InvalidOid, partial->pieces.literals, 0,
						 partial->pieces.nliterals);
		return SLICED_SOUND;
	}
	if (head.rawlen == 0)
		return SLICED_SOUND;
	damage = sliced_slice_gather(ts, &head, 0, 0, &slice);
	if (damage == SLICED_SOUND)
		damage = slice_load(partial, valueid, &slice, Min(to, head.rawlen));
	if (slice.buffer != NULL)
		pfree(slice.buffer);
	return damage;
}

/* Read bytes [from, to) from the pieces.  None is there, except literal bytes of a flat value. */
static SlicedDamage
pieces_load(SlicedPartial *partial, Progress *progress, const SlicedPieces *pieces, uint32 from, uint32 to)
{
	SlicedPieceIterator it = {pieces};
	SlicedDamage damage = SLICED_SOUND;

	while (damage == SLICED_SOUND && sliced_piece_next(&it) && it.at < to)
	{
		uint32		first = Max(from, it.at);
		uint32		next = Min(to, it.at + it.piece.len);
		uint32		pos = it.piece.start + (first - it.at);
		Wanted		w = {&it.piece, pos, pos + (next - first), pos + (to - first), partial->bytes + first};

		if (first >= next)
			continue;
		if (it.piece.objid != InvalidOid)
			damage = wanted_load(partial, progress, &w);
		else if (!partial->layout.flat)
			memcpy(w.dst, pieces->literals + w.pos, next - first);
	}
	return damage;
}

/*
 * Read bytes [from, to); none of them is there.  If the value is read in order, perhaps
 * with gaps, more is read ahead each time.  At other places we read no further than a
 * piece, as the next one takes a search.
 */
static SlicedDamage
missing_load(SlicedPartial *partial, Progress *progress, uint32 from, uint32 to)
{
	bool		in_order = partial->ahead > 0 && from >= partial->reached &&
		from - partial->reached <= partial->ahead;
	uint32		enough;
	SlicedPieces pieces;
	SlicedDamage damage;

	if (partial->layout.flat)
		return pieces_load(partial, progress, &partial->pieces, from, to);
	partial->ahead = in_order ? Min(partial->ahead * 2, SLICED_READ_AHEAD_MAX) : SLICED_READ_AHEAD;
	enough = to;
	to = sliced_partial_missing(partial, from, to + Min(partial->size - to, partial->ahead)).to;
	if (in_order)
		enough = to;
	damage = sliced_pieces_find_some(&pieces, &partial->layout, progress->cursor.ts, from, enough, &to);
	partial->reached = to;
	progress->cursor.objid = InvalidOid;
	if (damage == SLICED_SOUND)
		damage = pieces_load(partial, progress, &pieces, from, to);
	if (damage == SLICED_SOUND)
		sliced_partial_add(partial, from, to);
	sliced_pieces_free(&pieces);
	return damage;
}

static SlicedDamage
partial_load(SlicedPartial *partial, Relation toastrel, Oid valueid, uint32 from, uint32 to)
{
	SlicedDamage damage = SLICED_SOUND;
	SlicedRange missing;
	ToastScan	ts;
	Progress	progress = {{.ts = &ts}};

	sliced_scan_open(&ts, toastrel, NULL, AccessShareLock);
	if (!partial->have_layout)
		damage = layout_load(partial, &progress, valueid, to);
	while (damage == SLICED_SOUND)
	{
		missing = sliced_partial_missing(partial, from, to);
		if (missing.from == to)
			break;
		damage = missing_load(partial, &progress, missing.from, missing.to);
		from = missing.to;
	}
	sliced_scan_close(&ts, AccessShareLock);
	return damage;
}

bool
sliced_partial_try_read(SlicedPartial *partial, const struct varatt_external *ptr,
						uint32 from, uint32 to)
{
	Relation	toastrel = table_open(ptr->va_toastrelid, AccessShareLock);
	instr_time	began = sliced_reading_begin();
	bool		ok = partial_load(partial, toastrel, ptr->va_valueid, from, to) == SLICED_SOUND;

	if (ok)
		sliced_reading_end(RelationGetRelid(toastrel), began, false);
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
		sliced_report_corruption(toastrel, ptr->va_valueid, from, SLICED_NOT_SLICES);
	sliced_partial_add(partial, from, to);
	table_close(toastrel, AccessShareLock);
}
