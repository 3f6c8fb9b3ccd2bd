/*
 * partitions.h
 *	  The two sides of a hash join that does not fit in memory, in partitions: see
 *	  spill.h.
 */
#ifndef SLICED_SPILL_PARTITIONS_H
#define SLICED_SPILL_PARTITIONS_H

#include "postgres.h"

#include "common.h"
#include "filter.h"
#include "node.h"
#include "nodes/execnodes.h"
#include "tape.h"

#define SLICED_PARTITIONS_MIN	8

/* How the keys of one side are hashed. */
typedef struct SlicedKeys
{
	int			n;
	ExprState **values;
	FmgrInfo   *functions;
	Oid		   *collations;
	bool	   *strict;
} SlicedKeys;

/* A node below the join. */
typedef struct SlicedJoinSide
{
	CustomScanState css;
	struct SlicedPasses *passes;
	bool		is_inner;
	SlicedKeys	keys;
	TupleTableSlot *slot;		/* for rows from memory and tapes */
} SlicedJoinSide;

/* The rows of one partition, both sides, on tape. */
typedef struct SlicedPartition
{
	SlicedTape	inner;
	SlicedTape	outer;
	int			depth;			/* how often it was split */
	bool		is_single;		/* memory of its own, freed when it is done */
} SlicedPartition;

/* In the shared memory of a parallel plan: sides.c. */
typedef struct SlicedSides SlicedSides;

/* What processes have written, for EXPLAIN. */
typedef struct SlicedWork
{
	int			splits;
	uint64		rows;
	uint64		raw;
	uint64		stored;
	uint64		filtered;
} SlicedWork;

/* Rows in memory, in chunks. */
typedef struct SlicedChunk
{
	struct SlicedChunk *next;
	Size		room;
	Size		used;
	char		data[FLEXIBLE_ARRAY_MEMBER];
} SlicedChunk;

/* The node above the join, and the state that the three nodes share. */
typedef struct SlicedPasses
{
	CustomScanState css;
	HashJoinState *join;
	HashState  *hash;
	SlicedJoinSide *inner;
	SlicedJoinSide *outer;
	PlanState  *outer_side;		/* the nodes below them */
	PlanState  *inner_side;
	bool		drops_outer;	/* outer rows without a match are not needed */
	bool		drops_inner;	/* the same for inner rows */
	Oid			outer_table;	/* of the only outer key's column; or InvalidOid */
	int			outer_column;
	bool		outer_inherits;
	bool		is_switching;	/* a rescan is only the next pass */
	bool		is_done;

	MemoryContext mcxt;			/* of all rows and partitions */
	Size		allowed;		/* bytes */
	SlicedTapes tapes;

	/*
	 * if there will be partitions: their number, the bytes for a filter, and the
	 * bytes that both take at once
	 */
	int			to_make;
	Size		filter_room;
	Size		reserve;

	/* the inner side */
	bool		is_loaded;		/* all of it has been read */
	SlicedChunk *first;			/* rows in memory: 'first' is read, 'last' written */
	SlicedChunk *last;
	Size		next;			/* offset of the next row in 'first' */
	Size		memory;			/* bytes that they take in a table */

	/*
	 * 0: all is in memory.  Otherwise the number of partitions; the first 'resident'
	 * are in memory: sliced_is_resident()
	 */
	int			npartitions;
	int			resident;
	bool		has_origin;
	uint32		origin;			/* of a row in partition 0, so it is not empty */
	uint32		kept_mask;		/* not 0: of the rows in memory, keep only */
	uint32		kept_bits;		/* those whose hash has these bits here */
	SlicedPartition *partitions;
	uint32		without_key;	/* inner rows without a key, sent to any partition */
	SlicedCommonKeys common;	/* rows with these stay in memory as well */
	SlicedFilter filter;		/* of inner rows on tapes, if any */
	uint64		asked;			/* how many outer rows were looked up in the filter */
	uint64		dropped;		/* how many of these it dropped */

	/* the outer side */
	TupleTableSlot *first_row;	/* first outer row, taken back from core */
	bool		outer_is_done;

	/* partitions to do, the current one first */
	List	   *queue;
	bool		is_on_tape;		/* the pass is on the current one */

	/*
	 * partitions of a parallel plan, if it is one, and whether this process has
	 * written its share of both sides to them
	 */
	SlicedSides *sides;
	/* add one that no process has taken to the queue; false if there is none */
	bool		(*take) (struct SlicedPasses *passes);
	bool		is_shared_out;
	bool		has_taken;		/* a shared partition, which it joins now */

	/* for EXPLAIN */
	int			max_partitions;
	int			max_resident;
	int			splits;
	SlicedWork	others;		/* of other processes */
} SlicedPasses;

/*
 * The length of a block, if 'n' partitions are written at a time.  All blocks take half
 * of the memory, or more if they would be too short.
 */
static inline uint32
sliced_partition_block(const SlicedPasses *passes, int n)
{
	return sliced_block_length(passes->allowed / 2 / n);
}

/*
 * How many partitions may be written at a time, up to a limit: a power of two.  The
 * shortest blocks take little more than the memory.
 */
static inline int
sliced_partitions_most(const SlicedPasses *passes, int limit)
{
	return sliced_power_of_two((double) passes->allowed / SLICED_BLOCK_MIN / 2 + 1, SLICED_PARTITIONS_MIN, limit);
}

/* Hash the row's keys; false if it has no keys that could match. */
extern bool sliced_row_hash(SlicedJoinSide *side, TupleTableSlot *slot, uint32 *hash);

/* The partition of rows with this hash. */
static inline int
sliced_partition_at(const SlicedPasses *passes, uint32 hash)
{
	return sliced_partition_of(hash ^ passes->origin, passes->npartitions, 0);
}

/* True if rows with this hash are in memory because their partition is. */
static inline bool
sliced_partition_is_resident(const SlicedPasses *passes, uint32 hash)
{
	return sliced_partition_at(passes, hash) < passes->resident && (hash & passes->kept_mask) == passes->kept_bits;
}

/*
 * True if rows with this hash are in memory; inner ones at least while the inner side
 * is read.
 */
static inline bool
sliced_is_resident(const SlicedPasses *passes, uint32 hash)
{
	return sliced_partition_is_resident(passes, hash) || sliced_is_common(&passes->common, hash);
}

/*
 * Decide how many partitions to make if 'rows' inner rows do not fit: 'least' or
 * more, if memory has room.
 */
extern void sliced_expect_partitions(SlicedPasses *passes, double rows, int least);

/* The next inner row for core's table: while the side is read, and once it has been. */
extern TupleTableSlot *sliced_inner_read(SlicedPasses *passes);
extern TupleTableSlot *sliced_inner_kept(SlicedPasses *passes);

/* True if no inner row with this hash is on any tape. */
extern bool sliced_is_filtered(SlicedPasses *passes, uint32 hash);

/* The next row of each side in this pass; NULL after the last. */
extern TupleTableSlot *sliced_inner_next(SlicedPasses *passes);
extern TupleTableSlot *sliced_outer_next(SlicedPasses *passes);

/* Turn to the next partition on tape; false if there is none. */
extern bool sliced_next_partition(SlicedPasses *passes);

/* Add a partition to the queue, as the first one. */
extern SlicedPartition *sliced_add_partition(SlicedPasses *passes);

/* Forget rows, partitions and tapes. */
extern void sliced_passes_reset(SlicedPasses *passes);

#endif
