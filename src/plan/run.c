/*
 * run.c
 *	  What is done when a plan is executed.
 *
 * At the start, functions are exchanged in plans that are older than our hook in
 * the planner (swap.c), and scans learn what their rows are for (columns_only.c).
 *
 * Only this process knows what a promise stands for, and parallel workers get
 * parameters as they are: a variable of PL/pgSQL in a query it runs, for one.  So
 * while there are promises, plans run without workers.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "plan/plan.h"
#include "value/promise.h"

static ExecutorStart_hook_type next_start;
static ExecutorRun_hook_type next_run;

static void
start_query(QueryDesc *query, int eflags)
{
	sliced_swap_late(query->plannedstmt);
	if (next_start != NULL)
		next_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	sliced_columns_only(query);
}

static void
run_query(QueryDesc *query, ScanDirection direction, uint64 count, bool execute_once)
{
	/*
	 * A plan that is, or may be, executed again runs without workers.  Minor
	 * releases before 15.11 look at "may be", later ones at "is".
	 */
	if (query->plannedstmt->parallelModeNeeded && sliced_promises_exist())
	{
		query->already_executed = true;
		execute_once = false;
	}
	if (next_run != NULL)
		next_run(query, direction, count, execute_once);
	else
		standard_ExecutorRun(query, direction, count, execute_once);
}

void
sliced_run_init(void)
{
	next_start = ExecutorStart_hook;
	ExecutorStart_hook = start_query;
	next_run = ExecutorRun_hook;
	ExecutorRun_hook = run_query;
}
