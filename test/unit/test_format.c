/*
 * test_format.c
 *	  Rows of the toast relation, and nodes: encoding, checks, sizes.
 */
#include "postgres.h"

#include <limits.h>

#include "access/htup_details.h"
#include "base/limits.h"
#include "codec/codec.h"
#include "format/checksum.h"
#include "format/entry.h"
#include "format/node.h"
#include "format/pointer.h"
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

/* A head with a root.  Only a decoder of nodes looks at the root's bytes. */
static SlicedRow
root_row(uint16 root_size)
{
	SlicedRow	row = {
		.kind = SLICED_ROW_HEAD, .codec = SLICED_CODEC_NONE, .payload = "",
		.root = payload, .root_size = root_size, .own = SLICED_OWN_START
	};

	return row;
}

static SlicedRow
node_row(uint32 size)
{
	SlicedRow	row = slice_row(size);

	row.kind = SLICED_ROW_NODE;
	return row;
}

static void
round_trip(void)
{
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
	row.ascii = 700;
	sliced_row_encode(buf, 42, -1, &row);
	check(sliced_row_size(&row) == 20 + 12 + 1000);
	check(sliced_row_decode(&back, buf, sliced_row_size(&row), 42, -1) == SLICED_SOUND);
	check(back.root == NULL && back.root_size == 0 && back.own == 0 && back.ascii == 700);
	check(back.payload_len == 1000 && memcmp(back.payload, payload, 1000) == 0);

	row = root_row(300);
	row.own = 77;
	row.ascii = 8;
	sliced_row_encode(buf, 42, -1, &row);
	check(sliced_row_size(&row) == 20 + 12 + 300);
	check(sliced_row_decode(&back, buf, sliced_row_size(&row), 42, -1) == SLICED_SOUND);
	check(back.root_size == 300 && back.own == 77 && back.ascii == 8 && back.payload_len == 0);
	check(memcmp(back.root, payload, 300) == 0);

	row = slice_row(500);
	row.kind = SLICED_ROW_CONTINUATION;
	row.codec = SLICED_CODEC_LZ4;
	row.continuations = 2;
	row.rawlen = 10000;
	row.storedlen = 3000;
	sliced_row_encode(buf, 42, 69632 + 2, &row);
	check(sliced_row_decode(&back, buf, sliced_row_size(&row), 42, 69632 + 2) == SLICED_SOUND);
	check(back.continuations == 2 && back.storedlen == 3000);
}

static SlicedRow
tail_row(uint32 len, uint32 capacity)
{
	SlicedRow	row = {
		.kind = SLICED_ROW_TAIL, .payload = payload, .payload_len = len, .capacity = capacity
	};

	return row;
}

/* A tail that grows changes only after its old bytes. */
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
damage_row_at(SlicedRow row, int32 seq)
{
	SlicedRow	back;
	uint32		size = sliced_row_size(&row);

	sliced_row_encode(buf, 42, seq, &row);
	for (uint32 bit = 0; bit < size * 8; bit++)
	{
		buf[bit / 8] ^= 1 << bit % 8;
		check(sliced_row_decode(&back, buf, size, 42, seq) != SLICED_SOUND);
		buf[bit / 8] ^= 1 << bit % 8;
	}
	for (uint32 len = 0; len < size; len++)
		check(sliced_row_decode(&back, buf, len, 42, seq) != SLICED_SOUND ||
			  (row.kind == SLICED_ROW_TAIL && len >= row.payload_len + 13));
	check(sliced_row_decode(&back, buf, size, 43, seq) != SLICED_SOUND);
	check(sliced_row_decode(&back, buf, size, 42, seq + 1) != SLICED_SOUND);
	check(sliced_row_decode(&back, buf, size, 42, seq) == SLICED_SOUND);
}

static void
damage_row(SlicedRow row)
{
	damage_row_at(row, 100);
}

static void
damage(void)
{
	damage_row(slice_row(301));
	damage_row(tail_row(301, 500));
	damage_row(tail_row(301, 301));
	damage_row_at(root_row(301), SLICED_HEAD_SEQ);
	damage_row_at(node_row(301), -2);
}

/* Write a row that no encoder would, with a good checksum. */
static SlicedDamage
decode_forged(SlicedRow row, int32 seq)
{
	static SlicedRow back;

	sliced_row_encode(buf, 1, seq, &row);
	return sliced_row_decode(&back, buf, sliced_row_size(&row), 1, seq);
}

/* Make the checksum of the first 'len' bytes right. */
static void
correct_checksum(uint32 len, uint32 objid, int32 seq)
{
	uint32		sum = sliced_checksum(buf + 4, len - 4, ((uint64) objid << 32) | (uint32) seq);

	memcpy(buf, &sum, sizeof(sum));
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
	row.continuations = 3;
	check(decode_forged(row, 5) != SLICED_SOUND);	/* has continuations, yet is complete */
	row = slice_row(0);
	check(decode_forged(row, 5) != SLICED_SOUND);
	row.kind = SLICED_ROW_HEAD;
	check(decode_forged(row, -1) == SLICED_SOUND);
	check(decode_forged(row, 0) != SLICED_SOUND);
	row.kind = 9;
	check(decode_forged(row, 5) == SLICED_KIND_UNKNOWN);
	row.kind = 0;
	check(decode_forged(row, 5) == SLICED_KIND_UNKNOWN);
	row = slice_row(100);
	row.codec = SLICED_CODEC_LZ4;
	row.rawlen = 200;
	row.continuations = 201;
	check(decode_forged(row, 5) == SLICED_SLICE_LENGTH_IMPOSSIBLE);	/* a part has a byte or more */

	/* of another version, whether or not its kind is one of ours */
	for (int kind = 0; kind < 16; kind++)
	{
		row = slice_row(100);
		sliced_row_encode(buf, 1, 5, &row);
		buf[4] = (SLICED_FORMAT_VERSION + 1) << 4 | kind;
		correct_checksum(sliced_row_size(&row), 1, 5);
		check(sliced_row_decode(&row, buf, sliced_row_size(&row), 1, 5) == SLICED_VERSION_UNKNOWN);
	}

	row = slice_row(10);
	row.kind = SLICED_ROW_CONTINUATION;
	row.codec = SLICED_CODEC_LZ4;
	row.rawlen = 1000;
	row.storedlen = 100;
	check(decode_forged(row, 5) != SLICED_SOUND);	/* part 0 */
	row.continuations = 6;
	check(decode_forged(row, 5) != SLICED_SOUND);	/* begins before the value */
	row.continuations = 5;
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
	row.continuations = 1;
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
	/* the first of several rows may have less than the name */
	row.continuations = 1;
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
	/* an entry without a dictionary has no length, and one with a dictionary has */
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
	row.continuations = 1;
	check(decode_forged(row, 5) == SLICED_ENTRY_IMPOSSIBLE);
	row.continuations = 0;
	row.codec = SLICED_CODEC_ZSTD;
	row.rawlen = 1000;
	check(decode_forged(row, 5) == SLICED_ENTRY_IMPOSSIBLE);

	/* entries of all columns, in the order of columns */
	check(sliced_entry_seq(MaxHeapAttributeNumber, SLICED_ENTRIES - 1) > 0);
	check(sliced_entry_seq(1, SLICED_ENTRIES - 1) < sliced_entry_seq(2, 0));
}

/* Every kind of damage has a text of its own. */
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

/* Impossible heads and nodes, with a good checksum. */
static void
forged_roots(void)
{
	SlicedRow	row = root_row(50);
	SlicedRow	back;
	SlicedHeadHeader header;
	uint32		size = sliced_row_size(&row);

	check(decode_forged(row, -1) == SLICED_SOUND);
	check(decode_forged(row, 0) == SLICED_HEAD_MISPLACED);
	check(decode_forged(row, -2) == SLICED_HEAD_MISPLACED);

	/* where the value goes on: not at 0, nor farther than slices can be */
	row.own = 0;
	check(decode_forged(row, -1) == SLICED_NODE_IMPOSSIBLE);
	row.own = INT_MAX;
	check(decode_forged(row, -1) == SLICED_SOUND);
	row.own = (uint32) INT_MAX + 1;
	check(decode_forged(row, -1) == SLICED_NODE_IMPOSSIBLE);

	/* a head has a root or bytes of a slice */
	row = root_row(50);
	row.payload = payload;
	row.payload_len = row.rawlen = row.storedlen = 10;
	check(decode_forged(row, -1) == SLICED_NODE_IMPOSSIBLE);
	row.rawlen = row.storedlen = 0;
	check(decode_forged(row, -1) == SLICED_SLICE_LENGTH_WRONG);
	row = slice_row(10);
	row.kind = SLICED_ROW_HEAD;
	check(decode_forged(row, -1) == SLICED_SOUND);
	row.own = SLICED_OWN_START;
	check(decode_forged(row, -1) == SLICED_NODE_IMPOSSIBLE);

	/* a root longer than its row, or cut off with it; flags of another release */
	row = root_row(50);
	for (int change = 0; change < 3; change++)
	{
		uint32		len = size - (change == 1 ? 1 : 0);

		sliced_row_encode(buf, 1, -1, &row);
		memcpy(&header, buf + sizeof(SlicedRowHeader), sizeof(header));
		if (change == 0)
			header.root_size++;
		if (change == 2)
			header.flags = 1;
		memcpy(buf + sizeof(SlicedRowHeader), &header, sizeof(header));
		correct_checksum(len, 1, -1);
		check(sliced_row_decode(&back, buf, len, 1, -1) ==
			  (change == 2 ? SLICED_HEAD_FLAGS_UNKNOWN : SLICED_HEAD_TOO_SHORT_FOR_ROOT));
	}
	sliced_row_encode(buf, 1, -1, &row);
	for (uint32 len = 4; len < size; len++)
	{
		correct_checksum(len, 1, -1);
		check(sliced_row_decode(&back, buf, len, 1, -1) ==
			  (len < 20 ? SLICED_ROW_TOO_SHORT : len < 32 ? SLICED_HEAD_TOO_SHORT :
			   SLICED_HEAD_TOO_SHORT_FOR_ROOT));
	}

	/* rows of nodes have numbers below the head's */
	row = node_row(50);
	check(decode_forged(row, -2) == SLICED_SOUND);
	check(decode_forged(row, SLICED_FIRST_SEQ) == SLICED_SOUND);
	check(decode_forged(row, -1) == SLICED_NODE_MISPLACED);
	check(decode_forged(row, 0) == SLICED_NODE_MISPLACED);
	check(decode_forged(row, 70) == SLICED_NODE_MISPLACED);
	row.continuations = 1;
	check(decode_forged(row, -2) == SLICED_NODE_IMPOSSIBLE);
	row = node_row(50);
	row.codec = SLICED_CODEC_LZ4;
	row.rawlen = 100;
	check(decode_forged(row, -2) == SLICED_NODE_IMPOSSIBLE);
	row = node_row(50);
	row.rawlen = row.storedlen = 51;
	check(decode_forged(row, -2) == SLICED_SLICE_LENGTH_WRONG);
	check(decode_forged(slice_row(50), -2) == SLICED_SLICE_MISPLACED);
}

/* A node with children of all kinds, which owns a slice. */
#define OBJECT	1000

static SlicedChild some_children[] = {
	{SLICED_CHILD_EXTENT, 0, 7, 1, 5000},
	{SLICED_CHILD_NODE, 3, 1000, -2, 70000},
	{SLICED_CHILD_EXTENT, 0, PG_UINT32_MAX, INT_MAX - 300, 300},
	{SLICED_CHILD_NODE, 16, 1, SLICED_FIRST_SEQ, INT_MAX},
	{SLICED_CHILD_NODE, 0, 900, -7, 4000, {{0x0123, 0x4567}, 89}},
	{SLICED_CHILD_NODE, 0, 900, -8, 4000},
	{SLICED_CHILD_EXTENT, 0, 900, 1, 300, {{0x0123, 0x4567}, 89}}
};
static SlicedItem some_items[] = {
	{NULL, 1, 0, 500},
	{payload, 0, 0, 3},
	{NULL, 1, 500, 69500},
	{NULL, 0, 4990, 10},
	{NULL, 2, 127, 1},
	{NULL, 2, 256, 44},
	{payload, 0, 0, 400},
	{NULL, 3, 16384, 128},
	{NULL, 4, 3, 64, true, {12345, SLICED_LIST_BITS - 3, 31}},
	{NULL, 4, 67, 40, true, {SLICED_LIST_BITS, 0, 0}},
	{NULL, 4, 107, 1},
	{NULL, 5, 0, 4, true, {0, SLICED_LIST_BITS / 2 + 1, 7}},
	{NULL, 6, 100, 50}
};

static SlicedNode
some_node(void)
{
	return (SlicedNode) {
		.owns = true, .nchildren = lengthof(some_children), .nitems = lengthof(some_items),
		.children = some_children, .items = some_items
	};
}

static bool
is_same_child(const SlicedChild *a, const SlicedChild *b)
{
	return a->kind == b->kind && a->height == b->height && a->objid == b->objid && a->seq == b->seq &&
		a->len == b->len && memcmp(&a->hint, &b->hint, sizeof(a->hint)) == 0;
}

static bool
is_same_list(const SlicedList *a, const SlicedList *b)
{
	return a->end == b->end && a->delta == b->delta && a->phase == b->phase;
}

static void
nodes(void)
{
	SlicedNode	node = some_node();
	uint32		size = sliced_node_size(&node, OBJECT);
	SlicedNode	back;
	uint32		len = 0;

	sliced_node_encode(buf, &node, OBJECT);
	check(sliced_node_decode(&back, buf, size, OBJECT, 0) == SLICED_SOUND);
	check(back.owns && back.nchildren == node.nchildren && back.nitems == node.nitems);
	for (int i = 0; i < node.nchildren; i++)
		check(is_same_child(&back.children[i], &node.children[i]));
	for (int i = 0; i < node.nitems; i++)
	{
		const SlicedItem *item = &node.items[i];

		check(back.items[i].len == item->len && (back.items[i].bytes == NULL) == (item->bytes == NULL));
		if (item->bytes != NULL)
			check(memcmp(back.items[i].bytes, item->bytes, item->len) == 0);
		else
			check(back.items[i].child == item->child && back.items[i].start == item->start &&
				  back.items[i].is_list == item->is_list && is_same_list(&back.items[i].list, &item->list));
		len += item->len;
	}
	check(back.len == len);
	check(sliced_node_size(&back, OBJECT) == size);
	sliced_node_free(&back);

	/* each prefix of it has fewer items, or is damaged */
	for (uint32 n = 0; n < size; n++)
		if (sliced_node_decode(&back, buf, n, OBJECT, 0) == SLICED_SOUND)
		{
			check(back.nitems < node.nitems);
			sliced_node_free(&back);
		}

	/* a borrowed child is as long as its owner says; without an owner there is none */
	some_children[3] = (SlicedChild) {.kind = SLICED_CHILD_BORROWED, .len = 16512};
	size = sliced_node_size(&node, OBJECT);
	sliced_node_encode(buf, &node, OBJECT);
	check(sliced_node_decode(&back, buf, size, OBJECT, 0) == SLICED_NODE_IMPOSSIBLE);
	check(sliced_node_decode(&back, buf, size, OBJECT, 16511) == SLICED_NODE_IMPOSSIBLE);
	check(sliced_node_decode(&back, buf, size, OBJECT, 16512) == SLICED_SOUND);
	check(back.children[3].kind == SLICED_CHILD_BORROWED && back.children[3].len == 16512);
	sliced_node_free(&back);
}

/* Decode these bytes as a node of object 10. */
static SlicedDamage
decode_node(const char *bytes, uint32 size)
{
	SlicedNode	node;
	SlicedDamage damage = sliced_node_decode(&node, bytes, size, 10, 0);

	if (damage == SLICED_SOUND)
		sliced_node_free(&node);
	return damage;
}

#define IS_NODE(bytes)	(decode_node(bytes, sizeof(bytes) - 1) == SLICED_SOUND)

static void
forged_nodes(void)
{
	/* literal bytes alone; a run: one child, an extent, object 10 - 0, seq 1, length 5 */
	check(IS_NODE("\x00" "\x0cxyz"));
	check(IS_NODE("\x02" "\x00\x00\x02\x05" "\x16\x00\x00"));

	/* nothing; no items; items of no bytes, of an unknown kind, or cut off */
	check(!IS_NODE(""));
	check(!IS_NODE("\x00"));
	check(!IS_NODE("\x00" "\x00"));
	check(!IS_NODE("\x00" "\x0f\x00"));
	check(!IS_NODE("\x00" "\x0cxy"));

	/* numbers: another way to write 0, one without an end, one of more than 32 bits */
	check(!IS_NODE("\x80\x00" "\x0cxyz"));
	check(!IS_NODE("\x00" "\x8c"));
	check(!IS_NODE("\x00" "\x84\x80\x80\x80\x10x"));
	check(!IS_NODE("\x00" "\x84\x80\x80\x80\x80\x00x"));

	/* more children than bytes; a child that has no run; a run of no child */
	check(!IS_NODE("\x7e" "\x00\x00\x02\x05" "\x16\x00\x00"));
	check(!IS_NODE("\x04" "\x00\x00\x02\x05" "\x00\x00\x10\x05" "\x16\x00\x00"));
	check(!IS_NODE("\x02" "\x00\x00\x02\x05" "\x16\x01\x00"));
	check(!IS_NODE("\x00" "\x15\x00"));

	/* runs of a child ascend, end where it ends, and do not overlap */
	check(IS_NODE("\x02" "\x00\x00\x02\x05" "\x0a\x00\x00" "\x09\x01"));
	check(!IS_NODE("\x02" "\x00\x00\x02\x05" "\x0a\x00\x00" "\x09\x02"));
	check(!IS_NODE("\x02" "\x00\x00\x02\x05" "\x1a\x00\x00"));
	check(!IS_NODE("\x02" "\x00\x00\x02\x05" "\x0a\x00\x04"));
	check(!IS_NODE("\x02" "\x00\x00\x02\x05" "\x0a\x00\x06"));

	/* extents: object 0, length 0, before 0, beyond 2^31, with a height; unknown kinds */
	check(!IS_NODE("\x02" "\x00\x14\x02\x05" "\x16\x00\x00"));
	check(!IS_NODE("\x02" "\x00\x00\x02\x00" "\x16\x00\x00"));
	check(!IS_NODE("\x02" "\x00\x00\x01\x05" "\x16\x00\x00"));
	check(!IS_NODE("\x02" "\x00\x00\xfe\xff\xff\xff\x0f\x05" "\x16\x00\x00"));
	check(!IS_NODE("\x02" "\x04\x00\x02\x05" "\x16\x00\x00"));
	check(!IS_NODE("\x02" "\x03\x00\x02\x05" "\x16\x00\x00"));

	/* nodes: -2 and below, of a possible height and length */
	check(IS_NODE("\x02" "\x01\x00\x03\x05\x00" "\x16\x00\x00"));
	check(!IS_NODE("\x02" "\x01\x00\x01\x05\x00" "\x16\x00\x00"));
	check(!IS_NODE("\x02" "\x01\x00\x02\x05\x00" "\x16\x00\x00"));
	check(IS_NODE("\x02" "\x41\x00\x03\x05" "\x16\x00\x00"));
	check(!IS_NODE("\x02" "\x45\x00\x03\x05" "\x16\x00\x00"));
	check(IS_NODE("\x02" "\x01\x00\x03\xff\xff\xff\xff\x07\x00" "\x16\x00\x00"));
	check(!IS_NODE("\x02" "\x01\x00\x03\x80\x80\x80\x80\x08\x00" "\x16\x00\x00"));

	/* extents with a hint, which must be a valid one */
	check(IS_NODE("\x02" "\x03\x00\x02\x05\x01\x07" "\x16\x00\x00"));
	check(!IS_NODE("\x02" "\x03\x00\x02\x05\x00" "\x16\x00\x00"));
	check(!IS_NODE("\x02" "\x03\x00\x02\x05\x81\x10\x07" "\x16\x00\x00"));
	check(!IS_NODE("\x02" "\x07\x00\x02\x05\x01\x07" "\x16\x00\x00"));

	/* hints: of height 0 only, any block, a possible offset */
	check(IS_NODE("\x02" "\x01\x00\x03\x05\x01\xff\xff\xff\xff\x0f" "\x16\x00\x00"));
	check(IS_NODE("\x02" "\x01\x00\x03\x05\x80\x10\x00" "\x16\x00\x00"));
	check(!IS_NODE("\x02" "\x01\x00\x03\x05\x81\x10\x00" "\x16\x00\x00"));
	check(!IS_NODE("\x02" "\x01\x00\x03\x05" "\x16\x00\x00"));
	check(!IS_NODE("\x02" "\x41\x00\x03\x05\x00" "\x16\x00\x00"));

	/* lists: whole words, ends and deltas of 28 bits, one of 32 phases */
	check(IS_NODE("\x02" "\x00\x00\x02\x08" "\x23\x00\x00" "\x05\x1f\x00"));
	check(IS_NODE("\x02" "\x00\x00\x02\x08" "\x23\x00\x00" "\xff\xff\xff\x7f\x00\xff\xff\xff\x7f"));
	check(!IS_NODE("\x02" "\x00\x00\x02\x08" "\x1b\x00\x00" "\x05\x1f\x00"));
	check(!IS_NODE("\x02" "\x00\x00\x02\x08" "\x23\x00\x00" "\x05\x20\x00"));
	check(!IS_NODE("\x02" "\x00\x00\x02\x08" "\x23\x00\x00" "\x80\x80\x80\x80\x01\x00\x00"));
	check(!IS_NODE("\x02" "\x00\x00\x02\x08" "\x23\x00\x00" "\x05\x1f\x80\x80\x80\x80\x01"));
	check(!IS_NODE("\x02" "\x00\x00\x02\x08" "\x23\x00\x01" "\x05\x1f\x00"));
	check(!IS_NODE("\x02" "\x00\x00\x02\x08" "\x23\x00\x00" "\x05\x1f"));

	/* an owner has an extent to own, but needs no run of it */
	check(!IS_NODE("\x01" "\x0cxyz"));
	check(!IS_NODE("\x03" "\x01\x00\x03\x05\x00" "\x16\x00\x00"));
	check(IS_NODE("\x03" "\x00\x00\x02\x05" "\x16\x00\x00"));
	check(IS_NODE("\x03" "\x00\x00\x02\x05" "\x0cxyz"));
	check(!IS_NODE("\x02" "\x00\x00\x02\x05" "\x0cxyz"));
	check(!IS_NODE("\x02" "\x02" "\x16\x00\x00"));

	/* all together too long for a value */
	check(!IS_NODE("\x04" "\x01\x00\x03\xff\xff\xff\xff\x07\x00" "\x01\x00\x05\xff\xff\xff\xff\x07\x00"
				   "\xfe\xff\xff\xff\x0f\x00\x00" "\xfe\xff\xff\xff\x0f\x01\x00"
				   "\xfd\xff\xff\xff\x0f\x00"));
}

static bool
read_nothing(void *arg, uint32 start, uint32 len, char *dst)
{
	return false;
}

/* A list with words that cannot be read has no end. */
static void
unreadable_lists(void)
{
	SlicedList	list = {.end = 7};
	uint32		end;
	char		word[4];

	check(sliced_list_find_end(&list, 0, read_nothing, NULL, &end) && end == 7);
	check(!sliced_list_find_end(&list, sizeof(word), read_nothing, NULL, &end));
	check(!sliced_list_read(&list, sizeof(word), sizeof(word), word, read_nothing, NULL));
}

/* Cutting ends, never makes a row too large, and wastes little. */
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
	/* alignment makes no difference */
	memmove(buf + 1, buf, 100);
	check(sliced_checksum(buf + 1, 100, 12345) == 0xF0E643FF);
}

/* The bits of the method alone do not make a pointer ours: a later major may give 3 a meaning. */
static void
pointers(void)
{
	struct varatt_external ptr;

	sliced_pointer_set(buf, 2, 3, 5000);
	check(sliced_pointer_get(&ptr, (struct varlena *) buf));
	check(sliced_pointer_size(&ptr) == 5000 && ptr.va_valueid == 3 && ptr.va_toastrelid == 2);
	for (uint32 method = 0; method <= SLICED_POINTER_METHOD; method++)
	{
		ptr.va_extinfo = 4999 | method << VARLENA_EXTSIZE_BITS;
		check(!sliced_pointer_is_ours(&ptr));
		ptr.va_extinfo = 5000 | method << VARLENA_EXTSIZE_BITS;
		check(sliced_pointer_is_ours(&ptr) == (method == SLICED_POINTER_METHOD));
	}
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
	run_test(forged_roots);
	run_test(nodes);
	run_test(forged_nodes);
	run_test(unreadable_lists);
	run_test(cutting);
	run_test(checksums);
	run_test(pointers);
	return unit_failures != 0;
}
