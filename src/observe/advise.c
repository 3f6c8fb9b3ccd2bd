/*
 * advise.c
 *	  sliced.advise(): what to do with a table, in SQL, what that will bring, or to leave it.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "base/compat.h"
#include "base/identity.h"
#include "base/limits.h"
#include "base/settings.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "codec/codec.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "observe/estimate.h"
#include "observe/usage.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

/* What saves less than this is not worth the trouble ... */
#define WORTH_IT		0.10

/* ... and what saves less than this more is not worth slower reads. */
#define MUCH_BETTER		0.10

/* So much more than what is there would take if it were written anew is much. */
#define MUCH_SPACE		1.3

/* Smaller tables are not mentioned unless they are asked for. */
#define SMALL_TABLE		(1024 * 1024)

/* Values that are near the end of what PostgreSQL can store; ids that are near the end of theirs. */
#define NEAR_LIMIT		(512.0 * 1024 * 1024)
#define NEAR_LAST_ID	(PG_UINT32_MAX / 2)

/* A column is mentioned if it has this part of what the values take. */
#define SHARE_OF_COLUMN	0.1

/* The longest time for one table of many. */
#define SECONDS_EACH	10

#define COLUMNS			7

typedef struct Advice
{
	ReturnSetInfo *result;
	const SlicedUsage *usage;
	const SlicedEstimate *e;
	Relation	rel;
	bool		is_ours;
	const char *name;			/* as a literal */
	int			rows;			/* of advice, for this table */
} Advice;

/* ---- rows of advice ---- */

/* Add one; 'attno' 0: of the whole table; 'now' and 'then' in bytes, 'then' 0: not known. */
static void
say(Advice *a, int attno, const char *topic, const char *text, double now, double then,
	const char *sql)
{
	Datum		values[COLUMNS];
	bool		nulls[COLUMNS] = {false};

	values[0] = ObjectIdGetDatum(RelationGetRelid(a->rel));
	nulls[1] = attno == 0;
	if (attno != 0)
		values[1] = NameGetDatum(&TupleDescAttr(RelationGetDescr(a->rel), attno - 1)->attname);
	values[2] = CStringGetTextDatum(topic);
	values[3] = CStringGetTextDatum(text);
	nulls[4] = now <= 0;
	values[4] = Int64GetDatum((int64) now);
	nulls[5] = then <= 0;
	values[5] = Int64GetDatum((int64) then);
	nulls[6] = sql == NULL;
	if (sql != NULL)
		values[6] = CStringGetTextDatum(sql);
	tuplestore_putvalues(a->result->setResult, a->result->setDesc, values, nulls);
	a->rows++;
}

static char *
pretty(double bytes)
{
	return TextDatumGetCString(DirectFunctionCall1(pg_size_pretty, Int64GetDatum((int64) bytes)));
}

/* ---- choices ---- */

/* How much slower to read are values outside: less is better, as we have measured it. */
static int
slowness(const SlicedChoice *choice)
{
	return (choice->codec == SLICED_CODEC_ZSTD ? 2 : 0) + choice->dictionary +
		(choice->level > sliced_zstd_level ? 2 : 0);
}

/* The fastest to read of those that are about as small as the smallest; of any target, or none. */
static const SlicedEstimated *
best_choice(const SlicedEstimate *e, bool with_target)
{
	const SlicedEstimated *best = NULL;
	double		smallest = 0;

	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < e->nchoices; i++)
		{
			const SlicedEstimated *this = &e->choices[i];

			/* who has pglz has no reason to ask for it */
			if (this->choice.codec == SLICED_CODEC_PGLZ || with_target != (this->choice.target != 0))
				continue;
			if (pass == 0)
				smallest = smallest == 0 ? this->bytes : Min(smallest, this->bytes);
			else if (this->bytes * (1 - MUCH_BETTER) <= smallest &&
					 (best == NULL || slowness(&this->choice) < slowness(&best->choice)))
				best = this;
		}
	return best;
}

/* The column that has most of what can be compressed; 0 if none has any. */
static int
main_column(const Advice *a)
{
	int			most = 0;

	for (int i = 0; i < RelationGetDescr(a->rel)->natts; i++)
	{
		SlicedColumnSources from;

		if (a->e->columns[i].raw == 0 || (most > 0 && a->e->columns[i].raw <= a->e->columns[most - 1].raw))
			continue;
		(void) sliced_column_explain(a->rel, i + 1, &from);
		if (from.codec_from.origin != SLICED_FROM_STORAGE)
			most = i + 1;
	}
	return most;
}

/* What new values of that column get now; NULL if that was not tried. */
static const SlicedEstimated *
present_choice(const Advice *a)
{
	int			attno = main_column(a);
	SlicedCompression present;

	if (!a->is_ours || attno == 0)
		return NULL;
	present = sliced_column(a->rel, attno).compression;
	for (int i = 0; i < a->e->nchoices; i++)
	{
		const SlicedChoice *choice = &a->e->choices[i].choice;

		if (choice->codec == present.codec && choice->target == 0 &&
			(choice->level == 0 || choice->level == present.level) &&
			choice->dictionary == (present.dictionary.id != 0))
			return &a->e->choices[i];
	}
	return NULL;
}

static char *
describe(const SlicedChoice *choice)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, sliced_codec_get(choice->codec)->name);
	if (choice->level > sliced_zstd_level)
		appendStringInfo(&text, " of level %d", choice->level);
	if (choice->dictionary)
		appendStringInfoString(&text, " with a dictionary");
	return text.data;
}

/* ---- SQL ---- */

/* Options that a column is to have, with the toaster that its label names. */
static void
add_label(StringInfo sql, const Advice *a, int i, const SlicedChoice *choice)
{
	SlicedColumnSources from;

	(void) sliced_column_explain(a->rel, i + 1, &from);
	if (from.codec_from.origin == SLICED_FROM_STORAGE)
		return;
	appendStringInfo(sql, "SELECT sliced.alter_column(%s, %s, '", a->name,
					 quote_literal_cstr(NameStr(TupleDescAttr(RelationGetDescr(a->rel), i)->attname)));
	if (from.toaster_from.origin == SLICED_FROM_COLUMN_LABEL)
		appendStringInfo(sql, "toaster=%s, ", NameStr(from.toaster));
	appendStringInfo(sql, "compression=%s", sliced_codec_get(choice->codec)->name);
	if (choice->level > sliced_zstd_level)
		appendStringInfo(sql, ", level=%d", choice->level);
	if (choice->dictionary)
		appendStringInfoString(sql, ", dictionary=auto");
	appendStringInfoString(sql, "');\n");
}

/* How to come to this choice. */
static char *
way_to(const Advice *a, const SlicedEstimated *to)
{
	StringInfoData sql;
	double		all = 0;
	char	   *name = quote_qualified_identifier(get_namespace_name(RelationGetNamespace(a->rel)),
												  RelationGetRelationName(a->rel));

	initStringInfo(&sql);
	if (!a->is_ours)
		appendStringInfo(&sql, "SELECT sliced.adopt(%s);\n", a->name);
	if (to->choice.target != 0)
		appendStringInfo(&sql, "ALTER %s %s SET (toast_tuple_target = %d);\n",
						 a->rel->rd_rel->relkind == RELKIND_MATVIEW ? "MATERIALIZED VIEW" : "TABLE",
						 name, to->choice.target);
	for (int i = 0; i < RelationGetDescr(a->rel)->natts; i++)
		all += to->column_bytes[i];
	for (int i = 0; i < RelationGetDescr(a->rel)->natts; i++)
		if (to->column_bytes[i] >= SHARE_OF_COLUMN * all)
			add_label(&sql, a, i, &to->choice);
	if (to->choice.dictionary)
		appendStringInfo(&sql, "SELECT * FROM sliced.train(%s);\n", a->name);
	appendStringInfo(&sql, "VACUUM (FULL, ANALYZE) %s;  -- locks the table; CALL sliced.convert(%s) does not, and leaves the space to new rows",
					 name, a->name);
	return sql.data;
}

/* ---- what there is to say ---- */

/* Smaller with other settings? */
static void
advise_storage(Advice *a)
{
	const SlicedEstimate *e = a->e;
	const SlicedEstimated *best = best_choice(e, false);
	const SlicedEstimated *best_short = best_choice(e, true);
	const SlicedEstimated *present = present_choice(a);
	double		now = e->bytes;

	if (best == NULL)
		return;
	/* of what is there some is empty: that is for advise_space() to say */
	if (present != NULL && best->bytes > present->bytes * (1 - WORTH_IT))
		best = present;
	else if (best->bytes <= now * (1 - WORTH_IT))
		say(a, 0, "storage",
			present != NULL ?
			psprintf("%s takes %s; with its present settings, written anew, the table takes %s",
					 describe(&best->choice), pretty(best->bytes), pretty(present->bytes)) :
			psprintf("%s takes %s instead of %s", describe(&best->choice), pretty(best->bytes),
					 pretty(now)),
			now, best->bytes, way_to(a, best));
	if (best_short != NULL && best_short->bytes <= Min(best->bytes, now) * (1 - WORTH_IT))
		say(a, 0, "short rows",
			psprintf("%s takes %s if short values are moved out of their rows as well; scans that read them are slower then, others faster",
					 describe(&best_short->choice), pretty(best_short->bytes)),
			now, best_short->bytes, way_to(a, best_short));
}

/* Is much of it empty, dead or in core's format? */
static void
advise_space(Advice *a)
{
	const SlicedEstimate *e = a->e;
	const SlicedEstimated *present = present_choice(a);

	if (a->is_ours && e->core_outside > WORTH_IT * e->bytes)
		say(a, 0, "convert",
			psprintf("%s of values are in the format of heap, from before the table was adopted",
					 pretty(e->core_outside)),
			e->core_outside, 0, psprintf("CALL sliced.convert(%s);", a->name));
	if (present != NULL && e->bytes > MUCH_SPACE * present->bytes &&
		e->bytes - present->bytes > SMALL_TABLE)
		say(a, 0, "space",
			psprintf("about %s is free, dead, or fragments: new rows will use it; VACUUM FULL gives it back",
					 pretty(e->bytes - present->bytes)),
			e->bytes, present->bytes,
			psprintf("SELECT * FROM sliced.table_space(%s);", a->name));
}

/* Do statements read or change parts of values? */
static void
advise_parts(Advice *a)
{
	const SlicedEstimate *e = a->e;

	for (int i = 0; i < RelationGetDescr(a->rel)->natts; i++)
	{
		const SlicedEstimateColumn *column = &e->columns[i];
		SlicedUsed	used;

		if (a->is_ours || column->outside == 0)
			continue;
		used = sliced_usage_of(a->usage, RelationGetRelid(a->rel), i + 1);
		if (used.reads + used.changes == 0)
			continue;
		say(a, i + 1, "parts",
			psprintf("%.0f calls of statements have read parts of values, %.0f have changed some, in %.0f ms; of %.0f values of %s on average %.0f are outside their rows, where only the part would be read or written; most of the time: %s",
					 used.reads, used.changes, used.ms, column->values,
					 pretty(column->raw / Max(column->values, 1)), column->outside, used.longest),
			0, 0, psprintf("SELECT sliced.adopt(%s);", a->name));
	}
}

/* Is something near its end? */
static void
advise_limits(Advice *a)
{
	double		outside = 0;

	for (int i = 0; i < RelationGetDescr(a->rel)->natts; i++)
	{
		const SlicedEstimateColumn *column = &a->e->columns[i];

		outside += column->outside;
		if (column->longest >= NEAR_LIMIT)
			say(a, i + 1, "limit",
				psprintf("a value has %s: none can have more than 1 GB", pretty(column->longest)),
				column->longest, 0, NULL);
	}
	if (outside >= NEAR_LAST_ID)
		say(a, 0, "ids",
			psprintf("%.0f values are outside their rows; a table has ids for 4,294,967,296, and looks longer and longer for a free one: partition it",
					 outside),
			0, 0, NULL);
}

/* Nothing so far: why? */
static void
advise_to_leave(Advice *a)
{
	const SlicedEstimate *e = a->e;
	const SlicedEstimated *best = best_choice(e, false);
	double		outside = 0;

	for (int i = 0; i < RelationGetDescr(a->rel)->natts; i++)
		outside += e->columns[i].outside;
	if (!a->is_ours && outside > 0 && !a->usage->known)
		say(a, 0, "leave",
			psprintf("leave it, unless statements read or change parts of the %.0f values outside their rows: pg_stat_statements would tell",
					 outside),
			e->bytes, best == NULL ? 0 : best->bytes, NULL);
	else
		say(a, 0, "leave",
			e->raw == 0 ? "leave it: there is nothing that could be stored otherwise" :
			outside == 0 ? "leave it: all values are in their rows, and would stay there" :
			"leave it: other settings would save less than a tenth",
			e->bytes, best == NULL ? 0 : best->bytes, NULL);
}

/* ---- tables ---- */

static void
advise_table(Advice *a, Relation rel, TimestampTz deadline)
{
	SlicedEstimate nothing = {.rel = rel};
	SlicedEstimate *e = NULL;

	a->rel = rel;
	a->rows = 0;
	a->is_ours = sliced_is_ours(rel);
	a->name = quote_literal_cstr(quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
															RelationGetRelationName(rel)));
	if (sliced_estimate_possible(rel))
		e = sliced_estimate(rel, deadline);
	else
		nothing.columns = palloc0(RelationGetDescr(rel)->natts * sizeof(SlicedEstimateColumn));
	a->e = e != NULL ? e : &nothing;
	advise_storage(a);
	advise_space(a);
	advise_parts(a);
	advise_limits(a);
	if (a->rows == 0)
		advise_to_leave(a);
	if (e != NULL)
		MemoryContextDelete(e->mcxt);
}

static const char *const locked_message = "somebody has locked it";

static void
warn_of(Oid relid, const char *problem)
{
	char	   *name = get_rel_name(relid);

	if (name != NULL)
		ereport(WARNING,
				errmsg("no advice on table \"%s\": %s", name, problem));
}

/* One table of many, in a subtransaction: see sliced_try(). */
typedef struct OneOfMany
{
	Advice	   *advice;
	Oid			relid;
	TimestampTz deadline;
} OneOfMany;

static void
advise_one(void *arg)
{
	OneOfMany  *one = arg;
	Relation	rel;

	/* nobody who changes a table keeps us waiting */
	if (!ConditionalLockRelationOid(one->relid, AccessShareLock))
		ereport(ERROR,
				errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				errmsg_internal("%s", locked_message));
	rel = try_relation_open(one->relid, NoLock);
	if (rel == NULL)
		return;
	advise_table(one->advice, rel, one->deadline);
	relation_close(rel, AccessShareLock);
}

/* Tables that may be worth it, and may be read. */
static List *
find_tables(void)
{
	MemoryContext mcxt = CurrentMemoryContext;
	List	   *tables = NIL;

	/* sizes are not asked for here: that would wait for those who have locked a table */
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

/* Those that are not small, and that nobody has locked, the largest first. */
static List *
choose_tables(List *tables)
{
	List	   *candidates = NIL;
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, tables)
	{
		Candidate  *candidate = palloc(sizeof(Candidate));
		Relation	rel;

		CHECK_FOR_INTERRUPTS();
		*candidate = (Candidate) {lfirst_oid(lc), 0};
		if (!ConditionalLockRelationOid(candidate->relid, AccessShareLock))
			warn_of(candidate->relid, locked_message);
		else if ((rel = try_relation_open(candidate->relid, NoLock)) != NULL)
		{
			candidate->bytes = sliced_table_bytes(rel);
			relation_close(rel, AccessShareLock);
			if (candidate->bytes >= SMALL_TABLE)
				candidates = lappend(candidates, candidate);
		}
	}
	list_sort(candidates, larger_first);
	foreach(lc, candidates)
		result = lappend_oid(result, ((Candidate *) lfirst(lc))->relid);
	return result;
}

/* Look at as many tables as there is time for. */
static void
advise_tables(Advice *a, List *tables, TimestampTz deadline)
{
	int			left = list_length(tables);
	TimestampTz spoken = GetCurrentTimestamp();
	ListCell   *lc;

	foreach(lc, tables)
	{
		TimestampTz now = GetCurrentTimestamp();
		TimestampTz each = Max((deadline - now) / left, USECS_PER_SEC / 20);
		OneOfMany	one = {a, lfirst_oid(lc), now + Min(each, SECONDS_EACH * USECS_PER_SEC)};
		char	   *problem;

		if (now >= deadline)
		{
			ereport(NOTICE,
					errmsg("the time is over: %d tables, the smallest ones, were not looked at", left));
			return;
		}
		if (now - spoken >= 5 * USECS_PER_SEC)
		{
			spoken = now;
			ereport(NOTICE,
					errmsg("%d of %d tables looked at", list_length(tables) - left, list_length(tables)));
		}
		problem = sliced_try(advise_one, &one);
		if (problem != NULL)
			warn_of(one.relid, problem);
		left--;
	}
}

/* A table, or all partitions of one. */
static void
advise_relation(Advice *a, Oid relid, TimestampTz deadline)
{
	Relation	rel = relation_open(relid, AccessShareLock);
	List	   *partitions = NIL;
	ListCell   *lc;

	sliced_estimate_check(rel, true);
	if (rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		advise_table(a, rel, deadline);
	else
	{
		foreach(lc, find_all_inheritors(relid, NoLock, NULL))
			if (RELKIND_HAS_TABLE_AM(get_rel_relkind(lfirst_oid(lc))))
				partitions = lappend_oid(partitions, lfirst_oid(lc));
		advise_tables(a, partitions, deadline);
	}
	relation_close(rel, AccessShareLock);
}

PG_FUNCTION_INFO_V1(sliced_advise);

Datum
sliced_advise(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	TimestampTz began = GetCurrentTimestamp();
	TimestampTz deadline;
	Advice		advice = {.result = result};

	if (PG_ARGISNULL(1))
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("max_time must not be null"));
	deadline = sliced_deadline(PG_GETARG_INTERVAL_P(1));
	InitMaterializedSRF(fcinfo, 0);
	advice.usage = sliced_usage(began + (deadline - began) / 5);
	if (PG_ARGISNULL(0))
		advise_tables(&advice, choose_tables(find_tables()), deadline);
	else
		advise_relation(&advice, PG_GETARG_OID(0), deadline);
	return (Datum) 0;
}
