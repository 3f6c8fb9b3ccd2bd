/*
 * convert_rows.c
 *	  Converts rows: updates each to itself, and stores anew all values that a new
 *	  row would store otherwise.
 *
 * We never wait, neither for rows nor for others' index entries, so we are part of no
 * deadlock.  We look at a row while no other transaction has it.  A transaction that
 * deletes it afterwards has an xid that our snapshot takes for running.  So until the
 * batch ends, VACUUM leaves the row's values alone, and gives its tid to no other
 * row.
 *
 * No column changes.  So what was unique stays unique, and we do not ask the index:
 * the old version's entry, or ours, blocks a session that inserts the same key.
 * Triggers and policies have nothing to check.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "admin/convert.h"
#include "am/modify.h"
#include "base/stop.h"
#include "catalog/index.h"
#include "catalog/pg_attribute.h"
#include "decode/decoding.h"
#include "executor/executor.h"
#include "format/pointer.h"
#include "miscadmin.h"
#include "row/toast.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "store/as_new.h"
#include "store/batch.h"
#include "store/remover.h"
#include "toaster/column.h"
#include "utils/memutils.h"

struct SlicedConvertBatch
{
	Relation	rel;
	const SlicedConvertFilter *filter;
	SlicedConvertCounts *counts;
	Relation	toastrel;
	ToastScan	ts;
	MemoryContext mcxt;			/* of the batch, scan included */
	CommandId	cid;
	int64		raw;			/* converted by this batch */
	MemoryContext rows;			/* of a block's rows */

	/* for index entries, once one is needed */
	ResultRelInfo *indexes;
	EState	   *estate;
	TupleTableSlot *slot;
};

SlicedConvertBatch *
sliced_convert_begin(Relation rel, const SlicedConvertFilter *filter, SlicedConvertCounts *counts)
{
	SlicedConvertBatch *b = palloc0(sizeof(SlicedConvertBatch));

	b->rel = rel;
	b->mcxt = CurrentMemoryContext;
	b->filter = filter;
	b->counts = counts;
	b->toastrel = table_open(rel->rd_rel->reltoastrelid, RowExclusiveLock);
	sliced_scan_open(&b->ts, b->toastrel, NULL, AccessShareLock);
	b->cid = GetCurrentCommandId(true);
	b->rows = AllocSetContextCreate(CurrentMemoryContext, "sliced convert", ALLOCSET_DEFAULT_SIZES);
	return b;
}

int64
sliced_convert_batch_raw(const SlicedConvertBatch *b)
{
	return b->raw;
}

void
sliced_convert_end(SlicedConvertBatch *b)
{
	if (b->indexes != NULL)
	{
		ExecDropSingleTupleTableSlot(b->slot);
		ExecCloseIndices(b->indexes);
		FreeExecutorState(b->estate);
	}
	sliced_scan_close(&b->ts, NoLock);
	table_close(b->toastrel, NoLock);
	MemoryContextDelete(b->rows);
	SLICED_STOP("convert.batch-done");
}

/* ---- index entries ---- */

static void
open_indexes(SlicedConvertBatch *b)
{
	MemoryContext old = MemoryContextSwitchTo(b->mcxt);

	b->estate = CreateExecutorState();
	b->slot = MakeSingleTupleTableSlot(RelationGetDescr(b->rel), &TTSOpsHeapTuple);
	b->indexes = makeNode(ResultRelInfo);
	InitResultRelInfo(b->indexes, b->rel, 1, NULL, 0);
	ExecOpenIndices(b->indexes, false);
	MemoryContextSwitchTo(old);
}

static bool
satisfies_predicate(SlicedConvertBatch *b, IndexInfo *info)
{
	if (info->ii_Predicate == NIL)
		return true;
	if (info->ii_PredicateState == NULL)
		info->ii_PredicateState = ExecPrepareQual(info->ii_Predicate, b->estate);
	return ExecQual(info->ii_PredicateState, GetPerTupleExprContext(b->estate));
}

/*
 * Insert entries for the new version of a row, 'tuple', which has the old one's
 * values.
 */
static void
insert_index_entries(SlicedConvertBatch *b, HeapTuple tuple, TU_UpdateIndexes which)
{
	if (b->indexes == NULL)
		open_indexes(b);
	ExecStoreHeapTuple(tuple, b->slot, false);
	b->slot->tts_tableOid = RelationGetRelid(b->rel);
	GetPerTupleExprContext(b->estate)->ecxt_scantuple = b->slot;

	for (int i = 0; i < b->indexes->ri_NumIndices; i++)
	{
		Relation	index = b->indexes->ri_IndexRelationDescs[i];
		IndexInfo  *info = b->indexes->ri_IndexRelationInfo[i];
		Datum		values[INDEX_MAX_KEYS];
		bool		isnull[INDEX_MAX_KEYS];

		if (!info->ii_ReadyForInserts ||
			(which == TU_Summarizing && !sliced_index_summarizes(info)) ||
			!satisfies_predicate(b, info))
			continue;
		FormIndexDatum(info, b->slot, b->estate, values, isnull);
		/*
		 * tells the index that the old version has the same entry, so it looks for
		 * versions to remove
		 */
		index_insert(index, values, isnull, &tuple->t_self, b->rel, UNIQUE_CHECK_NO, true, info);
	}
	ExecClearTuple(b->slot);
	ResetPerTupleExprContext(b->estate);
}

/* ---- rows ---- */

/*
 * Set 'anew' for the columns of the row, as it is on disk, to write anew.  Returns
 * the length of their values, -1 if there are none.  '*core_bytes' is the stored size
 * of those in core's format.
 */
static int64
find_old_values(SlicedConvertBatch *b, const Datum *values, const bool *isnull, bool *anew,
				uint64 *core_bytes)
{
	TupleDesc	desc = RelationGetDescr(b->rel);
	int64		raw = -1;

	*core_bytes = 0;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		struct varlena *value = (struct varlena *) DatumGetPointer(values[i]);
		struct varatt_external ptr;
		SlicedColumn column;
		MemoryContext old;

		anew[i] = false;
		/* a value that now has to be in its row might not fit there */
		if (isnull[i] || att->attlen != -1 || att->attisdropped ||
			att->attstorage == TYPSTORAGE_PLAIN || !VARATT_IS_EXTERNAL_ONDISK(value))
			continue;
		VARATT_EXTERNAL_GET_POINTER(ptr, value);
		column = sliced_column(b->rel, i + 1);
		old = MemoryContextSwitchTo(b->mcxt);
		anew[i] = !sliced_value_is_as_new(&b->ts, &ptr, column.compression,
										  &column.toaster->policy);
		MemoryContextSwitchTo(old);
		if (anew[i])
			raw = Max(raw, 0) + ptr.va_rawsize - VARHDRSZ;
		if (anew[i] && !sliced_pointer_is_ours(&ptr))
			*core_bytes += VARATT_EXTERNAL_GET_EXTSIZE(ptr);
	}
	return raw;
}

/* True if logical decoding needs the old row's large values. */
static bool
identity_is_decoded(Relation rel, HeapTuple row)
{
	return sliced_identity_needs_values(rel, row) &&
		!sliced_announces_values(rel) && (sliced_is_decoded(rel) || sliced_hides_slices(rel));
}

/*
 * Convert a row, a copy of what is on disk.  Returns true if another transaction has
 * it.
 */
static bool
convert_row(SlicedConvertBatch *b, HeapTuple row)
{
	TupleDesc	desc = RelationGetDescr(b->rel);
	Datum	   *values = palloc(desc->natts * sizeof(Datum));
	bool	   *isnull = palloc(desc->natts * sizeof(bool));
	bool	   *anew = palloc(desc->natts * sizeof(bool));
	uint64		deleted = sliced_bytes_deleted;
	uint64		inserted = sliced_bytes_inserted;
	TU_UpdateIndexes update_indexes;
	HeapTuple	newrow;
	uint32		row_length = 0;
	uint64		core_bytes;
	int64		raw;

	heap_deform_tuple(row, desc, values, isnull);
	raw = find_old_values(b, values, isnull, anew, &core_bytes);
	if (raw < 0)
		return false;
	if (identity_is_decoded(b->rel, row))
	{
		b->counts->left++;
		return false;
	}
	for (int i = 0; i < desc->natts; i++)
		isnull[i] |= TupleDescAttr(desc, i)->attisdropped;
	newrow = heap_form_tuple(desc, values, isnull);

	switch (sliced_tuple_renew(b->rel, row, newrow, anew, b->cid, &update_indexes,
							   &row_length))
	{
		case SLICED_RENEWAL_DONE:
			break;
		case SLICED_RENEWAL_FOR_CORE:
			b->counts->left++;
			return false;
		case SLICED_RENEWAL_WAITS:
			return true;
		case SLICED_RENEWAL_CHANGED:
			return false;
	}
	SLICED_STOP("convert.row-updated");
	if (update_indexes != TU_None)
		insert_index_entries(b, newrow, update_indexes);
	SLICED_STOP("convert.row-converted");
	b->raw += raw;
	b->counts->rows++;
	b->counts->raw += raw;
	/* if a long row takes its values inline, heapam deletes what core had outside */
	b->counts->before += row->t_len + Max(sliced_bytes_deleted - deleted, core_bytes);
	b->counts->after += row_length + sliced_bytes_inserted - inserted;
	return false;
}

static int
compare_xids(const void *a, const void *b)
{
	TransactionId x = *(const TransactionId *) a;
	TransactionId y = *(const TransactionId *) b;

	return x == y ? 0 : TransactionIdPrecedes(x, y) ? -1 : 1;
}

/* True if an earlier look has seen the row in this place and state. */
static bool
is_known(const SlicedConvertFilter *filter, HeapTupleHeader row)
{
	TransactionId xmin = HeapTupleHeaderGetXmin(row);

	if (TransactionIdIsCurrentTransactionId(xmin))
		return true;
	if (!TransactionIdIsValid(filter->since))
		return false;
	return !TransactionIdIsNormal(xmin) || TransactionIdPrecedes(xmin, filter->since) ||
		bsearch(&xmin, filter->own, filter->nown, sizeof(TransactionId), compare_xids) != NULL;
}

/* True if the row, as it is on disk, has values in core's format. */
static bool
has_values_of_core(Relation rel, HeapTuple row)
{
	List	   *pointers = sliced_row_pointers(rel, row);
	bool		result = false;
	ListCell   *lc;

	foreach(lc, pointers)
		result |= !sliced_pointer_is_ours(lfirst(lc));
	list_free_deep(pointers);
	return result;
}

/*
 * Copies of the block's rows that have values outside them, from 'first' on.  '*busy'
 * gets the offsets of rows that others are just writing, if they need a second look.
 */
static List *
fetch_rows(SlicedConvertBatch *b, BlockNumber block, OffsetNumber first, List **busy)
{
	Buffer		buffer = ReadBuffer(b->rel, block);
	Page		page = BufferGetPage(buffer);
	List	   *rows = NIL;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	for (OffsetNumber off = first; off <= PageGetMaxOffsetNumber(page); off++)
	{
		ItemId		lp = PageGetItemId(page, off);
		HeapTupleData row;

		if (!ItemIdIsNormal(lp))
			continue;
		row.t_data = (HeapTupleHeader) PageGetItem(page, lp);
		row.t_len = ItemIdGetLength(lp);
		row.t_tableOid = RelationGetRelid(b->rel);
		ItemPointerSet(&row.t_self, block, off);
		if (!sliced_tuple_has_values(row.t_data) || is_known(b->filter, row.t_data))
			continue;
		if (HeapTupleSatisfiesVisibility(&row, SnapshotSelf, buffer))
			rows = lappend(rows, heap_copytuple(&row));
		else if (TransactionIdIsInProgress(HeapTupleHeaderGetRawXmin(row.t_data)) &&
				 has_values_of_core(b->rel, &row))
			*busy = lappend_int(*busy, off);
	}
	UnlockReleaseBuffer(buffer);
	return rows;
}

int
sliced_convert_block(SlicedConvertBatch *b, BlockNumber block, OffsetNumber *next, int64 max_raw)
{
	MemoryContext old = MemoryContextSwitchTo(b->rows);
	int			locked = 0;
	List	   *busy = NIL;
	List	   *rows = fetch_rows(b, block, *next, &busy);
	ListCell   *lc;

	*next = InvalidOffsetNumber;
	foreach(lc, rows)
	{
		HeapTuple	row = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (b->raw > max_raw)
		{
			*next = ItemPointerGetOffsetNumber(&row->t_self);
			break;
		}
		locked += convert_row(b, row);
	}
	foreach(lc, busy)
	{
		/* those behind '*next' will be found again */
		if (*next == InvalidOffsetNumber || lfirst_int(lc) < *next)
			locked++;
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(b->rows);
	return locked;
}
