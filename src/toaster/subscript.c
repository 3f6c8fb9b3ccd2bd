/*
 * subscript.c
 *	  Subscripts that become function calls.
 */
#include "postgres.h"

#include "catalog/pg_collation_d.h"
#include "nodes/makefuncs.h"
#include "toaster/subscript.h"

bool
sliced_is_harmless(const Node *expr)
{
	if (expr == NULL)
		return true;
	if (IsA(expr, RelabelType))
		return sliced_is_harmless((const Node *) ((const RelabelType *) expr)->arg);
	/* a parameter of the executor may stand for a subquery */
	return IsA(expr, Const) || IsA(expr, Var) ||
		(IsA(expr, Param) && ((const Param *) expr)->paramkind == PARAM_EXTERN);
}

static bool
is_never_null(const Node *expr)
{
	return expr == NULL || (IsA(expr, Const) && !((const Const *) expr)->constisnull);
}

static bool
all_are_harmless(const List *subscripts, bool assigns_any)
{
	ListCell   *lc;

	foreach(lc, subscripts)
		if (!sliced_is_harmless(lfirst(lc)) || !(assigns_any || is_never_null(lfirst(lc))))
			return false;
	return true;
}

bool
sliced_subscripts_are_harmless(const SubscriptingRef *ref)
{
	bool		assigns_any = sliced_is_harmless((const Node *) ref->refassgnexpr);

	return all_are_harmless(ref->refupperindexpr, assigns_any) &&
		all_are_harmless(ref->reflowerindexpr, assigns_any);
}

FuncExpr *
sliced_subscript_call(Oid function, Oid resulttype, List *args)
{
	FuncExpr   *call = makeFuncExpr(function, resulttype, args, InvalidOid,
									DEFAULT_COLLATION_OID, COERCE_EXPLICIT_CALL);

	return call;
}
