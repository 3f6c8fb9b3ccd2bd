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
 * before the reader reports a value as missing, it waits for those who are
 * writing.  If they abort, it reads their slices all the same: they are as good
 * as their row.
 */
#include "postgres.h"

#include "access/subtrans.h"
#include "access/xact.h"
#include "base/compat.h"
#include "base/limits.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "store/layout.h"
#include "store/reader.h"
#include "store/slice.h"
#include "utils/timestamp.h"

/* Longest time to wait for others before a value is said to be missing. */
#define PATIENCE_MS		10000

static const char slice_missing[] = "the slice is missing";
static const char head_missing[] = "the head is missing";
static const char value_missing[] = "the value is missing";

/* Is the current row, decoded, the first of a slice that has 'pos'? */
static const char *
look_at_row(ToastScan *ts, uint32 pos, SlicedRow *row, uint32 *start, bool *covers)
{
	const char *problem = sliced_row_decode(row, ts->data, ts->len, ts->objid, ts->seq);

	if (problem != NULL)
		return problem;
	*start = Max(ts->seq, 0);
	*covers = row->kind != SLICED_ROW_CONTINUATION && row->npieces == 0 &&
		*start <= pos && pos - *start < row->rawlen;
	return NULL;
}

/* Find the slice with 'pos' among those whose first row is not before 'first'. */
static const char *
find_backward(ToastScan *ts, Oid objid, int32 first, uint32 pos, SlicedRow *row,
			  uint32 *start)
{
	sliced_scan_seek_within(ts, objid, first, pos);
	while (sliced_scan_next(ts, BackwardScanDirection))
	{
		bool		covers = false;
		const char *problem = look_at_row(ts, pos, row, start, &covers);

		if (problem != NULL || covers)
			return problem;
	}
	return slice_missing;
}

const char *
sliced_cursor_find(SlicedCursor *cursor, uint32 pos, SlicedRow *row, uint32 *start)
{
	ToastScan  *ts = cursor->ts;
	bool		covers = false;
	const char *problem;

	if (ScanDirectionIsBackward(cursor->moving) ||
		(cursor->moving == NoMovementScanDirection && pos == 0))
	{
		sliced_scan_seek_within(ts, cursor->objid, pos == 0 ? SLICED_HEAD_SEQ : pos,
								sliced_last_seq(cursor->end));
		cursor->moving = ForwardScanDirection;
	}

	if (ScanDirectionIsForward(cursor->moving))
		while (sliced_scan_next(ts, ForwardScanDirection) && ts->seq <= (int32) pos)
		{
			problem = look_at_row(ts, pos, row, start, &covers);
			if (problem != NULL || covers)
				return problem;
		}

	/*
	 * The slice begins further back.  Rows of slices that it has replaced may
	 * still be there, and stop us where the first of them is missing.
	 */
	cursor->moving = BackwardScanDirection;
	if (pos > SLICED_SLICE_USUAL)
	{
		problem = find_backward(ts, cursor->objid, pos - SLICED_SLICE_USUAL, pos, row, start);
		if (problem != slice_missing)
			return problem;
	}
	return find_backward(ts, cursor->objid, SLICED_HEAD_SEQ, pos, row, start);
}

/* A slice in memory. */
typedef struct KeptSlice
{
	Oid			objid;
	uint32		start;
	uint32		len;
	char	   *raw;
} KeptSlice;

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

	SlicedCursor cursor;		/* of the piece that was read last: the next slice */
	uint32		cursor_pos;		/* to come begins here */

	/*
	 * Several pieces may need the same slice: a change cuts a slice in two, and
	 * the short values of a document lie together.  We keep slices that later
	 * pieces need.
	 */
	SlicedLayout layout;
	int			next_piece;		/* behind the current one */
	uint32		next_at;		/* its place in the value */
	uint32		end;			/* where reading ends, in the value */
	KeptSlice	kept[SLICED_KEPT_SLICES];
	int			nkept;			/* those used again last come first */
} Reader;

static bool
fail(Reader *r, const char *problem)
{
	r->problem = problem;
	return false;
}

static void
advance(Reader *r, uint32 *pos, uint32 upto)
{
	r->dest += upto - *pos;
	r->value_offset += upto - *pos;
	*pos = upto;
}

/* Do later pieces need bytes of this slice? */
static bool
needed_later(const Reader *r, const SlicedSlice *slice)
{
	uint32		at = r->next_at;

	for (int i = r->next_piece; i < r->layout.npieces && at < r->end; i++)
	{
		const SlicedPiece *piece = &r->layout.pieces[i];

		if (piece->objid == r->ts.objid && piece->start < slice->start + slice->rawlen &&
			slice->start < piece->start + piece->len)
			return true;
		at += piece->len;
	}
	return false;
}

/* Decompress all of a slice, and keep it in place of the one used longest ago. */
static const char *
decompress_and_keep(Reader *r, const SlicedSlice *slice, uint32 from, uint32 to)
{
	KeptSlice	new = {r->ts.objid, slice->start, slice->rawlen, palloc(slice->rawlen)};
	const char *problem = sliced_slice_decompress(slice, 0, slice->rawlen, new.raw);

	if (problem != NULL)
		return problem;
	memcpy(r->dest, new.raw + from, to - from);
	if (r->nkept == SLICED_KEPT_SLICES)
		pfree(r->kept[--r->nkept].raw);
	memmove(&r->kept[1], &r->kept[0], r->nkept * sizeof(KeptSlice));
	r->kept[0] = new;
	r->nkept++;
	return NULL;
}

/* Copy bytes [*pos, end) of the slice that begins at 'start', as far as it has them. */
static bool
copy_from_slice(Reader *r, const SlicedRow *row, uint32 start, bool reseek,
				uint32 *pos, uint32 end)
{
	SlicedSlice slice;
	uint32		upto = Min(end, start + row->rawlen);

	r->problem = sliced_slice_gather(&r->ts, row, start, reseek ? sliced_last_seq(end) : 0, &slice);
	if (r->problem == NULL)
		r->problem = upto - *pos < row->rawlen && needed_later(r, &slice) ?
			decompress_and_keep(r, &slice, *pos - start, upto - start) :
			sliced_slice_decompress(&slice, *pos - start, upto - start, r->dest);
	if (slice.buffer)
		pfree(slice.buffer);
	if (r->problem != NULL)
		return false;
	advance(r, pos, upto);
	return true;
}

/*
 * Copy bytes [*pos, end) from a slice that has byte *pos, as far as that slice
 * goes.  When a longer slice has replaced one, the rows of the old one go one by
 * one as pages are pruned.  So what looked like a slice may be gone: try all.
 */
static bool
copy_from_any_slice(Reader *r, Oid objid, SlicedRow *row, uint32 *pos, uint32 end)
{
	for (int tried = 0;; tried++)
	{
		int			seen = 0;
		bool		found = false;
		uint32		start;

		sliced_scan_seek(&r->ts, objid, *pos, BackwardScanDirection);
		while (!found && sliced_scan_next(&r->ts, BackwardScanDirection))
		{
			bool		covers;

			CHECK_FOR_INTERRUPTS();
			r->problem = look_at_row(&r->ts, *pos, row, &start, &covers);
			if (r->problem != NULL)
				return false;
			found = covers && seen++ == tried;
		}
		if (!found)
			return fail(r, sliced_continuation_missing);
		if (copy_from_slice(r, row, start, true, pos, end))
			return true;
		if (r->problem != sliced_continuation_missing)
			return false;
	}
}

/* Copy bytes [*pos, end) as far as kept slices have them. */
static void
copy_from_kept(Reader *r, Oid objid, uint32 *pos, uint32 end)
{
	for (int i = 0; i < r->nkept; i++)
	{
		KeptSlice	kept = r->kept[i];

		if (kept.objid == objid && *pos >= kept.start && *pos < kept.start + kept.len)
		{
			uint32		upto = Min(end, kept.start + kept.len);

			memcpy(r->dest, kept.raw + (*pos - kept.start), upto - *pos);
			advance(r, pos, upto);
			memmove(&r->kept[1], &r->kept[0], i * sizeof(KeptSlice));
			r->kept[0] = kept;
			return;
		}
	}
}

/*
 * Read bytes [pos, end) of an object.  With 'started' the scan is already
 * moving forward over the object's rows and has not passed 'pos'.
 */
static bool
read_object(Reader *r, Oid objid, uint32 pos, uint32 end, bool started)
{
	SlicedCursor cursor = {
		.ts = &r->ts,
		.objid = objid,
		.moving = started ? ForwardScanDirection : NoMovementScanDirection
	};

	copy_from_kept(r, objid, &pos, end);
	if (r->cursor.objid == objid && r->cursor_pos == pos)
		cursor = r->cursor;
	cursor.end = end;
	while (pos < end)
	{
		SlicedRow	row;
		uint32		start = 0;
		bool		reseek;

		CHECK_FOR_INTERRUPTS();
		r->problem = sliced_cursor_find(&cursor, pos, &row, &start);
		if (r->problem != NULL)
			return false;
		reseek = ScanDirectionIsBackward(cursor.moving);
		if (!copy_from_slice(r, &row, start, reseek, &pos, end))
		{
			if (r->problem != sliced_continuation_missing ||
				!copy_from_any_slice(r, objid, &row, &pos, end))
				return false;
			cursor.moving = BackwardScanDirection;
		}
		if (row.parts > 0)
			cursor.moving = ForwardScanDirection;
		r->cursor = cursor;
		r->cursor_pos = start + row.rawlen;
	}
	return true;
}

/*
 * Read bytes [*offset, end) of the value from one piece, as far as it goes.  The
 * piece begins at 'at' in the value.
 */
static bool
read_piece(Reader *r, const SlicedLayout *layout, const SlicedPiece *piece,
		   uint32 at, uint32 *offset, uint32 end)
{
	uint32		from = piece->start + (*offset - at);
	uint32		n = Min(end - *offset, piece->len - (*offset - at));

	if (piece->objid != 0)
	{
		*offset += n;
		return read_object(r, piece->objid, from, from + n, false);
	}
	memcpy(r->dest, layout->inline_bytes + from, n);
	advance(r, offset, *offset + n);
	return true;
}

/* Read bytes [offset, end) of a value that has a piece table. */
static bool
read_pieces(Reader *r, const SlicedRow *head, uint32 offset, uint32 end)
{
	SlicedLayout *layout = &r->layout;
	SlicedPiece rest;
	uint32		at = 0;			/* value offset at which the piece begins */

	r->problem = sliced_layout_load(layout, &r->ts, head);
	if (r->problem != NULL)
		return false;
	/* behind the head come the slices of the value's own object */
	r->cursor = (SlicedCursor) {&r->ts, layout->valueid, ForwardScanDirection};
	r->cursor_pos = SLICED_OWN_START;

	r->end = end;
	for (int i = 0; i < layout->npieces && offset < end; i++)
	{
		uint32		len = layout->pieces[i].len;

		r->next_piece = i + 1;
		r->next_at = at + len;
		if (offset - at < len && !read_piece(r, layout, &layout->pieces[i], at, &offset, end))
			return false;
		at += len;
	}
	r->next_piece = layout->npieces;
	rest = sliced_layout_rest(layout, end);
	return offset >= end || read_piece(r, layout, &rest, at, &offset, end);
}

static bool
read_value(Reader *r, Oid valueid, uint32 pos, uint32 end)
{
	SlicedRow	head;
	bool		near;

	sliced_scan_seek_within(&r->ts, valueid, SLICED_HEAD_SEQ, sliced_last_seq(end));
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
	return problem == sliced_continuation_missing || problem == slice_missing ||
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
 * Wait a little for those who write to the toast relation; '*writers' are those
 * who did when we first asked.  False if there is nobody left to wait for.
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

/* Read bytes [pos, end) of the value, if they are there. */
static bool
read_once(Reader *r, Relation toastrel, SlicedVisibility visibility, Oid valueid, uint32 pos,
		  uint32 end)
{
	bool		ok;

	sliced_scan_open(&r->ts, toastrel, NULL, AccessShareLock);
	r->ts.visibility = visibility;
	ok = read_value(r, valueid, pos, end);
	sliced_scan_close(&r->ts, AccessShareLock);
	sliced_layout_free(&r->layout);
	while (r->nkept > 0)
		pfree(r->kept[--r->nkept].raw);
	return ok;
}

bool
sliced_value_read(Relation toastrel, Oid valueid, uint32 offset, uint32 len, char *dest)
{
	VirtualTransactionId *writers = NULL;
	TimestampTz since = 0;
	bool		waiting = true;
	SlicedVisibility visibility = SLICED_SEE_READABLE;

	for (;;)
	{
		Reader		r = {.value_offset = offset, .dest = dest};

		if (read_once(&r, toastrel, visibility, valueid, offset, offset + len))
			return !r.core_format;

		if (visibility == SLICED_SEE_ABORTED || !is_missing(r.problem))
		{
			if (is_missing(r.problem) && sliced_snapshot_may_be_too_old())
				ereport(ERROR,
						errcode(ERRCODE_SNAPSHOT_TOO_OLD),
						errmsg("snapshot too old"));
			sliced_report_corruption(toastrel, valueid, r.value_offset, r.problem);
		}

		/*
		 * Once more with what we have rolled back ourselves: a variable may still
		 * have it, and nobody else is going to write it.  Then again when the last
		 * writer has ended, and once with whatever was aborted.
		 */
		if (visibility == SLICED_SEE_READABLE)
			visibility = SLICED_SEE_OWN_ABORTED;
		else if (waiting)
			waiting = wait_for_writers(toastrel, &writers, &since);
		else
			visibility = SLICED_SEE_ABORTED;
	}
}

bool
sliced_value_try_read(Relation toastrel, Oid valueid, uint32 offset, uint32 len, char *dest)
{
	Reader		r = {.value_offset = offset, .dest = dest};

	return read_once(&r, toastrel, SLICED_SEE_READABLE, valueid, offset, offset + len) &&
		!r.core_format;
}

bool
sliced_object_read(Relation toastrel, Oid objid, uint32 start, uint32 len, char *dest)
{
	Reader		r = {.dest = dest};
	bool		ok;

	sliced_scan_open(&r.ts, toastrel, NULL, AccessShareLock);
	ok = read_object(&r, objid, start, start + len, false);
	sliced_scan_close(&r.ts, AccessShareLock);
	return ok;
}

bool
sliced_value_is_complete(Relation toastrel, Oid valueid, uint32 size)
{
	char		last;
	Reader		r = {.value_offset = size - 1, .dest = &last};

	/* what is written last is the last slice, or else the head of a derived value */
	return read_once(&r, toastrel, SLICED_SEE_READABLE, valueid, size - 1, size) ||
		/* damage is for the reader to find */
		!is_missing(r.problem);
}

/* Is this transaction a part of ours that has not ended, or of such a part? */
static bool
is_of_open_part(TransactionId xid)
{
	TransactionId top = GetTopTransactionIdIfAny();

	if (!TransactionIdIsCurrentTransactionId(xid))
		return false;
	for (; !TransactionIdEquals(xid, top); xid = SubTransGetParent(xid))
		for (TransactionId open = GetCurrentTransactionId(); !TransactionIdEquals(open, top);
			 open = SubTransGetParent(open))
			if (TransactionIdEquals(xid, open))
				return true;
	return false;
}

bool
sliced_value_may_go(Relation toastrel, Oid valueid)
{
	ToastScan	ts;
	bool		result;

	sliced_scan_open(&ts, toastrel, NULL, AccessShareLock);
	sliced_scan_seek_within(&ts, valueid, SLICED_HEAD_SEQ, SLICED_HEAD_SEQ);
	result = !sliced_scan_next(&ts, ForwardScanDirection) ||
		is_of_open_part(sliced_scan_inserter(&ts));
	sliced_scan_close(&ts, AccessShareLock);
	return result;
}

char *
sliced_value_compressed(Relation toastrel, Oid valueid, uint32 size, int codec, uint32 room,
						uint32 *storedlen)
{
	ToastScan	ts;
	SlicedRow	head;
	SlicedSlice slice;
	char	   *result = NULL;

	sliced_scan_open(&ts, toastrel, NULL, AccessShareLock);
	sliced_scan_seek(&ts, valueid, SLICED_HEAD_SEQ, ForwardScanDirection);
	if (sliced_scan_next(&ts, ForwardScanDirection) && ts.seq == SLICED_HEAD_SEQ &&
		sliced_row_decode(&head, ts.data, ts.len, valueid, ts.seq) == NULL &&
		head.kind == SLICED_ROW_HEAD && head.npieces == 0 &&
		head.rawlen == size && head.codec == codec &&
		sliced_slice_gather(&ts, &head, 0, 0, &slice) == NULL)
	{
		result = palloc(room + slice.storedlen);
		memcpy(result + room, slice.stored, slice.storedlen);
		*storedlen = slice.storedlen;
	}
	sliced_scan_close(&ts, AccessShareLock);
	return result;
}
