/*
 * fuzz_format.c
 *	  Decodes any bytes as a row, and as a node if the row is one.
 *
 * The checksum is made right, so that the checks behind it are reached.  Bytes that
 * are accepted can be encoded again.
 */
#include "postgres.h"

#include "codec/codec.h"
#include "format/checksum.h"
#include "format/node.h"
#include "format/row.h"

int			LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

/* The checksum is at the beginning, or behind the data of a tail. */
static void
correct_checksum(char *copy, uint32 len, uint32 objid, int32 seq)
{
	uint64		place = ((uint64) objid << 32) | (uint32) seq;
	uint32		end = len;
	uint32		sum;

	if (len <= 4 || copy[4] != ((SLICED_FORMAT_VERSION << 4) | SLICED_ROW_TAIL))
	{
		sum = sliced_checksum(copy + 4, len - 4, place);
		memcpy(copy, &sum, sizeof(sum));
		return;
	}
	while (end > 0 && copy[end - 1] == 0)
		end--;
	if (end < SLICED_TAIL_OVERHEAD)
		return;
	memset(copy, 0, 4);
	sum = sliced_checksum(copy + 4, end - 5 - 4, place);
	memcpy(copy + end - 5, &sum, sizeof(sum));
}

/* A decoded node is the same when encoded again, except for how runs are written. */
static void
node_again(const char *src, uint32 size, uint32 objid, uint32 borrowed)
{
	SlicedNode	node;
	SlicedNode	back;
	char	   *again;
	uint32		again_size;

	if (sliced_node_decode(&node, src, size, objid, borrowed) != SLICED_SOUND)
		return;
	again_size = sliced_node_size(&node, objid);
	if (again_size > size)
		abort();
	again = malloc(again_size);
	sliced_node_encode(again, &node, objid);
	if (sliced_node_decode(&back, again, again_size, objid, borrowed) != SLICED_SOUND ||
		back.owns != node.owns || back.len != node.len ||
		back.nchildren != node.nchildren || back.nitems != node.nitems)
		abort();
	for (uint32 i = 0; i < node.nchildren; i++)
		if (memcmp(&back.children[i], &node.children[i], sizeof(SlicedChild)) != 0 ||
			node.children[i].len == 0)
			abort();
	for (uint32 i = 0; i < node.nitems; i++)
	{
		const SlicedItem *item = &node.items[i];

		if (back.items[i].len != item->len || item->len == 0 ||
			(back.items[i].bytes == NULL) != (item->bytes == NULL))
			abort();
		if (item->bytes != NULL ? memcmp(back.items[i].bytes, item->bytes, item->len) != 0 :
			(back.items[i].child != item->child || back.items[i].start != item->start ||
			 item->start + item->len > node.children[item->child].len))
			abort();
	}
	sliced_node_free(&node);
	sliced_node_free(&back);
	free(again);
}

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	SlicedRow	row;
	uint32		objid = 1234;
	int32		seq;
	uint32		len = size - 4;
	char	   *copy;

	if (size < 4)
		return 0;
	memcpy(&seq, data, sizeof(seq));
	copy = memcpy(malloc(len + 1), data + 4, len);
	sliced_row_decode(&row, copy, len, objid, seq);
	if (len >= 4)
	{
		correct_checksum(copy, len, objid, seq);
		if (sliced_row_decode(&row, copy, len, objid, seq) == SLICED_SOUND)
		{
			char	   *again = malloc(sliced_row_size(&row));

			if (row.root != NULL)
				node_again(row.root, row.root_size, objid, 0);
			if (row.kind == SLICED_ROW_NODE)
			{
				node_again(row.payload, row.payload_len, objid, 0);
				node_again(row.payload, row.payload_len, objid, 131072);
			}
			if (sliced_row_size(&row) != len)
				abort();
			sliced_row_encode(again, objid, seq, &row);
			if (memcmp(again + 4, copy + 4, Min(len - 4, 16)) != 0)
				abort();
			free(again);
		}
	}
	free(copy);
	return 0;
}
