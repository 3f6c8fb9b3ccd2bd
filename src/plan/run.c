/*
 * run.c
 *	  What promises mean for the executor.
 *
 * Only this process knows what a promise stands for, and parallel workers get
 * parameters as they are: a variable of PL/pgSQL in a query it runs, for one.  So
 * while there are promises, plans run without workers.
 *
 * Promises outlive the statement that made them, since functions keep values in
 * variables.  But when the client begins its next statement and no cursor is
 * open, nothing of the last one is left.  (A statement to which rules have added
 * others is one: what it returns is kept until all have run.)
 */
#include "postgres.h"

#include "executor/executor.h"
#include "plan/plan.h"
#include "store/growth.h"
#include "tcop/pquery.h"
#include "toaster/promise.h"
#include "utils/portal.h"

static ExecutorStart_hook_type next_start;
static ExecutorRun_hook_type next_run;

/* Is this a statement of the client's own, rather than of a function or cursor? */
static bool
is_clients_statement(QueryDesc *query)
{
	return ActivePortal != NULL && ActivePortal->name[0] == '\0' &&
		ActivePortal->stmts != NIL && linitial(ActivePortal->stmts) == query->plannedstmt;
}

static void
start_query(QueryDesc *query, int eflags)
{
	if (is_clients_statement(query) && ThereAreNoReadyPortals())
	{
		sliced_promises_forget();
		sliced_growth_forget();
	}
	if (next_start != NULL)
		next_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
}

static void
run_query(QueryDesc *query, ScanDirection direction, uint64 count, bool execute_once)
{
	/* what may be executed again is executed without workers */
	if (query->plannedstmt->parallelModeNeeded && sliced_promises_exist())
		execute_once = false;
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
