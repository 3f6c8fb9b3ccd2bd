/*
 * hash_join.c
 *	  The nodes around a hash join: see spill.h.
 */
#include "postgres.h"

#include "base/compat.h"
#include "executor/executor.h"
#include "executor/nodeHash.h"
#include "node.h"
#include "nodes/extensible.h"
#include "partitions.h"
#include "sides.h"
#include "spill.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* ---- plans ---- */

static const CustomScanMethods passes_plan;
static const CustomScanMethods side_plan;

static Plan *
side_above(Plan *plan, bool is_inner, List *keys, const HashJoin *join)
{
	CustomScan *node = sliced_node_above(plan, &side_plan, join->join.plan.plan_node_id, is_inner);

	/* core's own list: what another hook changes in its expressions holds for both nodes */
	node->custom_exprs = keys;
	node->custom_private = list_make3(list_make1_int(is_inner), list_copy(join->hashoperators),
									  list_copy(join->hashcollations));
	return &node->scan.plan;
}

Plan *
sliced_spill_join(HashJoin *join)
{
	Hash	   *hash = (Hash *) innerPlan(join);
	Plan	   *inner = outerPlan(hash);
	CustomScan *above;
	double		fits = get_hash_memory_limit() / 4 / (inner->plan_width + SLICED_ROW_MEMORY(SizeofMinimalTupleHeader));

	outerPlan(join) = side_above(outerPlan(join), false, join->hashkeys, join);
	outerPlan(hash) = side_above(inner, true, hash->hashkeys, join);
	/* core sizes its table by the rows that it is given at once */
	outerPlan(hash)->plan_rows = Max(Min(inner->plan_rows, fits), 1);
	above = sliced_node_above(&join->join.plan, &passes_plan, join->join.plan.plan_node_id, 2);
	if (join->join.plan.parallel_aware)
	{
		/* to core it is a join of this process alone; our node is the parallel one */
		join->join.plan.parallel_aware = hash->plan.parallel_aware = false;
		above->scan.plan.parallel_aware = true;
	}
	above->custom_private = list_make2(list_make1_oid(hash->skewTable),
									   list_make2_int(hash->skewColumn, hash->skewInherit));
	hash->skewTable = InvalidOid;
	return &above->scan.plan;
}

/* ---- below the join ---- */

static void
init_keys(SlicedJoinSide *side, List *exprs, List *operators, List *collations)
{
	SlicedKeys *keys = &side->keys;
	PlanState  *ps = &side->css.ss.ps;

	keys->n = list_length(exprs);
	keys->values = palloc(keys->n * sizeof(ExprState *));
	keys->functions = palloc(keys->n * sizeof(FmgrInfo));
	keys->collations = palloc(keys->n * sizeof(Oid));
	keys->strict = palloc(keys->n * sizeof(bool));
	/* rows come from the node below, and from tapes */
	ps->outerops = NULL;
	ps->outeropsfixed = false;
	ps->outeropsset = true;
	for (int i = 0; i < keys->n; i++)
	{
		Oid			operator = list_nth_oid(operators, i);
		Oid			left;
		Oid			right;

		if (!get_op_hash_functions(operator, &left, &right))
			elog(ERROR, "could not find hash function for hash operator %u", operator);
		fmgr_info(side->is_inner ? right : left, &keys->functions[i]);
		keys->collations[i] = list_nth_oid(collations, i);
		keys->strict[i] = op_strict(operator);
		keys->values[i] = ExecInitExpr(list_nth(exprs, i), ps);
	}
}

/* Core calls this directly, not through the custom scan. */
static TupleTableSlot *
side_next(PlanState *node)
{
	SlicedJoinSide *side = (SlicedJoinSide *) node;
	SlicedPasses *p = side->passes;
	TupleTableSlot *slot;

	if (side->is_inner)
		return sliced_inner_next(p);
	slot = sliced_outer_next(p);
	/* all is in memory: core reads the side without us from its next row on */
	if (p->npartitions == 0 && p->is_loaded && node->instrument == NULL)
		outerPlanState(p->join) = p->outer_side;
	return slot;
}

static void
side_begin(CustomScanState *node, EState *estate, int eflags)
{
	SlicedJoinSide *side = (SlicedJoinSide *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	List	   *private = plan->custom_private;

	side->is_inner = linitial_int(linitial(private));
	outerPlanState(node) = ExecInitNode(outerPlan(plan), estate, eflags);
	side->slot = ExecInitExtraTupleSlot(estate, ExecGetResultType(outerPlanState(node)), &TTSOpsMinimalTuple);
	init_keys(side, plan->custom_exprs, lsecond(private), lthird(private));
	/* the node above must not rely on one kind of slots */
	sliced_any_slots(node);
	node->ss.ps.ExecProcNode = side_next;
}

static void
side_rescan(CustomScanState *node)
{
	SlicedJoinSide *side = (SlicedJoinSide *) node;
	SlicedPasses *p = side->passes;

	if (p->is_switching)
		return;
	if (side->is_inner)
		sliced_passes_reset(p);
	p->outer_is_done = false;
	p->first_row = NULL;
	if (outerPlanState(node)->chgParam == NULL)
		ExecReScan(outerPlanState(node));
}

static void
side_end(CustomScanState *node)
{
	ExecEndNode(outerPlanState(node));
}

static const CustomExecMethods side_run = {
	.CustomName = "SlicedJoinSide",
	.BeginCustomScan = side_begin,
	.EndCustomScan = side_end,
	.ReScanCustomScan = side_rescan
};

static Node *
side_create(CustomScan *plan)
{
	SlicedJoinSide *side = palloc0(sizeof(SlicedJoinSide));

	NodeSetTag(side, T_CustomScanState);
	side->css.methods = &side_run;
	return (Node *) side;
}

/* ---- above the join ---- */

static TupleTableSlot *passes_next(PlanState *node);

static void
passes_begin(CustomScanState *node, EState *estate, int eflags)
{
	SlicedPasses *p = (SlicedPasses *) node;
	List	   *private = ((CustomScan *) node->ss.ps.plan)->custom_private;
	JoinType	type;

	outerPlanState(node) = ExecInitNode(outerPlan(node->ss.ps.plan), estate, eflags);
	p->join = castNode(HashJoinState, outerPlanState(node));
	p->hash = castNode(HashState, innerPlanState(p->join));
	p->outer = (SlicedJoinSide *) outerPlanState(p->join);
	p->inner = (SlicedJoinSide *) outerPlanState(p->hash);
	p->outer->passes = p->inner->passes = p;
	p->outer_side = outerPlanState(&p->outer->css.ss.ps);
	p->inner_side = outerPlanState(&p->inner->css.ss.ps);
	type = p->join->js.jointype;
	p->drops_outer = type != JOIN_LEFT && type != JOIN_FULL && type != JOIN_ANTI;
	p->drops_inner = type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_SEMI || type == JOIN_ANTI;
	p->outer_table = linitial_oid(linitial(private));
	p->outer_column = linitial_int(lsecond(private));
	p->outer_inherits = lsecond_int(lsecond(private));
	p->allowed = get_hash_memory_limit();
	sliced_expect_partitions(p, Max(p->inner_side->plan->plan_rows, 1), SLICED_PARTITIONS_MIN);
	p->mcxt = AllocSetContextCreate(estate->es_query_cxt, "sliced partitions", ALLOCSET_DEFAULT_SIZES);
	sliced_tapes_init(&p->tapes, p->mcxt);
	node->ss.ps.resultops = &TTSOpsVirtual;
	node->ss.ps.resultopsset = true;
	node->ss.ps.resultopsfixed = false;
	node->ss.ps.ExecProcNode = passes_next;
}

/*
 * Make core's join begin anew, and both sides at once.  The join may ask for an outer
 * row before it builds its table, and by then we must know how the inner side is
 * divided.
 */
static void
rescan_join(SlicedPasses *p, bool next_pass)
{
	PlanState  *hash = &p->hash->ps;
	PlanState  *below[] = {hash, &p->inner->css.ss.ps, &p->outer->css.ss.ps};

	p->is_switching = next_pass;
	if (next_pass)
		sliced_next_pass(&p->join->js.ps, below, lengthof(below), hash);
	else
		/* with partitions, core's table contains one partition only */
		sliced_rescan(&p->join->js.ps, below, lengthof(below), p->npartitions > 0 ? hash : NULL);
	p->is_switching = false;
}

/* Core calls this directly: there is a call for each row. */
static TupleTableSlot *
passes_next(PlanState *node)
{
	SlicedPasses *p = (SlicedPasses *) node;

	if (p->sides != NULL && !p->is_shared_out)
	{
		sliced_sides_share(p);
		p->is_done = !sliced_next_partition(p);
	}
	while (!p->is_done)
	{
		TupleTableSlot *slot = ExecProcNode(&p->join->js.ps);

		if (!TupIsNull(slot))
			return slot;
		p->is_done = p->npartitions == 0 || !sliced_next_partition(p);
		if (!p->is_done)
			rescan_join(p, true);
	}
	return NULL;
}

static void
passes_rescan(CustomScanState *node)
{
	SlicedPasses *p = (SlicedPasses *) node;

	/*
	 * after sharing, core's table contains another partition; Gather's parameter
	 * makes core build it anew
	 */
	outerPlanState(p->join) = &p->outer->css.ss.ps;
	p->is_done = false;
	p->outer_is_done = false;
	p->first_row = NULL;
	rescan_join(p, false);
}

static void
passes_end(CustomScanState *node)
{
	SlicedPasses *p = (SlicedPasses *) node;

	outerPlanState(p->join) = &p->outer->css.ss.ps;
	sliced_sides_end(p);
	sliced_passes_reset(p);
	sliced_tapes_count(&p->tapes, SLICED_SPILLING_JOIN);
	ExecEndNode(outerPlanState(node));
}

/* Show what EXPLAIN (ANALYZE) adds. */
static void
passes_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	SlicedPasses *p = (SlicedPasses *) node;
	SlicedTapes tapes = p->tapes;
	int			splits = p->splits + p->others.splits;

	tapes.rows += p->others.rows;
	tapes.raw += p->others.raw;
	tapes.stored += p->others.stored;
	tapes.filtered += p->others.filtered;
	/* show the node that core does without */
	outerPlanState(p->join) = &p->outer->css.ss.ps;
	if (!es->analyze || p->max_partitions == 0)
		return;
	ExplainPropertyInteger("Partitions", NULL, p->max_partitions, es);
	ExplainPropertyInteger("In Memory", NULL, p->max_resident, es);
	if (splits > 0)
		ExplainPropertyInteger("Split Again", NULL, splits, es);
	sliced_explain_tapes(&tapes, es);
	if (tapes.filtered > 0)
		ExplainPropertyUInteger("Rows Removed by Bloom Filter", NULL, tapes.filtered, es);
}

/* ---- in a parallel plan ---- */

static Size
passes_estimate_dsm(CustomScanState *node, ParallelContext *context)
{
	return sliced_sides_size((SlicedPasses *) node, context->nworkers);
}

static void
passes_initialize_dsm(CustomScanState *node, ParallelContext *context, void *shared)
{
	sliced_sides_init((SlicedPasses *) node, shared, context);
}

static void
passes_reinitialize_dsm(CustomScanState *node, ParallelContext *context, void *shared)
{
	if (context->seg != NULL)
		sliced_sides_begin_anew(shared);
}

static void
passes_initialize_worker(CustomScanState *node, shm_toc *toc, void *shared)
{
	sliced_sides_attach((SlicedPasses *) node, shared);
}

static void
passes_shutdown(CustomScanState *node)
{
	sliced_sides_end((SlicedPasses *) node);
}

static const CustomExecMethods passes_run = {
	.CustomName = "SlicedPasses",
	.BeginCustomScan = passes_begin,
	.EndCustomScan = passes_end,
	.ReScanCustomScan = passes_rescan,
	.EstimateDSMCustomScan = passes_estimate_dsm,
	.InitializeDSMCustomScan = passes_initialize_dsm,
	.ReInitializeDSMCustomScan = passes_reinitialize_dsm,
	.InitializeWorkerCustomScan = passes_initialize_worker,
	.ShutdownCustomScan = passes_shutdown,
	.ExplainCustomScan = passes_explain
};

static Node *
passes_create(CustomScan *plan)
{
	SlicedPasses *p = palloc0(sizeof(SlicedPasses));

	NodeSetTag(p, T_CustomScanState);
	p->css.methods = &passes_run;
	return (Node *) p;
}

/* ---- names ---- */

static const CustomScanMethods passes_plan = {"Sliced Spill", passes_create};
static const CustomScanMethods side_plan = {"Sliced Partitions", side_create};

void
sliced_spill_join_init(void)
{
	RegisterCustomScanMethods(&passes_plan);
	RegisterCustomScanMethods(&side_plan);
}
