/*
 * sides.c
 *	  The two sides of a hash join in partitions that the processes of a parallel
 *	  plan share.
 *
 * Each process writes its share of the inner side to tapes of its own, one for each
 * partition.  When all have done so, they write the outer side in the same way.  When
 * all have done that, each process takes one partition after the other and joins it
 * by itself.  No process returns rows before, so none waits for another that waits
 * for its rows to be read.  A process that comes later begins in the phase where the
 * others are: the nodes below have given them its share.
 *
 * A partition has one owner, which knows its rows without a match, so any kind of
 * join will do.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "sides.h"
#include "storage/barrier.h"
#include "storage/sharedfileset.h"
#include "storage/spin.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

/* Partitions for each process, at least, so that all end at about the same time. */
#define PARTITIONS_EACH	4

typedef enum Phase
{
	PHASE_INNER,
	PHASE_OUTER,
	PHASE_JOIN
} Phase;

struct SlicedSides
{
	SharedFileSet files;
	dsm_handle	segment;
	Barrier		barrier;		/* Phase */
	int			nprocesses;
	int			npartitions;
	uint32		nwords;			/* of the filter */
	pg_atomic_uint32 next;		/* partition to be taken */
	pg_atomic_uint32 done;		/* partitions that have been joined */
	slock_t		mutex;			/* of 'workers' */
	SlicedWork	workers;
	SlicedTapeShare shares[FLEXIBLE_ARRAY_MEMBER];	/* by partition, side, process */
};

static SlicedTapeShare *
shares_at(SlicedSides *s, int partition, bool inner)
{
	return &s->shares[(2 * partition + !inner) * s->nprocesses];
}

static Size
filter_offset(const SlicedSides *s)
{
	return MAXALIGN(offsetof(SlicedSides, shares) +
					2 * (Size) s->npartitions * s->nprocesses * sizeof(SlicedTapeShare));
}

static void
measure(SlicedPasses *p, int nworkers, SlicedSides *s)
{
	s->nprocesses = nworkers + 1;
	sliced_expect_partitions(p, Max(((Hash *) p->hash->ps.plan)->rows_total, 1),
							 sliced_power_of_two(PARTITIONS_EACH * s->nprocesses, 1, 1024));
	s->npartitions = p->to_make;
#ifdef PG_HAVE_ATOMIC_U64_SIMULATION
	s->nwords = 0;
#else
	s->nwords = p->filter_room / sizeof(uint64) * s->nprocesses;
#endif
}

Size
sliced_sides_size(SlicedPasses *p, int nworkers)
{
	SlicedSides s;

	measure(p, nworkers, &s);
	return filter_offset(&s) + s.nwords * sizeof(uint64);
}

void
sliced_sides_begin_anew(SlicedSides *s)
{
	SharedFileSetDeleteAll(&s->files);
	BarrierInit(&s->barrier, 0);
	pg_atomic_write_u32(&s->next, 0);
	pg_atomic_write_u32(&s->done, 0);
	memset(s->shares, 0, filter_offset(s) - offsetof(SlicedSides, shares) + s->nwords * sizeof(uint64));
}

void
sliced_sides_init(SlicedPasses *p, SlicedSides *s, ParallelContext *context)
{
	/* without shared memory there are no workers */
	if (context->seg == NULL)
		return;
	memset(s, 0, offsetof(SlicedSides, shares));
	measure(p, context->nworkers, s);
	SharedFileSetInit(&s->files, context->seg);
	s->segment = dsm_segment_handle(context->seg);
	pg_atomic_init_u32(&s->next, 0);
	pg_atomic_init_u32(&s->done, 0);
	SpinLockInit(&s->mutex);
	sliced_sides_begin_anew(s);
	p->sides = s;
}

void
sliced_sides_attach(SlicedPasses *p, SlicedSides *s)
{
	SharedFileSetAttach(&s->files, dsm_find_mapping(s->segment));
	p->sides = s;
}

static void
add_work(SlicedWork *to, const SlicedWork *from)
{
	to->splits += from->splits;
	to->rows += from->rows;
	to->raw += from->raw;
	to->stored += from->stored;
	to->filtered += from->filtered;
}

void
sliced_sides_end(SlicedPasses *p)
{
	SlicedSides *s = p->sides;
	SlicedWork own = {p->splits, p->tapes.rows, p->tapes.raw, p->tapes.stored, p->tapes.filtered};

	if (s == NULL)
		return;
	SpinLockAcquire(&s->mutex);
	if (IsParallelWorker())
		add_work(&s->workers, &own);
	else
		add_work(&p->others, &s->workers);
	SpinLockRelease(&s->mutex);
	/* the leader may have taken no part */
	if (p->others.rows > 0)
		p->max_partitions = s->npartitions;
	/* the files and the shared memory are about to go, and there are no more rows */
	sliced_passes_reset(p);
	p->is_done = true;
	p->sides = NULL;
	p->take = NULL;
}

/* ---- both sides ---- */

/* Several processes may set bits at a time; most are set already. */
static void
filter_add(SlicedFilter *filter, uint32 hash)
{
	volatile uint64 *word = sliced_filter_word(filter, hash);
	uint64		bits = sliced_filter_bits(hash);

	if ((*word & bits) != bits)
		pg_atomic_fetch_or_u64((pg_atomic_uint64 *) word, bits);
}

/* The partition of an inner row; -1 if the join does not need it. */
static int
place_inner(SlicedPasses *p, TupleTableSlot *slot)
{
	uint32		hash;

	if (!sliced_row_hash(p->inner, slot, &hash))
	{
		if (p->drops_inner)
			return -1;
		hash = p->without_key++;
	}
	else if (p->filter.words != NULL)
		filter_add(&p->filter, hash);
	return sliced_partition_at(p, hash);
}

static int
place_outer(SlicedPasses *p, TupleTableSlot *slot)
{
	uint32		hash;

	if (sliced_row_hash(p->outer, slot, &hash))
		return sliced_is_filtered(p, hash) ? -1 : sliced_partition_at(p, hash);
	return p->drops_outer ? -1 : 0;
}

static void
write_side(SlicedPasses *p, bool inner)
{
	SlicedSides *s = p->sides;
	PlanState  *side = inner ? p->inner_side : p->outer_side;
	int			process = ParallelWorkerNumber + 1;
	MemoryContext mcxt = AllocSetContextCreate(p->mcxt, "sliced share", ALLOCSET_DEFAULT_SIZES);
	SlicedTape *tapes = MemoryContextAllocZero(mcxt, s->npartitions * sizeof(SlicedTape));
	TupleTableSlot *slot;

	for (int i = 0; i < s->npartitions; i++)
		sliced_tape_share(&tapes[i], &p->tapes, &s->files.fs, inner,
						  shares_at(s, i, inner) + process - s->shares);
	while ((slot = sliced_next_row(side)) != NULL)
	{
		int			partition = inner ? place_inner(p, slot) : place_outer(p, slot);

		CHECK_FOR_INTERRUPTS();
		if (partition >= 0)
			sliced_tape_put_slot(&tapes[partition], slot, 0);
	}
	for (int i = 0; i < s->npartitions; i++)
		sliced_tape_hand_over(&tapes[i], shares_at(s, i, inner) + process);
	sliced_tapes_end_sharing(&p->tapes);
	MemoryContextDelete(mcxt);
}

static bool
inner_is_empty(SlicedSides *s)
{
	for (int i = 0; i < s->npartitions; i++)
		for (int process = 0; process < s->nprocesses; process++)
			if (shares_at(s, i, true)[process].rows > 0)
				return false;
	return true;
}

/* Wait until all processes have come this far. */
static void
end_phase(SlicedSides *s)
{
	BarrierArriveAndWait(&s->barrier, PG_WAIT_EXTENSION);
}

/* Add a partition that no process has taken to the queue; false if there is none. */
static bool
take_partition(SlicedPasses *p)
{
	SlicedSides *s = p->sides;
	uint32		i;
	SlicedPartition *partition;

	if (p->has_taken && pg_atomic_add_fetch_u32(&s->done, 1) == s->npartitions)
		sliced_tapes_remove_shared(&s->files.fs, s->nprocesses);
	i = pg_atomic_fetch_add_u32(&s->next, 1);
	p->has_taken = i < s->npartitions;
	if (!p->has_taken)
		return false;
	partition = sliced_add_partition(p);
	sliced_tape_take(&partition->inner, &p->tapes, &s->files.fs, true, shares_at(s, i, true) - s->shares,
					 shares_at(s, i, true), s->nprocesses);
	sliced_tape_take(&partition->outer, &p->tapes, &s->files.fs, false, shares_at(s, i, false) - s->shares,
					 shares_at(s, i, false), s->nprocesses);
	return true;
}

void
sliced_sides_share(SlicedPasses *p)
{
	SlicedSides *s = p->sides;
	Phase		phase = BarrierAttach(&s->barrier);

	p->is_shared_out = true;
	p->take = take_partition;
	p->max_partitions = p->npartitions = s->npartitions;
	p->tapes.block = sliced_partition_block(p, s->npartitions);
	if (s->nwords > 0)
	{
		p->filter.n = s->nwords;
		p->filter.words = (uint64 *) ((char *) s + filter_offset(s));
	}
	if (phase == PHASE_INNER)
	{
		write_side(p, true);
		end_phase(s);
		phase = PHASE_OUTER;
	}
	if (phase == PHASE_OUTER)
	{
		/* like core, do not read the outer side if the result is empty anyway */
		if (!p->drops_outer || !inner_is_empty(s))
			write_side(p, false);
		end_phase(s);
	}
	BarrierDetach(&s->barrier);
	p->filter.words = NULL;
}
