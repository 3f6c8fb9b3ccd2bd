/*
 * spill.h
 *	  Compressed temporary files, for joins, aggregates and sorts that do not fit in memory.
 *
 * The work is done by core's nodes.  What we add is a node above, which has core's node
 * begin anew for each part of the rows, and one below each side, which gives it that part,
 * so that it never has more than fits:
 *
 *	  passes -> HashJoin -> part -> outer side		groups -> Agg -> input -> its rows
 *				   Hash -> part -> inner side		sorted -> Sort -> runs -> its rows
 *
 * A join (hash_join.c) gets inner rows as they come.  When its table is full we take them
 * back, and rows of both sides go to partitions by a hash of their keys.  Some stay in
 * memory, the others are on tapes (tape.h).  Core's node joins the rows in memory, then
 * those of one partition after the other.  Whatever the kind of join: equal keys are in one
 * partition, so the join of two sides is that of their partitions.  A partition that is
 * still too large is split again; one that cannot be split, as its keys are all alike, is
 * core's to spill as it always does.
 *
 * In a parallel plan, where core would have one table for all processes, each process writes
 * its share of both sides to partitions that all can read, and then joins partitions by
 * itself (sides.c).
 *
 * An aggregate (aggregate.c) gets rows until its table is full, and from then on only those
 * whose group is in it.  The others go to partitions by a hash of their keys, and are next;
 * as each pass has some groups, there is an end.
 *
 * A sort (sort.c) gets rows until its memory is full.  What it returns is a run, on a tape.
 * Runs are merged by the node above.
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
