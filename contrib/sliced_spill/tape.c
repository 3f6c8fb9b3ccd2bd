/*
 * tape.c
 *	  Rows in a temporary file, in compressed blocks.
 */
#include "postgres.h"

#include "codec/codec.h"
#include "format/checksum.h"
#include "pgstat.h"
#include "spill.h"
#include "storage/bufmgr.h"
#include "tape.h"
#include "tape_file.h"
#include "utils/memutils.h"

typedef uint32 Word;

/* Before this, a row has only its length, and possibly a hash. */
#define ROW_START		8
#define HASH_START		4

StaticAssertDecl(offsetof(MinimalTupleData, mt_padding) == HASH_START &&
				 ROW_START <= MINIMAL_TUPLE_DATA_OFFSET, "there is room for a hash in front of a row");

/* Rows of equal length are stored word by word if they have at most this many words. */
#define WORDS_MAX		64

/* Blocks until we try the other way again. */
#define TRY_AGAIN_AFTER	64

/* The time that compressing may lose, as a part of all time that has passed. */
#define MAY_LOSE		0.01

#define HEADER			sizeof(SlicedBlockHeader)

static void
need_room(SlicedTapes *tapes, char **buffer, Size *has, Size room)
{
	if (*has >= room)
		return;
	if (*buffer != NULL)
		pfree(*buffer);
	*has = 0;
	*buffer = MemoryContextAllocHuge(tapes->mcxt, room);
	*has = room;
}

static void
drop_block(SlicedTape *tape)
{
	if (tape->block != NULL)
		pfree(tape->block - HEADER);
	tape->block = NULL;
	tape->room = 0;
}

static void
new_block(SlicedTape *tape, uint32 room)
{
	drop_block(tape);
	tape->block = (char *) MemoryContextAllocHuge(tape->tapes->mcxt, HEADER + (Size) room + HEADER) + HEADER;
	tape->room = room;
}

/* The room that a block needs for its rows, if one of them has this length. */
static uint32
block_room(const SlicedTapes *tapes, uint32 len)
{
	return Max(len, tapes->for_now > 0 ? tapes->for_now : tapes->block);
}

/*
 * The checksum depends on the tape and the block's place, so we do not mistake an
 * older block in the same file for this one.
 */
static uint32
block_checksum(const SlicedTape *tape, SlicedBlockHeader *header, off_t place)
{
	uint32		kept = header->checksum;
	uint32		result;

	header->checksum = 0;
	result = sliced_checksum((char *) header, sizeof(*header) + header->stored,
							 (uint64) place ^ (uint64) tape->number << 32);
	header->checksum = kept;
	return result;
}

static double
seconds_since(instr_time start)
{
	instr_time	time = sliced_time_since(start);

	return INSTR_TIME_GET_DOUBLE(time);
}

/* ---- rows of one length: first words first ---- */

static uint32
row_start(const SlicedTapes *tapes)
{
	return tapes->with_hash ? HASH_START : ROW_START;
}

static uint32
words_of(const SlicedTapes *tapes, uint32 row_len)
{
	return (MAXALIGN(row_len) - row_start(tapes)) / sizeof(Word);
}

static void
rows_to_words(const SlicedTapes *tapes, const char *rows, uint32 n, uint32 row_len, Word *to)
{
	for (uint32 word = 0; word < words_of(tapes, row_len); word++)
	{
		const char *from = rows + row_start(tapes) + word * sizeof(Word);

		for (uint32 i = 0; i < n; i++, from += MAXALIGN(row_len))
			*to++ = *(const Word *) from;
	}
}

static void
words_to_rows(const SlicedTapes *tapes, const Word *from, uint32 n, uint32 row_len, char *rows)
{
	for (uint32 i = 0; i < n; i++)
	{
		MinimalTuple row = (MinimalTuple) (rows + i * MAXALIGN(row_len));

		memset(row, 0, ROW_START);
		row->t_len = row_len;
	}
	for (uint32 word = 0; word < words_of(tapes, row_len); word++)
	{
		char	   *to = rows + row_start(tapes) + word * sizeof(Word);

		for (uint32 i = 0; i < n; i++, to += MAXALIGN(row_len))
			*(Word *) to = *from++;
	}
}

/* ---- all tapes of a node ---- */

void
sliced_tapes_init(SlicedTapes *tapes, MemoryContext mcxt)
{
	int			setting = sliced_temp_file_compression;

	memset(tapes, 0, sizeof(*tapes));
	tapes->mcxt = mcxt;
	tapes->owner = CurrentResourceOwner;
	tapes->adaptive = setting == SLICED_TEMP_FILES_AUTO;
	tapes->codec = tapes->adaptive ? SLICED_CODEC_LZ4 :
		setting == SLICED_TEMP_FILES_OFF ? SLICED_CODEC_NONE : setting;
	tapes->level = 1;
	tapes->by_words = true;
}

void
sliced_tapes_reset(SlicedTapes *tapes)
{
	while (tapes->nspare > 0)
		FileClose(tapes->spare[--tapes->nspare]);
	sliced_tapes_end_sharing(tapes);
	tapes->stored_bytes = tapes->words = NULL;
	tapes->stored_room = tapes->words_room = 0;
}

void
sliced_tapes_count(const SlicedTapes *tapes, SlicedSpiller kind)
{
	uint64		counts[SLICED_N_SPILL_COUNTERS];

	if (tapes->files == 0 && tapes->filtered == 0)
		return;
	counts[SLICED_SPILLS] = 1;
	counts[SLICED_SPILLED_FILES] = tapes->files;
	counts[SLICED_SPILLED_ROWS] = tapes->rows;
	counts[SLICED_FILTERED_ROWS] = tapes->filtered;
	counts[SLICED_SPILLED_RAW] = tapes->raw;
	counts[SLICED_SPILLED_STORED] = tapes->stored;
	counts[SLICED_SPILLED_AS_IS] = tapes->raw_as_is;
	counts[SLICED_COMPRESS_TIME] = tapes->compressing * 1000000;
	counts[SLICED_WRITE_TIME] = tapes->writing * 1000000;
	sliced_spill_count(kind, counts);
}

/* ---- writing ---- */

/*
 * True if compressing has cost no more time than it has saved, except for a small
 * part of all time that has passed.  So it goes on where writing is slow.  It stops
 * where writing is fast or rows do not shrink, and is tried again now and then.  We
 * assume that reading is as fast as writing.
 */
static bool
is_worth_its_time(const SlicedTapes *tapes)
{
	double		lost = tapes->compressing * (1 + SLICED_DECOMPRESSING);

	if (tapes->stored > 0)
		lost -= 2 * tapes->writing * tapes->saved / tapes->stored;
	return lost <= 0 || lost <= MAY_LOSE * seconds_since(tapes->begin);
}

/*
 * Compress the block, after room for its header.  Returns the length, 0 if not
 * shorter.
 */
static uint32
compress_rows(SlicedTape *tape, bool by_words)
{
	SlicedTapes *tapes = tape->tapes;
	uint32		n;
	uint32		len;

	if (!by_words)
		return sliced_codec_try(tapes->codec, tape->block, tape->used,
								tapes->stored_bytes + HEADER, tapes->level, NULL);
	n = tape->used / MAXALIGN(tape->row_len);
	len = n * words_of(tapes, tape->row_len) * sizeof(Word);
	need_room(tapes, &tapes->words, &tapes->words_room, len);
	rows_to_words(tapes, tape->block, n, tape->row_len, (Word *) tapes->words);
	return sliced_codec_try(tapes->codec, tapes->words, len,
							tapes->stored_bytes + HEADER, tapes->level, NULL);
}

/* The same, in the better one of two ways. */
static uint32
compress_block(SlicedTape *tape, bool *by_words)
{
	SlicedTapes *tapes = tape->tapes;
	uint32		stored;
	uint32		other;

	*by_words = false;
	if (tape->row_len == 0 || words_of(tapes, tape->row_len) > WORDS_MAX)
		return compress_rows(tape, false);
	*by_words = tapes->by_words;
	stored = compress_rows(tape, *by_words);
	if (tapes->until_trial-- > 0)
		return stored;
	tapes->until_trial = TRY_AGAIN_AFTER;
	other = compress_rows(tape, !*by_words);
	if (other > 0 && (stored == 0 || other < stored))
	{
		tapes->by_words = *by_words = !*by_words;
		return other;
	}
	return compress_rows(tape, *by_words);
}

static void
write_block(SlicedTape *tape)
{
	SlicedTapes *tapes = tape->tapes;
	SlicedBlockHeader *header;
	char	   *bytes;
	uint32		stored = 0;
	bool		by_words = false;

	sliced_tape_need_file(tape);
	need_room(tapes, &tapes->stored_bytes, &tapes->stored_room, HEADER + SLICED_COMPRESS_ROOM(tape->used));
	if (INSTR_TIME_IS_ZERO(tapes->begin))
		INSTR_TIME_SET_CURRENT(tapes->begin);
	if (tapes->codec != SLICED_CODEC_NONE && (!tapes->adaptive || is_worth_its_time(tapes)))
	{
		instr_time	start;

		INSTR_TIME_SET_CURRENT(start);
		stored = compress_block(tape, &by_words);
		tapes->compressing += seconds_since(start);
	}
	bytes = stored > 0 ? tapes->stored_bytes : tape->block - HEADER;
	header = (SlicedBlockHeader *) bytes;
	header->codec = stored > 0 ? tapes->codec : SLICED_CODEC_NONE;
	header->row_len = stored > 0 && by_words ? tape->row_len : 0;
	header->rows = header->row_len > 0 ? tape->used / MAXALIGN(tape->row_len) : 0;
	header->raw = header->rows > 0 ? header->rows * words_of(tapes, tape->row_len) * sizeof(Word) : tape->used;
	if (stored == 0)
		tapes->raw_as_is += stored = tape->used;
	header->stored = stored;
	header->before = tape->share.last;
	header->before_stored = tape->share.last_stored;
	tape->share.last = sliced_tape_take_room(tape, HEADER + stored, &header->within);
	tape->share.last_stored = stored;
	header->checksum = block_checksum(tape, header, tape->share.last);
	sliced_tape_write(tape, tape->share.last, bytes, HEADER + stored);
	tapes->saved += tape->used - stored;
	tapes->raw += tape->used;
	tapes->stored += HEADER + stored;
	tape->used = 0;
	/* a long row does not keep its room, and a block does not stay short */
	if (tape->room != block_room(tapes, 0))
		drop_block(tape);
}

/*
 * Make room for a row of this length at the end of a block, with its last bytes zero.
 */
static MinimalTuple
add_row(SlicedTape *tape, uint32 len)
{
	uint32		size = MAXALIGN(len);
	char	   *to;

	if (tape->used > 0 && size > tape->room - tape->used)
		write_block(tape);
	if (size > tape->room)
		new_block(tape, block_room(tape->tapes, size));
	to = tape->block + tape->used;
	memset(to + size - sizeof(uint64), 0, sizeof(uint64));
	tape->row_len = tape->used == 0 || tape->row_len == len ? len : 0;
	tape->used += size;
	tape->rows++;
	tape->memory += SLICED_ROW_MEMORY(len);
	tape->tapes->longest = Max(tape->tapes->longest, size);
	tape->tapes->rows++;
	return (MinimalTuple) to;
}

/* The row has been filled in. */
static void
end_row(SlicedTape *tape, MinimalTuple row, uint32 hash)
{
	/* the padding may contain anything */
	memset(row->mt_padding, 0, sizeof(row->mt_padding));
	if (tape->tapes->with_hash)
		memcpy(row->mt_padding, &hash, sizeof(hash));
	if (tape->room > tape->tapes->block)
		write_block(tape);
}

void
sliced_tape_put(SlicedTape *tape, MinimalTuple row, uint32 hash)
{
	MinimalTuple to = add_row(tape, row->t_len);

	memcpy(to, row, row->t_len);
	end_row(tape, to, hash);
}

/* Put a row from the slot's values without a copy of it; false if it is too long. */
static bool
put_values(SlicedTape *tape, TupleTableSlot *slot, uint32 hash)
{
	TupleDesc	desc = slot->tts_tupleDescriptor;
	bool		has_null = memchr(slot->tts_isnull, true, desc->natts) != NULL;
	uint32		start = MAXALIGN(SizeofMinimalTupleHeader + (has_null ? BITMAPLEN(desc->natts) : 0));
	Size		len = heap_compute_data_size(desc, slot->tts_values, slot->tts_isnull);
	MinimalTuple row;

	if (len > MaxAllocSize - start)
		return false;
	row = add_row(tape, start + len);
	memset(row, 0, start);
	/* clear the padding between values too */
	memset((char *) row + start, 0, len);
	row->t_len = start + len;
	row->t_infomask2 = desc->natts;
	row->t_hoff = start + MINIMAL_TUPLE_OFFSET;
	heap_fill_tuple(desc, slot->tts_values, slot->tts_isnull, (char *) row + start, len, &row->t_infomask,
					has_null ? row->t_bits : NULL);
	end_row(tape, row, hash);
	return true;
}

void
sliced_tape_put_slot(SlicedTape *tape, TupleTableSlot *slot, uint32 hash)
{
	bool		should_free;
	MinimalTuple row;

	if (TTS_IS_VIRTUAL(slot) && slot->tts_tupleDescriptor->natts <= MaxTupleAttributeNumber &&
		put_values(tape, slot, hash))
		return;
	row = ExecFetchSlotMinimalTuple(slot, &should_free);
	sliced_tape_put(tape, row, hash);
	if (should_free)
		pfree(row);
}

void
sliced_tape_finish(SlicedTape *tape)
{
	tape->is_ending = true;
	if (tape->used > 0)
		write_block(tape);
	drop_block(tape);
}

/* ---- reading ---- */

/* True if a block can have these numbers. */
static bool
is_sound(const SlicedTape *tape, const SlicedBlockHeader *header)
{
	if (sliced_codec_get(header->codec) == NULL ||
		(tape->set == NULL && header->stored > tape->end - tape->at))
		return false;
	if (header->codec == SLICED_CODEC_NONE && (header->rows > 0 || header->stored != header->raw))
		return false;
	if (header->rows == 0)
		return header->raw >= SizeofMinimalTupleHeader;
	return header->row_len >= SizeofMinimalTupleHeader && words_of(tape->tapes, header->row_len) <= WORDS_MAX &&
		header->raw == (uint64) header->rows * words_of(tape->tapes, header->row_len) * sizeof(Word);
}

static void
need_block(SlicedTape *tape, uint32 room)
{
	if (tape->room >= room && tape->room <= Max(room, tape->tapes->block))
		return;
	new_block(tape, Max(room, tape->tapes->block));
}

/*
 * Read a block to 'to', after room for its header, and the next block's header with
 * it.
 */
static void
read_stored(SlicedTape *tape, char *to)
{
	SlicedBlockHeader *header = (SlicedBlockHeader *) to;
	uint32		stored = tape->header.stored;

	*header = tape->header;
	tape->has_header = tape->at + stored < tape->end;
	sliced_tape_read(tape, to + HEADER, (Size) stored + (tape->has_header ? HEADER : 0));
	if (block_checksum(tape, header, tape->begin) != header->checksum)
		sliced_tape_corrupted(tape);
	if (tape->has_header)
		memcpy(&tape->header, to + HEADER + stored, HEADER);
}

/* Read the last block of a shared tape that has not been read. */
static void
read_last(SlicedTape *tape)
{
	SlicedTapes *tapes = tape->tapes;
	SlicedBlockHeader *header;
	uint32		stored = tape->share.last_stored;

	need_room(tapes, &tapes->stored_bytes, &tapes->stored_room, HEADER + (Size) stored + HEADER);
	header = (SlicedBlockHeader *) tapes->stored_bytes;
	tape->begin = tape->at = tape->share.last;
	sliced_tape_read(tape, tapes->stored_bytes, HEADER + (Size) stored);
	if (header->stored != stored || block_checksum(tape, header, tape->begin) != header->checksum)
		sliced_tape_corrupted(tape);
	/* the rest of its extent is next */
	if (header->within > 0 && tape->begin - header->within != tape->extent)
	{
		tape->extent = tape->begin - header->within;
		sliced_tape_prefetch(tape, tape->extent, header->within);
	}
	tape->header = *header;
	tape->share.last = header->before;
	tape->share.last_stored = header->before_stored;
}

/* Exchange the tape's block and the bytes that were read. */
static void
take_block(SlicedTape *tape)
{
	SlicedTapes *tapes = tape->tapes;
	char	   *block = tape->block != NULL ? tape->block - HEADER : NULL;
	Size		room = tape->block != NULL ? tape->room + 2 * HEADER : 0;

	tape->block = tapes->stored_bytes + HEADER;
	tape->room = tapes->stored_room - 2 * HEADER;
	tapes->stored_bytes = block;
	tapes->stored_room = room;
}

/* Decompress the bytes that were read, whose checksum is right. */
static void
decompress_block(SlicedTape *tape, uint32 rows)
{
	SlicedTapes *tapes = tape->tapes;
	const SlicedBlockHeader *header = (const SlicedBlockHeader *) tapes->stored_bytes;

	/* rows take what they took before they were written */
	need_block(tape, rows);
	if (header->rows > 0)
		need_room(tapes, &tapes->words, &tapes->words_room, header->raw);
	if (!sliced_codec_get(header->codec)->decompress(tapes->stored_bytes + HEADER, header->stored,
													 header->rows > 0 ? tapes->words : tape->block,
													 header->raw, header->raw, NULL))
		sliced_tape_corrupted(tape);
	if (header->rows > 0)
		words_to_rows(tapes, (const Word *) tapes->words, header->rows, header->row_len, tape->block);
}

static void
read_block(SlicedTape *tape)
{
	SlicedTapes *tapes = tape->tapes;
	uint32		rows;
	bool		is_compressed;

	if (tape->set != NULL)
		read_last(tape);
	else
	{
		tape->begin = tape->has_header ? tape->at - HEADER : tape->at;
		if (!tape->has_header)
			sliced_tape_read(tape, (char *) &tape->header, HEADER);
	}
	if (!is_sound(tape, &tape->header))
		sliced_tape_corrupted(tape);
	rows = tape->header.rows > 0 ? tape->header.rows * MAXALIGN(tape->header.row_len) : tape->header.raw;
	is_compressed = tape->header.codec != SLICED_CODEC_NONE;
	if (tape->set != NULL && !is_compressed)
		take_block(tape);
	else if (tape->set == NULL && !is_compressed)
	{
		need_block(tape, rows);
		read_stored(tape, tape->block - HEADER);
	}
	else if (tape->set == NULL)
	{
		need_room(tapes, &tapes->stored_bytes, &tapes->stored_room, HEADER + (Size) tape->header.stored + HEADER);
		read_stored(tape, tapes->stored_bytes);
	}
	if (is_compressed)
		decompress_block(tape, rows);
	tape->used = rows;
	tape->next = 0;
}

/* True if the share that is being read has more blocks. */
static bool
has_blocks(const SlicedTape *tape)
{
	return tape->set != NULL ? tape->file != 0 && tape->share.last_stored > 0 : tape->at < tape->end;
}

MinimalTuple
sliced_tape_get(SlicedTape *tape)
{
	MinimalTuple row;

	if (tape->next == tape->used)
	{
		if (!has_blocks(tape) && !sliced_tape_next_share(tape))
			return NULL;
		read_block(tape);
	}
	row = (MinimalTuple) (tape->block + tape->next);
	if (row->t_len < SizeofMinimalTupleHeader || MAXALIGN(row->t_len) > tape->used - tape->next)
		sliced_tape_corrupted(tape);
	tape->next += MAXALIGN(row->t_len);
	return row;
}

void
sliced_tape_free(SlicedTape *tape)
{
	if (tape->tapes != NULL)
		sliced_tape_close(tape);
	drop_block(tape);
	memset(tape, 0, sizeof(*tape));
}

/* ---- tapes of several processes ---- */

void
sliced_tape_share(SlicedTape *tape, SlicedTapes *tapes, FileSet *set, uint32 side, uint32 number)
{
	memset(tape, 0, sizeof(*tape));
	tape->side = side;
	tape->tapes = tapes;
	tape->set = set;
	tape->number = number;
}

void
sliced_tape_hand_over(SlicedTape *tape, SlicedTapeShare *share)
{
	sliced_tape_finish(tape);
	*share = tape->share;
	share->rows = tape->rows;
	share->memory = tape->memory;
	sliced_tape_free(tape);
}

void
sliced_tapes_end_sharing(SlicedTapes *tapes)
{
	if (tapes->own != 0)
		FileClose(tapes->own);
	tapes->own = 0;
}

void
sliced_tape_take(SlicedTape *tape, SlicedTapes *tapes, FileSet *set, uint32 side, uint32 first,
				 const SlicedTapeShare *shares, uint32 nshares)
{
	sliced_tape_share(tape, tapes, set, side, first);
	tape->first = first;
	tape->shares = shares;
	tape->nshares = nshares;
	for (uint32 i = 0; i < nshares; i++)
	{
		tape->rows += shares[i].rows;
		tape->memory += shares[i].memory;
	}
}
