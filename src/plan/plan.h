/*
 * plan.h
 *	  What is done to finished plans, and to their execution.
 */
#ifndef SLICED_PLAN_PLAN_H
#define SLICED_PLAN_PLAN_H

#include "postgres.h"

#include "base/counters.h"
#include "executor/execdesc.h"
#include "nodes/plannodes.h"

/* hooks.c: from where core calls what follows.  Called when loaded. */
extern void sliced_hooks_init(void);

/* swap.c: put our functions in the place of core's. */
extern void sliced_swap_plan(PlannedStmt *stmt);

/* The same in a plan that is about to be executed, if nobody has done so. */
extern void sliced_swap_late(PlannedStmt *stmt);

/*
 * columns_only.c: of a query that is ready to run, say to the slots of scans from
 * which only columns are taken that this is so (am/slot.h).
 */
extern void sliced_columns_only(QueryDesc *query);

/*
 * run.c: must the query, which is about to run, do so without parallel workers?  Then
 * see to it.
 */
extern bool sliced_run_alone(QueryDesc *query);

/*
 * reads.c: a query that might be explained begins, and ends.  Between, what has been
 * read for it, by counter; false if there is nothing to tell.
 */
extern void sliced_reads_begin(const QueryDesc *query);
extern void sliced_reads_end(const QueryDesc *query);
extern bool sliced_reads_of(const PlannedStmt *stmt, uint64 *reads);
extern void sliced_reads_init(void);

/*
 * plan_walk.c: call 'visit' for every expression, or list of them, in the plan:
 * with 'top' false, if the expression itself is to be left alone and only its
 * arguments are to be looked at; and 'modify' for every ModifyTable node.
 */
typedef struct SlicedPlanVisitor
{
	void		(*visit) (Node *expr, bool top, void *arg);
	void		(*modify) (ModifyTable *node, void *arg);
	void	   *arg;
} SlicedPlanVisitor;

extern void sliced_plan_walk(PlannedStmt *stmt, const SlicedPlanVisitor *visitor);

#endif
