/*
 * estimates.c
 *	  sliced.estimate(): what a table would take with each codec, and how fast that
 *	  is.
 */
#include "postgres.h"

#include "access/relation.h"
#include "advise/estimate.h"
#include "base/compat.h"
#include "base/identity.h"
#include "catalog/catalog.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "codec/codec.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#define COLUMNS		10

void
sliced_estimate_check(Relation rel, bool partitioned_too)
{
	const char *name = RelationGetRelationName(rel);

	/* it tells how long values are, and how alike, as sliced.toast_space() does */
	if (pg_class_aclcheck(RelationGetRelid(rel), GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
		!has_privs_of_role(GetUserId(), ROLE_PG_STAT_SCAN_TABLES))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, name);
	if (IsSystemRelation(rel))
		ereport(ERROR,
				errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("\"%s\" is a system table", name));
	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE && partitioned_too)
		return;
	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is a partitioned table", name),
				errhint("Ask for its partitions: SELECT p.relid, e.* FROM pg_partition_tree('%s') p, sliced.estimate(p.relid) e WHERE p.isleaf;",
						name));
	if ((rel->rd_rel->relkind != RELKIND_RELATION && rel->rd_rel->relkind != RELKIND_MATVIEW) ||
		(!sliced_is_ours(rel) && rel->rd_rel->relam != HEAP_TABLE_AM_OID))
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a table of access method \"heap\" or \"sliced\"", name));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot access temporary tables of other sessions"));
}

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
	for (int i = 1; i <= 4; i++)
		nulls[i] = choice == NULL;
	if (choice == NULL)
		return;
	values[1] = CStringGetTextDatum(sliced_codec_get(choice->codec)->name);
	values[2] = Int32GetDatum(choice->level);
	nulls[2] = choice->level == 0;
	values[3] = BoolGetDatum(choice->dictionary);
	values[4] = Int32GetDatum(choice->target);
	nulls[4] = choice->target == 0;
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
	bool		nulls[COLUMNS] = {true};

	put_choice(values, nulls, estimated == NULL ? NULL : &estimated->choice);
	values[5] = Int64GetDatum((int64) e->rows);
	values[6] = Int64GetDatum((int64) e->raw);
	values[7] = Int64GetDatum((int64) (estimated == NULL ? e->bytes : estimated->bytes));
	put_rate(values, nulls, 8, estimated == NULL ? 0 : estimated->write_rate);
	put_rate(values, nulls, 9, estimated == NULL ? 0 : estimated->read_rate);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

static void
put_column(ReturnSetInfo *result, const SlicedEstimate *e, int i, const SlicedEstimated *estimated)
{
	Datum		values[COLUMNS];
	bool		nulls[COLUMNS] = {false};

	values[0] = NameGetDatum(&TupleDescAttr(RelationGetDescr(e->rel), i)->attname);
	put_choice(values, nulls, &estimated->choice);
	values[5] = Int64GetDatum((int64) e->columns[i].values);
	values[6] = Int64GetDatum((int64) e->columns[i].raw);
	values[7] = Int64GetDatum((int64) estimated->column_bytes[i]);
	nulls[8] = nulls[9] = true;
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

PG_FUNCTION_INFO_V1(sliced_estimate_table);

Datum
sliced_estimate_table(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	TimestampTz deadline = sliced_deadline(PG_GETARG_INTERVAL_P(1));
	Relation	rel;
	SlicedEstimate *e;

	InitMaterializedSRF(fcinfo, 0);
	rel = relation_open(PG_GETARG_OID(0), AccessShareLock);
	sliced_estimate_check(rel, false);
	if (sliced_estimate_possible(rel))
	{
		e = sliced_estimate(rel, deadline);
		put_table(result, e, NULL);
		for (int c = 0; c < e->nchoices; c++)
			put_table(result, e, &e->choices[c]);
		for (int i = 0; i < RelationGetDescr(rel)->natts; i++)
			for (int c = 0; c < e->nchoices && e->columns[i].raw > 0; c++)
				put_column(result, e, i, &e->choices[c]);
		MemoryContextDelete(e->mcxt);
	}
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}
