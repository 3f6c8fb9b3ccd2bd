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
 * That happens in place, and nothing is logged of it, since it changes nothing: a row
 * with core's pointers is the same row with the marker instead of HEAP_HASEXTERNAL,
 * whether that is lost in a crash, or survives the transaction that did it.  Only to
 * heap it is not the same.  So no row is marked before it is certain that the table
 * is not heap's again tomorrow: the adoption was committed, and is on disk.  And
 * nobody has the row in a slot as it is in its buffer, where it may be marked after he
 * has looked, if he might pass on the whole tuple (scan.c).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "am/am.h"
#include "base/compat.h"
#include "base/identity.h"
#include "base/stop.h"
#include "catalog/catalog.h"
#include "catalog/dependency.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "fmgr.h"
#include "format/pointer.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
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

/*
 * Somebody whose changes are decoded may be waiting for the row, and count on
 * heapam to see by HEAP_HASEXTERNAL that the values are to be logged.  If he is, we are
 * decoded as well, or hide from that.
 */
bool
sliced_may_take_row(Relation rel, HeapTuple tuple, uint32 options)
{
	if (sliced_toast_is_foreign(rel) || catalog_entry_is_new(rel))
		return false;
	if ((options & TABLE_UPDATE_NO_LOGICAL) != 0)
		return true;
	return !sliced_is_decoded(rel) &&
		!(sliced_hides_slices(rel) && sliced_identity_needs_values(rel, tuple));
}

void
sliced_old_row_take(Relation rel, ItemPointer tid)
{
	Buffer		buffer = ReadBuffer(rel, ItemPointerGetBlockNumber(tid));
	Page		page;
	ItemId		lp;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	page = BufferGetPage(buffer);
	lp = PageGetItemId(page, ItemPointerGetOffsetNumber(tid));
	if (ItemIdIsNormal(lp))
	{
		HeapTupleHeader header = (HeapTupleHeader) PageGetItem(page, lp);

		if ((header->t_infomask & HEAP_HASEXTERNAL) != 0 && !sliced_tuple_is_marked(header))
		{
			sliced_tuple_mark(header);
			MarkBufferDirtyHint(buffer, true);
		}
	}
	UnlockReleaseBuffer(buffer);
	SLICED_STOP("adopt.row-taken");
}

/* ---- tables ---- */

static void
check_owner(Oid relid)
{
	if (!object_ownercheck(RelationRelationId, relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relid)),
					   get_rel_name(relid));
}

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

/* The relation is locked.  Returns true if it was not ours. */
static bool
adopt_relation(Oid relid, Oid am, bool is_partition)
{
	Relation	rel = relation_open(relid, NoLock);
	Oid			toastrelid = rel->rd_rel->reltoastrelid;
	Oid			oldam = rel->rd_rel->relam;

	check_owner(relid);
	if (!check_relation(rel, is_partition) || oldam == am)
	{
		relation_close(rel, NoLock);
		return false;
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
	return true;
}

PG_FUNCTION_INFO_V1(sliced_adopt);

Datum
sliced_adopt(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	Oid			am = get_table_am_oid("sliced", false);
	bool		adopted = false;
	List	   *relids;
	ListCell   *lc;

	PreventCommandIfReadOnly("sliced.adopt()");
	PreventCommandDuringRecovery("sliced.adopt()");
	if (get_rel_name(relid) != NULL)
	{
		/* nobody locks what is not his */
		check_owner(relid);
		LockRelationOid(relid, AccessExclusiveLock);
		sliced_method_keep(am);
	}
	if (get_rel_name(relid) == NULL)
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("relation with OID %u does not exist", relid));

	if (get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE)
		relids = find_all_inheritors(relid, AccessExclusiveLock, NULL);
	else
		relids = list_make1_oid(relid);
	foreach(lc, relids)
		adopted |= adopt_relation(lfirst_oid(lc), am, lfirst_oid(lc) != relid);

	/* rows are marked, without a word in the WAL, as soon as others see the table as ours */
	if (adopted)
		ForceSyncCommit();
	PG_RETURN_VOID();
}
