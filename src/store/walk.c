/*
 * walk.c
 *	  Visits all slices of a value, and whatever is wrong with them.
 *
 * Unlike the reader, it goes on after a problem and reports each once: after
 * damage it continues where the next good slice begins.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "format/pointer.h"
#include "miscadmin.h"
#include "store/layout.h"
#include "store/reader.h"
#include "store/walk.h"

typedef struct Walk
{
	ToastScan  *ts;
	const SlicedVisitor *visitor;
} Walk;

static void
report(Walk *w, SlicedProblemKind kind, int64 offset, const char *message)
{
	if (w->visitor->problem)
		w->visitor->problem(w->visitor->arg, kind, w->ts->objid, offset, message);
}

/* Gather, try to decompress and show one slice; false if that is not possible. */
static bool
visit_slice(Walk *w, const SlicedRow *row, uint32 start, int i, const SlicedPiece *piece,
			bool reseek)
{
	SlicedSlice slice;
	const char *problem = sliced_slice_gather(w->ts, row, start, reseek ? PG_INT32_MAX : 0, &slice);

	if (problem == NULL)
	{
		char	   *raw = palloc(slice.rawlen + 1);

		problem = sliced_slice_decompress(&slice, 0, slice.rawlen, raw);
		pfree(raw);
	}
	if (problem != NULL)
		report(w, SLICED_PROBLEM_CORRUPTED, start, problem);
	else if (w->visitor->slice)
		w->visitor->slice(w->visitor->arg, i, piece, &slice);
	if (slice.buffer)
		pfree(slice.buffer);
	return problem == NULL;
}

/* Find where to begin: the offset of the last slice that begins at or before 'pos'. */
static int32
begin_of_slice(Walk *w, Oid objid, uint32 pos)
{
	SlicedRow	row;

	sliced_scan_seek(w->ts, objid, pos, BackwardScanDirection);
	while (sliced_scan_next(w->ts, BackwardScanDirection))
		if (sliced_row_decode(&row, w->ts->data, w->ts->len, objid, w->ts->seq) == NULL &&
			row.kind != SLICED_ROW_CONTINUATION && pos - Max(w->ts->seq, 0) < row.rawlen)
			return w->ts->seq;
	return pos;
}

/* Visit the slices in which a reader would find the bytes of the piece. */
static void
walk_as_reader(Walk *w, int i, const SlicedPiece *piece)
{
	uint32		pos = piece->start;
	uint32		end = piece->start + piece->len;
	SlicedCursor cursor = {
		.ts = w->ts,
		.objid = piece->objid,
		.end = end,
		.moving = NoMovementScanDirection
	};

	while (pos < end)
	{
		SlicedRow	row;
		uint32		start;
		const char *problem = sliced_cursor_find(&cursor, pos, &row, &start);

		CHECK_FOR_INTERRUPTS();
		if (problem != NULL)
		{
			report(w, SLICED_PROBLEM_MISSING, pos, problem);
			return;
		}
		if (!visit_slice(w, &row, start, i, piece, ScanDirectionIsBackward(cursor.moving)))
			return;
		if (row.parts > 0)
			cursor.moving = ForwardScanDirection;
		pos = start + row.rawlen;
	}
}

static void
walk_object(Walk *w, int i, const SlicedPiece *piece, bool whole)
{
	ToastScan  *ts = w->ts;
	uint32		pos = piece->start;
	uint32		end = piece->start + piece->len;
	bool		lost = false;	/* behind damage: where the next begins is unknown */

	if (ts->snapshot == NULL)
	{
		walk_as_reader(w, i, piece);
		return;
	}

	sliced_scan_seek(ts, piece->objid,
					 pos == 0 ? SLICED_HEAD_SEQ : begin_of_slice(w, piece->objid, pos),
					 ForwardScanDirection);

	while ((pos < end || whole) && sliced_scan_next(ts, ForwardScanDirection))
	{
		SlicedRow	row;
		const char *problem = sliced_row_decode(&row, ts->data, ts->len, ts->objid, ts->seq);
		uint32		start = Max(ts->seq, 0);

		CHECK_FOR_INTERRUPTS();
		if (problem != NULL)
		{
			if (!lost)
				report(w, SLICED_PROBLEM_CORRUPTED, start, problem);
			lost = true;
			continue;
		}
		if (row.kind == SLICED_ROW_HEAD && (row.npieces > 0 || row.rawlen == 0))
			continue;
		if (start >= end)
		{
			if (whole && !lost)
				report(w, SLICED_PROBLEM_EXCESS, start, "the value ends before this slice");
			break;
		}
		if (row.kind == SLICED_ROW_CONTINUATION || (start < pos && pos > piece->start))
		{
			/* of a slice that is damaged, or not there */
			if (!lost)
				report(w, SLICED_PROBLEM_OVERLAP, start, "these bytes are there twice");
			if (row.kind == SLICED_ROW_CONTINUATION || start + row.rawlen <= pos)
				continue;
		}
		if (start > pos && !lost)
			report(w, SLICED_PROBLEM_MISSING, pos, "the slice is missing");
		lost = !visit_slice(w, &row, start, i, piece, false);
		pos = start + row.rawlen;
	}
	if (pos < end && !lost)
		report(w, SLICED_PROBLEM_MISSING, pos, "the slice is missing");
	else if (pos > end && whole)
		report(w, SLICED_PROBLEM_EXCESS, end, "the value is longer than its pointer says");
}

/* Report slices of the object that neither a piece nor the rest of the value needs. */
static void
walk_unneeded(Walk *w, const SlicedLayout *layout, const SlicedPiece *rest, Oid objid)
{
	ToastScan  *ts = w->ts;

	sliced_scan_seek(ts, objid, 0, ForwardScanDirection);
	while (sliced_scan_next(ts, ForwardScanDirection))
	{
		SlicedRow	row;
		uint32		start = ts->seq;
		bool		needed = false;

		CHECK_FOR_INTERRUPTS();
		if (sliced_row_decode(&row, ts->data, ts->len, objid, ts->seq) != NULL ||
			row.kind == SLICED_ROW_CONTINUATION)
			continue;
		for (int i = 0; i <= layout->npieces && !needed; i++)
		{
			const SlicedPiece *piece = i < layout->npieces ? &layout->pieces[i] : rest;

			needed = piece->objid == objid && piece->start < start + row.rawlen &&
				start < piece->start + piece->len;
		}
		if (!needed)
			report(w, SLICED_PROBLEM_EXCESS, start, "no piece of the value needs this slice");
	}
}

static void
walk_pieces(Walk *w, SlicedRow *head, uint32 size)
{
	SlicedLayout layout;
	SlicedPiece rest;
	const char *problem = sliced_layout_load(&layout, w->ts, head);

	if (problem != NULL)
	{
		report(w, SLICED_PROBLEM_CORRUPTED, 0, problem);
		return;
	}
	if (layout.total > size)
		report(w, SLICED_PROBLEM_POINTER, size, "the pieces are longer than the value");

	if (head->rawlen > 0)
	{
		SlicedPiece inline_bytes = {.len = head->rawlen};

		visit_slice(w, head, 0, 0, &inline_bytes, false);
	}
	rest = sliced_layout_rest(&layout, size);
	for (int i = 0; i < layout.npieces; i++)
	{
		if (layout.pieces[i].objid == 0)
			continue;
		if (w->visitor->object)
			w->visitor->object(w->visitor->arg, layout.pieces[i].objid);
		walk_object(w, i, &layout.pieces[i], false);
		if (w->ts->snapshot != NULL)
			walk_unneeded(w, &layout, &rest, layout.pieces[i].objid);
	}
	if (rest.len > 0)
		walk_object(w, layout.npieces, &rest, true);
	else if (w->ts->snapshot != NULL)
		walk_unneeded(w, &layout, &rest, layout.valueid);
	sliced_layout_free(&layout);
}

/* A value in core's format consists of chunks of known lengths. */
static void
walk_chunks(Walk *w, const struct varatt_external *ptr)
{
	uint32		size = VARATT_EXTERNAL_GET_EXTSIZE(*ptr);
	uint32		have = 0;
	int32		next = 0;

	sliced_scan_seek(w->ts, ptr->va_valueid, SLICED_HEAD_SEQ, ForwardScanDirection);
	while (sliced_scan_next(w->ts, ForwardScanDirection))
	{
		uint32		expected = Min(size - have, TOAST_MAX_CHUNK_SIZE);

		CHECK_FOR_INTERRUPTS();
		if (w->ts->seq != next || expected == 0)
		{
			report(w, w->ts->seq > next && expected > 0 ?
				   SLICED_PROBLEM_MISSING : SLICED_PROBLEM_EXCESS,
				   have, "unexpected chunk number");
			return;
		}
		if (w->ts->len != expected)
		{
			report(w, SLICED_PROBLEM_CORRUPTED, have, "unexpected chunk length");
			return;
		}
		have += expected;
		next++;
	}
	if (have < size)
		report(w, SLICED_PROBLEM_MISSING, have, "the chunk is missing");
}

void
sliced_value_walk(ToastScan *ts, const struct varatt_external *ptr,
				  const SlicedVisitor *visitor)
{
	Walk		w = {.ts = ts, .visitor = visitor};
	uint32		size = sliced_pointer_size(ptr);
	SlicedRow	head;
	const char *problem;

	if (!sliced_pointer_is_ours(ptr))
	{
		walk_chunks(&w, ptr);
		return;
	}

	sliced_scan_seek(ts, ptr->va_valueid, SLICED_HEAD_SEQ, ForwardScanDirection);
	if (!sliced_scan_next(ts, ForwardScanDirection))
	{
		report(&w, SLICED_PROBLEM_MISSING, 0, "the value is missing");
		return;
	}
	if (ts->seq != SLICED_HEAD_SEQ)
	{
		report(&w, SLICED_PROBLEM_MISSING, 0, "the head is missing");
		return;
	}
	problem = sliced_row_decode(&head, ts->data, ts->len, ts->objid, ts->seq);
	if (problem == NULL && head.kind != SLICED_ROW_HEAD)
		problem = "there is no head where it should be";
	if (problem != NULL)
		report(&w, SLICED_PROBLEM_CORRUPTED, 0, problem);
	else if (head.npieces > 0)
		walk_pieces(&w, &head, size);
	else
	{
		SlicedPiece whole = {.objid = ptr->va_valueid, .len = size};

		walk_object(&w, 0, &whole, true);
	}
}
