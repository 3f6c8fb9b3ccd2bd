/*
 * test_format.c
 *	  Rows of the toast relation: encoding, checks, sizes.
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

	for (uint32 n = 0; n <= 2; n++)
	{
		/* characters were counted, or not; other numbers are impossible */
		row.followers = n == 0 ? 1000 : n == 1 ? 1001 : SLICED_NOT_COUNTED;
		sliced_row_encode(buf, 42, 8000, &row);
		check(sliced_row_decode(&back, buf, sliced_row_size(&row), 42, 8000) ==
			  (n == 1 ? SLICED_CHARACTERS_IMPOSSIBLE : SLICED_SOUND));
		check(back.followers == row.followers);
	}
	row.followers = 0;

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

/* Slices with a dictionary, whose stored bytes begin with its name. */
static void
named_dictionaries(void)
{
	SlicedRow	row = slice_row(100);
	SlicedRow	back;

	row.has_dictionary = true;
	check(decode_forged(row, 5) == SLICED_CODEC_UNKNOWN);	/* without compression */
	row.rawlen = 200;
	for (int codec = 0; codec < SLICED_N_CODECS; codec++)
	{
		row.codec = codec;
		check((decode_forged(row, 5) == SLICED_SOUND) == sliced_codec_get(codec)->has_dictionaries);
		if (!sliced_codec_get(codec)->has_dictionaries)
			continue;
		check(sliced_row_decode(&back, buf, sliced_row_size(&row), 1, 5) == SLICED_SOUND);
		check(back.has_dictionary && back.codec == codec && back.storedlen == 100 && back.rawlen == 200);
		damage_row(row);
		row.has_dictionary = false;
		check(decode_forged(row, 5) == SLICED_SOUND);
		check(sliced_row_decode(&back, buf, sliced_row_size(&row), 1, 5) == SLICED_SOUND);
		check(!back.has_dictionary && back.codec == codec);
		row.has_dictionary = true;
	}
	row.codec = SLICED_N_CODECS;
	check(decode_forged(row, 5) == SLICED_CODEC_UNKNOWN);

	/* heads and continuations have the flag as well */
	row.codec = SLICED_CODEC_ZSTD;
	row.kind = SLICED_ROW_HEAD;
	check(decode_forged(row, -1) == SLICED_SOUND);
	row.kind = SLICED_ROW_CONTINUATION;
	row.parts = 1;
	row.storedlen = 150;
	check(decode_forged(row, 5) == SLICED_SOUND);

	/* a name, and nothing behind it */
	row = slice_row(8);
	row.has_dictionary = true;
	row.codec = SLICED_CODEC_ZSTD;
	row.rawlen = 200;
	check(decode_forged(row, 5) == SLICED_SLICE_LENGTH_IMPOSSIBLE);
	row.payload_len = row.storedlen = 7;
	check(decode_forged(row, 5) == SLICED_SLICE_LENGTH_IMPOSSIBLE);
	row.payload_len = row.storedlen = 9;
	check(decode_forged(row, 5) == SLICED_SOUND);
	/* in more than one row, the first may have less than the name */
	row.parts = 1;
	row.payload_len = 3;
	check(decode_forged(row, 5) == SLICED_SOUND);
}

/* Rows of the directory of dictionaries. */
static void
entries(void)
{
	SlicedEntry entry = {
		.id = 77, .checksum = 12345, .len = 4000, .samples = 300, .pages = 9,
		.trained_at = 1, .raw = 1000, .before = 900, .after = 500
	};
	SlicedEntry back;
	char		bytes[sizeof(entry) + 1] = {0};
	SlicedRow	row = slice_row(sizeof(entry));

	memcpy(bytes, &entry, sizeof(entry));
	check(sliced_entry_decode(&back, bytes, sizeof(entry)) == SLICED_SOUND);
	check(memcmp(&back, &entry, sizeof(entry)) == 0);
	for (uint32 len = 0; len <= sizeof(entry) + 1; len++)
		check(sliced_entry_decode(&back, bytes, len) == (len == sizeof(entry) ? SLICED_SOUND : SLICED_ENTRY_IMPOSSIBLE));
	/* no dictionary has no length, and the other way round */
	entry.id = 0;
	check(sliced_entry_decode(&back, (char *) &entry, sizeof(entry)) == SLICED_ENTRY_IMPOSSIBLE);
	entry.len = 0;
	check(sliced_entry_decode(&back, (char *) &entry, sizeof(entry)) == SLICED_SOUND);
	entry.id = 77;
	check(sliced_entry_decode(&back, (char *) &entry, sizeof(entry)) == SLICED_ENTRY_IMPOSSIBLE);

	row.kind = SLICED_ROW_ENTRY;
	row.payload = bytes;
	check(decode_forged(row, sliced_entry_seq(3, 1)) == SLICED_SOUND);
	damage_row(row);
	row.parts = 1;
	check(decode_forged(row, 5) == SLICED_ENTRY_IMPOSSIBLE);
	row.parts = 0;
	row.codec = SLICED_CODEC_ZSTD;
	row.rawlen = 1000;
	check(decode_forged(row, 5) == SLICED_ENTRY_IMPOSSIBLE);

	/* of all columns, in the order of columns */
	check(sliced_entry_seq(MaxHeapAttributeNumber, SLICED_ENTRIES - 1) > 0);
	check(sliced_entry_seq(1, SLICED_ENTRIES - 1) < sliced_entry_seq(2, 0));
}

/* Whatever can be wrong has a name of its own. */
static void
damage_texts(void)
{
	for (int i = SLICED_SOUND; i <= SLICED_DICTIONARY_DAMAGED; i++)
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

/* Patches with gaps of all lengths, as they were. */
static void
patches(void)
{
	static const uint32 gaps[] = {0, 1, 127, 128, 16383, 16384, 2097151, 2097152, 268435455, 268435456};
	SlicedPatch patch = {.place = 3, .bytes = payload};
	SlicedPatchReader back;
	uint32		len = 0;
	uint32		place = 3;
	int			n = 0;

	for (int i = 0; i < lengthof(gaps); i++)
	{
		uint32		size;

		patch.place = place + gaps[i];
		patch.len = i == 0 ? 1 : i * 28;
		size = sliced_patch_encode(buf + len, &patch, place);
		check(size == sliced_patch_size(&patch, place));
		place = patch.place + patch.len;
		len += size;
	}
	back = sliced_patch_reader(buf, len, 3);
	for (place = 3; sliced_patch_next(&back); n++)
	{
		check(n < lengthof(gaps) && back.patch.place == place + gaps[n]);
		check(back.patch.len == (n == 0 ? 1 : n * 28));
		check(memcmp(back.patch.bytes, payload, back.patch.len) == 0);
		place = back.patch.place + back.patch.len;
	}
	check(n == lengthof(gaps) && back.next == back.end);

	/* cut off anywhere but between two of them */
	for (uint32 shorter = 0, at = 0; shorter < len; shorter++)
	{
		back = sliced_patch_reader(buf, shorter, 3);
		while (sliced_patch_next(&back))
			at = back.next - buf;
		check(shorter == at ? back.next == back.end : back.next != back.end);
	}

	/* no bytes; a gap without an end; places that there are not */
	back = sliced_patch_reader("\0\0", 2, 0);
	check(!sliced_patch_next(&back) && back.next != back.end);
	back = sliced_patch_reader("\x80\x80\x80\x80\x80\x80\x01\x01x", 9, 0);
	check(!sliced_patch_next(&back));
	back = sliced_patch_reader("\x02\x01x", 3, INT_MAX - 2);
	check(!sliced_patch_next(&back));
	back = sliced_patch_reader("\x02\x01x", 3, INT_MAX - 3);
	check(sliced_patch_next(&back));
}

static SlicedPatchTable
some_table(void)
{
	SlicedPatchTable table = {
		.end = 1000, .nobjects = 2, .nlayers = 2,
		.objects = {{7, 0}, {9, 400}}, .layers = {{11, 300}, {12, 40000}},
		.own = "\x05\x02xy\x00\x01z", .own_len = 7
	};

	return table;
}

static SlicedDamage
decode_table(const SlicedPatchTable *table)
{
	SlicedPatchTable back;
	uint32		size;

	sliced_patch_table_encode(buf, table);
	return sliced_patch_table_decode(&back, buf, sliced_patch_table_size(table), &size);
}

static void
patch_tables(void)
{
	SlicedPatchTable table = some_table();
	SlicedPatchTable back;
	SlicedPiece piece = {7, 0, 100};
	SlicedRow	row = slice_row(10);
	SlicedRow	head;
	char		encoded[200];
	uint32		size = sliced_patch_table_size(&table);
	uint32		back_size;

	sliced_patch_table_encode(encoded, &table);
	check(sliced_patch_table_decode(&back, encoded, size + 50, &back_size) == SLICED_SOUND);
	check(back_size == size && back.end == 1000 && back.nobjects == 2 && back.nlayers == 2);
	check(memcmp(back.objects, table.objects, sizeof(table.objects)) == 0);
	check(memcmp(back.layers, table.layers, sizeof(table.layers)) == 0);
	check(back.own_len == 7 && memcmp(back.own, table.own, 7) == 0);
	for (uint32 len = 0; len < size; len++)
		check(sliced_patch_table_decode(&back, encoded, len, &back_size) != SLICED_SOUND);

	/* in a head, before its payload */
	row.kind = SLICED_ROW_HEAD;
	row.npieces = 1;
	row.pieces = (char *) &piece;
	row.patches = encoded;
	row.patches_len = size;
	check(decode_forged(row, -1) == SLICED_SOUND);
	sliced_row_encode(buf, 1, -1, &row);
	check(sliced_row_decode(&head, buf, sliced_row_size(&row), 1, -1) == SLICED_SOUND);
	check(head.patches_len == size && memcmp(head.patches, encoded, size) == 0);
	check(head.payload_len == 10 && memcmp(head.payload, payload, 10) == 0);

	/* numbers that cannot be */
	table.nobjects = 0;
	check(decode_table(&table) != SLICED_SOUND);
	table = some_table();
	table.objects[1].base = 0;
	check(decode_table(&table) != SLICED_SOUND);
	table = some_table();
	table.objects[1].objid = 7;
	check(decode_table(&table) != SLICED_SOUND);
	table = some_table();
	table.objects[1].base = 1000;
	check(decode_table(&table) != SLICED_SOUND);
	table = some_table();
	table.layers[1].objid = 0;
	check(decode_table(&table) != SLICED_SOUND);
	table = some_table();
	table.own_len = 6;
	check(decode_table(&table) != SLICED_SOUND);
	table = some_table();
	table.end = 7;
	table.nobjects = 1;
	check(decode_table(&table) != SLICED_SOUND);
	table.end = 8;
	check(decode_table(&table) == SLICED_SOUND);
}

/* Rows of patches: where they may be, and from where to where they go. */
static void
patch_rows(void)
{
	static const char bytes[] = "\x40\x00\x00\x00\x05\x02xy";
	SlicedRow	row = slice_row(8);
	SlicedRow	back;
	SlicedPatchReader patches;

	row.kind = SLICED_ROW_PATCHES;
	row.payload = bytes;
	check(decode_forged(row, 21) == SLICED_SOUND);
	sliced_row_encode(buf, 1, 21, &row);
	check(sliced_row_decode(&back, buf, sliced_row_size(&row), 1, 21) == SLICED_SOUND);
	check(back.from == 20 && back.until == 64);
	patches = sliced_patch_reader(sliced_row_patches(&back), back.payload_len - 4, back.from);
	check(sliced_patch_next(&patches) && patches.patch.place == 25 && patches.next == patches.end);

	check(decode_forged(row, 64) == SLICED_SOUND);
	check(decode_forged(row, 65) != SLICED_SOUND);
	check(decode_forged(row, 0) != SLICED_SOUND);
	check(decode_forged(row, -1) != SLICED_SOUND);
	row.parts = 1;
	check(decode_forged(row, 21) != SLICED_SOUND);
	row = slice_row(3);
	row.kind = SLICED_ROW_PATCHES;
	check(decode_forged(row, 21) != SLICED_SOUND);
	row = slice_row(8);
	row.kind = SLICED_ROW_PATCHES;
	row.payload = "\0\0\0\x80\0\1x";
	row.payload_len = row.rawlen = row.storedlen = 7;
	check(decode_forged(row, 21) != SLICED_SOUND);
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
	run_test(named_dictionaries);
	run_test(entries);
	run_test(damage_texts);
	run_test(truncated_pieces);
	run_test(patches);
	run_test(patch_tables);
	run_test(patch_rows);
	run_test(cutting);
	run_test(checksums);
	return unit_failures != 0;
}
