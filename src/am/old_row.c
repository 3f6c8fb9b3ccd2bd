/*
 * old_row.c
 *	  The version of a row that an update or delete replaces.
 *
 * Two bits of its header decide what heapam does with it: the marker keeps core's
 * toaster away from its values, HEAP_HASEXTERNAL makes heapam log its identity with
 * its values.  We set both in the row's page.
 *
 * The rule: only a transaction that has locked the row changes its header, or a
 * transaction that finds the row free.  If others may change the header of a row, we
 * lock the row before we look at it.  So its header stays as we saw it until heapam
 * has done its work.
 *
 * Marked rows stay marked.  If heapam raises an error, HEAP_HASEXTERNAL stays set
 * where we set it, and the next transaction that locks the row finds it.
 *
 * Each change is logged as an image of the page: core has no record that would do.
 *
 * The old version of a row of core's that gets its first value of ours must be
 * marked, or heapam would call core's toaster.  To us a marked row of core's is the
 * same row as before, so a rollback may leave it marked.  To heap it is not the same.
 * So rows are marked only after the table's adoption has committed (admin/adopt.c);
 * the image of the page that we log follows that commit in the WAL, so no crash keeps
 * the mark and loses the adoption.
 *
 * An update or delete depends on whether the row is marked.  It locks a row of core's
 * before it looks.  A transaction that marks a row holds its lock, and marks other
 * rows of the page only if no transaction has locked them.  So no row is marked
 * between that look and what heapam does.  Readers do not lock: a scan that may
 * return the whole tuple copies it first (scan.c).
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xloginsert.h"
#include "am/old_row.h"
#include "base/compat.h"
#include "base/identity.h"
#include "base/stop.h"
#include "decode/decoding.h"
#include "format/pointer.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/syscache.h"

/* ---- looking ---- */

/*
 * Pin a page of the table.  Bulk updates and deletes come back to the page of the row
 * before, and mostly find it without a search.
 *
 * We remember only where to look: the buffer itself says which page it has.  Shared
 * buffers say it by file and block, which are unique among them.  A temporary table's
 * file may have the number of another file, so we do not remember local buffers.
 */
static Buffer
pin_page(Relation rel, BlockNumber block)
{
	static Buffer recent = InvalidBuffer;

	if (RelationUsesLocalBuffers(rel))
		return ReadBuffer(rel, block);
	if (!BufferIsValid(recent) ||
		!ReadRecentBuffer(rel->rd_locator, MAIN_FORKNUM, block, recent))
		recent = ReadBuffer(rel, block);
	return recent;
}

/*
 * A pin alone would not do: another session that had the only pin a moment ago may
 * still be pruning the page.
 */
HeapTuple
sliced_old_row_fetch(Relation rel, ItemPointer tid)
{
	Buffer		buffer = pin_page(rel, ItemPointerGetBlockNumber(tid));
	OffsetNumber offnum = ItemPointerGetOffsetNumber(tid);
	Page		page = BufferGetPage(buffer);
	HeapTuple	result = NULL;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (offnum >= FirstOffsetNumber && offnum <= PageGetMaxOffsetNumber(page))
	{
		ItemId		lp = PageGetItemId(page, offnum);

		if (ItemIdIsNormal(lp))
		{
			HeapTupleData tuple;

			tuple.t_data = (HeapTupleHeader) PageGetItem(page, lp);
			tuple.t_len = ItemIdGetLength(lp);
			tuple.t_self = *tid;
			tuple.t_tableOid = RelationGetRelid(rel);
			if (sliced_tuple_has_values(tuple.t_data))
				result = heap_copytuple(&tuple);
		}
	}
	UnlockReleaseBuffer(buffer);
	return result;
}

/* ---- locking ---- */

TM_Result
sliced_old_row_lock(Relation rel, ItemPointer tid, LockTupleMode mode, CommandId cid,
					bool wait, TM_FailureData *tmfd)
{
	HeapTupleData tuple;
	Buffer		buffer;
	TM_Result	result;

	tuple.t_self = *tid;
	result = heap_lock_tuple(rel, &tuple, cid, mode, wait ? LockWaitBlock : LockWaitSkip,
							 false, &buffer, tmfd);
	ReleaseBuffer(buffer);
	SLICED_STOP("old-row.locked");
	return result;
}

bool
sliced_old_row_may_change(Relation rel, HeapTuple row)
{
	if (row == NULL || sliced_toast_is_foreign(rel))
		return false;
	return !sliced_tuple_is_marked(row->t_data) || HeapTupleHasExternal(row) ||
		sliced_identity_needs_values(rel, row);
}

TM_Result
sliced_old_row_lock_and_look(Relation rel, HeapTuple *row, LockTupleMode mode, CommandId cid,
							 bool wait, TM_FailureData *tmfd)
{
	ItemPointerData tid = (*row)->t_self;
	TM_Result	result = sliced_old_row_lock(rel, &tid, mode, cid, wait, tmfd);

	if (result == TM_Ok)
	{
		heap_freetuple(*row);
		*row = sliced_old_row_fetch(rel, &tid);
	}
	return result;
}

/* ---- changing the header ---- */

static Buffer
begin_change(Relation rel, ItemPointer tid)
{
	Buffer		buffer = ReadBuffer(rel, ItemPointerGetBlockNumber(tid));

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	START_CRIT_SECTION();
	return buffer;
}

static void
end_change(Relation rel, Buffer buffer)
{
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(rel))
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

/* True if this transaction has changed the table's entry in pg_class. */
static bool
catalog_entry_is_new(Relation rel)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(RelationGetRelid(rel)));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", RelationGetRelid(rel));
	result = TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));
	ReleaseSysCache(tuple);
	return result;
}

/*
 * A decoded transaction needs core's format for new values, and for the old row's
 * identity.
 */
bool
sliced_old_row_may_take(Relation rel, HeapTuple tuple, uint32 options)
{
	if (sliced_toast_is_foreign(rel) || catalog_entry_is_new(rel))
		return false;
	if ((options & TABLE_UPDATE_NO_LOGICAL) != 0)
		return true;
	return !sliced_is_decoded(rel) &&
		!(sliced_hides_slices(rel) && !sliced_announces_values(rel) &&
		  sliced_identity_needs_values(rel, tuple));
}

/* True for a row of core's that all snapshots see and no transaction has locked. */
static bool
is_free_row_of_core(HeapTupleHeader row)
{
	return (row->t_infomask & HEAP_HASEXTERNAL) != 0 && !sliced_tuple_is_marked(row) &&
		HeapTupleHeaderXminCommitted(row) && (row->t_infomask & HEAP_XMAX_INVALID) != 0;
}

/* Marks all free rows at once, so most pages are logged once and never again. */
void
sliced_old_row_take(Relation rel, ItemPointer tid)
{
	Buffer		buffer = begin_change(rel, tid);
	Page		page = BufferGetPage(buffer);

	for (OffsetNumber off = FirstOffsetNumber; off <= PageGetMaxOffsetNumber(page); off++)
	{
		ItemId		lp = PageGetItemId(page, off);
		HeapTupleHeader row;

		if (!ItemIdIsNormal(lp))
			continue;
		row = (HeapTupleHeader) PageGetItem(page, lp);
		if (off == ItemPointerGetOffsetNumber(tid) || is_free_row_of_core(row))
			sliced_tuple_mark(row);
	}
	end_change(rel, buffer);
	SLICED_STOP("old-row.taken");
}

void
sliced_old_row_expose(Relation rel, ItemPointer tid, bool expose)
{
	Buffer		buffer = begin_change(rel, tid);
	Page		page = BufferGetPage(buffer);
	ItemId		lp = PageGetItemId(page, ItemPointerGetOffsetNumber(tid));
	HeapTupleHeader row = (HeapTupleHeader) PageGetItem(page, lp);

	if (expose)
		row->t_infomask |= HEAP_HASEXTERNAL;
	else
		row->t_infomask &= ~HEAP_HASEXTERNAL;
	end_change(rel, buffer);
	SLICED_STOP("old-row.exposed");
}
