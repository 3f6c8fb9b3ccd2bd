/*
 * estimates.c
 *	  sliced.estimate(): what a table would take with each codec, and how fast that
 *	  is.
 */
#include "postgres.h"

#include "advise/estimate.h"
#include "advise/survey.h"
#include "base/compat.h"
#include "base/tables.h"
#include "codec/codec.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#define COLUMNS		11

TimestampTz
sliced_deadline(const Interval *max_time)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz deadline = DatumGetTimestampTz(DirectFunctionCall2(timestamptz_pl_interval,
																   TimestampTzGetDatum(now),
																   PointerGetDatum(max_time)));

	if (deadline <= now)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("max_time must be more than nothing"));
	return deadline;
}

/* Put the choice; NULLs if there is none, for the table as it is. */
static void
put_choice(Datum *values, bool *nulls, const SlicedChoice *choice)
{
	for (int i = 2; i <= 5; i++)
		nulls[i] = choice == NULL;
	if (choice == NULL)
		return;
	values[2] = CStringGetTextDatum(sliced_codec_get(choice->codec)->name);
	values[3] = Int32GetDatum(choice->level);
	nulls[3] = choice->level == 0;
	values[4] = BoolGetDatum(choice->dictionary);
	values[5] = Int32GetDatum(choice->target);
	nulls[5] = choice->target == 0;
}

static void
put_rate(Datum *values, bool *nulls, int i, double rate)
{
	values[i] = Float8GetDatum(rate / 1e6);
	nulls[i] = rate <= 0;
}

static void
put_table(ReturnSetInfo *result, const SlicedEstimate *e, const SlicedEstimated *estimated)
{
	Datum		values[COLUMNS];
	bool		nulls[COLUMNS] = {false};

	values[0] = sliced_table_datum(RelationGetRelid(e->rel));
	nulls[1] = true;
	put_choice(values, nulls, estimated == NULL ? NULL : &estimated->choice);
	values[6] = Int64GetDatum((int64) e->rows);
	values[7] = Int64GetDatum((int64) e->raw);
	values[8] = Int64GetDatum((int64) (estimated == NULL ? e->bytes : estimated->bytes));
	put_rate(values, nulls, 9, estimated == NULL ? 0 : estimated->write_rate);
	put_rate(values, nulls, 10, estimated == NULL ? 0 : estimated->read_rate);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

static void
put_column(ReturnSetInfo *result, const SlicedEstimate *e, int i, const SlicedEstimated *estimated)
{
	Datum		values[COLUMNS];
	bool		nulls[COLUMNS] = {false};

	values[0] = sliced_table_datum(RelationGetRelid(e->rel));
	values[1] = NameGetDatum(&TupleDescAttr(RelationGetDescr(e->rel), i)->attname);
	put_choice(values, nulls, &estimated->choice);
	values[6] = Int64GetDatum((int64) e->columns[i].values);
	values[7] = Int64GetDatum((int64) e->columns[i].raw);
	values[8] = Int64GetDatum((int64) estimated->column_bytes[i]);
	nulls[9] = nulls[10] = true;
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

static void
put_estimate(const SlicedEstimate *e, void *arg)
{
	ReturnSetInfo *result = arg;

	if (!sliced_estimate_possible(e->rel))
		return;
	put_table(result, e, NULL);
	for (int c = 0; c < e->nchoices; c++)
		put_table(result, e, &e->choices[c]);
	for (int i = 0; i < RelationGetDescr(e->rel)->natts; i++)
		for (int c = 0; c < e->nchoices && e->columns[i].raw > 0; c++)
			put_column(result, e, i, &e->choices[c]);
}

PG_FUNCTION_INFO_V1(sliced_estimate_table);

Datum
sliced_estimate_table(PG_FUNCTION_ARGS)
{
	SlicedSurvey survey = {.visit = put_estimate, .arg = fcinfo->resultinfo};

	sliced_argument_check(fcinfo, 0, "rel");
	sliced_argument_check(fcinfo, 1, "max_time");
	survey.deadline = sliced_deadline(PG_GETARG_INTERVAL_P(1));
	InitMaterializedSRF(fcinfo, 0);
	sliced_survey_relation(&survey, PG_GETARG_OID(0));
	return (Datum) 0;
}
