/*
 * layout.c
 *	  What a value consists of: its head, taken apart.
 */
#include "postgres.h"

#include "store/layout.h"
#include "store/slice.h"

const char *
sliced_layout_load(SlicedLayout *layout, ToastScan *ts, const SlicedRow *head)
{
	SlicedSlice slice;
	const char *problem;
	char	   *raw;

	memset(layout, 0, sizeof(*layout));
	layout->valueid = ts->objid;
	layout->ascii = head->ascii;
	layout->garbage = head->garbage;
	if (head->npieces == 0)
		return NULL;

	layout->own = SLICED_OWN_START;
	layout->npieces = head->npieces;
	layout->pieces = palloc(head->npieces * sizeof(SlicedPiece));
	for (int i = 0; i < head->npieces; i++)
	{
		SlicedPiece *piece = &layout->pieces[i];

		*piece = sliced_row_piece(head, i);
		if (piece->len == 0 || piece->start > INT_MAX || piece->len > INT_MAX - layout->total ||
			(uint64) piece->start + piece->len > (piece->objid == 0 ? head->rawlen : INT_MAX))
			return "impossible piece";
		layout->total += piece->len;
		if (piece->objid == layout->valueid)
			layout->own = Max(layout->own, piece->start + piece->len);
	}

	layout->inline_len = head->rawlen;
	layout->inline_bytes = raw = palloc(head->rawlen + 1);
	problem = sliced_slice_gather(ts, head, 0, 0, &slice);
	if (problem == NULL)
		problem = sliced_slice_decompress(&slice, 0, head->rawlen, raw);
	if (slice.buffer)
		pfree(slice.buffer);
	return problem;
}

void
sliced_layout_free(SlicedLayout *layout)
{
	if (layout->pieces != NULL)
		pfree(layout->pieces);
	if (layout->inline_bytes != NULL)
		pfree((char *) layout->inline_bytes);
}

SlicedPiece
sliced_layout_rest(const SlicedLayout *layout, uint32 size)
{
	SlicedPiece rest = {
		.objid = layout->valueid,
		.start = layout->own,
		.len = size > layout->total ? size - layout->total : 0
	};

	return rest;
}
