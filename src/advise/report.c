/*
 * report.c
 *	  sliced.report(): an HTML page that shows where the space of large values is,
 *	  what would reduce it, and what changes have cost.
 *
 * The page is one file, which needs no other file and no script.  It is well-formed
 * XML as well.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "advise/html.h"
#include "advise/report.h"
#include "advise/survey.h"
#include "base/identity.h"
#include "base/tables.h"
#include "codec/codec.h"
#include "commands/dbcommands.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

/* This part of the time is for asking pg_stat_statements. */
#define ASK_UNTIL	0.2

/* ---- collecting ---- */

static double
index_bytes(Relation rel)
{
	double		bytes = 0;
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(rel))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		bytes += RelationGetNumberOfBlocks(index) * (double) BLCKSZ;
		index_close(index, AccessShareLock);
	}
	return bytes;
}

static char *
choice_name(const SlicedChoice *choice)
{
	StringInfoData name;

	initStringInfo(&name);
	appendStringInfoString(&name, sliced_codec_get(choice->codec)->name);
	if (choice->level != 0)
		appendStringInfo(&name, " %d", choice->level);
	if (choice->dictionary)
		appendStringInfoString(&name, ", dictionary");
	if (choice->target != 0)
		appendStringInfoString(&name, ", short rows too");
	return name.data;
}

static void
copy_choices(SlicedReportTable *table, const SlicedEstimate *e)
{
	const SlicedEstimated *present = sliced_present_choice(e);

	table->nchoices = e->nchoices;
	table->choices = palloc(e->nchoices * sizeof(SlicedReportChoice));
	for (int i = 0; i < e->nchoices; i++)
		table->choices[i] = (SlicedReportChoice) {
			.name = choice_name(&e->choices[i].choice),
			.bytes = e->choices[i].bytes,
			.read_rate = e->choices[i].read_rate,
			.is_present = &e->choices[i] == present
		};
}

static void
copy_columns(SlicedReportTable *table, const SlicedEstimate *e)
{
	TupleDesc	desc = RelationGetDescr(e->rel);

	table->columns = palloc(desc->natts * sizeof(SlicedReportColumn));
	for (int i = 0; i < desc->natts; i++)
		if (e->columns[i].raw > 0)
			table->columns[table->ncolumns++] = (SlicedReportColumn) {
				.name = pstrdup(NameStr(TupleDescAttr(desc, i)->attname)),
				.is = e->columns[i]
			};
}

static char *
field(MemoryContext mcxt, uint64 row, int column)
{
	char	   *value = SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);

	return MemoryContextStrdup(mcxt, value != NULL ? value : "");
}

/*
 * Copy the dictionaries that the table has in use.  We hold its lock already, so we
 * wait for no other session.
 */
static void
copy_dictionaries(SlicedReportTable *table)
{
	MemoryContext mcxt = CurrentMemoryContext;
	char	   *sql = psprintf("SELECT col, pg_size_pretty(bytes::int8), samples, trained_at::date, round(100 * saves)"
							   " FROM sliced_functions.table_dictionaries(%u) WHERE in_use ORDER BY 1", table->relid);

	if (SPI_connect() != SPI_OK_CONNECT || SPI_execute(sql, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read sliced_functions.table_dictionaries");
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		SlicedReportDictionary *dictionary = MemoryContextAlloc(mcxt, sizeof(SlicedReportDictionary));
		MemoryContext old;

		*dictionary = (SlicedReportDictionary) {
			field(mcxt, i, 1), field(mcxt, i, 2), field(mcxt, i, 3), field(mcxt, i, 4), field(mcxt, i, 5)
		};
		old = MemoryContextSwitchTo(mcxt);
		table->dictionaries = lappend(table->dictionaries, dictionary);
		MemoryContextSwitchTo(old);
	}
	SPI_finish();
}

static void
add_table(const SlicedEstimate *e, void *arg)
{
	SlicedReport *report = arg;
	SlicedReportTable *table = palloc0(sizeof(SlicedReportTable));
	Relation	rel = e->rel;
	Datum		toastrelid = ObjectIdGetDatum(rel->rd_rel->reltoastrelid);
	ListCell   *lc;

	table->relid = RelationGetRelid(rel);
	table->name = quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
											 RelationGetRelationName(rel));
	table->is_ours = sliced_is_ours(rel);
	table->rows = RelationGetNumberOfBlocks(rel) * (double) BLCKSZ;
	table->outside = e->bytes - table->rows;
	table->indexes = index_bytes(rel);
	table->raw = e->raw;
	table->nrows = e->rows;
	table->dead = DatumGetInt64(DirectFunctionCall1(pg_stat_get_dead_tuples, toastrelid));
	table->live = DatumGetInt64(DirectFunctionCall1(pg_stat_get_live_tuples, toastrelid));
	copy_columns(table, e);
	copy_choices(table, e);
	if (table->is_ours)
		copy_dictionaries(table);
	table->anew = sliced_written_anew(e);
	table->then = e->bytes;
	table->advice = sliced_advice(e, report->usage);
	foreach(lc, table->advice)
	{
		const SlicedAdvice *advice = lfirst(lc);

		if (advice->sql == NULL || advice->then == 0 || advice->is_variant)
			continue;
		/* what is said of columns adds up */
		table->then = advice->attno == 0 ? Min(table->then, advice->then) :
			table->then - (advice->now - advice->then);
	}
	table->then = Max(table->then, 0);
	report->tables = lappend(report->tables, table);
}

SlicedReportTable *
sliced_report_table(const SlicedReport *report, Oid relid)
{
	ListCell   *lc;

	foreach(lc, report->tables)
		if (((SlicedReportTable *) lfirst(lc))->relid == relid)
			return lfirst(lc);
	return NULL;
}

/* ---- the page ---- */

static void
draw(StringInfo page, const SlicedReport *report)
{
	char	   *database = get_database_name(MyDatabaseId);
	TimestampTz now = GetCurrentTimestamp();

	appendStringInfoString(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
						   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n");
	sliced_html_element(page, "title", NULL, psprintf("pg_sliced: %s", database));
	appendStringInfo(page, "\n<style>\n%s</style>\n</head>\n<body>\n", sliced_report_style);
	sliced_html_element(page, "h1", NULL, psprintf("Large values in %s", database));
	appendStringInfoString(page, "\n<p class=\"note\">");
	sliced_html_text(page, psprintf("%s, PostgreSQL %s. ", timestamptz_to_str(now - now % USECS_PER_SEC),
									GetConfigOption("server_version", false, false)));
	appendStringInfoString(page, "pg_sliced " SLICED_VERSION ". Sizes that are estimates come from a sample of a table's pages, stored on trial.</p>\n"
						   "<p class=\"note\">A sliced table stores large values in small slices, each compressed by itself. sliced.adopt() makes a heap table "
						   "sliced in milliseconds, without rewriting it; ALTER TABLE ... SET ACCESS METHOD heap writes it back.</p>\n");
	sliced_report_summary(page, report);
	sliced_report_advice(page, report);
	sliced_report_tables(page, report);
	sliced_report_choices(page, report);
	sliced_report_places(page, report);
	sliced_report_changes(page, report);
	sliced_report_dictionaries(page, report);
	appendStringInfoString(page, "</body>\n</html>");
}

PG_FUNCTION_INFO_V1(sliced_report);

Datum
sliced_report(PG_FUNCTION_ARGS)
{
	TimestampTz began = GetCurrentTimestamp();
	SlicedReport report = {.tables = NIL};
	SlicedSurvey survey = {.visit = add_table, .arg = &report};
	MemoryContext caller = CurrentMemoryContext;
	StringInfoData page;
	int			level;

	sliced_argument_check(fcinfo, 0, "max_time");
	survey.deadline = sliced_deadline(PG_GETARG_INTERVAL_P(0));
	report.usage = sliced_usage(began + (survey.deadline - began) * ASK_UNTIL);
	/* analyzing statements needed the user's search_path; nothing else does */
	level = NewGUCNestLevel();
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	sliced_survey_all(&survey);
	report.left_out = survey.left_out;

	initStringInfo(&page);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "could not connect to SPI");
	MemoryContextSwitchTo(caller);
	draw(&page, &report);
	SPI_finish();
	AtEOXact_GUC(false, level);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(page.data, page.len));
}
