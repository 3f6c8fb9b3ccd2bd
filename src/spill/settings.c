/*
 * settings.c
 *	  sliced.temp_file_compression, and where plans get our nodes.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "base/codec_ids.h"
#include "base/compat.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "spill/spill.h"
#include "utils/guc.h"

/* A join is left alone if its inner side is expected to take less than this part of the memory. */
#define FAR_FROM_FULL	16

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
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan))
		return true;
	return expression_tree_walker(node, has_subplan, context);
}

static bool
is_for_us(const HashJoin *join)
{
	const Hash *hash = (const Hash *) innerPlan(join);
	const Plan *inner = outerPlan(hash);

	if (join->join.plan.parallel_aware || hash->plan.parallel_aware)
		return false;
	/* those are a node's own, and keys are computed by two */
	if (has_subplan((Node *) join->hashkeys, NULL) || has_subplan((Node *) hash->hashkeys, NULL))
		return false;
	return inner->plan_rows * (inner->plan_width + MAXALIGN(SizeofMinimalTupleHeader)) * FAR_FROM_FULL >=
		get_hash_memory_limit();
}

static Plan *add_nodes(Plan *plan);

static void
add_nodes_to_list(List *plans)
{
	ListCell   *lc;

	foreach(lc, plans)
		lfirst(lc) = add_nodes(lfirst(lc));
}

/* The plan with our nodes around joins that are for us. */
static Plan *
add_nodes(Plan *plan)
{
	if (plan == NULL)
		return NULL;
	check_stack_depth();
	plan->lefttree = add_nodes(plan->lefttree);
	plan->righttree = add_nodes(plan->righttree);
	if (IsA(plan, Append))
		add_nodes_to_list(((Append *) plan)->appendplans);
	else if (IsA(plan, MergeAppend))
		add_nodes_to_list(((MergeAppend *) plan)->mergeplans);
	else if (IsA(plan, SubqueryScan))
		((SubqueryScan *) plan)->subplan = add_nodes(((SubqueryScan *) plan)->subplan);
	else if (IsA(plan, CustomScan))
		add_nodes_to_list(((CustomScan *) plan)->custom_plans);
	else if (IsA(plan, HashJoin) && is_for_us((HashJoin *) plan))
		return sliced_spill_join((HashJoin *) plan);
	return plan;
}

static PlannedStmt *
plan_query(Query *query, const char *query_string, int cursor_options,
		   ParamListInfo params PLANNER_PARAMS)
{
	PlannedStmt *stmt = next_planner(query, query_string, cursor_options, params PLANNER_ARGS);

	if (sliced_temp_file_compression != SLICED_TEMP_FILES_OFF)
	{
		stmt->planTree = add_nodes(stmt->planTree);
		add_nodes_to_list(stmt->subplans);
	}
	return stmt;
}

void
sliced_spill_settings(void)
{
	DefineCustomEnumVariable("sliced.temp_file_compression",
							 "Compresses temporary files of hash joins that do not fit in memory.",
							 "With \"auto\" as lz4 does it, while that makes them shorter.",
							 &sliced_temp_file_compression,
							 SLICED_TEMP_FILES_OFF,
							 options,
							 PGC_USERSET, 0,
							 NULL, NULL, NULL);
}

void
sliced_spill_init(void)
{
	next_planner = planner_hook != NULL ? planner_hook : standard_planner;
	planner_hook = plan_query;
	sliced_spill_nodes_init();
}
