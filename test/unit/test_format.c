/*
 * test_format.c
 *	  Rows of the toast relation: encoding, checks, sizes.
 */
#include "postgres.h"

#include <limits.h>

#include "base/limits.h"
#include "codec/codec.h"
#include "format/checksum.h"
#include "format/row.h"
#include "format/utf8.h"
#include "unit.h"

static char payload[9000];
static char buf[16000];

static SlicedRow
slice_row(uint32 len)
{
	SlicedRow	row = {
		.kind = SLICED_ROW_SLICE, .codec = SLICED_CODEC_NONE,
		.rawlen = len, .storedlen = len, .payload = payload, .payload_len = len
	};

	return row;
}

static void
round_trip(void)
{
	SlicedPiece pieces[3] = {{7, 0, 100}, {0, 5, 20}, {9, 4000, 1}};
	SlicedRow	row = slice_row(1000);
	SlicedRow	back;

	for (int i = 0; i < sizeof(payload); i++)
		payload[i] = i * 7;

	sliced_row_encode(buf, 42, 8000, &row);
	check(sliced_row_decode(&back, buf, sliced_row_size(&row), 42, 8000) == SLICED_SOUND);
	check(back.kind == SLICED_ROW_SLICE && back.rawlen == 1000 && back.payload_len == 1000);
	check(memcmp(back.payload, payload, 1000) == 0);

	row.kind = SLICED_ROW_HEAD;
	row.npieces = 3;
	row.pieces = (char *) pieces;
	sliced_row_encode(buf, 42, -1, &row);
	check(sliced_row_size(&row) == 20 + 12 + 36 + 1000);
	check(sliced_row_decode(&back, buf, sliced_row_size(&row), 42, -1) == SLICED_SOUND);
	check(back.npieces == 3);
	for (int i = 0; i < 3; i++)
	{
		SlicedPiece piece = sliced_row_piece(&back, i);

		check(memcmp(&piece, &pieces[i], sizeof(piece)) == 0);
	}

	row = slice_row(500);
	row.kind = SLICED_ROW_CONTINUATION;
	row.codec = SLICED_CODEC_LZ4;
	row.parts = 2;
	row.rawlen = 10000;
	row.storedlen = 3000;
	sliced_row_encode(buf, 42, 69632 + 2, &row);
	check(sliced_row_decode(&back, buf, sliced_row_size(&row), 42, 69632 + 2) == SLICED_SOUND);
	check(back.parts == 2 && back.storedlen == 3000);
}

static SlicedRow
tail_row(uint32 len, uint32 capacity)
{
	SlicedRow	row = {
		.kind = SLICED_ROW_TAIL, .payload = payload, .payload_len = len, .capacity = capacity
	};

	return row;
}

/* A tail that grows differs only behind what it had. */
static void
tails(void)
{
	SlicedRow	row = tail_row(1, 200);
	SlicedRow	back;

	for (int i = 0; i < sizeof(payload); i++)
		payload[i] = i % 5 == 0 ? 0 : i * 7;
	for (uint32 len = 1; len <= 200; len++)
	{
		static char before[1000];

		memcpy(before, buf, sizeof(before));
		row.payload_len = len;
		sliced_row_encode(buf, 42, 8000, &row);
		check(sliced_row_size(&row) == 213);
		check(sliced_row_decode(&back, buf, 213, 42, 8000) == SLICED_SOUND);
		check(back.kind == SLICED_ROW_TAIL && back.rawlen == len && back.capacity == 200);
		check(memcmp(back.payload, payload, len) == 0);
		if (len > 1)
			check(memcmp(before, buf, 8 + len - 1) == 0 &&
				  memcmp(before + 8 + len + 5, buf + 8 + len + 5, 200 - len) == 0);
	}
}

static void
characters(void)
{
	static const char text[] = "a\xC3\xA4" "b\xE2\x82\xAC" "c\xF0\x9D\x84\x9E" "d";

	check(sliced_utf8_followers(text, strlen(text)) == strlen(text) - 7);
	check(sliced_utf8_ascii(text, strlen(text)) == 1);
	memset(payload, 'x', sizeof(payload));
	for (int i = 0; i < 600; i++)
	{
		check(sliced_utf8_followers(payload, 600) == 0);
		payload[i] = 0x80;
		check(sliced_utf8_ascii(payload, 600) == i && sliced_utf8_ascii(payload, i) == i);
		check(sliced_utf8_followers(payload, 600) == 1);
		payload[i] = 'x';
	}
	memset(payload, 0xBF, sizeof(payload));
	for (int i = 0; i < 600; i++)
		check(sliced_utf8_followers(payload, i) == i);
}

/* Every changed bit, every lost byte and every wrong place is noticed. */
static void
damage_row(SlicedRow row)
{
	SlicedRow	back;
	uint32		size = sliced_row_size(&row);

	sliced_row_encode(buf, 42, 100, &row);
	for (uint32 bit = 0; bit < size * 8; bit++)
	{
		buf[bit / 8] ^= 1 << bit % 8;
		check(sliced_row_decode(&back, buf, size, 42, 100) != SLICED_SOUND);
		buf[bit / 8] ^= 1 << bit % 8;
	}
	for (uint32 len = 0; len < size; len++)
		check(sliced_row_decode(&back, buf, len, 42, 100) != SLICED_SOUND ||
			  (row.kind == SLICED_ROW_TAIL && len >= row.payload_len + 13));
	check(sliced_row_decode(&back, buf, size, 43, 100) != SLICED_SOUND);
	check(sliced_row_decode(&back, buf, size, 42, 101) != SLICED_SOUND);
	check(sliced_row_decode(&back, buf, size, 42, 100) == SLICED_SOUND);
}

static void
damage(void)
{
	damage_row(slice_row(301));
	damage_row(tail_row(301, 500));
	damage_row(tail_row(301, 301));
}

/* Write what no encoder would, with a good checksum. */
static SlicedDamage
decode_forged(SlicedRow row, int32 seq)
{
	static SlicedRow back;

	sliced_row_encode(buf, 1, seq, &row);
	return sliced_row_decode(&back, buf, sliced_row_size(&row), 1, seq);
}

static void
forgeries(void)
{
	SlicedRow	row = slice_row(100);

	check(decode_forged(row, 5) == SLICED_SOUND);
	check(decode_forged(row, -1) != SLICED_SOUND);
	check(decode_forged(row, INT_MAX - 50) != SLICED_SOUND);
	row.codec = SLICED_N_CODECS;
	check(decode_forged(row, 5) != SLICED_SOUND);
	row = slice_row(100);
	row.rawlen = 99;
	check(decode_forged(row, 5) != SLICED_SOUND);
	row = slice_row(100);
	row.codec = SLICED_CODEC_LZ4;
	check(decode_forged(row, 5) != SLICED_SOUND);	/* as long as raw bytes: not compressed */
	row.rawlen = 200;
	check(decode_forged(row, 5) == SLICED_SOUND);
	row.rawlen = SLICED_SLICE_MAX + 1;
	check(decode_forged(row, 5) != SLICED_SOUND);
	row = slice_row(100);
	row.parts = 3;
	check(decode_forged(row, 5) != SLICED_SOUND);	/* has parts, yet is complete */
	row = slice_row(0);
	check(decode_forged(row, 5) != SLICED_SOUND);
	row.kind = SLICED_ROW_HEAD;
	check(decode_forged(row, -1) == SLICED_SOUND);
	check(decode_forged(row, 0) != SLICED_SOUND);
	row.kind = 9;
	check(decode_forged(row, 5) != SLICED_SOUND);

	row = slice_row(10);
	row.kind = SLICED_ROW_CONTINUATION;
	row.codec = SLICED_CODEC_LZ4;
	row.rawlen = 1000;
	row.storedlen = 100;
	check(decode_forged(row, 5) != SLICED_SOUND);	/* part 0 */
	row.parts = 6;
	check(decode_forged(row, 5) != SLICED_SOUND);	/* begins before the value */
	row.parts = 5;
	check(decode_forged(row, 5) == SLICED_SOUND);
	row.storedlen = 10;
	check(decode_forged(row, 5) != SLICED_SOUND);	/* nothing left for the slice's first row */
}

/* Whatever can be wrong has a name of its own. */
static void
damage_texts(void)
{
	for (int i = SLICED_SOUND; i <= SLICED_PIECES_TOO_LONG; i++)
	{
		check(sliced_damage_text(i) != NULL);
		for (int j = SLICED_SOUND; j < i && sliced_damage_text(i) && sliced_damage_text(j); j++)
			check(strcmp(sliced_damage_text(i), sliced_damage_text(j)) != 0);
	}
}

/* A head that announces more pieces than there are bytes. */
static void
truncated_pieces(void)
{
	SlicedPiece pieces[3] = {{7, 0, 100}, {8, 0, 20}, {9, 0, 1}};
	SlicedRow	row = slice_row(0);
	SlicedRow	back;

	row.kind = SLICED_ROW_HEAD;
	row.npieces = 3;
	row.pieces = (char *) pieces;
	sliced_row_encode(buf, 1, -1, &row);
	for (uint32 len = 0; len < sliced_row_size(&row); len++)
	{
		/* with a checksum that is right for the shortened row */
		uint32		sum = len < 4 ? 0 :
			sliced_checksum(buf + 4, len - 4, ((uint64) 1 << 32) | (uint32) -1);

		memcpy(buf, &sum, sizeof(sum));
		check(sliced_row_decode(&back, buf, len, 1, -1) != SLICED_SOUND);
	}
}

/* Cutting ends, never makes a row too large, and is not wasteful. */
static void
cutting(void)
{
	for (uint32 len = 1; len < 40000; len += len < 9000 ? 1 : 13)
		for (uint32 overhead = 16; overhead <= 56; overhead += 4)
		{
			uint32		left = len;
			int			nrows = 0;
			bool		quarters = false;

			while (left > 0)
			{
				bool		after_quarter = quarters;
				uint32		n = sliced_row_cut(left, overhead, &quarters);

				check(n > 0 && n <= left);
				check(n + overhead + 36 <= (after_quarter ? 2032 : 8000));
				left -= n;
				nrows++;
			}
			check(nrows <= len / 1900 + 1);
		}
}

static void
checksums(void)
{
	uint32		seen[64];

	for (int i = 0; i < 64; i++)
	{
		memset(buf, 0, 64);
		seen[i] = sliced_checksum(buf, i, 0);
		check(seen[i] != sliced_checksum(buf, i, 1));
		for (int j = 0; j < i; j++)
			check(seen[i] != seen[j]);
	}
	/* the format depends on it */
	for (int i = 0; i < 100; i++)
		buf[i] = i;
	check(sliced_checksum(buf, 100, 12345) == 0xF0E643FF);
	/* alignment does not matter */
	memmove(buf + 1, buf, 100);
	check(sliced_checksum(buf + 1, 100, 12345) == 0xF0E643FF);
}

int
main(void)
{
	run_test(round_trip);
	run_test(tails);
	run_test(characters);
	run_test(damage);
	run_test(forgeries);
	run_test(damage_texts);
	run_test(truncated_pieces);
	run_test(cutting);
	run_test(checksums);
	return unit_failures != 0;
}
