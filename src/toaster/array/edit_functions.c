/*
 * edit_functions.c
 *	  Assignments to elements and slices of arrays, and functions of core that add
 *	  to an array, as promises.
 *
 * As in toaster/text/edit_functions.c, results and errors are core's for every
 * argument.  We leave to core all values that are not ours, and all errors.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "common/int.h"
#include "format/pointer.h"
#include "toaster/array/splice.h"
#include "toaster/array/subscripts.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "value/promise.h"
#include "value/result.h"

/* The array to change: argument 'arg', not fetched, if it is a value of ours. */
typedef struct Target
{
	SlicedArray array;
	SlicedRope *whole;
	ArrayMetaState *type;
} Target;

static bool
is_ours(FunctionCallInfo fcinfo, int arg)
{
	struct varatt_external ptr;

	return !PG_ARGISNULL(arg) && sliced_pointer_get(&ptr, (struct varlena *) PG_GETARG_POINTER(arg));
}

/*
 * The array of an argument that is ours.  Its document stays only until another one is
 * looked at: fetch other arguments first.
 */
static bool
get_target(FunctionCallInfo fcinfo, int arg, Target *target)
{
	if (!sliced_array_get(fcinfo, arg, &target->array))
		return false;
	target->whole = sliced_rope_of((struct varlena *) PG_GETARG_POINTER(arg));
	target->type = sliced_array_element_type(fcinfo, target->array.elemtype);
	return true;
}

/* Make the change.  Returns false for an error, or anything else that core must do. */
static bool
finish(FunctionCallInfo fcinfo, const Target *target, const SlicedSplice *splice, Datum *result)
{
	SlicedRope *rope = sliced_splice(&target->array, target->whole, splice);

	if (rope == NULL)
		return false;
	*result = sliced_result_of_rope(fcinfo, rope);
	return true;
}

/* Argument 'arg' as an item of the array that is argument 'array_arg'. */
static SlicedItems
get_item(FunctionCallInfo fcinfo, int arg, int array_arg)
{
	Oid			elemtype = sliced_array_argument_type(fcinfo, array_arg);

	return sliced_items_one(sliced_array_element_type(fcinfo, elemtype), PG_GETARG_DATUM(arg),
							PG_ARGISNULL(arg));
}

/* The result is argument 'arg' as it is: the first, or a value of ours. */
static Datum
unchanged(FunctionCallInfo fcinfo, int arg)
{
	return arg == 0 ? sliced_result_unchanged(fcinfo) :
		sliced_result_of_rope(fcinfo, sliced_rope_of((struct varlena *) PG_GETARG_POINTER(arg)));
}

/*
 * Put the items at [lower, lower + n) of a one-dimensional array: over its items, in
 * front of them, or behind them.  NULLs fill a gap between them.
 */
static void
put(SlicedSplice *s, const SlicedArray *array, int lower, SlicedItems items)
{
	int64		at = (int64) lower - array->lbs[0];
	int64		end = at + items.n;

	s->items = items;
	s->at = Min(Max(at, 0), array->nitems);
	s->remove = Max(Min(end, array->nitems) - s->at, 0);
	s->gap_before = Max(at - array->nitems, 0);
	s->gap_after = Max(-end, 0);
	if (at < 0)
		s->lbs[0] = lower;
	/* core makes a bitmap even if the items leave no gap */
	s->needs_bitmap |= -at > 1 || end - array->nitems > 1;
	s->dims[0] = array->nitems - s->remove + s->gap_before + items.n + s->gap_after;
}

/* ---- assignment to an element ---- */

static bool
assign_element(FunctionCallInfo fcinfo, const SlicedSubscripts *subscripts, Datum *result)
{
	Target		target;
	SlicedSplice s;
	SlicedItems items;

	if (!is_ours(fcinfo, 0))
		return false;
	items = get_item(fcinfo, 2, 0);
	if (!get_target(fcinfo, 0, &target) || target.array.ndim != subscripts->n)
		return false;
	s = sliced_splice_begin(&target.array);
	if (subscripts->n == 1)
	{
		/* a valid gap is no longer than an array may be */
		if (llabs((int64) subscripts->values[0] - target.array.lbs[0]) > SLICED_ARRAY_MAX)
			return false;
		put(&s, &target.array, subscripts->values[0], items);
	}
	else
	{
		for (int d = 0; d < subscripts->n; d++)
			if (subscripts->values[d] < s.lbs[d] ||
				subscripts->values[d] >= (int64) s.lbs[d] + s.dims[d])
				return false;	/* an error */
		s.items = items;
		s.at = ArrayGetOffset(subscripts->n, s.dims, s.lbs, subscripts->values);
		s.remove = 1;
	}
	return finish(fcinfo, &target, &s, result);
}

/* The array for core to change; an empty one if there is none. */
static Datum
array_or_empty(FunctionCallInfo fcinfo, Oid elemtype)
{
	return PG_ARGISNULL(0) ? PointerGetDatum(construct_empty_array(elemtype)) : PG_GETARG_DATUM(0);
}

static void
complain_of_null(void)
{
	ereport(ERROR,
			errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			errmsg("array subscript in assignment must not be null"));
}

/*
 * Subscripts, or bounds, of an assignment.  Plans always have some, but a user may
 * call us without.
 */
static ArrayType *
get_subscripts(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(1))
		complain_of_null();
	return PG_GETARG_ARRAYTYPE_P(1);
}

PG_FUNCTION_INFO_V1(sliced_edit_array_element);

/* (array, subscripts, new element) */
Datum
sliced_edit_array_element(PG_FUNCTION_ARGS)
{
	SlicedSubscripts subscripts;
	Datum		result;
	Oid			elemtype;
	ArrayMetaState *type;

	if (!sliced_subscripts_get(get_subscripts(fcinfo), &subscripts))
		complain_of_null();
	if (assign_element(fcinfo, &subscripts, &result))
		return result;
	elemtype = sliced_array_argument_type(fcinfo, 0);
	type = sliced_array_element_type(fcinfo, elemtype);
	return array_set_element(array_or_empty(fcinfo, elemtype), subscripts.n, subscripts.values,
							 PG_GETARG_DATUM(2), PG_ARGISNULL(2), -1, type->typlen,
							 type->typbyval, type->typalign);
}

/* ---- assignment to a slice ---- */

static bool
assign_slice(FunctionCallInfo fcinfo, const SlicedBounds *bounds, Datum *result)
{
	Target		target;
	SlicedSplice s;
	ArrayType  *source;
	int			lower;
	int			upper;
	int64		n;

	if (!is_ours(fcinfo, 0))
		return false;
	source = PG_GETARG_ARRAYTYPE_P(3);
	if (!get_target(fcinfo, 0, &target) || target.array.ndim != 1 || bounds->n != 1)
		return false;
	s = sliced_splice_begin(&target.array);
	lower = bounds->has_lower[0] ? bounds->lower[0] : s.lbs[0];
	upper = bounds->has_upper[0] ? bounds->upper[0] : s.lbs[0] + s.dims[0] - 1;
	n = (int64) upper - lower + 1;
	/* the first two are errors, and so is an array that is too long */
	if (lower > upper || n > ArrayGetNItems(ARR_NDIM(source), ARR_DIMS(source)) ||
		llabs((int64) lower - s.lbs[0]) > SLICED_ARRAY_MAX)
		return false;
	s.needs_bitmap = ARR_HASNULL(source);
	put(&s, &target.array, lower, sliced_items_of(target.type, source, n));
	return finish(fcinfo, &target, &s, result);
}

PG_FUNCTION_INFO_V1(sliced_edit_array_slice);

/* (array, bounds, flags of the bounds that are given, new elements) */
Datum
sliced_edit_array_slice(PG_FUNCTION_ARGS)
{
	SlicedBounds bounds;
	Datum		result;
	Oid			elemtype;
	ArrayMetaState *type;

	if (PG_ARGISNULL(2) || !sliced_bounds_get(get_subscripts(fcinfo), PG_GETARG_INT32(2), &bounds))
		complain_of_null();
	if (!PG_ARGISNULL(0) && PG_ARGISNULL(3))
		return unchanged(fcinfo, 0);
	if (!PG_ARGISNULL(0) && assign_slice(fcinfo, &bounds, &result))
		return result;
	elemtype = sliced_array_argument_type(fcinfo, 0);
	type = sliced_array_element_type(fcinfo, elemtype);
	return array_set_slice(array_or_empty(fcinfo, elemtype), bounds.n, bounds.upper, bounds.lower,
						   bounds.has_upper, bounds.has_lower, PG_GETARG_DATUM(3),
						   PG_ARGISNULL(3), -1, type->typlen, type->typbyval, type->typalign);
}

/* ---- one element more ---- */

/* Add the element that is the other argument, in front or at the end. */
static bool
add_element(FunctionCallInfo fcinfo, int arg, bool in_front, Datum *result)
{
	Target		target;
	SlicedSplice s;
	SlicedItems items;
	int			end;

	if (!is_ours(fcinfo, arg))
		return false;
	items = get_item(fcinfo, 1 - arg, arg);
	/* core takes the new subscript for the lower bound, which may overflow */
	if (!get_target(fcinfo, arg, &target) || target.array.ndim != 1 ||
		(in_front && pg_sub_s32_overflow(target.array.lbs[0], 1, &end)))
		return false;
	s = sliced_splice_begin(&target.array);
	s.items = items;
	s.at = in_front ? 0 : target.array.nitems;
	s.dims[0]++;
	return finish(fcinfo, &target, &s, result);
}

PG_FUNCTION_INFO_V1(sliced_edit_array_append);

Datum
sliced_edit_array_append(PG_FUNCTION_ARGS)
{
	Datum		result;

	return add_element(fcinfo, 0, false, &result) ? result : array_append(fcinfo);
}

PG_FUNCTION_INFO_V1(sliced_edit_array_prepend);

Datum
sliced_edit_array_prepend(PG_FUNCTION_ARGS)
{
	Datum		result;

	return add_element(fcinfo, 1, true, &result) ? result : array_prepend(fcinfo);
}

/* ---- several elements more ---- */

/*
 * Add the other array, which has the same dimensions except the first one, or is one
 * item of the first dimension.
 */
static bool
add_array(FunctionCallInfo fcinfo, int arg, Datum *result)
{
	ArrayType  *other = PG_GETARG_ARRAYTYPE_P(1 - arg);
	Target		target;
	SlicedSplice s;
	int			less;			/* number of dimensions that the other lacks */

	if (!get_target(fcinfo, arg, &target) || ARR_ELEMTYPE(other) != target.array.elemtype)
		return false;
	if (ARR_NDIM(other) == 0)
	{
		*result = unchanged(fcinfo, arg);
		return true;
	}
	less = target.array.ndim - ARR_NDIM(other);
	if (less != 0 && less != 1)
		return false;
	s = sliced_splice_begin(&target.array);
	for (int d = 1; d < target.array.ndim; d++)
		if (ARR_DIMS(other)[d - less] != s.dims[d] || ARR_LBOUND(other)[d - less] != s.lbs[d])
			return false;		/* an error */
	s.items = sliced_items_of(target.type, other, ArrayGetNItems(ARR_NDIM(other), ARR_DIMS(other)));
	s.needs_bitmap = ARR_HASNULL(other);
	s.at = arg == 0 ? target.array.nitems : 0;
	s.dims[0] += less == 0 ? ARR_DIMS(other)[0] : 1;
	if (arg == 1 && less == 0)
		s.lbs[0] = ARR_LBOUND(other)[0];
	return finish(fcinfo, &target, &s, result);
}

PG_FUNCTION_INFO_V1(sliced_edit_array_cat);

/* Either side may be ours.  If both are, the result shares the longer one. */
Datum
sliced_edit_array_cat(PG_FUNCTION_ARGS)
{
	struct varatt_external left = {0};
	struct varatt_external right = {0};
	Datum		result;
	bool		left_is_ours = !PG_ARGISNULL(0) &&
		sliced_pointer_get(&left, (struct varlena *) PG_GETARG_POINTER(0));
	bool		right_is_ours = !PG_ARGISNULL(1) &&
		sliced_pointer_get(&right, (struct varlena *) PG_GETARG_POINTER(1));
	int			arg = right_is_ours && (!left_is_ours || right.va_rawsize > left.va_rawsize) ? 1 : 0;

	if (!left_is_ours && !right_is_ours)
		return array_cat(fcinfo);
	if (PG_ARGISNULL(1 - arg))
		return unchanged(fcinfo, arg);
	return add_array(fcinfo, arg, &result) ? result : array_cat(fcinfo);
}
