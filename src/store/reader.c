/*
 * reader.c
 *	  Reads a value, or a range of it, slice by slice.
 *
 * One descent of the index finds the head and, in the same scan, the slices
 * that follow: reading a value from its start needs nothing else.  A range far
 * from the start takes a second descent, backwards from its first byte, to the
 * slice that covers it (cursor.c).
 *
 * Few readers look at rows of transactions in progress, but some do (BRIN
 * summarization, for one), and an update writes its row before its slices.  So before
 * the reader reports a value as missing, it waits for the transactions that are
 * writing.  If they abort, it reads their slices all the same: the slices are as good
 * as their row.
 */
#include "postgres.h"

#include "access/heaptoast.h"
#include "access/subtrans.h"
#include "access/xact.h"
#include "base/compat.h"
#include "base/counters.h"
#include "base/limits.h"
#include "base/stop.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "store/cursor.h"
#include "store/layout.h"
#include "store/reader.h"
#include "store/slice.h"
#include "utils/timestamp.h"

/* Longest time to wait for others before a value is said to be missing. */
#define PATIENCE_MS		10000

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
 * false when they meet damage.
 */
typedef struct Reader
{
	ToastScan	ts;
	uint32		value_offset;	/* of the byte at 'dest' */
	char	   *dest;
	SlicedDamage damage;

	SlicedCursor cursor;		/* of the piece that was read last: the next slice */
	uint32		cursor_pos;		/* to come begins here */

	/*
	 * Several pieces may need the same slice: a change cuts a slice in two, and
	 * the short values of a document lie together.  We keep slices that later
	 * pieces need.
	 */
	SlicedPieces pieces;
	SlicedPieceIterator piece;	/* at the current one */
	KeptSlice	kept[SLICED_KEPT_SLICES];
	int			nkept;			/* those used again last come first */
} Reader;

static void
reader_advance(Reader *r, uint32 *pos, uint32 upto)
{
	r->dest += upto - *pos;
	r->value_offset += upto - *pos;
	*pos = upto;
}

/* True if later pieces need bytes of this slice. */
static bool
slice_needed_later(const Reader *r, const SlicedSlice *slice)
{
	SlicedPieceIterator it = r->piece;

	if (it.pieces == NULL)
		return false;			/* there are no others */
	while (sliced_piece_next(&it))
		if (it.piece.objid == r->ts.objid &&
			it.piece.start < slice->start + slice->rawlen &&
			slice->start < it.piece.start + it.piece.len)
			return true;
	return false;
}

/* Decompress all of a slice, and keep it in place of the one used longest ago. */
static SlicedDamage
slice_decompress_and_keep(Reader *r, const SlicedSlice *slice, uint32 from, uint32 to)
{
	KeptSlice	new = {r->ts.objid, slice->start, slice->rawlen, palloc(slice->rawlen)};
	SlicedDamage damage = sliced_slice_decompress(slice, 0, slice->rawlen, new.raw);

	if (damage != SLICED_SOUND)
		return damage;
	memcpy(r->dest, new.raw + from, to - from);
	if (r->nkept == SLICED_KEPT_SLICES)
		pfree(r->kept[--r->nkept].raw);
	memmove(&r->kept[1], &r->kept[0], r->nkept * sizeof(KeptSlice));
	r->kept[0] = new;
	r->nkept++;
	return SLICED_SOUND;
}

/* Copy those of bytes [*pos, end) that the slice has, which begins at 'start'. */
static bool
slice_copy(Reader *r, const SlicedRow *row, uint32 start, bool reseek,
		   uint32 *pos, uint32 end)
{
	SlicedSlice slice;
	uint32		upto = Min(end, start + row->rawlen);

	r->damage = sliced_slice_gather(&r->ts, row, start, reseek ? sliced_last_seq(end) : 0, &slice);
	if (r->damage == SLICED_SOUND)
		r->damage = upto - *pos < row->rawlen && slice_needed_later(r, &slice) ?
			slice_decompress_and_keep(r, &slice, *pos - start, upto - start) :
			sliced_slice_decompress(&slice, *pos - start, upto - start, r->dest);
	if (slice.buffer)
		pfree(slice.buffer);
	if (r->damage != SLICED_SOUND)
		return false;
	reader_advance(r, pos, upto);
	return true;
}

/*
 * Copy bytes [*pos, end) from a slice that has byte *pos, up to the end of that
 * slice.  When a longer slice has replaced another, the rows of the old one go one by
 * one as pages are pruned.  So rows that looked like a slice may be gone: try all
 * slices that have the byte.
 */
static bool
slice_copy_from_any(Reader *r, Oid objid, SlicedRow *row, uint32 *pos, uint32 end)
{
	for (int tried = 0;; tried++)
	{
		uint32		start;

		r->damage = sliced_slice_find_nth(&r->ts, objid, *pos, tried, row, &start);
		if (r->damage == SLICED_SLICE_MISSING)
			r->damage = SLICED_CONTINUATION_MISSING;
		if (r->damage != SLICED_SOUND)
			return false;
		if (slice_copy(r, row, start, true, pos, end))
			return true;
		if (r->damage != SLICED_CONTINUATION_MISSING)
			return false;
	}
}

/* Copy those of bytes [*pos, end) that kept slices have. */
static void
slice_copy_from_kept(Reader *r, Oid objid, uint32 *pos, uint32 end)
{
	for (int i = 0; i < r->nkept; i++)
	{
		KeptSlice	kept = r->kept[i];

		if (kept.objid == objid && *pos >= kept.start && *pos < kept.start + kept.len)
		{
			uint32		upto = Min(end, kept.start + kept.len);

			memcpy(r->dest, kept.raw + (*pos - kept.start), upto - *pos);
			reader_advance(r, pos, upto);
			memmove(&r->kept[1], &r->kept[0], i * sizeof(KeptSlice));
			r->kept[0] = kept;
			return;
		}
	}
}

/* Read bytes [pos, end) of an object, with a cursor that has not found any slice of it. */
static bool
object_read(Reader *r, SlicedCursor cursor, uint32 pos, uint32 end)
{
	Oid			objid = cursor.objid;

	slice_copy_from_kept(r, objid, &pos, end);
	if (r->cursor.objid == objid && r->cursor_pos == pos && r->cursor.moving != NoMovementScanDirection)
		cursor = r->cursor;
	cursor.end = end;
	while (pos < end)
	{
		SlicedRow	row;
		uint32		start = 0;
		bool		reseek;

		CHECK_FOR_INTERRUPTS();
		r->damage = sliced_cursor_find(&cursor, pos, &row, &start);
		if (r->damage != SLICED_SOUND)
			return false;
		reseek = ScanDirectionIsBackward(cursor.moving);
		if (!slice_copy(r, &row, start, reseek, &pos, end))
		{
			if (r->damage != SLICED_CONTINUATION_MISSING ||
				!slice_copy_from_any(r, objid, &row, &pos, end))
				return false;
			cursor.moving = BackwardScanDirection;
		}
		if (row.continuations > 0)
			cursor.moving = ForwardScanDirection;
		r->cursor = cursor;
		r->cursor_pos = start + row.rawlen;
	}
	return true;
}

/* Read bytes [offset, end) of a value that has a root. */
static bool
pieces_read(Reader *r, const SlicedRow *head, uint32 offset, uint32 end)
{
	SlicedLayout layout;

	r->damage = sliced_layout_load(&layout, &r->ts, head);
	if (r->damage == SLICED_SOUND)
		r->damage = sliced_pieces_find(&r->pieces, &layout, &r->ts, offset, end);
	/* behind the head come the slices of the value's own object */
	if (layout.flat)
		r->cursor = (SlicedCursor) {&r->ts, layout.valueid, ForwardScanDirection};
	r->cursor_pos = SLICED_OWN_START;
	sliced_layout_free(&layout);
	if (r->damage != SLICED_SOUND)
		return false;

	r->piece = (SlicedPieceIterator) {&r->pieces};
	while (sliced_piece_next(&r->piece))
	{
		const SlicedPiece *piece = &r->piece.piece;

		if (OidIsValid(piece->objid))
		{
			SlicedCursor cursor = {
				.ts = &r->ts, .objid = piece->objid, .in_slice = piece->in_slice, .slice = piece->slice,
				.hint = piece->hint
			};

			cursor.moving = NoMovementScanDirection;
			if (!object_read(r, cursor, piece->start, piece->start + piece->len))
				return false;
			continue;
		}
		memcpy(r->dest, r->pieces.literals + piece->start, piece->len);
		r->dest += piece->len;
		r->value_offset += piece->len;
	}
	return true;
}

static bool
value_read(Reader *r, Oid valueid, uint32 pos, uint32 end)
{
	SlicedRow	head;
	bool		near;

	r->damage = sliced_head_find(&r->ts, valueid, sliced_last_seq(end), &head);
	if (r->damage != SLICED_SOUND)
		return false;
	if (head.root != NULL)
		return pieces_read(r, &head, pos, end);

	near = pos <= head.rawlen;
	if (pos < head.rawlen && pos < end &&
		!slice_copy(r, &head, 0, false, &pos, end))
		return false;
	return object_read(r, (SlicedCursor) {
		&r->ts, valueid, near ? ForwardScanDirection : NoMovementScanDirection
	}, pos, end);
}

/* True if any of these transactions still runs. */
static bool
some_are_running(VirtualTransactionId *writers)
{
	for (; VirtualTransactionIdIsValid(*writers); writers++)
		if (!VirtualXactLock(*writers, false))
			return true;
	return false;
}

/*
 * Wait a little for transactions that write to the toast relation; '*writers' are
 * those that did when we first asked.  Returns false if none is left to wait for.
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
value_read_once(Reader *r, Relation toastrel, SlicedVisibility visibility, Oid valueid, uint32 pos,
				uint32 end)
{
	bool		ok;

	sliced_scan_open(&r->ts, toastrel, NULL, AccessShareLock);
	r->ts.visibility = visibility;
	ok = value_read(r, valueid, pos, end);
	sliced_scan_close(&r->ts, AccessShareLock);
	sliced_pieces_free(&r->pieces);
	while (r->nkept > 0)
		pfree(r->kept[--r->nkept].raw);
	return ok;
}

/* Read it, now or when its writer has finished; false if it is in core's format. */
static bool
value_read_with_patience(Relation toastrel, Oid valueid, uint32 offset, uint32 len, char *dest)
{
	VirtualTransactionId *writers = NULL;
	TimestampTz since = 0;
	bool		waiting = true;
	SlicedVisibility visibility = SLICED_SEE_READABLE;

	SLICED_STOP("reader.before-read");
	for (;;)
	{
		Reader		r = {.value_offset = offset, .dest = dest};

		if (value_read_once(&r, toastrel, visibility, valueid, offset, offset + len))
			return true;
		if (r.damage == SLICED_NOT_SLICES)
			return false;
		if (visibility == SLICED_SEE_ABORTED || !sliced_is_missing(r.damage))
		{
			if (sliced_is_missing(r.damage))
				sliced_snapshot_check_age();
			sliced_report_corruption(toastrel, valueid, r.value_offset, r.damage);
		}

		/*
		 * Once more with rows that we have rolled back ourselves: a variable may
		 * still have the value, and no other session will write it.  Then again when
		 * the last writer has ended, and once with all aborted rows.
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
sliced_value_read(Relation toastrel, Oid valueid, uint32 offset, uint32 len, char *dest)
{
	instr_time	began = sliced_reading_begin();
	bool		ours = value_read_with_patience(toastrel, valueid, offset, len, dest);

	sliced_reading_end(RelationGetRelid(toastrel), began, !ours);
	return ours;
}

SlicedDamage
sliced_value_try_read(Relation toastrel, SlicedVisibility visibility, Oid valueid, uint32 offset,
					  uint32 len, char *dest)
{
	Reader		r = {.value_offset = offset, .dest = dest};

	return value_read_once(&r, toastrel, visibility, valueid, offset, offset + len) ?
		SLICED_SOUND : r.damage;
}

bool
sliced_chunks_read(Relation toastrel, Oid valueid, uint32 size, char *dest)
{
	ToastScan	ts;
	int32		next = 0;
	uint32		have = 0;

	sliced_scan_open(&ts, toastrel, NULL, AccessShareLock);
	sliced_scan_seek(&ts, valueid, 0, ForwardScanDirection);
	while (have < size && sliced_scan_next(&ts, ForwardScanDirection) && ts.seq == next++)
	{
		CHECK_FOR_INTERRUPTS();
		if (ts.len != Min(size - have, TOAST_MAX_CHUNK_SIZE))
			break;
		memcpy(dest + have, ts.data, ts.len);
		have += ts.len;
	}
	sliced_scan_close(&ts, AccessShareLock);
	return have == size;
}

bool
sliced_object_read(Relation toastrel, Oid objid, uint32 start, uint32 len, char *dest)
{
	Reader		r = {.dest = dest};
	bool		ok;

	sliced_scan_open(&r.ts, toastrel, NULL, AccessShareLock);
	ok = object_read(&r, (SlicedCursor) {&r.ts, objid, NoMovementScanDirection}, start, start + len);
	sliced_scan_close(&r.ts, AccessShareLock);
	return ok;
}

bool
sliced_value_is_complete(Relation toastrel, Oid valueid, uint32 size)
{
	char		last;
	Reader		r = {.value_offset = size - 1, .dest = &last};

	/* a writer ends with the last slice, or with the head of a derived value */
	return value_read_once(&r, toastrel, SLICED_SEE_READABLE, valueid, size - 1, size) ||
		/* damage is for the reader to find */
		!sliced_is_missing(r.damage);
}

/*
 * True if this is a subtransaction of ours that has not ended, or one within such a
 * subtransaction.
 */
static bool
is_of_open_subtransaction(TransactionId xid)
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
	SlicedRow	head;
	bool		result;

	sliced_scan_open(&ts, toastrel, NULL, AccessShareLock);
	result = sliced_is_missing(sliced_head_find(&ts, valueid, SLICED_HEAD_SEQ, &head)) ||
		is_of_open_subtransaction(sliced_scan_inserter(&ts));
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
	if (sliced_head_find(&ts, valueid, sliced_last_seq(size), &head) == SLICED_SOUND &&
		head.root == NULL &&
		head.rawlen == size && head.codec == codec && !head.has_dictionary &&
		sliced_slice_gather(&ts, &head, 0, 0, &slice) == SLICED_SOUND)
	{
		result = palloc(room + slice.storedlen);
		memcpy(result + room, slice.stored, slice.storedlen);
		*storedlen = slice.storedlen;
	}
	sliced_scan_close(&ts, AccessShareLock);
	return result;
}
