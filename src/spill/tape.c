/*
 * tape.c
 *	  Rows in a temporary file, in compressed blocks.
 */
#include "postgres.h"

#include "codec/codec.h"
#include "commands/tablespace.h"
#include "executor/instrument.h"
#include "format/checksum.h"
#include "pgstat.h"
#include "spill/tape.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

/* A row's length, and its bytes from here on: what is before says nothing. */
#define ROW_START		MINIMAL_TUPLE_DATA_OFFSET
#define ROW_HEADER		sizeof(uint32)

/* After so many blocks that did not shrink, twice as many are not tried. */
#define TRY_AGAIN_AFTER	8
#define PAUSE_AT_MOST	64

/* In front of a block. */
typedef struct BlockHeader
{
	uint32		stored;			/* bytes in the file */
	uint32		raw;
	uint32		codec;
	uint32		checksum;		/* of the stored bytes, at their place */
} BlockHeader;

static void
need_scratch(SlicedTapes *tapes, Size room)
{
	if (tapes->scratch_room >= room)
		return;
	if (tapes->scratch != NULL)
		pfree(tapes->scratch);
	tapes->scratch = MemoryContextAllocHuge(tapes->mcxt, room);
	tapes->scratch_room = room;
}

/* ---- writing ---- */

static void
count_pages(off_t from, off_t to, int64 *pages)
{
	*pages += (to + BLCKSZ - 1) / BLCKSZ - (from + BLCKSZ - 1) / BLCKSZ;
}

static void
write_bytes(SlicedTape *tape, const char *bytes, Size len)
{
	int			written;

	errno = 0;
	written = FileWrite(tape->file, unconstify(char *, bytes), len, tape->end, WAIT_EVENT_BUFFILE_WRITE);
	if (written < 0 || (Size) written != len)
	{
		if (errno == 0)
			errno = ENOSPC;
		ereport(ERROR,
				errcode_for_file_access(),
				errmsg("could not write to file \"%s\": %m", FilePathName(tape->file)));
	}
	count_pages(tape->end, tape->end + len, &pgBufferUsage.temp_blks_written);
	tape->end += len;
}

static void
create_file(SlicedTape *tape)
{
	ResourceOwner old = CurrentResourceOwner;

	PrepareTempTablespaces();
	CurrentResourceOwner = tape->tapes->owner;
	tape->file = OpenTemporaryFile(false);
	CurrentResourceOwner = old;
}

/* Compress the block to the scratch, behind room for a header; 0: it stays as it is. */
static uint32
compress_block(SlicedTape *tape)
{
	SlicedTapes *tapes = tape->tapes;
	uint32		stored;

	if (tapes->codec == SLICED_CODEC_NONE || (tapes->pause > 0 && tapes->pause-- > 0))
		return 0;
	stored = sliced_codec_try(tapes->codec, tape->block, tape->used,
							  tapes->scratch + sizeof(BlockHeader), tapes->level, NULL);
	if (stored > 0)
		tapes->in_vain = 0;
	else if (++tapes->in_vain >= TRY_AGAIN_AFTER && tapes->adaptive)
		tapes->pause = Min(2 * tapes->in_vain, PAUSE_AT_MOST);
	return stored;
}

static void
write_block(SlicedTape *tape)
{
	SlicedTapes *tapes = tape->tapes;
	BlockHeader *header;
	uint32		stored;

	if (tape->file == 0)
		create_file(tape);
	need_scratch(tapes, sizeof(BlockHeader) + SLICED_COMPRESS_ROOM(tape->used));
	stored = compress_block(tape);
	header = (BlockHeader *) tapes->scratch;
	header->codec = stored > 0 ? tapes->codec : SLICED_CODEC_NONE;
	header->raw = tape->used;
	if (stored == 0)
	{
		stored = tape->used;
		memcpy(tapes->scratch + sizeof(BlockHeader), tape->block, stored);
	}
	header->stored = stored;
	header->checksum = sliced_checksum(tapes->scratch + sizeof(BlockHeader), stored, tape->end);
	write_bytes(tape, tapes->scratch, sizeof(BlockHeader) + stored);
	tapes->raw += tape->used;
	tapes->stored += sizeof(BlockHeader) + stored;
	tape->used = 0;
}

void
sliced_tape_put(SlicedTape *tape, MinimalTuple row)
{
	uint32		len = row->t_len - ROW_START;
	uint32		size = ROW_HEADER + len;

	if (tape->used > 0 && size > tape->room - tape->used)
		write_block(tape);
	if (size > tape->room)
	{
		if (tape->block != NULL)
			pfree(tape->block);
		tape->room = Max(size, tape->tapes->block);
		tape->block = MemoryContextAllocHuge(tape->tapes->mcxt, tape->room);
	}
	memcpy(tape->block + tape->used, &row->t_len, ROW_HEADER);
	memcpy(tape->block + tape->used + ROW_HEADER, (char *) row + ROW_START, len);
	tape->used += size;
	tape->rows++;
	tape->memory += SLICED_ROW_MEMORY(row->t_len);
	tape->tapes->rows++;
	/* a long row does not keep its room */
	if (tape->room > tape->tapes->block)
	{
		write_block(tape);
		pfree(tape->block);
		tape->block = NULL;
		tape->room = 0;
	}
}

void
sliced_tape_finish(SlicedTape *tape)
{
	if (tape->used > 0)
		write_block(tape);
	if (tape->block != NULL)
		pfree(tape->block);
	tape->block = NULL;
	tape->room = 0;
}

/* ---- reading ---- */

static void
corrupted(SlicedTape *tape)
{
	ereport(ERROR,
			errcode(ERRCODE_DATA_CORRUPTED),
			errmsg("temporary file \"%s\" is corrupted at byte %lld", FilePathName(tape->file),
				   (long long) tape->at));
}

static void
read_bytes(SlicedTape *tape, char *bytes, Size len)
{
	int			read = FileRead(tape->file, bytes, len, tape->at, WAIT_EVENT_BUFFILE_READ);

	if (read < 0)
		ereport(ERROR,
				errcode_for_file_access(),
				errmsg("could not read file \"%s\": %m", FilePathName(tape->file)));
	if ((Size) read != len)
		corrupted(tape);
	count_pages(tape->at, tape->at + len, &pgBufferUsage.temp_blks_read);
	tape->at += len;
}

static void
read_block(SlicedTape *tape)
{
	SlicedTapes *tapes = tape->tapes;
	BlockHeader header;
	const SlicedCodec *codec;

	read_bytes(tape, (char *) &header, sizeof(header));
	codec = sliced_codec_get(header.codec);
	if (codec == NULL || header.stored > tape->end - tape->at || header.raw < ROW_HEADER)
		corrupted(tape);
	need_scratch(tapes, header.stored);
	if (tape->room < header.raw)
	{
		if (tape->block != NULL)
			pfree(tape->block);
		tape->block = MemoryContextAllocHuge(tapes->mcxt, Max(header.raw, tapes->block));
		tape->room = Max(header.raw, tapes->block);
	}
	read_bytes(tape, tapes->scratch, header.stored);
	if (sliced_checksum(tapes->scratch, header.stored, tape->at - header.stored - sizeof(header)) != header.checksum ||
		!codec->decompress(tapes->scratch, header.stored, tape->block, header.raw, header.raw, NULL))
		corrupted(tape);
	tape->used = header.raw;
	tape->next = 0;
}

MinimalTuple
sliced_tape_get(SlicedTape *tape)
{
	uint32		len;

	if (tape->next == tape->used)
	{
		if (tape->at == tape->end)
			return NULL;
		read_block(tape);
	}
	memcpy(&len, tape->block + tape->next, ROW_HEADER);
	if (len < SizeofMinimalTupleHeader || len - ROW_START > tape->used - tape->next - ROW_HEADER)
		corrupted(tape);
	if (tape->row_room < len)
	{
		if (tape->row != NULL)
			pfree(tape->row);
		tape->row_room = Max(len, 1024);
		tape->row = MemoryContextAllocHuge(tape->tapes->mcxt, tape->row_room);
	}
	memset(tape->row, 0, ROW_START);
	tape->row->t_len = len;
	memcpy((char *) tape->row + ROW_START, tape->block + tape->next + ROW_HEADER, len - ROW_START);
	tape->next += ROW_HEADER + len - ROW_START;
	return tape->row;
}

void
sliced_tape_free(SlicedTape *tape)
{
	if (tape->file != 0)
		FileClose(tape->file);
	if (tape->block != NULL)
		pfree(tape->block);
	if (tape->row != NULL)
		pfree(tape->row);
	memset(tape, 0, sizeof(*tape));
}
