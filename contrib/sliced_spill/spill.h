/*
 * spill.h
 *	  Compressed temporary files, for joins, aggregates and sorts too large for
 *	  memory.
 *
 * Core's nodes do the work.  We add a node above core's node, which makes it begin
 * anew for each part of the rows, and a node below each side, which gives it that
 * part, so that it never has more than fits:
 *
 *	  passes -> HashJoin -> side -> outer side		groups -> Agg -> input -> its rows
 *				   Hash -> side -> inner side		sorted -> Sort -> runs -> its rows
 *
 * A join (hash_join.c) gets inner rows as they come.  When its table is full we take
 * them back, and rows of both sides go to partitions by a hash of their keys.  Some
 * stay in memory, the others are on tapes (tape.h).  Core's node joins the rows in
 * memory, then those of one partition after the other.  This works for all kinds of
 * joins: equal keys are in one partition, so the join of two sides is the join of
 * their partitions.  We split a partition again if it is still too large.  If its
 * keys are all alike it cannot be split, and core spills it as it always does.
 *
 * In a parallel plan, where core would have one table for all processes, each process
 * writes its share of both sides to partitions that all can read, and then joins
 * partitions by itself (sides.c).
 *
 * An aggregate (aggregate.c) gets rows until its table is full, and from then on only
 * rows whose group is in the table.  The others go to partitions by a hash of their
 * keys, and are next.  Each pass has some groups, so there is an end.
 *
 * A sort (sort.c) gets rows until its memory is full.  It returns a run, which goes
 * to a tape.  The node above merges the runs.
 */
#ifndef SLICED_SPILL_SPILL_H
#define SLICED_SPILL_SPILL_H

#include "postgres.h"

#include "nodes/plannodes.h"

/* sliced.temp_file_compression: a codec's number, or one of these. */
#define SLICED_TEMP_FILES_OFF	(-1)
#define SLICED_TEMP_FILES_AUTO	(-2)

extern int	sliced_temp_file_compression;

/* Define the setting and put our hook in its place; called once, when the library is loaded. */
extern void sliced_spill_init(void);

/* Return the node with ours around it. */
extern Plan *sliced_spill_join(HashJoin *join);
extern Plan *sliced_spill_aggregate(Agg *agg);
extern Plan *sliced_spill_sort(Sort *sort);

/* Register the nodes' names in plans. */
extern void sliced_spill_join_init(void);
extern void sliced_spill_aggregate_init(void);
extern void sliced_spill_sort_init(void);

#endif
