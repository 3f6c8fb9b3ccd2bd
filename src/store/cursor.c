/*
 * cursor.c
 *	  Finds the slices of an object by the bytes they have.
 *
 * Slices are found by where they begin.  A position in the middle of one takes a
 * search backward, from the position to the first row that begins a slice with it.
 *
 * Several rows may cover a position: an older, shorter version of a slice is a
 * prefix of its successor, so any row that covers the position will do.
 */
#include "postgres.h"

#include "base/limits.h"
#include "miscadmin.h"
#include "store/cursor.h"

/* True if the current row, decoded, is the first of a slice that has 'pos'. */
static SlicedDamage
slice_row_decode(ToastScan *ts, uint32 pos, SlicedRow *row, uint32 *start, bool *covers)
{
	SlicedDamage damage = sliced_row_decode(row, ts->data, ts->len, ts->objid, ts->seq);

	if (damage != SLICED_SOUND)
		return damage;
	*start = Max(ts->seq, 0);
	/* if the row begins behind 'pos', the difference is longer than any slice */
	*covers = row->kind != SLICED_ROW_CONTINUATION && row->kind != SLICED_ROW_NODE &&
		row->kind != SLICED_ROW_ENTRY && row->root == NULL && pos - *start < row->rawlen;
	return SLICED_SOUND;
}

/*
 * Step back to a slice that has 'pos'.  With 'pass_damage' we pass over damaged rows,
 * otherwise they end the search.
 */
static SlicedDamage
slice_step_back(ToastScan *ts, uint32 pos, bool pass_damage, SlicedRow *row, uint32 *start)
{
	while (sliced_scan_next(ts, BackwardScanDirection))
	{
		bool		covers = false;
		SlicedDamage damage;

		CHECK_FOR_INTERRUPTS();
		damage = slice_row_decode(ts, pos, row, start, &covers);
		if (covers || (damage != SLICED_SOUND && !pass_damage))
			return damage;
	}
	return SLICED_SLICE_MISSING;
}

/* True if the slice that has 'pos' is one row, where the hint says. */
static bool
slice_is_at_hint(SlicedCursor *cursor, uint32 pos, SlicedRow *row, uint32 *start)
{
	int32		seq = cursor->slice == 0 ? SLICED_HEAD_SEQ : cursor->slice;
	bool		covers;

	return sliced_scan_is_at(cursor->ts, &cursor->hint, cursor->objid, seq) &&
		slice_row_decode(cursor->ts, pos, row, start, &covers) == SLICED_SOUND && covers &&
		row->continuations == 0;
}

SlicedDamage
sliced_cursor_find(SlicedCursor *cursor, uint32 pos, SlicedRow *row, uint32 *start)
{
	ToastScan  *ts = cursor->ts;
	bool		covers = false;
	SlicedDamage damage;

	if (cursor->moving == NoMovementScanDirection && slice_is_at_hint(cursor, pos, row, start))
		return SLICED_SOUND;
	if (ScanDirectionIsBackward(cursor->moving) ||
		(cursor->moving == NoMovementScanDirection && (pos == 0 || cursor->in_slice)))
	{
		uint32		first = cursor->moving == NoMovementScanDirection && cursor->in_slice ? cursor->slice : pos;

		sliced_scan_seek_within(ts, cursor->objid, first == 0 ? SLICED_HEAD_SEQ : first,
								sliced_last_seq(cursor->end));
		cursor->moving = ForwardScanDirection;
	}

	if (ScanDirectionIsForward(cursor->moving))
		while (sliced_scan_next(ts, ForwardScanDirection) && ts->seq <= (int32) pos)
		{
			damage = slice_row_decode(ts, pos, row, start, &covers);
			if (damage != SLICED_SOUND || covers)
				return damage;
		}

	/*
	 * The slice begins further back.  Rows of slices that it has replaced may
	 * still be there, and stop us where the first of them is missing.
	 */
	cursor->moving = BackwardScanDirection;
	if (pos > SLICED_SLICE_USUAL)
	{
		sliced_scan_seek_within(ts, cursor->objid, pos - SLICED_SLICE_USUAL, pos);
		damage = slice_step_back(ts, pos, false, row, start);
		if (damage != SLICED_SLICE_MISSING)
			return damage;
	}
	return sliced_slice_find_nth(ts, cursor->objid, pos, 0, row, start);
}

SlicedDamage
sliced_slice_find_nth(ToastScan *ts, Oid objid, uint32 pos, int n, SlicedRow *row, uint32 *start)
{
	SlicedDamage damage;

	sliced_scan_seek(ts, objid, pos, BackwardScanDirection);
	do
		damage = slice_step_back(ts, pos, false, row, start);
	while (damage == SLICED_SOUND && n-- > 0);
	return damage;
}

int32
sliced_slice_seq(ToastScan *ts, Oid objid, uint32 pos)
{
	SlicedRow	row;
	uint32		start;

	sliced_scan_seek(ts, objid, pos, BackwardScanDirection);
	return slice_step_back(ts, pos, true, &row, &start) == SLICED_SOUND ? ts->seq : (int32) pos;
}

/* Go to the last row of the object. */
static bool
object_seek_last(ToastScan *ts, Oid objid, uint32 guess)
{
	if (guess > 0)
	{
		sliced_scan_seek_within(ts, objid, guess, PG_INT32_MAX);
		if (sliced_scan_next(ts, BackwardScanDirection))
			return true;
	}
	sliced_scan_seek(ts, objid, PG_INT32_MAX, BackwardScanDirection);
	return sliced_scan_next(ts, BackwardScanDirection);
}

uint32
sliced_object_end(ToastScan *ts, Oid objid, uint32 guess, SlicedRow *last)
{
	if (!object_seek_last(ts, objid, guess) ||
		sliced_row_decode(last, ts->data, ts->len, ts->objid, ts->seq) != SLICED_SOUND)
		return 0;
	if (last->kind == SLICED_ROW_CONTINUATION)
		return ts->seq - last->continuations + last->rawlen;
	return last->root != NULL ? last->own : Max(ts->seq, 0) + last->rawlen;
}
