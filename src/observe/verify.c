/*
 * verify.c
 *	  sliced.verify(): checks that every pointer leads to its value, whole and
 *	  sound, and that everything in the toast relation belongs to some row.
 *
 * Two passes under one snapshot, so that concurrent changes do not disturb.  The
 * first goes over the table and follows every pointer.  The second goes over the
 * toast relation and looks for rows that the first pass did not meet.  The first pass
 * remembers the objects it met, some 20 bytes each.
 *
 * The snapshot is taken when the table is locked.  An older one, such as that of the
 * calling statement, sees rows that VACUUM FULL or CLUSTER has rewritten since, but
 * not their values: rows keep the transactions that made them, but the slices belong
 * to the transaction that rewrote them.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "base/compat.h"
#include "base/identity.h"
#include "base/locks.h"
#include "base/tables.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "format/pointer.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "row/column_value.h"
#include "store/dictionary.h"
#include "store/walk.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#define NOTICE_EVERY_MS		10000

typedef struct OwnedObject
{
	Oid			objid;
	Oid			valueid;		/* the value that has rows of it */
} OwnedObject;

typedef struct Verify
{
	Relation	rel;
	Datum		name;			/* the table's, for results */
	Relation	toastrel;		/* NULL if the table has none */
	ToastScan	scan;
	ReturnSetInfo *result;
	MemoryContext work;
	HTAB	   *objects;		/* OwnedObject: every object that some row owns */
	HTAB	   *dictionaries;	/* SlicedDictionaryName of all that slices name */

	/* where we are */
	ItemPointerData row;
	const char *column;
	Oid			valueid;

	TimestampTz last_notice;
	uint64		nrows;
	uint64		nvalues;
	uint64		nproblems;
} Verify;

static const char *const kind_names[] = {
	[SLICED_PROBLEM_POINTER] = "broken pointer",
	[SLICED_PROBLEM_MISSING] = "missing slice",
	[SLICED_PROBLEM_CORRUPTED] = "corrupted slice",
	[SLICED_PROBLEM_OVERLAP] = "overlapping slice",
	[SLICED_PROBLEM_EXCESS] = "excess slice",
};

/* Put one row of the result; 'v' says where in the table, if anywhere. */
static void
verify_put(Verify *v, const char *kind, bool in_table, Oid valueid, int64 offset, const char *message)
{
	Datum		values[7] = {0};
	bool		isnull[7] = {false};

	values[0] = v->name;
	values[1] = CStringGetTextDatum(kind);
	values[2] = PointerGetDatum(&v->row);
	isnull[2] = !in_table;
	isnull[3] = !in_table || v->column == NULL;
	if (!isnull[3])
		values[3] = DirectFunctionCall1(namein, CStringGetDatum(v->column));
	values[4] = ObjectIdGetDatum(valueid);
	isnull[4] = !OidIsValid(valueid);
	values[5] = Int64GetDatum(offset);
	isnull[5] = offset < 0;
	values[6] = CStringGetTextDatum(message);
	v->nproblems++;
	tuplestore_putvalues(v->result->setResult, v->result->setDesc, values, isnull);
}

static void
verify_on_problem(void *arg, SlicedProblemKind kind, Oid objid, int64 offset, const char *message)
{
	Verify	   *v = arg;

	verify_put(v, kind_names[kind], true, v->valueid, offset, message);
}

static void
verify_on_object(void *arg, Oid objid)
{
	Verify	   *v = arg;
	bool		found;
	OwnedObject *object = hash_search(v->objects, &objid, HASH_ENTER, &found);

	if (!found)
		object->valueid = v->valueid;
	else if (object->valueid != v->valueid)
		verify_on_problem(v, SLICED_PROBLEM_POINTER, objid, -1,
						  "another value has rows of this object");
}

static void
verify_on_slice(void *arg, int i, Oid objid, const SlicedSlice *slice)
{
	Verify	   *v = arg;
	SlicedDictionaryName name;

	if (!slice->has_dictionary)
		return;
	name = sliced_slice_dictionary(slice);
	hash_search(v->dictionaries, &name, HASH_ENTER, NULL);
}

static void
verify_notice_progress(Verify *v, const char *what, BlockNumber done, BlockNumber total)
{
	TimestampTz now = GetCurrentTimestamp();

	if (!TimestampDifferenceExceeds(v->last_notice, now, NOTICE_EVERY_MS))
		return;
	v->last_notice = now;
	ereport(NOTICE,
			errmsg("verifying \"%s\": %s, block %u of %u, " UINT64_FORMAT " values so far",
				   RelationGetRelationName(v->rel), what, done, total, v->nvalues));
}

static void
verify_pointer(Verify *v, const struct varlena *value, bool marked)
{
	static const SlicedVisitor visitor_template = {
		.slice = verify_on_slice, .problem = verify_on_problem, .object = verify_on_object
	};
	SlicedVisitor visitor = visitor_template;
	struct varatt_external ptr;
	bool		found;

	v->valueid = InvalidOid;
	if (!VARATT_IS_EXTERNAL_ONDISK(value))
	{
		verify_put(v, kind_names[SLICED_PROBLEM_POINTER], true, InvalidOid, -1,
				   "the value points to memory");
		return;
	}
	VARATT_EXTERNAL_GET_POINTER(ptr, value);
	v->valueid = ptr.va_valueid;
	v->nvalues++;

	if (v->toastrel == NULL || ptr.va_toastrelid != RelationGetRelid(v->toastrel))
		verify_on_problem(v, SLICED_PROBLEM_POINTER, InvalidOid, -1,
						  "the pointer leads to another toast relation");
	else if (ptr.va_rawsize < VARHDRSZ || VARATT_EXTERNAL_GET_EXTSIZE(ptr) == 0)
		verify_on_problem(v, SLICED_PROBLEM_POINTER, InvalidOid, -1,
						  "the pointer's length is impossible");
	else if (sliced_pointer_is_ours(&ptr) && !marked)
		verify_on_problem(v, SLICED_PROBLEM_POINTER, InvalidOid, -1,
						  "the pointer is not core's, but its row is");
	else
	{
		visitor.arg = v;
		((OwnedObject *) hash_search(v->objects, &ptr.va_valueid, HASH_ENTER, &found))->valueid =
			ptr.va_valueid;
		if (found)
			verify_on_problem(v, SLICED_PROBLEM_POINTER, InvalidOid, -1,
							  "another row has the same value");
		sliced_value_walk(&v->scan, &ptr, &visitor);
	}
}

/*
 * Core reads values that are compressed within their row, without us.  A server that
 * is built without lz4 cannot read those compressed by lz4.
 */
static void
verify_method(Verify *v, const struct varlena *value)
{
	if (!sliced_core_has_method(TOAST_COMPRESS_METHOD(value)))
		verify_put(v, "unreadable value", true, InvalidOid, -1,
				   "the value is compressed by a method that this server is built without");
}

static void
verify_row(Verify *v, HeapTuple tuple, Datum *values, bool *isnull)
{
	TupleDesc	desc = RelationGetDescr(v->rel);
	bool		marked = sliced_tuple_is_marked(tuple->t_data);
	int			nexternal = 0;

	v->row = tuple->t_self;
	heap_deform_tuple(tuple, desc, values, isnull);
	for (int i = 0; i < desc->natts; i++)
	{
		struct varlena *value = (struct varlena *) DatumGetPointer(values[i]);

		if (isnull[i] || TupleDescAttr(desc, i)->attlen != -1)
			continue;
		v->column = NameStr(TupleDescAttr(desc, i)->attname);
		if (VARATT_IS_EXTERNAL(value))
		{
			nexternal++;
			verify_pointer(v, value, marked);
		}
		else if (VARATT_IS_COMPRESSED(value))
			verify_method(v, value);
	}
	v->column = NULL;
	if ((nexternal > 0) != sliced_tuple_has_values(tuple->t_data))
		verify_put(v, kind_names[SLICED_PROBLEM_POINTER], true, InvalidOid, -1,
				   "the row is not marked as what it is");
}

static void
verify_table(Verify *v, Snapshot snapshot)
{
	TupleDesc	desc = RelationGetDescr(v->rel);
	Datum	   *values = palloc(desc->natts * sizeof(Datum));
	bool	   *isnull = palloc(desc->natts * sizeof(bool));
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsBufferHeapTuple);
	TableScanDesc scan = table_beginscan(v->rel, snapshot, 0, NULL, 0);
	HeapScanDesc hscan = (HeapScanDesc) scan;
	BlockNumber done = 0;
	BlockNumber current = InvalidBlockNumber;
	bool		reads_all = sliced_core_has_method(TOAST_LZ4_COMPRESSION_ID);

	/* call heap's function, not ours, to see the tuple as it is on disk */
	while (heap_getnextslot(scan, ForwardScanDirection, slot))
	{
		HeapTuple	tuple = ((BufferHeapTupleTableSlot *) slot)->base.tuple;
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		v->nrows++;
		if (hscan->rs_cblock != current)
		{
			current = hscan->rs_cblock;
			verify_notice_progress(v, "table", done++, hscan->rs_nblocks);
		}
		/* a server with all methods has nothing to verify within rows */
		if (!sliced_tuple_has_values(tuple->t_data) &&
			(reads_all || !HeapTupleHasVarWidth(tuple)))
			continue;
		old = MemoryContextSwitchTo(v->work);
		verify_row(v, tuple, values, isnull);
		MemoryContextSwitchTo(old);
		MemoryContextReset(v->work);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * Report a toast relation that is not what the table's access method would have
 * created.  Other tools may have exchanged files and toast relations
 * (am/foreign_toast.c).
 */
static void
verify_access_methods(Verify *v)
{
	const char *repair = sliced_is_ours(v->rel) ? "VACUUM FULL of the table" :
		"ALTER TABLE ... SET ACCESS METHOD sliced";

	if (sliced_is_ours(v->rel) != sliced_is_ours(v->toastrel))
		verify_put(v, "foreign toast relation", false, InvalidOid, -1,
				   psprintf("the table has access method \"%s\", its toast relation \"%s\"; %s repairs that",
							get_am_name(v->rel->rd_rel->relam),
							get_am_name(v->toastrel->rd_rel->relam), repair));
}

/*
 * Dictionaries belong to no row, but to the directory of object 0.  Check on disk
 * those that slices name, even if a session has them in memory.
 */
static void
verify_dictionaries(Verify *v)
{
	Oid			directory = InvalidOid;
	SlicedDictionaryName *named;
	HASH_SEQ_STATUS status;
	SlicedDamage damage;
	ListCell   *lc;

	hash_search(v->objects, &directory, HASH_ENTER, NULL);
	foreach(lc, sliced_dictionary_list(v->toastrel, &damage))
	{
		const SlicedEntry *entry = &((SlicedListedEntry *) lfirst(lc))->entry;
		SlicedDictionaryName name = {RelationGetRelid(v->toastrel), entry->id, entry->checksum};

		hash_search(v->objects, &name.id, HASH_ENTER, NULL);
		if (name.id != 0)
			hash_search(v->dictionaries, &name, HASH_ENTER, NULL);
	}
	hash_seq_init(&status, v->dictionaries);
	while ((named = hash_seq_search(&status)) != NULL)
		if (sliced_dictionary_check(named) != SLICED_SOUND)
			verify_put(v, "corrupted dictionary", false, named->id, -1,
					   sliced_damage_text(sliced_dictionary_check(named)));
	if (damage != SLICED_SOUND)
		verify_put(v, "corrupted dictionary", false, InvalidOid, -1, sliced_damage_text(damage));
}

/* Report every object in the toast relation that no row owns, once. */
static void
verify_no_orphans(Verify *v, Snapshot snapshot)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(v->toastrel),
													&TTSOpsBufferHeapTuple);
	TableScanDesc scan = table_beginscan(v->toastrel, snapshot, 0, NULL, 0);
	HeapScanDesc hscan = (HeapScanDesc) scan;
	BlockNumber done = 0;
	BlockNumber current = InvalidBlockNumber;

	while (heap_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		bool		found;
		Oid			objid = DatumGetObjectId(slot_getattr(slot, 1, &isnull));
		int32		seq = DatumGetInt32(slot_getattr(slot, 2, &isnull));

		CHECK_FOR_INTERRUPTS();
		if (hscan->rs_cblock != current)
		{
			current = hscan->rs_cblock;
			verify_notice_progress(v, "toast relation", done++, hscan->rs_nblocks);
		}
		hash_search(v->objects, &objid, HASH_ENTER, &found);
		if (!found)
			verify_put(v, "orphaned value", false, objid, Max(seq, 0), "no row points to this value");
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * Take a snapshot of now, but with only those changes of this transaction that the
 * calling statement may see.  A command under way may have written a row and not yet
 * its slices.
 */
static Snapshot
take_snapshot(void)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());

	snapshot->curcid = GetActiveSnapshot()->curcid;
	return snapshot;
}

/* The table is locked. */
static void
verify_relation(ReturnSetInfo *result, Oid relid, bool details)
{
	Verify		v = {.result = result};
	HASHCTL		ctl = {.keysize = sizeof(Oid), .entrysize = sizeof(OwnedObject)};
	HASHCTL		names = {.keysize = sizeof(SlicedDictionaryName), .entrysize = sizeof(SlicedDictionaryName)};
	Snapshot	snapshot;

	v.rel = relation_open(relid, NoLock);
	v.name = sliced_table_datum(relid);
	if (OidIsValid(v.rel->rd_rel->reltoastrelid))
		v.toastrel = table_open(v.rel->rd_rel->reltoastrelid, AccessShareLock);
	v.work = AllocSetContextCreate(CurrentMemoryContext, "sliced verify",
								   ALLOCSET_DEFAULT_SIZES);
	v.objects = hash_create("sliced objects", 1024, &ctl, HASH_ELEM | HASH_BLOBS);
	v.dictionaries = hash_create("sliced dictionaries", 16, &names, HASH_ELEM | HASH_BLOBS);
	v.last_notice = GetCurrentTimestamp();
	snapshot = take_snapshot();
	if (v.toastrel != NULL)
	{
		verify_access_methods(&v);
		sliced_scan_open(&v.scan, v.toastrel, snapshot, AccessShareLock);
	}

	verify_table(&v, snapshot);
	if (v.toastrel != NULL)
	{
		sliced_scan_close(&v.scan, AccessShareLock);
		verify_dictionaries(&v);
		verify_no_orphans(&v, snapshot);
	}
	if (details)
		ereport(INFO,
				errmsg("checked \"%s\": rows: %llu, values stored as slices: %llu, problems: %llu",
					   RelationGetRelationName(v.rel), (unsigned long long) v.nrows, (unsigned long long) v.nvalues,
					   (unsigned long long) v.nproblems));
	UnregisterSnapshot(snapshot);
	hash_destroy(v.objects);
	hash_destroy(v.dictionaries);
	MemoryContextDelete(v.work);
	if (v.toastrel != NULL)
		table_close(v.toastrel, AccessShareLock);
	relation_close(v.rel, NoLock);
}

/* True if a table that is not ours has a toast relation of ours: another tool gave it one. */
static bool
is_ours_by_toast(Relation rel)
{
	Relation	toastrel;
	bool		result;

	if (sliced_is_ours(rel) || RELATION_IS_OTHER_TEMP(rel) || !OidIsValid(rel->rd_rel->reltoastrelid))
		return false;
	toastrel = table_open(rel->rd_rel->reltoastrelid, AccessShareLock);
	result = sliced_is_ours(toastrel);
	table_close(toastrel, AccessShareLock);
	return result;
}

/* Lock what there is to verify, and check first what would end it later. */
static List *
tables_to_verify(Oid relid)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, sliced_relation_lock_tree(relid, SLICED_READER, AccessShareLock))
	{
		Relation	rel = relation_open(lfirst_oid(lc), NoLock);

		if (check_enable_rls(lfirst_oid(lc), InvalidOid, true) == RLS_ENABLED)
			ereport(ERROR,
					errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					errmsg("row-level security hides rows of \"%s\" from you", RelationGetRelationName(rel)),
					errhint("A role with BYPASSRLS, or the owner of a table without FORCE ROW LEVEL SECURITY, can verify it."));
		if (is_ours_by_toast(rel) || sliced_table_check(rel, lfirst_oid(lc) != relid))
			result = lappend_oid(result, lfirst_oid(lc));
		relation_close(rel, NoLock);
	}
	return result;
}

PG_FUNCTION_INFO_V1(sliced_verify);

Datum
sliced_verify(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *lc;

	/* an empty result would say that everything is sound */
	sliced_argument_check(fcinfo, 0, "rel");
	sliced_argument_check(fcinfo, 1, "details");
	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, tables_to_verify(PG_GETARG_OID(0)))
		verify_relation(result, lfirst_oid(lc), PG_GETARG_BOOL(1));
	return (Datum) 0;
}
