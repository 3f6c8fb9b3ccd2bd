/*
 * row_toast.c
 *	  Decides which values of a row stay in it and how the others are stored.
 *
 * The order is core's: compress the largest values until the row fits, then
 * move the largest out of the row, and touch columns of storage MAIN last.  Two
 * things differ.  A value is compressed slice by slice, so the attempt to
 * compress it within the row is at the same time the first slice of the value
 * outside it.  And a row that does not get below core's limit by compression
 * stays in one piece a little longer than in core (SLICED_ROW_INLINE_MAX).
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "am/column_value.h"
#include "am/row_size.h"
#include "am/row_toast.h"
#include "base/limits.h"
#include "format/pointer.h"
#include "store/remover.h"
#include "toaster/difference.h"
#include "toaster/registry.h"
#include "value/promise.h"

/* What is known of a column while its row is toasted. */
typedef struct Column
{
	const SlicedToaster *toaster;	/* once it has been asked for */
	bool		kept;			/* pointer of ours that the old version has too */
	bool		external;		/* pointer to a value yet to be written */
	bool		tried;			/* compression was tried */
	struct varlena *raw;		/* what the value was before we compressed it */
	SlicedDraft *draft;
	const SlicedRope *rope;		/* how the value differs from the old version's */
	struct varlena *promise;	/* which promised it, if one did */
} Column;

typedef struct RowState
{
	Relation	rel;
	TupleDesc	desc;
	Datum	   *values;
	bool	   *isnull;
	Column	   *cols;
	Size		hoff;
	bool		has_external;
	bool		changed;
} RowState;

bool
sliced_row_is_oversized(HeapTuple tuple)
{
	return HeapTupleHasExternal(tuple) || tuple->t_len > SLICED_ROW_OVERSIZED;
}

/* What the table says (toast_tuple_target), or else the default. */
static Size
row_target(Relation rel, Size by_default)
{
	Size		target = RelationGetToastTupleTarget(rel, TOAST_TUPLE_TARGET);

	return target == TOAST_TUPLE_TARGET ? by_default : target;
}

Size
sliced_row_inline_limit(Relation rel)
{
	return row_target(rel, SLICED_ROW_INLINE_MAX);
}

static Size
row_size(RowState *row)
{
	return row->hoff + sliced_row_data_size(row->desc, row->values, row->isnull);
}

/*
 * The largest column that could still be made smaller: by compression, or by
 * moving it out of the row.  'main' is whether to look at columns of storage
 * MAIN, or at the others.  -1 if there is none.
 */
static int
biggest_column(RowState *row, bool for_compression, bool main)
{
	Size		biggest = MAXALIGN(TOAST_POINTER_SIZE);
	int			result = -1;

	for (int i = 0; i < row->desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(row->desc, i);
		struct varlena *value = (struct varlena *) DatumGetPointer(row->values[i]);

		if (row->isnull[i] || att->attlen != -1 || row->cols[i].kept || row->cols[i].external)
			continue;
		if (main ? att->attstorage != TYPSTORAGE_MAIN :
			att->attstorage != TYPSTORAGE_EXTENDED && att->attstorage != TYPSTORAGE_EXTERNAL)
			continue;
		if (for_compression && (row->cols[i].tried || VARATT_IS_COMPRESSED(value)))
			continue;
		if (VARSIZE_ANY(value) > biggest)
		{
			biggest = VARSIZE_ANY(value);
			result = i;
		}
	}
	return result;
}

static const SlicedToaster *
column_toaster(RowState *row, int i)
{
	Column	   *col = &row->cols[i];

	if (col->toaster == NULL)
		col->toaster = sliced_toaster_of_column(row->rel, i + 1);
	return col->toaster;
}

/* Will the value be stored in an order of its type's own, if it leaves the row? */
static bool
is_cut(RowState *row, int i)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(row->values[i]);

	return sliced_policy_cuts(&column_toaster(row, i)->policy,
							  VARATT_IS_COMPRESSED(value) ? VARDATA_COMPRESSED_GET_EXTSIZE(value) :
							  VARSIZE_ANY_EXHDR(value));
}

static void
compress_column(RowState *row, int i)
{
	Form_pg_attribute att = TupleDescAttr(row->desc, i);
	Column	   *col = &row->cols[i];
	struct varlena *value = (struct varlena *) DatumGetPointer(row->values[i]);
	struct varlena *compressed;
	int			codec = sliced_column_codec(att);

	col->tried = true;
	if (att->attstorage == TYPSTORAGE_EXTERNAL)
		return;
	/* it need not be compressed as a whole if that is for nothing */
	if (is_cut(row, i) && !sliced_column_might_stay_inline(value, codec))
		return;
	col->raw = value;
	col->draft = sliced_column_draft(value, codec);
	compressed = sliced_column_inline_form(col->draft,
										   att->attstorage == TYPSTORAGE_MAIN ? MaxHeapTupleSize :
										   sliced_row_inline_limit(row->rel));
	if (compressed != NULL)
	{
		row->values[i] = PointerGetDatum(compressed);
		row->changed = true;
	}
}

/* The column's value goes out of the row; its pointer's id comes later. */
static void
reserve_pointer(RowState *row, int i, uint32 size)
{
	char	   *pointer = palloc0(TOAST_POINTER_SIZE);

	sliced_pointer_set(pointer, InvalidOid, InvalidOid, size);
	row->values[i] = PointerGetDatum(pointer);
	row->cols[i].external = true;
	row->has_external = true;
	row->changed = true;
}

static void
externalize_column(RowState *row, int i)
{
	Form_pg_attribute att = TupleDescAttr(row->desc, i);
	Column	   *col = &row->cols[i];
	struct varlena *value = (struct varlena *) DatumGetPointer(row->values[i]);

	if (col->draft == NULL || is_cut(row, i))
	{
		col->draft = palloc(sizeof(SlicedDraft));
		sliced_column_draft_final(col->draft, value, sliced_column_codec(att),
								  &column_toaster(row, i)->policy);
	}
	reserve_pointer(row, i, col->draft->len);
}

/*
 * Undo compression that did not bring the row below core's limit, if it is
 * short enough for ours as it was: readers then need not decompress.
 */
static bool
stays_inline_raw(RowState *row, Size limit)
{
	Datum	   *compressed;

	if (row->has_external)
		return false;
	compressed = palloc(row->desc->natts * sizeof(Datum));
	memcpy(compressed, row->values, row->desc->natts * sizeof(Datum));
	for (int i = 0; i < row->desc->natts; i++)
		if (row->cols[i].raw)
			row->values[i] = PointerGetDatum(row->cols[i].raw);
	if (row_size(row) <= limit)
		return true;
	memcpy(row->values, compressed, row->desc->natts * sizeof(Datum));
	return false;
}

static void
shrink_row(RowState *row)
{
	Size		limit = sliced_row_inline_limit(row->rel);
	Size		target = row_target(row->rel, SLICED_ROW_TARGET);
	int			i;

	while (row_size(row) > target && (i = biggest_column(row, true, false)) >= 0)
	{
		compress_column(row, i);
		if (VARSIZE_ANY(DatumGetPointer(row->values[i])) > limit)
			externalize_column(row, i);
	}
	if (row_size(row) <= target || stays_inline_raw(row, limit))
		return;
	while (row_size(row) > (row->has_external ? target : limit) &&
		   (i = biggest_column(row, false, false)) >= 0)
		externalize_column(row, i);

	while (row_size(row) > target && (i = biggest_column(row, true, true)) >= 0)
		compress_column(row, i);
	while (row_size(row) > TOAST_TUPLE_TARGET_MAIN &&
		   (i = biggest_column(row, false, true)) >= 0)
		externalize_column(row, i);
}

/* Does the column's new value differ from 'old' in part only? */
static bool
find_change(RowState *row, int i, const struct varatt_external *old)
{
	Form_pg_attribute att = TupleDescAttr(row->desc, i);
	Column	   *col = &row->cols[i];
	struct varlena *value = (struct varlena *) DatumGetPointer(row->values[i]);

	/* such a value is to be in its row, or nowhere */
	if (att->attstorage == TYPSTORAGE_PLAIN)
		return false;
	if (VARATT_IS_EXTERNAL(value))
	{
		col->rope = sliced_rope_of(value);
		if (col->rope != NULL && memcmp(&col->rope->base, old, sizeof(*old)) == 0 &&
			sliced_promise_renew(value))
		{
			col->promise = value;
			return true;
		}
		/* of another row, or another table; or what cannot be kept */
		col->rope = NULL;
		value = detoast_attr(value);
		row->values[i] = PointerGetDatum(value);
		row->changed = true;
	}
	if (VARSIZE_ANY(value) > SLICED_PROMISE_MIN && !VARATT_IS_COMPRESSED(value))
		col->rope = sliced_difference(row->rel, i, column_toaster(row, i), old,
									  VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
	return col->rope != NULL;
}

/*
 * The old version of a column is a value of ours.  Returns true if the new
 * version makes use of it.
 */
static bool
look_at_old_value(RowState *row, int i, struct varlena *oldvalue,
				  const struct varatt_external *old, bool change)
{
	Column	   *col = &row->cols[i];
	struct varlena *value = (struct varlena *) DatumGetPointer(row->values[i]);

	if (row->isnull[i])
		return false;
	if (VARATT_IS_EXTERNAL_ONDISK(value) && memcmp(value, oldvalue, TOAST_POINTER_SIZE) == 0)
		col->kept = true;
	else if (!change || !find_change(row, i, old))
		return false;
	else if (sliced_rope_is_base(col->rope))
	{
		/* what was sent is what is there */
		row->values[i] = PointerGetDatum(memcpy(palloc(TOAST_POINTER_SIZE), oldvalue,
												TOAST_POINTER_SIZE));
		col->rope = NULL;
		col->kept = true;
		row->changed = true;
	}
	else
		reserve_pointer(row, i, col->rope->len);
	row->has_external = true;
	return true;
}

/*
 * Compare with the old version: which pointers stay, which of its values go.
 * With 'fetch', fetch values that belong to another row.
 */
static void
look_at_columns(SlicedRowToast *rt, RowState *row, HeapTuple oldtup, bool fetch)
{
	Datum	   *oldvalues = NULL;
	bool	   *oldisnull = NULL;

	if (oldtup != NULL)
	{
		oldvalues = palloc(row->desc->natts * sizeof(Datum));
		oldisnull = palloc(row->desc->natts * sizeof(bool));
		heap_deform_tuple(oldtup, row->desc, oldvalues, oldisnull);
	}

	for (int i = 0; i < row->desc->natts; i++)
	{
		struct varlena *value = (struct varlena *) DatumGetPointer(row->values[i]);
		struct varatt_external ptr;

		if (TupleDescAttr(row->desc, i)->attlen != -1)
			continue;
		if (oldtup != NULL && !oldisnull[i] &&
			sliced_pointer_get(&ptr, (struct varlena *) DatumGetPointer(oldvalues[i])))
		{
			if (look_at_old_value(row, i, (struct varlena *) DatumGetPointer(oldvalues[i]),
								  &ptr, fetch))
				continue;
			rt->old_values = lappend_oid(rt->old_values, ptr.va_valueid);
		}
		if (fetch && !row->isnull[i] && VARATT_IS_EXTERNAL(value))
		{
			row->values[i] = PointerGetDatum(sliced_column_fetch(TupleDescAttr(row->desc, i),
																  column_toaster(row, i), value));
			row->changed = true;
		}
	}
}

/*
 * Leave the row to core's toaster: with the values it came with, and pointers
 * that it keeps disguised.  Core keeps a pointer that the old row has too.  If it
 * differs in bits that mean nothing to core, core fetches and stores the value
 * like any other, one at a time.
 */
static void
go_core_way(SlicedRowToast *rt, RowState *row, Datum *original)
{
	for (int i = 0; i < row->desc->natts; i++)
	{
		struct varatt_external ptr;

		if (row->cols[i].rope != NULL)
			rt->old_values = lappend_oid(rt->old_values, row->cols[i].rope->base.va_valueid);
		if (!row->cols[i].kept)
			continue;
		sliced_pointer_get(&ptr, (struct varlena *) DatumGetPointer(row->values[i]));
		rt->old_values = lappend_oid(rt->old_values, ptr.va_valueid);
		original[i] = PointerGetDatum(sliced_pointer_disguise(&ptr));
	}
	rt->core_way = true;
	rt->tuple = heap_form_tuple(row->desc, original, row->isnull);
}

/* Add a value that is written whole; returns its id. */
static Oid
add_new_value(SlicedRowToast *rt, Column *col, SlicedWriter *writer, Oid keep_id)
{
	SlicedNewValue *value = palloc(sizeof(SlicedNewValue));

	value->draft = *col->draft;
	value->valueid = OidIsValid(keep_id) ? keep_id : sliced_writer_new_id(writer);
	rt->new_values = lappend(rt->new_values, value);
	return value->valueid;
}

/* Add a value of which only the difference is written; returns its id. */
static Oid
add_changed_value(SlicedRowToast *rt, RowState *row, int i, SlicedWriter *writer)
{
	Column	   *col = &row->cols[i];
	SlicedChangedValue *value = palloc(sizeof(SlicedChangedValue));
	struct varatt_external promised = {0};

	if (col->promise != NULL)
		sliced_pointer_get(&promised, col->promise);
	value->promise = col->promise;
	sliced_change_plan(&value->change, writer, col->rope, promised.va_valueid,
					   sliced_column_codec(TupleDescAttr(row->desc, i)),
					   &column_toaster(row, i)->policy);
	rt->changed_values = lappend(rt->changed_values, value);
	return value->change.valueid;
}

/* Give every value that leaves the row an id, and its pointer the final form. */
static void
assign_ids(SlicedRowToast *rt, RowState *row, const Oid *keep_ids,
		   SlicedWriter **writer, int options, bool hide)
{
	Relation	rel = row->rel;
	Oid			named = OidIsValid(rel->rd_toastoid) ? rel->rd_toastoid :
		rel->rd_rel->reltoastrelid;

	for (int i = 0; i < row->desc->natts; i++)
	{
		Column	   *col = &row->cols[i];
		Oid			id;

		if (!col->external)
			continue;
		if (*writer == NULL)
			*writer = sliced_writer_open(rel->rd_rel->reltoastrelid, options, hide);
		if (col->rope != NULL)
			id = add_changed_value(rt, row, i, *writer);
		else
			id = add_new_value(rt, col, *writer, keep_ids == NULL ? InvalidOid : keep_ids[i]);
		sliced_pointer_set(DatumGetPointer(row->values[i]), named, id,
						   col->rope != NULL ? col->rope->len : col->draft->len);
	}
}

void
sliced_row_toast(SlicedRowToast *rt, Relation rel, HeapTuple newtup, HeapTuple oldtup,
				 const Oid *keep_ids, bool core_way,
				 SlicedWriter **writer, int options, bool hide)
{
	RowState	row = {.rel = rel, .desc = RelationGetDescr(rel)};
	int			natts = row.desc->natts;
	Datum	   *original = palloc(natts * sizeof(Datum));

	memset(rt, 0, sizeof(*rt));
	row.values = palloc(natts * sizeof(Datum));
	row.isnull = palloc(natts * sizeof(bool));
	row.cols = palloc0(natts * sizeof(Column));
	heap_deform_tuple(newtup, row.desc, original, row.isnull);
	memcpy(row.values, original, natts * sizeof(Datum));
	row.hoff = SizeofHeapTupleHeader;
	for (int i = 0; i < natts; i++)
		if (row.isnull[i])
		{
			row.hoff += BITMAPLEN(natts);
			break;
		}
	row.hoff = MAXALIGN(row.hoff);
	sliced_row_check_promises(row.desc, row.values, row.isnull, row.hoff);

	look_at_columns(rt, &row, oldtup, !core_way);
	if (core_way)
	{
		go_core_way(rt, &row, original);
		return;
	}

	shrink_row(&row);
	if (row.has_external && row_size(&row) > TOAST_TUPLE_THRESHOLD)
	{
		go_core_way(rt, &row, original);
		return;
	}

	assign_ids(rt, &row, keep_ids, writer, options, hide);
	rt->tuple = heap_form_tuple(row.desc, row.values, row.isnull);
	if (row.has_external)
	{
		rt->tuple->t_data->t_infomask &= ~HEAP_HASEXTERNAL;
		rt->tuple->t_data->t_infomask2 |= SLICED_MARKER;
	}
}

void
sliced_row_write(SlicedRowToast *rt, SlicedWriter *writer)
{
	ListCell   *lc;

	foreach(lc, rt->new_values)
	{
		SlicedNewValue *value = lfirst(lc);

		sliced_writer_add(writer, value->valueid, &value->draft);
		sliced_draft_free(&value->draft);
	}
	foreach(lc, rt->changed_values)
	{
		SlicedChangedValue *value = lfirst(lc);

		sliced_change_write(&value->change, writer);
		if (value->promise != NULL)
			sliced_promise_kept(value->promise, value->change.valueid);
	}
}

List *
sliced_row_pointers(Relation rel, HeapTuple tuple)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Datum	   *values = palloc(desc->natts * sizeof(Datum));
	bool	   *isnull = palloc(desc->natts * sizeof(bool));
	List	   *result = NIL;

	heap_deform_tuple(tuple, desc, values, isnull);
	for (int i = 0; i < desc->natts; i++)
	{
		struct varatt_external ptr;

		if (!isnull[i] && TupleDescAttr(desc, i)->attlen == -1 &&
			sliced_pointer_get(&ptr, (struct varlena *) DatumGetPointer(values[i])))
			result = lappend(result, memcpy(palloc(sizeof(ptr)), &ptr, sizeof(ptr)));
	}
	pfree(values);
	pfree(isnull);
	return result;
}

void
sliced_row_delete_values(Relation rel, List *valueids, bool speculative)
{
	Relation	toastrel;
	ListCell   *lc;

	if (valueids == NIL)
		return;
	toastrel = table_open(rel->rd_rel->reltoastrelid, RowExclusiveLock);
	foreach(lc, valueids)
		sliced_value_delete(toastrel, lfirst_oid(lc), speculative);
	table_close(toastrel, NoLock);
}

void
sliced_row_delete(Relation rel, HeapTuple tuple, bool speculative)
{
	List	   *pointers = sliced_row_pointers(rel, tuple);
	List	   *ids = NIL;
	ListCell   *lc;

	foreach(lc, pointers)
		ids = lappend_oid(ids, ((struct varatt_external *) lfirst(lc))->va_valueid);
	sliced_row_delete_values(rel, ids, speculative);
	list_free(ids);
	list_free_deep(pointers);
}
