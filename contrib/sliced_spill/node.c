/*
 * node.c
 *	  What our nodes around core's have in common.
 */
#include "postgres.h"

#include "base/compat.h"
#include "codec/codec.h"
#include "executor/executor.h"
#include "node.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

/* Our nodes' numbers are unique: core counts from 0. */
#define FIRST_ID	1000000

/* An entry for the same column of 'varno'. */
static TargetEntry *
same_column(const TargetEntry *entry, int varno)
{
	TargetEntry *result = flatCopyTargetEntry(unconstify(TargetEntry *, entry));
	Node	   *expr = (Node *) entry->expr;

	result->expr = (Expr *) makeVar(varno, entry->resno, exprType(expr), exprTypmod(expr),
									exprCollation(expr), 0);
	return result;
}

CustomScan *
sliced_node_above(Plan *plan, const CustomScanMethods *methods, int core_id, int n)
{
	CustomScan *node = makeNode(CustomScan);
	ListCell   *lc;

	node->scan.plan.startup_cost = plan->startup_cost;
	node->scan.plan.total_cost = plan->total_cost;
	node->scan.plan.plan_rows = plan->plan_rows;
	node->scan.plan.plan_width = plan->plan_width;
	sliced_copy_disabled_nodes(node, plan);
	node->scan.plan.parallel_safe = plan->parallel_safe;
	node->scan.plan.plan_node_id = FIRST_ID + 3 * core_id + n;
	node->scan.plan.extParam = bms_copy(plan->extParam);
	node->scan.plan.allParam = bms_copy(plan->allParam);
	node->scan.plan.lefttree = plan;
	node->methods = methods;
	/* rows are passed on as they are, so there is no expression to compile */
	foreach(lc, plan->targetlist)
	{
		const TargetEntry *entry = lfirst(lc);

		node->custom_scan_tlist = lappend(node->custom_scan_tlist, same_column(entry, OUTER_VAR));
		node->scan.plan.targetlist = lappend(node->scan.plan.targetlist, same_column(entry, INDEX_VAR));
	}
	return node;
}

void
sliced_any_slots(CustomScanState *node)
{
	node->ss.ps.resultops = &TTSOpsMinimalTuple;
	node->ss.ps.resultopsset = true;
	node->ss.ps.resultopsfixed = false;
}

TupleTableSlot *
sliced_next_row(PlanState *node)
{
	TupleTableSlot *slot = ExecProcNode(node);

	return TupIsNull(slot) ? NULL : slot;
}

void
sliced_rescan(PlanState *core, PlanState **below, int nbelow, PlanState *forced)
{
	/* claim that a parameter has changed that no node uses */
	if (forced != NULL)
		forced->chgParam = bms_add_member(forced->chgParam, list_length(forced->state->es_plannedstmt->paramExecTypes));
	ExecReScan(core);
	/* where parameters have changed core leaves the rescan to the next call */
	for (int i = 0; i < nbelow; i++)
		if (below[i]->chgParam != NULL)
			ExecReScan(below[i]);
}

void
sliced_next_pass(PlanState *core, PlanState **below, int nbelow, PlanState *forced)
{
	void	   *kept[8];		/* of another type in each major */
	void	   *cores = core->instrument;

	Assert(nbelow <= (int) lengthof(kept));
	core->instrument = NULL;
	for (int i = 0; i < nbelow; i++)
	{
		kept[i] = below[i]->instrument;
		below[i]->instrument = NULL;
	}
	sliced_rescan(core, below, nbelow, forced);
	core->instrument = cores;
	for (int i = 0; i < nbelow; i++)
		below[i]->instrument = kept[i];
}

void
sliced_explain_tapes(const SlicedTapes *tapes, ExplainState *es)
{
	ExplainPropertyUInteger("Spilled Rows", NULL, tapes->rows, es);
	ExplainPropertyUInteger("Spilled Raw", "kB", (tapes->raw + 1023) / 1024, es);
	ExplainPropertyUInteger("Spilled Stored", "kB", (tapes->stored + 1023) / 1024, es);
	ExplainPropertyText("Compression", sliced_codec_get(tapes->codec)->name, es);
}
