/*
 * partitions.h
 *	  The two sides of a hash join that does not fit in memory, in partitions: see spill.h.
 */
#ifndef SLICED_SPILL_PARTITIONS_H
#define SLICED_SPILL_PARTITIONS_H

#include "postgres.h"

#include "lib/bloomfilter.h"
#include "nodes/execnodes.h"
#include "spill/common.h"
#include "spill/tape.h"

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

	/* the inner side, once it has been read */
	bool		is_loaded;
	SlicedChunk *first;			/* rows in memory: 'first' is read, 'last' written */
	SlicedChunk *last;
	Size		next;			/* of 'first': the next row */
	Size		memory;			/* what they take in a table */

	/* 0: all is in memory; or else so many, of which the first 'resident' are */
	int			npartitions;
	int			resident;
	SlicedPartition *partitions;
	uint32		without_key;	/* inner rows that went to any partition */
	SlicedCommonKeys common;	/* rows with these stay in memory as well */
	bloom_filter *filter;		/* hashes of inner rows on tapes; or NULL */
	Size		filter_bytes;
	uint64		asked;			/* the filter, of outer rows */
	uint64		dropped;		/* by it */

	/* the outer side */
	TupleTableSlot *first_row;	/* the slot with its first row, not looked at yet */
	bool		outer_is_done;

	/* partitions to do, the current one first */
	List	   *queue;
	bool		is_on_tape;		/* the pass is that of the current one */

	/* for EXPLAIN */
	int			max_partitions;
	int			max_resident;
	int			splits;
} SlicedPasses;

/* Hash the row's keys; false if it has none that could match. */
extern bool sliced_row_hash(SlicedPart *part, TupleTableSlot *slot, uint32 *hash);

/* Read the inner side, to memory and, if need be, to partitions. */
extern void sliced_inner_load(SlicedPasses *passes);

/* The next row of each side in this pass; NULL behind the last. */
extern TupleTableSlot *sliced_inner_next(SlicedPasses *passes);
extern TupleTableSlot *sliced_outer_next(SlicedPasses *passes);

/* Turn to the next partition on tape; false if there is none. */
extern bool sliced_next_partition(SlicedPasses *passes);

/* Forget rows, partitions and tapes. */
extern void sliced_passes_reset(SlicedPasses *passes);

#endif
