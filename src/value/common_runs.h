/*
 * common_runs.h
 *	  Finds the runs of bytes that an old and a new value have in common.
 *
 * Knows no server: the old bytes are in memory, or come from a function.
 */
#ifndef SLICED_VALUE_COMMON_RUNS_H
#define SLICED_VALUE_COMMON_RUNS_H

#include "postgres.h"

#include "value/anchors.h"

typedef struct SlicedCommonRuns
{
	int			nruns;
	int			maxruns;
	SlicedCommonRun *runs;		/* palloc'd, in the order of both values; NULL: none */
	uint32		shared;			/* bytes in all of them */
	uint64		work;			/* what looking has cost: see common_runs.c */
} SlicedCommonRuns;

/*
 * Find runs of bytes that are the same in 'old' and in the 'len' bytes at 'new': at the
 * beginning, at the end and, if wanted, between.  Runs between have at least
 * SLICED_COMMON_RUN bytes.  Memory is bounded, and so is the work: the search between
 * may cost a twentieth of storing the new value, and more only while it finds something.
 */
extern void sliced_common_runs_find(SlicedCommonRuns *found, const SlicedOldBytes *old,
									const char *new, uint32 len, bool between);

#endif
