/*
 * repack.c
 *	  The copy of REPACK CONCURRENTLY.
 *
 * Other sessions go on changing the old table meanwhile.  So we copy rows as a query
 * with a snapshot sees them, and insert them as new ones.  There are no versions to
 * keep together, and values get new ids in the toast relation of the new table, which
 * the table will keep.  Core then decodes what others have changed, and repeats it
 * through our callbacks.  Decoders see nothing of all this in turn
 * (HEAP_INSERT_NO_LOGICAL).
 */
#include "postgres.h"

#include "access/xact.h"
#include "am/modify.h"
#include "am/repack.h"
#include "commands/progress.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

typedef struct Copy
{
	Relation	oldrel;
	Relation	newrel;
	TupleTableSlot *slot;		/* for a row of the new table */
	BulkInsertState bistate;
	MemoryContext row_mcxt;
	int64		nread;
	int64		nwritten;
} Copy;

/* The tuple may be marked or not: each pointer says itself whether it is ours. */
static void
copy_visible_row(Copy *c, HeapTuple tuple)
{
	MemoryContext old = MemoryContextSwitchTo(c->row_mcxt);
	TupleDesc	desc = RelationGetDescr(c->newrel);

	ExecClearTuple(c->slot);
	heap_deform_tuple(tuple, RelationGetDescr(c->oldrel), c->slot->tts_values,
					  c->slot->tts_isnull);
	for (int i = 0; i < desc->natts; i++)
		if (TupleDescAttr(desc, i)->attisdropped)
			c->slot->tts_isnull[i] = true;
	ExecStoreVirtualTuple(c->slot);
	sliced_tuple_insert(c->newrel, c->slot, GetCurrentCommandId(true), HEAP_INSERT_NO_LOGICAL,
						c->bistate);
	ExecClearTuple(c->slot);
	MemoryContextSwitchTo(old);
	MemoryContextReset(c->row_mcxt);
	pgstat_progress_update_param(PROGRESS_REPACK_HEAP_TUPLES_INSERTED, ++c->nwritten);
}

static void
take_visible_row(Copy *c, TupleTableSlot *slot, Tuplesortstate *sort)
{
	bool		should_free;
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, &should_free);

	CHECK_FOR_INTERRUPTS();
	pgstat_progress_update_param(PROGRESS_REPACK_HEAP_TUPLES_SCANNED, ++c->nread);
	if (sort != NULL)
		tuplesort_putheaptuple(sort, tuple);
	else
		copy_visible_row(c, tuple);
	if (should_free)
		heap_freetuple(tuple);
}

static void
scan_visible_rows(Copy *c, Relation index, Snapshot snapshot, Tuplesortstate *sort)
{
	TupleTableSlot *slot = table_slot_create(c->oldrel, NULL);

	if (index != NULL && sort == NULL)
	{
		IndexScanDesc scan = index_beginscan(c->oldrel, index, snapshot, NULL, 0, 0, 0);

		pgstat_progress_update_param(PROGRESS_REPACK_PHASE,
									 PROGRESS_REPACK_PHASE_INDEX_SCAN_HEAP);
		pgstat_progress_update_param(PROGRESS_REPACK_INDEX_RELID, RelationGetRelid(index));
		index_rescan(scan, NULL, 0, NULL, 0);
		while (index_getnext_slot(scan, ForwardScanDirection, slot))
			take_visible_row(c, slot, sort);
		index_endscan(scan);
	}
	else
	{
		TableScanDesc scan = table_beginscan(c->oldrel, snapshot, 0, NULL, 0);
		BlockNumber nblocks = ((HeapScanDesc) scan)->rs_nblocks;

		pgstat_progress_update_param(PROGRESS_REPACK_PHASE, PROGRESS_REPACK_PHASE_SEQ_SCAN_HEAP);
		pgstat_progress_update_param(PROGRESS_REPACK_TOTAL_HEAP_BLKS, nblocks);
		while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
			take_visible_row(c, slot, sort);
		pgstat_progress_update_param(PROGRESS_REPACK_HEAP_BLKS_SCANNED, nblocks);
		table_endscan(scan);
	}
	ExecDropSingleTupleTableSlot(slot);
}

void
sliced_copy_visible(Relation oldrel, Relation newrel, Relation index, bool use_sort,
					Snapshot snapshot, double *num_tuples)
{
	Copy		c = {.oldrel = oldrel, .newrel = newrel};
	Tuplesortstate *sort = NULL;

	c.slot = MakeSingleTupleTableSlot(RelationGetDescr(newrel), &TTSOpsVirtual);
	c.bistate = GetBulkInsertState();
	c.row_mcxt = AllocSetContextCreate(CurrentMemoryContext, "sliced repack",
									   ALLOCSET_DEFAULT_SIZES);
	if (use_sort)
		sort = tuplesort_begin_cluster(RelationGetDescr(oldrel), index, maintenance_work_mem,
									   NULL, TUPLESORT_NONE);
	scan_visible_rows(&c, index, snapshot, sort);
	if (sort != NULL)
	{
		HeapTuple	tuple;

		pgstat_progress_update_param(PROGRESS_REPACK_PHASE, PROGRESS_REPACK_PHASE_SORT_TUPLES);
		tuplesort_performsort(sort);
		pgstat_progress_update_param(PROGRESS_REPACK_PHASE,
									 PROGRESS_REPACK_PHASE_WRITE_NEW_HEAP);
		while ((tuple = tuplesort_getheaptuple(sort, true)) != NULL)
		{
			CHECK_FOR_INTERRUPTS();
			copy_visible_row(&c, tuple);
		}
		tuplesort_end(sort);
	}
	*num_tuples += c.nwritten;
	FreeBulkInsertState(c.bistate);
	ExecDropSingleTupleTableSlot(c.slot);
	MemoryContextDelete(c.row_mcxt);
}
