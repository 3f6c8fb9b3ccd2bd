/*
 * batch.c
 *	  Inserts rows into the toast relation, several at once.
 *
 * Rows gather in a batch that is inserted when it is full, across the values of a row
 * and, for COPY, across rows.  Small rows are inserted near the rows that they
 * replace, others where the free space map says.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "access/xact.h"
#include "base/compat.h"
#include "base/options.h"
#include "base/stop.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "store/batch.h"
#include "utils/memutils.h"

uint64		sliced_bytes_inserted = 0;

/*
 * Usually enough memory for a batch.  This block stays when the batch has been
 * inserted.
 */
#define BATCH_BYTES	(48 * 1024)

/*
 * Tails and heads will be replaced, so they begin on a page with room for their next
 * versions.  Pruning there is rare, and the versions need no other page.
 */
#define ROOMY_FILLFACTOR	70

/*
 * Memory for a batch.  A statement may open a writer for each row.  The memory that
 * one writer gives back when it closes is kept for the next, instead of going back to
 * the system.  If a writer fails to close, its memory goes with the context that it
 * is in.
 */
static MemoryContext spare_rows = NULL;

static MemoryContext
batch_memory_take(MemoryContext parent)
{
	MemoryContext rows = spare_rows;

	spare_rows = NULL;
	if (rows == NULL)
		return AllocSetContextCreate(parent, "sliced rows", ALLOCSET_DEFAULT_MINSIZE,
									 BATCH_BYTES, ALLOCSET_DEFAULT_MAXSIZE);
	MemoryContextSetParent(rows, parent);
	return rows;
}

static void
batch_memory_give_back(MemoryContext rows)
{
	if (spare_rows != NULL)
	{
		MemoryContextDelete(rows);
		return;
	}
	MemoryContextReset(rows);
	MemoryContextSetParent(rows, TopMemoryContext);
	spare_rows = rows;
}

void
sliced_batch_open(SlicedBatch *b, Oid toastrelid, uint32 options, bool hide)
{
	b->toastrel = table_open(toastrelid, RowExclusiveLock);
	b->valid = toast_open_indexes(b->toastrel, RowExclusiveLock, &b->indexes, &b->nindexes);

	/*
	 * Our rows are of many sizes: let the free space map fill the gaps even
	 * where the table itself is just being appended to.
	 */
	b->options = options & HEAP_INSERT_FROZEN;
	if (hide)
		b->options |= HEAP_INSERT_NO_LOGICAL;

	b->near = InvalidBlockNumber;
	b->mcxt = CurrentMemoryContext;
	b->rows = batch_memory_take(b->mcxt);
}

void
sliced_batch_close(SlicedBatch *b)
{
	sliced_batch_flush(b);
	SLICED_STOP("batch.flushed");
	for (int i = 0; i < SLICED_BATCH_ROWS && b->slots[i]; i++)
		ExecDropSingleTupleTableSlot(b->slots[i]);
	batch_memory_give_back(b->rows);
	toast_close_indexes(b->indexes, b->nindexes, NoLock);
	table_close(b->toastrel, NoLock);
}

static void
batch_insert_index_entries(SlicedBatch *b, Oid objid, int32 seq, ItemPointer tid)
{
	Datum		values[2] = {ObjectIdGetDatum(objid), Int32GetDatum(seq)};
	bool		isnull[2] = {false, false};

	for (int i = 0; i < b->nindexes; i++)
	{
		Relation	index = b->indexes[i];

		/*
		 * An index that REINDEX CONCURRENTLY has just begun is not ready yet.  One
		 * that it has left behind is not valid, and once VACUUM FULL has exchanged
		 * the file its entries lead to other rows.  So it must not be used to look
		 * for duplicates.
		 */
		if (index->rd_index->indisready)
			index_insert(index, values, isnull, tid, b->toastrel,
						 index->rd_index->indisunique && index->rd_index->indisvalid ?
						 UNIQUE_CHECK_YES : UNIQUE_CHECK_NO, false, NULL);
		SLICED_STOP("batch.entry-inserted");
	}
}

static void
batch_forget(SlicedBatch *b)
{
	b->nrows = 0;
	b->nbytes = 0;
	MemoryContextReset(b->rows);
}

/*
 * Returns how many rows, from 'first' on, fit on an empty page.  Given more, since 16
 * heap_multi_insert() extends the relation by as many pages as they need.  Then the
 * end of a value gets a page of its own although other pages have room for it.
 */
static int
batch_rows_of_page(SlicedBatch *b, int first)
{
	Size		room = BLCKSZ - SizeOfPageHeaderData -
		RelationGetTargetPageFreeSpace(b->toastrel, HEAP_DEFAULT_FILLFACTOR);
	Size		size = 0;
	int			i;

	for (i = first; i < b->nrows; i++)
	{
		size += MAXALIGN(b->tuples[i]->t_len) + sizeof(ItemIdData);
		if (size > room && i > first)
			break;
	}
	return i - first;
}

/*
 * Insert the batch.  heap_multi_insert() cannot hide rows from logical decoding
 * and is no faster for a single one.
 */
static void
batch_insert(SlicedBatch *b)
{
	/* not the command id of the row: its expressions may have moved it on */
	CommandId	cid = GetCurrentCommandId(true);

	if (b->nrows == 1 || (b->options & HEAP_INSERT_NO_LOGICAL))
	{
		for (int i = 0; i < b->nrows; i++)
		{
			SLICED_STOP("batch.before-row");
			heap_insert(b->toastrel, b->tuples[i], cid, b->options, NULL);
			SLICED_STOP("batch.row-inserted");
			batch_insert_index_entries(b, b->objids[i], b->seqs[i], &b->tuples[i]->t_self);
		}
	}
	else if (b->nrows > 0)
	{
		int			n;

		for (int i = 0; i < b->nrows; i++)
		{
			if (b->slots[i] == NULL)
			{
				MemoryContext old = MemoryContextSwitchTo(b->mcxt);

				b->slots[i] = MakeSingleTupleTableSlot(RelationGetDescr(b->toastrel),
													   &TTSOpsHeapTuple);
				MemoryContextSwitchTo(old);
			}
			/* a slot that did not own its tuple would make a copy */
			ExecStoreHeapTuple(b->tuples[i], b->slots[i], true);
		}
		SLICED_STOP("batch.before-rows");
		for (int i = 0; i < b->nrows; i += n)
		{
			n = batch_rows_of_page(b, i);
			heap_multi_insert(b->toastrel, b->slots + i, n, cid, b->options, NULL);
			SLICED_STOP("batch.rows-inserted");
		}
		for (int i = 0; i < b->nrows; i++)
		{
			batch_insert_index_entries(b, b->objids[i], b->seqs[i], &b->slots[i]->tts_tid);
			ExecClearTuple(b->slots[i]);
		}
	}
}

/* Insert the batch on a page with room for more. */
static void
batch_insert_with_room(SlicedBatch *b)
{
	SLICED_OPTION_BEGIN(b->toastrel, fillfactor, ROOMY_FILLFACTOR);
	batch_insert(b);
	SLICED_OPTION_END();
}

/* True if the page, which exists, has room for the batch. */
static bool
batch_fits_page(SlicedBatch *b, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(b->toastrel, block);
	Size		free;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	free = PageGetHeapFreeSpace(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	return b->nbytes + b->nrows * (MAXIMUM_ALIGNOF + sizeof(ItemIdData)) <= free;
}

/*
 * Small rows are inserted near others, if the page has room for them: heap tries its
 * target block before it asks the free space map.  A writer of many rows goes on
 * where it was.
 */
void
sliced_batch_flush(SlicedBatch *b)
{
	if (b->tally != NULL)
		return;
	if (!BlockNumberIsValid(b->near) || b->nbytes > SLICED_SMALL_ROWS)
		batch_insert(b);
	else if (batch_fits_page(b, b->near))
	{
		BlockNumber target = RelationGetTargetBlock(b->toastrel);

		RelationSetTargetBlock(b->toastrel, b->near);
		batch_insert(b);
		RelationSetTargetBlock(b->toastrel, target);
	}
	else
		batch_insert_with_room(b);
	batch_forget(b);
}

/* Count a row: its header, the id, the number, and the bytes with their own header. */
static void
tally_add(SlicedTally *tally, uint32 size)
{
	sliced_packing_add(&tally->pages, MAXALIGN(SizeofHeapTupleHeader) + sizeof(Oid) + sizeof(int32) +
					   (size + VARHDRSZ_SHORT <= VARATT_SHORT_MAX ? VARHDRSZ_SHORT : VARHDRSZ) + size);
}

void
sliced_batch_add(SlicedBatch *b, Oid objid, int32 seq, const SlicedRow *row)
{
	uint32		size = sliced_row_size(row);
	MemoryContext old;
	bytea	   *data;
	Datum		values[3];
	bool		isnull[3] = {false, false, false};

	CHECK_FOR_INTERRUPTS();
	if (b->tally != NULL)
	{
		tally_add(b->tally, size);
		return;
	}
	if (b->nrows == SLICED_BATCH_ROWS)
		sliced_batch_flush(b);

	old = MemoryContextSwitchTo(b->rows);
	data = palloc(VARHDRSZ + size);
	SET_VARSIZE(data, VARHDRSZ + size);
	sliced_row_encode(VARDATA(data), objid, seq, row);
	values[0] = ObjectIdGetDatum(objid);
	values[1] = Int32GetDatum(seq);
	values[2] = PointerGetDatum(data);

	b->tuples[b->nrows] = heap_form_tuple(RelationGetDescr(b->toastrel), values, isnull);
	b->tuples[b->nrows]->t_tableOid = RelationGetRelid(b->toastrel);
	b->objids[b->nrows] = objid;
	b->seqs[b->nrows] = seq;
	b->nbytes += b->tuples[b->nrows]->t_len;
	b->nrows++;
	sliced_bytes_inserted += size;
	pfree(data);
	MemoryContextSwitchTo(old);
}

void
sliced_batch_flush_with_room(SlicedBatch *b)
{
	batch_insert_with_room(b);
	batch_forget(b);
}

void
sliced_batch_replace(SlicedBatch *b, ItemPointer tid, Oid objid, int32 seq, const SlicedRow *row)
{
	HeapTuple	tuple;
	TM_FailureData tmfd;
	LockTupleMode lockmode;
	TU_UpdateIndexes update_indexes;
	TM_Result	result;

	sliced_batch_flush(b);
	sliced_batch_add(b, objid, seq, row);
	tuple = b->tuples[0];
	SLICED_STOP("batch.before-tail");
	result = heap_update(b->toastrel, tid, tuple, GetCurrentCommandId(true), 0, InvalidSnapshot,
						 true, &tmfd, &lockmode, &update_indexes);
	if (result != TM_Ok)
		/* only the owner of the row touches the value, unless there is damage */
		ereport(ERROR,
				errcode(ERRCODE_DATA_CORRUPTED),
				errmsg("a row of value %u in \"%s\" has been changed by another session, or twice",
					   objid, RelationGetRelationName(b->toastrel)));
	SLICED_STOP("batch.tail-updated");
	if (update_indexes == TU_All)
		batch_insert_index_entries(b, objid, seq, &tuple->t_self);
	batch_forget(b);
}
