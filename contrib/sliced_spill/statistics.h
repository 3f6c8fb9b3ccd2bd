/*
 * statistics.h
 *	  What the sessions of a server have written to compressed temporary files.
 *
 * Numbers are kept by database and kind of node, in shared memory, until the server
 * stops.  The library need not be preloaded.  A session that cannot get the memory
 * counts nothing.  There is room for so many databases; one more takes the place of
 * the one that has not spilled for the longest time.
 */
#ifndef SLICED_SPILL_STATISTICS_H
#define SLICED_SPILL_STATISTICS_H

#include "postgres.h"

#define SLICED_COUNTED_DATABASES	32

/* Time for decompressing, as a part of the time for compressing. */
#define SLICED_DECOMPRESSING	0.4

/* The kind of node that spills. */
typedef enum SlicedSpiller
{
	SLICED_SPILLING_JOIN,
	SLICED_SPILLING_GROUPS,
	SLICED_SPILLING_SORT
} SlicedSpiller;

#define SLICED_N_SPILLERS	(SLICED_SPILLING_SORT + 1)

typedef enum SlicedSpillCounter
{
	SLICED_SPILLS,				/* nodes that spilled */
	SLICED_SPILLED_FILES,
	SLICED_SPILLED_ROWS,
	SLICED_FILTERED_ROWS,		/* that need not be written, thanks to a filter */
	SLICED_SPILLED_RAW,			/* bytes of rows */
	SLICED_SPILLED_STORED,		/* bytes in files */
	SLICED_SPILLED_AS_IS,		/* bytes of rows that were not compressed */
	SLICED_COMPRESS_TIME,		/* microseconds */
	SLICED_WRITE_TIME,
	SLICED_N_SPILL_COUNTERS
} SlicedSpillCounter;

/* Add a node's numbers to those of this database.  Never fails. */
extern void sliced_spill_count(SlicedSpiller kind, const uint64 *counts);

#endif
