/*
 * plan.h
 *	  What we do to finished plans, and to their execution.
 */
#ifndef SLICED_PLAN_PLAN_H
#define SLICED_PLAN_PLAN_H

#include "postgres.h"

#include "base/counters.h"
#include "executor/execdesc.h"
#include "nodes/plannodes.h"

/* hooks.c: install our hooks in core.  Called when the library is loaded. */
extern void sliced_hooks_init(void);

/* swap.c: put our functions in the place of core's. */
extern void sliced_swap_plan(PlannedStmt *stmt);

/* The same for a plan that is about to be executed, unless it has been done already. */
extern void sliced_swap_late(PlannedStmt *stmt);

/*
 * columns_only.c: tell the slots of a query's scans if the query takes only columns
 * from them (am/slot.h).  The query is ready to run.
 */
extern void sliced_columns_only(QueryDesc *query);

/*
 * run.c: if the query, which is about to run, must not use parallel workers, make
 * sure that it does not.  Returns true if so.
 */
extern bool sliced_keep_from_workers(QueryDesc *query);

/*
 * reads.c: a query that EXPLAIN may be running begins, and ends.  In between,
 * sliced_reads_of() returns what was read for it, by counter, or false if there is
 * nothing to tell.
 */
extern void sliced_reads_begin(const QueryDesc *query);
extern void sliced_reads_end(const QueryDesc *query);
extern bool sliced_reads_of(const PlannedStmt *stmt, uint64 *reads);
extern void sliced_reads_init(void);

/* operators.c: names of the plan's operators whose functions have been exchanged. */
extern List *sliced_exchanged_operators(PlannedStmt *stmt);

/* check.c: get ready to compare results of toasters' functions with those of core's. */
extern void sliced_check_init(void);

/*
 * plan_walk.c: call 'visit' for every expression, or list of expressions, in the
 * plan, and 'modify' for every ModifyTable node.  With 'top' false, 'visit' leaves
 * the expression itself alone and looks only at its arguments.
 */
typedef struct SlicedPlanVisitor
{
	void		(*visit) (Node *expr, bool top, void *arg);
	void		(*modify) (ModifyTable *node, void *arg);
	void	   *arg;
} SlicedPlanVisitor;

extern void sliced_plan_walk(PlannedStmt *stmt, const SlicedPlanVisitor *visitor);

#endif
