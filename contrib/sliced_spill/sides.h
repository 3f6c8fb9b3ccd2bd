/*
 * sides.h
 *	  The two sides of a hash join in partitions that the processes of a parallel
 *	  plan share: see spill.h.
 */
#ifndef SLICED_SPILL_SIDES_H
#define SLICED_SPILL_SIDES_H

#include "postgres.h"

#include "access/parallel.h"
#include "partitions.h"

/* Size, set up and attach to the shared memory of all processes. */
extern Size sliced_sides_size(SlicedPasses *passes, int nworkers);
extern void sliced_sides_init(SlicedPasses *passes, SlicedSides *sides, ParallelContext *context);
extern void sliced_sides_attach(SlicedPasses *passes, SlicedSides *sides);

/* Begin anew: all workers have ended, and there will be others. */
extern void sliced_sides_begin_anew(SlicedSides *sides);

/*
 * This process is done.  A worker adds what it has written to the shared counts, and
 * the leader takes over the counts of all workers.
 */
extern void sliced_sides_end(SlicedPasses *passes);

/* Write this process's share of both sides.  Returns when all have done so. */
extern void sliced_sides_share(SlicedPasses *passes);

#endif
