/*
 * tape.h
 *	  Rows in a temporary file.  A tape is written once from beginning to end, in
 *	  compressed blocks, and read once.
 *
 * Each worker of a parallel plan may write a part of a tape, which one process reads
 * as a whole.
 *
 * Files are core's (storage/fd.c), so temp_tablespaces, temp_file_limit,
 * log_temp_files and cleaning up after errors and crashes work as ever.
 */
#ifndef SLICED_SPILL_TAPE_H
#define SLICED_SPILL_TAPE_H

#include "postgres.h"

#include "access/htup_details.h"
#include "executor/tuptable.h"
#include "portability/instr_time.h"
#include "statistics.h"
#include "storage/fd.h"
#include "storage/fileset.h"
#include "utils/resowner.h"

/*
 * Blocks on tape are as long as memory allows for all blocks that are in memory at a
 * time, within these limits.
 */
#define SLICED_BLOCK_MIN	(8 * 1024)
#define SLICED_BLOCK_MAX	(64 * 1024)

/*
 * This many files of finished tapes are kept for other tapes: making and removing a
 * file takes as long as writing some.
 */
#define SLICED_SPARE_FILES	16

/* Time for decompressing, as a part of the time for compressing. */
#define SLICED_DECOMPRESSING	0.4

/* What the tapes of a node have in common. */
typedef struct SlicedTapes
{
	MemoryContext mcxt;
	ResourceOwner owner;		/* of the files */
	File		spare[SLICED_SPARE_FILES];
	int			nspare;
	uint32		ntapes;			/* that have had a file */
	File		own;			/* 0, or this process's file for shared tapes */
	off_t		own_end;
	int			codec;
	int			level;
	bool		adaptive;		/* compress only while it saves time */
	uint32		block;			/* bytes of rows that are compressed together */
	uint32		for_now;		/* fewer, until there is room for that; 0: there is */
	uint32		longest;		/* longest row: a block has one at least */
	bool		with_hash;		/* rows have one, in the tuple header's padding */

	/* a block as it is in the file, including its header */
	char	   *stored_bytes;
	Size		stored_room;

	/* compress rows of equal length word by word if that makes them shorter */
	bool		by_words;
	uint32		until_trial;	/* blocks until we try the other way */
	char	   *words;
	Size		words_room;

	/* seconds spent, and the gain */
	instr_time	begin;			/* when the first block was compressed */
	double		compressing;
	double		writing;
	uint64		saved;			/* bytes */

	/* for EXPLAIN and statistics */
	uint64		files;
	uint64		rows;
	uint64		raw;
	uint64		stored;
	uint64		raw_as_is;		/* the part of it that was not compressed */
	uint64		filtered;		/* rows that need not be written */
} SlicedTapes;

/* In front of a block. */
typedef struct SlicedBlockHeader
{
	/* of a shared tape: the block before it, as in SlicedTapePart */
	uint64		before;
	uint32		before_stored;

	uint32		stored;			/* bytes in the file */
	uint32		raw;
	uint32		rows;			/* stored word by word; 0: whole rows, as in memory */
	uint16		row_len;
	uint16		codec;
	uint32		checksum;		/* of the header and the stored bytes, at their place */
} SlicedBlockHeader;

/*
 * What one process has put on a shared tape.  A process has one file for all shared
 * tapes: files take long to make and remove, and there are many partitions.  So each
 * block of a tape says where the one before it is, and they are read from last to
 * first.
 */
typedef struct SlicedTapePart
{
	uint64		last;			/* where its last block begins */
	uint32		last_stored;	/* bytes of that block without its header; 0: no block */
	uint64		rows;
	uint64		memory;
} SlicedTapePart;

typedef struct SlicedTape
{
	SlicedTapes *tapes;
	File		file;			/* 0: the tape is empty */
	uint32		number;			/* a file may have been another tape's before */
	FileSet    *set;			/* it is shared: has the processes' files, by their numbers */
	SlicedTapePart part;		/* being written, or read */
	const SlicedTapePart *parts;	/* all that was written */
	uint32		nparts;
	uint32		first;			/* number of the tape that was the first part */
	uint32		next_part;		/* to be read, of the process with this number */
	off_t		end;
	uint64		rows;
	uint64		memory;			/* bytes that rows take in a hash table */

	/* rows that are not in the file yet, or rows of the block that is being read */
	char	   *block;			/* with room for a header before and after it */
	uint32		room;
	uint32		used;
	uint32		row_len;		/* of all rows in the block; 0: they differ */
	uint32		next;			/* offset of the next row in the block */
	off_t		at;				/* offset of the next block in the file */
	bool		has_header;		/* that block's header is in 'header' */
	SlicedBlockHeader header;
} SlicedTape;

/*
 * Bytes that a row of this length takes in a hash table, as core counts it.  There
 * are up to twice as many buckets as rows.
 */
#define SLICED_ROW_MEMORY(len)	(MAXALIGN(len) + 2 * sizeof(void *) + 2 * sizeof(void *))

/* Begin tapes as the setting says, with memory from this context. */
extern void sliced_tapes_init(SlicedTapes *tapes, MemoryContext mcxt);

/* The tapes' context was reset: forget its memory, and close spare files. */
extern void sliced_tapes_reset(SlicedTapes *tapes);

/* The node is done: count its tapes in the statistics. */
extern void sliced_tapes_count(const SlicedTapes *tapes, SlicedSpiller kind);

/* Append a row, with its hash if these tapes have hashes. */
extern void sliced_tape_put(SlicedTape *tape, MinimalTuple row, uint32 hash);
extern void sliced_tape_put_slot(SlicedTape *tape, TupleTableSlot *slot, uint32 hash);

/* All rows have been put: write the last block, and free its memory. */
extern void sliced_tape_finish(SlicedTape *tape);

/* Get the next row, valid until the next call; NULL after the last one. */
extern MinimalTuple sliced_tape_get(SlicedTape *tape);

/* The hash that the row was put with. */
static inline uint32
sliced_tape_hash(const MinimalTupleData *row)
{
	uint32		hash;

	memcpy(&hash, row->mt_padding, sizeof(hash));
	return hash;
}

/*
 * Close the file, or keep it for another tape.  The rows are gone unless the tape is
 * shared.
 */
extern void sliced_tape_free(SlicedTape *tape);

/* ---- tapes of several processes ---- */

/* Begin a tape to write.  No other tape of the set has this number. */
extern void sliced_tape_share(SlicedTape *tape, SlicedTapes *tapes, FileSet *set, uint32 number);

/* Finish the tape and hand it over to the other processes. */
extern void sliced_tape_hand_over(SlicedTape *tape, SlicedTapePart *part);

/* All tapes have been handed over. */
extern void sliced_tapes_end_sharing(SlicedTapes *tapes);

/* All processes have read all tapes: remove the files of 'n' processes. */
extern void sliced_tapes_remove_shared(FileSet *set, uint32 n);

/* Begin to read all that was handed over, of tapes numbered from 'first'. */
extern void sliced_tape_take(SlicedTape *tape, SlicedTapes *tapes, FileSet *set, uint32 first,
							 const SlicedTapePart *parts, uint32 nparts);

#endif
