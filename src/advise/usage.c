/*
 * usage.c
 *	  What pg_stat_statements knows of statements that read or change parts of
 *	  values.
 */
#include "postgres.h"

#include "advise/usage.h"
#include "base/try.h"
#include "catalog/partition.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "plan/statements.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* We look at this many statements: those that took most time. */
#define STATEMENTS	2000

/* Milliseconds that we wait for a lock of another session. */
#define WAIT_FOR_LOCK	100

/* We show this many bytes of a statement. */
#define BEGINNING	120

/* ---- statements ---- */

/* One statement. */
typedef struct Statement
{
	const char *text;
	Oid			user;			/* who has run it */
	MemoryContext mcxt;			/* of the result */
	List	   *uses;			/* SlicedUse */
} Statement;

static void
analyze(void *arg)
{
	Statement  *statement = arg;
	List	   *uses;
	ListCell   *lc;
	Oid			user;
	int			context;

	/*
	 * No code of a user runs here.  If it did after all, it would have no more rights
	 * than the caller, and mostly those of the statement's author.
	 */
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(OidIsValid(statement->user) && has_privs_of_role(user, statement->user) ? statement->user : user,
						   context | SECURITY_RESTRICTED_OPERATION);
	uses = sliced_statement_uses(statement->text);
	foreach(lc, uses)
	{
		SlicedUse  *use = MemoryContextAlloc(statement->mcxt, sizeof(SlicedUse));
		MemoryContext old = MemoryContextSwitchTo(statement->mcxt);

		*use = *(SlicedUse *) lfirst(lc);
		statement->uses = lappend(statement->uses, use);
		MemoryContextSwitchTo(old);
	}
	SetUserIdAndSecContext(user, context);
}

/* The beginning of a statement, in one line. */
static char *
beginning_of(const char *text)
{
	char	   *result = pnstrdup(text, pg_mbcliplen(text, strlen(text), BEGINNING));

	for (char *at = result; *at != '\0'; at++)
		if (*at == '\n' || *at == '\r' || *at == '\t')
			*at = ' ';
	return result;
}

static SlicedUsed *
used_of(SlicedUsage *usage, Oid relid, int attno)
{
	ListCell   *lc;
	SlicedUsed *used;

	foreach(lc, usage->used)
	{
		used = lfirst(lc);
		if (used->relid == relid && used->attno == attno)
			return used;
	}
	used = palloc0(sizeof(SlicedUsed));
	used->relid = relid;
	used->attno = attno;
	usage->used = lappend(usage->used, used);
	return used;
}

/* One row of pg_stat_statements. */
typedef struct Calls
{
	char	   *text;
	Oid			user;
	double		n;
	double		ms;
	double		wal;
} Calls;

/* Add what one statement uses. */
static void
add_statement(SlicedUsage *usage, const Calls *calls)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "sliced statement",
											   ALLOCSET_DEFAULT_SIZES);
	Statement	statement = {calls->text, calls->user, CurrentMemoryContext, NIL};
	MemoryContext old = MemoryContextSwitchTo(work);
	/* analyzing locks tables, even for writing */
	bool		failed = sliced_try_and_undo(analyze, &statement, WAIT_FOR_LOCK) != NULL;
	ListCell   *lc;

	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
	usage->unclear += failed;
	foreach(lc, failed ? NIL : statement.uses)
	{
		SlicedUse  *use = lfirst(lc);
		SlicedUsed *used = used_of(usage, use->relid, use->attno);

		if (use->changes)
		{
			used->changes += calls->n;
			used->wal += calls->wal;
		}
		else
			used->reads += calls->n;
		used->ms += calls->ms;
		if (used->longest == NULL)
			used->longest = beginning_of(calls->text);	/* the slowest comes first */
	}
}

static double
number(HeapTuple row, TupleDesc desc, int column)
{
	bool		isnull;
	Datum		value = SPI_getbinval(row, desc, column, &isnull);

	return isnull ? 0 : DatumGetFloat8(value);
}

/* Add what SPI has found: the columns of Calls. */
static void
add_statements(SlicedUsage *usage, TimestampTz deadline)
{
	SPITupleTable *found = SPI_tuptable;
	uint64		n = SPI_processed;

	for (uint64 i = 0; i < n && GetCurrentTimestamp() < deadline; i++)
	{
		HeapTuple	row = found->vals[i];
		TupleDesc	desc = found->tupdesc;
		Calls		calls = {SPI_getvalue(row, desc, 1), number(row, desc, 5), number(row, desc, 2), number(row, desc, 3),
			number(row, desc, 4)};

		CHECK_FOR_INTERRUPTS();
		add_statement(usage, &calls);
		pfree(calls.text);
	}
}

/* Where to put the result, and until when to look. */
typedef struct Asking
{
	SlicedUsage *usage;
	TimestampTz deadline;
	MemoryContext mcxt;
} Asking;

/* Run a query; false if it finds nothing. */
static bool
found(const char *sql)
{
	if (SPI_execute(sql, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read pg_stat_statements");
	return SPI_processed > 0;
}

static void
ask(void *arg)
{
	Asking	   *asking = arg;
	MemoryContext old;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	asking->usage->known =
		found("SELECT n.nspname FROM pg_catalog.pg_extension e"
			  " JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace"
			  " WHERE e.extname OPERATOR(pg_catalog.=) 'pg_stat_statements'");
	if (asking->usage->known &&
		found(psprintf("SELECT query, pg_catalog.sum(calls)::pg_catalog.float8,"
					   " pg_catalog.sum(total_exec_time)::pg_catalog.float8,"
					   " pg_catalog.sum(wal_bytes)::pg_catalog.float8, userid::pg_catalog.int8::pg_catalog.float8"
					   " FROM %s.pg_stat_statements"
					   " WHERE dbid OPERATOR(pg_catalog.=) %u::pg_catalog.oid AND query IS NOT NULL"
					   " GROUP BY query, userid ORDER BY 3 DESC LIMIT %d",
					   quote_identifier(SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1)),
					   MyDatabaseId, STATEMENTS)))
	{
		old = MemoryContextSwitchTo(asking->mcxt);
		add_statements(asking->usage, asking->deadline);
		MemoryContextSwitchTo(old);
	}
	SPI_finish();
}

SlicedUsage *
sliced_usage(TimestampTz deadline)
{
	SlicedUsage *usage = palloc0(sizeof(SlicedUsage));
	Asking		asking = {usage, deadline, CurrentMemoryContext};
	ErrorData  *problem = sliced_try(ask, &asking);

	if (problem != NULL)
	{
		usage->known = false;
		ereport(NOTICE,
				errmsg("pg_stat_statements cannot be asked: %s", problem->message));
	}
	return usage;
}

SlicedUsed
sliced_usage_of(const SlicedUsage *usage, Oid relid, int attno)
{
	SlicedUsed	result = {relid, attno};
	char	   *name = get_attname(relid, attno, false);
	List	   *tables = get_rel_relispartition(relid) ? get_partition_ancestors(relid) : NIL;
	ListCell   *lc;

	foreach(lc, usage->used)
	{
		const SlicedUsed *used = lfirst(lc);

		/* partitions have the same columns, by name */
		if (used->relid != relid ? !list_member_oid(tables, used->relid) || get_attnum(used->relid, name) != used->attno :
			used->attno != attno)
			continue;
		result.reads += used->reads;
		result.changes += used->changes;
		result.ms += used->ms;
		result.wal += used->wal;
		if (result.longest == NULL)
			result.longest = used->longest;
	}
	return result;
}
