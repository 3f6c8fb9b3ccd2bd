/*
 * tape.h
 *	  Rows in a temporary file.  A tape is written once from beginning to end, in
 *	  compressed blocks, and read once.
 *
 * Each worker of a parallel plan may write a share of a tape, which one process reads
 * as a whole.
 *
 * Files are core's (storage/fd.c), so temp_tablespaces, temp_file_limit,
 * log_temp_files and cleaning up after errors and crashes work as ever.
 */
#ifndef SLICED_SPILL_TAPE_H
#define SLICED_SPILL_TAPE_H

#include "postgres.h"

#include "access/htup_details.h"
#include "executor/tuptable.h"
#include "statistics.h"
#include "tape_file.h"

/*
 * Blocks on tape are as long as memory allows for all blocks that are in memory at a
 * time, within these limits.
 */
#define SLICED_BLOCK_MIN	(8 * 1024)
#define SLICED_BLOCK_MAX	(64 * 1024)

/*
 * Bytes that a row of this length takes in a hash table, as core counts it.  There
 * are up to twice as many buckets as rows.
 */
#define SLICED_ROW_MEMORY(len)	(MAXALIGN(len) + 2 * sizeof(void *) + 2 * sizeof(void *))

/* Begin tapes as the setting says, with memory from this context. */
extern void sliced_tapes_init(SlicedTapes *tapes, MemoryContext mcxt);

/* The tapes' context was reset: forget its memory, and close spare files. */
extern void sliced_tapes_reset(SlicedTapes *tapes);

/* The node is done: count its tapes in the statistics. */
extern void sliced_tapes_count(const SlicedTapes *tapes, SlicedSpiller kind);

/* Append a row, with its hash if these tapes have hashes. */
extern void sliced_tape_put(SlicedTape *tape, MinimalTuple row, uint32 hash);
extern void sliced_tape_put_slot(SlicedTape *tape, TupleTableSlot *slot, uint32 hash);

/* All rows have been put: write the last block, and free its memory. */
extern void sliced_tape_finish(SlicedTape *tape);

/* Get the next row, valid until the next call; NULL after the last one. */
extern MinimalTuple sliced_tape_get(SlicedTape *tape);

/* The hash that the row was put with. */
static inline uint32
sliced_tape_hash(const MinimalTupleData *row)
{
	uint32		hash;

	memcpy(&hash, row->mt_padding, sizeof(hash));
	return hash;
}

/*
 * Close the file, or keep it for another tape.  The rows are gone unless the tape is
 * shared.
 */
extern void sliced_tape_free(SlicedTape *tape);

/* ---- tapes of several processes ---- */

/* Begin a tape to write.  No other tape of the set has this number. */
extern void sliced_tape_share(SlicedTape *tape, SlicedTapes *tapes, FileSet *set, uint32 side, uint32 number);

/* Finish the tape and hand it over to the other processes. */
extern void sliced_tape_hand_over(SlicedTape *tape, SlicedTapeShare *share);

/* All tapes of a side have been handed over. */
extern void sliced_tapes_end_sharing(SlicedTapes *tapes);

/* Begin to read all that was handed over, of tapes numbered from 'first'. */
extern void sliced_tape_take(SlicedTape *tape, SlicedTapes *tapes, FileSet *set, uint32 side, uint32 first,
							 const SlicedTapeShare *shares, uint32 nshares);

#endif
