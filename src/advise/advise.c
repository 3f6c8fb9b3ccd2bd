/*
 * advise.c
 *	  sliced.advise(): what to do with tables.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "advise/advice.h"
#include "advise/survey.h"
#include "advise/usage.h"
#include "base/pretty.h"
#include "base/settings.h"
#include "base/tables.h"
#include "catalog/pg_authid.h"
#include "commands/dbcommands.h"
#include "decode/decoding.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"
#include "utils/varlena.h"

#define COLUMNS		7

/* Temporary files of a database are worth mentioning once they have been this large. */
#define TEMPORARY_MUCH	(1024.0 * 1024 * 1024)

/* This part of the time is for asking pg_stat_statements. */
#define ASK_UNTIL	0.2

typedef struct Advising
{
	ReturnSetInfo *result;
	const SlicedUsage *usage;
	int			n;				/* pieces of advice */
} Advising;

static void
put_bytes(Datum *values, bool *nulls, int i, double bytes)
{
	values[i] = Int64GetDatum((int64) bytes);
	nulls[i] = bytes <= 0;
}

/* Put advice on a table, or on the database if 'rel' is NULL. */
static void
put_advice(Advising *advising, Relation rel, const SlicedAdvice *advice)
{
	Datum		values[COLUMNS] = {0};
	bool		nulls[COLUMNS] = {false};

	nulls[0] = rel == NULL;
	if (rel != NULL)
		values[0] = sliced_table_datum(RelationGetRelid(rel));
	nulls[1] = advice->attno == 0;
	if (advice->attno != 0)
		values[1] = NameGetDatum(&TupleDescAttr(RelationGetDescr(rel), advice->attno - 1)->attname);
	values[2] = CStringGetTextDatum(advice->topic);
	values[3] = CStringGetTextDatum(advice->text);
	put_bytes(values, nulls, 4, advice->now);
	put_bytes(values, nulls, 5, advice->then);
	nulls[6] = advice->sql == NULL;
	if (advice->sql != NULL)
		values[6] = CStringGetTextDatum(advice->sql);
	advising->n++;
	tuplestore_putvalues(advising->result->setResult, advising->result->setDesc, values, nulls);
}

static void
advise_table(const SlicedEstimate *e, void *arg)
{
	Advising   *advising = arg;
	ListCell   *lc;

	foreach(lc, sliced_advice(e, advising->usage))
		put_advice(advising, e->rel, lfirst(lc));
}

/*
 * Advise compression if this database's statements have written many temporary files.
 */
static void
advise_temporary_files(Advising *advising)
{
	SlicedAdvice advice = {.topic = "temporary files"};
	/* NULL: sliced_spill is not installed, or we would have loaded it */
	const char *setting = GetConfigOption("sliced.temp_file_compression", true, false);

	advice.now = DatumGetInt64(DirectFunctionCall1(pg_stat_get_db_temp_bytes, ObjectIdGetDatum(MyDatabaseId)));
	if (advice.now < TEMPORARY_MUCH || (setting != NULL && strcmp(setting, "off") != 0))
		return;
	advice.text = psprintf("%s of temporary files since statistics were reset: those of joins, groups and sorts can be "
						   "compressed, %s", sliced_pretty_bytes(advice.now),
						   setting == NULL ? "by sliced_spill, which is not installed" :
						   "in sessions that load sliced_spill or pg_sliced");
	if (setting != NULL)
		advice.sql = psprintf("ALTER DATABASE %s SET sliced.temp_file_compression = 'auto';",
							  quote_identifier(get_database_name(MyDatabaseId)));
	put_advice(advising, NULL, &advice);
}

/*
 * SQL that preloads the library, with those that are preloaded already.  NULL if the
 * user may not see these, or if we do not understand them.
 */
static char *
preload(void)
{
	StringInfoData sql;
	List	   *libraries = NIL;
	ListCell   *lc;

	if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_SETTINGS) ||
		!SplitDirectoriesString(pstrdup(GetConfigOption("shared_preload_libraries", false, false)), ',', &libraries))
		return NULL;
	initStringInfo(&sql);
	appendStringInfoString(&sql, "ALTER SYSTEM SET shared_preload_libraries = ");
	foreach(lc, libraries)
		appendStringInfo(&sql, "%s, ", quote_literal_cstr(lfirst(lc)));
	appendStringInfoString(&sql, "'pg_sliced';  -- and restart the server");
	return sql.data;
}

/* Advise preloading if decoders, which know nothing of slices, keep us from writing any. */
static void
advise_decoding(Advising *advising)
{
	if (XLogLogicalInfoActive() && sliced_decoding() == SLICED_DECODING_AUTO && sliced_logical_slot_exists())
		put_advice(advising, NULL, &(SlicedAdvice) {
			.topic = "decoding",
			.text = "there are logical slots, and the server does not preload pg_sliced: so values are stored as heap stores them, in all sliced tables, and changes of parts gain nothing",
			.sql = preload()
		});
}

PG_FUNCTION_INFO_V1(sliced_advise);

Datum
sliced_advise(PG_FUNCTION_ARGS)
{
	TimestampTz began = GetCurrentTimestamp();
	Advising	advising = {.result = (ReturnSetInfo *) fcinfo->resultinfo};
	SlicedSurvey survey = {.visit = advise_table, .arg = &advising};

	sliced_argument_check(fcinfo, 1, "max_time");
	survey.deadline = sliced_deadline(PG_GETARG_INTERVAL_P(1));
	InitMaterializedSRF(fcinfo, 0);
	advising.usage = sliced_usage(began + (survey.deadline - began) * ASK_UNTIL);
	if (PG_ARGISNULL(0))
	{
		sliced_survey_all(&survey);
		advise_temporary_files(&advising);
		advise_decoding(&advising);
	}
	else
		sliced_survey_relation(&survey, PG_GETARG_OID(0));
	if (advising.n == 0)
		ereport(NOTICE,
				errmsg("no advice: no table was looked at"),
				PG_ARGISNULL(0) ?
				errdetail("Advice is on tables of 1 MB and more with columns that can be long, and that you may read.") : 0);
	return (Datum) 0;
}
