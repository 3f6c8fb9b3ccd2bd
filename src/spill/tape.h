/*
 * tape.h
 *	  Rows in a temporary file: written once from beginning to end, in compressed
 *	  blocks, and read once.
 * The workers of a parallel plan may write one each, which one of them reads as a whole.
 *
 * Files are core's (storage/fd.c), so temp_tablespaces, temp_file_limit,
 * log_temp_files and cleaning up after errors and crashes are as ever.
 */
#ifndef SLICED_SPILL_TAPE_H
#define SLICED_SPILL_TAPE_H

#include "postgres.h"

#include "access/htup_details.h"
#include "executor/tuptable.h"
#include "portability/instr_time.h"
#include "storage/fd.h"
#include "storage/fileset.h"
#include "utils/resowner.h"

/* Blocks on tape are as long as memory allows for all that are in memory at a time, within these. */
#define SLICED_BLOCK_MIN	(8 * 1024)
#define SLICED_BLOCK_MAX	(64 * 1024)

/* So many files of tapes that are done are kept for others: making and removing one takes as long as writing some. */
#define SLICED_SPARE_FILES	16

/* What the tapes of a node have in common. */
typedef struct SlicedTapes
{
	MemoryContext mcxt;
	ResourceOwner owner;		/* of the files */
	File		spare[SLICED_SPARE_FILES];
	int			nspare;
	uint32		ntapes;			/* that have had a file */
	int			codec;
	int			level;
	bool		adaptive;		/* compress while that is worth its time */
	uint32		block;			/* bytes of rows that are compressed together */
	uint32		for_now;		/* fewer, as there is no room for that yet; 0: there is */
	uint32		longest;		/* row: a block has one at least */
	bool		with_hash;		/* rows have one, where a minimal tuple says nothing */

	/* a block as it is in the file, its header included */
	char	   *stored_bytes;
	Size		stored_room;

	/* rows of one length are compressed word by word, if that makes them shorter */
	bool		by_words;
	uint32		until_trial;	/* of the other way: so many blocks */
	char	   *words;
	Size		words_room;

	/* seconds, and what they were for */
	instr_time	begin;			/* when the first block was compressed */
	double		compressing;
	double		writing;
	uint64		saved;			/* bytes */

	/* for EXPLAIN and statistics */
	uint64		files;
	uint64		rows;
	uint64		raw;
	uint64		stored;
	uint64		raw_as_is;		/* of these: what was not compressed */
	uint64		filtered;		/* rows that need not be written */
} SlicedTapes;

/* Whose they are, for statistics. */
typedef enum SlicedSpiller
{
	SLICED_SPILLING_JOIN = 1,
	SLICED_SPILLING_GROUPS,
	SLICED_SPILLING_SORT
} SlicedSpiller;

/* In front of a block. */
typedef struct SlicedBlockHeader
{
	uint32		stored;			/* bytes in the file */
	uint32		raw;
	uint32		rows;			/* word by word; 0: one after the other, as they are in memory */
	uint32		row_len;
	uint32		codec;
	uint32		checksum;		/* of the header and the stored bytes, at their place */
} SlicedBlockHeader;

/* What one process has put on a tape of several. */
typedef struct SlicedTapePart
{
	off_t		end;			/* of its file; 0: there is none */
	uint64		rows;
	uint64		memory;
} SlicedTapePart;

typedef struct SlicedTape
{
	SlicedTapes *tapes;
	File		file;			/* 0: nothing is on it */
	uint32		number;			/* a file may have been another tape's before */
	FileSet    *set;			/* where others find the file, by its number; or NULL */
	const SlicedTapePart *parts;	/* that are still to be read; their files have consecutive numbers */
	int			nparts;
	off_t		end;
	uint64		rows;
	uint64		memory;			/* what rows take in a hash table */

	/* rows that are not in the file yet, or those of the block that is being read */
	char	   *block;			/* with room for a header in front of it, and one behind */
	uint32		room;
	uint32		used;
	uint32		row_len;		/* of all rows in the block; 0: they differ */
	uint32		next;			/* of the block: the next row */
	off_t		at;				/* of the file: the next block */
	bool		has_header;		/* whose header has been read: 'header' */
	SlicedBlockHeader header;
} SlicedTape;

/* The room that rows of this length take in a hash table, as core counts it; of buckets there are up to twice as many. */
#define SLICED_ROW_MEMORY(len)	(MAXALIGN(len) + 2 * sizeof(void *) + 2 * sizeof(void *))

/* As the setting wants them, with memory from this context. */
extern void sliced_tapes_init(SlicedTapes *tapes, MemoryContext mcxt);

/* All that was in their context is gone, and so are spare files. */
extern void sliced_tapes_reset(SlicedTapes *tapes);

/* The node is done: count what they took. */
extern void sliced_tapes_count(const SlicedTapes *tapes, SlicedSpiller kind);

/* With a hash, if these tapes have any. */
extern void sliced_tape_put(SlicedTape *tape, MinimalTuple row, uint32 hash);
extern void sliced_tape_put_slot(SlicedTape *tape, TupleTableSlot *slot, uint32 hash);

/* All rows have been put.  What they were collected in is freed. */
extern void sliced_tape_finish(SlicedTape *tape);

/* The next row, which is there until the next call; NULL behind the last one. */
extern MinimalTuple sliced_tape_get(SlicedTape *tape);

/* The hash that it was put there with. */
static inline uint32
sliced_tape_hash(const MinimalTupleData *row)
{
	uint32		hash;

	memcpy(&hash, row->mt_padding, sizeof(hash));
	return hash;
}

/* Close the file.  If nobody else knows it, it is gone. */
extern void sliced_tape_free(SlicedTape *tape);

/* ---- of several processes ---- */

/* A tape to write, in a file of the set that has this number. */
extern void sliced_tape_share(SlicedTape *tape, SlicedTapes *tapes, FileSet *set, uint32 number);

/* It is finished: let others have it. */
extern void sliced_tape_hand_over(SlicedTape *tape, SlicedTapePart *part);

/* A tape to read: what all have handed over, in files with numbers from 'first' on. */
extern void sliced_tape_take(SlicedTape *tape, SlicedTapes *tapes, FileSet *set, uint32 first,
							 const SlicedTapePart *parts, int nparts);

/* Free it, and remove what has not been read. */
extern void sliced_tape_remove(SlicedTape *tape);

#endif
