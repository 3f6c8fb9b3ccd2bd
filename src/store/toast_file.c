/*
 * toast_file.c
 *	  Opens toast relations by their files, if the catalogs do not know these.
 *
 * All toast relations have the same columns and the same index.  So copies of the
 * relcache entries of one of core's serve for any, once they have other files.  Only
 * this process sees these copies, and they are not locked: the caller has to know
 * that the files stay.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/nbtree.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "storage/smgr.h"
#include "store/toast_file.h"
#include "utils/memutils.h"
#include "utils/relcache.h"

/*
 * Core remembers the addresses of relations that it has used, until the transaction ends;
 * so these are always there.
 */
static struct
{
	Relation	of_core;		/* what they are copies of; NULL: nothing is entered */
	Relation	index_of_core;
	RelationData table;
	RelationData index;
	FormData_pg_class table_entry;
	FormData_pg_class index_entry;
	StdRdOptions options;
	MemoryContext mcxt;
}			entered;

void
sliced_toast_file_find(SlicedToastFile *file, Oid toastrelid)
{
	Relation	toastrel = table_open(toastrelid, AccessShareLock);
	Relation   *indexes;
	int			nindexes;
	int			valid = toast_open_indexes(toastrel, AccessShareLock, &indexes, &nindexes);

	file->toastrelid = toastrelid;
	file->table = toastrel->rd_locator;
	file->index = indexes[valid]->rd_locator;
	toast_close_indexes(indexes, nindexes, NoLock);
	table_close(toastrel, NoLock);
}

/* A copy of a relation of core's that has another file. */
static void
copy_relation(Relation copy, Form_pg_class entry, Relation of, const RelFileLocator *file)
{
	*copy = *of;
	*entry = *of->rd_rel;
	snprintf(NameStr(entry->relname), NAMEDATALEN, "file %u", file->relNumber);
	entry->relisshared = false;
	entry->relpersistence = RELPERSISTENCE_PERMANENT;
	copy->rd_rel = entry;
	copy->rd_locator = *file;
	copy->rd_smgr = NULL;
	copy->rd_amcache = NULL;
	copy->pgstat_enabled = false;
	copy->pgstat_info = NULL;
	/* it is never closed for the last time, since it was not allocated as an entry */
	copy->rd_refcnt = 1;
}

void
sliced_toast_file_enter(const SlicedToastFile *file)
{
	Relation	of_core;

	Assert(entered.of_core == NULL);
	/*
	 * without a lock: its file is not read, and a session that has locked it may wait
	 * for us
	 */
	of_core = RelationIdGetRelation(PgDatabaseToastTable);
	entered.index_of_core = RelationIdGetRelation(PgDatabaseToastIndex);
	if (of_core == NULL || entered.index_of_core == NULL)
		elog(ERROR, "could not open relation with OID %u", PgDatabaseToastTable);
	if (entered.mcxt == NULL)
		entered.mcxt = AllocSetContextCreate(TopMemoryContext, "sliced toast file",
											 ALLOCSET_SMALL_SIZES);

	copy_relation(&entered.table, &entered.table_entry, of_core, &file->table);
	entered.table.rd_id = file->toastrelid;

	/* rows to read stay as long as rows of catalogs do: see decode/retention.c */
	entered.options.user_catalog_table = true;
	entered.options.fillfactor = HEAP_DEFAULT_FILLFACTOR;
	SET_VARSIZE(&entered.options, sizeof(StdRdOptions));
	entered.table.rd_options = (bytea *) &entered.options;
	entered.table_entry.relkind = RELKIND_RELATION;

	/* the function that compares is looked up once, for the original */
	for (int i = 1; i <= 2; i++)
		index_getprocinfo(entered.index_of_core, i, BTORDER_PROC);
	copy_relation(&entered.index, &entered.index_entry, entered.index_of_core, &file->index);
	entered.index.rd_indexcxt = entered.mcxt;
	/* not before all of that has succeeded: from now on it is our file that is opened */
	entered.of_core = of_core;
}

void
sliced_toast_file_leave(void)
{
	if (entered.of_core == NULL)
		return;
	RelationCloseSmgr(&entered.table);
	RelationCloseSmgr(&entered.index);
	MemoryContextReset(entered.mcxt);
	RelationClose(entered.index_of_core);
	RelationClose(entered.of_core);
	entered.of_core = NULL;
}

Relation
sliced_toast_open(Oid toastrelid)
{
	if (entered.of_core != NULL && toastrelid == RelationGetRelid(&entered.table))
		return &entered.table;
	return table_open(toastrelid, AccessShareLock);
}

void
sliced_toast_close(Relation toastrel)
{
	if (toastrel != &entered.table)
		table_close(toastrel, AccessShareLock);
}

Relation
sliced_toast_file_index(Relation toastrel)
{
	return toastrel == &entered.table ? &entered.index : NULL;
}
