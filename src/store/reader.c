/*
 * reader.c
 *	  Reads a value, or a range of it, slice by slice.
 *
 * One descent of the index finds the head and, in the same scan, the slices
 * that follow: reading a value from its start needs nothing else.  A range far
 * from the start takes a second descent, backwards from its first byte, to the
 * slice that covers it; slices are found by where they begin.
 *
 * Several rows may cover a position: an older, shorter version of a slice is a
 * prefix of its successor, so any row that covers the position will do.
 *
 * Few readers look at rows of transactions in progress, but some do (BRIN
 * summarization, for one), and an update writes its row before its slices.  So
 * before a value is said to be missing, those who are writing get a chance; and
 * if they abort, their slices are as good as their row.
 */
#include "postgres.h"

#include "base/compat.h"
#include "codec/codec.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "store/reader.h"
#include "utils/timestamp.h"

/* Longest time to wait for others before a value is said to be missing. */
#define PATIENCE_MS		10000

static const char continuation_missing[] = "a continuation of the slice is missing";
static const char slice_missing[] = "the slice is missing";
static const char head_missing[] = "the head is missing";
static const char value_missing[] = "the value is missing";

const char *
sliced_slice_gather(ToastScan *ts, const SlicedRow *row, uint32 start, bool reseek,
					SlicedSlice *slice)
{
	uint32		have = row->payload_len;
	int			part = 1;

	slice->start = start;
	slice->rawlen = row->rawlen;
	slice->codec = row->codec;
	slice->nrows = 1 + row->parts;
	slice->storedlen = row->storedlen;
	slice->stored = row->payload;
	slice->buffer = NULL;
	if (row->parts == 0)
		return NULL;

	slice->stored = slice->buffer = palloc(slice->storedlen);
	memcpy(slice->buffer, row->payload, have);
	if (reseek)
		sliced_scan_seek(ts, ts->objid, start + 1, ForwardScanDirection);

	while (part < slice->nrows)
	{
		SlicedRow	next;
		const char *problem;

		if (!sliced_scan_next(ts, ForwardScanDirection) || ts->seq > start + part)
			return continuation_missing;
		problem = sliced_row_decode(&next, ts->data, ts->len, ts->objid, ts->seq);
		if (problem)
			return problem;
		if (next.kind != SLICED_ROW_CONTINUATION || ts->seq != start + part)
			continue;			/* of another version of these bytes */
		if (next.parts != part || next.rawlen != slice->rawlen ||
			next.storedlen != slice->storedlen || next.codec != slice->codec ||
			next.payload_len > slice->storedlen - have)
			return "a continuation does not belong to the slice";
		memcpy(slice->buffer + have, next.payload, next.payload_len);
		have += next.payload_len;
		part++;
	}
	return have == slice->storedlen ? NULL : "the slice's rows do not add up";
}

const char *
sliced_slice_decompress(const SlicedSlice *slice, uint32 from, uint32 to, char *dest)
{
	const SlicedCodec *codec = sliced_codec_get(slice->codec);
	char	   *work = dest;
	bool		ok;

	Assert(from <= to && to <= slice->rawlen);

	if (slice->codec == SLICED_CODEC_NONE)
	{
		memcpy(dest, slice->stored + from, to - from);
		return NULL;
	}

	if (from > 0)
		work = palloc(to);
	ok = codec->decompress(slice->stored, slice->storedlen, work, to, slice->rawlen);
	if (work != dest)
	{
		if (ok)
			memcpy(dest, work + from, to - from);
		pfree(work);
	}
	return ok ? NULL : "the slice cannot be decompressed";
}

const char *
sliced_piece_check(const SlicedRow *head, const SlicedPiece *piece)
{
	if (piece->len == 0 || piece->start > INT_MAX || piece->len > INT_MAX ||
		(piece->objid == 0 && (uint64) piece->start + piece->len > head->rawlen))
		return "impossible piece";
	return NULL;
}

/*
 * What is being read; positions are in the current object.  Functions return
 * false when they meet a problem.
 */
typedef struct Reader
{
	ToastScan	ts;
	uint32		value_offset;	/* of the byte at 'dest' */
	char	   *dest;
	const char *problem;
	bool		core_format;
} Reader;

static bool
fail(Reader *r, const char *problem)
{
	r->problem = problem;
	return false;
}

/* Copy bytes [*pos, end) of the slice that begins at 'start', as far as it has them. */
static bool
copy_from_slice(Reader *r, const SlicedRow *row, uint32 start, bool reseek,
				uint32 *pos, uint32 end)
{
	SlicedSlice slice;
	uint32		upto = Min(end, start + row->rawlen);

	r->problem = sliced_slice_gather(&r->ts, row, start, reseek, &slice);
	if (r->problem == NULL)
		r->problem = sliced_slice_decompress(&slice, *pos - start, upto - start, r->dest);
	if (slice.buffer)
		pfree(slice.buffer);
	if (r->problem != NULL)
		return false;
	r->dest += upto - *pos;
	r->value_offset += upto - *pos;
	*pos = upto;
	return true;
}

/*
 * Decode the current row.  '*covers' tells whether it is the first row of a
 * slice that covers 'pos'; '*start' is where the slice begins.
 */
static bool
look_at_row(Reader *r, uint32 pos, SlicedRow *row, uint32 *start, bool *covers)
{
	r->problem = sliced_row_decode(row, r->ts.data, r->ts.len, r->ts.objid, r->ts.seq);
	if (r->problem != NULL)
		return false;
	*start = Max(r->ts.seq, 0);
	*covers = row->kind != SLICED_ROW_CONTINUATION && row->npieces == 0 &&
		*start <= pos && pos - *start < row->rawlen;
	return true;
}

/*
 * Read bytes [pos, end) of an object.  With 'started' the scan is already
 * moving forward over the object's rows and has not passed 'pos'.
 */
static bool
read_object(Reader *r, Oid objid, uint32 pos, uint32 end, bool started)
{
	SlicedRow	row;
	uint32		start;
	bool		covers = false;

	if (!started && pos > 0)
	{
		sliced_scan_seek(&r->ts, objid, pos, BackwardScanDirection);
		while (!covers)
		{
			if (!sliced_scan_next(&r->ts, BackwardScanDirection))
				return fail(r, slice_missing);
			if (!look_at_row(r, pos, &row, &start, &covers))
				return false;
		}
		if (!copy_from_slice(r, &row, start, true, &pos, end))
			return false;
		if (pos < end && row.parts == 0)
			sliced_scan_seek(&r->ts, objid, pos, ForwardScanDirection);
	}
	else if (!started)
		sliced_scan_seek(&r->ts, objid, SLICED_HEAD_SEQ, ForwardScanDirection);

	while (pos < end)
	{
		CHECK_FOR_INTERRUPTS();
		if (!sliced_scan_next(&r->ts, ForwardScanDirection) || r->ts.seq > (int32) pos)
			return fail(r, slice_missing);
		if (!look_at_row(r, pos, &row, &start, &covers) ||
			(covers && !copy_from_slice(r, &row, start, false, &pos, end)))
			return false;
	}
	return true;
}

/* Read bytes [offset, end) of one piece of a value, which begins at value offset 'at'. */
static bool
read_piece(Reader *r, const SlicedPiece *piece, const SlicedSlice *inline_bytes,
		   uint32 at, uint32 offset, uint32 end)
{
	uint32		from = piece->start + (offset - at);
	uint32		n = Min(end - offset, piece->len - (offset - at));

	if (piece->objid != 0)
		return read_object(r, piece->objid, from, from + n, false);
	r->problem = sliced_slice_decompress(inline_bytes, from, from + n, r->dest);
	if (r->problem != NULL)
		return false;
	r->dest += n;
	r->value_offset += n;
	return true;
}

/* Read bytes [offset, end) of a value that has a piece table. */
static bool
read_pieces(Reader *r, const SlicedRow *head, uint32 offset, uint32 end)
{
	SlicedSlice inline_bytes;
	SlicedPiece *pieces = palloc(head->npieces * sizeof(SlicedPiece));
	uint32		at = 0;			/* value offset at which the piece begins */

	/* the scan will move on: take from the head what is needed */
	for (int i = 0; i < head->npieces; i++)
	{
		pieces[i] = sliced_row_piece(head, i);
		if ((r->problem = sliced_piece_check(head, &pieces[i])) != NULL)
			return false;
	}
	if ((r->problem = sliced_slice_gather(&r->ts, head, 0, false, &inline_bytes)) != NULL)
		return false;
	if (inline_bytes.buffer == NULL)
		inline_bytes.stored = inline_bytes.buffer =
			memcpy(palloc(inline_bytes.storedlen + 1), inline_bytes.stored,
				   inline_bytes.storedlen);

	for (int i = 0; i < head->npieces && offset < end; i++)
	{
		if (offset - at < pieces[i].len)
		{
			if (!read_piece(r, &pieces[i], &inline_bytes, at, offset, end))
				return false;
			offset = Min(end, at + pieces[i].len);
		}
		at += pieces[i].len;
	}
	if (offset < end)
		return fail(r, "its pieces end here");
	pfree(pieces);
	pfree(inline_bytes.buffer);
	return true;
}

static bool
read_value(Reader *r, Oid valueid, uint32 pos, uint32 end)
{
	SlicedRow	head;
	bool		near;

	sliced_scan_seek(&r->ts, valueid, SLICED_HEAD_SEQ, ForwardScanDirection);
	if (!sliced_scan_next(&r->ts, ForwardScanDirection))
		return fail(r, value_missing);
	if (r->ts.seq != SLICED_HEAD_SEQ)
	{
		r->core_format = r->ts.seq == 0;
		return r->core_format || fail(r, head_missing);
	}
	r->problem = sliced_row_decode(&head, r->ts.data, r->ts.len, valueid, r->ts.seq);
	if (r->problem != NULL)
		return false;
	if (head.npieces > 0)
		return read_pieces(r, &head, pos, end);

	near = pos <= head.rawlen;
	if (pos < head.rawlen && pos < end &&
		!copy_from_slice(r, &head, 0, false, &pos, end))
		return false;
	return read_object(r, valueid, pos, end, near);
}

static bool
is_missing(const char *problem)
{
	return problem == continuation_missing || problem == slice_missing ||
		problem == head_missing || problem == value_missing;
}

/* Does any of these transactions still run? */
static bool
some_are_running(VirtualTransactionId *writers)
{
	for (; VirtualTransactionIdIsValid(*writers); writers++)
		if (!VirtualXactLock(*writers, false))
			return true;
	return false;
}

/*
 * Wait a little for those who write to the toast relation; '*writers' is who did
 * when we first asked.  False if there is nobody left to wait for.
 */
static bool
wait_for_writers(Relation toastrel, VirtualTransactionId **writers, TimestampTz *since)
{
	if (*writers == NULL)
	{
		LOCKTAG		tag;

		SET_LOCKTAG_RELATION(tag, MyDatabaseId, RelationGetRelid(toastrel));
		*writers = GetLockConflicts(&tag, ShareLock, NULL);
		*since = GetCurrentTimestamp();
	}
	CHECK_FOR_INTERRUPTS();
	if (!some_are_running(*writers) ||
		TimestampDifferenceExceeds(*since, GetCurrentTimestamp(), PATIENCE_MS))
		return false;
	pg_usleep(1000L);
	return true;
}

bool
sliced_value_read(Relation toastrel, Oid valueid, uint32 offset, uint32 len, char *dest)
{
	VirtualTransactionId *writers = NULL;
	TimestampTz since = 0;
	bool		waiting = true;
	bool		aborted_too = false;
	Reader		r;

	for (;;)
	{
		bool		ok;

		r.value_offset = offset;
		r.dest = dest;
		r.problem = NULL;
		r.core_format = false;
		sliced_scan_open(&r.ts, toastrel, NULL, AccessShareLock);
		r.ts.aborted_too = aborted_too;
		ok = read_value(&r, valueid, offset, offset + len);
		sliced_scan_close(&r.ts, AccessShareLock);
		if (ok)
			return !r.core_format;

		if (aborted_too || !is_missing(r.problem))
		{
			if (is_missing(r.problem) && sliced_snapshot_may_be_too_old())
				ereport(ERROR,
						errcode(ERRCODE_SNAPSHOT_TOO_OLD),
						errmsg("snapshot too old"));
			sliced_report_corruption(toastrel, valueid, r.value_offset, r.problem);
		}

		/* once more when the last writer has ended, and once with what was aborted */
		if (waiting)
			waiting = wait_for_writers(toastrel, &writers, &since);
		else
			aborted_too = true;
	}
}

bool
sliced_value_is_complete(Relation toastrel, Oid valueid, uint32 size)
{
	ToastScan	ts;
	SlicedRow	row;
	uint16		parts = 0;		/* continuations at the end */
	bool		complete = false;

	sliced_scan_open(&ts, toastrel, NULL, AccessShareLock);
	sliced_scan_seek(&ts, valueid, PG_INT32_MAX, BackwardScanDirection);
	while (sliced_scan_next(&ts, BackwardScanDirection))
	{
		/* damage is for the reader to find */
		if (sliced_row_decode(&row, ts.data, ts.len, valueid, ts.seq) != NULL)
			complete = true;
		else if (row.kind == SLICED_ROW_CONTINUATION)
		{
			parts = Max(parts, row.parts);
			continue;
		}
		else
			complete = row.parts == parts &&
				(row.npieces > 0 || Max(ts.seq, 0) + row.rawlen >= size);
		break;
	}
	sliced_scan_close(&ts, AccessShareLock);
	return complete;
}
