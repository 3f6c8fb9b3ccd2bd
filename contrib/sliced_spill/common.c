/*
 * common.c
 *	  The most common keys of the outer side of a join.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "common.h"
#include "common/hashfn.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* Common keys are used if at least this part of the outer rows has them. */
#define WORTH_IT	0.01

/* The table has this many times as many places as keys. */
#define SPARSE		8

void
sliced_common_keep(SlicedCommonKeys *keys, int n)
{
	keys->n = n;
	memset(keys->table, 0, (keys->mask + 1) * sizeof(uint32));
	for (int k = 0; k < n; k++)
	{
		uint32		i = keys->hashes[k] & keys->mask;

		while (keys->table[i] != 0)
			i = (i + 1) & keys->mask;
		keys->table[i] = keys->hashes[k];
	}
}

static void
hash_values(SlicedCommonKeys *keys, const AttStatsSlot *stats, FmgrInfo *function, Oid collation)
{
	uint32		size = 1;
	int			n = 0;

	while (size < stats->nvalues * SPARSE)
		size *= 2;
	keys->hashes = palloc(stats->nvalues * sizeof(uint32));
	keys->table = palloc(size * sizeof(uint32));
	keys->mask = size - 1;
	for (int i = 0; i < stats->nvalues; i++)
	{
		uint32		hash = murmurhash32(DatumGetUInt32(FunctionCall1Coll(function, collation, stats->values[i])));

		/* 0 marks an empty place */
		if (hash != 0)
			keys->hashes[n++] = hash;
	}
	sliced_common_keep(keys, n);
}

void
sliced_common_keys(SlicedCommonKeys *keys, Oid relid, int column, bool inherited,
				   FmgrInfo *function, Oid collation)
{
	HeapTuple	tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relid),
										Int16GetDatum(column), BoolGetDatum(inherited));
	AttStatsSlot stats;

	keys->n = 0;
	if (!HeapTupleIsValid(tuple))
		return;
	if (get_attstatsslot(&stats, tuple, STATISTIC_KIND_MCV, InvalidOid,
						 ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS))
	{
		double		part = 0;

		for (int i = 0; i < stats.nnumbers; i++)
			part += stats.numbers[i];
		if (part >= WORTH_IT)
			hash_values(keys, &stats, function, collation);
		free_attstatsslot(&stats);
	}
	ReleaseSysCache(tuple);
}
