/*
 * derive.c
 *	  For tests: turn a row's value into one that consists of given pieces.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "access/xact.h"
#include "base/compat.h"
#include "catalog/catalog.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "storage/bufmgr.h"
#include "format/pointer.h"
#include "format/row.h"
#include "utils/array.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC;

/* Insert the head of a new value; returns the value's id. */
static Oid
insert_head(Relation toastrel, SlicedRow *head)
{
	Relation   *indexes;
	int			nindexes;
	int			valid = toast_open_indexes(toastrel, RowExclusiveLock, &indexes, &nindexes);
	Oid			id = GetNewOidWithIndex(toastrel, RelationGetRelid(indexes[valid]), 1);
	bytea	   *data = palloc(VARHDRSZ + sliced_row_size(head));
	Datum		values[3];
	bool		isnull[3] = {false, false, false};
	HeapTuple	tuple;

	SET_VARSIZE(data, VARHDRSZ + sliced_row_size(head));
	sliced_row_encode(VARDATA(data), id, SLICED_HEAD_SEQ, head);
	values[0] = ObjectIdGetDatum(id);
	values[1] = Int32GetDatum(SLICED_HEAD_SEQ);
	values[2] = PointerGetDatum(data);
	tuple = heap_form_tuple(RelationGetDescr(toastrel), values, isnull);
	heap_insert(toastrel, tuple, GetCurrentCommandId(true), 0, NULL);
	for (int i = 0; i < nindexes; i++)
		index_insert(indexes[i], values, isnull, &tuple->t_self, toastrel,
					 UNIQUE_CHECK_YES, false, NULL);
	toast_close_indexes(indexes, nindexes, NoLock);
	return id;
}

PG_FUNCTION_INFO_V1(derive);

/*
 * derive(rel regclass, row tid, attnum int, pieces int[], inline bytea): 'pieces'
 * lists objid (-1: that of the present value; 0: inline), start and len of each.
 * The table must have no indexes.
 */
Datum
derive(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), RowExclusiveLock);
	Relation	toastrel = table_open(rel->rd_rel->reltoastrelid, RowExclusiveLock);
	TupleDesc	desc = RelationGetDescr(rel);
	int			i = PG_GETARG_INT32(2) - 1;
	bytea	   *inline_bytes = PG_GETARG_BYTEA_PP(4);
	SlicedRow	head = {
		.kind = SLICED_ROW_HEAD,
		.rawlen = VARSIZE_ANY_EXHDR(inline_bytes),
		.storedlen = VARSIZE_ANY_EXHDR(inline_bytes),
		.payload = VARDATA_ANY(inline_bytes),
		.payload_len = VARSIZE_ANY_EXHDR(inline_bytes)
	};
	Datum	   *numbers;
	int			n;
	SlicedPiece *pieces;
	uint32		size = 0;
	HeapTupleData old = {.t_self = *(ItemPointer) PG_GETARG_POINTER(1)};
	HeapTuple	new;
	Buffer		buffer;
	Datum	   *values = palloc(desc->natts * sizeof(Datum));
	bool	   *isnull = palloc(desc->natts * sizeof(bool));
	char		pointer[TOAST_POINTER_SIZE];
	struct varatt_external ptr;
	TM_FailureData tmfd;
	LockTupleMode lockmode;
	TU_UpdateIndexes update_indexes;

	if (!heap_fetch(rel, GetActiveSnapshot(), &old, &buffer, false))
		elog(ERROR, "no such row");
	heap_deform_tuple(&old, desc, values, isnull);
	if (!sliced_pointer_get(&ptr, (struct varlena *) DatumGetPointer(values[i])))
		elog(ERROR, "not a value of ours");

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(3), INT4OID, 4, true, TYPALIGN_INT,
					  &numbers, NULL, &n);
	pieces = palloc(n / 3 * sizeof(SlicedPiece));
	for (head.npieces = 0; head.npieces < n / 3; head.npieces++)
	{
		SlicedPiece *piece = &pieces[head.npieces];
		int32		objid = DatumGetInt32(numbers[head.npieces * 3]);

		piece->objid = objid == -1 ? ptr.va_valueid : objid;
		piece->start = DatumGetInt32(numbers[head.npieces * 3 + 1]);
		piece->len = DatumGetInt32(numbers[head.npieces * 3 + 2]);
		size += piece->len;
	}
	head.pieces = (char *) pieces;

	sliced_pointer_set(pointer, ptr.va_toastrelid, insert_head(toastrel, &head), size);
	values[i] = PointerGetDatum(pointer);
	new = heap_form_tuple(desc, values, isnull);
	new->t_data->t_infomask &= ~HEAP_HASEXTERNAL;
	new->t_data->t_infomask2 |= SLICED_MARKER;
	if (heap_update(rel, &old.t_self, new, GetCurrentCommandId(true), 0, InvalidSnapshot, true,
					&tmfd, &lockmode, &update_indexes) != TM_Ok)
		elog(ERROR, "row was changed");
	ReleaseBuffer(buffer);
	table_close(toastrel, NoLock);
	table_close(rel, NoLock);
	PG_RETURN_VOID();
}
