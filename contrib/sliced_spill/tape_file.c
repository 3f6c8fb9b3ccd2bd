/*
 * tape_file.c
 *	  The files of tapes: unnamed ones of one process, or numbered ones of a set
 *	  that several processes share.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "commands/tablespace.h"
#include "executor/instrument.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "tape_file.h"
#include "utils/wait_event.h"

/* Longer files are not kept for other tapes: they would only take space. */
#define SPARE_MAX		(1024 * 1024)

/* ---- opening and closing ---- */

typedef struct FileName
{
	char		text[40];
} FileName;

/*
 * The set's number is in the name, since core chooses the tablespace by that: not the
 * same one for a process in every set.
 */
static FileName
name_of(const FileSet *set, uint32 process, uint32 side)
{
	FileName	name;

	snprintf(name.text, sizeof(name.text), "%u.%u.%u", process, side, set->number);
	return name;
}

void
sliced_tape_need_file(SlicedTape *tape)
{
	ResourceOwner old = CurrentResourceOwner;
	SlicedTapes *tapes = tape->tapes;

	if (tape->file != 0)
		return;
	if (tape->set == NULL)
	{
		tape->number = ++tapes->ntapes;
		if (tapes->nspare > 0)
		{
			tape->file = tapes->spare[--tapes->nspare];
			return;
		}
		PrepareTempTablespaces();
	}
	else if (tapes->own != 0)
	{
		tape->file = tapes->own;
		return;
	}
	CurrentResourceOwner = tapes->owner;
	tape->file = tape->set == NULL ? OpenTemporaryFile(false) :
		FileSetCreate(tape->set, name_of(tape->set, ParallelWorkerNumber + 1, tape->side).text);
	CurrentResourceOwner = old;
	if (tape->set != NULL)
	{
		tapes->own = tape->file;
		tapes->own_end = 0;
	}
	tapes->files++;
}

void
sliced_tape_close(SlicedTape *tape)
{
	SlicedTapes *tapes = tape->tapes;

	if (tape->file == 0)
		return;
	if (tape->set == NULL && tape->end <= SPARE_MAX && tapes->nspare < SLICED_SPARE_FILES)
		tapes->spare[tapes->nspare++] = tape->file;
	else if (tape->file != tapes->own)
		FileClose(tape->file);
	tape->file = 0;
}

bool
sliced_tape_next_share(SlicedTape *tape)
{
	ResourceOwner old = CurrentResourceOwner;
	FileName	name;

	sliced_tape_close(tape);
	while (tape->next_share < tape->nshares && tape->shares[tape->next_share].last_stored == 0)
		tape->next_share++;
	if (tape->next_share >= tape->nshares)
		return false;
	tape->share = tape->shares[tape->next_share];
	tape->extent = 0;
	tape->number = tape->first + tape->next_share;
	CurrentResourceOwner = tape->tapes->owner;
	name = name_of(tape->set, tape->next_share++, tape->side);
	tape->file = FileSetOpen(tape->set, name.text, O_RDONLY);
	CurrentResourceOwner = old;
	if (tape->file <= 0)
	{
		tape->file = 0;
		ereport(ERROR,
				errcode_for_file_access(),
				errmsg("could not open temporary file \"%s\": %m", name.text));
	}
	return true;
}

/* Otherwise they would go with the set, and not be counted, nor logged. */
void
sliced_tapes_remove_shared(FileSet *set, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
	{
		(void) FileSetDelete(set, name_of(set, i, 0).text, false);
		(void) FileSetDelete(set, name_of(set, i, 1).text, false);
	}
}

/* ---- writing and reading ---- */

static void
count_pages(off_t from, off_t to, int64 *pages)
{
	*pages += (to + BLCKSZ - 1) / BLCKSZ - (from + BLCKSZ - 1) / BLCKSZ;
}

/*
 * Extents of a tape double, so that short tapes leave short holes.  An extent has room
 * for a number of blocks as long as its first.  The block that ends the tape takes no
 * more than it needs.
 */
uint64
sliced_tape_take_room(SlicedTape *tape, uint32 len, uint32 *within)
{
	uint64		result;

	*within = 0;
	if (tape->set == NULL)
	{
		result = tape->end;
		tape->end += len;
		return result;
	}
	if (len > tape->extent_size - tape->extent_used)
	{
		tape->extent = tape->tapes->own_end;
		tape->extent_size = tape->is_ending ? len :
			Max(Min(2 * tape->extent_size, SLICED_EXTENT_MAX) / len, 1) * len;
		tape->extent_used = 0;
		tape->tapes->own_end += tape->extent_size;
	}
	*within = tape->extent_used;
	tape->extent_used += len;
	return tape->extent + *within;
}

void
sliced_tape_prefetch(SlicedTape *tape, uint64 place, uint32 len)
{
	(void) FilePrefetch(tape->file, place, len, WAIT_EVENT_BUFFILE_READ);
}

void
sliced_tape_write(SlicedTape *tape, uint64 place, const char *bytes, Size len)
{
	instr_time	start;
	int			written;

	INSTR_TIME_SET_CURRENT(start);
	errno = 0;
	written = FileWrite(tape->file, unconstify(char *, bytes), len, place, WAIT_EVENT_BUFFILE_WRITE);
	if ((Size) written != len)
	{
		if (errno == 0)
			errno = ENOSPC;
		ereport(ERROR,
				errcode_for_file_access(),
				errmsg("could not write to file \"%s\": %m", FilePathName(tape->file)));
	}
	start = sliced_time_since(start);
	tape->tapes->writing += INSTR_TIME_GET_DOUBLE(start);
	if (track_io_timing)
		INSTR_TIME_ADD(pgBufferUsage.temp_blk_write_time, start);
	count_pages(place, place + len, &pgBufferUsage.temp_blks_written);
}

void
sliced_tape_corrupted(SlicedTape *tape)
{
	ereport(ERROR,
			errcode(ERRCODE_DATA_CORRUPTED),
			errmsg("temporary file \"%s\" is corrupted at byte %lld", FilePathName(tape->file),
				   (long long) tape->begin));
}

void
sliced_tape_read(SlicedTape *tape, char *bytes, Size len)
{
	instr_time	start;
	int			read;

	INSTR_TIME_SET_CURRENT(start);
	read = FileRead(tape->file, bytes, len, tape->at, WAIT_EVENT_BUFFILE_READ);
	if (read < 0)
		ereport(ERROR,
				errcode_for_file_access(),
				errmsg("could not read file \"%s\": %m", FilePathName(tape->file)));
	if ((Size) read != len)
		sliced_tape_corrupted(tape);
	if (track_io_timing)
	{
		start = sliced_time_since(start);
		INSTR_TIME_ADD(pgBufferUsage.temp_blk_read_time, start);
	}
	count_pages(tape->at, tape->at + len, &pgBufferUsage.temp_blks_read);
	tape->at += len;
}
