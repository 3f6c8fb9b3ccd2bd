/*
 * advise.c
 *	  sliced.advise(): what to do with tables.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "observe/advice.h"
#include "observe/survey.h"
#include "observe/usage.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#define COLUMNS		7

/* pg_stat_statements is asked in this part of the time. */
#define ASK_UNTIL	0.2

typedef struct Advising
{
	ReturnSetInfo *result;
	const SlicedUsage *usage;
} Advising;

static void
put_bytes(Datum *values, bool *nulls, int i, double bytes)
{
	values[i] = Int64GetDatum((int64) bytes);
	nulls[i] = bytes <= 0;
}

static void
advise_table(const SlicedEstimate *e, void *arg)
{
	Advising   *advising = arg;
	ListCell   *lc;

	foreach(lc, sliced_advice(e, advising->usage))
	{
		const SlicedAdvice *advice = lfirst(lc);
		Datum		values[COLUMNS];
		bool		nulls[COLUMNS] = {false};

		values[0] = ObjectIdGetDatum(RelationGetRelid(e->rel));
		nulls[1] = advice->attno == 0;
		if (advice->attno != 0)
			values[1] = NameGetDatum(&TupleDescAttr(RelationGetDescr(e->rel), advice->attno - 1)->attname);
		values[2] = CStringGetTextDatum(advice->topic);
		values[3] = CStringGetTextDatum(advice->text);
		put_bytes(values, nulls, 4, advice->now);
		put_bytes(values, nulls, 5, advice->then);
		nulls[6] = advice->sql == NULL;
		if (advice->sql != NULL)
			values[6] = CStringGetTextDatum(advice->sql);
		tuplestore_putvalues(advising->result->setResult, advising->result->setDesc, values, nulls);
	}
}

PG_FUNCTION_INFO_V1(sliced_advise);

Datum
sliced_advise(PG_FUNCTION_ARGS)
{
	TimestampTz began = GetCurrentTimestamp();
	Advising	advising = {.result = (ReturnSetInfo *) fcinfo->resultinfo};
	SlicedSurvey survey = {.visit = advise_table, .arg = &advising};

	if (PG_ARGISNULL(1))
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("max_time must not be null"));
	survey.deadline = sliced_deadline(PG_GETARG_INTERVAL_P(1));
	InitMaterializedSRF(fcinfo, 0);
	advising.usage = sliced_usage(began + (survey.deadline - began) * ASK_UNTIL);
	if (PG_ARGISNULL(0))
		sliced_survey_all(&survey);
	else
		sliced_survey_relation(&survey, PG_GETARG_OID(0));
	return (Datum) 0;
}
