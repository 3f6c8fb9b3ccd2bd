/*
 * statistics.c
 *	  What the sessions of a server have written to compressed temporary files.
 *
 * A node that spills takes milliseconds at least, and counts once, at its end.  So one
 * spinlock for all numbers is enough.
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "statistics.h"
#include "storage/spin.h"
#include "utils/builtins.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#define TABLE_NAME	"sliced_spill statistics, version 1"

typedef struct Database
{
	Oid			database;		/* InvalidOid: not in use */
	TimestampTz since;
	TimestampTz used;			/* 0: not in use */
	uint64		counts[SLICED_N_SPILLERS][SLICED_N_SPILL_COUNTERS];
} Database;

typedef struct Table
{
	slock_t		lock;
	Database	databases[SLICED_COUNTED_DATABASES];
} Table;

static const char *const names[SLICED_N_SPILLERS] = {
	[SLICED_SPILLING_JOIN] = "hash join",
	[SLICED_SPILLING_GROUPS] = "hash aggregate",
	[SLICED_SPILLING_SORT] = "sort"
};

static Table *
attach(void)
{
	Table	   *result;
	bool		found;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	result = sliced_named_bytes(TABLE_NAME, sizeof(Table), &found);
	if (!found)
	{
		memset(result, 0, sizeof(Table));
		SpinLockInit(&result->lock);
	}
	LWLockRelease(AddinShmemInitLock);
	return result;
}

/*
 * The table, or NULL if there is no memory for it.  An error is reported to the log,
 * and forgotten: it is no reason to fail a query.  It may leave locks, which we
 * release, so the caller must have held none.
 */
static Table *
get_table(void)
{
	static Table *table = NULL;
	static bool tried = false;
	MemoryContext mcxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	if (tried || !IsUnderPostmaster)
		return table;
	tried = true;
	PG_TRY();
	{
		CurrentResourceOwner = NULL;
		table = attach();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		LWLockReleaseAll();
		MemoryContextSwitchTo(mcxt);
		error = CopyErrorData();
		FlushErrorState();
		ereport(LOG,
				errmsg("temporary files of this session are not counted: %s", error->message));
		FreeErrorData(error);
	}
	PG_END_TRY();
	CurrentResourceOwner = owner;
	return table;
}

/*
 * The database's entry, or the one that it may take: a free one, or the one that was
 * used least lately.  The caller has the lock.
 */
static Database *
entry_of(Table *table, Oid database)
{
	Database   *oldest = &table->databases[0];

	for (int i = 0; i < SLICED_COUNTED_DATABASES; i++)
	{
		Database   *entry = &table->databases[i];

		if (entry->database == database)
			return entry;
		if (entry->used < oldest->used)
			oldest = entry;
	}
	return oldest;
}

void
sliced_spill_count(SlicedSpiller kind, const uint64 *counts)
{
	Table	   *table = get_table();
	TimestampTz now = GetCurrentTimestamp();
	Database   *entry;

	if (table == NULL)
		return;
	SpinLockAcquire(&table->lock);
	entry = entry_of(table, MyDatabaseId);
	if (entry->database != MyDatabaseId)
	{
		memset(entry, 0, sizeof(Database));
		entry->database = MyDatabaseId;
		entry->since = now;
	}
	entry->used = now;
	for (int i = 0; i < SLICED_N_SPILL_COUNTERS; i++)
		entry->counts[kind][i] += counts[i];
	SpinLockRelease(&table->lock);
}

/*
 * What writing and reading the bytes would have taken that compression has saved, at
 * the speed of the others, less what compression took: milliseconds.
 */
static double
saved_ms(const uint64 *counts)
{
	double		raw = counts[SLICED_SPILLED_RAW];
	double		stored = counts[SLICED_SPILLED_STORED];

	return (2.0 * counts[SLICED_WRITE_TIME] * (raw - stored) / Max(stored, 1) -
			(1 + SLICED_DECOMPRESSING) * counts[SLICED_COMPRESS_TIME]) / 1000;
}

extern PGDLLEXPORT Datum sliced_spill_stat_temp_files(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(sliced_spill_stat_temp_files);

Datum
sliced_spill_stat_temp_files(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Table	   *table = get_table();
	Database	own = {0};

	InitMaterializedSRF(fcinfo, 0);
	if (table != NULL)
	{
		SpinLockAcquire(&table->lock);
		own = *entry_of(table, MyDatabaseId);
		SpinLockRelease(&table->lock);
	}
	for (int kind = 0; own.database == MyDatabaseId && kind < SLICED_N_SPILLERS; kind++)
	{
		const uint64 *counts = own.counts[kind];
		Datum		values[SLICED_N_SPILL_COUNTERS + 3];
		bool		nulls[lengthof(values)] = {false};
		int			n = 0;

		if (counts[SLICED_SPILLS] == 0)
			continue;
		values[n++] = CStringGetTextDatum(names[kind]);
		for (int i = SLICED_SPILLS; i <= SLICED_SPILLED_AS_IS; i++)
			values[n++] = Int64GetDatum(counts[i]);
		values[n++] = Float8GetDatum(counts[SLICED_COMPRESS_TIME] / 1000.0);
		values[n++] = Float8GetDatum(counts[SLICED_WRITE_TIME] / 1000.0);
		values[n++] = Float8GetDatum(saved_ms(counts));
		values[n++] = TimestampTzGetDatum(own.since);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

extern PGDLLEXPORT Datum sliced_spill_stat_reset(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(sliced_spill_stat_reset);

Datum
sliced_spill_stat_reset(PG_FUNCTION_ARGS)
{
	Table	   *table = get_table();

	if (table != NULL)
	{
		Database   *entry;

		SpinLockAcquire(&table->lock);
		entry = entry_of(table, MyDatabaseId);
		if (entry->database == MyDatabaseId)
			memset(entry, 0, sizeof(Database));
		SpinLockRelease(&table->lock);
	}
	PG_RETURN_VOID();
}
