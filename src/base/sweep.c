/*
 * sweep.c
 *	  Removes statistics of relations that are gone.
 *
 * Dropping a table removes nothing, since the drop might be rolled back.  A session
 * that asks for statistics, or that makes a table when there is not much room left
 * for them, removes those that belong to nothing.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xlog.h"
#include "base/compat.h"
#include "base/counters.h"
#include "base/shared_counters.h"
#include "base/sweep.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"

/* True if a catalog has an object that is committed by now. */
static bool
exists(Oid catalog, Oid index, AttrNumber oid_column, Oid oid)
{
	Relation	rel = table_open(catalog, AccessShareLock);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	ScanKeyData key;
	SysScanDesc scan;
	bool		result;

	ScanKeyInit(&key, oid_column, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(oid));
	scan = systable_beginscan(rel, index, true, snapshot, 1, &key);
	result = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	UnregisterSnapshot(snapshot);
	table_close(rel, AccessShareLock);
	return result;
}

static bool
relation_exists(Oid relid)
{
	return exists(RelationRelationId, ClassOidIndexId, Anum_pg_class_oid, relid);
}

/*
 * True if the relation is gone, and is not one that another session is just making.
 */
static bool
relation_is_gone(Oid relid)
{
	if (relation_exists(relid))
		return false;
	/* no session makes one on a standby; elsewhere its maker has it locked */
	if (!RecoveryInProgress())
	{
		if (!ConditionalLockRelationOid(relid, ExclusiveLock))
			return false;
		UnlockRelationOid(relid, ExclusiveLock);
	}
	return !relation_exists(relid);
}

void
sliced_counters_sweep(void)
{
	int			n;
	SlicedSharedRow *rows = sliced_shared_list(&n);

	for (int i = 0; rows != NULL && i < n; i++)
	{
		Oid			toastrelid = rows[i].booked.toastrelid;

		CHECK_FOR_INTERRUPTS();
		if (rows[i].database != MyDatabaseId)
		{
			if (!exists(DatabaseRelationId, DatabaseOidIndexId, Anum_pg_database_oid,
						rows[i].database))
				sliced_shared_remove_all(rows[i].database);
		}
		else if (OidIsValid(toastrelid) && relation_is_gone(toastrelid))
			sliced_shared_remove(MyDatabaseId, toastrelid);
	}
	if (rows != NULL)
		pfree(rows);
}

void
sliced_counters_relation_is_new(Oid relid)
{
	sliced_shared_attach();
	sliced_shared_remove(MyDatabaseId, relid);
	if (sliced_shared_is_crowded())
		sliced_counters_sweep();
}
