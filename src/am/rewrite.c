/*
 * rewrite.c
 *	  VACUUM FULL and CLUSTER.
 *
 * heap's own function would hand every long row to core's toaster and so turn the
 * table into core's format.  This one reads the old table with heap's visibility
 * rules, toasts every row anew with the settings its columns have now, and leaves the
 * rest to heap's rewrite module, which keeps update chains together.  Rows that core
 * had toasted become ours on the way: decoders never see rewritten rows.
 *
 * If core will exchange the contents of the two toast relations (rd_toastoid), values
 * keep their ids.  Versions of one row that share a value then share it in the new
 * table: the first one writes it.
 *
 * Versions that are dead for new snapshots, still visible to some old ones, are
 * copied with their values.  No transaction will delete those values when the
 * versions go, so we delete them at the end: a snapshot that still sees such a
 * version reads deleted slices as well.  A subtransaction deletes them, because the
 * xid must not be the one that wrote them.  VACUUM assumes that no snapshot saw a row
 * that one xid both wrote and deleted, so a standby would not wait for readers of the
 * version.  Some such versions have lost values already.  No snapshot sees those
 * (dying.h), so we leave them out.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heaptoast.h"
#include "access/rewriteheap.h"
#include "access/transam.h"
#include "access/xact.h"
#include "am/dying.h"
#include "am/foreign_toast.h"
#include "am/heap_bridge.h"
#include "am/repack.h"
#include "am/rewrite.h"
#include "am/row_version.h"
#include "base/counters.h"
#include "base/identity.h"
#include "base/options.h"
#include "base/stop.h"
#include "catalog/catalog.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "format/pointer.h"
#include "learn/train.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "row/toast.h"
#include "storage/bufmgr.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/tuplesort.h"

typedef struct Rewrite
{
	Relation	oldrel;
	Relation	newrel;
	RewriteState heap;
	SlicedWriter *writer;		/* NULL if the new table has no toast relation */
	MemoryContext row_mcxt;
	Datum	   *values;
	bool	   *isnull;
	Oid		   *keep_ids;
	Bitmapset  *sort_columns;	/* with long values, read by sorting */
	HTAB	   *dying_rows;		/* by ItemPointerData: versions that are not live */
	HTAB	   *dying_values;	/* by Oid: values that only such versions have */
	bool		core_dying;		/* core has toasted such a version */
	TransactionId oldest_xmin;
	double		num_tuples;
	double		tups_vacuumed;
	double		tups_recently_dead;
} Rewrite;

/*
 * Split the row into rw->values, and set rw->keep_ids to the value ids that go with
 * it into the new table.
 */
static void
take_apart(Rewrite *rw, HeapTuple tuple, TupleDesc tuple_desc)
{
	TupleDesc	desc = RelationGetDescr(rw->newrel);

	heap_deform_tuple(tuple, tuple_desc, rw->values, rw->isnull);
	for (int i = 0; i < desc->natts; i++)
	{
		struct varlena *value = (struct varlena *) DatumGetPointer(rw->values[i]);

		rw->keep_ids[i] = InvalidOid;
		if (TupleDescAttr(desc, i)->attisdropped)
			rw->isnull[i] = true;
		else if (!rw->isnull[i] && TupleDescAttr(desc, i)->attlen == -1 &&
				 VARATT_IS_EXTERNAL_ONDISK(value))
		{
			struct varatt_external ptr;

			VARATT_EXTERNAL_GET_POINTER(ptr, value);
			if (ptr.va_toastrelid == rw->newrel->rd_toastoid)
				rw->keep_ids[i] = ptr.va_valueid;
		}
	}
}

/*
 * Write the new values of a row, except what another version of it has brought
 * already: a value that grew has one id in all versions, and the shorter version is a
 * prefix of the longer.
 */
static void
write_values(Rewrite *rw, SlicedRowToast *rt, bool dying)
{
	ListCell   *lc;

	foreach(lc, rt->new_values)
	{
		SlicedNewValue *value = lfirst(lc);
		SlicedDraft *draft = &value->draft;
		uint32		length = sliced_writer_length(rw->writer, value->valueid);

		if (length == 0)
		{
			sliced_storing_begin();
			sliced_writer_add(rw->writer, value->valueid, draft);
			sliced_row_count_value(rt, value);
			if (dying)
				hash_search(rw->dying_values, &value->valueid, HASH_ENTER, NULL);
			continue;
		}
		if (length < draft->len && !sliced_draft_is_cut(draft))
			sliced_writer_add_slices(rw->writer, value->valueid, length,
									 sliced_draft_raw(draft) + length,
									 draft->len - length, draft->compression);
		if (!dying)
			hash_search(rw->dying_values, &value->valueid, HASH_REMOVE, NULL);
	}
}

/*
 * Hand the row to the rewrite module.  It may store other rows with it, once it knows
 * their place in their update chains.  Without a row, store all rows that are left.
 */
static void
put_row(Rewrite *rw, HeapTuple tuple, HeapTuple copy)
{
	SLICED_OPTION_BEGIN(rw->newrel, toast_tuple_target, sliced_row_inline_limit(rw->newrel));
	if (tuple != NULL)
		rewrite_heap_tuple(rw->heap, tuple, copy);
	else
		end_heap_rewrite(rw->heap);
	SLICED_OPTION_END();
}

/*
 * A version that was counted as recently dead is dead.  So is its predecessor, if one
 * waits to be stored.
 */
static void
drop_row(Rewrite *rw, HeapTuple tuple)
{
	rw->tups_vacuumed++;
	rw->tups_recently_dead--;
	if (rewrite_heap_dead_tuple(rw->heap, tuple))
	{
		rw->tups_vacuumed++;
		rw->tups_recently_dead--;
	}
}

/*
 * The columns of the row are in rw->values.  If its values might go at any moment,
 * fetch those of 'columns' (NULL: all).  Returns false if one has gone: no snapshot
 * sees the row.  No value goes before the row's deleter has committed, and that may
 * be us.
 */
static bool
fetch_dying_values(Rewrite *rw, HeapTuple tuple, const Bitmapset *columns)
{
	bool		dying;

	hash_search(rw->dying_rows, &tuple->t_self, HASH_FIND, &dying);
	return !dying || !TransactionIdDidCommit(HeapTupleHeaderGetUpdateXid(tuple->t_data)) ||
		sliced_row_fetch_values(rw->oldrel, rw->values, rw->isnull, columns);
}

/*
 * Let pointers in memory stand for the fetched values.  Together these might be too
 * long for a tuple.
 */
static void
refer_to_fetched_values(Rewrite *rw, const Datum *before)
{
	for (int i = 0; i < RelationGetDescr(rw->oldrel)->natts; i++)
		if (rw->values[i] != before[i])
		{
			struct varatt_indirect in_memory = {(struct varlena *) DatumGetPointer(rw->values[i])};
			char	   *pointer = palloc(INDIRECT_POINTER_SIZE);

			SET_VARTAG_EXTERNAL(pointer, VARTAG_INDIRECT);
			memcpy(VARDATA_EXTERNAL(pointer), &in_memory, sizeof(in_memory));
			rw->values[i] = PointerGetDatum(pointer);
		}
}

/*
 * Returns the row as the rewrite module gets it, with its values written; NULL if no
 * snapshot sees it.
 */
static HeapTuple
toast_row(Rewrite *rw, HeapTuple tuple)
{
	Datum	   *stored = palloc(RelationGetDescr(rw->oldrel)->natts * sizeof(Datum));
	SlicedRowTarget target = {.writer = rw->writer, .keep_ids = rw->keep_ids};
	HeapTuple	copy;
	SlicedRowToast rt;
	bool		dying;

	take_apart(rw, tuple, RelationGetDescr(rw->oldrel));
	memcpy(stored, rw->values, RelationGetDescr(rw->oldrel)->natts * sizeof(Datum));
	if (!fetch_dying_values(rw, tuple, NULL))
		return NULL;
	refer_to_fetched_values(rw, stored);
	copy = heap_form_tuple(RelationGetDescr(rw->newrel), rw->values, rw->isnull);
	if (!sliced_row_is_oversized(rw->newrel, copy))
		return copy;
	/* the rewrite module may keep it for longer than we keep values */
	if (rw->writer == NULL)
		return toast_flatten_tuple(copy, RelationGetDescr(rw->newrel));

	sliced_row_toast(&rt, rw->newrel, copy, NULL, false, &target);
	hash_search(rw->dying_rows, &tuple->t_self, HASH_FIND, &dying);
	SLICED_STOP("rewrite.row-toasted");
	write_values(rw, &rt, dying);
	SLICED_STOP("rewrite.values-handed-over");

	/*
	 * core keeps ids, but cannot share a value that another version has in our format
	 */
	if (rt.core_way)
	{
		rw->core_dying |= dying;
		return toast_flatten_tuple(rt.tuple, RelationGetDescr(rw->newrel));
	}
	return rt.tuple;
}

static void
copy_row(Rewrite *rw, HeapTuple tuple)
{
	MemoryContext old = MemoryContextSwitchTo(rw->row_mcxt);
	HeapTuple	copy = toast_row(rw, tuple);

	MemoryContextSwitchTo(old);
	if (copy != NULL)
		put_row(rw, tuple, copy);
	else
		drop_row(rw, tuple);
	SLICED_STOP("rewrite.row-written");
	MemoryContextReset(rw->row_mcxt);
}

/*
 * Hand the row to the sort.  If the values it is sorted by might go before it is
 * copied, put them into it.
 */
static void
sort_row(Rewrite *rw, Tuplesortstate *sort, HeapTuple tuple)
{
	TupleDesc	desc = RelationGetDescr(rw->oldrel);
	MemoryContext old = MemoryContextSwitchTo(rw->row_mcxt);
	HeapTuple	copy = tuple;

	if (rw->sort_columns != NULL && hash_search(rw->dying_rows, &tuple->t_self, HASH_FIND, NULL))
	{
		heap_deform_tuple(tuple, desc, rw->values, rw->isnull);
		copy = NULL;
		if (fetch_dying_values(rw, tuple, rw->sort_columns))
		{
			copy = heap_form_tuple(desc, rw->values, rw->isnull);
			sliced_become_version(copy, tuple);
		}
	}
	MemoryContextSwitchTo(old);
	if (copy != NULL)
		tuplesort_putheaptuple(sort, copy);
	else
		drop_row(rw, tuple);
	MemoryContextReset(rw->row_mcxt);
}

/* Returns whether the row goes into the new table.  Tells the rewrite module if not. */
static bool
row_survives(Rewrite *rw, HeapTuple tuple, Buffer buffer)
{
	HTSV_Result state;

	/* sets hint bits, which the rewrite module reads */
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	state = HeapTupleSatisfiesVacuum(tuple, rw->oldest_xmin, buffer);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);

	switch (state)
	{
		case HEAPTUPLE_DEAD:
			rw->tups_vacuumed++;
			if (rewrite_heap_dead_tuple(rw->heap, tuple))
			{
				/* its predecessor, counted as recently dead, is dead too */
				rw->tups_vacuumed++;
				rw->tups_recently_dead--;
			}
			SLICED_STOP("rewrite.dead-row-skipped");
			return false;

		case HEAPTUPLE_RECENTLY_DEAD:
			rw->tups_recently_dead++;
			hash_search(rw->dying_rows, &tuple->t_self, HASH_ENTER, NULL);
			break;

		case HEAPTUPLE_LIVE:
			break;

			/* the table is locked, so these are changes of this transaction */
		case HEAPTUPLE_INSERT_IN_PROGRESS:
			if (!TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data)))
				elog(WARNING, "concurrent insert in progress within table \"%s\"",
					 RelationGetRelationName(rw->oldrel));
			break;
		case HEAPTUPLE_DELETE_IN_PROGRESS:
			if (!TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetUpdateXid(tuple->t_data)))
				elog(WARNING, "concurrent delete in progress within table \"%s\"",
					 RelationGetRelationName(rw->oldrel));
			rw->tups_recently_dead++;
			hash_search(rw->dying_rows, &tuple->t_self, HASH_ENTER, NULL);
			break;
	}
	rw->num_tuples++;
	return true;
}

/* Blocks done so far; a synchronized scan starts anywhere and wraps around. */
static BlockNumber
blocks_scanned(HeapScanDesc scan)
{
	return (scan->rs_cblock + scan->rs_nblocks - scan->rs_startblock) %
		scan->rs_nblocks + 1;
}

static void
scan_in_physical_order(Rewrite *rw, TupleTableSlot *slot, Tuplesortstate *sort)
{
	BufferHeapTupleTableSlot *bslot = (BufferHeapTupleTableSlot *) slot;
	TableScanDesc scan = table_beginscan(rw->oldrel, SnapshotAny, 0, NULL, 0);
	HeapScanDesc hscan = (HeapScanDesc) scan;
	BlockNumber reported = InvalidBlockNumber;

	pgstat_progress_update_param(PROGRESS_REPACK_PHASE,
								 PROGRESS_REPACK_PHASE_SEQ_SCAN_HEAP);
	pgstat_progress_update_param(PROGRESS_REPACK_TOTAL_HEAP_BLKS, hscan->rs_nblocks);

	while (heap_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (hscan->rs_cblock != reported)
		{
			reported = hscan->rs_cblock;
			pgstat_progress_update_param(PROGRESS_REPACK_HEAP_BLKS_SCANNED,
										 blocks_scanned(hscan));
		}
		if (!row_survives(rw, bslot->base.tuple, bslot->buffer))
			continue;
		if (sort != NULL)
			sort_row(rw, sort, bslot->base.tuple);
		else
		{
			copy_row(rw, bslot->base.tuple);
			pgstat_progress_update_param(PROGRESS_REPACK_HEAP_TUPLES_INSERTED,
										 rw->num_tuples);
		}
		pgstat_progress_update_param(PROGRESS_REPACK_HEAP_TUPLES_SCANNED, rw->num_tuples);
	}
	pgstat_progress_update_param(PROGRESS_REPACK_HEAP_BLKS_SCANNED, hscan->rs_nblocks);
	table_endscan(scan);
}

static void
scan_in_index_order(Rewrite *rw, TupleTableSlot *slot, Relation index)
{
	BufferHeapTupleTableSlot *bslot = (BufferHeapTupleTableSlot *) slot;
	IndexScanDesc scan = index_beginscan(rw->oldrel, index, SnapshotAny, NULL, 0, 0, 0);

	index_rescan(scan, NULL, 0, NULL, 0);
	pgstat_progress_update_param(PROGRESS_REPACK_PHASE,
								 PROGRESS_REPACK_PHASE_INDEX_SCAN_HEAP);
	pgstat_progress_update_param(PROGRESS_REPACK_INDEX_RELID, RelationGetRelid(index));

	while (index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (scan->xs_recheck)
			elog(ERROR, "CLUSTER does not support lossy index conditions");
		if (!row_survives(rw, bslot->base.tuple, bslot->buffer))
			continue;
		copy_row(rw, bslot->base.tuple);
		pgstat_progress_update_param(PROGRESS_REPACK_HEAP_TUPLES_SCANNED, rw->num_tuples);
		pgstat_progress_update_param(PROGRESS_REPACK_HEAP_TUPLES_INSERTED, rw->num_tuples);
	}
	index_endscan(scan);
}

static void
copy_sorted(Rewrite *rw, Tuplesortstate *sort)
{
	HeapTuple	tuple;
	int64		written = 0;

	pgstat_progress_update_param(PROGRESS_REPACK_PHASE, PROGRESS_REPACK_PHASE_SORT_TUPLES);
	tuplesort_performsort(sort);
	pgstat_progress_update_param(PROGRESS_REPACK_PHASE,
								 PROGRESS_REPACK_PHASE_WRITE_NEW_HEAP);
	while ((tuple = tuplesort_getheaptuple(sort, true)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		copy_row(rw, tuple);
		pgstat_progress_update_param(PROGRESS_REPACK_HEAP_TUPLES_INSERTED, ++written);
	}
}

/*
 * Copy all rows.  Meanwhile the old table passes for heap's, so that we get the
 * tuples as they are on disk.
 */
static void
copy_table(Rewrite *rw, Relation index, bool use_sort)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(rw->oldrel),
													&TTSOpsBufferHeapTuple);

	if (use_sort)
	{
		Tuplesortstate *sort = tuplesort_begin_cluster(RelationGetDescr(rw->oldrel), index,
													   maintenance_work_mem, NULL,
													   TUPLESORT_NONE);

		rw->sort_columns = sliced_index_columns(rw->oldrel, BuildIndexInfo(index));
		scan_in_physical_order(rw, slot, sort);
		copy_sorted(rw, sort);
		tuplesort_end(sort);
	}
	else if (index != NULL)
		scan_in_index_order(rw, slot, index);
	else
		scan_in_physical_order(rw, slot, NULL);
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * Core chose the ids of the values it toasted, so look for dying versions of core's
 * in the new table.  They share no value with any other version.
 */
static void
find_core_dying_values(Rewrite *rw)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(rw->newrel),
													&TTSOpsBufferHeapTuple);
	BufferHeapTupleTableSlot *bslot = (BufferHeapTupleTableSlot *) slot;
	TableScanDesc scan = table_beginscan(rw->newrel, SnapshotAny, 0, NULL, 0);

	while (heap_getnextslot(scan, ForwardScanDirection, slot))
	{
		HeapTuple	tuple = bslot->base.tuple;
		HTSV_Result state;

		CHECK_FOR_INTERRUPTS();
		if (sliced_tuple_is_marked(tuple->t_data) || !HeapTupleHasExternal(tuple))
			continue;
		LockBuffer(bslot->buffer, BUFFER_LOCK_SHARE);
		state = HeapTupleSatisfiesVacuum(tuple, rw->oldest_xmin, bslot->buffer);
		LockBuffer(bslot->buffer, BUFFER_LOCK_UNLOCK);
		if (state != HEAPTUPLE_RECENTLY_DEAD && state != HEAPTUPLE_DELETE_IN_PROGRESS)
			continue;
		take_apart(rw, tuple, RelationGetDescr(rw->newrel));
		for (int i = 0; i < RelationGetDescr(rw->newrel)->natts; i++)
			if (OidIsValid(rw->keep_ids[i]))
				hash_search(rw->dying_values, &rw->keep_ids[i], HASH_ENTER, NULL);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
}

static void
delete_dying_values(Rewrite *rw)
{
	MemoryContext old = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	HASH_SEQ_STATUS seq;
	Oid		   *valueid;
	List	   *ids = NIL;

	if (rw->core_dying)
		find_core_dying_values(rw);
	hash_seq_init(&seq, rw->dying_values);
	while ((valueid = hash_seq_search(&seq)) != NULL)
		ids = lappend_oid(ids, *valueid);
	if (ids == NIL)
		return;
	/* this command wrote them, and does not see them yet */
	CommandCounterIncrement();
	SLICED_STOP("rewrite.before-dying-values");
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(old);
	sliced_row_delete_values(rw->newrel, ids, false);
	SLICED_STOP("rewrite.dying-values-deleted");
	ReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(old);
	CurrentResourceOwner = owner;
	list_free(ids);
}

static HTAB *
make_set(const char *name, Size keysize)
{
	HASHCTL		ctl = {.keysize = keysize, .entrysize = keysize, .hcxt = CurrentMemoryContext};

	return hash_create(name, 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

void
sliced_relation_copy_for_cluster(Relation oldrel, Relation newrel, Relation index,
								 bool use_sort, TransactionId oldest_xmin, Snapshot snapshot,
								 TransactionId *xid_cutoff, MultiXactId *multi_cutoff,
								 double *num_tuples, double *tups_vacuumed,
								 double *tups_recently_dead)
{
	int			natts = RelationGetDescr(newrel)->natts;
	Rewrite		rw = {.oldrel = oldrel, .newrel = newrel, .oldest_xmin = oldest_xmin};
	SlicedBridge bridge;

	if (snapshot != NULL)
	{
		sliced_copy_visible(oldrel, newrel, index, use_sort, snapshot, num_tuples);
		return;
	}
	rw.values = palloc(natts * sizeof(Datum));
	rw.isnull = palloc(natts * sizeof(bool));
	rw.keep_ids = palloc(natts * sizeof(Oid));
	rw.row_mcxt = AllocSetContextCreate(CurrentMemoryContext, "sliced rewrite",
										ALLOCSET_DEFAULT_SIZES);
	rw.dying_rows = make_set("sliced dying rows", sizeof(ItemPointerData));
	rw.dying_values = make_set("sliced dying values", sizeof(Oid));
	/*
	 * core cannot exchange the contents of a foreign toast relation for those of ours
	 */
	if (OidIsValid(newrel->rd_toastoid) && sliced_toast_is_foreign(oldrel))
		sliced_toast_take_over(oldrel);
	SLICED_STOP("rewrite.before-begin");
	rw.heap = begin_heap_rewrite(oldrel, newrel, oldest_xmin, *xid_cutoff, *multi_cutoff);
	if (OidIsValid(newrel->rd_rel->reltoastrelid))
	{
		/* like core, hide rewritten rows from decoders */
		rw.writer = sliced_writer_open(newrel->rd_rel->reltoastrelid, 0,
									   RelationIsLogicallyLogged(oldrel));
		if (OidIsValid(newrel->rd_toastoid))
			sliced_writer_avoid_ids_of(rw.writer, newrel->rd_toastoid);
	}

	SLICED_STOP("rewrite.begun");
	if (rw.writer != NULL)
		sliced_train_for_rewrite(oldrel, rw.writer);
	SLICED_STOP("rewrite.trained");
	sliced_bridge_enter(&bridge, oldrel);
	PG_TRY();
	{
		copy_table(&rw, index, use_sort);
		SLICED_STOP("rewrite.rows-copied");
	}
	PG_FINALLY();
	{
		sliced_bridge_leave(&bridge);
	}
	PG_END_TRY();

	if (rw.writer != NULL)
		sliced_writer_close(rw.writer);
	SLICED_STOP("rewrite.values-written");
	put_row(&rw, NULL, NULL);
	SLICED_STOP("rewrite.rows-written");
	if (rw.writer != NULL)
		delete_dying_values(&rw);
	hash_destroy(rw.dying_rows);
	hash_destroy(rw.dying_values);
	MemoryContextDelete(rw.row_mcxt);
	pfree(rw.values);
	pfree(rw.isnull);
	pfree(rw.keep_ids);

	*num_tuples += rw.num_tuples;
	*tups_vacuumed += rw.tups_vacuumed;
	*tups_recently_dead += rw.tups_recently_dead;
}
