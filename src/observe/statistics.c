/*
 * statistics.c
 *	  sliced_functions.stat_counts(), stat_reset(): what has been counted (base/counters.h).
 *
 * Every user sees the numbers, like those of pg_stat_all_tables.
 */
#include "postgres.h"

#include "access/relation.h"
#include "base/compat.h"
#include "base/identity.h"
#include "base/counters.h"
#include "base/shared_counters.h"
#include "base/sweep.h"
#include "base/tables.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#define COLUMNS		(3 + SLICED_SLICES_WRITTEN + 3)

static Datum
numbers_by_codec(const uint64 *counts)
{
	Datum		numbers[SLICED_N_CODECS];

	for (int i = 0; i < SLICED_N_CODECS; i++)
		numbers[i] = Int64GetDatum(counts[i]);
	return PointerGetDatum(construct_array(numbers, SLICED_N_CODECS, INT8OID, sizeof(int64),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

static void
put_counts(ReturnSetInfo *result, const SlicedBooked *booked, TimestampTz since)
{
	Datum		values[COLUMNS];
	bool		nulls[COLUMNS] = {false};
	int			n = 0;

	values[n] = ObjectIdGetDatum(booked->toastrelid);
	nulls[n++] = !OidIsValid(booked->toastrelid);
	values[n++] = Int16GetDatum(booked->attno);
	values[n] = TimestampTzGetDatum(since);
	nulls[n++] = since == 0;
	for (int i = 0; i < SLICED_SLICES_WRITTEN; i++)
		values[n++] = Int64GetDatum(booked->counts[i]);
	values[n++] = numbers_by_codec(booked->counts + SLICED_SLICES_WRITTEN);
	values[n++] = numbers_by_codec(booked->counts + SLICED_RAW_WRITTEN);
	values[n++] = numbers_by_codec(booked->counts + SLICED_STORED_WRITTEN);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

PG_FUNCTION_INFO_V1(sliced_stat_counts);

Datum
sliced_stat_counts(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	SlicedSharedRow *rows;
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	sliced_shared_attach();
	sliced_counters_flush();
	sliced_counters_sweep();
	rows = sliced_shared_list(&n);
	if (rows != NULL)
	{
		for (int i = 0; i < n; i++)
			if (rows[i].database == MyDatabaseId)
				put_counts(result, &rows[i].booked, rows[i].since);
		pfree(rows);
	}
	else
	{
		SlicedBooked *own = sliced_counters_own(&n);

		for (int i = 0; i < n; i++)
			put_counts(result, &own[i], 0);
	}
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(sliced_stat_reset);

Datum
sliced_stat_reset(PG_FUNCTION_ARGS)
{
	sliced_shared_attach();
	sliced_counters_flush();
	sliced_counters_forget();
	sliced_shared_remove_all(MyDatabaseId);
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(sliced_stat_reset_table);

Datum
sliced_stat_reset_table(PG_FUNCTION_ARGS)
{
	ListCell   *lc;

	sliced_argument_check(fcinfo, 0, "rel");
	sliced_shared_attach();
	sliced_counters_flush();
	foreach(lc, sliced_tables_lock(PG_GETARG_OID(0), SLICED_CALLER, AccessShareLock))
	{
		Relation	rel = relation_open(lfirst_oid(lc), NoLock);

		if (OidIsValid(rel->rd_rel->reltoastrelid))
			sliced_shared_remove(MyDatabaseId, rel->rd_rel->reltoastrelid);
		relation_close(rel, NoLock);
	}
	PG_RETURN_VOID();
}
