/*
 * operators.c
 *	  The operators of a plan whose functions we have exchanged.
 *
 * EXPLAIN (VERBOSE) prints exchanged functions by their names, but operators as they
 * were written.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "plan/plan.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"

static bool
add_exchanged(Node *node, void *arg)
{
	List	  **names = arg;

	if (node == NULL)
		return false;
	if (IsA(node, OpExpr))
	{
		const OpExpr *expr = (const OpExpr *) node;

		if (OidIsValid(expr->opfuncid) && expr->opfuncid != get_opcode(expr->opno))
		{
			String	   *name = makeString(format_operator(expr->opno));

			*names = list_append_unique(*names, name);
		}
	}
	return expression_tree_walker(node, add_exchanged, arg);
}

static void
visit(Node *expr, bool top, void *arg)
{
	(void) add_exchanged(expr, arg);
}

List *
sliced_exchanged_operators(PlannedStmt *stmt)
{
	List	   *names = NIL;
	List	   *result = NIL;
	ListCell   *lc;
	SlicedPlanVisitor visitor = {.visit = visit, .arg = &names};

	sliced_plan_walk(stmt, &visitor);
	foreach(lc, names)
		result = lappend(result, strVal(lfirst(lc)));
	return result;
}
