/*
 * kept_files.c
 *	  Files of toast relations that decoders still have to read.
 *
 * Before a transaction commits we look at the files that core will remove with it.
 * For each that belongs to a toast relation of ours, we make core leave it, and
 * record that it is there.  Both are part of the transaction: after a rollback, or a
 * crash before the commit, the file is the relation's again, and nothing is recorded.
 * The same holds on a standby, where the commit's record says which files go.
 *
 * The record is in pg_seclabel, at the access method: catalogs are never published,
 * and pg_dump and pg_upgrade leave these labels out, as they leave out the files.
 *
 * No other relation gets such a file's number: core checks whether there is a file.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/skey.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlogutils.h"
#include "base/identity.h"
#include "base/locks.h"
#include "base/settings.h"
#include "base/stop.h"
#include "catalog/indexing.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_seclabel.h"
#include "catalog/storage.h"
#include "commands/seclabel.h"
#include "decode/decoding.h"
#include "decode/kept_files.h"
#include "decode/retention.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#define PROVIDER	"sliced_kept_files"

/* ---- files of ours ---- */

/*
 * True if this is our access method, even if this session has not opened a table of
 * ours yet.
 */
static bool
is_our_method(Oid am)
{
	HeapTuple	tuple = SearchSysCache1(AMOID, ObjectIdGetDatum(am));
	const TableAmRoutine *routine = NULL;

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_am	entry = (Form_pg_am) GETSTRUCT(tuple);

		if (entry->amtype == AMTYPE_TABLE)
			routine = GetTableAmRoutine(entry->amhandler);
		ReleaseSysCache(tuple);
	}
	/* the call has set sliced_routine */
	return routine != NULL && routine == sliced_routine;
}

/* The access method of a relation, from any version of its entry. */
static Oid
method_of(Relation pg_class, Oid relid)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			result = InvalidOid;

	ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(pg_class, ClassOidIndexId, true, SnapshotAny, 1, &key);
	if (HeapTupleIsValid(tuple = systable_getnext(scan)))
		result = ((Form_pg_class) GETSTRUCT(tuple))->relam;
	systable_endscan(scan);
	return result;
}

/* The table of an index, from any version of its entry. */
static Oid
table_of(Oid indexrelid)
{
	Relation	pg_index = table_open(IndexRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			result = InvalidOid;

	ScanKeyInit(&key, Anum_pg_index_indexrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(indexrelid));
	scan = systable_beginscan(pg_index, IndexRelidIndexId, true, SnapshotAny, 1, &key);
	if (HeapTupleIsValid(tuple = systable_getnext(scan)))
		result = ((Form_pg_index) GETSTRUCT(tuple))->indrelid;
	systable_endscan(scan);
	table_close(pg_index, AccessShareLock);
	return result;
}

/*
 * The method of the toast relation that has, or had, this file, or whose index had
 * it; InvalidOid if it is not ours.  This transaction may have replaced or deleted
 * the entry that says so; then that is still there.
 */
static Oid
find_method(Relation pg_class, const RelFileLocator *file)
{
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			result = InvalidOid;

	ScanKeyInit(&keys[0], Anum_pg_class_reltablespace, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(file->spcOid == MyDatabaseTableSpace ? InvalidOid : file->spcOid));
	ScanKeyInit(&keys[1], Anum_pg_class_relfilenode, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(file->relNumber));
	scan = systable_beginscan(pg_class, ClassTblspcRelfilenodeIndexId, true, SnapshotAny, 2, keys);
	while (!OidIsValid(result) && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_class entry = (Form_pg_class) GETSTRUCT(tuple);
		Oid			method = InvalidOid;

		if (entry->relnamespace != PG_TOAST_NAMESPACE ||
			entry->relpersistence != RELPERSISTENCE_PERMANENT)
			continue;
		if (entry->relkind == RELKIND_TOASTVALUE)
			method = entry->relam;
		else if (entry->relkind == RELKIND_INDEX)
			method = method_of(pg_class, table_of(entry->oid));
		if (OidIsValid(method) && is_our_method(method))
			result = method;
	}
	systable_endscan(scan);
	return result;
}

/* ---- recorded files ---- */

/* The access method with a label of the file, or the first label that is free. */
static ObjectAddress
label_address(Oid method, const RelFileLocator *file)
{
	ObjectAddress address = {AccessMethodRelationId, method, (int32) file->relNumber};
	char	   *label;

	/* another tablespace may have a file of this number */
	while ((label = GetSecurityLabel(&address, PROVIDER)) != NULL)
		address.objectSubId++;
	return address;
}

static void
keep(Oid method, const RelFileLocator *file)
{
	ObjectAddress address = label_address(method, file);
	/* the database may move to another tablespace, with all its files */
	Oid			spc = file->spcOid == MyDatabaseTableSpace ? InvalidOid : file->spcOid;
	char	   *label = psprintf("%u/%u/%u " UINT64_FORMAT, spc, file->dbOid, file->relNumber,
								 U64FromFullTransactionId(GetTopFullTransactionId()));

	SLICED_STOP("keep.before-label");
	SetSecurityLabel(&address, PROVIDER, label);
	RelationPreserveStorage(*file, true);
	/* the next one may look for a free label */
	CommandCounterIncrement();
	SLICED_STOP("keep.kept");
}

/* Read a label; returns false if it is not ours, or of another database. */
static bool
parse_label(HeapTuple tuple, TupleDesc desc, SlicedKeptFile *kept)
{
	bool		isnull;
	char	   *provider = TextDatumGetCString(heap_getattr(tuple, Anum_pg_seclabel_provider, desc,
															&isnull));
	char	   *label = TextDatumGetCString(heap_getattr(tuple, Anum_pg_seclabel_label, desc,
														 &isnull));
	unsigned long long xid;

	if (strcmp(provider, PROVIDER) != 0 ||
		sscanf(label, "%u/%u/%u %llu", &kept->file.spcOid, &kept->file.dbOid,
			   &kept->file.relNumber, &xid) != 4)
		return false;
	if (!OidIsValid(kept->file.spcOid))
		kept->file.spcOid = MyDatabaseTableSpace;
	kept->replaced = FullTransactionIdFromU64(xid);
	return kept->file.dbOid == MyDatabaseId;
}

/*
 * All labels.  With 'gone', deletes and leaves out those for which it returns true,
 * and those of another database from which this one was copied.
 */
static List *
all_labels(bool (*gone) (const SlicedKeptFile *kept, void *arg), void *arg)
{
	Relation	pg_seclabel = table_open(SecLabelRelationId,
										 gone != NULL ? RowExclusiveLock : AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	List	   *result = NIL;

	ScanKeyInit(&key, Anum_pg_seclabel_classoid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(AccessMethodRelationId));
	scan = systable_beginscan(pg_seclabel, InvalidOid, false, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		SlicedKeptFile *kept = palloc0(sizeof(SlicedKeptFile));

		if (!parse_label(tuple, RelationGetDescr(pg_seclabel), kept))
		{
			if (kept->file.dbOid != InvalidOid && gone != NULL)
				CatalogTupleDelete(pg_seclabel, &tuple->t_self);
			continue;
		}
		if (gone != NULL && gone(kept, arg))
			CatalogTupleDelete(pg_seclabel, &tuple->t_self);
		else
			result = lappend(result, kept);
	}
	systable_endscan(scan);
	table_close(pg_seclabel, NoLock);
	return result;
}

List *
sliced_kept_files(void)
{
	return all_labels(NULL, NULL);
}

/* ---- removing files ---- */

/* Files that this transaction removes: not to keep once more. */
static List *removed = NIL;

static bool
is_removed(const RelFileLocator *file)
{
	ListCell   *lc;

	foreach(lc, removed)
		if (memcmp(lfirst(lc), file, sizeof(RelFileLocator)) == 0)
			return true;
	return false;
}

static void
remove_file(const RelFileLocator *locator)
{
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	RelFileLocator *copy = palloc(sizeof(RelFileLocator));
	Relation	file;

	*copy = *locator;
	removed = lappend(removed, copy);
	MemoryContextSwitchTo(old);
	file = CreateFakeRelcacheEntry(*locator);
	RelationDropStorage(file);
	FreeFakeRelcacheEntry(file);
}

typedef struct Removal
{
	bool		all;
	FullTransactionId horizon;
	int			n;
} Removal;

/* Decoders need nothing older than this. */
static FullTransactionId
decoding_horizon(void)
{
	Relation	pg_class = table_open(RelationRelationId, AccessShareLock);
	TransactionId oldest = GetOldestNonRemovableTransactionId(pg_class);
	FullTransactionId next = ReadNextFullTransactionId();
	uint32		age = XidFromFullTransactionId(next) - oldest;

	table_close(pg_class, AccessShareLock);
	return FullTransactionIdFromU64(U64FromFullTransactionId(next) - age);
}

static bool
remove_if_gone(const SlicedKeptFile *kept, void *arg)
{
	Removal    *removal = arg;

	if (!removal->all && !FullTransactionIdPrecedes(kept->replaced, removal->horizon))
		return false;
	remove_file(&kept->file);
	removal->n++;
	return true;
}

int
sliced_kept_files_remove(bool all)
{
	Removal		removal = {.all = all};

	if (!all)
		removal.horizon = decoding_horizon();
	sliced_own_lock_take(SLICED_LOCK_KEPT_FILES, InvalidOid, true);
	all_labels(remove_if_gone, &removal);
	CommandCounterIncrement();
	SLICED_STOP("keep.removed");
	return removal.n;
}

void
sliced_kept_files_sweep(void)
{
	if (XactReadOnly || sliced_kept_files() == NIL ||
		!sliced_own_lock_take(SLICED_LOCK_KEPT_FILES, InvalidOid, false))
		return;
	sliced_kept_files_remove(false);
}

/* ---- keeping files ---- */

static void
keep_replaced_files(XactEvent event, void *arg)
{
	RelFileLocator *files;
	Relation	pg_class;
	int			n;

	/* it goes with the transaction's memory */
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
		removed = NIL;
	if ((event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PRE_PREPARE) ||
		!XLogLogicalInfoActive() || !sliced_keeps_for_decoders())
		return;
	n = smgrGetPendingDeletes(true, &files);
	if (n == 0 || !sliced_logical_slot_exists())
		return;
	/* writing to a catalog with a toast relation takes a snapshot */
	PushActiveSnapshot(GetTransactionSnapshot());
	pg_class = table_open(RelationRelationId, AccessShareLock);
	for (int i = 0; i < n; i++)
	{
		Oid			method;

		if (files[i].dbOid != MyDatabaseId || is_removed(&files[i]))
			continue;
		method = find_method(pg_class, &files[i]);
		if (OidIsValid(method))
			keep(method, &files[i]);
	}
	table_close(pg_class, AccessShareLock);
	PopActiveSnapshot();
	pfree(files);
}

/*
 * Core empties a table that this transaction has made in place, without waiting for
 * the commit.  Its values may have been announced.
 */
void
sliced_toast_empty(Relation toastrel)
{
	List	   *indexes = RelationGetIndexList(toastrel);
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessExclusiveLock);

		RelationSetNewRelfilenumber(index, index->rd_rel->relpersistence);
		index_close(index, NoLock);
	}
	list_free(indexes);
	RelationSetNewRelfilenumber(toastrel, toastrel->rd_rel->relpersistence);
}

void
sliced_kept_files_init(void)
{
	RegisterXactCallback(keep_replaced_files, NULL);
}
