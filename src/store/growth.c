/*
 * growth.c
 *	  Adds bytes to the end of a value without writing the old bytes.
 *
 * Few bytes go into a tail: a small slice, not compressed, with room for more.  The
 * next few are added to it in place, which heap logs as the bytes that differ.  Every
 * such update leaves a dead version of the tail on the page until it is pruned, so
 * tails are small. Pruning cannot make room while an old snapshot is open, nor within
 * one transaction; then a new tail begins.
 *
 * With wal_level = logical no tail is updated (since 16): a standby may decode what
 * we write even if this server does not.  A decoder passes over updates of rows of a
 * toast relation, and would take a value that has grown for one that has not changed.
 * It stops at rows that are inserted.
 *
 * Small slices are merged when the value grows past a multiple of
 * SLICED_MERGE_BYTES.  When it grows past a multiple of SLICED_SEAL_BYTES, all
 * slices since the last one are merged.  So each byte is written three times in
 * all, and the result of many additions looks as if written at once.
 *
 * If a transaction aborts, the next one gives the same places in the object to its
 * own bytes; no pointer to the aborted bytes can be left.  But when only a
 * subtransaction aborts, a pointer can be left, in a variable of PL/pgSQL.  So a
 * value grows only at the top level of a transaction; within a subtransaction every
 * change makes a value of a new id.  That makes (id, length) the name of one content
 * for ever.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "base/compat.h"
#include "base/counters.h"
#include "base/limits.h"
#include "base/settings.h"
#include "base/stop.h"
#include "catalog/catalog.h"
#include "format/pointer.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "store/cursor.h"
#include "store/growth.h"
#include "store/layout.h"
#include "store/reader.h"
#include "store/remover.h"

/* The current row's heap tuple. */
static HeapTuple
scan_tuple(ToastScan *ts)
{
	return ((BufferHeapTupleTableSlot *) ts->slot)->base.tuple;
}

/*
 * True if this transaction has written the current row.  '*now' is true if this very
 * command has.
 */
static bool
row_is_own(ToastScan *ts, bool *now)
{
	HeapTupleHeader header = scan_tuple(ts)->t_data;
	bool		own = TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(header));

	*now = own && HeapTupleHeaderGetCmin(header) >= GetCurrentCommandId(false);
	return own;
}

/* True if there is room on the page for another version of the current row. */
static bool
tail_has_room(ToastScan *ts)
{
	Buffer		buffer = ((BufferHeapTupleTableSlot *) ts->slot)->buffer;
	Size		free;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	free = PageGetHeapFreeSpace(BufferGetPage(buffer));
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return free >= MAXALIGN(scan_tuple(ts)->t_len);
}

/* Find where in its own object the value ends.  Returns false if it is not sound. */
static bool
value_find_end(SlicedGrowth *growth, ToastScan *ts, uint32 size)
{
	SlicedRow	head;
	SlicedLayout layout;

	if (sliced_head_find(ts, growth->objid, SLICED_HEAD_SEQ, &head) != SLICED_SOUND)
		return false;
	if (head.root == NULL)
	{
		growth->end = size;
		return true;
	}
	if (sliced_layout_load(&layout, ts, &head) != SLICED_SOUND)
		return false;
	growth->first = layout.own;
	growth->end = layout.own + (size - layout.total);
	sliced_layout_free(&layout);
	return size >= layout.total;
}

static bool
tails_are_updated(Relation toastrel)
{
	return !sliced_standbys_decode() || !RelationIsLogicallyLogged(toastrel) ||
		sliced_decoding() == SLICED_DECODING_SLICES;
}

/* Find the last slice; returns where it ends, 0 if there is none. */
static uint32
value_find_tail(SlicedGrowth *growth, Relation toastrel, ToastScan *ts)
{
	SlicedRow	row;
	uint32		end;
	bool		now;

	/* most likely it belongs to the last addition */
	end = sliced_object_end(ts, growth->objid, growth->end > SLICED_MERGE_BYTES ?
							growth->end - SLICED_MERGE_BYTES : 0, &row);
	if (end == 0)
		return 0;
	growth->has_tail = row.kind == SLICED_ROW_TAIL && row.capacity <= SLICED_TAIL_MAX;
	if (growth->has_tail)
	{
		growth->tail_is_ours = row_is_own(ts, &now);
		growth->may_update = !growth->tail_is_ours && tails_are_updated(toastrel) &&
			tail_has_room(ts);
		growth->tail_tid = ts->tid;
		growth->tail_start = ts->seq;
		growth->tail_len = row.payload_len;
		growth->tail_capacity = row.capacity;
		memcpy(growth->tail, row.payload, row.payload_len);
	}
	return end;
}

bool
sliced_growth_prepare(SlicedGrowth *growth, Relation toastrel,
					  const struct varatt_external *value)
{
	ToastScan	ts;
	bool		result;

	if (GetCurrentTransactionNestLevel() > 1)
		return false;
	growth->objid = value->va_valueid;
	growth->first = 0;
	growth->has_tail = false;
	growth->may_update = false;
	growth->tail_is_ours = false;

	sliced_scan_open(&ts, toastrel, NULL, AccessShareLock);
	ts.visibility = SLICED_SEE_CURRENT;
	result = value_find_end(growth, &ts, sliced_pointer_size(value)) &&
		value_find_tail(growth, toastrel, &ts) == growth->end;
	sliced_scan_close(&ts, AccessShareLock);
	return result;
}

/* The slices gathered to be merged. */
typedef struct Merge
{
	uint32		start;
	uint32		len;
	int			nslices;
	char	   *raw;
	List	   *tids;			/* of their rows */
} Merge;

/*
 * Gather the slices that begin at or behind 'from'.  Returns false if there is
 * nothing to merge, or if some rows do not fit together.
 */
static bool
merge_gather(SlicedGrowth *growth, Relation toastrel, uint32 from, Merge *merge)
{
	ToastScan	ts;
	bool		ok = true;

	memset(merge, 0, sizeof(*merge));
	merge->raw = palloc(growth->end - from);
	merge->start = growth->end;

	sliced_scan_open(&ts, toastrel, NULL, AccessShareLock);
	ts.visibility = SLICED_SEE_CURRENT;
	sliced_scan_seek(&ts, growth->objid, from, ForwardScanDirection);
	while (ok && sliced_scan_next(&ts, ForwardScanDirection))
	{
		SlicedRow	row;
		bool		now;

		CHECK_FOR_INTERRUPTS();
		(void) row_is_own(&ts, &now);
		ok = !now &&
			sliced_row_decode(&row, ts.data, ts.len, ts.objid, ts.seq) == SLICED_SOUND;
		/* of a slice that begins before 'from' */
		if (!ok || (row.kind == SLICED_ROW_CONTINUATION && merge->nslices == 0))
			continue;
		merge->tids = lappend(merge->tids, memcpy(palloc(sizeof(ts.tid)), &ts.tid, sizeof(ts.tid)));
		if (row.kind == SLICED_ROW_CONTINUATION)
			continue;
		if (merge->nslices++ == 0)
			merge->start = ts.seq;
		ok = ts.seq == merge->start + merge->len;
		merge->len += row.rawlen;
	}
	sliced_scan_close(&ts, AccessShareLock);
	return ok && merge->nslices > 1 && merge->start + merge->len == growth->end &&
		sliced_object_read(toastrel, growth->objid, merge->start, merge->len, merge->raw);
}

/* Merge the slices that begin at or behind 'from'. */
static void
merge_write(SlicedGrowth *growth, SlicedWriter *writer, uint32 from,
			SlicedCompression compression)
{
	Relation	toastrel = sliced_writer_relation(writer);
	Merge		merge;

	/* slices that the root names stay as they are */
	if (merge_gather(growth, toastrel, Max(from, growth->first), &merge))
	{
		ListCell   *lc;

		foreach(lc, merge.tids)
			sliced_toast_row_delete(toastrel, growth->objid, lfirst(lc));
		SLICED_STOP("growth.small-slices-deleted");
		sliced_writer_add_slices(writer, growth->objid, merge.start, merge.raw, merge.len,
								 compression);
		SLICED_STOP("growth.merged");
		growth->has_tail = false;
	}
	list_free_deep(merge.tids);
	pfree(merge.raw);
}

static uint32
round_down(uint32 n, uint32 unit)
{
	return n - n % unit;
}

void
sliced_growth_write(SlicedGrowth *growth, SlicedWriter *writer, const char *bytes, uint32 len,
					SlicedCompression compression)
{
	uint32		end = growth->end + len;

	sliced_count(SLICED_APPENDED, 1);
	if (round_down(end, SLICED_SEAL_BYTES) > growth->end)
		merge_write(growth, writer, round_down(growth->end, SLICED_SEAL_BYTES), compression);
	else if (round_down(end, SLICED_MERGE_BYTES) > growth->end)
		merge_write(growth, writer, round_down(growth->end, SLICED_MERGE_BYTES), compression);

	if (growth->has_tail && growth->may_update &&
		len <= growth->tail_capacity - growth->tail_len)
	{
		SLICED_STOP("growth.before-tail-grows");
		sliced_count(SLICED_RAW_WRITTEN + SLICED_CODEC_NONE, len);
		sliced_count(SLICED_STORED_WRITTEN + SLICED_CODEC_NONE, len);
		memcpy(growth->tail + growth->tail_len, bytes, len);
		sliced_writer_update_tail(writer, &growth->tail_tid, growth->objid, growth->tail_start,
								  growth->tail, growth->tail_len + len, growth->tail_capacity);
	}
	else if (len <= SLICED_TAIL_MAX)
	{
		uint32		capacity = Min(Max(len * SLICED_TAIL_ADDITIONS, SLICED_TAIL_MIN), SLICED_TAIL_MAX);

		/* a transaction that goes on adding cannot update its own new rows */
		if (len * 2 > capacity || (growth->has_tail && growth->tail_is_ours) ||
			!tails_are_updated(sliced_writer_relation(writer)))
			capacity = len;
		sliced_count_slice_written(SLICED_CODEC_NONE, len, len);
		sliced_writer_add_tail(writer, growth->objid, growth->end, bytes, len, capacity);
	}
	else
		sliced_writer_add_slices(writer, growth->objid, growth->end, bytes, len, compression);
}
