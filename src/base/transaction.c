/*
 * transaction.c
 *	  Callbacks for the end of transactions, and of their parts.
 */
#include "postgres.h"

#include "access/xact.h"
#include "base/transaction.h"

#define MAX_LISTENERS	4

static int	nlisteners = 0;
static SlicedTransactionEnd at_end[MAX_LISTENERS];
static SlicedSubtransactionEnd at_sub_end[MAX_LISTENERS];

static void
tell_of_transaction(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE &&
		event != XACT_EVENT_PARALLEL_COMMIT && event != XACT_EVENT_PARALLEL_ABORT)
		return;
	for (int i = 0; i < nlisteners; i++)
		at_end[i] ();
}

static void
tell_of_subtransaction(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
					   void *arg)
{
	if (event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB)
		return;
	for (int i = 0; i < nlisteners; i++)
		at_sub_end[i] (event == SUBXACT_EVENT_COMMIT_SUB, mine, parent);
}

void
sliced_transaction_at_end(SlicedTransactionEnd transaction, SlicedSubtransactionEnd subtransaction)
{
	if (nlisteners == 0)
	{
		RegisterXactCallback(tell_of_transaction, NULL);
		RegisterSubXactCallback(tell_of_subtransaction, NULL);
	}
	if (nlisteners == MAX_LISTENERS)
		elog(ERROR, "too many listeners for the end of transactions");
	at_end[nlisteners] = transaction;
	at_sub_end[nlisteners++] = subtransaction;
}
