/*
 * result.c
 *	  Results of functions that change a value of ours.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "base/limits.h"
#include "base/stop.h"
#include "nodes/nodeFuncs.h"
#include "store/reader.h"
#include "utils/memutils.h"
#include "value/promise.h"
#include "value/result.h"

/* The value itself. */
static struct varlena *
build_value(const SlicedRope *rope)
{
	struct varlena *result = palloc(rope->len + VARHDRSZ);

	SET_VARSIZE(result, rope->len + VARHDRSZ);
	if (rope->len > 0)
	{
		Relation	toastrel = table_open(rope->base.va_toastrelid, AccessShareLock);

		sliced_rope_read(rope, toastrel, 0, rope->len, VARDATA(result));
		table_close(toastrel, AccessShareLock);
	}
	return result;
}

/*
 * What a rollback can take away from a promise.  The promise keeps its bytes only if
 * the base of its rope stays, or is a promise that has a rope itself.
 */
typedef enum Loss
{
	LOSES_NOTHING,
	LOSES_BASE,					/* written by a subtransaction that has not ended, or was rolled back */
	LOSES_RELATION				/* created by one */
} Loss;

static Loss
possible_loss(const SlicedRope *rope)
{
	Relation	toastrel;
	Loss		result = LOSES_NOTHING;

	if (!sliced_parts_may_go())
		return LOSES_NOTHING;
	toastrel = table_open(rope->base.va_toastrelid, AccessShareLock);
	if (toastrel->rd_createSubid > TopSubTransactionId)
		result = LOSES_RELATION;
	else if (!sliced_is_promised(&rope->base) &&
			 sliced_value_may_go(toastrel, rope->base.va_valueid))
		result = LOSES_BASE;
	table_close(toastrel, AccessShareLock);
	return result;
}

/* All bytes of the rope in memory, as another one of the same base. */
static SlicedRope *
with_all_bytes(const SlicedRope *rope, struct varlena *value)
{
	SlicedRope *result = sliced_rope_make(&rope->base);

	sliced_rope_add_bytes(result, VARDATA(value), rope->len);
	return result;
}

/* A datum for the rope: a promise, unless there is nothing to gain, or no memory. */
static struct varlena *
make_datum(const SlicedRope *rope, Oid maker)
{
	struct varlena *promise = NULL;
	struct varlena *value = NULL;

	if (rope->len >= SLICED_PROMISE_MIN && rope->len <= MaxAllocSize - VARHDRSZ &&
		sliced_promise_has_memory(rope))
		switch (possible_loss(rope))
		{
			case LOSES_NOTHING:
				promise = sliced_promise_make(rope, maker);
				break;
			case LOSES_BASE:
				/* so that later changes can be based on this promise */
				value = build_value(rope);
				SLICED_STOP("result.bytes-built");
				promise = sliced_promise_make(with_all_bytes(rope, value), maker);
				break;
			case LOSES_RELATION:
				break;
		}
	return promise != NULL ? promise : value != NULL ? value : build_value(rope);
}

static bool has_just_made(const Node *expr, Oid maker, bool *found);

static bool
have_just_made(List *exprs, Oid maker, bool *found)
{
	ListCell   *lc;

	foreach(lc, exprs)
		if (!has_just_made(lfirst(lc), maker, found))
			return false;
	return true;
}

/*
 * True if the expression has just made this promise, so that no other code has it.
 * That is so if everything that it returns is a constant, which makeConst() fetches,
 * or the result of a function that makes promises, and 'maker' is one of these
 * functions.  A function that has not been called yet in this transaction is not
 * known to make promises: then the promise stays.
 */
static bool
has_just_made(const Node *expr, Oid maker, bool *found)
{
	Oid			function;
	ListCell   *lc;

	/* a CASE may lack its ELSE */
	if (expr == NULL)
		return true;
	switch (nodeTag(expr))
	{
		case T_FuncExpr:
			function = ((const FuncExpr *) expr)->funcid;
			break;
		case T_OpExpr:
			function = ((const OpExpr *) expr)->opfuncid;
			break;
		case T_Const:
			return true;
		case T_CoalesceExpr:
			return have_just_made(((const CoalesceExpr *) expr)->args, maker, found);
		case T_CaseExpr:
			foreach(lc, ((const CaseExpr *) expr)->args)
				if (!has_just_made((const Node *) lfirst_node(CaseWhen, lc)->result, maker, found))
					return false;
			return has_just_made((const Node *) ((const CaseExpr *) expr)->defresult, maker, found);
		default:
			return false;
	}
	*found |= function == maker;
	return sliced_makes_promises(function);
}

/* Forget an argument if it is a promise that its expression has just made. */
static void
release_argument(const Node *expr, struct varlena *value)
{
	Oid			maker = sliced_promise_maker(value);
	bool		found = false;

	if (OidIsValid(maker) && has_just_made(expr, maker, &found) && found)
		sliced_promise_release(value);
}

Datum
sliced_result_of_rope(FunctionCallInfo fcinfo, const SlicedRope *rope)
{
	Node	   *expr = fcinfo->flinfo->fn_expr;
	struct varlena *result = make_datum(rope, fcinfo->flinfo->fn_oid);
	List	   *args = expr == NULL ? NIL : IsA(expr, FuncExpr) ? ((FuncExpr *) expr)->args :
		IsA(expr, OpExpr) ? ((OpExpr *) expr)->args : NIL;

	SLICED_STOP("result.before-release");
	for (int i = 0; i < Min(list_length(args), fcinfo->nargs); i++)
		if (!fcinfo->args[i].isnull && exprType(list_nth(args, i)) == exprType(expr))
			release_argument(list_nth(args, i),
							 (struct varlena *) DatumGetPointer(fcinfo->args[i].value));
	return PointerGetDatum(result);
}

Datum
sliced_result_unchanged(FunctionCallInfo fcinfo)
{
	struct varlena *value = (struct varlena *) PG_GETARG_POINTER(0);
	SlicedRope *rope = sliced_rope_of(value);
	struct varatt_external stored;

	/* core would return a value of ours fetched, so that no rollback takes it away */
	if (rope == NULL ||
		(sliced_stored_pointer(&stored, value) && possible_loss(rope) == LOSES_NOTHING))
		return PointerGetDatum(value);
	return sliced_result_of_rope(fcinfo, rope);
}
