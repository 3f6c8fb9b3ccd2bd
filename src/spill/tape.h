/*
 * tape.h
 *	  Rows in a temporary file: written once from beginning to end, in compressed
 *	  blocks, and read once.
 *
 * The file is core's (storage/fd.c), so temp_tablespaces, temp_file_limit,
 * log_temp_files and cleaning up after errors and crashes are as ever.
 */
#ifndef SLICED_SPILL_TAPE_H
#define SLICED_SPILL_TAPE_H

#include "postgres.h"

#include "access/htup_details.h"
#include "storage/fd.h"
#include "utils/resowner.h"

/* What the tapes of a node have in common. */
typedef struct SlicedTapes
{
	MemoryContext mcxt;
	ResourceOwner owner;		/* of the files */
	int			codec;
	int			level;
	bool		adaptive;		/* do not compress what does not shrink */
	uint32		block;			/* bytes of rows that are compressed together */

	/* what a block is compressed to, and read from */
	char	   *scratch;
	Size		scratch_room;

	/* blocks that were left as they are, one after the other; blocks to pass over until the next try */
	int			in_vain;
	int			pause;

	/* for EXPLAIN */
	uint64		rows;
	uint64		raw;
	uint64		stored;
} SlicedTapes;

typedef struct SlicedTape
{
	SlicedTapes *tapes;
	File		file;			/* 0: nothing is on it */
	off_t		end;
	uint64		rows;
	uint64		memory;			/* what rows take in a hash table */

	/* rows that are not in the file yet, or the block that is being read */
	char	   *block;
	uint32		room;
	uint32		used;
	uint32		next;			/* of the block: the next row */
	off_t		at;				/* of the file: the next block */
	MinimalTuple row;			/* the last one read */
	uint32		row_room;
} SlicedTape;

/* The room that rows of this length take in a hash table, as core counts it. */
#define SLICED_ROW_MEMORY(len)	(MAXALIGN(len) + 2 * sizeof(void *) + sizeof(void *))

extern void sliced_tape_put(SlicedTape *tape, MinimalTuple row);

/* All rows have been put.  What they were collected in is freed. */
extern void sliced_tape_finish(SlicedTape *tape);

/* The next row, which is there until the next call; NULL behind the last one. */
extern MinimalTuple sliced_tape_get(SlicedTape *tape);

/* Close and remove the file. */
extern void sliced_tape_free(SlicedTape *tape);

#endif
