/*
 * adopt.c
 *	  Tables of heap's that become ours, without being written anew.
 *
 * Files of heap are files of ours: a row that core has toasted is one that we read
 * as it is.  So a table becomes ours when its entry in the catalog says so, and its
 * toast relation's.  A row becomes ours when an update writes the first value of it:
 * from then on we look after the values that it keeps from before as well.
 *
 * The old version of such a row must be marked, or heapam would call core's toaster.
 * That happens in place.  To us a marked row of core's is the same row as before, so a
 * rollback may leave it marked.  To heap it is not the same.  So rows are marked only
 * after the table's adoption has committed; the image of the page that we log follows
 * that commit in the WAL, so no crash keeps the mark and loses the adoption.
 *
 * An update or delete depends on whether the row is marked.  It locks a row of core's
 * before it looks.  Who marks a row holds its lock, and marks other rows of the page
 * only if no transaction has locked them.  So no row is marked between that look and
 * what heapam does.  Readers do not lock: a scan that may return the whole tuple copies
 * it first (scan.c).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xact.h"
#include "am/am.h"
#include "base/compat.h"
#include "base/identity.h"
#include "base/locks.h"
#include "base/stop.h"
#include "catalog/catalog.h"
#include "catalog/dependency.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "fmgr.h"
#include "format/pointer.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

/* ---- rows ---- */

/* Has this transaction changed the table's entry in pg_class? */
static bool
catalog_entry_is_new(Relation rel)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(RelationGetRelid(rel)));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", RelationGetRelid(rel));
	result = TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));
	ReleaseSysCache(tuple);
	return result;
}

/* New values of a decoded transaction are core's, and so is its old row's identity. */
bool
sliced_may_take_row(Relation rel, HeapTuple tuple, uint32 options)
{
	if (sliced_toast_is_foreign(rel) || catalog_entry_is_new(rel))
		return false;
	if ((options & TABLE_UPDATE_NO_LOGICAL) != 0)
		return true;
	return !sliced_is_decoded(rel) &&
		!(sliced_hides_slices(rel) && !sliced_announces_values(rel) &&
		  sliced_identity_needs_values(rel, tuple));
}

/* ---- tables ---- */

/* Can this relation become ours?  Reports why not; false if there is nothing to do. */
static bool
check_relation(Relation rel, bool is_partition)
{
	const char *name = RelationGetRelationName(rel);
	char		relkind = rel->rd_rel->relkind;

	if (relkind == RELKIND_PARTITIONED_TABLE)
		return SLICED_PARTITIONED_TABLES_HAVE_AM;
	if (relkind == RELKIND_FOREIGN_TABLE && is_partition)
		return false;
	if (relkind != RELKIND_RELATION && relkind != RELKIND_MATVIEW)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a table or materialized view", name),
				errdetail_relkind_not_supported(relkind));
	if (IsSystemRelation(rel))
		ereport(ERROR,
				errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("permission denied: \"%s\" is a system catalog", name));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("\"%s\" is a temporary table of another session", name));
	if (sliced_is_ours(rel))
	{
		if (!is_partition)
			ereport(NOTICE, errmsg("\"%s\" has access method \"sliced\" already", name));
		return false;
	}
	if (rel->rd_tableam != GetHeapamTableAmRoutine())
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" cannot be adopted, since its access method is \"%s\"", name,
					   get_am_name(rel->rd_rel->relam)),
				errdetail("Only files of access method \"heap\" can be taken as they are."),
				errhint("ALTER TABLE ... SET ACCESS METHOD sliced writes the table anew."));
	return true;
}

/* The relation is locked. */
static void
adopt_relation(Oid relid, Oid am, bool is_partition)
{
	Relation	rel = relation_open(relid, NoLock);
	Oid			toastrelid = rel->rd_rel->reltoastrelid;
	Oid			oldam = rel->rd_rel->relam;

	if (!check_relation(rel, is_partition) || oldam == am)
	{
		relation_close(rel, NoLock);
		return;
	}
	CheckTableNotInUse(rel, "adopt");
	relation_close(rel, NoLock);

	sliced_relation_set_am(relid, am);
	SLICED_STOP("adopt.table");
	if (OidIsValid(toastrelid))
	{
		LockRelationOid(toastrelid, AccessExclusiveLock);
		sliced_relation_set_am(toastrelid, am);
	}
	SLICED_STOP("adopt.toast-relation");
	if (OidIsValid(oldam))
		changeDependencyFor(RelationRelationId, relid, AccessMethodRelationId, oldam, am);
	else
	{
		ObjectAddress table = {RelationRelationId, relid, 0};
		ObjectAddress method = {AccessMethodRelationId, am, 0};

		recordDependencyOn(&table, &method, DEPENDENCY_NORMAL);
	}
	InvokeObjectPostAlterHook(RelationRelationId, relid, 0);
	CommandCounterIncrement();
	SLICED_STOP("adopt.dependency");
}

PG_FUNCTION_INFO_V1(sliced_adopt);

Datum
sliced_adopt(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	Oid			am = get_table_am_oid("sliced", false);
	List	   *relids = list_make1_oid(relid);
	ListCell   *lc;

	sliced_refuse_read_only("sliced.adopt()");
	sliced_relation_lock(relid, SLICED_OWNER, AccessExclusiveLock, false);
	if (get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE)
		relids = sliced_relation_lock_tree(relid, SLICED_OWNER, AccessExclusiveLock);
	sliced_method_keep(am);
	foreach(lc, relids)
		adopt_relation(lfirst_oid(lc), am, lfirst_oid(lc) != relid);
	PG_RETURN_VOID();
}
