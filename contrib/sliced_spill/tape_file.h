/*
 * tape_file.h
 *	  What a tape is, and its files.
 */
#ifndef SLICED_SPILL_TAPE_FILE_H
#define SLICED_SPILL_TAPE_FILE_H

#include "postgres.h"

#include "base/compat.h"
#include "portability/instr_time.h"
#include "storage/fd.h"
#include "storage/fileset.h"
#include "utils/resowner.h"

/*
 * This many files of finished tapes are kept for other tapes: making and removing a
 * file takes as long as writing some.
 */
#define SLICED_SPARE_FILES	16

/*
 * The longest extent of a shared tape, if its blocks are not longer: two full blocks
 * with their headers.
 */
#define SLICED_EXTENT_MAX	(132 * 1024)

/* What the tapes of a node have in common. */
typedef struct SlicedTapes
{
	MemoryContext mcxt;
	ResourceOwner owner;		/* of the files */
	File		spare[SLICED_SPARE_FILES];
	int			nspare;
	uint32		ntapes;			/* that have had a file */
	File		own;			/* 0, or this process's file for shared tapes of a side */
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
	/* of a shared tape: the block before it, as in SlicedTapeShare */
	uint64		before;
	uint32		before_stored;
	uint32		within;			/* bytes of its extent before this block */

	uint32		stored;			/* bytes in the file */
	uint32		raw;
	uint32		rows;			/* stored word by word; 0: whole rows, as in memory */
	uint32		row_len;
	uint32		codec;
	uint32		checksum;		/* of the header and the stored bytes, at their place */
} SlicedBlockHeader;

/*
 * What one process has put on a shared tape.  A process has one file for all shared
 * tapes of a side: files take long to make and remove, and there are many partitions,
 * but temp_file_limit counts what is open for writing.  So each
 * block of a tape says where the one before it is, and they are read from last to
 * first.  A tape takes room for its blocks by the extent, so that they lie together.
 */
typedef struct SlicedTapeShare
{
	uint64		last;			/* where its last block begins */
	uint32		last_stored;	/* bytes of that block without its header; 0: no block */
	uint64		rows;
	uint64		memory;
} SlicedTapeShare;

typedef struct SlicedTape
{
	SlicedTapes *tapes;
	File		file;			/* 0: the tape is empty */
	uint32		number;			/* a file may have been another tape's before */
	FileSet    *set;			/* it is shared: has the processes' files */
	uint32		side;			/* of the join, 0 or 1: which of a process's files */
	SlicedTapeShare share;		/* being written, or read */
	bool		is_ending;		/* the last block is being written */
	uint64		extent;			/* where the last extent begins that was taken, or read ahead */
	uint32		extent_used;
	uint32		extent_size;
	const SlicedTapeShare *shares;	/* all that was written */
	uint32		nshares;
	uint32		first;			/* number of the tape that was the first share */
	uint32		next_share;		/* to be read, of the process with this number */
	off_t		end;
	uint64		rows;
	uint64		memory;			/* bytes that rows take in a hash table */

	/* rows that are not in the file yet, or rows of the block that is being read */
	char	   *block;			/* with room for a header before and after it */
	uint32		room;
	uint32		used;
	uint32		row_len;		/* of all rows in the block; 0: they differ */
	uint32		next;			/* offset of the next row in the block */
	off_t		begin;			/* where the block that is being read begins in the file */
	off_t		at;				/* where the next bytes to be read are */
	bool		has_header;		/* that block's header is in 'header' */
	SlicedBlockHeader header;
} SlicedTape;

static inline instr_time
sliced_time_since(instr_time start)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, start);
	return now;
}

/* Give the tape a file, unless it has one. */
extern void sliced_tape_need_file(SlicedTape *tape);

/*
 * Take room for the next 'len' bytes of the tape, and return where it is.  '*within'
 * says how much of an extent of the tape is before it.
 */
extern uint64 sliced_tape_take_room(SlicedTape *tape, uint32 len, uint32 *within);

/* Write there. */
extern void sliced_tape_write(SlicedTape *tape, uint64 place, const char *bytes, Size len);

/* Bytes [place, place + len) will be read soon. */
extern void sliced_tape_prefetch(SlicedTape *tape, uint64 place, uint32 len);

/* Read from where the last call has ended. */
extern void sliced_tape_read(SlicedTape *tape, char *bytes, Size len);

/* Fail: we read something else than we wrote. */
pg_noreturn extern void sliced_tape_corrupted(SlicedTape *tape);

/* Turn to the next share that is not empty, if the tape is shared; false if there is none. */
extern bool sliced_tape_next_share(SlicedTape *tape);

extern void sliced_tape_close(SlicedTape *tape);

/* All processes have read all tapes: remove the files of 'n' processes. */
extern void sliced_tapes_remove_shared(FileSet *set, uint32 n);

#endif
