/*
 * settings.c
 *	  Defines sliced.temp_file_compression, and puts our nodes into plans.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "base/codec_ids.h"
#include "base/compat.h"
#include "base/limits.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "spill.h"
#include "tape.h"
#include "utils/guc.h"

/* A node is left alone if it is expected to take less than this part of the memory. */
#define FAR_FROM_FULL	SLICED_LIMIT(16.0, 1e12)

int			sliced_temp_file_compression = SLICED_TEMP_FILES_OFF;

static planner_hook_type next_planner;

static const struct config_enum_entry options[] = {
	{"off", SLICED_TEMP_FILES_OFF, false},
	{"auto", SLICED_TEMP_FILES_AUTO, false},
	{"pglz", SLICED_CODEC_PGLZ, false},
	{"lz4", SLICED_CODEC_LZ4, false},
	{"zstd", SLICED_CODEC_ZSTD, false},
	{NULL, 0, false}
};

static bool
has_subplan(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan))
		return true;
	return expression_tree_walker(node, has_subplan, context);
}

/* True if 'rows' rows of this width, plus 'more' bytes each, may come near 'memory'. */
static bool
may_spill(double rows, int width, double more, Size memory)
{
	return rows * (width + SLICED_ROW_MEMORY(SizeofMinimalTupleHeader) + more) * FAR_FROM_FULL >= memory;
}

/* Where a node is in the plan. */
typedef struct Place
{
	bool		is_bounded;		/* only the first rows are wanted */
	int			nworkers;		/* of the parallel plan that it is in */
} Place;

/* True if core expects to spill even with one table in the memory of all processes. */
static bool
shared_table_may_spill(const Hash *hash, int nworkers)
{
	size_t		memory;
	int			nbuckets;
	int			nbatch;
	int			nskew;

	ExecChooseHashTableSize(hash->rows_total, outerPlan(hash)->plan_width, OidIsValid(hash->skewTable),
							true, nworkers, &memory, &nbuckets, &nbatch, &nskew);
	return nbatch >= SLICED_LIMIT(2, 1);
}

static bool
is_join_for_us(const HashJoin *join, int nworkers)
{
	const Hash *hash = (const Hash *) innerPlan(join);
	const Plan *inner = outerPlan(hash);

	/* subplans belong to one node, but two nodes compute the keys */
	if (has_subplan((Node *) join->hashkeys, NULL) || has_subplan((Node *) hash->hashkeys, NULL))
		return false;
	if (join->join.plan.parallel_aware)
		return shared_table_may_spill(hash, nworkers);
	return may_spill(inner->plan_rows, inner->plan_width, 0, get_hash_memory_limit());
}

/* There may be as many groups as rows, even if the planner expects fewer. */
static bool
is_aggregate_for_us(const Agg *agg)
{
	return agg->aggstrategy == AGG_HASHED && agg->groupingSets == NIL &&
		may_spill(outerPlan(agg)->plan_rows, agg->plan.plan_width, agg->transitionSpace, get_hash_memory_limit());
}

static bool
is_sort_for_us(const Sort *sort)
{
	return may_spill(sort->plan.plan_rows, sort->plan.plan_width, 0, work_mem * (Size) 1024);
}

static Plan *add_nodes(Plan *plan, Place place);

static void
add_nodes_to_list(List *plans, Place place)
{
	ListCell   *lc;

	foreach(lc, plans)
		lfirst(lc) = add_nodes(lfirst(lc), place);
}

/* True if core's node tells those below that only the first rows are wanted. */
static bool
hands_on_bound(const Plan *plan)
{
	return IsA(plan, Append) || IsA(plan, MergeAppend) || IsA(plan, Result) || IsA(plan, SubqueryScan) ||
		IsA(plan, Gather) || IsA(plan, GatherMerge);
}

/*
 * Put our nodes around the plan's nodes that may spill.  We leave a sort to core if
 * only its first rows are wanted: it keeps no more than those.
 */
static Plan *
add_nodes(Plan *plan, Place place)
{
	Place		below = place;
	bool		sorts;

	if (plan == NULL)
		return NULL;
	check_stack_depth();
	sorts = IsA(plan, Sort) && !place.is_bounded && is_sort_for_us((Sort *) plan);
	if (IsA(plan, Limit))
		below.is_bounded = ((Limit *) plan)->limitCount != NULL;
	else
		below.is_bounded = place.is_bounded && hands_on_bound(plan);
	if (IsA(plan, Gather))
		below.nworkers = ((Gather *) plan)->num_workers;
	else if (IsA(plan, GatherMerge))
		below.nworkers = ((GatherMerge *) plan)->num_workers;
	plan->lefttree = add_nodes(plan->lefttree, below);
	plan->righttree = add_nodes(plan->righttree, below);
	if (sorts)
		return sliced_spill_sort((Sort *) plan);
	if (IsA(plan, Append))
		add_nodes_to_list(((Append *) plan)->appendplans, below);
	else if (IsA(plan, MergeAppend))
		add_nodes_to_list(((MergeAppend *) plan)->mergeplans, below);
	else if (IsA(plan, SubqueryScan))
		((SubqueryScan *) plan)->subplan = add_nodes(((SubqueryScan *) plan)->subplan, below);
	else if (IsA(plan, CustomScan))
		add_nodes_to_list(((CustomScan *) plan)->custom_plans, below);
	else if (IsA(plan, HashJoin) && is_join_for_us((HashJoin *) plan, place.nworkers))
		return sliced_spill_join((HashJoin *) plan);
	else if (IsA(plan, Agg) && is_aggregate_for_us((Agg *) plan))
		return sliced_spill_aggregate((Agg *) plan);
	return plan;
}

static PlannedStmt *
plan_query(Query *query, const char *query_string, int cursor_options,
		   ParamListInfo params PLANNER_PARAMS)
{
	PlannedStmt *stmt = next_planner(query, query_string, cursor_options, params PLANNER_ARGS);

	if (sliced_temp_file_compression != SLICED_TEMP_FILES_OFF)
	{
		Place		top = {false, 0};

		stmt->planTree = add_nodes(stmt->planTree, top);
		add_nodes_to_list(stmt->subplans, top);
	}
	return stmt;
}

void
sliced_spill_init(void)
{
	DefineCustomEnumVariable("sliced.temp_file_compression",
							 "Compresses temporary files of hash joins, hash aggregates and sorts that do not fit in memory.",
							 "\"auto\" uses lz4, and stops where compressing takes more time than it saves.",
							 &sliced_temp_file_compression,
							 SLICED_TEMP_FILES_OFF,
							 options,
							 PGC_USERSET, 0,
							 NULL, NULL, NULL);
	next_planner = planner_hook != NULL ? planner_hook : standard_planner;
	planner_hook = plan_query;
	sliced_spill_join_init();
	sliced_spill_aggregate_init();
	sliced_spill_sort_init();
}
