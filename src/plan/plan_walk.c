/*
 * plan_walk.c
 *	  Visits all expressions of a finished plan.
 *
 * Core has no walker for plan trees, only for planned states.  This one leaves out on
 * purpose the private data and expressions of foreign and custom scans, which belong
 * to other extensions, and the fields that only EXPLAIN looks at.
 */
#include "postgres.h"

#include "base/compat.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "plan/plan.h"

static void walk_plan(Plan *plan, const SlicedPlanVisitor *v);

static void
visit_expression(const void *expr, const SlicedPlanVisitor *v)
{
	if (expr != NULL)
		v->visit((Node *) expr, true, v->arg);
}

/* Visit the arguments of conditions; an index knows the operators by their numbers. */
static void
visit_arguments(List *quals, const SlicedPlanVisitor *v)
{
	ListCell   *lc;

	foreach(lc, quals)
		v->visit(lfirst(lc), false, v->arg);
}

static void
walk_list(List *plans, const SlicedPlanVisitor *v)
{
	ListCell   *lc;

	foreach(lc, plans)
		walk_plan(lfirst(lc), v);
}

static void
walk_modify(ModifyTable *node, const SlicedPlanVisitor *v)
{
	ListCell   *lc;
	ListCell   *lc2;

	visit_expression(node->returningLists, v);
	visit_expression(node->onConflictSet, v);
	visit_expression(node->onConflictWhere, v);
	visit_expression(sliced_merge_conditions(node), v);
	foreach(lc, node->withCheckOptionLists)
		foreach(lc2, (List *) lfirst(lc))
			visit_expression(lfirst_node(WithCheckOption, lc2)->qual, v);
	foreach(lc, node->mergeActionLists)
		foreach(lc2, (List *) lfirst(lc))
		{
			MergeAction *action = lfirst_node(MergeAction, lc2);

			visit_expression(action->qual, v);
			visit_expression(action->targetList, v);
		}
	if (v->modify)
		v->modify(node, v->arg);
}

/* Visit what a scan node has besides its target list and its condition. */
static void
walk_scan(Plan *plan, const SlicedPlanVisitor *v)
{
	switch (nodeTag(plan))
	{
		case T_SampleScan:
			visit_expression(((SampleScan *) plan)->tablesample, v);
			break;
		case T_IndexScan:
			visit_arguments(((IndexScan *) plan)->indexqual, v);
			visit_arguments(((IndexScan *) plan)->indexorderby, v);
			visit_expression(((IndexScan *) plan)->indexqualorig, v);
			visit_expression(((IndexScan *) plan)->indexorderbyorig, v);
			break;
		case T_IndexOnlyScan:
			visit_arguments(((IndexOnlyScan *) plan)->indexqual, v);
			visit_arguments(((IndexOnlyScan *) plan)->indexorderby, v);
			visit_expression(((IndexOnlyScan *) plan)->recheckqual, v);
			break;
		case T_BitmapIndexScan:
			visit_arguments(((BitmapIndexScan *) plan)->indexqual, v);
			break;
		case T_BitmapHeapScan:
			visit_expression(((BitmapHeapScan *) plan)->bitmapqualorig, v);
			break;
		case T_TidScan:
			visit_arguments(((TidScan *) plan)->tidquals, v);
			break;
		case T_TidRangeScan:
			visit_arguments(((TidRangeScan *) plan)->tidrangequals, v);
			break;
		case T_SubqueryScan:
			walk_plan(((SubqueryScan *) plan)->subplan, v);
			break;
		case T_FunctionScan:
			visit_expression(((FunctionScan *) plan)->functions, v);
			break;
		case T_ValuesScan:
			visit_expression(((ValuesScan *) plan)->values_lists, v);
			break;
		case T_TableFuncScan:
			visit_expression(((TableFuncScan *) plan)->tablefunc, v);
			break;
		case T_CustomScan:
			walk_list(((CustomScan *) plan)->custom_plans, v);
			break;
		default:
			break;
	}
}

/* Visit what a join has. */
static void
walk_join(Plan *plan, const SlicedPlanVisitor *v)
{
	ListCell   *lc;

	switch (nodeTag(plan))
	{
		case T_NestLoop:
			visit_expression(((Join *) plan)->joinqual, v);
			foreach(lc, ((NestLoop *) plan)->nestParams)
				visit_expression(((NestLoopParam *) lfirst(lc))->paramval, v);
			break;
		case T_MergeJoin:
			visit_expression(((Join *) plan)->joinqual, v);
			visit_arguments(((MergeJoin *) plan)->mergeclauses, v);
			break;
		case T_HashJoin:
			visit_expression(((Join *) plan)->joinqual, v);
			visit_arguments(((HashJoin *) plan)->hashclauses, v);
			visit_expression(((HashJoin *) plan)->hashkeys, v);
			break;
		case T_Hash:
			visit_expression(((Hash *) plan)->hashkeys, v);
			break;
		case T_Memoize:
			visit_expression(((Memoize *) plan)->param_exprs, v);
			break;
		default:
			break;
	}
}

/* Visit what other nodes have. */
static void
walk_other(Plan *plan, const SlicedPlanVisitor *v)
{
	switch (nodeTag(plan))
	{
		case T_Result:
			visit_expression(((Result *) plan)->resconstantqual, v);
			break;
		case T_ModifyTable:
			walk_modify((ModifyTable *) plan, v);
			break;
		case T_Append:
			walk_list(((Append *) plan)->appendplans, v);
			break;
		case T_MergeAppend:
			walk_list(((MergeAppend *) plan)->mergeplans, v);
			break;
		case T_BitmapAnd:
			walk_list(((BitmapAnd *) plan)->bitmapplans, v);
			break;
		case T_BitmapOr:
			walk_list(((BitmapOr *) plan)->bitmapplans, v);
			break;
		case T_WindowAgg:
			visit_expression(((WindowAgg *) plan)->startOffset, v);
			visit_expression(((WindowAgg *) plan)->endOffset, v);
			visit_arguments(((WindowAgg *) plan)->runCondition, v);
			break;
		case T_Agg:
			/* chained nodes take their expressions from the first */
			break;
		case T_Limit:
			visit_expression(((Limit *) plan)->limitOffset, v);
			visit_expression(((Limit *) plan)->limitCount, v);
			break;
		default:
			break;
	}
}

static void
walk_plan(Plan *plan, const SlicedPlanVisitor *v)
{
	ListCell   *lc;

	if (plan == NULL)
		return;
	check_stack_depth();

	visit_expression(plan->targetlist, v);
	visit_expression(plan->qual, v);
	foreach(lc, plan->initPlan)
		visit_expression(lfirst(lc), v);
	walk_plan(plan->lefttree, v);
	walk_plan(plan->righttree, v);
	walk_scan(plan, v);
	walk_join(plan, v);
	walk_other(plan, v);
}

void
sliced_plan_walk(PlannedStmt *stmt, const SlicedPlanVisitor *visitor)
{
	walk_plan(stmt->planTree, visitor);
	walk_list(stmt->subplans, visitor);
}
