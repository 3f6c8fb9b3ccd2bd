/*
 * row.c
 *	  Encodes and decodes rows of the toast relation, and decides how large
 *	  they are.
 *
 * A slice that takes more than one row is cut after compression.  So rows have
 * the sizes that fill pages best, and slices the sizes that compress best.
 */
#include "postgres.h"

#include <limits.h>

#include "access/htup_details.h"
#include "base/limits.h"
#include "codec/codec.h"
#include "format/checksum.h"
#include "format/entry.h"
#include "format/row.h"
#include "format/utf8.h"

/*
 * Sizes of a whole tuple: 1, 2, 3 or 4 of them fill a page.  Each is a little
 * below what would fit: the free space map rounds down to 32 bytes, and a page
 * that once held more tuples keeps their line pointers for a while.  A larger row
 * would never be put where an equal one was before.
 */
static const uint32 tuple_fill[] = {8000, 4064, 2704, 2032};

#define N_FILL	lengthof(tuple_fill)

/* Tuple header, chunk_id, chunk_seq and the length word of chunk_data. */
#define TUPLE_OVERHEAD	(MAXALIGN(SizeofHeapTupleHeader) + 4 + 4 + 4)

/*
 * A row that fills its share of a page is good, and so is a small one, which fits
 * into a gap.  A size in between is cut as core cuts it.  For example, values of 5 kB
 * in rows of a bit more than half a page would leave a gap in every page, too small
 * for the next one. So would a quarter followed by a half: the next quarter goes to
 * the same page, and its half no longer fits there.
 */
uint32
sliced_row_cut(uint32 left, uint32 overhead, bool *quarters)
{
	uint32		size = left + overhead + TUPLE_OVERHEAD;

	if (!*quarters)
	{
		if (size > tuple_fill[0])
			return tuple_fill[0] - overhead - TUPLE_OVERHEAD;
		for (int i = 0; i < N_FILL; i++)
			if (size <= tuple_fill[i] && size >= tuple_fill[i] / 10 * 9)
				return left;
	}
	*quarters = true;
	return Min(left, tuple_fill[N_FILL - 1] - overhead - TUPLE_OVERHEAD);
}

/* The checksum of the row's place, and of all its bytes except the checksum. */
static uint32
row_checksum(const char *data, uint32 len, uint32 objid, int32 seq)
{
	return sliced_checksum(data + sizeof(uint32), len - sizeof(uint32),
						   ((uint64) objid << 32) | (uint32) seq);
}

/* Bytes that a head has between its row's header and its payload. */
static uint32
head_size(const SlicedRow *row)
{
	return row->kind == SLICED_ROW_HEAD ?
		sizeof(SlicedHeadHeader) + row->root_size : 0;
}

uint32
sliced_row_size(const SlicedRow *row)
{
	if (row->kind == SLICED_ROW_TAIL)
		return SLICED_TAIL_OVERHEAD + row->capacity;
	return sizeof(SlicedRowHeader) + head_size(row) + row->payload_len;
}

static void
tail_encode(char *dst, uint32 objid, int32 seq, const SlicedRow *row)
{
	uint32		end = SLICED_TAIL_HEADER + row->payload_len;
	uint32		checksum;

	memset(dst, 0, sliced_row_size(row));
	dst[offsetof(SlicedRowHeader, kind)] = (SLICED_FORMAT_VERSION << 4) | SLICED_ROW_TAIL;
	memcpy(dst + SLICED_TAIL_HEADER, row->payload, row->payload_len);
	checksum = row_checksum(dst, end, objid, seq);
	memcpy(dst + end, &checksum, sizeof(checksum));
	dst[end + sizeof(checksum)] = 1;
}

void
sliced_row_encode(char *dst, uint32 objid, int32 seq, const SlicedRow *row)
{
	SlicedRowHeader header = {
		.kind = (SLICED_FORMAT_VERSION << 4) | row->kind,
		.codec = row->codec | (row->has_dictionary ? SLICED_ROW_HAS_DICTIONARY : 0),
		.continuations = row->continuations,
		.rawlen = row->rawlen,
		.storedlen = row->storedlen,
		.followers = row->followers
	};
	char	   *p = dst + sizeof(header);

	if (row->kind == SLICED_ROW_TAIL)
	{
		tail_encode(dst, objid, seq, row);
		return;
	}

	memcpy(dst, &header, sizeof(header));
	if (row->kind == SLICED_ROW_HEAD)
	{
		SlicedHeadHeader head = {
			.root_size = row->root_size,
			.ascii = row->ascii,
			.own = row->own
		};

		memcpy(p, &head, sizeof(head));
		p += sizeof(head);
		if (row->root_size > 0)
			memcpy(p, row->root, row->root_size);
		p += row->root_size;
	}
	memcpy(p, row->payload, row->payload_len);

	header.checksum = row_checksum(dst, sliced_row_size(row), objid, seq);
	memcpy(dst, &header.checksum, sizeof(header.checksum));
}

/* Check that the numbers of a decoded row agree with each other. */
static SlicedDamage
row_check(const SlicedRow *row, int32 seq)
{
	const SlicedCodec *codec = sliced_codec_get(row->codec);

	if (codec == NULL || (row->has_dictionary && !codec->has_dictionaries))
		return SLICED_CODEC_UNKNOWN;
	if (row->rawlen > SLICED_SLICE_MAX || row->storedlen > row->rawlen ||
		row->continuations > row->rawlen)
		return SLICED_SLICE_LENGTH_IMPOSSIBLE;
	if ((row->codec == SLICED_CODEC_NONE) != (row->storedlen == row->rawlen))
		return SLICED_CODEC_AND_LENGTH_DISAGREE;
	if (row->has_dictionary && row->storedlen <= SLICED_DICTIONARY_NAME)
		return SLICED_SLICE_LENGTH_IMPOSSIBLE;
	if (row->followers > row->rawlen && row->followers != SLICED_NOT_COUNTED)
		return SLICED_CHARACTERS_IMPOSSIBLE;

	switch (row->kind)
	{
		case SLICED_ROW_HEAD:
			if (seq != SLICED_HEAD_SEQ)
				return SLICED_HEAD_MISPLACED;
			if (row->root_size > 0 ? row->rawlen > 0 || row->continuations > 0 ||
				row->own < SLICED_OWN_START || row->own > INT_MAX : row->own > 0)
				return SLICED_NODE_IMPOSSIBLE;
			break;
		case SLICED_ROW_SLICE:
		case SLICED_ROW_TAIL:
			if (seq < 0 || row->rawlen == 0 || row->rawlen > INT_MAX - (uint32) seq)
				return SLICED_SLICE_MISPLACED;
			break;
		case SLICED_ROW_CONTINUATION:
			if (row->continuations == 0 || row->continuations > seq)
				return SLICED_CONTINUATION_MISPLACED;
			return row->payload_len < row->storedlen ? SLICED_SOUND : SLICED_CONTINUATION_TOO_LONG;
		case SLICED_ROW_NODE:
			if (row->codec != SLICED_CODEC_NONE || row->continuations > 0)
				return SLICED_NODE_IMPOSSIBLE;
			if (seq >= SLICED_HEAD_SEQ)
				return SLICED_NODE_MISPLACED;
			break;
		case SLICED_ROW_ENTRY:
			if (row->codec != SLICED_CODEC_NONE || row->continuations > 0)
				return SLICED_ENTRY_IMPOSSIBLE;
			break;
	}
	if (row->continuations == 0 ? row->payload_len != row->storedlen :
		row->payload_len >= row->storedlen)
		return SLICED_SLICE_LENGTH_WRONG;
	return SLICED_SOUND;
}

static SlicedDamage
tail_decode(SlicedRow *row, const char *src, uint32 len, uint32 objid, int32 seq)
{
	uint32		end = len;
	uint32		checksum;

	if (len < SLICED_TAIL_OVERHEAD)
		return SLICED_TAIL_TOO_SHORT;
	memcpy(&checksum, src, sizeof(checksum));
	if (checksum != 0)
		return SLICED_CHECKSUM_MISMATCH;
	if (memcmp(src + offsetof(SlicedRowHeader, kind) + 1, "\0\0", 3) != 0)
		return SLICED_TAIL_FLAGS_UNKNOWN;
	while (end > SLICED_TAIL_OVERHEAD && src[end - 1] == 0)
		end--;
	if (src[end - 1] != 1)
		return SLICED_TAIL_WITHOUT_END;
	end -= 1 + sizeof(checksum);
	memcpy(&checksum, src + end, sizeof(checksum));
	if (checksum != row_checksum(src, end, objid, seq))
		return SLICED_CHECKSUM_MISMATCH;

	memset(row, 0, sizeof(*row));
	row->kind = SLICED_ROW_TAIL;
	row->codec = SLICED_CODEC_NONE;
	row->payload = src + SLICED_TAIL_HEADER;
	row->payload_len = row->rawlen = row->storedlen = end - SLICED_TAIL_HEADER;
	row->followers = sliced_utf8_followers(row->payload, row->payload_len);
	row->capacity = len - SLICED_TAIL_OVERHEAD;
	return row_check(row, seq);
}

/* Take apart the part of a head before its payload.  Adds its length to '*before'. */
static SlicedDamage
head_decode(SlicedRow *row, const char *src, uint32 len, uint32 *before)
{
	SlicedHeadHeader head;

	if (len < *before + sizeof(head))
		return SLICED_HEAD_TOO_SHORT;
	memcpy(&head, src + *before, sizeof(head));
	if (head.flags != 0)
		return SLICED_HEAD_FLAGS_UNKNOWN;
	row->ascii = head.ascii;
	row->own = head.own;
	row->root_size = head.root_size;
	*before += sizeof(head);
	if (head.root_size > 0)
		row->root = src + *before;
	*before += head.root_size;
	return len < *before ? SLICED_HEAD_TOO_SHORT_FOR_ROOT : SLICED_SOUND;
}

SlicedDamage
sliced_row_decode(SlicedRow *row, const char *src, uint32 len, uint32 objid, int32 seq)
{
	SlicedRowHeader header;
	uint32		before = sizeof(header);

	if (len > offsetof(SlicedRowHeader, kind) &&
		src[offsetof(SlicedRowHeader, kind)] == ((SLICED_FORMAT_VERSION << 4) | SLICED_ROW_TAIL))
		return tail_decode(row, src, len, objid, seq);

	if (len < sizeof(header))
		return SLICED_ROW_TOO_SHORT;
	memcpy(&header, src, sizeof(header));
	if (header.checksum != row_checksum(src, len, objid, seq))
		return SLICED_CHECKSUM_MISMATCH;
	if (header.kind >> 4 != SLICED_FORMAT_VERSION)
		return SLICED_VERSION_UNKNOWN;

	row->kind = header.kind & 0x0F;
	row->codec = header.codec & ~SLICED_ROW_HAS_DICTIONARY;
	row->has_dictionary = (header.codec & SLICED_ROW_HAS_DICTIONARY) != 0;
	row->continuations = header.continuations;
	row->rawlen = header.rawlen;
	row->storedlen = header.storedlen;
	row->followers = header.followers;
	row->capacity = 0;
	row->root_size = 0;
	row->root = NULL;
	row->ascii = 0;
	row->own = 0;

	if (row->kind < SLICED_ROW_HEAD || row->kind > SLICED_ROW_ENTRY)
		return SLICED_KIND_UNKNOWN;
	if (row->kind == SLICED_ROW_HEAD)
	{
		SlicedDamage damage = head_decode(row, src, len, &before);

		if (damage != SLICED_SOUND)
			return damage;
	}
	row->payload = src + before;
	row->payload_len = len - before;
	return row_check(row, seq);
}
