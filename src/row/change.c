/*
 * change.c
 *	  Decides which values of a row have changed, compared with its old version.
 *
 * Pointers that both versions have stay, core's too.  Where the old version has a value of
 * ours, the new one may be a promise that is based on it, or turn out to have most
 * of its bytes: then only the difference is written.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "base/counters.h"
#include "base/limits.h"
#include "base/stop.h"
#include "format/pointer.h"
#include "row/column_value.h"
#include "row/state.h"
#include "row/toast.h"
#include "toaster/at_work.h"
#include "toaster/difference.h"
#include "value/promise.h"

/*
 * Make the column's new value a change of 'old', unless it has little in common with
 * it.  Returns true if it is one.  Promises that cannot be kept are read on the way.
 */
static bool
make_change(SlicedRowState *row, int i, const struct varatt_external *old)
{
	Form_pg_attribute att = TupleDescAttr(row->desc, i);
	SlicedRowColumn *col = &row->cols[i];
	struct varlena *value = (struct varlena *) DatumGetPointer(row->values[i]);

	/* such a value must stay in its row */
	if (att->attstorage == TYPSTORAGE_PLAIN)
		return false;
	if (VARATT_IS_EXTERNAL(value))
	{
		col->rope = sliced_rope_of(value);
		if (col->rope != NULL && memcmp(&col->rope->base, old, sizeof(*old)) == 0 &&
			sliced_promise_renew(value))
		{
			SLICED_STOP("row.promise-renewed");
			col->promise = value;
			return true;
		}
		/* a value of another row or table, or a promise that cannot be kept */
		col->rope = NULL;
		value = detoast_attr(value);
		row->values[i] = PointerGetDatum(value);
	}
	if (VARSIZE_ANY(value) > SLICED_PROMISE_MIN && !VARATT_IS_COMPRESSED(value))
	{
		SlicedAtWork work;

		sliced_at_work_begin(&work, sliced_row_column_options(row, i)->toaster, row->rel, i + 1);
		col->rope = sliced_difference(row->rel, i, sliced_row_column_options(row, i)->toaster, old,
									  VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
		sliced_at_work_end(&work);
		SLICED_STOP("row.difference-found");
	}
	return col->rope != NULL;
}

/*
 * Let the new version of a column use the old one, a value outside the row, ours or
 * core's.  Returns false if it cannot.
 */
static bool
use_old_value(SlicedRowState *row, int i, struct varlena *oldvalue,
				  const struct varatt_external *old, bool change)
{
	SlicedRowColumn *col = &row->cols[i];
	struct varlena *value = (struct varlena *) DatumGetPointer(row->values[i]);

	if (row->isnull[i] || (row->anew != NULL && row->anew[i]))
		return false;
	if (VARATT_IS_EXTERNAL_ONDISK(value) && memcmp(value, oldvalue, TOAST_POINTER_SIZE) == 0)
		col->kept = true;
	else if (!change || !sliced_pointer_is_ours(old) || !make_change(row, i, old))
		return false;
	else if (sliced_rope_is_base(col->rope))
	{
		/* the client has sent the same value back */
		row->values[i] = PointerGetDatum(memcpy(palloc(TOAST_POINTER_SIZE), oldvalue,
												TOAST_POINTER_SIZE));
		col->rope = NULL;
		col->kept = true;
		sliced_count_column(sliced_row_named_toast(row->rel), i + 1, SLICED_UNCHANGED);
	}
	else
		sliced_row_reserve_pointer(row, i, col->rope->len);
	row->has_external = true;
	return true;
}

/* Get the value that a pointer from another row leads to, or copy it as it is. */
static void
fetch_value(SlicedRowState *row, int i, struct varlena *value)
{
	const SlicedColumn *options = sliced_row_column_options(row, i);
	SlicedRowColumn *col = &row->cols[i];

	/*
	 * With another storage the row may keep the value, and others may leave first.  A
	 * value that is written anew must not be copied as it is.
	 */
	if (TupleDescAttr(row->desc, i)->attstorage == TYPSTORAGE_EXTENDED && row->anew == NULL)
		col->draft = sliced_column_copy(options, value, sliced_row_inline_limit(row->rel));
	if (col->draft != NULL)
		sliced_row_reserve_pointer(row, i, col->draft->len);
	else
		row->values[i] = PointerGetDatum(sliced_column_fetch(options, value));
}

void
sliced_row_compare(SlicedRowState *row, HeapTuple oldtup, bool fetch, List **old_values)
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

		if (TupleDescAttr(row->desc, i)->attlen != -1)
			continue;
		if (oldtup != NULL && !oldisnull[i] &&
			VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(oldvalues[i])))
		{
			struct varlena *oldvalue = (struct varlena *) DatumGetPointer(oldvalues[i]);
			struct varatt_external ptr;

			VARATT_EXTERNAL_GET_POINTER(ptr, oldvalue);
			if (use_old_value(row, i, oldvalue, &ptr, fetch))
				continue;
			row->cols[i].replaces = true;
			row->cols[i].replaces_core = !sliced_pointer_is_ours(&ptr);
			*old_values = lappend_oid(*old_values, ptr.va_valueid);
		}
		if (fetch && !row->isnull[i] && VARATT_IS_EXTERNAL(value))
			fetch_value(row, i, value);
	}
}
