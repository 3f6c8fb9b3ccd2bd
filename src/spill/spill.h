/*
 * spill.h
 *	  Compressed temporary files, for hash joins that do not fit in memory.
 *
 * Core's HashJoin does the joining.  What we add is a node above it and one below each
 * of its sides:
 *
 *	  passes -> HashJoin -> part -> outer side
 *				   Hash -> part -> inner side
 *
 * The inner side is read first, into memory.  If it fits, that is all: core builds its
 * table from there.  If not, rows go to partitions by a hash of their keys; so do those
 * of the outer side.  Some partitions stay in memory, the others on tapes (tape.h).  The
 * node above lets core's join the rows in memory, then rescans it once for each partition
 * on tape.  Whatever the kind of join: equal keys are in one partition, so the join of
 * two sides is that of their partitions, one after the other.
 *
 * A partition that is still too large is split again; one that cannot be split, as its
 * keys are all alike, is core's to spill as it always does.
 */
#ifndef SLICED_SPILL_SPILL_H
#define SLICED_SPILL_SPILL_H

#include "postgres.h"

#include "nodes/plannodes.h"

/* sliced.temp_file_compression: a codec's number, or one of these. */
#define SLICED_TEMP_FILES_OFF	(-1)
#define SLICED_TEMP_FILES_AUTO	(-2)

extern int	sliced_temp_file_compression;

/* The setting, before the prefix of settings is taken; the rest when others have their hooks. */
extern void sliced_spill_settings(void);
extern void sliced_spill_init(void);

/* The node with ours around it. */
extern Plan *sliced_spill_join(HashJoin *join);
extern Plan *sliced_spill_aggregate(Agg *agg);
extern Plan *sliced_spill_sort(Sort *sort);

/* Their names in plans. */
extern void sliced_spill_join_init(void);
extern void sliced_spill_aggregate_init(void);
extern void sliced_spill_sort_init(void);

#endif
