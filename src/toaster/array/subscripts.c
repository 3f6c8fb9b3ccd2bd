/*
 * subscripts.c
 *	  Array subscripts as arguments of functions.
 *
 * To read an element, core evaluates subscripts only if there is an array; to assign
 * one, it evaluates the value only if no subscript is NULL.  Function calls evaluate
 * all of their arguments.  So where it makes a difference we check first whether
 * there is an array, or complain of a NULL while the arguments are evaluated.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "toaster/array/subscripts.h"
#include "toaster/subscript.h"
#include "utils/lsyscache.h"

/* ---- arguments ---- */

bool
sliced_subscripts_get(ArrayType *array, SlicedSubscripts *subscripts)
{
	int			n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));

	/*
	 * plans have at most as many as core allows, but a user may call us with any
	 * number
	 */
	if (n < 1 || n > MAXDIM)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("there are no subscripts, or more than %d", MAXDIM));
	if (array_contains_nulls(array))
		return false;
	subscripts->n = n;
	memcpy(subscripts->values, ARR_DATA_PTR(array), n * sizeof(int));
	return true;
}

bool
sliced_bounds_get(ArrayType *array, int given, SlicedBounds *bounds)
{
	int			n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	const int  *values = (const int *) ARR_DATA_PTR(array);

	if (n < 2 || n > 2 * MAXDIM || n % 2 != 0)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("there are no bounds, or more than %d", 2 * MAXDIM));
	if (array_contains_nulls(array))
		return false;
	bounds->n = n / 2;
	for (int i = 0; i < bounds->n; i++)
	{
		bounds->upper[i] = values[i];
		bounds->lower[i] = values[bounds->n + i];
		bounds->has_upper[i] = (given & (1 << i)) != 0;
		bounds->has_lower[i] = (given & (1 << (bounds->n + i))) != 0;
	}
	return true;
}

PG_FUNCTION_INFO_V1(sliced_array_subscripts);

/* The subscripts of an assignment, unchanged; an error if one is NULL. */
Datum
sliced_array_subscripts(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || array_contains_nulls(PG_GETARG_ARRAYTYPE_P(0)))
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("array subscript in assignment must not be null"));
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/* ---- expressions ---- */

static bool
none_is_null(List *subscripts)
{
	ListCell   *lc;

	foreach(lc, subscripts)
		if (!IsA(lfirst(lc), Const) || lfirst_node(Const, lc)->constisnull)
			return false;
	return true;
}

static Node *
make_int(int value)
{
	return (Node *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(value), false, true);
}

/*
 * All subscripts in the order in which they are evaluated, with 0 for an omitted one;
 * 'given' says which are not omitted.
 */
static List *
collect_subscripts(SubscriptingRef *ref, int *given)
{
	List	   *all = list_concat(list_copy(ref->refupperindexpr), ref->reflowerindexpr);
	ListCell   *lc;

	*given = 0;
	foreach(lc, all)
		if (lfirst(lc) == NULL)
			lfirst(lc) = make_int(0);
		else
			*given |= 1 << foreach_current_index(lc);
	return all;
}

static Node *
make_int_array(List *elements)
{
	ArrayExpr  *result = makeNode(ArrayExpr);

	result->array_typeid = INT4ARRAYOID;
	result->element_typeid = INT4OID;
	result->elements = elements;
	result->location = -1;
	return (Node *) result;
}

static FuncExpr *
make_call(Oid function, const SubscriptingRef *ref, List *args)
{
	return makeFuncExpr(function, ref->refrestype, args, ref->refcollid, ref->refcollid,
						COERCE_EXPLICIT_CALL);
}

static FuncExpr *
swap_fetch(SubscriptingRef *ref, SlicedSwapWork *work)
{
	Oid			one_type[] = {ANYARRAYOID, INT4OID};
	Oid			types[] = {ANYARRAYOID, INT4ARRAYOID, INT4OID};
	int			given;
	List	   *subscripts = collect_subscripts(ref, &given);
	bool		one = list_length(subscripts) == 1;
	bool		slice = ref->reflowerindexpr != NIL;
	Oid			function = one ? work->function(work, "array_element", 2, one_type) :
		work->function(work, slice ? "array_slice" : "array_element", slice ? 3 : 2, types);
	List	   *args = list_make2(ref->refexpr, one ? linitial(subscripts) : make_int_array(subscripts));

	if (!OidIsValid(function))
		return NULL;
	if (slice)
		args = lappend(args, make_int(given));
	if (!sliced_subscripts_are_harmless(ref))
	{
		if (!sliced_is_harmless((Node *) ref->refexpr))
			return NULL;
		work->unless_null = true;
	}
	return make_call(function, ref, args);
}

static FuncExpr *
swap_assignment(SubscriptingRef *ref, SlicedSwapWork *work)
{
	Oid			check_type[] = {INT4ARRAYOID};
	Oid			element_types[] = {ANYARRAYOID, INT4ARRAYOID, ANYELEMENTOID};
	Oid			slice_types[] = {ANYARRAYOID, INT4ARRAYOID, INT4OID, ANYARRAYOID};
	int			given;
	List	   *subscripts = collect_subscripts(ref, &given);
	bool		slice = ref->reflowerindexpr != NIL;
	Oid			function = slice ? work->function(work, "edit_array_slice", 4, slice_types) :
		work->function(work, "edit_array_element", 3, element_types);
	Node	   *all = make_int_array(subscripts);
	List	   *args;

	if (!OidIsValid(function))
		return NULL;
	if (!sliced_is_harmless((Node *) ref->refassgnexpr) && !none_is_null(subscripts))
	{
		Oid			check = work->function(work, "array_subscripts", 1, check_type);

		if (!OidIsValid(check))
			return NULL;
		all = (Node *) makeFuncExpr(check, INT4ARRAYOID, list_make1(all), InvalidOid, InvalidOid,
									COERCE_EXPLICIT_CALL);
	}
	args = list_make2(ref->refexpr, all);
	if (slice)
		args = lappend(args, make_int(given));
	return make_call(function, ref, lappend(args, ref->refassgnexpr));
}

FuncExpr *
sliced_array_swap_subscript(SubscriptingRef *ref, SlicedSwapKind kind, SlicedSwapWork *work)
{
	/* other types may have subscripts that work like an array's */
	if (get_array_type(ref->refelemtype) != ref->refcontainertype)
		return NULL;
	return kind == SLICED_SWAP_EDIT ? swap_assignment(ref, work) : swap_fetch(ref, work);
}
