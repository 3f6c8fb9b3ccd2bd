/*
 * toast.c
 *	  Toasts a row: decides which values stay in it, and writes the others.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "base/counters.h"
#include "base/limits.h"
#include "base/stop.h"
#include "format/pointer.h"
#include "row/column_value.h"
#include "row/size.h"
#include "row/state.h"
#include "row/toast.h"
#include "store/remover.h"
#include "toaster/at_work.h"
#include "value/promise.h"

/* True if a column has a dictionary. */
static bool
has_dictionary(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);

	for (int i = 0; i < desc->natts; i++)
		if (TupleDescAttr(desc, i)->attlen == -1 && !TupleDescAttr(desc, i)->attisdropped &&
			sliced_column(rel, i + 1).compression.dictionary.id != 0)
			return true;
	return false;
}

bool
sliced_row_is_oversized(Relation rel, HeapTuple tuple)
{
	if (HeapTupleHasExternal(tuple) || tuple->t_len > SLICED_ROW_OVERSIZED)
		return true;
	return tuple->t_len > RelationGetToastTupleTarget(rel, SLICED_ROW_OVERSIZED) && has_dictionary(rel);
}

Size
sliced_row_state_size(const SlicedRowState *row)
{
	return row->hoff + sliced_row_data_size(row->desc, row->values, row->isnull);
}

const SlicedColumn *
sliced_row_column_options(SlicedRowState *row, int i)
{
	SlicedRowColumn *col = &row->cols[i];

	if (col->options.toaster == NULL)
		col->options = sliced_column(row->rel, i + 1);
	return &col->options;
}

void
sliced_row_reserve_pointer(SlicedRowState *row, int i, uint32 size)
{
	char	   *pointer = palloc0(TOAST_POINTER_SIZE);

	sliced_pointer_set(pointer, InvalidOid, InvalidOid, size);
	row->values[i] = PointerGetDatum(pointer);
	row->cols[i].external = true;
	row->has_external = true;
}

/*
 * Leave the row to core's toaster, with the values it came with, and with disguised
 * pointers, which core keeps.  Core keeps a pointer that the old row has too.  If the
 * two differ in bits that mean nothing to core, core fetches and stores the value
 * like any other, one at a time.
 */
static void
go_core_way(SlicedRowToast *rt, SlicedRowState *row, Datum *original)
{
	for (int i = 0; i < row->desc->natts; i++)
	{
		struct varatt_external ptr;

		if (row->cols[i].rope != NULL)
			rt->old_values = lappend_oid(rt->old_values, row->cols[i].rope->base.va_valueid);
		if (!row->cols[i].kept ||
			!sliced_pointer_get(&ptr, (struct varlena *) DatumGetPointer(row->values[i])))
			continue;
		rt->old_values = lappend_oid(rt->old_values, ptr.va_valueid);
		original[i] = PointerGetDatum(sliced_pointer_disguise(&ptr));
	}
	rt->core_way = true;
	rt->tuple = heap_form_tuple(row->desc, original, row->isnull);
}

/* Add a value that is written whole; returns its id. */
static Oid
add_new_value(SlicedRowToast *rt, SlicedRowColumn *col, int attno, SlicedWriter *writer,
			  Oid keep_id)
{
	SlicedNewValue *value = palloc(sizeof(SlicedNewValue));

	value->draft = *col->draft;
	value->attno = attno;
	value->replaces = col->replaces;
	value->replaces_core = col->replaces_core;
	value->valueid = OidIsValid(keep_id) ? keep_id : sliced_writer_new_id(writer);
	rt->new_values = lappend(rt->new_values, value);
	return value->valueid;
}

/* Add a value as its difference from the old one; returns its id. */
static Oid
add_changed_value(SlicedRowToast *rt, SlicedRowState *row, int i, SlicedWriter *writer)
{
	SlicedRowColumn *col = &row->cols[i];
	SlicedChangedValue *value = palloc(sizeof(SlicedChangedValue));
	struct varatt_external promised = {0};

	if (col->promise != NULL)
		sliced_pointer_get(&promised, col->promise);
	value->promise = col->promise;
	value->toaster = sliced_row_column_options(row, i)->toaster;
	value->rel = row->rel;
	value->attno = i + 1;
	sliced_change_plan(&value->change, writer, col->rope, promised.va_valueid,
					   sliced_row_column_options(row, i)->compression,
					   &value->toaster->policy);
	rt->changed_values = lappend(rt->changed_values, value);
	return value->change.valueid;
}

/* Give every value that leaves the row an id, and its pointer the final form. */
static void
assign_ids(SlicedRowToast *rt, SlicedRowState *row, SlicedRowTarget *target)
{
	Relation	rel = row->rel;

	for (int i = 0; i < row->desc->natts; i++)
	{
		SlicedRowColumn *col = &row->cols[i];
		Oid			id;

		if (!col->external)
			continue;
		if (target->writer == NULL)
			target->writer = sliced_writer_open(rel->rd_rel->reltoastrelid, target->options,
												target->hide);
		if (col->rope != NULL)
			id = add_changed_value(rt, row, i, target->writer);
		else
			id = add_new_value(rt, col, i + 1, target->writer,
							   target->keep_ids == NULL ? InvalidOid : target->keep_ids[i]);
		sliced_pointer_set(DatumGetPointer(row->values[i]), rt->named, id,
						   col->rope != NULL ? col->rope->len : col->draft->len);
	}
}

/* Count the values that stay in the row and for which compression was tried. */
static void
count_kept(const SlicedRowToast *rt, const SlicedRowState *row)
{
	for (int i = 0; i < row->desc->natts; i++)
		if (row->cols[i].draft != NULL && !row->cols[i].external &&
			row->cols[i].draft->compression.codec != SLICED_CODEC_NONE)
			sliced_count_column(rt->named, i + 1,
								VARATT_IS_COMPRESSED(DatumGetPointer(row->values[i])) ?
								SLICED_KEPT_COMPRESSED : SLICED_KEPT_AS_IS);
}

void
sliced_row_toast(SlicedRowToast *rt, Relation rel, HeapTuple newtup, HeapTuple oldtup,
				 bool core_way, SlicedRowTarget *target)
{
	SlicedRowState	row = {.rel = rel, .desc = RelationGetDescr(rel), .anew = target->anew};
	int			natts = row.desc->natts;
	Datum	   *original = palloc(natts * sizeof(Datum));

	memset(rt, 0, sizeof(*rt));
	rt->named = sliced_row_named_toast(rel);
	row.values = palloc(natts * sizeof(Datum));
	row.isnull = palloc(natts * sizeof(bool));
	row.cols = palloc0(natts * sizeof(SlicedRowColumn));
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
	row.is_short = !HeapTupleHasExternal(newtup) && newtup->t_len <= SLICED_ROW_OVERSIZED;
	sliced_row_check_promises(row.desc, row.values, row.isnull, row.hoff);
	SLICED_STOP("toast.promises-checked");

	sliced_row_compare(&row, oldtup, !core_way, &rt->old_values);
	if (core_way)
	{
		go_core_way(rt, &row, original);
		return;
	}

	SLICED_STOP("toast.compared");
	sliced_row_shrink(&row);
	SLICED_STOP("toast.shrunk");
	if (row.has_external && sliced_row_state_size(&row) > TOAST_TUPLE_THRESHOLD)
	{
		go_core_way(rt, &row, original);
		return;
	}

	count_kept(rt, &row);
	assign_ids(rt, &row, target);
	SLICED_STOP("toast.ids-assigned");
	rt->tuple = heap_form_tuple(row.desc, row.values, row.isnull);
	if (row.has_external)
	{
		rt->tuple->t_data->t_infomask &= ~HEAP_HASEXTERNAL;
		rt->tuple->t_data->t_infomask2 |= SLICED_MARKER;
	}
}

void
sliced_row_count_value(const SlicedRowToast *rt, const SlicedNewValue *value)
{
	sliced_count(SLICED_STORED, 1);
	sliced_count(SLICED_REPLACED, value->replaces && !value->replaces_core);
	sliced_count(SLICED_REPLACED_CORE, value->replaces_core);
	sliced_storing_end(rt->named, value->attno, value->draft.compression.codec);
}

void
sliced_row_write(SlicedRowToast *rt, SlicedWriter *writer)
{
	ListCell   *lc;

	foreach(lc, rt->new_values)
	{
		SlicedNewValue *value = lfirst(lc);

		sliced_storing_begin();
		sliced_writer_add(writer, value->valueid, &value->draft);
		sliced_row_count_value(rt, value);
		SLICED_STOP("toast.value-handed-over");
		sliced_draft_free(&value->draft);
	}
	foreach(lc, rt->changed_values)
	{
		SlicedChangedValue *value = lfirst(lc);
		SlicedAtWork work;

		sliced_at_work_begin(&work, value->toaster, value->rel, value->attno);
		sliced_storing_begin();
		sliced_change_write(&value->change, writer);
		sliced_storing_end(rt->named, value->attno, value->change.compression.codec);
		sliced_at_work_end(&work);
		SLICED_STOP("toast.before-promise-is-kept");
		if (value->promise != NULL)
			sliced_promise_kept(value->promise, value->change.valueid);
		SLICED_STOP("toast.change-handed-over");
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
		struct varlena *value = (struct varlena *) DatumGetPointer(values[i]);

		if (!isnull[i] && TupleDescAttr(desc, i)->attlen == -1 && VARATT_IS_EXTERNAL_ONDISK(value))
		{
			struct varatt_external *ptr = palloc(sizeof(struct varatt_external));

			VARATT_EXTERNAL_GET_POINTER(*ptr, value);
			result = lappend(result, ptr);
		}
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

List *
sliced_row_values(Relation rel, HeapTuple tuple)
{
	List	   *pointers = sliced_row_pointers(rel, tuple);
	List	   *ids = NIL;
	ListCell   *lc;

	foreach(lc, pointers)
		ids = lappend_oid(ids, ((struct varatt_external *) lfirst(lc))->va_valueid);
	list_free_deep(pointers);
	return ids;
}

void
sliced_row_delete(Relation rel, HeapTuple tuple, bool speculative)
{
	List	   *ids = sliced_row_values(rel, tuple);

	sliced_row_delete_values(rel, ids, speculative);
	list_free(ids);
}
