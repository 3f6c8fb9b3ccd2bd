/*
 * counters.h
 *	  Counts what is done to values: statistics for users.
 *
 * Code that reads or writes a value counts into one array, sliced_counts, without
 * knowing whose value it is: the store does not know columns.  A caller that knows
 * empties the array before, and afterwards books what is in it, under the toast
 * relation that pointers name and the number of the column.  Readers know no column
 * either, so reads are booked under column 0.
 *
 * A session books in its own memory, of fixed size.  It adds that to the shared
 * counters (shared_counters.h) when a transaction ends, by commit or rollback.
 * Nothing here fails, and nothing allocates memory.
 */
#ifndef SLICED_BASE_COUNTERS_H
#define SLICED_BASE_COUNTERS_H

#include "postgres.h"

#include "base/counter_kinds.h"
#include "portability/instr_time.h"

extern uint64 sliced_counts[SLICED_N_COUNTERS];

/* What this session has read since it began. */
extern uint64 sliced_session_reads[SLICED_N_READ_COUNTERS];

static inline void
sliced_count(SlicedCounter counter, uint64 n)
{
	sliced_counts[counter] += n;
}

static inline void
sliced_count_slice_written(int codec, uint32 rawlen, uint32 storedlen)
{
	sliced_counts[SLICED_SLICES_WRITTEN + codec]++;
	sliced_counts[SLICED_RAW_WRITTEN + codec] += rawlen;
	sliced_counts[SLICED_STORED_WRITTEN + codec] += storedlen;
}

/*
 * Begin to count what one reader does.  Returns the time, or zero if track_io_timing
 * is off.
 */
extern instr_time sliced_reading_begin(void);

/* Book it.  'core' is true if the value turned out to be in core's format. */
extern void sliced_reading_end(Oid toastrelid, instr_time began, bool core);

/* Begin to count what is done to store a value. */
extern void sliced_storing_begin(void);

/* Book it.  'codec' is the codec to try. */
extern void sliced_storing_end(Oid toastrelid, int attno, int codec);

/* Add one to a counter of a column. */
extern void sliced_count_column(Oid toastrelid, int attno, SlicedCounter counter);

/* Add what this session has booked to the shared counters, if there are any. */
extern void sliced_counters_flush(void);

/* What it has booked and not added: everything, if there are no shared counters. */
extern SlicedBooked *sliced_counters_own(int *n);

/* Forget what it has booked and not added. */
extern void sliced_counters_forget(void);

extern void sliced_counters_init(void);

#endif
