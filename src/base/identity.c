/*
 * identity.c
 *	  Which relations are ours.
 */
#include "postgres.h"

#include "base/identity.h"
#include "catalog/pg_am.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

const TableAmRoutine *sliced_routine = NULL;
const TableAmRoutine *sliced_heap = NULL;
Oid			sliced_handler_oid = InvalidOid;

/* What rd_amcache of a table of ours points to. */
typedef struct TableCache
{
	bool		toast_is_foreign;
} TableCache;

bool
sliced_toast_is_foreign(Relation rel)
{
	TableCache *cache = rel->rd_amcache;
	bool		result = false;

	if (cache != NULL)
		return cache->toast_is_foreign;

	if (OidIsValid(rel->rd_rel->reltoastrelid))
	{
		/* the caller's lock on the table keeps its toast relation as it is */
		Relation	toastrel = RelationIdGetRelation(rel->rd_rel->reltoastrelid);

		/* if it is missing, leave the error to core */
		result = toastrel == NULL || !sliced_is_ours(toastrel);
		if (toastrel != NULL)
			RelationClose(toastrel);
	}
	cache = MemoryContextAlloc(CacheMemoryContext, sizeof(TableCache));
	cache->toast_is_foreign = result;
	rel->rd_amcache = cache;
	return result;
}

void
sliced_method_keep(Oid am)
{
	LockDatabaseObject(AccessMethodRelationId, am, 0, AccessShareLock);
	if (!SearchSysCacheExists1(AMOID, ObjectIdGetDatum(am)))
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_OBJECT),
				errmsg("access method \"sliced\" was dropped meanwhile"),
				errhint("Extension pg_sliced has been dropped."));
}
