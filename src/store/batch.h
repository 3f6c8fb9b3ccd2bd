/*
 * batch.h
 *	  Inserts rows into the toast relation, several at once.
 */
#ifndef SLICED_STORE_BATCH_H
#define SLICED_STORE_BATCH_H

#include "postgres.h"

#include "base/limits.h"
#include "executor/tuptable.h"
#include "format/row.h"
#include "portability/instr_time.h"
#include "storage/block.h"
#include "storage/itemptr.h"
#include "store/packing.h"
#include "utils/rel.h"

/* What counted rows would take. */
typedef struct SlicedTally
{
	SlicedPacking pages;
	uint64		read_bytes;		/* of their slices, decompressed */
	instr_time	read_time;		/* how long that took */
} SlicedTally;

typedef struct SlicedBatch
{
	SlicedTally *tally;			/* if not NULL, rows are only counted */
	Relation	toastrel;
	Relation   *indexes;
	int			nindexes;
	int			valid;			/* the index to look up ids in */
	int			options;
	BlockNumber near;			/* a page for small rows, or InvalidBlockNumber */

	int			nrows;
	uint32		nbytes;			/* of the rows */
	HeapTuple	tuples[SLICED_BATCH_ROWS];
	Oid			objids[SLICED_BATCH_ROWS];
	int32		seqs[SLICED_BATCH_ROWS];
	TupleTableSlot *slots[SLICED_BATCH_ROWS];	/* made when first needed */
	MemoryContext mcxt;			/* of the slots */
	MemoryContext rows;			/* of the tuples */
} SlicedBatch;

/*
 * Open the toast relation for writing; 'options' and 'hide' as in
 * sliced_writer_open().  '*batch' is all zeros.
 */
extern void sliced_batch_open(SlicedBatch *batch, Oid toastrelid, uint32 options, bool hide);

/* Insert the remaining rows and close.  The lock is kept to the end of transaction. */
extern void sliced_batch_close(SlicedBatch *batch);

/* Add a row; inserts the others first, if the batch is full. */
extern void sliced_batch_add(SlicedBatch *batch, Oid objid, int32 seq, const SlicedRow *row);

/* Insert the rows that have been added. */
extern void sliced_batch_flush(SlicedBatch *batch);

/* The same, on a page with room for more. */
extern void sliced_batch_flush_with_room(SlicedBatch *batch);

/* Replace the row at 'tid' by its next version. */
extern void sliced_batch_replace(SlicedBatch *batch, ItemPointer tid, Oid objid, int32 seq,
								 const SlicedRow *row);

/* Bytes of chunk_data in the rows that this session has added. */
extern uint64 sliced_bytes_inserted;

#endif
