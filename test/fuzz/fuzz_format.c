/*
 * fuzz_format.c
 *	  Decode anything as a row, with its checksum made right so that the checks
 *	  behind it are reached; what is accepted can be encoded again.
 */
#include "postgres.h"

#include "codec/codec.h"
#include "format/checksum.h"
#include "format/row.h"

int			LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

/* At the beginning, or if it is a tail behind the data. */
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

/* Patches that can be decoded are the same when encoded again, unless their gaps were. */
static void
patches_again(const char *src, uint32 len, uint32 place)
{
	SlicedPatchReader patches = sliced_patch_reader(src, len, place);
	char	   *again = malloc(len + 1);

	while (sliced_patch_next(&patches))
	{
		uint32		size = sliced_patch_encode(again, &patches.patch, place);

		if (size > patches.next - src || size != sliced_patch_size(&patches.patch, place) ||
			memcmp(again + size - patches.patch.len, patches.patch.bytes, patches.patch.len) != 0)
			abort();
		src = patches.next;
		place = patches.place;
	}
	free(again);
}

static void
table_again(const SlicedRow *row)
{
	SlicedPatchTable table;
	uint32		size;
	char	   *again = malloc(row->patches_len);

	if (sliced_patch_table_decode(&table, row->patches, row->patches_len, &size) != SLICED_SOUND ||
		size != row->patches_len || sliced_patch_table_size(&table) != size)
		abort();
	sliced_patch_table_encode(again, &table);
	if (memcmp(again, row->patches, size) != 0)
		abort();
	patches_again(table.own, table.own_len, 0);
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

			for (int i = 0; i < row.npieces; i++)
				(void) sliced_row_piece(&row, i);
			if (row.patches != NULL)
				table_again(&row);
			if (row.kind == SLICED_ROW_PATCHES)
				patches_again(sliced_row_patches(&row), row.payload_len - 4, row.from);
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
