/*
 * elements.c
 *	  Finds the elements of an array of ours.
 *
 * Elements of different lengths are found by walking from one to the next.  While an
 * array's document is in memory it keeps the offset of every
 * SLICED_ARRAY_HINT_EACH-th item that a walk has passed, so the next walk begins
 * close to its target.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "base/limits.h"
#include "format/pointer.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "toaster/array/elements.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* Offsets that a document remembers: of items 0, SLICED_ARRAY_HINT_EACH and so on. */
typedef struct Hints
{
	int			n;
	int			max;
	uint32	   *places;
} Hints;

ArrayMetaState *
sliced_array_element_type(FunctionCallInfo fcinfo, Oid type)
{
	/* core's functions, which may be called with the same FmgrInfo, keep the same there */
	ArrayMetaState *state = fcinfo->flinfo->fn_extra;

	if (state == NULL)
		fcinfo->flinfo->fn_extra = state =
			MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(ArrayMetaState));
	if (state->element_type != type)
	{
		get_typlenbyvalalign(type, &state->typlen, &state->typbyval, &state->typalign);
		state->element_type = type;
	}
	return state;
}

Oid
sliced_array_argument_type(FunctionCallInfo fcinfo, int arg)
{
	Oid			type = get_base_element_type(get_fn_expr_argtype(fcinfo->flinfo, arg));

	if (!OidIsValid(type))
		ereport(ERROR,
				errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("could not determine the type of the array's elements"));
	return type;
}

void
sliced_array_complain(const SlicedArray *array)
{
	sliced_document_complain(array->doc);
}

/* Read the header. */
static void
open_array(SlicedArray *array)
{
	uint32		len = Min(array->size, SLICED_ARRAY_HEADER + 2 * MAXDIM * sizeof(int));
	const char *bytes = sliced_document_need(array->doc, 0, len);
	const ArrayType *header = (const ArrayType *) (bytes - SLICED_ARRAY_START);

	array->nitems = 0;
	if (len < SLICED_ARRAY_HEADER || header->ndim < 0 || header->ndim > MAXDIM ||
		len < sliced_array_bitmap_start(header->ndim))
		sliced_array_complain(array);
	array->ndim = header->ndim;
	array->elemtype = header->elemtype;
	memcpy(array->dims, ARR_DIMS(header), array->ndim * sizeof(int));
	memcpy(array->lbs, ARR_LBOUND(header), array->ndim * sizeof(int));
	array->nitems = ArrayGetNItems(array->ndim, array->dims);
	array->has_nulls = header->dataoffset != 0;
	array->bitmap = sliced_array_bitmap_start(array->ndim);
	array->data = array->has_nulls ? header->dataoffset - SLICED_ARRAY_START :
		sliced_array_data_start(array->ndim, 0, false);
	if (array->data > array->size ||
		(array->has_nulls && array->data < (uint64) array->bitmap + (array->nitems + 7) / 8))
		sliced_array_complain(array);
}

/*
 * True if elements of argument 'arg' may have the type.  Damaged bytes may name one that
 * does not exist, or whose values are passed in another way than the caller expects.
 */
static bool
type_is_possible(FunctionCallInfo fcinfo, int arg, Oid type)
{
	const ArrayMetaState *state = fcinfo->flinfo->fn_extra;
	ArrayMetaState found;
	ArrayMetaState expected;

	if (OidIsValid(type) && state != NULL && state->element_type == type)
		return true;
	if (!OidIsValid(type) || !SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)))
		return false;
	expected.element_type = get_base_element_type(get_fn_expr_argtype(fcinfo->flinfo, arg));
	if (expected.element_type == type || !OidIsValid(expected.element_type))
		return true;
	get_typlenbyvalalign(type, &found.typlen, &found.typbyval, &found.typalign);
	get_typlenbyvalalign(expected.element_type, &expected.typlen, &expected.typbyval, &expected.typalign);
	return found.typlen == expected.typlen && found.typbyval == expected.typbyval &&
		found.typalign == expected.typalign;
}

bool
sliced_array_get(FunctionCallInfo fcinfo, int arg, SlicedArray *array)
{
	struct varatt_external ptr;
	const ArrayMetaState *type;

	if (!sliced_pointer_get(&ptr, (struct varlena *) PG_GETARG_POINTER(arg)))
		return false;
	array->doc = sliced_document_at(&ptr, fcinfo);
	array->size = sliced_pointer_size(&ptr);
	open_array(array);
	if (array->nitems == 0)
		return false;
	if (!type_is_possible(fcinfo, arg, array->elemtype))
		sliced_array_complain(array);
	type = sliced_array_element_type(fcinfo, array->elemtype);
	if (type->typlen < -1)
		return false;
	array->typlen = type->typlen;
	array->typbyval = type->typbyval;
	array->typalign = type->typalign;
	array->stride = type->typlen > 0 ? att_align_nominal(type->typlen, type->typalign) : 0;
	if (array->stride > 0 && !array->has_nulls &&
		(uint64) array->nitems * array->stride > array->size - array->data)
		sliced_array_complain(array);
	return true;
}

/* ---- the bitmap ---- */

bool
sliced_array_is_null(const SlicedArray *array, int i)
{
	return array->has_nulls &&
		(*sliced_document_need(array->doc, array->bitmap + i / 8, 1) & (1 << i % 8)) == 0;
}

/* The number of items in [from, to) that are not NULL. */
static int
count_values(const SlicedArray *array, int from, int to)
{
	const char *bytes;
	int			n = 0;

	Assert(from < to);
	if (!array->has_nulls)
		return to - from;
	bytes = sliced_document_need(array->doc, array->bitmap + from / 8, (to - 1) / 8 - from / 8 + 1) -
		from / 8;
	while (from < to && from % 8 != 0)
	{
		n += (bytes[from / 8] >> from % 8) & 1;
		from++;
	}
	n += pg_popcount(bytes + from / 8, (to - from) / 8);
	for (from += (to - from) / 8 * 8; from < to; from++)
		n += (bytes[from / 8] >> from % 8) & 1;
	return n;
}

/* ---- elements of different lengths ---- */

static Hints *
hints_of(const SlicedArray *array)
{
	MemoryContext mcxt = array->doc->partial.mcxt;
	Hints	   *hints = array->doc->hints;

	if (hints != NULL)
		return hints;
	hints = MemoryContextAlloc(mcxt, sizeof(Hints));
	hints->n = 1;
	hints->max = 16;
	hints->places = MemoryContextAlloc(mcxt, hints->max * sizeof(uint32));
	hints->places[0] = array->data;
	array->doc->hints = hints;
	return hints;
}

static void
add_hint(Hints *hints, uint32 at)
{
	if (hints->n == hints->max)
	{
		hints->places = repalloc_huge(hints->places, 2 * (Size) hints->max * sizeof(uint32));
		hints->max *= 2;
	}
	hints->places[hints->n++] = at;
}

/* The length of the element at this offset. */
static uint32
element_size(const SlicedArray *array, uint32 at)
{
	const char *bytes;
	uint32		size;

	if (array->typlen > 0)
		return array->typlen;
	/*
	 * a length word, or its first byte if that is a short one; neither ends behind
	 * the array
	 */
	bytes = sliced_document_need(array->doc, at, 1);
	if (!VARATT_IS_1B(bytes))
		bytes = sliced_document_need(array->doc, at, VARHDRSZ);
	else if (VARATT_IS_1B_E(bytes))
		sliced_array_complain(array);
	size = VARSIZE_ANY(bytes);
	if (size == 0 || size > array->size - at)
		sliced_array_complain(array);
	return size;
}

/* The offset of the item behind item 'i', which is at 'at' unless it is NULL. */
static uint32
next_place(const SlicedArray *array, int i, uint32 at)
{
	return sliced_array_is_null(array, i) ? at :
		Min(sliced_array_align(array->typalign, (uint64) at + element_size(array, at)),
			array->size);
}

static uint32
walk_to(const SlicedArray *array, int item)
{
	Hints	   *hints = hints_of(array);
	int			hint = Min(item / SLICED_ARRAY_HINT_EACH, hints->n - 1);
	uint32		at = hints->places[hint];

	for (int i = hint * SLICED_ARRAY_HINT_EACH; i < item; i++)
	{
		at = next_place(array, i, at);
		if ((i + 1) % SLICED_ARRAY_HINT_EACH == 0)
		{
			CHECK_FOR_INTERRUPTS();
			/* those before it are there: the walk began at the last */
			Assert((i + 1) / SLICED_ARRAY_HINT_EACH == hints->n);
			add_hint(hints, at);
		}
	}
	return at;
}

/* ---- elements of any kind ---- */

uint32
sliced_array_place(const SlicedArray *array, int i)
{
	uint64		at;

	Assert(i >= 0 && i <= array->nitems);
	if (i == array->nitems)
		return array->size;
	if (i == 0)
		return array->data;
	if (array->stride == 0)
		return walk_to(array, i);
	/* count from the end if that is nearer */
	if (!array->has_nulls || i <= array->nitems / 2)
		at = array->data + (uint64) count_values(array, 0, i) * array->stride;
	else
		at = array->size - (uint64) count_values(array, i, array->nitems) * array->stride;
	if (at < array->data || at > array->size)
		sliced_array_complain(array);
	return at;
}

Datum
sliced_array_fetch(const SlicedArray *array, int i)
{
	uint32		at = sliced_array_place(array, i);
	uint32		size = element_size(array, at);
	const char *bytes = sliced_document_need(array->doc, at, size);
	char	   *copy;

	if (array->typbyval)
		return fetch_att(bytes, true, array->typlen);
	copy = palloc(size);
	memcpy(copy, bytes, size);
	return PointerGetDatum(copy);
}
