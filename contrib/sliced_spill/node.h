/*
 * node.h
 *	  What our nodes around core's have in common: see spill.h.
 *
 * When a node begins, it puts its function in ss.ps.ExecProcNode, where core would have
 * ExecCustomScan(), so their CustomExecMethods have none.
 */
#ifndef SLICED_SPILL_NODE_H
#define SLICED_SPILL_NODE_H

#include "postgres.h"

#include "common/hashfn.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "port/pg_bitutils.h"
#include "tape.h"

static inline uint32
sliced_block_length(Size room)
{
	return Min(Max(room, SLICED_BLOCK_MIN), SLICED_BLOCK_MAX) & ~(uint32) 7;
}

/* The partition, out of a power of two of them, after 'depth' splits. */
static inline int
sliced_partition_of(uint32 hash, int npartitions, int depth)
{
	for (; depth > 0; depth--)
		hash = murmurhash32(hash + depth);
	return hash & (npartitions - 1);
}

/* The power of two that is 'n' or more, within limits that are powers of two. */
static inline int
sliced_power_of_two(double n, int least, int most)
{
	int			result = least;

	while (result < n && result < most)
		result *= 2;
	return result;
}

/* ---- plans ---- */

/*
 * Make a node of ours above this one, with the same columns.  It is the 'n'th, of
 * three at most, around core's node number 'core_id'.
 */
extern CustomScan *sliced_node_above(Plan *plan, const CustomScanMethods *methods, int core_id, int n);

/* ---- states ---- */

/* The node returns minimal tuples, or any slots that the node below returns. */
extern void sliced_any_slots(CustomScanState *node);

/* The next row of a node; NULL, not an empty slot, after the last one. */
extern TupleTableSlot *sliced_next_row(PlanState *node);

/*
 * Make core's node begin anew at once, and the nodes below it as well.  If 'forced',
 * one of them, is set, they forget what they have made of the rows from there.
 */
extern void sliced_rescan(PlanState *core, PlanState **below, int nbelow, PlanState *forced);

/* The same, but EXPLAIN counts it as part of the same loop. */
extern void sliced_next_pass(PlanState *core, PlanState **below, int nbelow, PlanState *forced);

/* Add what EXPLAIN (ANALYZE) says of tapes. */
extern void sliced_explain_tapes(const SlicedTapes *tapes, struct ExplainState *es);

#endif
