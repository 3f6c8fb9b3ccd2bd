/*
 * hooks.c
 *	  Where core calls us when it plans and executes a query.
 *
 * The hooks' arguments differ between majors, so this file decides nothing else.
 *
 * A function in an index's expression may run a query while the index is built.  That
 * query finds that the table is ours (am/heap_bridge.c).
 */
#include "postgres.h"

#include "am/heap_bridge.h"
#include "base/compat.h"
#include "executor/executor.h"
#include "optimizer/planner.h"
#include "plan/plan.h"
#include "storage/bufmgr.h"

static planner_hook_type next_planner;
static ExecutorStart_hook_type next_start;
static ExecutorRun_hook_type next_run;
static ExecutorFinish_hook_type next_finish;
static ExecutorEnd_hook_type next_end;

/* Make the call while bridges are suspended. */
#define WITHOUT_BRIDGES(call) \
	do { \
		SlicedBridge *bridges = sliced_bridges_suspend(); \
		if (likely(bridges == NULL)) \
			call; \
		else \
		{ \
			PG_TRY(); \
			{ \
				call; \
			} \
			PG_FINALLY(); \
			{ \
				sliced_bridges_resume(bridges); \
			} \
			PG_END_TRY(); \
		} \
	} while (0)

static PlannedStmt *
plan_query(Query *parse, const char *query_string, int cursor_options,
		   ParamListInfo bound_params PLANNER_PARAMS)
{
	PlannedStmt *stmt = next_planner(parse, query_string, cursor_options, bound_params PLANNER_ARGS);

	sliced_swap_plan(stmt);
	return stmt;
}

static void
start_query(QueryDesc *query, int eflags)
{
	sliced_swap_late(query->plannedstmt);
	WITHOUT_BRIDGES(next_start(query, eflags));
	sliced_columns_only(query);
	sliced_reads_begin(query);
}

#if PG_VERSION_NUM >= 180000

static void
run_query(QueryDesc *query, ScanDirection direction, uint64 count)
{
	sliced_keep_from_workers(query);
	WITHOUT_BRIDGES(next_run(query, direction, count));
}

#else

static void
run_query(QueryDesc *query, ScanDirection direction, uint64 count, bool execute_once)
{
	/*
	 * minor releases before 15.11 look at "execute_once" instead of
	 * "already_executed"
	 */
	if (sliced_keep_from_workers(query))
		execute_once = false;
	WITHOUT_BRIDGES(next_run(query, direction, count, execute_once));
}

#endif

static void
finish_query(QueryDesc *query)
{
	WITHOUT_BRIDGES(next_finish(query));
}

static void
end_query(QueryDesc *query)
{
	sliced_reads_end(query);
	WITHOUT_BRIDGES(next_end(query));
}

#if PG_VERSION_NUM >= 180000

static explain_per_plan_hook_type next_explain;

/*
 * With VERBOSE, also show which operators read or write parts of values.  With BUFFERS,
 * which ANALYZE implies, show what was read of oversized values.
 */
static void
explain_plan(PlannedStmt *stmt, IntoClause *into, ExplainState *es, const char *query_string,
			 ParamListInfo params, QueryEnvironment *environment)
{
	uint64		reads[SLICED_N_READ_COUNTERS];

	if (next_explain != NULL)
		next_explain(stmt, into, es, query_string, params, environment);
	if (es->verbose)
	{
		List	   *operators = sliced_exchanged_operators(stmt);

		if (operators != NIL)
			ExplainPropertyList("Operators on Parts", operators, es);
	}
	if (!es->analyze || !es->buffers || !sliced_reads_of(stmt, reads))
		return;
	ExplainOpenGroup("Oversized Values", "Oversized Values", true, es);
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		ExplainIndentText(es);
		appendStringInfo(es->str, "Oversized Values: reads=" UINT64_FORMAT " slices=" UINT64_FORMAT
						 " stored=" UINT64_FORMAT "kB decompressed=" UINT64_FORMAT "kB",
						 reads[SLICED_READS], reads[SLICED_SLICES_READ],
						 (reads[SLICED_STORED_READ] + 1023) / 1024,
						 (reads[SLICED_DECOMPRESSED] + 1023) / 1024);
		if (reads[SLICED_READ_TIME] > 0)
			appendStringInfo(es->str, " time=%.3f", reads[SLICED_READ_TIME] / 1000.0);
		appendStringInfoChar(es->str, '\n');
	}
	else
	{
		ExplainPropertyUInteger("Reads", NULL, reads[SLICED_READS], es);
		ExplainPropertyUInteger("Slices", NULL, reads[SLICED_SLICES_READ], es);
		ExplainPropertyUInteger("Stored Bytes", NULL, reads[SLICED_STORED_READ], es);
		ExplainPropertyUInteger("Decompressed Bytes", NULL, reads[SLICED_DECOMPRESSED], es);
		if (track_io_timing)
			ExplainPropertyFloat("Read Time", "ms", reads[SLICED_READ_TIME] / 1000.0, 3, es);
	}
	ExplainCloseGroup("Oversized Values", "Oversized Values", true, es);
}

static void
explain_init(void)
{
	next_explain = explain_per_plan_hook;
	explain_per_plan_hook = explain_plan;
}

#else

static void
explain_init(void)
{
	/* these majors let no extension add to the output of EXPLAIN */
}

#endif

void
sliced_hooks_init(void)
{
	next_planner = planner_hook != NULL ? planner_hook : standard_planner;
	planner_hook = plan_query;
	next_start = ExecutorStart_hook != NULL ? ExecutorStart_hook : standard_ExecutorStart;
	ExecutorStart_hook = start_query;
	next_run = ExecutorRun_hook != NULL ? ExecutorRun_hook : standard_ExecutorRun;
	ExecutorRun_hook = run_query;
	next_finish = ExecutorFinish_hook != NULL ? ExecutorFinish_hook : standard_ExecutorFinish;
	ExecutorFinish_hook = finish_query;
	next_end = ExecutorEnd_hook != NULL ? ExecutorEnd_hook : standard_ExecutorEnd;
	ExecutorEnd_hook = end_query;
	sliced_reads_init();
	sliced_check_init();
	explain_init();
}
