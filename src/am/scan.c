/*
 * scan.c
 *	  Reads rows of the table: scans, fetches by index or ctid, locks.
 *
 * On disk, a row with values of ours bears the marker instead of HEAP_HASEXTERNAL.  A
 * tuple that others get as a whole must bear the flag, or INSERT INTO other SELECT *
 * FROM ours would copy the pointers instead of the values.  So each callback that
 * fills a slot lets heap do its work and then looks at the tuple: if it is marked,
 * the slot gets a copy of its own with the flag set.  The slot gets a copy of a row
 * of core's with values outside, too: it has the flag, but any session, the reader's
 * included, may mark it at any moment (adopt.c).
 *
 * But most queries take columns from the slot, never the tuple.  The slots of their
 * scans say so (am/slot.h): we do not look at the tuple, and it stays in its buffer.
 *
 * Looking fetches a cache line per row, in vain if no tuple is marked.  So sequential
 * scans find out first whether the toast relation is empty; if it is, they never
 * look.
 *
 * Slots of our own could make the copy only when a tuple is taken out of them, and
 * mostly save it.  But heapam and the executor recognise their slots by address, so
 * we would have to exchange the address whenever we call heapam, and JIT would no
 * longer compile the deforming of any row of any of our tables.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "am/foreign_toast.h"
#include "am/scan.h"
#include "am/slot.h"
#include "base/identity.h"
#include "base/limits.h"
#include "decode/kept_files.h"
#include "decode/retention.h"
#include "executor/tuptable.h"
#include "format/pointer.h"
#include "learn/train.h"
#include "miscadmin.h"
#include "row/toast.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "store/reader.h"

/* In rs_flags: this scan returns no marked rows. */
#define SO_NO_MARKED_ROWS	((uint32) 1 << 31)

static pg_noinline void
replace_by_flagged_copy(Relation rel, TupleTableSlot *slot)
{
	if (!sliced_toast_is_foreign(rel))
		sliced_slot_copy_flagged(slot);
	else if (sliced_tuple_is_marked(((HeapTupleTableSlot *) slot)->tuple->t_data))
		sliced_slot_flatten(rel, slot);
}

/* heap has just filled the slot. */
static inline void
restore_flag(Relation rel, TupleTableSlot *slot)
{
	if (unlikely(sliced_slot_has_values(slot)))
		replace_by_flagged_copy(rel, slot);
}

/* The same in a scan. */
static inline void
restore_flag_if_needed(Relation rel, TupleTableSlot *slot)
{
	if (!sliced_slot_takes_columns_only(slot))
		restore_flag(rel, slot);
}

void
sliced_flag_row(Relation rel, TupleTableSlot *slot)
{
	restore_flag(rel, slot);
}

void
sliced_flag_scanned_row(TableScanDesc scan, TupleTableSlot *slot)
{
	restore_flag_if_needed(scan->rs_rd, slot);
}

/*
 * A dirty snapshot, with which logical replication looks for rows without a key, can
 * see the new version of a row before the slices of its values are written: an update
 * writes the row first (see modify.c).  Wait for them.  Returns false if the updating
 * transaction aborted instead.
 */
static bool
wait_for_slices(Relation rel, HeapTuple tuple)
{
	TransactionId xmin = HeapTupleHeaderGetXmin(tuple->t_data);
	Relation	toastrel = table_open(rel->rd_rel->reltoastrelid, AccessShareLock);
	List	   *values = sliced_row_pointers(rel, tuple);
	bool		result = true;
	ListCell   *lc;

	foreach(lc, values)
	{
		struct varatt_external *ptr = lfirst(lc);

		for (;;)
		{
			bool		in_progress = TransactionIdIsInProgress(xmin);

			/* core's are from before */
			if (!sliced_pointer_is_ours(ptr) ||
				sliced_value_is_complete(toastrel, ptr->va_valueid, sliced_pointer_size(ptr)))
				break;
			if (!in_progress)
			{
				result = TransactionIdDidCommit(xmin);
				break;
			}
			CHECK_FOR_INTERRUPTS();
			pg_usleep(1000L);
		}
	}
	list_free_deep(values);
	table_close(toastrel, AccessShareLock);
	return result;
}

/*
 * True if the row has its values.  Who holds a page locked, like a check for duplicates
 * in an index, does not look at values, and must not wait.
 */
static inline bool
has_its_values(Relation rel, Snapshot snapshot, TupleTableSlot *slot)
{
	return snapshot->snapshot_type != SNAPSHOT_DIRTY || !TransactionIdIsValid(snapshot->xmin) ||
		!sliced_slot_has_values(slot) || !INTERRUPTS_CAN_BE_PROCESSED() ||
		wait_for_slices(rel, ((HeapTupleTableSlot *) slot)->tuple);
}

/*
 * A caller that scans with a dirty snapshot looks for a row, remembers its ctid, and
 * locks the row, which fetches it again.  ExecCopySlot() passes on the ctid only of a
 * tuple in a buffer, so a copy would lose it, and this caller gets no copy.
 */
static inline bool
ready_for_caller(TableScanDesc scan, TupleTableSlot *slot)
{
	if (likely(!sliced_slot_has_values(slot)))
		return true;
	if (scan->rs_snapshot->snapshot_type == SNAPSHOT_DIRTY)
		return has_its_values(scan->rs_rd, scan->rs_snapshot, slot);
	replace_by_flagged_copy(scan->rs_rd, slot);
	return true;
}

/*
 * True if the toast relation has no rows.  A row with values outside it that is
 * visible to a snapshot taken before now has rows in the toast relation, and no
 * session can have removed them.
 */
static bool
has_no_values(Relation rel, Snapshot snapshot, BlockNumber nblocks)
{
	Relation	toastrel;
	bool		empty;

	if (!OidIsValid(rel->rd_rel->reltoastrelid))
		return true;
	if (snapshot == NULL || !IsMVCCSnapshot(snapshot) || nblocks < SLICED_SCAN_WORTH_A_LOOK)
		return false;
	toastrel = table_open(rel->rd_rel->reltoastrelid, AccessShareLock);
	empty = RelationGetNumberOfBlocks(toastrel) == 0;
	table_close(toastrel, AccessShareLock);
	return empty;
}

static TableScanDesc
sliced_scan_begin(Relation rel, Snapshot snapshot, int nkeys, struct ScanKeyData *key,
				  ParallelTableScanDesc pscan, uint32 flags)
{
	TableScanDesc scan;

	/* page by page, heap would remove dead rows */
	if (sliced_is_retained(rel))
		flags &= ~SO_ALLOW_PAGEMODE;
	scan = heap_beginscan(rel, snapshot, nkeys, key, pscan, flags);

	if ((flags & SO_TYPE_SEQSCAN) &&
		has_no_values(rel, snapshot, ((HeapScanDesc) scan)->rs_nblocks))
		scan->rs_flags |= SO_NO_MARKED_ROWS;
	return scan;
}

/*
 * When ANALYZE has seen enough of the table, we look after dictionaries, and after
 * files that decoders no longer need.
 */
static void
sliced_scan_end(TableScanDesc scan)
{
	Relation	rel = scan->rs_rd;
	bool		analyzes = (scan->rs_flags & SO_TYPE_ANALYZE) != 0;

	heap_endscan(scan);
	if (!analyzes)
		return;
	sliced_train_if_due(rel);
	sliced_kept_files_sweep();
}

/*
 * A function of its own: for most rows its caller then just jumps to heap's function.
 */
static pg_noinline bool
next_flagged(TableScanDesc scan, ScanDirection direction, TupleTableSlot *slot)
{
	while (heap_getnextslot(scan, direction, slot))
		if (ready_for_caller(scan, slot))
			return true;
	return false;
}

static bool
sliced_scan_getnextslot(TableScanDesc scan, ScanDirection direction, TupleTableSlot *slot)
{
	if (sliced_slot_takes_columns_only(slot) || (scan->rs_flags & SO_NO_MARKED_ROWS))
		return heap_getnextslot(scan, direction, slot);
	return next_flagged(scan, direction, slot);
}

static bool
sliced_scan_getnextslot_tidrange(TableScanDesc scan, ScanDirection direction,
								 TupleTableSlot *slot)
{
	if (!heap_getnextslot_tidrange(scan, direction, slot))
		return false;
	restore_flag_if_needed(scan->rs_rd, slot);
	return true;
}

/*
 * Fetches by heap, which also removes dead rows of the page and says which rows are
 * dead to all.
 */
static bool
heap_index_fetch(struct IndexFetchTableData *scan, ItemPointer tid, Snapshot snapshot,
				 TupleTableSlot *slot, bool *call_again, bool *all_dead)
{
	bool		result = false;

	if (!sliced_is_retained(scan->rel))
		return sliced_heap->index_fetch_tuple(scan, tid, snapshot, slot, call_again, all_dead);
	SLICED_RETAIN_BEGIN(scan->rel);
	result = sliced_heap->index_fetch_tuple(scan, tid, snapshot, slot, call_again, all_dead);
	SLICED_RETAIN_END();
	return result;
}

static bool
sliced_index_fetch_tuple(struct IndexFetchTableData *scan, ItemPointer tid,
						 Snapshot snapshot, TupleTableSlot *slot,
						 bool *call_again, bool *all_dead)
{
	do
	{
		if (!heap_index_fetch(scan, tid, snapshot, slot, call_again, all_dead))
			return false;
		if ((snapshot->snapshot_type != SNAPSHOT_TOAST || !sliced_row_is_stale(scan->rel, slot)) &&
			has_its_values(scan->rel, snapshot, slot))
		{
			restore_flag_if_needed(scan->rel, slot);
			return true;
		}
	} while (*call_again);
	return false;
}

static bool
sliced_tuple_fetch_row_version(Relation rel, ItemPointer tid, Snapshot snapshot,
							   TupleTableSlot *slot)
{
	if (!sliced_heap->tuple_fetch_row_version(rel, tid, snapshot, slot))
		return false;
	restore_flag(rel, slot);
	return true;
}

/*
 * heap looks at the tuple in its buffer.  A slot with a copy no longer has the
 * buffer, so fetch the row again.
 */
static bool
sliced_tuple_satisfies_snapshot(Relation rel, TupleTableSlot *slot, Snapshot snapshot)
{
	HeapTupleData tuple;
	Buffer		buffer;
	bool		result;

	if (BufferIsValid(((BufferHeapTupleTableSlot *) slot)->buffer))
		return sliced_heap->tuple_satisfies_snapshot(rel, slot, snapshot);

	tuple.t_self = slot->tts_tid;
	if (!heap_fetch(rel, SnapshotAny, &tuple, &buffer, false))
		return false;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	result = HeapTupleSatisfiesVisibility(&tuple, snapshot, buffer);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	ReleaseBuffer(buffer);
	return result;
}

static TM_Result
sliced_tuple_lock(Relation rel, ItemPointer tid, Snapshot snapshot, TupleTableSlot *slot,
				  CommandId cid, LockTupleMode mode, LockWaitPolicy wait_policy,
				  uint8 flags, TM_FailureData *tmfd)
{
	TM_Result	result = sliced_heap->tuple_lock(rel, tid, snapshot, slot, cid, mode,
												 wait_policy, flags, tmfd);

	if (result == TM_Ok)
		restore_flag(rel, slot);
	return result;
}

static bool
sliced_scan_sample_next_tuple(TableScanDesc scan, struct SampleScanState *scanstate,
							  TupleTableSlot *slot)
{
	if (!sliced_heap->scan_sample_next_tuple(scan, scanstate, slot))
		return false;
	restore_flag_if_needed(scan->rs_rd, slot);
	return true;
}

void
sliced_scan_callbacks(TableAmRoutine *routine)
{
	routine->scan_begin = sliced_scan_begin;
	routine->scan_end = sliced_scan_end;
	routine->scan_getnextslot = sliced_scan_getnextslot;
	routine->scan_getnextslot_tidrange = sliced_scan_getnextslot_tidrange;
	routine->index_fetch_tuple = sliced_index_fetch_tuple;
	routine->tuple_fetch_row_version = sliced_tuple_fetch_row_version;
	routine->tuple_satisfies_snapshot = sliced_tuple_satisfies_snapshot;
	routine->tuple_lock = sliced_tuple_lock;
	routine->scan_sample_next_tuple = sliced_scan_sample_next_tuple;
}
