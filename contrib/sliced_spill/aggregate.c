/*
 * aggregate.c
 *	  The nodes around a hash aggregate: see spill.h.
 */
#include "postgres.h"

#include "base/compat.h"
#include "executor/executor.h"
#include "executor/nodeAgg.h"
#include "executor/nodeHash.h"
#include "filter.h"
#include "images.h"
#include "known.h"
#include "miscadmin.h"
#include "node.h"
#include "spill.h"
#include "utils/memutils.h"

#define PARTITIONS_MIN	16
#define PARTITIONS_MAX	1024

/* There is room for this many, even in little memory: fewer would mean more passes. */
#define PARTITIONS_LEAST	4

/* Blocks of partitions take at least this part of the memory. */
#define BLOCKS_PART		8

/* Keys known to be in core's table take this part. */
#define KNOWN_PART		64

/*
 * Ask core how much memory it has taken after GROUPS_STEP new groups, and after each
 * one when GROUPS_LEFT more would fill it.  In between, check only the memory of its
 * states.
 */
#define GROUPS_STEP		8
#define GROUPS_LEFT		256

/* States with own contexts escape that check: ask more often while groups are few. */
#define GROUPS_FEW		64

/* Bytes of the filter for each group, and the part of the memory it takes at most. */
#define FILTER_BYTES	2
#define FILTER_PART		32

/* Rows that are still to be grouped. */
typedef struct ToGroup
{
	SlicedTape	tape;
	int			depth;
} ToGroup;

/* The node below. */
typedef struct SlicedInput
{
	CustomScanState css;
	struct SlicedGroups *groups;
	TupleTableSlot *slot;		/* for rows from tapes */
	TupleTableSlot *to_tape;	/* for the needed columns, if not all are */
} SlicedInput;

/* The node above, and the state that the two share. */
typedef struct SlicedGroups
{
	CustomScanState css;
	AggState   *agg;
	SlicedInput *input;
	PlanState  *side;			/* the node below us */
	Size		allowed;		/* bytes of memory for all of this */
	Size		limit;			/* part of it for groups: core's */
	uint64		most_planned;	/* groups that core allows, by planned size */
	Size		blocks_room;	/* bytes for blocks of partitions */
	MemoryContext mcxt;
	SlicedTapes tapes;
	bool		by_images;		/* equal keys have equal bytes */
	bool		is_switching;	/* a rescan is only the next pass */
	bool		is_done;
	bool		has_spilled;	/* core's table is not all there is, or was */

	/* this pass */
	ToGroup    *current;		/* NULL: rows come from below */
	uint64		nrows;			/* read from there */
	uint32		row_hash;		/* of the last row, if it came from a tape */
	uint64		ngroups;		/* in the table when we last looked */
	uint64		most_groups;	/* more make a table full, as its states may grow yet */
	uint64		ask_at;			/* check the memory at this many groups */
	Size		ask_at_memory;	/* or once states have this many bytes */
	int			npartitions;	/* 0: the table is not full */
	ToGroup    *partitions;
	SlicedKnown known;			/* keys of groups in the table */
	SlicedFilter filter;		/* of all of them, by their bytes or core's hash */
	List	   *queue;			/* partitions to do, without the current one */

	/* for EXPLAIN */
	int			max_partitions;
	int			passes;
} SlicedGroups;

/* ---- below the aggregate ---- */

/* Where core has its states, unless they have their own context below this one. */
static inline MemoryContext
states_context(const SlicedGroups *g)
{
	return g->agg->hashcontext->ecxt_per_tuple_memory;
}

/* False if the table is not full: it has hardly changed since is_full() said so. */
static inline bool
may_be_full(const SlicedGroups *g)
{
	return g->agg->hash_ngroups_current >= g->ask_at || states_context(g)->mem_allocated > g->ask_at_memory;
}

/*
 * True if core's table is full, by core's count: it has used its memory, or has as
 * many groups as there will be memory for.  If it is not, set when to ask again.
 */
static bool
is_full(SlicedGroups *g)
{
	AggState   *agg = g->agg;
	MemoryContext states = states_context(g);
	Size		taken = MemoryContextMemAllocated(agg->hash_metacxt, true) +
		MemoryContextMemAllocated(states, true) + SLICED_AGG_TUPLES_MEMORY(agg);
	uint64		step = 1;		/* the next one may be larger */

	g->ngroups = agg->hash_ngroups_current;
	if (g->ngroups > 0 && (taken > g->limit || g->ngroups > g->most_groups))
		return true;
	g->ask_at_memory = states->mem_allocated + (g->limit - Min(taken, g->limit));
	if ((double) (g->limit - Min(taken, g->limit)) / taken * g->ngroups > GROUPS_LEFT)
		step = states->firstchild == NULL ? GROUPS_STEP : Min(1 + g->ngroups / GROUPS_FEW, GROUPS_STEP);
	g->ask_at = Min(g->ngroups + step, Max(g->most_groups, g->ngroups) + 1);
	return false;
}

/* How many more tables the remaining groups would fill. */
static double
tables_to_come(const SlicedGroups *g)
{
	if (g->current == NULL)
		return ((const Agg *) g->agg->ss.ps.plan)->numGroups / Max(g->ngroups, 1);
	/* this many rows have filled one */
	return (double) (g->current->tape.rows - g->nrows) / g->nrows;
}

/* Enter all groups of the table.  No more will come. */
static void
make_filter(SlicedGroups *g)
{
	AggStatePerHash perhash = &g->agg->perhash[0];
	TupleTableSlot *key = perhash->hashtable->tableslot;
	Size		room = Min(FILTER_BYTES * g->ngroups, g->allowed / FILTER_PART);
	TupleHashIterator iterator;
	TupleHashEntry entry;
	MemoryContext old;

	g->filter.n = room / sizeof(uint64) + 1;
	g->filter.words = palloc0(g->filter.n * sizeof(uint64));
	InitTupleHashIterator(perhash->hashtable, &iterator);
	old = MemoryContextSwitchTo(g->agg->tmpcontext->ecxt_per_tuple_memory);
	while ((entry = ScanTupleHashTable(perhash->hashtable, &iterator)) != NULL)
	{
		if (!g->by_images)
		{
			sliced_filter_add(&g->filter, murmurhash32(entry->hash));
			continue;
		}
		ExecStoreMinimalTuple(entry->firstTuple, key, false);
		slot_getsomeattrs(key, perhash->numCols);
		sliced_filter_add(&g->filter, sliced_image_hash(key, perhash->hashGrpColIdxHash, perhash->numCols));
		ResetExprContext(g->agg->tmpcontext);
	}
	MemoryContextSwitchTo(old);
	ExecClearTuple(key);
}

/* Rows of groups that are not in the table go to partitions from now on. */
static void
begin_partitions(SlicedGroups *g)
{
	int			most = sliced_power_of_two((double) g->blocks_room / SLICED_BLOCK_MIN / 2 + 1, PARTITIONS_LEAST, PARTITIONS_MAX);
	int			least = g->current == NULL ? Min(PARTITIONS_MIN, most) : 1;
	MemoryContext old = MemoryContextSwitchTo(g->mcxt);

	g->npartitions = sliced_power_of_two(1.5 * tables_to_come(g), least, most);
	g->partitions = palloc0(g->npartitions * sizeof(ToGroup));
	g->tapes.block = sliced_block_length(g->blocks_room / g->npartitions);
	sliced_known_init(&g->known, g->allowed / KNOWN_PART);
	make_filter(g);
	for (int i = 0; i < g->npartitions; i++)
	{
		g->partitions[i].tape.tapes = &g->tapes;
		g->partitions[i].depth = g->current == NULL ? 1 : g->current->depth + 1;
	}
	g->has_spilled = true;
	g->max_partitions = Max(g->max_partitions, g->npartitions);
	MemoryContextSwitchTo(old);
}

/* The row's key, in the slot where core hashes and compares it. */
static TupleTableSlot *
key_of(AggStatePerHash perhash, TupleTableSlot *row)
{
	TupleTableSlot *key = perhash->hashslot;

	ExecClearTuple(key);
	for (int i = 0; i < perhash->numhashGrpCols; i++)
	{
		int			column = perhash->hashGrpColIdxInput[i] - 1;

		key->tts_values[i] = row->tts_values[column];
		key->tts_isnull[i] = row->tts_isnull[column];
	}
	return ExecStoreVirtualTuple(key);
}

/*
 * Hash a row's key: its bytes if equal keys have equal bytes, otherwise as core does.
 */
static uint32
key_hash(SlicedGroups *g, TupleTableSlot *row)
{
	AggStatePerHash perhash = &g->agg->perhash[0];
	MemoryContext old;
	uint32		hash;

	if (g->tapes.with_hash && g->current != NULL)
		return g->row_hash;
	if (!g->by_images)
		return TupleHashTableHash(perhash->hashtable, key_of(perhash, row));
	old = MemoryContextSwitchTo(g->agg->tmpcontext->ecxt_per_tuple_memory);
	hash = sliced_image_hash(row, perhash->hashGrpColIdxInput, perhash->numCols);
	MemoryContextSwitchTo(old);
	return hash;
}

/* True if the row's group is in core's table.  If not, sets the hash of its key. */
static bool
has_group(SlicedGroups *g, TupleTableSlot *row, uint32 *hash)
{
	AggStatePerHash perhash = &g->agg->perhash[0];
	TupleHashEntry entry;

	slot_getsomeattrs(row, perhash->largestGrpColIdx);
	if (sliced_is_known(&g->known, row, perhash->hashGrpColIdxInput, perhash->numCols))
		return true;
	/* free what hashing and equality have left there */
	ResetExprContext(g->agg->tmpcontext);
	*hash = key_hash(g, row);
	/* core's table uses its hash: take other bits */
	if (!sliced_filter_has(&g->filter, g->by_images ? *hash : murmurhash32(*hash)))
		return false;
	key_of(perhash, row);
	entry = g->by_images ? LookupTupleHashEntry(perhash->hashtable, perhash->hashslot, NULL, NULL) :
		LookupTupleHashEntryHash(perhash->hashtable, perhash->hashslot, NULL, *hash);
	if (entry != NULL)
		sliced_known_add(&g->known, row, perhash->hashGrpColIdxInput, perhash->numCols);
	return entry != NULL;
}

/* The row with NULLs in place of columns that the aggregate does not need. */
static TupleTableSlot *
needed_columns(const AggState *agg, TupleTableSlot *row, TupleTableSlot *to)
{
	if (agg->all_cols_needed)
		return row;
	slot_getsomeattrs(row, agg->max_colno_needed);
	ExecClearTuple(to);
	memset(to->tts_isnull, true, to->tts_tupleDescriptor->natts * sizeof(bool));
	for (int i = -1; (i = bms_next_member(agg->colnos_needed, i)) > 0;)
	{
		to->tts_values[i - 1] = row->tts_values[i - 1];
		to->tts_isnull[i - 1] = row->tts_isnull[i - 1];
	}
	return ExecStoreVirtualTuple(to);
}

static void
put_row(SlicedGroups *g, TupleTableSlot *row, uint32 hash)
{
	/* core's table uses this hash: do not let a partition's groups look alike to it */
	ToGroup    *to = &g->partitions[sliced_partition_of(hash, g->npartitions, g->partitions[0].depth)];

	sliced_tape_put_slot(&to->tape, needed_columns(g->agg, row, g->input->to_tape), hash);
}

static TupleTableSlot *
read_row(SlicedGroups *g)
{
	MinimalTuple row;

	if (g->current == NULL)
		return sliced_next_row(g->side);
	row = sliced_tape_get(&g->current->tape);
	g->nrows++;
	if (row == NULL)
		return NULL;
	g->row_hash = sliced_tape_hash(row);
	return ExecStoreMinimalTuple(row, g->input->slot, false);
}

/* The next row for core's node, if its table is full or may have become so. */
static TupleTableSlot *
next_to_group(SlicedGroups *g)
{
	TupleTableSlot *row;
	uint32		hash = 0;

	while ((row = read_row(g)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (g->npartitions == 0 && may_be_full(g) && is_full(g))
			begin_partitions(g);
		if (g->npartitions == 0 || has_group(g, row, &hash))
			return row;
		put_row(g, row, hash);
	}
	for (int i = 0; i < g->npartitions; i++)
		sliced_tape_finish(&g->partitions[i].tape);
	sliced_known_free(&g->known);
	if (g->filter.words != NULL)
		pfree(g->filter.words);
	g->filter.words = NULL;
	return NULL;
}

/* Core calls this directly: most rows of most aggregates only pass through. */
static TupleTableSlot *
input_next(PlanState *node)
{
	SlicedGroups *g = ((SlicedInput *) node)->groups;

	if (g->npartitions == 0 && g->current == NULL && !may_be_full(g))
		return ExecProcNode(g->side);
	return next_to_group(g);
}

static void
forget_rows(SlicedGroups *g)
{
	ListCell   *lc;

	ExecClearTuple(g->input->slot);
	if (g->current != NULL)
		sliced_tape_free(&g->current->tape);
	foreach(lc, g->queue)
		sliced_tape_free(&((ToGroup *) lfirst(lc))->tape);
	for (int i = 0; i < g->npartitions; i++)
		sliced_tape_free(&g->partitions[i].tape);
	MemoryContextReset(g->mcxt);
	sliced_tapes_reset(&g->tapes);
	g->known.places = NULL;
	g->filter.words = NULL;
	g->current = NULL;
	g->nrows = g->ngroups = g->ask_at = g->ask_at_memory = 0;
	g->npartitions = 0;
	g->partitions = NULL;
	g->queue = NIL;
	g->is_done = g->has_spilled = false;
}

static void
input_begin(CustomScanState *node, EState *estate, int eflags)
{
	SlicedInput *input = (SlicedInput *) node;
	TupleDesc	desc;

	outerPlanState(node) = ExecInitNode(outerPlan(node->ss.ps.plan), estate, eflags);
	desc = ExecGetResultType(outerPlanState(node));
	input->slot = ExecInitExtraTupleSlot(estate, desc, &TTSOpsMinimalTuple);
	input->to_tape = ExecInitExtraTupleSlot(estate, desc, &TTSOpsVirtual);
	sliced_any_slots(node);
	node->ss.ps.ExecProcNode = input_next;
}

static void
input_rescan(CustomScanState *node)
{
	SlicedGroups *g = ((SlicedInput *) node)->groups;

	if (g->is_switching)
		return;
	forget_rows(g);
	if (outerPlanState(node)->chgParam == NULL)
		ExecReScan(outerPlanState(node));
}

static void
input_end(CustomScanState *node)
{
	ExecEndNode(outerPlanState(node));
}

static const CustomExecMethods input_run = {
	.CustomName = "SlicedInput",
	.BeginCustomScan = input_begin,
	.EndCustomScan = input_end,
	.ReScanCustomScan = input_rescan
};

static Node *
input_create(CustomScan *plan)
{
	SlicedInput *input = palloc0(sizeof(SlicedInput));

	NodeSetTag(input, T_CustomScanState);
	input->css.methods = &input_run;
	return (Node *) input;
}

/* ---- above the aggregate ---- */

/* Prevent core's own spilling: is_full() makes sure that it is not needed. */
static void
lift_limits(AggState *agg)
{
	agg->hash_mem_limit = SIZE_MAX;
	agg->hash_ngroups_limit = PG_UINT64_MAX;
}

static TupleTableSlot *groups_next(PlanState *node);

static void
groups_begin(CustomScanState *node, EState *estate, int eflags)
{
	SlicedGroups *g = (SlicedGroups *) node;

	outerPlanState(node) = ExecInitNode(outerPlan(node->ss.ps.plan), estate, eflags);
	g->agg = castNode(AggState, outerPlanState(node));
	g->input = (SlicedInput *) outerPlanState(g->agg);
	g->input->groups = g;
	g->side = outerPlanState(g->input);
	g->by_images = sliced_equal_images((const Agg *) g->agg->ss.ps.plan, ExecGetResultType(g->side));
	g->allowed = get_hash_memory_limit();
	g->limit = g->agg->hash_mem_limit;
	g->most_planned = g->most_groups = g->agg->hash_ngroups_limit;
	g->blocks_room = Max(g->allowed - Min(g->limit, g->allowed), g->allowed / BLOCKS_PART);
	g->limit = Min(g->limit, g->allowed - g->blocks_room);
	g->mcxt = AllocSetContextCreate(estate->es_query_cxt, "sliced groups", ALLOCSET_DEFAULT_SIZES);
	sliced_tapes_init(&g->tapes, g->mcxt);
	/* a hash takes four bytes that do not compress; hashing bytes again is cheaper */
	g->tapes.with_hash = !g->by_images;
	lift_limits(g->agg);
	sliced_any_slots(node);
	node->ss.ps.ExecProcNode = groups_next;
}

/* Turn to the next partition; false if there is none. */
static bool
next_partition(SlicedGroups *g)
{
	MemoryContext old = MemoryContextSwitchTo(g->mcxt);

	if (g->current != NULL)
		sliced_tape_free(&g->current->tape);
	g->current = NULL;
	for (int i = g->npartitions; i-- > 0;)
		if (g->partitions[i].tape.rows > 0)
			g->queue = lcons(&g->partitions[i], g->queue);
	g->npartitions = 0;
	g->partitions = NULL;
	g->nrows = g->ngroups = g->ask_at = g->ask_at_memory = 0;
	if (g->queue != NIL)
	{
		g->current = linitial(g->queue);
		g->queue = list_delete_first(g->queue);
		g->passes++;
	}
	MemoryContextSwitchTo(old);
	return g->current != NULL;
}

/*
 * If core's node makes its table anew, let it have as many groups as fit in memory.
 * Core knows how much a group of the last table took in the end.
 */
static void
rescan_groups(SlicedGroups *g, bool next_pass)
{
	PlanState  *input = &g->input->css.ss.ps;
	PlanState  *forced = next_pass || g->has_spilled ? input : NULL;

	g->agg->hash_mem_limit = g->limit;
	g->most_groups = Max(g->limit / g->agg->hashentrysize, 1);
	/* another scan may have other rows */
	if (!next_pass)
		g->most_groups = Min(g->most_groups, g->most_planned);
	g->is_switching = next_pass;
	if (next_pass)
		sliced_next_pass(&g->agg->ss.ps, &input, 1, forced);
	else
		sliced_rescan(&g->agg->ss.ps, &input, 1, forced);
	g->is_switching = false;
	lift_limits(g->agg);
}

/* Core calls this directly: there is a call for each row. */
static TupleTableSlot *
groups_next(PlanState *node)
{
	SlicedGroups *g = (SlicedGroups *) node;

	while (!g->is_done)
	{
		TupleTableSlot *slot = ExecProcNode(&g->agg->ss.ps);

		if (!TupIsNull(slot))
			return slot;
		g->is_done = !next_partition(g);
		if (!g->is_done)
			rescan_groups(g, true);
	}
	return NULL;
}

static void
groups_rescan(CustomScanState *node)
{
	SlicedGroups *g = (SlicedGroups *) node;

	rescan_groups(g, false);
	g->is_done = false;
}

static void
groups_end(CustomScanState *node)
{
	SlicedGroups *g = (SlicedGroups *) node;

	forget_rows(g);
	sliced_tapes_count(&g->tapes, SLICED_SPILLING_GROUPS);
	ExecEndNode(outerPlanState(node));
}

static void
groups_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	SlicedGroups *g = (SlicedGroups *) node;

	if (!es->analyze || g->passes == 0)
		return;
	ExplainPropertyInteger("Partitions", NULL, g->max_partitions, es);
	ExplainPropertyInteger("Passes", NULL, g->passes, es);
	sliced_explain_tapes(&g->tapes, es);
}

static const CustomExecMethods groups_run = {
	.CustomName = "SlicedGroups",
	.BeginCustomScan = groups_begin,
	.EndCustomScan = groups_end,
	.ReScanCustomScan = groups_rescan,
	.ExplainCustomScan = groups_explain
};

static Node *
groups_create(CustomScan *plan)
{
	SlicedGroups *g = palloc0(sizeof(SlicedGroups));

	NodeSetTag(g, T_CustomScanState);
	g->css.methods = &groups_run;
	return (Node *) g;
}

/* ---- plans ---- */

static const CustomScanMethods groups_plan = {"Sliced Spill Groups", groups_create};
static const CustomScanMethods input_plan = {"Sliced Groups", input_create};

Plan *
sliced_spill_aggregate(Agg *agg)
{
	int			id = agg->plan.plan_node_id;

	outerPlan(agg) = &sliced_node_above(outerPlan(agg), &input_plan, id, 0)->scan.plan;
	return &sliced_node_above(&agg->plan, &groups_plan, id, 2)->scan.plan;
}

void
sliced_spill_aggregate_init(void)
{
	RegisterCustomScanMethods(&groups_plan);
	RegisterCustomScanMethods(&input_plan);
}
