/*
 * columns_only.c
 *	  Scans whose rows never leave the executor as they are.
 *
 * A tuple with values of ours must bear HEAP_HASEXTERNAL when it goes somewhere as a
 * whole: into another table, a variable, a file.  So scans return a copy of such a
 * tuple, with the flag set (am/scan.c).  But most queries take columns out of the
 * tuple, and a column is a Datum, which shows by itself that it is a toast pointer.
 * Tuples that are made of columns get their flag from them.  Such queries do not need
 * the copy, which costs as much as all the rest of the scan.
 *
 * So when a query starts we walk its planned states from the top, and tell the slots
 * of some scans that only columns are taken from them.  At every node we decide
 * whether the tuple that it returns may become part of the query's result as a whole:
 *
 * - The top of the query: yes.  We do not know who gets the result.  The same holds
 *   for the top of a subquery with a plan of its own (SubPlan, InitPlan, CTE), and
 *   for everything below ModifyTable.
 * - Below a node that computes its result column by column: no.  These are the nodes
 *   with a projection, and ProjectSet.  They may keep tuples meanwhile, sort them,
 *   write them to a temporary file, or pass them to themselves in another slot.  None
 *   of this looks at the flag.
 * - Below a node that passes on what it gets: the same as for the node itself.
 * - Below any other node, for example one of another extension: we do not look.
 *   Scans there return copies.
 *
 * We mark a scan's slot if the scan has a projection of its own, or if the answer is
 * no.  If the answer is yes and the scan has a condition, the condition takes columns
 * of many rows and few rows leave: we copy those few when the scan's node returns
 * them.
 *
 * This is safe for the following reasons:
 *
 * - A reference to the whole row, "t" or "t.*" as a value, is one more way to take
 *   columns: the executor makes a new tuple of them, and fetches toasted values while
 *   it does.
 * - System columns are in the tuple's header as ever.
 * - A node that could project but does not has no ps_ProjInfo.  The executor itself
 *   decides by ps_ProjInfo whether to return the scan's slot.
 * - EvalPlanQual, which checks a row again after another transaction has changed it,
 *   builds planned states of its own, which we never see.  It fetches rows by their
 *   ctid into slots of its own.  So do triggers, RETURNING and row locks.
 * - In a parallel worker the top is the top of the worker's plan.  Tuples that it
 *   sends to the leader are copies.
 * - Scans of other parts of core (index builds, ALTER TABLE, COPY FROM a table,
 *   logical replication) have slots that this file never sees.
 */
#include "postgres.h"

#include "access/table.h"
#include "am/slot.h"
#include "base/identity.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "plan/plan.h"

/* Core's functions that execute scans, by node tag, once we have seen them. */
#define FIRST_TAG	T_SeqScanState
#define LAST_TAG	T_TidRangeScanState
static ExecProcNodeMtd execute_scan[LAST_TAG - FIRST_TAG + 1];

static void mark_scans_below(PlanState *node, bool whole);

static void
walk_all(PlanState **nodes, int n, bool whole)
{
	for (int i = 0; i < n; i++)
		mark_scans_below(nodes[i], whole);
}

/* Only the scan can fetch the values of a toast relation that is not ours. */
static bool
columns_can_be_fetched(Relation rel)
{
	return sliced_is_ours(rel) && !sliced_toast_is_foreign(rel);
}

static void
take_columns_only(Relation rel, TupleTableSlot *slot)
{
	if (columns_can_be_fetched(rel))
		slot->tts_flags |= SLICED_SLOT_COLUMNS_ONLY;
}

/* Takes the place of a scan's function if the scan's row may leave as a whole. */
static TupleTableSlot *
return_flagged(PlanState *node)
{
	TupleTableSlot *slot = execute_scan[nodeTag(node) - FIRST_TAG] (node);

	if (!TupIsNull(slot) && sliced_slot_has_values(slot))
		sliced_slot_copy_flagged(slot);
	return slot;
}

/*
 * Put return_flagged() in the place of the function that executes the node.  Core has
 * one function for each tag.  If we find a different one, another extension has
 * exchanged it before us, and we leave it alone.
 */
static bool
copy_when_returned(PlanState *node)
{
	ExecProcNodeMtd *function = &execute_scan[nodeTag(node) - FIRST_TAG];

	if (*function == NULL)
		*function = node->ExecProcNodeReal;
	if (*function != node->ExecProcNodeReal)
		return false;
	ExecSetExecProcNode(node, return_flagged);
	return true;
}

static void
visit_scan(ScanState *scan, bool whole)
{
	if (!whole || (scan->ps.qual != NULL && columns_can_be_fetched(scan->ss_currentRelation) &&
				   copy_when_returned(&scan->ps)))
		take_columns_only(scan->ss_currentRelation, scan->ss_ScanTupleSlot);
}

/*
 * Mark the scans at and below 'node'.  'whole' says whether the tuple that it returns
 * may leave the query as a whole.
 */
static void
mark_scans_below(PlanState *node, bool whole)
{
	ScanState  *scan = (ScanState *) node;

	if (node == NULL)
		return;
	check_stack_depth();
	if (node->ps_ProjInfo != NULL)
		whole = false;

	switch (nodeTag(node))
	{
		case T_IndexScanState:
			/* a scan that sorts by distance copies whole tuples to do so */
			if (((IndexScanState *) node)->iss_NumOrderByKeys == 0)
				visit_scan(scan, whole);
			break;
		case T_SeqScanState:
		case T_SampleScanState:
		case T_BitmapHeapScanState:
		case T_TidRangeScanState:
			visit_scan(scan, whole);
			break;
		case T_IndexOnlyScanState:
			/* columns come from the index; the row is only checked for visibility */
			take_columns_only(scan->ss_currentRelation,
							  ((IndexOnlyScanState *) node)->ioss_TableSlot);
			break;

		case T_ProjectSetState:
			mark_scans_below(outerPlanState(node), false);
			break;
		case T_ResultState:
		case T_AggState:
		case T_GroupState:
		case T_WindowAggState:
		case T_NestLoopState:
		case T_MergeJoinState:
		case T_HashJoinState:
		case T_HashState:
		case T_GatherState:
		case T_GatherMergeState:
		case T_SortState:
		case T_IncrementalSortState:
		case T_MaterialState:
		case T_MemoizeState:
		case T_UniqueState:
		case T_SetOpState:
		case T_LimitState:
		case T_LockRowsState:
			mark_scans_below(outerPlanState(node), whole);
			mark_scans_below(innerPlanState(node), whole);
			break;
		case T_AppendState:
			walk_all(((AppendState *) node)->appendplans, ((AppendState *) node)->as_nplans, whole);
			break;
		case T_MergeAppendState:
			walk_all(((MergeAppendState *) node)->mergeplans,
					 ((MergeAppendState *) node)->ms_nplans, whole);
			break;
		case T_SubqueryScanState:
			mark_scans_below(((SubqueryScanState *) node)->subplan, whole);
			break;
		case T_ModifyTableState:
			mark_scans_below(outerPlanState(node), true);
			break;
		default:
			break;
	}
}

/*
 * True if the query has opened a table of ours.  Most have not, and pay for no more
 * than this test.
 */
static bool
opened_ours(EState *estate)
{
	for (Index i = 0; i < estate->es_range_table_size; i++)
		if (estate->es_relations[i] != NULL && sliced_is_ours(estate->es_relations[i]))
			return true;
	return false;
}

void
sliced_columns_only(QueryDesc *query)
{
	ListCell   *lc;

	if (sliced_routine == NULL || query->planstate == NULL || !opened_ours(query->estate))
		return;
	mark_scans_below(query->planstate, true);
	foreach(lc, query->estate->es_subplanstates)
		mark_scans_below(lfirst(lc), true);
}
