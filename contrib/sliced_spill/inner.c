/*
 * inner.c
 *	  The inner side of a hash join, until it has been read.
 *
 * Core's node gets its rows as they come, into its table, as long as they fit.  When
 * the table is full we take them back and make partitions of them.  Some rows stay in
 * memory.  Core gets those a second time, when the whole side has been read.
 *
 * Some rows always stay.  The join returns their matches while it reads the outer
 * side, as core does with its first batch.  If none stayed, the first row would come
 * when the outer side has ended, which may be never.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "executor/hashjoin.h"
#include "executor/instrument.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "node.h"
#include "partitions.h"

#define CHUNK			(32 * 1024)

/* Rows get at least this part of the memory, even if blocks would take all of it. */
#define ROWS_PART		2

/*
 * If rows take too much, a quarter of the resident partitions goes to tape.  If there
 * are fewer than this, half of their rows go.
 */
#define FEW_RESIDENT	4

/* Length of the first blocks, made while rows are still in core's table. */
#define FIRST_BLOCK		(2048 - 2 * sizeof(SlicedBlockHeader))

/*
 * A filter takes at most this part of the memory, and these bytes for each expected
 * row.
 */
#define FILTER_PART		16
#define FILTER_BYTES	2
#define FILTER_MIN		1024

/*
 * If each outer row is expected to match, a filter helps only where the planner errs.
 * Then outer rows must have this many bytes for each inner row.
 */
#define FILTER_DOUBTFUL	256

/* A row in memory, with its hash once rows have one. */
typedef struct Kept
{
	uint32		hash;
	uint32		unused;
	MinimalTupleData row;
} Kept;

#define KEPT_ROW		MAXALIGN(offsetof(Kept, row))
#define KEPT_SIZE(len)	(KEPT_ROW + MAXALIGN(len))

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

/* The next row in memory; frees the chunks behind it. */
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

/* The tape of inner rows with this hash.  The caller adds a row to it. */
static SlicedTape *
inner_tape(SlicedPasses *p, uint32 hash)
{
	if (p->filter.words != NULL)
		sliced_filter_add(&p->filter, hash);
	return &p->partitions[sliced_partition_at(p, hash)].inner;
}

/* Find room for 'size' bytes after the rows that have been moved, at 'to'. */
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

/* Move rows of partitions on tape there; close the gaps between those that stay. */
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
			if (!sliced_is_resident(p, kept->hash))
			{
				sliced_tape_put(inner_tape(p, kept->hash), row_of(kept), 0);
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

/*
 * Memory for rows if 'resident' partitions stay: without the filter, and the blocks
 * of the others.
 */
static Size
room_for_rows(const SlicedPasses *p, int resident)
{
	int			on_tape = p->kept_mask != 0 ? p->npartitions : p->npartitions - resident;
	Size		taken = (Size) on_tape * p->tapes.block + sliced_filter_bytes(&p->filter);

	return Max(p->allowed - Min(taken, p->allowed), p->allowed / ROWS_PART);
}

static bool
is_too_much(const SlicedPasses *p)
{
	return p->memory > room_for_rows(p, p->resident);
}

/* What the rows of resident partitions have in common, and what they take. */
typedef struct ResidentRows
{
	uint32		some;			/* a row's hash */
	uint32		differing;		/* bits in which another row differs */
	Size		memory[2];		/* of rows without this bit, and with it */
} ResidentRows;

/* Look at all of them; 'bit' is one of the hash.  False if there are none. */
static bool
look_at_residents(const SlicedPasses *p, uint32 bit, ResidentRows *rows)
{
	bool		found = false;

	memset(rows, 0, sizeof(*rows));
	for (SlicedChunk *chunk = p->first; chunk != NULL; chunk = chunk->next)
	{
		for (Size at = 0; at < chunk->used;)
		{
			Kept	   *kept = kept_at(chunk, at);
			uint32		len = row_of(kept)->t_len;

			at += KEPT_SIZE(len);
			if (!sliced_partition_is_resident(p, kept->hash) || sliced_is_common(&p->common, kept->hash))
				continue;
			if (!found)
				rows->some = kept->hash;
			found = true;
			rows->differing |= kept->hash ^ rows->some;
			rows->memory[(kept->hash & bit) != 0] += SLICED_ROW_MEMORY(len);
		}
	}
	return found;
}

/*
 * Keep only those rows of resident partitions whose hash has a certain value in one
 * more bit.  Some rows differ in that bit, so such rows exist.  If none differ, we
 * keep the rows of just this hash, even if memory has no room for them all: core
 * cannot split them either, and has them all in memory when their turn comes.
 *
 * Returns false if that has been done already, or there are no rows.
 */
static bool
halve_residents(SlicedPasses *p)
{
	ResidentRows rows;
	uint32		bit;
	bool		larger;
	bool		kept;

	if (p->kept_mask == PG_UINT32_MAX || !look_at_residents(p, 0, &rows))
		return false;
	if (rows.differing == 0)
	{
		p->kept_mask = PG_UINT32_MAX;
		p->kept_bits = rows.some;
		return true;
	}
	bit = rows.differing & (~rows.differing + 1);
	look_at_residents(p, bit, &rows);
	p->kept_mask |= bit;
	/* the larger half, if that fits */
	larger = rows.memory[1] > rows.memory[0];
	kept = p->memory - rows.memory[!larger] <= room_for_rows(p, p->resident) ? larger : !larger;
	if (kept)
		p->kept_bits |= bit;
	return true;
}

static void
evict(SlicedPasses *p)
{
	while (is_too_much(p))
	{
		if (p->resident >= FEW_RESIDENT && p->kept_mask == 0)
			p->resident -= p->resident / FEW_RESIDENT;
		else if (!halve_residents(p))
		{
			if (p->common.n == 0)
				break;
			sliced_common_keep(&p->common, p->common.n / 2);
		}
		evict_rows(p);
	}
}

/* The hash of an inner row; false if the join does not need the row. */
static bool
inner_hash(SlicedPasses *p, TupleTableSlot *slot, uint32 *hash)
{
	if (sliced_row_hash(p->inner, slot, hash))
	{
		if (!p->has_origin)
		{
			p->has_origin = true;
			p->origin = *hash;
		}
		return true;
	}
	*hash = p->without_key++;
	return !p->drops_inner;
}

/* True if a filter may save more than it takes. */
static bool
may_filter(const SlicedPasses *p, double rows)
{
	const Plan *outer = p->outer_side->plan;
	double		joined = p->join->js.ps.plan->plan_rows;

	if (!p->drops_outer)
		return false;
	if (joined > 0.9 * outer->plan_rows && joined < 1.5 * outer->plan_rows)
		return outer->plan_rows * outer->plan_width >= FILTER_DOUBTFUL * rows;
	return true;
}

/*
 * Decide how many partitions to make if not all rows fit, and what these and the
 * filter take at once.
 */
void
sliced_expect_partitions(SlicedPasses *p, double rows, int least)
{
	const Plan *plan = p->inner_side->plan;
	double		expected = Max(rows * (plan->plan_width + SLICED_ROW_MEMORY(SizeofMinimalTupleHeader)),
							   2.0 * p->allowed);
	int			most = sliced_partitions_most(p, 4096);

	p->to_make = sliced_power_of_two(1.25 * expected / p->allowed, Min(least, most), most);
	p->filter_room = 0;
	if (may_filter(p, rows))
		p->filter_room = Max(Min(p->allowed / FILTER_PART, FILTER_BYTES * rows), FILTER_MIN);
	p->reserve = p->to_make * (sizeof(SlicedPartition) + FIRST_BLOCK) + p->filter_room;
}

static void
make_filter(SlicedPasses *p)
{
	p->filter.n = p->filter_room / sizeof(uint64);
	p->filter.words = MemoryContextAllocExtended(p->mcxt, p->filter.n * sizeof(uint64),
												 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* How many partitions, one at least, can stay if all rows take 'memory' now. */
static int
how_many_stay(const SlicedPasses *p, Size memory)
{
	int			n = p->npartitions;

	while (n > 1 && (double) memory / p->npartitions * n > room_for_rows(p, n))
		n--;
	return n;
}

/* Memory is full; rows take 'memory'. */
static void
make_partitions(SlicedPasses *p, Size memory)
{
	MemoryContext old = MemoryContextSwitchTo(p->mcxt);

	p->npartitions = p->to_make;
	p->partitions = palloc0(p->npartitions * sizeof(SlicedPartition));
	p->tapes.block = sliced_partition_block(p, p->npartitions);
	for (int i = 0; i < p->npartitions; i++)
		p->partitions[i].inner.tapes = p->partitions[i].outer.tapes = &p->tapes;
	if (p->filter_room > 0)
		make_filter(p);
	if (OidIsValid(p->outer_table))
		sliced_common_keys(&p->common, p->outer_table, p->outer_column, p->outer_inherits,
						   &p->outer->keys.functions[0], p->outer->keys.collations[0]);
	p->resident = how_many_stay(p, memory);
	p->max_partitions = Max(p->max_partitions, p->npartitions);
	MemoryContextSwitchTo(old);
}

/* Put an inner row into memory or on its partition's tape. */
static void
place_row(SlicedPasses *p, TupleTableSlot *slot)
{
	uint32		hash;
	bool		should_free;
	MinimalTuple row;

	if (!inner_hash(p, slot, &hash))
		return;
	if (!sliced_is_resident(p, hash))
	{
		sliced_tape_put_slot(inner_tape(p, hash), slot, 0);
		return;
	}
	row = ExecFetchSlotMinimalTuple(slot, &should_free);
	keep_row(p, row, hash);
	if (should_free)
		pfree(row);
}

static Size
table_memory(const HashJoinTable table)
{
	return table->spaceUsed + (Size) table->nbuckets_optimal * sizeof(HashJoinTuple);
}

/* A row is taken back: EXPLAIN must not count it as returned. */
static void
count_less(PlanState *node)
{
	if (node->instrument != NULL)
		node->instrument->tuplecount -= 1;
}

/*
 * Take back all rows in core's table, and the outer row that core may have asked for
 * before it made the table.
 */
static void
take_back(SlicedPasses *p)
{
	HashJoinTable table = p->hash->hashtable;
	PlanState  *side = &p->inner->css.ss.ps;
	HashMemoryChunk chunk;
	Size		freed = 0;
	Size		at;

	p->first_row = p->join->hj_FirstOuterTupleSlot;
	p->join->hj_FirstOuterTupleSlot = NULL;
	if (p->first_row != NULL)
		count_less(&p->outer->css.ss.ps);
	p->tapes.for_now = FIRST_BLOCK;
	while ((chunk = table->chunks) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		for (at = 0; at < chunk->used;)
		{
			MinimalTuple row = HJTUPLE_MINTUPLE((HashJoinTuple) (HASH_CHUNK_DATA(chunk) + at));

			at += MAXALIGN(HJTUPLE_OVERHEAD + row->t_len);
			place_row(p, ExecStoreMinimalTuple(row, p->inner->slot, false));
			count_less(side);
		}
		table->chunks = chunk->next.unshared;
		freed += chunk->maxlen;
		pfree(chunk);
		if (freed > 2 * (Size) p->npartitions * SLICED_BLOCK_MIN)
			p->tapes.for_now = SLICED_BLOCK_MIN;
	}
	ExecClearTuple(p->inner->slot);
	ExecHashTableReset(table);
	table->totalTuples = 0;
	/* keep the present number of buckets: do not count the rows taken back */
	table->nbuckets_optimal = table->nbuckets;
	table->log2_nbuckets_optimal = table->log2_nbuckets;
	p->tapes.for_now = 0;
	evict(p);
}

/* Read the rest of the side. */
static void
read_rest(SlicedPasses *p)
{
	TupleTableSlot *slot;

	while ((slot = sliced_next_row(p->inner_side)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		place_row(p, slot);
		evict(p);
	}
	for (int i = 0; i < p->npartitions; i++)
		sliced_tape_finish(&p->partitions[i].inner);
	p->max_resident = p->resident;
}

/* The next row for core's table, while all rows may still fit. */
TupleTableSlot *
sliced_inner_read(SlicedPasses *p)
{
	HashJoinTable table = p->hash->hashtable;
	TupleTableSlot *slot;

	/*
	 * Core must not begin to spill by itself.  If it plans to from the start, because
	 * it has less memory than the planner had, rows are in its files already, and we
	 * let it.
	 */
	if (table->nbatch == 1)
		table->growEnabled = false;
	if (table->nbatch > 1 || table_memory(table) + p->reserve <= p->allowed)
	{
		slot = ExecProcNode(p->inner_side);
		p->is_loaded = TupIsNull(slot);
		return slot;
	}
	make_partitions(p, table->spaceUsed);
	take_back(p);
	read_rest(p);
	p->is_loaded = true;
	return sliced_inner_kept(p);
}

/* The next of the rows that stayed in memory. */
TupleTableSlot *
sliced_inner_kept(SlicedPasses *p)
{
	MinimalTuple row = next_kept(p);

	return row == NULL ? ExecClearTuple(p->inner->slot) : ExecStoreMinimalTuple(row, p->inner->slot, false);
}
