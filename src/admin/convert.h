/*
 * convert.h
 *	  Converts rows: stores their values as new ones would be stored.
 *
 * convert.c is the procedure: it chooses tables and blocks, and runs one transaction
 * after the other.  convert_rows.c does the work within one of them.
 */
#ifndef SLICED_ADMIN_CONVERT_H
#define SLICED_ADMIN_CONVERT_H

#include "postgres.h"

#include "access/transam.h"
#include "storage/block.h"
#include "storage/off.h"
#include "utils/rel.h"

/*
 * The progress that a backend reports while it converts a table.  Core's commands
 * have small numbers of their own, so its views do not show ours.
 */
#define SLICED_PROGRESS_COMMAND		0x534C4344

typedef enum SlicedProgress
{
	SLICED_PROGRESS_PHASE,		/* SlicedConvertPhase */
	SLICED_PROGRESS_STARTED,	/* a timestamp: start of this table */
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
	TransactionId since;		/* those that this transaction and later ones wrote;
								 * invalid: all */
	TransactionId *own;			/* except those that we wrote ourselves, sorted */
	int			nown;
} SlicedConvertFilter;

/* The work of one transaction. */
typedef struct SlicedConvertBatch SlicedConvertBatch;

/*
 * Begin, with an active snapshot, which stays until the end.  The caller has locked
 * 'rel', and makes its functions run as its owner.
 */
extern SlicedConvertBatch *sliced_convert_begin(Relation rel, const SlicedConvertFilter *filter,
												SlicedConvertCounts *counts);

/*
 * Convert rows of a block from '*next' on, until this batch has converted more than
 * 'max_raw' bytes of values.  '*next' is set to the row to continue with,
 * InvalidOffsetNumber after the last.  Returns how many rows others had locked.
 */
extern int	sliced_convert_block(SlicedConvertBatch *batch, BlockNumber block,
								 OffsetNumber *next, int64 max_raw);

extern int64 sliced_convert_batch_raw(const SlicedConvertBatch *batch);

extern void sliced_convert_end(SlicedConvertBatch *batch);

#endif
