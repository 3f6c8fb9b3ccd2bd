/*
 * layout.c
 *	  What a value consists of: its head, taken apart.
 */
#include "postgres.h"

#include "store/layout.h"
#include "store/slice.h"

SlicedDamage
sliced_head_find(ToastScan *ts, Oid valueid, int32 last, SlicedRow *head)
{
	sliced_scan_seek_within(ts, valueid, SLICED_HEAD_SEQ, last);
	if (!sliced_scan_next(ts, ForwardScanDirection))
		return SLICED_VALUE_MISSING;
	if (ts->seq != SLICED_HEAD_SEQ)
		return ts->seq == 0 ? SLICED_NOT_SLICES : SLICED_HEAD_MISSING;
	return sliced_row_decode(head, ts->data, ts->len, valueid, ts->seq);
}

/* Copy the table of patches, which has been found sound. */
static SlicedDamage
patches_load(SlicedLayout *layout, const SlicedRow *head)
{
	char	   *memory;
	uint32		size;

	if (head->patches == NULL)
		return SLICED_SOUND;
	memory = palloc(sizeof(SlicedPatchTable) + head->patches_len);
	layout->patches = (SlicedPatchTable *) memory;
	memory = memcpy(memory + sizeof(SlicedPatchTable), head->patches, head->patches_len);
	return sliced_patch_table_decode(layout->patches, memory, head->patches_len, &size);
}

SlicedDamage
sliced_layout_load(SlicedLayout *layout, ToastScan *ts, const SlicedRow *head)
{
	SlicedSlice slice;
	SlicedDamage damage;
	char	   *raw;

	memset(layout, 0, sizeof(*layout));
	layout->valueid = ts->objid;
	layout->ascii = head->ascii;
	layout->garbage = head->garbage;
	if (head->npieces == 0)
		return head->patches == NULL ? SLICED_SOUND : SLICED_PATCHES_MISPLACED;

	layout->own = SLICED_OWN_START;
	layout->npieces = head->npieces;
	layout->pieces = palloc(head->npieces * sizeof(SlicedPiece));
	for (int i = 0; i < head->npieces; i++)
	{
		SlicedPiece *piece = &layout->pieces[i];

		*piece = sliced_row_piece(head, i);
		if (piece->len == 0 || piece->start > INT_MAX || piece->len > INT_MAX - layout->total ||
			(uint64) piece->start + piece->len > (piece->objid == 0 ? head->rawlen : INT_MAX))
			return SLICED_PIECE_IMPOSSIBLE;
		layout->total += piece->len;
		if (piece->objid == layout->valueid)
			layout->own = Max(layout->own, piece->start + piece->len);
	}

	damage = patches_load(layout, head);
	if (damage != SLICED_SOUND)
		return damage;
	layout->inline_len = head->rawlen;
	layout->inline_bytes = raw = palloc(head->rawlen + 1);
	damage = sliced_slice_gather(ts, head, 0, 0, &slice);
	if (damage == SLICED_SOUND)
		damage = sliced_slice_decompress(&slice, 0, head->rawlen, raw);
	if (slice.buffer)
		pfree(slice.buffer);
	return damage;
}

void
sliced_layout_free(SlicedLayout *layout)
{
	if (layout->pieces != NULL)
		pfree(layout->pieces);
	if (layout->patches != NULL)
		pfree(layout->patches);
	if (layout->inline_bytes != NULL)
		pfree((char *) layout->inline_bytes);
}
