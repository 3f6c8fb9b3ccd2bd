/*
 * splice.c
 *	  Replaces some items of an array by others, as a rope.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "common/int.h"
#include "toaster/array/splice.h"
#include "utils/memutils.h"

SlicedSplice
sliced_splice_begin(const SlicedArray *array)
{
	SlicedSplice splice = {0};

	memcpy(splice.dims, array->dims, sizeof(splice.dims));
	memcpy(splice.lbs, array->lbs, sizeof(splice.lbs));
	return splice;
}

SlicedItems
sliced_items_one(const ArrayMetaState *type, Datum value, bool isnull)
{
	static const uint8 null_bitmap = 0;
	SlicedItems items = {.n = 1};
	char	   *data;
	Size		size;

	if (isnull)
	{
		items.bitmap = &null_bitmap;
		return items;
	}
	if (type->typlen == -1)
		value = PointerGetDatum(PG_DETOAST_DATUM(value));
	size = att_addlength_datum(0, type->typlen, value);
	items.len = att_align_nominal(size, type->typalign);
	items.data = data = palloc0(items.len);
	if (type->typbyval)
		store_att_byval(data, value, type->typlen);
	else
		memcpy(data, DatumGetPointer(value), size);
	return items;
}

SlicedItems
sliced_items_of(const ArrayMetaState *type, ArrayType *array, int n)
{
	SlicedItems items = {.n = n, .data = ARR_DATA_PTR(array), .bitmap = ARR_NULLBITMAP(array)};
	const char *at = items.data;

	if (n == ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)))
	{
		items.len = ARR_SIZE(array) - ARR_DATA_OFFSET(array);
		return items;
	}
	for (int i = 0; i < n; i++)
		if (items.bitmap == NULL || (items.bitmap[i / 8] & (1 << i % 8)) != 0)
		{
			at = att_addlength_pointer(at, type->typlen, at);
			at = (const char *) att_align_nominal(at, type->typalign);
		}
	items.len = at - items.data;
	return items;
}

/* Add bytes of our own, unless they are the same as the array's in the same place. */
static void
add_header(SlicedRope *rope, const SlicedArray *array, const SlicedRope *whole,
		   const char *bytes, uint32 len)
{
	if (memcmp(sliced_document_need(array->doc, 0, len), bytes, len) == 0)
		sliced_rope_add_rope(rope, whole, 0, len);
	else
		sliced_rope_add_bytes(rope, bytes, len);
}

/* Copy 'n' bits of the array's bitmap, from bit 'from' on, to bit 'to' of another. */
static void
copy_bits(uint8 *bits, int to, const SlicedArray *array, int from, int n)
{
	const uint8 *old = NULL;

	if (n == 0)
		return;
	if (array->has_nulls)
		old = (const uint8 *) sliced_document_need(array->doc, array->bitmap + from / 8,
												   (from + n - 1) / 8 - from / 8 + 1);
	array_bitmap_copy(bits, to, old, from % 8, n);
}

/*
 * Add the bitmap of the result, for 'nitems'.  Keep whole bytes of the old one: those
 * in front and, if the items behind have moved by a multiple of eight, those behind.
 */
static void
add_bitmap(SlicedRope *rope, const SlicedArray *array, const SlicedRope *whole,
		   const SlicedSplice *s, int nitems)
{
	int			insert = s->gap_before + s->items.n + s->gap_after;
	int			first = array->has_nulls ? s->at / 8 * 8 : 0;	/* of the bits made here */
	int			end = nitems;	/* behind them */
	int			old_end = s->at + s->remove;	/* the matching bit of the old one */
	uint8	   *bits;

	if (array->has_nulls && (insert - s->remove) % 8 == 0 && array->nitems - old_end > 8)
	{
		old_end = (old_end + 7) / 8 * 8;
		end = old_end + insert - s->remove;
	}
	else
		old_end = array->nitems;

	bits = palloc0((end - first + 7) / 8 + 1);
	copy_bits(bits, 0, array, first, s->at - first);
	if (s->items.n > 0)
		array_bitmap_copy(bits, s->at - first + s->gap_before, s->items.bitmap, 0, s->items.n);
	copy_bits(bits, s->at - first + insert, array, s->at + s->remove,
			  old_end - (s->at + s->remove));

	sliced_rope_add_rope(rope, whole, array->bitmap, first / 8);
	sliced_rope_add_bytes(rope, (char *) bits, (end - first + 7) / 8);
	if (end < nitems)
		sliced_rope_add_rope(rope, whole, array->bitmap + old_end / 8,
							 (array->nitems + 7) / 8 - old_end / 8);
}

/* True if an array may have these dimensions. */
static bool
is_possible(const SlicedArray *array, const SlicedSplice *s, int *nitems)
{
	int64		n = 1;

	for (int d = 0; d < array->ndim; d++)
	{
		int32		end;

		Assert(s->dims[d] >= 0);
		if (pg_add_s32_overflow(s->lbs[d], s->dims[d], &end))
			return false;
		n *= s->dims[d];
		if (n > SLICED_ARRAY_MAX)
			return false;
	}
	*nitems = n;
	return true;
}

SlicedRope *
sliced_splice(const SlicedArray *array, const SlicedRope *whole, const SlicedSplice *s)
{
	static const char zeros[MAXIMUM_ALIGNOF] = {0};
	SlicedRope *rope;
	char	   *header;
	ArrayType  *new;
	uint32		len = sliced_array_bitmap_start(array->ndim);
	bool		has_nulls = array->has_nulls || s->needs_bitmap || s->items.bitmap != NULL;
	int			nitems;
	uint32		data;
	uint32		from;
	uint32		to;

	if (!is_possible(array, s, &nitems))
		return NULL;
	Assert(has_nulls || (s->gap_before == 0 && s->gap_after == 0));
	Assert(nitems == array->nitems - s->remove + s->gap_before + s->items.n + s->gap_after);
	data = sliced_array_data_start(array->ndim, nitems, has_nulls);
	from = sliced_array_place(array, s->at);
	to = s->remove == 0 ? from : sliced_array_place(array, s->at + s->remove);

	header = palloc0(SLICED_ARRAY_START + len);
	new = (ArrayType *) header;
	new->ndim = array->ndim;
	new->dataoffset = has_nulls ? data + SLICED_ARRAY_START : 0;
	new->elemtype = array->elemtype;
	memcpy(ARR_DIMS(new), s->dims, array->ndim * sizeof(int));
	memcpy(ARR_LBOUND(new), s->lbs, array->ndim * sizeof(int));

	rope = sliced_rope_make(&whole->base);
	add_header(rope, array, whole, header + SLICED_ARRAY_START, len);
	if (has_nulls)
		add_bitmap(rope, array, whole, s, nitems);
	sliced_rope_add_bytes(rope, zeros, data - rope->len);
	sliced_rope_add_rope(rope, whole, array->data, from - array->data);
	sliced_rope_add_bytes(rope, s->items.data, s->items.len);
	sliced_rope_add_rope(rope, whole, to, array->size - to);
	return rope;
}
