/*
 * partitions.h
 *	  The two sides of a hash join that does not fit in memory, in partitions: see spill.h.
 */
#ifndef SLICED_SPILL_PARTITIONS_H
#define SLICED_SPILL_PARTITIONS_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "spill/common.h"
#include "spill/filter.h"
#include "spill/node.h"
#include "spill/tape.h"

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
typedef struct SlicedPart
{
	CustomScanState css;
	struct SlicedPasses *passes;
	bool		is_inner;
	SlicedKeys	keys;
	TupleTableSlot *slot;		/* for rows from memory and tapes */
} SlicedPart;

/* The rows of one partition, both sides, on tape. */
typedef struct SlicedPartition
{
	SlicedTape	inner;
	SlicedTape	outer;
	int			depth;			/* how often it was split */
} SlicedPartition;

/* In the shared memory of a parallel plan: sides.c. */
typedef struct SlicedSides SlicedSides;

/* What processes have written, for EXPLAIN. */
typedef struct SlicedShares
{
	int			splits;
	uint64		rows;
	uint64		raw;
	uint64		stored;
	uint64		filtered;
} SlicedShares;

/* Rows in memory, in chunks. */
typedef struct SlicedChunk
{
	struct SlicedChunk *next;
	Size		room;
	Size		used;
	char		data[FLEXIBLE_ARRAY_MEMBER];
} SlicedChunk;

/* The node above the join, and what the three share. */
typedef struct SlicedPasses
{
	CustomScanState css;
	HashJoinState *join;
	HashState  *hash;
	SlicedPart *inner;
	SlicedPart *outer;
	PlanState  *outer_side;		/* what is below them */
	PlanState  *inner_side;
	bool		drops_outer;	/* outer rows without a match are of no use */
	bool		drops_inner;	/* the same of inner ones */
	Oid			outer_table;	/* whose column the only outer key is; or InvalidOid */
	int			outer_column;
	bool		outer_inherits;
	bool		is_switching;	/* a rescan is no more than the next pass */
	bool		is_done;

	MemoryContext mcxt;			/* of all rows and partitions */
	Size		allowed;		/* bytes */
	SlicedTapes tapes;

	/* if there will be partitions: so many, with so many bytes for a filter; what is taken at once */
	int			to_make;
	Size		filter_room;
	Size		reserve;

	/* the inner side */
	bool		is_loaded;		/* all of it has been read */
	SlicedChunk *first;			/* rows in memory: 'first' is read, 'last' written */
	SlicedChunk *last;
	Size		next;			/* of 'first': the next row */
	Size		memory;			/* what they take in a table */

	/* 0: all is in memory; or else so many, of which the first 'resident' are: sliced_is_resident() */
	int			npartitions;
	int			resident;
	bool		has_origin;
	uint32		origin;			/* hash of a row that the first partition has, so it is not empty */
	uint32		kept_mask;		/* not 0: of those in memory, only rows whose hash has */
	uint32		kept_bits;		/* these bits here are */
	SlicedPartition *partitions;
	uint32		without_key;	/* inner rows that went to any partition */
	SlicedCommonKeys common;	/* rows with these stay in memory as well */
	SlicedFilter filter;		/* of inner rows on tapes, if any */
	uint64		asked;			/* the filter, of outer rows */
	uint64		dropped;		/* by it */

	/* the outer side */
	TupleTableSlot *first_row;	/* the slot with its first row, taken back from core */
	bool		outer_is_done;

	/* partitions to do, the current one first */
	List	   *queue;
	bool		is_on_tape;		/* the pass is that of the current one */

	/* partitions of a parallel plan, if it is one; is this process's share of both sides in them? */
	SlicedSides *sides;
	bool		is_shared_out;

	/* for EXPLAIN */
	int			max_partitions;
	int			max_resident;
	int			splits;
	SlicedShares others;		/* of other processes */
} SlicedPasses;

/* Hash the row's keys; false if it has none that could match. */
extern bool sliced_row_hash(SlicedPart *part, TupleTableSlot *slot, uint32 *hash);

/* The partition of rows with this hash. */
static inline int
sliced_partition_at(const SlicedPasses *passes, uint32 hash)
{
	return sliced_partition_of(hash ^ passes->origin, passes->npartitions, 0);
}

/* Are rows with this hash in memory, for their partition's sake? */
static inline bool
sliced_partition_is_resident(const SlicedPasses *passes, uint32 hash)
{
	return sliced_partition_at(passes, hash) < passes->resident && (hash & passes->kept_mask) == passes->kept_bits;
}

/* Are rows with this hash in memory, or at least inner ones while the inner side is read? */
static inline bool
sliced_is_resident(const SlicedPasses *passes, uint32 hash)
{
	return sliced_partition_is_resident(passes, hash) || sliced_is_common(&passes->common, hash);
}

/* What partitions there will be, if there are some, of so many inner rows; so many at least, if memory has room. */
extern void sliced_expect_partitions(SlicedPasses *passes, double rows, int least);

/* A row of the inner side for core's table: as long as it has not been read, and then. */
extern TupleTableSlot *sliced_inner_read(SlicedPasses *passes);
extern TupleTableSlot *sliced_inner_kept(SlicedPasses *passes);

/* Is there no inner row with this hash on any tape? */
extern bool sliced_is_filtered(SlicedPasses *passes, uint32 hash);

/* The next row of each side in this pass; NULL behind the last. */
extern TupleTableSlot *sliced_inner_next(SlicedPasses *passes);
extern TupleTableSlot *sliced_outer_next(SlicedPasses *passes);

/* Turn to the next partition on tape; false if there is none. */
extern bool sliced_next_partition(SlicedPasses *passes);

/* Forget rows, partitions and tapes. */
extern void sliced_passes_reset(SlicedPasses *passes);

#endif
