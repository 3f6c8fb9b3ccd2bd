/*
 * sides.h
 *	  The two sides of a hash join in partitions that the processes of a parallel plan share:
 *	  see spill.h.
 */
#ifndef SLICED_SPILL_SIDES_H
#define SLICED_SPILL_SIDES_H

#include "postgres.h"

#include "access/parallel.h"
#include "spill/partitions.h"

/* What all need of shared memory, and where it is. */
extern Size sliced_sides_size(SlicedPasses *passes, int nworkers);
extern void sliced_sides_init(SlicedPasses *passes, SlicedSides *sides, ParallelContext *context);
extern void sliced_sides_attach(SlicedPasses *passes, SlicedSides *sides);

/* All workers have ended, and there will be others. */
extern void sliced_sides_begin_anew(SlicedSides *sides);

/* The process is done: a worker tells what it has written, and the leader learns what all have told. */
extern void sliced_sides_end(SlicedPasses *passes);

/* Write this process's share of both sides.  Returns when all have done so. */
extern void sliced_sides_share(SlicedPasses *passes);

/* Put a partition that nobody else has into the queue; false if there are no more. */
extern bool sliced_take_partition(SlicedPasses *passes);

#endif
