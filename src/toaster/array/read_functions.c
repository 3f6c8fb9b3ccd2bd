/*
 * read_functions.c
 *	  Subscripts of arrays, and functions that ask for their dimensions, without
 *	  reading the rest.
 *
 * As in toaster/text/read_functions.c, each does what core does, and leaves to core
 * all calls that it cannot do better.  Where core's code does well once it has the
 * bytes, we call it with the array's document, in which just the bytes are present
 * that it looks at.
 */
#include "postgres.h"

#include "format/pointer.h"
#include "toaster/array/elements.h"
#include "toaster/array/subscripts.h"
#include "utils/fmgrprotos.h"

/* ---- dimensions ---- */

/* A function that looks only at dimensions. */
static Datum
of_dimensions(FunctionCallInfo fcinfo, PGFunction core)
{
	LOCAL_FCINFO(call, 2);
	struct varatt_external ptr;
	SlicedDocument *doc;
	Datum		result;

	if (!sliced_pointer_get(&ptr, (struct varlena *) PG_GETARG_POINTER(0)))
		return core(fcinfo);
	doc = sliced_document_at(&ptr, fcinfo);
	sliced_document_need(doc, 0, Min(doc->partial.size, SLICED_ARRAY_HEADER + 2 * MAXDIM * sizeof(int)));
	InitFunctionCallInfoData(*call, fcinfo->flinfo, fcinfo->nargs, fcinfo->fncollation, NULL, NULL);
	call->args[0].value = PointerGetDatum(doc->partial.varlena);
	call->args[0].isnull = false;
	if (fcinfo->nargs > 1)
		call->args[1] = fcinfo->args[1];
	result = core(call);
	fcinfo->isnull = call->isnull;
	return result;
}

#define DIMENSIONS_FUNCTION(name, core) \
	PG_FUNCTION_INFO_V1(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		return of_dimensions(fcinfo, core); \
	}

DIMENSIONS_FUNCTION(sliced_array_ndims, array_ndims)
DIMENSIONS_FUNCTION(sliced_array_dims, array_dims)
DIMENSIONS_FUNCTION(sliced_array_lower, array_lower)
DIMENSIONS_FUNCTION(sliced_array_upper, array_upper)
DIMENSIONS_FUNCTION(sliced_array_length, array_length)
DIMENSIONS_FUNCTION(sliced_array_cardinality, array_cardinality)

/* ---- single elements ---- */

static Datum
element(FunctionCallInfo fcinfo, int n, int *subscripts)
{
	SlicedArray array;
	int			i;

	if (!sliced_array_get(fcinfo, 0, &array))
	{
		ArrayMetaState *type = sliced_array_element_type(fcinfo, sliced_array_argument_type(fcinfo, 0));

		return array_get_element(PG_GETARG_DATUM(0), n, subscripts, -1, type->typlen,
								 type->typbyval, type->typalign, &fcinfo->isnull);
	}
	if (n != array.ndim)
		PG_RETURN_NULL();
	for (int d = 0; d < n; d++)
		if (subscripts[d] < array.lbs[d] ||
			subscripts[d] >= (int64) array.lbs[d] + array.dims[d])
			PG_RETURN_NULL();
	i = ArrayGetOffset(n, array.dims, array.lbs, subscripts);
	if (sliced_array_is_null(&array, i))
		PG_RETURN_NULL();
	return sliced_array_fetch(&array, i);
}

PG_FUNCTION_INFO_V1(sliced_array_element);

Datum
sliced_array_element(PG_FUNCTION_ARGS)
{
	int			subscript = PG_GETARG_INT32(1);

	return element(fcinfo, 1, &subscript);
}

PG_FUNCTION_INFO_V1(sliced_array_element_of_many);

/* The same for arrays of more dimensions. */
Datum
sliced_array_element_of_many(PG_FUNCTION_ARGS)
{
	SlicedSubscripts subscripts;

	if (!sliced_subscripts_get(PG_GETARG_ARRAYTYPE_P(1), &subscripts))
		PG_RETURN_NULL();
	return element(fcinfo, subscripts.n, subscripts.values);
}

/* ---- slices ---- */

/*
 * Read the bytes that core looks at when it takes a slice: up to the slice's last
 * item, from its first one if core can compute where that is.
 */
static void
need_for_slice(const SlicedArray *array, const SlicedBounds *bounds)
{
	int			first[MAXDIM];
	int			last[MAXDIM];
	uint32		from;
	uint32		to;

	if (bounds->n > array->ndim)
		return;					/* then the slice is empty */
	for (int d = 0; d < array->ndim; d++)
	{
		int			upper = array->lbs[d] + array->dims[d] - 1;

		first[d] = d < bounds->n && bounds->has_lower[d] ?
			Max(bounds->lower[d], array->lbs[d]) : array->lbs[d];
		last[d] = d < bounds->n && bounds->has_upper[d] ? Min(bounds->upper[d], upper) : upper;
		if (first[d] > last[d])
			return;
	}
	if (array->has_nulls)
		sliced_document_need(array->doc, array->bitmap, (array->nitems + 7) / 8);
	from = array->stride == 0 || array->has_nulls ? array->data :
		sliced_array_place(array, ArrayGetOffset(array->ndim, array->dims, array->lbs, first));
	to = sliced_array_place(array, ArrayGetOffset(array->ndim, array->dims, array->lbs, last) + 1);
	sliced_document_need(array->doc, from, to - from);
}

PG_FUNCTION_INFO_V1(sliced_array_slice);

Datum
sliced_array_slice(PG_FUNCTION_ARGS)
{
	Datum		datum = PG_GETARG_DATUM(0);
	ArrayMetaState *type;
	SlicedArray array;
	SlicedBounds bounds;

	if (!sliced_bounds_get(PG_GETARG_ARRAYTYPE_P(1), PG_GETARG_INT32(2), &bounds))
		PG_RETURN_NULL();
	if (sliced_array_get(fcinfo, 0, &array))
	{
		need_for_slice(&array, &bounds);
		datum = PointerGetDatum(array.doc->partial.varlena);
	}
	type = sliced_array_element_type(fcinfo, sliced_array_argument_type(fcinfo, 0));
	return array_get_slice(datum, bounds.n, bounds.upper, bounds.lower, bounds.has_upper,
						   bounds.has_lower, -1, type->typlen, type->typbyval, type->typalign);
}
