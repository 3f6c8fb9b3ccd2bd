/*
 * convert.h
 *	  Rows whose values are not stored as new ones would be are stored anew.
 *
 * convert.c is the procedure: which tables, which blocks, one transaction after the
 * other.  convert_rows.c is what happens within one of them.
 */
#ifndef SLICED_ADMIN_CONVERT_H
#define SLICED_ADMIN_CONVERT_H

#include "postgres.h"

#include "access/transam.h"
#include "storage/block.h"
#include "storage/off.h"
#include "utils/rel.h"

/*
 * What a backend says that converts a table, in its slot for progress.  Core's
 * commands have small numbers of their own, so its views do not show ours.
 */
#define SLICED_PROGRESS_COMMAND		0x534C4344

typedef enum SlicedProgress
{
	SLICED_PROGRESS_PHASE,		/* SlicedConvertPhase */
	SLICED_PROGRESS_STARTED,	/* a timestamp, of the table */
	SLICED_PROGRESS_PASS,		/* from 1 */
	SLICED_PROGRESS_PASS_STARTED,
	SLICED_PROGRESS_BLOCKS,		/* of this pass */
	SLICED_PROGRESS_BLOCKS_DONE,
	SLICED_PROGRESS_ROWS,		/* SlicedConvertCounts, from here on */
	SLICED_PROGRESS_LOCKED,
	SLICED_PROGRESS_LEFT,
	SLICED_PROGRESS_RAW,
	SLICED_PROGRESS_BEFORE,
	SLICED_PROGRESS_AFTER,
	SLICED_PROGRESS_PARAMS
} SlicedProgress;

typedef enum SlicedConvertPhase
{
	SLICED_CONVERTING,
	SLICED_CONVERT_THROTTLED,
	SLICED_CONVERT_WAITS_FOR_LOCKS,
	SLICED_CONVERT_WAITS_FOR_VACUUM
} SlicedConvertPhase;

typedef struct SlicedConvertCounts
{
	int64		rows;			/* converted */
	int64		locked;			/* were locked when we last looked */
	int64		left;			/* cannot be converted */
	int64		raw;			/* bytes of values */
	int64		before;			/* bytes as stored, of their rows and in the toast relation */
	int64		after;
} SlicedConvertCounts;

/* Which rows to look at. */
typedef struct SlicedConvertFilter
{
	TransactionId since;		/* those written by this transaction and later ones; or all */
	TransactionId *own;			/* but not by these, which are ours, in their order */
	int			nown;
} SlicedConvertFilter;

/* One transaction's work. */
typedef struct SlicedConvertBatch SlicedConvertBatch;

/*
 * Begin, with a snapshot active that is kept until the end.  The caller has locked
 * 'rel', and sees to it that its functions run as its owner.
 */
extern SlicedConvertBatch *sliced_convert_begin(Relation rel, const SlicedConvertFilter *filter,
												SlicedConvertCounts *counts);

/*
 * Convert rows of a block from '*next' on, until more than 'max_raw' bytes of values are
 * converted in all by this batch; '*next' says where to go on, InvalidOffsetNumber if that was the last.
 * Returns how many rows were locked by others.
 */
extern int	sliced_convert_block(SlicedConvertBatch *batch, BlockNumber block,
								 OffsetNumber *next, int64 max_raw);

extern int64 sliced_convert_batch_raw(const SlicedConvertBatch *batch);

extern void sliced_convert_end(SlicedConvertBatch *batch);

#endif
