/*
 * survey.c
 *	  Estimates of many tables in a bounded time, while other sessions use them.
 */
#include "postgres.h"

#include "access/relation.h"
#include "advise/survey.h"
#include "base/identity.h"
#include "base/locks.h"
#include "base/try.h"
#include "catalog/catalog.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* Smaller tables are left out unless the user asks for them. */
#define SMALL_TABLE		(1024 * 1024)

/* The longest time for one table of many. */
#define SECONDS_EACH	10

/*
 * Milliseconds that we wait for locks of other sessions.  Many small tables whose indexes
 * are locked must not take the time of the large ones.
 */
#define WAIT_TO_MEASURE	1
#define WAIT_TO_VISIT	100

/* One table of many, in a subtransaction: see sliced_try_soon(). */
typedef struct OneOfMany
{
	SlicedSurvey *survey;
	Oid			relid;
	TimestampTz deadline;
	double		bytes;
} OneOfMany;

/* Fail unless this is a table that can be estimated. */
static void
check_table(Relation rel)
{
	const char *name = RelationGetRelationName(rel);

	if (IsSystemRelation(rel))
		ereport(ERROR,
				errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("\"%s\" is a system table", name));
	if ((rel->rd_rel->relkind != RELKIND_RELATION && rel->rd_rel->relkind != RELKIND_MATVIEW) ||
		(!sliced_is_ours(rel) && rel->rd_rel->relam != HEAP_TABLE_AM_OID))
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a table of access method \"heap\" or \"sliced\"", name));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("\"%s\" is a temporary table of another session", name));
}

static void
visit(SlicedSurvey *survey, Relation rel, TimestampTz deadline)
{
	SlicedEstimate *e;

	check_table(rel);
	e = sliced_estimate(rel, deadline);
	survey->visit(e, survey->arg);
	MemoryContextDelete(e->mcxt);
}

/* Open the table without waiting for a session that changes it; NULL if it is gone. */
static Relation
open_one(const OneOfMany *one)
{
	if (!ConditionalLockRelationOid(one->relid, AccessShareLock))
		ereport(ERROR,
				errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				errmsg("another session has locked it"));
	return try_relation_open(one->relid, NoLock);
}

static void
visit_one(void *arg)
{
	OneOfMany  *one = arg;
	Relation	rel = open_one(one);

	if (rel == NULL)
		return;
	visit(one->survey, rel, one->deadline);
	relation_close(rel, AccessShareLock);
}

static void
measure_one(void *arg)
{
	OneOfMany  *one = arg;
	Relation	rel = open_one(one);

	if (rel == NULL)
		return;
	one->bytes = sliced_table_bytes(rel);
	relation_close(rel, AccessShareLock);
}

/*
 * Call 'work' for the table.  If it fails, the table is left out.  An index or the toast
 * relation may be locked where the table is not: wait 'ms' for these.
 */
static void
try_one(void (*work) (void *), OneOfMany *one, int ms)
{
	ErrorData  *problem = sliced_try_soon(work, one, ms);
	char	   *name;

	if (problem == NULL)
		return;
	name = get_rel_name(one->relid);
	if (name == NULL)
		return;
	one->survey->left_out++;
	ereport(WARNING,
			errmsg("table \"%s\" is left out: %s",
				   quote_qualified_identifier(get_namespace_name(get_rel_namespace(one->relid)), name),
				   problem->message));
}

/* Find tables that may be worth a look, and that the user may read. */
static List *
find_tables(void)
{
	MemoryContext mcxt = CurrentMemoryContext;
	List	   *tables = NIL;

	/*
	 * do not ask for sizes here: that would wait for sessions that have locked a
	 * table
	 */
	if (SPI_connect() != SPI_OK_CONNECT ||
		SPI_execute("SELECT c.oid FROM pg_catalog.pg_class c"
					" JOIN pg_catalog.pg_am a ON a.oid OPERATOR(pg_catalog.=) c.relam"
					" JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace"
					" WHERE c.relkind OPERATOR(pg_catalog.=) ANY ('{r,m}')"
					" AND (a.amname OPERATOR(pg_catalog.=) 'heap' OR a.amhandler OPERATOR(pg_catalog.=) 'sliced.handler'::pg_catalog.regproc)"
					" AND c.reltoastrelid OPERATOR(pg_catalog.<>) 0::pg_catalog.oid"
					" AND c.relpersistence OPERATOR(pg_catalog.<>) 't'"
					" AND n.nspname OPERATOR(pg_catalog.<>) ALL ('{pg_catalog,information_schema,sliced}')"
					" AND pg_catalog.has_table_privilege(c.oid, 'SELECT')",
					true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not find tables");
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		bool		isnull;
		Datum		oid = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &isnull);
		MemoryContext old = MemoryContextSwitchTo(mcxt);

		tables = lappend_oid(tables, DatumGetObjectId(oid));
		MemoryContextSwitchTo(old);
	}
	SPI_finish();
	return tables;
}

/* A table and its size. */
typedef struct Candidate
{
	Oid			relid;
	double		bytes;
} Candidate;

static int
larger_first(const ListCell *a, const ListCell *b)
{
	double		left = ((Candidate *) lfirst(a))->bytes;
	double		right = ((Candidate *) lfirst(b))->bytes;

	return left > right ? -1 : left < right;
}

/*
 * The tables that are neither small nor locked by another session, the largest first.
 */
static List *
choose_tables(SlicedSurvey *survey, List *tables)
{
	List	   *candidates = NIL;
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, tables)
	{
		Candidate  *candidate = palloc(sizeof(Candidate));
		OneOfMany	one = {survey, lfirst_oid(lc)};

		CHECK_FOR_INTERRUPTS();
		try_one(measure_one, &one, WAIT_TO_MEASURE);
		*candidate = (Candidate) {one.relid, one.bytes};
		if (one.bytes >= SMALL_TABLE)
			candidates = lappend(candidates, candidate);
	}
	list_sort(candidates, larger_first);
	foreach(lc, candidates)
		result = lappend_oid(result, ((Candidate *) lfirst(lc))->relid);
	return result;
}

/* Look at as many tables as there is time for. */
static void
visit_tables(SlicedSurvey *survey, List *tables)
{
	int			left = list_length(tables);
	TimestampTz spoken = GetCurrentTimestamp();
	ListCell   *lc;

	foreach(lc, tables)
	{
		TimestampTz now = GetCurrentTimestamp();
		TimestampTz each = Max((survey->deadline - now) / left, USECS_PER_SEC / 20);
		OneOfMany	one = {survey, lfirst_oid(lc), now + Min(each, SECONDS_EACH * USECS_PER_SEC)};

		if (now >= survey->deadline)
		{
			survey->left_out += left;
			ereport(NOTICE,
					errmsg_plural("the time is over: %d table, the smallest one, was not looked at",
								  "the time is over: %d tables, the smallest ones, were not looked at", left, left));
			return;
		}
		if (now - spoken >= 5 * USECS_PER_SEC)
		{
			spoken = now;
			ereport(NOTICE,
					errmsg("%d of %d tables looked at", list_length(tables) - left, list_length(tables)));
		}
		try_one(visit_one, &one, WAIT_TO_VISIT);
		left--;
	}
}

void
sliced_survey_all(SlicedSurvey *survey)
{
	visit_tables(survey, choose_tables(survey, find_tables()));
}

void
sliced_survey_relation(SlicedSurvey *survey, Oid relid)
{
	Relation	rel;
	List	   *partitions = NIL;
	ListCell   *lc;

	/* an estimate tells how long values are, and how alike, as sliced.toast_space() does */
	sliced_relation_lock(relid, SLICED_SCANNER, AccessShareLock, false);
	rel = relation_open(relid, NoLock);
	if (rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		visit(survey, rel, survey->deadline);
	else
	{
		foreach(lc, find_all_inheritors(relid, NoLock, NULL))
			if (get_rel_relkind(lfirst_oid(lc)) == RELKIND_RELATION)
				partitions = lappend_oid(partitions, lfirst_oid(lc));
		visit_tables(survey, partitions);
	}
	relation_close(rel, NoLock);
}
