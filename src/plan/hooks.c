/*
 * hooks.c
 *	  Where core calls us when a query is planned and executed.
 *
 * The hooks' arguments are not the same in all majors, so nothing is decided here.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "optimizer/planner.h"
#include "plan/plan.h"

static planner_hook_type next_planner;
static ExecutorStart_hook_type next_start;
static ExecutorRun_hook_type next_run;

#if PG_VERSION_NUM >= 190000

static PlannedStmt *
plan_query(Query *parse, const char *query_string, int cursor_options,
		   ParamListInfo bound_params, ExplainState *explain)
{
	PlannedStmt *stmt = (next_planner != NULL ? next_planner : standard_planner)
		(parse, query_string, cursor_options, bound_params, explain);

	sliced_swap_plan(stmt);
	return stmt;
}

#else

static PlannedStmt *
plan_query(Query *parse, const char *query_string, int cursor_options,
		   ParamListInfo bound_params)
{
	PlannedStmt *stmt = (next_planner != NULL ? next_planner : standard_planner)
		(parse, query_string, cursor_options, bound_params);

	sliced_swap_plan(stmt);
	return stmt;
}

#endif

static void
start_query(QueryDesc *query, int eflags)
{
	sliced_swap_late(query->plannedstmt);
	(next_start != NULL ? next_start : standard_ExecutorStart) (query, eflags);
	sliced_columns_only(query);
}

#if PG_VERSION_NUM >= 180000

static void
run_query(QueryDesc *query, ScanDirection direction, uint64 count)
{
	sliced_run_alone(query);
	(next_run != NULL ? next_run : standard_ExecutorRun) (query, direction, count);
}

#else

static void
run_query(QueryDesc *query, ScanDirection direction, uint64 count, bool execute_once)
{
	/* minor releases before 15.11 look at "execute_once" instead of "already_executed" */
	if (sliced_run_alone(query))
		execute_once = false;
	(next_run != NULL ? next_run : standard_ExecutorRun) (query, direction, count, execute_once);
}

#endif

void
sliced_hooks_init(void)
{
	next_planner = planner_hook;
	planner_hook = plan_query;
	next_start = ExecutorStart_hook;
	ExecutorStart_hook = start_query;
	next_run = ExecutorRun_hook;
	ExecutorRun_hook = run_query;
}
