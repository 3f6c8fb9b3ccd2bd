/*
 * sort.c
 *	  The nodes around a sort: see spill.h.
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/limits.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "node.h"
#include "spill.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/tuplesort.h"

/* A run takes this part of the memory, so that core's sort does not spill by itself. */
#define RUN_PART		0.92

/* We ask core again after this part of the rows that would fill the memory. */
#define ROWS_PART		16

/* The least, and the most, runs that are merged at a time. */
#define MERGED_MIN		6
#define MERGED_MAX		512

/*
 * The most runs at any time: each has a file, and 0.5 kB of memory that is not
 * counted.
 */
#define RUNS_MAX		SLICED_LIMIT(1024, 16)

/* A sorted run; during a merge also its next row and that row's first key. */
typedef struct Run
{
	SlicedTape	tape;
	int			number;
	TupleTableSlot *slot;
	Datum		key;
	bool		key_is_null;
} Run;

/* The node below. */
typedef struct SlicedRuns
{
	CustomScanState css;
	struct SlicedSort *sorted;
} SlicedRuns;

/* The node above, and the state that the two share. */
typedef struct SlicedSort
{
	CustomScanState css;
	SortState  *sort;
	SlicedRuns *runs;
	PlanState  *side;			/* the node below us */
	bool		is_cores;		/* rows may be read backward, again, or from a mark */
	Size		allowed;
	MemoryContext mcxt;
	SlicedTapes tapes;
	bool		is_switching;	/* a rescan is only the next run */

	/* the run that is being sorted */
	uint64		nrows;
	uint64		ask_at;			/* check the memory at this many rows */
	bool		is_last;		/* it ends where all rows end */
	bool		is_read;		/* the only one: rows come from core's sort */

	List	   *all;			/* runs */
	int			nruns;			/* ever made */
	SortSupport keys;
	Run		  **heap;			/* runs being merged, the first row's on top; or NULL */
	int			nheap;
	int			most;			/* merged at a time */
	TupleTableSlot **slots;		/* for merged runs, allocated as needed */
	Run		   *returned;		/* its row was the last one returned */

	/* for EXPLAIN */
	int			max_runs;
	int			merges;
} SlicedSort;

/* ---- below the sort ---- */

static Size
taken_by(SortState *sort)
{
	TuplesortInstrumentation stats;

	tuplesort_get_stats((Tuplesortstate *) sort->tuplesortstate, &stats);
	/* it has spilled after all, because of a very long row */
	if (stats.spaceType == SORT_SPACE_TYPE_DISK)
		return SIZE_MAX;
	return stats.spaceUsed * (Size) 1024;
}

/*
 * True if core's sort has taken its memory.  If not, set from which row on to ask
 * again.
 */
static bool
run_is_full(SlicedSort *s)
{
	Size		taken;
	Size		most = RUN_PART * s->allowed;

	taken = taken_by(s->sort);
	if (taken >= most)
		return true;
	s->ask_at += Max(1, s->nrows * ((double) (most - taken) / taken) / ROWS_PART);
	return false;
}

/* Core calls this directly, not through the custom scan. */
static TupleTableSlot *
runs_next(PlanState *node)
{
	SlicedSort *s = ((SlicedRuns *) node)->sorted;
	TupleTableSlot *row;

	if (s->nrows >= s->ask_at && s->nrows > 0 && !s->is_cores && run_is_full(s))
		return NULL;
	row = ExecProcNode(s->side);
	s->is_last = TupIsNull(row);
	s->nrows++;
	return row;
}

static void
runs_begin(CustomScanState *node, EState *estate, int eflags)
{
	outerPlanState(node) = ExecInitNode(outerPlan(node->ss.ps.plan), estate, eflags);
	sliced_any_slots(node);
	node->ss.ps.ExecProcNode = runs_next;
}

static void
forget_runs(SlicedSort *s)
{
	ListCell   *lc;

	foreach(lc, s->all)
		sliced_tape_free(&((Run *) lfirst(lc))->tape);
	MemoryContextReset(s->mcxt);
	sliced_tapes_reset(&s->tapes);
	s->nrows = s->ask_at = 0;
	s->is_last = s->is_read = false;
	s->all = NIL;
	s->nruns = 0;
	s->keys = NULL;
	s->heap = NULL;
	s->slots = NULL;
	s->returned = NULL;
}

static void
runs_rescan(CustomScanState *node)
{
	SlicedSort *s = ((SlicedRuns *) node)->sorted;

	if (s->is_switching)
		return;
	forget_runs(s);
	if (outerPlanState(node)->chgParam == NULL)
		ExecReScan(outerPlanState(node));
}

static void
runs_end(CustomScanState *node)
{
	ExecEndNode(outerPlanState(node));
}

static const CustomExecMethods runs_run = {
	.CustomName = "SlicedRuns",
	.BeginCustomScan = runs_begin,
	.EndCustomScan = runs_end,
	.ReScanCustomScan = runs_rescan
};

static Node *
runs_create(CustomScan *plan)
{
	SlicedRuns *runs = palloc0(sizeof(SlicedRuns));

	NodeSetTag(runs, T_CustomScanState);
	runs->css.methods = &runs_run;
	return (Node *) runs;
}

/* ---- writing runs ---- */

static Run *
new_run(SlicedSort *s)
{
	Run		   *run = MemoryContextAllocZero(s->mcxt, sizeof(Run));
	MemoryContext old = MemoryContextSwitchTo(s->mcxt);

	run->tape.tapes = &s->tapes;
	run->number = s->nruns++;
	s->all = lappend(s->all, run);
	MemoryContextSwitchTo(old);
	return run;
}

static void
put_row(Run *run, TupleTableSlot *slot)
{
	sliced_tape_put_slot(&run->tape, slot, 0);
}

/* The longest block such that memory has room for one of each expected run. */
static uint32
block_length(const SlicedSort *s)
{
	const Plan *plan = s->side->plan;
	double		runs = plan->plan_rows * (plan->plan_width + SLICED_ROW_MEMORY(SizeofMinimalTupleHeader)) / s->allowed;

	return sliced_block_length(s->allowed / Max(runs, 1));
}

/* ---- merging runs ---- */

/* Compare the current rows of two runs. */
static int
compare_runs(const SlicedSort *s, const Run *one, const Run *two)
{
	int			result = ApplySortComparator(one->key, one->key_is_null, two->key, two->key_is_null, s->keys);
	const Sort *plan = (const Sort *) s->sort->ss.ps.plan;

	for (int i = 1; result == 0 && i < plan->numCols; i++)
	{
		bool		null1;
		bool		null2;
		Datum		key1 = slot_getattr(one->slot, s->keys[i].ssup_attno, &null1);
		Datum		key2 = slot_getattr(two->slot, s->keys[i].ssup_attno, &null2);

		result = ApplySortComparator(key1, null1, key2, null2, &s->keys[i]);
	}
	return result != 0 ? result : one->number - two->number;
}

/* The child whose row comes first; past the heap's end if there is none. */
static int
first_child(const SlicedSort *s, int at)
{
	int			child = 2 * at + 1;

	return child + 1 < s->nheap && compare_runs(s, s->heap[child + 1], s->heap[child]) < 0 ? child + 1 : child;
}

/*
 * Put the run at 'top' or below.  If it does not stay at 'top' it most likely belongs
 * near the bottom: go all the way down, and up from there.  That takes half the
 * comparisons.
 */
static void
place_run(SlicedSort *s, int top, Run *run)
{
	int			at = top;
	int			child = first_child(s, at);

	if (child < s->nheap && compare_runs(s, run, s->heap[child]) > 0)
	{
		for (; child < s->nheap; child = first_child(s, at))
		{
			s->heap[at] = s->heap[child];
			at = child;
		}
		for (; at > top && compare_runs(s, run, s->heap[(at - 1) / 2]) < 0; at = (at - 1) / 2)
			s->heap[at] = s->heap[(at - 1) / 2];
	}
	s->heap[at] = run;
}

static void
make_keys(SlicedSort *s)
{
	const Sort *plan = (const Sort *) s->sort->ss.ps.plan;

	s->keys = palloc0(plan->numCols * sizeof(SortSupportData));
	for (int i = 0; i < plan->numCols; i++)
	{
		s->keys[i].ssup_cxt = CurrentMemoryContext;
		s->keys[i].ssup_collation = plan->collations[i];
		s->keys[i].ssup_nulls_first = plan->nullsFirst[i];
		s->keys[i].ssup_attno = plan->sortColIdx[i];
		PrepareSortSupportFromOrderingOp(plan->sortOperators[i], &s->keys[i]);
	}
}

/*
 * Read the run's next row.  If there is none, free the run and its file; return
 * false.
 */
static bool
read_run(SlicedSort *s, Run *run)
{
	MinimalTuple row = sliced_tape_get(&run->tape);

	if (row == NULL)
	{
		ExecClearTuple(run->slot);
		sliced_tape_free(&run->tape);
		s->all = list_delete_ptr(s->all, run);
		pfree(run);
		return false;
	}
	ExecStoreMinimalTuple(row, run->slot, false);
	run->key = slot_getattr(run->slot, s->keys[0].ssup_attno, &run->key_is_null);
	return true;
}

static int
shorter_first(const ListCell *one, const ListCell *two)
{
	uint64		rows1 = ((Run *) lfirst(one))->tape.rows;
	uint64		rows2 = ((Run *) lfirst(two))->tape.rows;

	return (rows1 > rows2) - (rows1 < rows2);
}

/* Begin to merge the 'n' shortest runs. */
static void
begin_merge(SlicedSort *s, int n)
{
	MemoryContext old = MemoryContextSwitchTo(s->mcxt);
	List	   *runs;

	list_sort(s->all, shorter_first);
	runs = list_copy(s->all);
	if (s->keys == NULL)
		make_keys(s);
	if (s->slots == NULL)
		s->slots = palloc0(s->most * sizeof(TupleTableSlot *));
	s->heap = palloc(n * sizeof(Run *));
	s->nheap = 0;
	for (int i = 0; i < n; i++)
	{
		Run		   *run = list_nth(runs, i);

		if (s->slots[i] == NULL)
			s->slots[i] = MakeSingleTupleTableSlot(ExecGetResultType(s->side), &TTSOpsMinimalTuple);
		run->slot = s->slots[i];
		if (read_run(s, run))
			s->heap[s->nheap++] = run;
	}
	list_free(runs);
	for (int i = s->nheap / 2; i-- > 0;)
		place_run(s, i, s->heap[i]);
	s->returned = NULL;
	MemoryContextSwitchTo(old);
}

static TupleTableSlot *
next_merged(SlicedSort *s)
{
	ExprContext *econtext = s->css.ss.ps.ps_ExprContext;
	Run		   *run = s->returned;

	CHECK_FOR_INTERRUPTS();
	s->returned = NULL;
	if (run != NULL)
	{
		/* comparing may leave memory behind */
		MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);

		if (read_run(s, run))
			place_run(s, 0, run);
		else if (--s->nheap > 0)
			place_run(s, 0, s->heap[s->nheap]);
		MemoryContextSwitchTo(old);
		ResetExprContext(econtext);
	}
	if (s->nheap == 0)
		return NULL;
	s->returned = s->heap[0];
	return s->returned->slot;
}

/* Merge the 'n' shortest runs into one. */
static void
merge(SlicedSort *s, int n)
{
	TupleTableSlot *slot;
	Run		   *run;

	begin_merge(s, n);
	run = new_run(s);
	while ((slot = next_merged(s)) != NULL)
		put_row(run, slot);
	sliced_tape_finish(&run->tape);
	pfree(s->heap);
	s->heap = NULL;
	s->merges++;
}

/*
 * How many runs can be merged at a time: memory needs a block of each.  The number
 * only shrinks, because the longest row only gets longer.
 */
static int
how_many_merge(SlicedSort *s)
{
	int			columns = ExecGetResultType(s->side)->natts;
	Size		each = Max(s->tapes.block, s->tapes.longest) + sizeof(Run) + columns * (sizeof(Datum) + sizeof(bool));

	s->most = Min(Max(s->allowed / each, MERGED_MIN), s->most);
	return s->most;
}

/* ---- writing and merging ---- */

/* Write the run that core has sorted, and all later ones. */
static void
write_runs(SlicedSort *s, TupleTableSlot *slot)
{
	PlanState  *below = &s->runs->css.ss.ps;

	s->tapes.block = block_length(s);
	s->most = MERGED_MAX;
	for (int written = 1;; written++)
	{
		Run		   *run = new_run(s);

		for (; !TupIsNull(slot); slot = ExecProcNode(&s->sort->ss.ps))
			put_row(run, slot);
		sliced_tape_finish(&run->tape);
		s->max_runs = Max(s->max_runs, written);
		s->nrows = s->ask_at = 0;
		/* after the last run as well: merging needs the memory */
		s->is_switching = true;
		sliced_next_pass(&s->sort->ss.ps, &below, 1, below);
		s->is_switching = false;
		if (s->is_last)
			break;
		if (list_length(s->all) >= RUNS_MAX)
			merge(s, Min(how_many_merge(s), RUNS_MAX));
		slot = ExecProcNode(&s->sort->ss.ps);
	}
}

/* Merge runs into longer ones until the rest can be merged at once. */
static void
merge_most(SlicedSort *s)
{
	int			most = how_many_merge(s);

	while (list_length(s->all) > most)
		/* merge only as many as make the last merge a full one */
		merge(s, Min(most, list_length(s->all) - most + 1));
	begin_merge(s, list_length(s->all));
}

/* ---- above the sort ---- */

static TupleTableSlot *sorted_next(PlanState *node);

static void
sorted_begin(CustomScanState *node, EState *estate, int eflags)
{
	SlicedSort *s = (SlicedSort *) node;

	outerPlanState(node) = ExecInitNode(outerPlan(node->ss.ps.plan), estate, eflags);
	s->sort = castNode(SortState, outerPlanState(node));
	s->runs = (SlicedRuns *) outerPlanState(s->sort);
	s->runs->sorted = s;
	s->side = outerPlanState(s->runs);
	s->is_cores = (eflags & (EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK)) != 0;
	s->allowed = work_mem * (Size) 1024;
	s->mcxt = AllocSetContextCreate(estate->es_query_cxt, "sliced runs", ALLOCSET_DEFAULT_SIZES);
	sliced_tapes_init(&s->tapes, s->mcxt);
	sliced_any_slots(node);
	node->ss.ps.ExecProcNode = sorted_next;
}

/* Core calls this directly: there is a call for each row. */
static TupleTableSlot *
sorted_next(PlanState *node)
{
	SlicedSort *s = (SlicedSort *) node;
	TupleTableSlot *slot;

	if (s->heap == NULL)
	{
		slot = ExecProcNode(&s->sort->ss.ps);
		if (s->is_cores || s->is_read || s->is_last)
		{
			s->is_read = true;
			return slot;
		}
		write_runs(s, slot);
		merge_most(s);
	}
	return next_merged(s);
}

static void
sorted_rescan(CustomScanState *node)
{
	SlicedSort *s = (SlicedSort *) node;
	PlanState  *below = &s->runs->css.ss.ps;

	sliced_rescan(&s->sort->ss.ps, &below, 1, s->nruns > 0 ? below : NULL);
}

static void
sorted_end(CustomScanState *node)
{
	SlicedSort *s = (SlicedSort *) node;

	sliced_tapes_count(&s->tapes, SLICED_SPILLING_SORT);
	forget_runs(s);
	ExecEndNode(outerPlanState(node));
}

static void
sorted_mark(CustomScanState *node)
{
	ExecMarkPos(outerPlanState(node));
}

static void
sorted_restore(CustomScanState *node)
{
	ExecRestrPos(outerPlanState(node));
}

static void
sorted_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	SlicedSort *s = (SlicedSort *) node;

	if (!es->analyze || s->max_runs == 0)
		return;
	ExplainPropertyInteger("Runs", NULL, s->max_runs, es);
	if (s->merges > 0)
		ExplainPropertyInteger("Merges Before", NULL, s->merges, es);
	sliced_explain_tapes(&s->tapes, es);
}

static const CustomExecMethods sorted_run = {
	.CustomName = "SlicedSort",
	.BeginCustomScan = sorted_begin,
	.EndCustomScan = sorted_end,
	.ReScanCustomScan = sorted_rescan,
	.MarkPosCustomScan = sorted_mark,
	.RestrPosCustomScan = sorted_restore,
	.ExplainCustomScan = sorted_explain
};

static Node *
sorted_create(CustomScan *plan)
{
	SlicedSort *s = palloc0(sizeof(SlicedSort));

	NodeSetTag(s, T_CustomScanState);
	s->css.methods = &sorted_run;
	return (Node *) s;
}

/* ---- plans ---- */

static const CustomScanMethods sorted_plan = {"Sliced Spill Runs", sorted_create};
static const CustomScanMethods runs_plan = {"Sliced Runs", runs_create};

Plan *
sliced_spill_sort(Sort *sort)
{
	int			id = sort->plan.plan_node_id;
	CustomScan *above;

	outerPlan(sort) = &sliced_node_above(outerPlan(sort), &runs_plan, id, 0)->scan.plan;
	above = sliced_node_above(&sort->plan, &sorted_plan, id, 2);
	/* let a cursor go backward as it would without us */
	above->flags = CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	return &above->scan.plan;
}

void
sliced_spill_sort_init(void)
{
	RegisterCustomScanMethods(&sorted_plan);
	RegisterCustomScanMethods(&runs_plan);
}
