/*
 * reads.c
 *	  What EXPLAIN (ANALYZE) says of the values that a query has read.
 *
 * We remember what the session had read when the query began, until the query ends.
 * Few queries that are explained run within each other, so a short list is enough.  A
 * query that finds no room in it is explained without these numbers.
 */
#include "postgres.h"

#include "base/counters.h"
#include "base/shared_counters.h"
#include "base/transaction.h"
#include "plan/plan.h"

#define QUERIES		8

static struct
{
	const PlannedStmt *stmt;
	uint64		before[SLICED_N_READ_COUNTERS];
}			queries[QUERIES];
static int	nqueries = 0;

void
sliced_reads_begin(const QueryDesc *query)
{
	if (query->instrument_options == 0 || nqueries == QUERIES)
		return;
	if (query->plannedstmt->parallelModeNeeded)
	{
		sliced_shared_attach();
		sliced_shared_lead();
	}
	queries[nqueries].stmt = query->plannedstmt;
	memcpy(queries[nqueries].before, sliced_session_reads, sizeof(sliced_session_reads));
	nqueries++;
}

void
sliced_reads_end(const QueryDesc *query)
{
	for (int i = nqueries - 1; i >= 0; i--)
		if (queries[i].stmt == query->plannedstmt)
		{
			memmove(&queries[i], &queries[i + 1], (nqueries - i - 1) * sizeof(queries[0]));
			if (--nqueries == 0)
				sliced_shared_lead_no_more();
			return;
		}
}

bool
sliced_reads_of(const PlannedStmt *stmt, uint64 *reads)
{
	sliced_shared_collect(sliced_session_reads);
	for (int i = nqueries - 1; i >= 0; i--)
		if (queries[i].stmt == stmt)
		{
			for (int c = 0; c < SLICED_N_READ_COUNTERS; c++)
				reads[c] = sliced_session_reads[c] - queries[i].before[c];
			return reads[SLICED_READS] > 0;
		}
	return false;
}

/* A query that fails never reaches sliced_reads_end(). */
static void
forget_queries(void)
{
	nqueries = 0;
	sliced_shared_lead_no_more();
}

static void
at_end_of_subtransaction(bool committed, SubTransactionId mine, SubTransactionId parent)
{
	/* entries of failed queries stay taken until the transaction ends */
}

void
sliced_reads_init(void)
{
	sliced_transaction_at_end(forget_queries, at_end_of_subtransaction);
}
