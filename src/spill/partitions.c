/*
 * partitions.c
 *	  The two sides of a hash join that does not fit in memory, in partitions.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "spill/node.h"
#include "spill/partitions.h"
#include "utils/memutils.h"

#define CHUNK			(32 * 1024)

#define PARTITIONS_MIN	8

/* A partition is split no more than so often. */
#define DEPTH_MAX		4

/*
 * The filter has this part of the memory at most, but core makes none of less than that;
 * it has to drop this part of the rows it is asked of.
 */
#define FILTER_PART		16
#define FILTER_MIN		(1024 * 1024)
#define FILTER_GAIN		10
#define FILTER_TRIAL	10000

/* There is none where about one row is expected of the join for each outer one. */
#define ONE_FOR_EACH(rows, outer)	((rows) > 0.9 * (outer) && (rows) < 1.5 * (outer))

/* A row in memory: its hash, once rows have one, and the row. */
typedef struct Kept
{
	uint32		hash;
	uint32		unused;
	MinimalTupleData row;
} Kept;

#define KEPT_ROW		MAXALIGN(offsetof(Kept, row))
#define KEPT_SIZE(len)	(KEPT_ROW + MAXALIGN(len))

/* ---- keys ---- */

bool
sliced_row_hash(SlicedPart *part, TupleTableSlot *slot, uint32 *hash)
{
	ExprContext *econtext = part->css.ss.ps.ps_ExprContext;
	const SlicedKeys *keys = &part->keys;
	MemoryContext old;
	uint32		result = 0;
	bool		matches = true;

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
	/* core's table goes by the same functions: take other bits */
	*hash = murmurhash32(result);
	return matches;
}

/* ---- rows in memory ---- */

static Kept *
kept_at(SlicedChunk *chunk, Size at)
{
	return (Kept *) (chunk->data + at);
}

static MinimalTuple
row_of(Kept *kept)
{
	return (MinimalTuple) ((char *) kept + KEPT_ROW);
}

static void
keep_row(SlicedPasses *p, MinimalTuple row, uint32 hash)
{
	Size		size = KEPT_SIZE(row->t_len);
	Kept	   *kept;

	if (p->last == NULL || p->last->room - p->last->used < size)
	{
		Size		room = Max(size, CHUNK);
		SlicedChunk *chunk = MemoryContextAllocHuge(p->mcxt, offsetof(SlicedChunk, data) + room);

		chunk->next = NULL;
		chunk->room = room;
		chunk->used = 0;
		if (p->last == NULL)
			p->first = chunk;
		else
			p->last->next = chunk;
		p->last = chunk;
	}
	kept = kept_at(p->last, p->last->used);
	kept->hash = hash;
	memcpy(row_of(kept), row, row->t_len);
	p->last->used += size;
	p->memory += SLICED_ROW_MEMORY(row->t_len);
}

/* The next row in memory; chunks behind us are freed. */
static MinimalTuple
next_kept(SlicedPasses *p)
{
	Kept	   *kept;

	while (p->first != NULL && p->next == p->first->used)
	{
		SlicedChunk *done = p->first;

		p->first = done->next;
		p->next = 0;
		if (p->first == NULL)
			p->last = NULL;
		pfree(done);
	}
	if (p->first == NULL)
		return NULL;
	kept = kept_at(p->first, p->next);
	p->next += KEPT_SIZE(row_of(kept)->t_len);
	return row_of(kept);
}

/* ---- partitions ---- */

/* Are rows with this hash in memory, or at least inner ones while the inner side is read? */
static bool
is_resident(const SlicedPasses *p, uint32 hash)
{
	return sliced_partition_of(hash, p->npartitions, 0) < p->resident || sliced_is_common(&p->common, hash);
}

static void
put_inner(SlicedPasses *p, MinimalTuple row, uint32 hash)
{
	if (p->filter != NULL)
		bloom_add_element(p->filter, (unsigned char *) &hash, sizeof(hash));
	sliced_tape_put(&p->partitions[sliced_partition_of(hash, p->npartitions, 0)].inner, row);
}

/* Where 'size' bytes can be moved to: behind what has been moved, at 'to'. */
static SlicedChunk *
room_for(SlicedChunk *to, Size *used, Size size)
{
	while (to->room - *used < size)
	{
		to->used = *used;
		*used = 0;
		to = to->next;
	}
	return to;
}

/* Move rows whose partitions are on tape from memory to there; what stays moves together. */
static void
evict_rows(SlicedPasses *p)
{
	SlicedChunk *to = p->first;
	Size		to_used = 0;

	for (SlicedChunk *from = p->first; from != NULL; from = from->next)
	{
		Size		used = from->used;
		Size		size;

		for (Size at = 0; at < used; at += size)
		{
			Kept	   *kept = kept_at(from, at);
			uint32		len = row_of(kept)->t_len;

			size = KEPT_SIZE(len);
			if (!is_resident(p, kept->hash))
			{
				put_inner(p, row_of(kept), kept->hash);
				p->memory -= SLICED_ROW_MEMORY(len);
				continue;
			}
			to = room_for(to, &to_used, size);
			memmove(to->data + to_used, kept, size);
			to_used += size;
		}
	}
	if (to == NULL)
		return;
	to->used = to_used;
	p->last = to;
	while (to->next != NULL)
	{
		SlicedChunk *next = to->next->next;

		pfree(to->next);
		to->next = next;
	}
}

/* What rows in memory take, the filter, and blocks of partitions that are not in memory. */
static bool
is_too_much(const SlicedPasses *p)
{
	return p->memory + (Size) (p->npartitions - p->resident) * p->tapes.block + p->filter_bytes > p->allowed;
}

static void
evict(SlicedPasses *p)
{
	while ((p->resident > 0 || p->common.n > 0) && is_too_much(p))
	{
		if (p->resident > 0)
			p->resident -= Max(1, p->resident / 4);
		else
			sliced_common_keep(&p->common, p->common.n / 2);
		evict_rows(p);
	}
}

/* The hash of an inner row; false if it is of no use. */
static bool
inner_hash(SlicedPasses *p, TupleTableSlot *slot, uint32 *hash)
{
	if (sliced_row_hash(p->inner, slot, hash))
		return true;
	*hash = p->without_key++;
	return !p->drops_inner;
}

static void
make_filter(SlicedPasses *p, double rows)
{
	Size		most = Max(p->allowed / FILTER_PART, FILTER_MIN);

	p->filter_bytes = Max(Min(most, 2 * rows), FILTER_MIN);
	p->filter = bloom_create((int64) rows, most / 1024, 0);
}

static void
drop_filter(SlicedPasses *p)
{
	if (p->filter != NULL)
		bloom_free(p->filter);
	p->filter = NULL;
	p->filter_bytes = 0;
}

/* Memory is full: make partitions of what is there. */
static void
begin_partitions(SlicedPasses *p)
{
	const Plan *plan = p->inner_side->plan;
	double		rows = Max(plan->plan_rows, 1);
	double		expected = Max(rows * (plan->plan_width + SLICED_ROW_MEMORY(SizeofMinimalTupleHeader)),
							   2.0 * p->memory);
	int			most = sliced_power_of_two((double) p->allowed / SLICED_BLOCK_MIN / 2 + 1, PARTITIONS_MIN, 4096);
	MemoryContext old = MemoryContextSwitchTo(p->mcxt);

	p->npartitions = sliced_power_of_two(1.25 * expected / p->allowed, PARTITIONS_MIN, most);
	p->resident = p->npartitions;
	p->partitions = palloc0(p->npartitions * sizeof(SlicedPartition));
	p->tapes.block = sliced_block_length(p->allowed / p->npartitions / 2);
	for (int i = 0; i < p->npartitions; i++)
		p->partitions[i].inner.tapes = p->partitions[i].outer.tapes = &p->tapes;
	if (p->drops_outer && !ONE_FOR_EACH(p->join->js.ps.plan->plan_rows, p->outer_side->plan->plan_rows) &&
		p->allowed >= FILTER_PART * FILTER_MIN / 4)
		make_filter(p, rows);
	p->max_partitions = Max(p->max_partitions, p->npartitions);
	if (OidIsValid(p->outer_table))
		sliced_common_keys(&p->common, p->outer_table, p->outer_column, p->outer_inherits,
						   &p->outer->keys.functions[0], p->outer->keys.collations[0]);
	MemoryContextSwitchTo(old);

	for (SlicedChunk *chunk = p->first; chunk != NULL; chunk = chunk->next)
		for (Size at = 0; at < chunk->used; at += KEPT_SIZE(row_of(kept_at(chunk, at))->t_len))
		{
			Kept	   *kept = kept_at(chunk, at);

			ExecStoreMinimalTuple(row_of(kept), p->inner->slot, false);
			/* a row of no use takes its room a little longer */
			(void) inner_hash(p, p->inner->slot, &kept->hash);
		}
	ExecClearTuple(p->inner->slot);
	evict(p);
}

void
sliced_inner_load(SlicedPasses *p)
{
	PlanState  *side = p->inner_side;
	TupleTableSlot *slot;

	while ((slot = sliced_next_row(side)) != NULL)
	{
		bool		should_free;
		MinimalTuple row;
		uint32		hash = 0;

		CHECK_FOR_INTERRUPTS();
		if (p->npartitions > 0 && !inner_hash(p, slot, &hash))
			continue;
		row = ExecFetchSlotMinimalTuple(slot, &should_free);
		if (p->npartitions > 0 && !is_resident(p, hash))
			put_inner(p, row, hash);
		else
			keep_row(p, row, hash);
		if (should_free)
			pfree(row);
		if (p->npartitions > 0)
			evict(p);
		else if (p->memory > p->allowed)
			begin_partitions(p);
	}
	for (int i = 0; i < p->npartitions; i++)
		sliced_tape_finish(&p->partitions[i].inner);
	p->max_resident = p->resident;
	p->is_loaded = true;
}

/* ---- rows of a pass ---- */

static TupleTableSlot *
row_in_slot(SlicedPart *part, MinimalTuple row)
{
	return row == NULL ? ExecClearTuple(part->slot) : ExecStoreMinimalTuple(row, part->slot, false);
}

TupleTableSlot *
sliced_inner_next(SlicedPasses *p)
{
	if (p->is_on_tape)
		return row_in_slot(p->inner, sliced_tape_get(&((SlicedPartition *) linitial(p->queue))->inner));
	if (!p->is_loaded)
		sliced_inner_load(p);
	return row_in_slot(p->inner, next_kept(p));
}

/* Is there no inner row with this hash on any tape? */
static bool
is_filtered(SlicedPasses *p, uint32 hash)
{
	if (p->filter == NULL)
		return false;
	if (p->asked == FILTER_TRIAL && p->dropped < FILTER_TRIAL / FILTER_GAIN)
	{
		drop_filter(p);
		return false;
	}
	p->asked++;
	if (!bloom_lacks_element(p->filter, (unsigned char *) &hash, sizeof(hash)))
		return false;
	p->dropped++;
	p->tapes.filtered++;
	return true;
}

/* Is the row for this pass?  If not it is on tape now, or of no use. */
static bool
stays(SlicedPasses *p, TupleTableSlot *slot)
{
	bool		should_free;
	MinimalTuple row;
	uint32		hash;

	if (!sliced_row_hash(p->outer, slot, &hash))
	{
		if (p->drops_outer)
			return false;
		hash = 0;
	}
	if (is_resident(p, hash))
		return true;
	if (is_filtered(p, hash))
		return false;
	row = ExecFetchSlotMinimalTuple(slot, &should_free);
	sliced_tape_put(&p->partitions[sliced_partition_of(hash, p->npartitions, 0)].outer, row);
	if (should_free)
		pfree(row);
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
		/* core asks for a row before it builds its table: that has time if there is none */
		if (!p->is_loaded)
		{
			p->first_row = slot;
			sliced_inner_load(p);
			p->first_row = NULL;
		}
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

/* Has the join of the partition any rows? */
static bool
is_of_use(const SlicedPasses *p, const SlicedPartition *partition)
{
	return (partition->inner.rows > 0 || !p->drops_outer) && (partition->outer.rows > 0 || !p->drops_inner) &&
		partition->inner.rows + partition->outer.rows > 0;
}

static void
split_side(SlicedPart *part, SlicedTape *from, SlicedPartition *to, int n, int depth)
{
	MinimalTuple row;

	while ((row = sliced_tape_get(from)) != NULL)
	{
		SlicedPartition *partition;
		uint32		hash;

		CHECK_FOR_INTERRUPTS();
		ExecStoreMinimalTuple(row, part->slot, false);
		if (!sliced_row_hash(part, part->slot, &hash))
			hash = part->is_inner ? (uint32) from->at : 0;
		partition = &to[sliced_partition_of(hash, n, depth)];
		sliced_tape_put(part->is_inner ? &partition->inner : &partition->outer, row);
	}
	ExecClearTuple(part->slot);
	for (int i = 0; i < n; i++)
		sliced_tape_finish(part->is_inner ? &to[i].inner : &to[i].outer);
}

/* Replace the partition, the first in the queue, by its parts. */
static void
split(SlicedPasses *p, SlicedPartition *partition)
{
	int			n = sliced_power_of_two(2.0 * partition->inner.memory / p->allowed, 2, 64);
	SlicedPartition *parts = MemoryContextAllocZero(p->mcxt, n * sizeof(SlicedPartition));
	uint64		rows = partition->inner.rows;
	MemoryContext old = MemoryContextSwitchTo(p->mcxt);

	for (int i = 0; i < n; i++)
	{
		parts[i].inner.tapes = parts[i].outer.tapes = &p->tapes;
		parts[i].depth = partition->depth + 1;
	}
	split_side(p->inner, &partition->inner, parts, n, partition->depth + 1);
	split_side(p->outer, &partition->outer, parts, n, partition->depth + 1);
	p->queue = list_delete_first(p->queue);
	free_partition(partition);
	for (int i = 0; i < n; i++)
	{
		/* keys that are all alike stay together whatever we do */
		if (parts[i].inner.rows == rows)
			parts[i].depth = DEPTH_MAX;
		p->queue = lcons(&parts[i], p->queue);
	}
	p->splits++;
	MemoryContextSwitchTo(old);
}

bool
sliced_next_partition(SlicedPasses *p)
{
	MemoryContext old;

	if (p->is_on_tape)
	{
		free_partition(linitial(p->queue));
		p->queue = list_delete_first(p->queue);
	}
	else
	{
		/* an empty table has core stop before it has read all of the other side */
		while (sliced_outer_next(p) != NULL)
			;
		old = MemoryContextSwitchTo(p->mcxt);
		for (int i = p->resident; i < p->npartitions; i++)
			p->queue = lappend(p->queue, &p->partitions[i]);
		MemoryContextSwitchTo(old);
	}
	p->is_on_tape = false;
	while (p->queue != NIL)
	{
		SlicedPartition *partition = linitial(p->queue);

		CHECK_FOR_INTERRUPTS();
		if (!is_of_use(p, partition))
		{
			free_partition(partition);
			p->queue = list_delete_first(p->queue);
		}
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
	if (p->queue == NIL)
		for (int i = 0; i < p->npartitions; i++)
			free_partition(&p->partitions[i]);
	MemoryContextReset(p->mcxt);
	sliced_tapes_reset(&p->tapes);
	p->is_loaded = p->outer_is_done = p->is_on_tape = p->is_done = false;
	p->first = p->last = NULL;
	p->next = p->memory = 0;
	p->npartitions = p->resident = 0;
	p->partitions = NULL;
	p->common.n = 0;
	p->filter = NULL;
	p->filter_bytes = 0;
	p->asked = p->dropped = 0;
	p->first_row = NULL;
	p->queue = NIL;
}
