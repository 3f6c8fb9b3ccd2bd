/*
 * shrink.c
 *	  Decides which values of a row stay in it.
 *
 * The order is core's: compress the largest values until the row fits, then
 * move the largest out of the row, and touch columns of storage MAIN last.  Two
 * things differ.  A value is compressed slice by slice, so the attempt to
 * compress it within the row is at the same time the first slice of the value
 * outside it.  And a row that does not get below core's limit by compression
 * stays in one piece a little longer than in core (SLICED_ROW_INLINE_MAX).
 */
#include "postgres.h"

#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "base/limits.h"
#include "row/column_value.h"
#include "row/state.h"
#include "row/toast.h"
#include "toaster/at_work.h"

/* The table's toast_tuple_target, or else the default. */
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

/*
 * The largest column that we can still make smaller: by compression, or by moving it
 * out of the row.  With 'main', looks only at columns of storage MAIN, without it
 * only at the others. -1 if there is none.
 */
static int
biggest_column(SlicedRowState *row, bool for_compression, bool main)
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
		if (row->is_short && sliced_row_column_options(row, i)->compression.dictionary.id == 0)
			continue;
		if (VARSIZE_ANY(value) > biggest)
		{
			biggest = VARSIZE_ANY(value);
			result = i;
		}
	}
	return result;
}

/*
 * True if the value will be stored in an order of its type's own when it leaves the
 * row.
 */
static bool
is_cut(SlicedRowState *row, int i)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(row->values[i]);

	return sliced_policy_cuts(&sliced_row_column_options(row, i)->toaster->policy,
							  VARATT_IS_COMPRESSED(value) ? VARDATA_COMPRESSED_GET_EXTSIZE(value) :
							  VARSIZE_ANY_EXHDR(value));
}

static void
compress_column(SlicedRowState *row, int i)
{
	Form_pg_attribute att = TupleDescAttr(row->desc, i);
	SlicedRowColumn *col = &row->cols[i];
	struct varlena *value = (struct varlena *) DatumGetPointer(row->values[i]);
	struct varlena *compressed;
	SlicedCompression compression = sliced_row_column_options(row, i)->compression;

	col->tried = true;
	if (att->attstorage == TYPSTORAGE_EXTERNAL)
		return;
	/* do not compress it as a whole if it will not stay in the row anyway */
	if (is_cut(row, i) && !sliced_column_might_stay_inline(value, compression))
		return;
	col->raw = value;
	col->draft = sliced_column_draft(value, compression);
	compressed = sliced_column_inline_form(col->draft,
										   att->attstorage == TYPSTORAGE_MAIN ? MaxHeapTupleSize :
										   sliced_row_inline_limit(row->rel));
	if (compressed != NULL)
	{
		row->values[i] = PointerGetDatum(compressed);
	}
}

static void
externalize_column(SlicedRowState *row, int i)
{
	SlicedRowColumn *col = &row->cols[i];
	struct varlena *value = (struct varlena *) DatumGetPointer(row->values[i]);

	if (col->draft == NULL || is_cut(row, i))
	{
		SlicedAtWork work;

		col->draft = palloc(sizeof(SlicedDraft));
		sliced_at_work_begin(&work, sliced_row_column_options(row, i)->toaster, row->rel, i + 1);
		sliced_column_draft_final(col->draft, value,
								  sliced_row_column_options(row, i)->compression,
								  &sliced_row_column_options(row, i)->toaster->policy);
		sliced_at_work_end(&work);
	}
	sliced_row_reserve_pointer(row, i, col->draft->len);
}

/*
 * Undo compression that did not bring the row below core's limit, if the row is short
 * enough for ours without: readers then need not decompress.
 */
static bool
stays_inline_raw(SlicedRowState *row, Size limit)
{
	Datum	   *compressed;

	if (row->has_external)
		return false;
	compressed = palloc(row->desc->natts * sizeof(Datum));
	memcpy(compressed, row->values, row->desc->natts * sizeof(Datum));
	for (int i = 0; i < row->desc->natts; i++)
		if (row->cols[i].raw)
			row->values[i] = PointerGetDatum(row->cols[i].raw);
	if (sliced_row_state_size(row) <= limit)
		return true;
	memcpy(row->values, compressed, row->desc->natts * sizeof(Datum));
	return false;
}

void
sliced_row_shrink(SlicedRowState *row)
{
	Size		limit = sliced_row_inline_limit(row->rel);
	Size		target = row_target(row->rel, SLICED_ROW_TARGET);
	int			i;

	while (sliced_row_state_size(row) > target && (i = biggest_column(row, true, false)) >= 0)
	{
		compress_column(row, i);
		if (VARSIZE_ANY(DatumGetPointer(row->values[i])) > limit)
			externalize_column(row, i);
	}
	if (sliced_row_state_size(row) <= target || stays_inline_raw(row, limit))
		return;
	while (sliced_row_state_size(row) > (row->has_external ? target : limit) &&
		   (i = biggest_column(row, false, false)) >= 0)
		externalize_column(row, i);

	while (sliced_row_state_size(row) > target && (i = biggest_column(row, true, true)) >= 0)
		compress_column(row, i);
	while (sliced_row_state_size(row) > TOAST_TUPLE_TARGET_MAIN &&
		   (i = biggest_column(row, false, true)) >= 0)
		externalize_column(row, i);
}
