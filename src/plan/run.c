/*
 * run.c
 *	  Plans that must run without parallel workers.
 *
 * Only this process knows what a promise stands for, but parallel workers get
 * parameters as they are, for example a variable of PL/pgSQL in a query that it runs.
 * So while there are promises, plans run without workers.
 */
#include "postgres.h"

#include "plan/plan.h"
#include "value/promise.h"

bool
sliced_keep_from_workers(QueryDesc *query)
{
	if (!query->plannedstmt->parallelModeNeeded || !sliced_promises_exist())
		return false;
	/* core runs a plan that is executed again without workers */
	query->already_executed = true;
	return true;
}
