/*
 * partitions.c
 *	  The two sides of a hash join that does not fit in memory, in partitions.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "node.h"
#include "partitions.h"
#include "utils/memutils.h"

/* A partition is split at most this often. */
#define DEPTH_MAX		4

/* Into at most this many. */
#define SPLIT_MOST		64

/*
 * A filter is dropped unless it drops one in FILTER_GAIN of the first FILTER_TRIAL
 * rows.
 */
#define FILTER_GAIN		10
#define FILTER_TRIAL	10000

/* ---- keys ---- */

bool
sliced_row_hash(SlicedJoinSide *side, TupleTableSlot *slot, uint32 *hash)
{
	ExprContext *econtext = side->css.ss.ps.ps_ExprContext;
	const SlicedKeys *keys = &side->keys;
	MemoryContext old;
	uint32		result = 0;
	bool		matches = true;

	if (!econtext->ecxt_per_tuple_memory->isReset)
		ResetExprContext(econtext);
	econtext->ecxt_outertuple = slot;
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	for (int i = 0; i < keys->n && matches; i++)
	{
		bool		isnull;
		Datum		value = ExecEvalExpr(keys->values[i], econtext, &isnull);

		result = pg_rotate_left32(result, 1);
		if (!isnull)
			result ^= DatumGetUInt32(FunctionCall1Coll(&keys->functions[i], keys->collations[i], value));
		else if (keys->strict[i])
			matches = false;
	}
	MemoryContextSwitchTo(old);
	/* core's table uses the same functions: take other bits */
	*hash = murmurhash32(result);
	return matches;
}

/* ---- rows of a pass ---- */

static TupleTableSlot *
row_in_slot(SlicedJoinSide *side, MinimalTuple row)
{
	return row == NULL ? ExecClearTuple(side->slot) : ExecStoreMinimalTuple(row, side->slot, false);
}

TupleTableSlot *
sliced_inner_next(SlicedPasses *p)
{
	if (p->is_on_tape)
		return row_in_slot(p->inner, sliced_tape_get(&((SlicedPartition *) linitial(p->queue))->inner));
	return p->is_loaded ? sliced_inner_kept(p) : sliced_inner_read(p);
}

static void
drop_filter(SlicedPasses *p)
{
	if (p->filter.words != NULL && p->sides == NULL)
		pfree(p->filter.words);
	p->filter.words = NULL;
}

bool
sliced_is_filtered(SlicedPasses *p, uint32 hash)
{
	if (p->filter.words == NULL)
		return false;
	if (p->asked == FILTER_TRIAL && p->dropped < FILTER_TRIAL / FILTER_GAIN)
	{
		drop_filter(p);
		return false;
	}
	p->asked++;
	if (sliced_filter_has(&p->filter, hash))
		return false;
	p->dropped++;
	p->tapes.filtered++;
	return true;
}

/* True if the row is for this pass.  Otherwise it is put on tape, or dropped. */
static bool
stays(SlicedPasses *p, TupleTableSlot *slot)
{
	uint32		hash;

	if (!sliced_row_hash(p->outer, slot, &hash))
	{
		if (p->drops_outer)
			return false;
		hash = 0;
	}
	if (sliced_is_resident(p, hash))
		return true;
	if (sliced_is_filtered(p, hash))
		return false;
	sliced_tape_put_slot(&p->partitions[sliced_partition_at(p, hash)].outer, slot, 0);
	return false;
}

/* The next row of the outer side itself. */
static TupleTableSlot *
read_outer(SlicedPasses *p)
{
	TupleTableSlot *slot = p->first_row;

	p->first_row = NULL;
	return slot != NULL ? slot : sliced_next_row(p->outer_side);
}

TupleTableSlot *
sliced_outer_next(SlicedPasses *p)
{
	TupleTableSlot *slot;

	if (p->is_on_tape)
		return row_in_slot(p->outer, sliced_tape_get(&((SlicedPartition *) linitial(p->queue))->outer));
	if (p->outer_is_done)
		return NULL;
	while ((slot = read_outer(p)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		/*
		 * without partitions core gets the row; if we make some later, we take it
		 * back
		 */
		if (p->npartitions == 0 || stays(p, slot))
			return slot;
	}
	for (int i = 0; i < p->npartitions; i++)
		sliced_tape_finish(&p->partitions[i].outer);
	drop_filter(p);
	p->outer_is_done = true;
	return NULL;
}

/* ---- partitions on tape ---- */

static void
free_partition(SlicedPartition *partition)
{
	sliced_tape_free(&partition->inner);
	sliced_tape_free(&partition->outer);
}

SlicedPartition *
sliced_add_partition(SlicedPasses *p)
{
	MemoryContext old = MemoryContextSwitchTo(p->mcxt);
	SlicedPartition *result = palloc0(sizeof(SlicedPartition));

	result->is_single = true;
	p->queue = lcons(result, p->queue);
	MemoryContextSwitchTo(old);
	return result;
}

/* The partition is done: remove it from the queue. */
static void
remove_partition(SlicedPasses *p, SlicedPartition *partition)
{
	/* they may have its last rows */
	ExecClearTuple(p->inner->slot);
	ExecClearTuple(p->outer->slot);
	p->queue = list_delete_ptr(p->queue, partition);
	free_partition(partition);
	if (partition->is_single)
		pfree(partition);
}

/* True if the join of the partition may return rows. */
static bool
is_of_use(const SlicedPasses *p, const SlicedPartition *partition)
{
	return (partition->inner.rows > 0 || !p->drops_outer) && (partition->outer.rows > 0 || !p->drops_inner) &&
		partition->inner.rows + partition->outer.rows > 0;
}

static void
split_side(SlicedJoinSide *side, SlicedTape *from, SlicedPartition **to, int n, int depth)
{
	MinimalTuple row;

	while ((row = sliced_tape_get(from)) != NULL)
	{
		SlicedPartition *partition;
		uint32		hash;

		CHECK_FOR_INTERRUPTS();
		ExecStoreMinimalTuple(row, side->slot, false);
		if (!sliced_row_hash(side, side->slot, &hash))
			hash = side->is_inner ? (uint32) from->at : 0;
		partition = to[sliced_partition_of(hash, n, depth)];
		sliced_tape_put(side->is_inner ? &partition->inner : &partition->outer, row, 0);
	}
	ExecClearTuple(side->slot);
	for (int i = 0; i < n; i++)
		sliced_tape_finish(side->is_inner ? &to[i]->inner : &to[i]->outer);
}

/* Replace the partition, the first in the queue, by smaller ones. */
static void
split(SlicedPasses *p, SlicedPartition *partition)
{
	int			n = sliced_power_of_two(2.0 * partition->inner.memory / p->allowed, 2,
										sliced_partitions_most(p, SPLIT_MOST));
	SlicedPartition *parts[SPLIT_MOST];
	uint64		rows = partition->inner.rows;

	p->tapes.block = sliced_partition_block(p, n);
	for (int i = 0; i < n; i++)
	{
		parts[i] = sliced_add_partition(p);
		parts[i]->inner.tapes = parts[i]->outer.tapes = &p->tapes;
		parts[i]->depth = partition->depth + 1;
	}
	split_side(p->inner, &partition->inner, parts, n, partition->depth + 1);
	split_side(p->outer, &partition->outer, parts, n, partition->depth + 1);
	remove_partition(p, partition);
	/* splitting does not separate keys that are all alike */
	for (int i = 0; i < n; i++)
		if (parts[i]->inner.rows == rows)
			parts[i]->depth = DEPTH_MAX;
	p->splits++;
}

bool
sliced_next_partition(SlicedPasses *p)
{
	MemoryContext old;

	if (p->is_on_tape)
		remove_partition(p, linitial(p->queue));
	else if (p->sides == NULL)
	{
		/* if its table is empty, core stops before it has read all of the other side */
		while (sliced_outer_next(p) != NULL)
			;
		old = MemoryContextSwitchTo(p->mcxt);
		for (int i = 0; i < p->npartitions; i++)
			p->queue = lappend(p->queue, &p->partitions[i]);
		MemoryContextSwitchTo(old);
	}
	p->is_on_tape = false;
	while (p->queue != NIL || (p->take != NULL && p->take(p)))
	{
		SlicedPartition *partition = linitial(p->queue);

		CHECK_FOR_INTERRUPTS();
		if (!is_of_use(p, partition))
			remove_partition(p, partition);
		else if (partition->inner.memory > p->allowed && partition->depth < DEPTH_MAX)
			split(p, partition);
		else
		{
			p->is_on_tape = true;
			return true;
		}
	}
	return false;
}

void
sliced_passes_reset(SlicedPasses *p)
{
	ListCell   *lc;

	ExecClearTuple(p->inner->slot);
	ExecClearTuple(p->outer->slot);
	foreach(lc, p->queue)
		free_partition(lfirst(lc));
	if (p->queue == NIL && p->partitions != NULL)
		for (int i = 0; i < p->npartitions; i++)
			free_partition(&p->partitions[i]);
	MemoryContextReset(p->mcxt);
	sliced_tapes_reset(&p->tapes);
	p->is_loaded = p->outer_is_done = p->is_on_tape = p->is_done = p->is_shared_out = p->has_taken = false;
	p->first = p->last = NULL;
	p->next = p->memory = 0;
	p->npartitions = p->resident = 0;
	p->has_origin = false;
	p->origin = p->kept_mask = p->kept_bits = 0;
	p->partitions = NULL;
	p->common.n = 0;
	p->filter.words = NULL;
	p->asked = p->dropped = 0;
	p->first_row = NULL;
	p->queue = NIL;
}
