/*
 * stop.c
 *	  Points at which a test makes us wait or fail, or kills the server.
 *
 * Compiles to nothing in an installed library: see stop.h.
 */
#include "postgres.h"

#include "base/stop.h"

#ifdef SLICED_STOP_POINTS

#include <signal.h>
#include <unistd.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "postmaster/bgwriter.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/timeout.h"

typedef enum Action
{
	TRACE,
	KILL,						/* the server, with as much of the WAL as has been written */
	KILL_FLUSHED,				/* after our WAL has been written */
	KILL_CHECKPOINTED,			/* after our pages have been written, too */
	PAUSE,						/* while somebody holds advisory lock 1 */
	FULL,						/* as if the disk were full */
	MEMORY,						/* as if there were no memory left */
	CANCEL,
	TIMEOUT,
	TERMINATE
} Action;

static const char *const actions[] = {
	[TRACE] = "trace",
	[KILL] = "kill",
	[KILL_FLUSHED] = "kill-flushed",
	[KILL_CHECKPOINTED] = "kill-checkpointed",
	[PAUSE] = "pause",
	[FULL] = "full",
	[MEMORY] = "memory",
	[CANCEL] = "cancel",
	[TIMEOUT] = "timeout",
	[TERMINATE] = "terminate"
};

typedef struct Order
{
	char		point[NAMEDATALEN];
	Action		action;
	int			nth;			/* 0: never */
} Order;

static char *stop_at;			/* the setting */
static Order order;				/* what it says, until it has been done */

/* How often each point was reached since the order was given, for tracing. */
typedef struct Reached
{
	const char *name;
	int			times;
} Reached;

static Reached reached[256];
static int	nreached;

static bool
parse(const char *text, Order *result)
{
	char		action[NAMEDATALEN];

	memset(result, 0, sizeof(*result));
	if (text == NULL || text[0] == '\0')
		return true;
	if (sscanf(text, "%63[^:]:%63[^:]:%d", result->point, action, &result->nth) != 3)
		return false;
	for (int i = 0; i < lengthof(actions); i++)
		if (strcmp(action, actions[i]) == 0)
		{
			result->action = i;
			return result->nth > 0;
		}
	return false;
}

static bool
check_stop_at(char **newval, void **extra, GucSource source)
{
	Order		ignored;

	return parse(*newval, &ignored);
}

static void
assign_stop_at(const char *newval, void *extra)
{
	parse(newval, &order);
	nreached = 0;
}

/* Report the first time, the second, the fourth, and so on. */
static void
trace(const char *name)
{
	XLogRecPtr	lsn = XactLastRecEnd != 0 ? XactLastRecEnd : GetXLogInsertRecPtr();
	int			i = 0;

	while (i < nreached && strcmp(reached[i].name, name) != 0)
		i++;
	if (i == lengthof(reached))
		return;
	if (i == nreached)
		reached[nreached++] = (Reached) {name, 0};
	reached[i].times++;
	if ((reached[i].times & (reached[i].times - 1)) == 0)
		ereport(NOTICE,
				errmsg_internal("stop %s %d %X/%X", name, reached[i].times, LSN_FORMAT_ARGS(lsn)));
}

static void
pause_here(void)
{
	DirectFunctionCall1(pg_advisory_lock_shared_int8, Int64GetDatum(1));
	DirectFunctionCall1(pg_advisory_unlock_shared_int8, Int64GetDatum(1));
}

static void
die_here(Action action)
{
	if (action == KILL_CHECKPOINTED)
		RequestCheckpoint(CHECKPOINT_FORCE | CHECKPOINT_WAIT);
	else if (action == KILL_FLUSHED && XactLastRecEnd != 0)
		XLogFlush(XactLastRecEnd);
	kill(MyProcPid, SIGKILL);
}

/* Act as if the signal came just now: we handle it here, or as soon as possible. */
static void
interrupt(volatile sig_atomic_t *pending)
{
	*pending = true;
	InterruptPending = true;
	CHECK_FOR_INTERRUPTS();
}

static void
wait_for_timeout(void)
{
	enable_timeout_after(STATEMENT_TIMEOUT, 1);
	for (;;)
	{
		pg_usleep(100);
		CHECK_FOR_INTERRUPTS();
	}
}

static void
fail_here(const char *name, Action action)
{
	switch (action)
	{
		case FULL:
			ereport(ERROR, errcode(ERRCODE_DISK_FULL), errmsg("no space left at %s", name));
			break;
		case MEMORY:
			ereport(ERROR, errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory at %s", name));
			break;
		case CANCEL:
			interrupt(&QueryCancelPending);
			break;
		case TIMEOUT:
			wait_for_timeout();
			break;
		default:
			interrupt(&ProcDiePending);
			break;
	}
	if (InterruptHoldoffCount == 0)
		elog(PANIC, "nothing happened at %s", name);
}

void
sliced_stop(const char *name, bool may_fail)
{
	Action		action = order.action;

	if (may_fail && CritSectionCount > 0)
		elog(PANIC, "%s is no place to fail", name);
	/*
	 * heapam reads values while it has a buffer locked: interrupts are held off there
	 */
	if (InterruptHoldoffCount > 0)
		action = action == KILL_CHECKPOINTED ? KILL_FLUSHED : action > MEMORY ? CANCEL : action;
	if (order.nth == 0 || (strcmp(order.point, name) != 0 && strcmp(order.point, "any") != 0))
		return;
	if (action == TRACE)
	{
		trace(name);
		return;
	}
	if ((!may_fail && action > KILL_CHECKPOINTED) || --order.nth > 0)
		return;
	if (action <= KILL_CHECKPOINTED)
		die_here(action);
	else if (action == PAUSE)
		pause_here();
	else
		fail_here(name, action);
}

static void
at_transaction_event(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_PRE_COMMIT)
		SLICED_STOP("transaction.before-commit");
	else if (event == XACT_EVENT_COMMIT)
		SLICED_STOP_DEAD("transaction.committed");
	else if (event == XACT_EVENT_ABORT)
		SLICED_STOP_DEAD("transaction.aborted");
	else if (event == XACT_EVENT_PRE_PREPARE)
		SLICED_STOP("transaction.before-prepare");
	else if (event == XACT_EVENT_PREPARE)
		SLICED_STOP_DEAD("transaction.prepared");
}

static void
at_subtransaction_event(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
						void *arg)
{
	if (event == SUBXACT_EVENT_PRE_COMMIT_SUB)
		SLICED_STOP("subtransaction.before-commit");
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
		SLICED_STOP_DEAD("subtransaction.committed");
	else if (event == SUBXACT_EVENT_ABORT_SUB)
		SLICED_STOP_DEAD("subtransaction.aborted");
}

void
sliced_stop_init(void)
{
	DefineCustomStringVariable("sliced.stop_at", "Where to stop, and how (POINT:ACTION:TIMES).",
							   NULL, &stop_at, "", PGC_USERSET, 0,
							   check_stop_at, assign_stop_at, NULL);
	RegisterXactCallback(at_transaction_event, NULL);
	RegisterSubXactCallback(at_subtransaction_event, NULL);
}

#endif
