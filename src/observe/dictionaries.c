/*
 * dictionaries.c
 *	  sliced_functions.table_dictionaries(), sliced.dictionary_slices(): the dictionaries of a
 *	  table, and the slices that need them.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relation.h"
#include "base/compat.h"
#include "base/identity.h"
#include "base/tables.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "format/entry.h"
#include "format/row.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "store/dictionary.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

/* Open the toast relation of a table of ours; NULL if it has none, or was dropped. */
static Relation
open_toast_relation(Oid relid, Relation *rel)
{
	*rel = try_relation_open(relid, AccessShareLock);
	if (*rel == NULL)
		return NULL;
	if (sliced_is_ours(*rel) && OidIsValid((*rel)->rd_rel->reltoastrelid) &&
		!(RELATION_IS_OTHER_TEMP(*rel)) && !sliced_toast_is_foreign(*rel))
		return relation_open((*rel)->rd_rel->reltoastrelid, AccessShareLock);
	relation_close(*rel, AccessShareLock);
	return NULL;
}

/* The part of 'before' that is not in 'after'. */
static Datum
part_saved(uint64 before, uint64 after)
{
	Datum		saved = NumericGetDatum(int64_to_numeric((int64) before - (int64) after));
	Datum		part = DirectFunctionCall2(numeric_div, saved,
										   NumericGetDatum(int64_to_numeric(before)));

	return DirectFunctionCall2(numeric_round, part, Int32GetDatum(3));
}

static void
put_dictionary(ReturnSetInfo *rsinfo, Relation rel, const SlicedListedEntry *listed)
{
	const SlicedEntry *entry = &listed->entry;
	Oid			toastrelid = rel->rd_rel->reltoastrelid;
	Form_pg_attribute att;
	Datum		values[7] = {0};
	bool		nulls[7] = {false};

	if (listed->attno < 1 || listed->attno > RelationGetDescr(rel)->natts)
		return;
	att = TupleDescAttr(RelationGetDescr(rel), listed->attno - 1);
	values[0] = NameGetDatum(&att->attname);
	nulls[0] = att->attisdropped;
	values[1] = ObjectIdGetDatum(entry->id);
	values[2] = BoolGetDatum(entry->id != 0 &&
							 sliced_dictionary_current(toastrelid, listed->attno).id == entry->id);
	values[3] = Int32GetDatum(entry->len);
	values[4] = Int32GetDatum(entry->samples);
	values[5] = TimestampTzGetDatum(entry->trained_at);
	nulls[1] = nulls[3] = entry->id == 0;
	nulls[6] = entry->before == 0;
	if (!nulls[6])
		values[6] = part_saved(entry->before, entry->after);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

PG_FUNCTION_INFO_V1(sliced_table_dictionaries);

Datum
sliced_table_dictionaries(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Relation	rel;
	Relation	toastrel = open_toast_relation(PG_GETARG_OID(0), &rel);
	SlicedDamage damage;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	if (toastrel == NULL)
		return (Datum) 0;
	foreach(lc, sliced_dictionary_list(toastrel, &damage))
		put_dictionary(rsinfo, rel, lfirst(lc));
	if (damage != SLICED_SOUND)
		ereport(WARNING,
				errcode(ERRCODE_DATA_CORRUPTED),
				errmsg("directory of dictionaries of table \"%s\" is corrupted: %s",
					   RelationGetRelationName(rel), sliced_damage_text(damage)));
	relation_close(toastrel, AccessShareLock);
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}

typedef struct Users
{
	uint32		id;
	int64		slices;
	int64		raw_bytes;
	int64		stored_bytes;
} Users;

/* Count the row in the slot if it begins a slice with a dictionary. */
static void
count_row(HTAB *users, TupleTableSlot *slot)
{
	bool		isnull;
	Oid			objid = DatumGetObjectId(slot_getattr(slot, 1, &isnull));
	int32		seq = DatumGetInt32(slot_getattr(slot, 2, &isnull));
	bytea	   *data = DatumGetByteaPP(slot_getattr(slot, 3, &isnull));
	SlicedRow	row;
	uint32		id;
	Users	   *user;
	bool		found;

	if (sliced_row_decode(&row, VARDATA_ANY(data), VARSIZE_ANY_EXHDR(data), objid, seq) != SLICED_SOUND ||
		!row.has_dictionary || row.kind == SLICED_ROW_CONTINUATION ||
		row.payload_len < SLICED_DICTIONARY_NAME)
		return;
	memcpy(&id, row.payload, sizeof(id));
	user = hash_search(users, &id, HASH_ENTER, &found);
	if (!found)
		*user = (Users) {id};
	user->slices++;
	user->raw_bytes += row.rawlen;
	user->stored_bytes += row.storedlen;
}

/* Count the slices of a table's values, by dictionary, and put them. */
static void
put_slices(ReturnSetInfo *rsinfo, Oid relid)
{
	HASHCTL		ctl = {.keysize = sizeof(uint32), .entrysize = sizeof(Users)};
	HTAB	   *users;
	Users	   *user;
	HASH_SEQ_STATUS status;
	Snapshot	snapshot;
	TableScanDesc scan;
	TupleTableSlot *slot;
	Relation	rel;
	Relation	toastrel = open_toast_relation(relid, &rel);

	if (toastrel == NULL)
		return;
	users = hash_create("sliced users of dictionaries", 32, &ctl, HASH_ELEM | HASH_BLOBS);
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	slot = MakeSingleTupleTableSlot(RelationGetDescr(toastrel), &TTSOpsBufferHeapTuple);
	scan = table_beginscan(toastrel, snapshot, 0, NULL, 0);
	while (heap_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		count_row(users, slot);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);

	hash_seq_init(&status, users);
	while ((user = hash_seq_search(&status)) != NULL)
	{
		Datum		values[] = {
			sliced_table_datum(relid), ObjectIdGetDatum(user->id), Int64GetDatum(user->slices),
			Int64GetDatum(user->raw_bytes), Int64GetDatum(user->stored_bytes)
		};
		bool		nulls[lengthof(values)] = {false};

		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	hash_destroy(users);
	relation_close(toastrel, AccessShareLock);
	relation_close(rel, AccessShareLock);
}

PG_FUNCTION_INFO_V1(sliced_dictionary_slices);

Datum
sliced_dictionary_slices(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *lc;

	sliced_argument_check(fcinfo, 0, "rel");
	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, sliced_tables_lock(PG_GETARG_OID(0), SLICED_SCANNER, AccessShareLock))
		put_slices(rsinfo, lfirst_oid(lc));
	return (Datum) 0;
}
