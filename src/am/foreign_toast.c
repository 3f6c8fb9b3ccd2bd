/*
 * foreign_toast.c
 *	  Tables and toast relations that others have exchanged.
 *
 * Some tools, pg_repack for one, copy a table and then exchange files and toast
 * relations in the catalogs.  The copy has the default access method, the table keeps
 * its own.  Two things can come of that.
 *
 * A table of ours gets a toast relation of heap's (a foreign one).  Core reads it
 * with heap's function, which knows core's chunks only.  So we must not write slices
 * there: new values go the core way (modify.c).  It may have slices nevertheless,
 * from versions that did not check; we read them here, before the row gets to the
 * executor.  VACUUM FULL and CLUSTER take the toast relation over before they begin:
 * files look the same, and our function reads both formats.
 *
 * A table of heap's gets rows of ours.  heap does not know the marker and would copy
 * their pointers into other tables.  Core does not call us then, so we refuse the
 * copy when it is created.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "am/foreign_toast.h"
#include "am/row_version.h"
#include "base/identity.h"
#include "base/stop.h"
#include "base/sweep.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "executor/tuptable.h"
#include "format/pointer.h"
#include "store/reader.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

static Datum
read_value(Relation toastrel, const struct varatt_external *ptr)
{
	uint32		size = sliced_pointer_size(ptr);
	struct varlena *value = palloc(VARHDRSZ + size);

	SET_VARSIZE(value, VARHDRSZ + size);
	if (!sliced_value_read(toastrel, ptr->va_valueid, 0, size, VARDATA(value)))
		sliced_report_corruption(toastrel, ptr->va_valueid, 0, SLICED_NOT_SLICES);
	return PointerGetDatum(value);
}

void
sliced_slot_flatten(Relation rel, TupleTableSlot *slot)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "sliced foreign toast",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	HeapTuple	tuple = ((HeapTupleTableSlot *) slot)->tuple;
	TupleDesc	desc = RelationGetDescr(rel);
	Datum	   *values = palloc(desc->natts * sizeof(Datum));
	bool	   *isnull = palloc(desc->natts * sizeof(bool));
	Relation	toastrel = table_open(rel->rd_rel->reltoastrelid, AccessShareLock);
	HeapTuple	flat;

	heap_deform_tuple(tuple, desc, values, isnull);
	for (int i = 0; i < desc->natts; i++)
	{
		struct varatt_external ptr;

		if (!isnull[i] && TupleDescAttr(desc, i)->attlen == -1 &&
			sliced_pointer_get(&ptr, (struct varlena *) DatumGetPointer(values[i])))
			values[i] = read_value(toastrel, &ptr);
	}
	table_close(toastrel, AccessShareLock);
	SLICED_STOP("flatten.values-read");

	flat = heap_form_tuple(desc, values, isnull);
	flat->t_tableOid = RelationGetRelid(rel);
	sliced_become_version(flat, tuple);
	/* the slot takes a copy */
	ExecForceStoreHeapTuple(flat, slot, false);
	slot->tts_tid = flat->t_self;
	slot->tts_tableOid = flat->t_tableOid;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
}

void
sliced_relation_set_am(Oid relid, Oid am)
{
	Relation	pg_class = table_open(RelationRelationId, RowExclusiveLock);
	HeapTuple	tuple = SearchSysCacheCopy1(RELOID, ObjectIdGetDatum(relid));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	((Form_pg_class) GETSTRUCT(tuple))->relam = am;
	SLICED_STOP("take-over.before-catalog");
	CatalogTupleUpdate(pg_class, &tuple->t_self, tuple);
	SLICED_STOP("take-over.catalog-changed");
	heap_freetuple(tuple);
	table_close(pg_class, RowExclusiveLock);
}

/*
 * Toast relations have no dependency on their access method, so pg_depend stays as it
 * is.
 */
void
sliced_toast_take_over(Relation rel)
{
	sliced_relation_set_am(rel->rd_rel->reltoastrelid, rel->rd_rel->relam);
	/* so that it is opened with our functions from here on, by us too */
	CommandCounterIncrement();
	SLICED_STOP("take-over.done");
}

/*
 * If this new table of ours is the one into which pg_repack copies a table that is
 * not ours, returns that table's name; NULL otherwise.
 */
static char *
table_to_be_repacked(Relation rel)
{
	char	   *schema = get_namespace_name(RelationGetNamespace(rel));
	Oid			relid;
	int			end = 0;
	HeapTuple	tuple;
	char	   *result = NULL;

	if (schema == NULL || strcmp(schema, "repack") != 0 ||
		sscanf(RelationGetRelationName(rel), "table_%u%n", &relid, &end) != 1 ||
		RelationGetRelationName(rel)[end] != '\0')
		return NULL;

	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	if (!HeapTupleIsValid(tuple))
		return NULL;
	if (((Form_pg_class) GETSTRUCT(tuple))->relam != rel->rd_rel->relam)
		result = pstrdup(NameStr(((Form_pg_class) GETSTRUCT(tuple))->relname));
	ReleaseSysCache(tuple);
	return result;
}

/* A relation gets a file.  Refuse the one of pg_repack's copy. */
void
sliced_new_file_check(Relation rel)
{
	char	   *table = table_to_be_repacked(rel);

	sliced_method_keep(rel->rd_rel->relam);
	if (table != NULL)
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("pg_repack cannot give table \"%s\" rows of access method \"sliced\"",
					   table),
				errdetail("The table would keep its own access method, which cannot read them."),
				errhint("Run pg_repack with PGOPTIONS='-c default_table_access_method=heap'."));
	if (rel->rd_createSubid != InvalidSubTransactionId)
		sliced_counters_relation_is_new(RelationGetRelid(rel));
	SLICED_STOP("file.checked");
}
