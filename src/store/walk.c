/*
 * walk.c
 *	  Visits all slices of a value, and whatever is wrong with them.
 *
 * Unlike the reader, it goes on after a problem and reports each once: after
 * damage it continues where the next good slice begins.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "format/pointer.h"
#include "miscadmin.h"
#include "store/cursor.h"
#include "store/layout.h"
#include "store/patches.h"
#include "store/walk.h"

typedef struct ValueWalk
{
	ToastScan  *ts;
	const SlicedVisitor *visitor;
} ValueWalk;

static void
walk_report(ValueWalk *w, SlicedProblemKind kind, int64 offset, const char *message)
{
	if (w->visitor->problem)
		w->visitor->problem(w->visitor->arg, kind, w->ts->objid, offset, message);
}

/* Report a row, or a slice, of which something is there. */
static void
walk_report_damage(ValueWalk *w, int64 offset, SlicedDamage damage)
{
	walk_report(w, SLICED_PROBLEM_CORRUPTED, offset, sliced_damage_text(damage));
}

/* Gather, try to decompress and show one slice; false if that is not possible. */
static bool
walk_slice(ValueWalk *w, const SlicedRow *row, uint32 start, int i, const SlicedPiece *piece,
		   bool reseek)
{
	SlicedSlice slice;
	SlicedDamage damage = sliced_slice_gather(w->ts, row, start, reseek ? PG_INT32_MAX : 0, &slice);

	if (damage == SLICED_SOUND)
	{
		char	   *raw = palloc(slice.rawlen + 1);

		damage = sliced_slice_decompress(&slice, 0, slice.rawlen, raw);
		pfree(raw);
	}
	if (damage != SLICED_SOUND)
		walk_report_damage(w, start, damage);
	else if (w->visitor->slice)
		w->visitor->slice(w->visitor->arg, i, piece, &slice);
	if (slice.buffer)
		pfree(slice.buffer);
	return damage == SLICED_SOUND;
}

/* Visit the slices in which a reader would find the bytes of the piece. */
static void
walk_as_reader(ValueWalk *w, int i, const SlicedPiece *piece)
{
	uint32		pos = piece->start;
	uint32		end = piece->start + piece->len;
	SlicedCursor cursor = {
		.ts = w->ts,
		.objid = piece->objid,
		.end = end,
		.moving = NoMovementScanDirection
	};

	while (pos < end)
	{
		SlicedRow	row;
		uint32		start;
		SlicedDamage damage = sliced_cursor_find(&cursor, pos, &row, &start);

		CHECK_FOR_INTERRUPTS();
		if (damage != SLICED_SOUND)
		{
			walk_report(w, SLICED_PROBLEM_MISSING, pos, sliced_damage_text(damage));
			return;
		}
		if (!walk_slice(w, &row, start, i, piece, ScanDirectionIsBackward(cursor.moving)))
			return;
		if (row.parts > 0)
			cursor.moving = ForwardScanDirection;
		pos = start + row.rawlen;
	}
}

static void
walk_object(ValueWalk *w, int i, const SlicedPiece *piece, bool whole)
{
	ToastScan  *ts = w->ts;
	uint32		pos = piece->start;
	uint32		end = piece->start + piece->len;
	bool		lost = false;	/* behind damage: where the next begins is unknown */

	if (ts->snapshot == NULL)
	{
		walk_as_reader(w, i, piece);
		return;
	}

	sliced_scan_seek(ts, piece->objid,
					 pos == 0 ? SLICED_HEAD_SEQ : sliced_slice_seq(ts, piece->objid, pos),
					 ForwardScanDirection);

	while ((pos < end || whole) && sliced_scan_next(ts, ForwardScanDirection))
	{
		SlicedRow	row;
		SlicedDamage damage = sliced_row_decode(&row, ts->data, ts->len, ts->objid, ts->seq);
		uint32		start = Max(ts->seq, 0);

		CHECK_FOR_INTERRUPTS();
		if (damage == SLICED_SOUND && row.kind == SLICED_ROW_PATCHES)
			damage = SLICED_PATCHES_MISPLACED;
		if (damage != SLICED_SOUND)
		{
			if (!lost)
				walk_report_damage(w, start, damage);
			lost = true;
			continue;
		}
		if (row.kind == SLICED_ROW_HEAD && (row.npieces > 0 || row.rawlen == 0))
			continue;
		if (start >= end)
		{
			if (whole && !lost)
				walk_report(w, SLICED_PROBLEM_EXCESS, start, "the value ends before this slice");
			break;
		}
		if (row.kind == SLICED_ROW_CONTINUATION || (start < pos && pos > piece->start))
		{
			/* of a slice that is damaged, or not there */
			if (!lost)
				walk_report(w, SLICED_PROBLEM_OVERLAP, start, "these bytes are there twice");
			if (row.kind == SLICED_ROW_CONTINUATION || start + row.rawlen <= pos)
				continue;
		}
		if (start > pos && !lost)
			walk_report(w, SLICED_PROBLEM_MISSING, pos, sliced_damage_text(SLICED_SLICE_MISSING));
		lost = !walk_slice(w, &row, start, i, piece, false);
		pos = start + row.rawlen;
	}
	if (pos < end && !lost)
		walk_report(w, SLICED_PROBLEM_MISSING, pos, sliced_damage_text(SLICED_SLICE_MISSING));
	else if (pos > end && whole)
		walk_report(w, SLICED_PROBLEM_EXCESS, end, "the value is longer than its pointer says");
}

/* Report slices of the object that neither a piece nor the rest of the value needs. */
static void
walk_unneeded(ValueWalk *w, const SlicedLayout *layout, uint32 size, Oid objid)
{
	ToastScan  *ts = w->ts;

	sliced_scan_seek(ts, objid, 0, ForwardScanDirection);
	while (sliced_scan_next(ts, ForwardScanDirection))
	{
		SlicedRow	row;
		uint32		start = ts->seq;
		SlicedPieceIterator it = {layout, size};
		bool		needed = false;

		CHECK_FOR_INTERRUPTS();
		if (sliced_row_decode(&row, ts->data, ts->len, objid, ts->seq) != SLICED_SOUND ||
			row.kind == SLICED_ROW_CONTINUATION)
			continue;
		while (!needed && sliced_piece_next(&it))
			needed = it.piece.objid == objid && it.piece.start < start + row.rawlen &&
				start < it.piece.start + it.piece.len;
		if (!needed)
			walk_report(w, SLICED_PROBLEM_EXCESS, start, "no piece of the value needs this slice");
	}
}

/* Are the patches of a row sound?  Adds their bytes to '*bytes'. */
static bool
row_patches_are_sound(const SlicedRow *row, uint64 *bytes)
{
	SlicedPatchReader patches = sliced_row_patch_reader(row);

	*bytes += row->payload_len - sizeof(uint32);
	while (sliced_patch_next(&patches))
		if (patches.place > row->until)
			return false;
	return patches.next == patches.end;
}

static void
walk_layer(ValueWalk *w, const SlicedLayer *layer)
{
	SlicedRow	row = {.until = 0};
	SlicedDamage damage;
	uint64		bytes = 0;

	do
	{
		uint32		at = row.until;

		CHECK_FOR_INTERRUPTS();
		damage = sliced_layer_next(w->ts, layer->objid, at, &row);
		if (damage == SLICED_SOUND && !row_patches_are_sound(&row, &bytes))
			damage = SLICED_PATCHES_IMPOSSIBLE;
		if (damage == SLICED_SOUND && w->visitor->patches)
			w->visitor->patches(w->visitor->arg, layer->objid, row.from,
								row.payload_len - sizeof(row.until));
		if (sliced_is_missing(damage))
			walk_report(w, SLICED_PROBLEM_MISSING, at, sliced_damage_text(damage));
		else if (damage != SLICED_SOUND)
			walk_report_damage(w, at, damage);
	} while (damage == SLICED_SOUND && row.until < PG_INT32_MAX);

	if (damage == SLICED_SOUND && bytes != layer->bytes)
		walk_report_damage(w, 0, SLICED_ROWS_DO_NOT_ADD_UP);
	if (damage == SLICED_SOUND && w->ts->snapshot != NULL &&
		sliced_scan_next(w->ts, ForwardScanDirection))
		walk_report(w, SLICED_PROBLEM_EXCESS, Max(w->ts->seq, 0), "the layer ends before this row");
}

static void
walk_patches(ValueWalk *w, const SlicedLayout *layout, uint32 size)
{
	SlicedPieceIterator it = {layout, size};
	uint32		base;

	w->ts->objid = layout->valueid;
	while (sliced_piece_next(&it))
		if (sliced_object_is_patched(layout, it.piece.objid, &base) &&
			it.piece.start + it.piece.len > layout->patches->end - base)
			walk_report_damage(w, it.at, SLICED_PATCHES_MISPLACED);
	if (w->visitor->patches && layout->patches->own_len > 0)
		w->visitor->patches(w->visitor->arg, InvalidOid, 0, layout->patches->own_len);
	for (int i = 0; i < layout->patches->nlayers; i++)
	{
		if (w->visitor->object)
			w->visitor->object(w->visitor->arg, layout->patches->layers[i].objid);
		walk_layer(w, &layout->patches->layers[i]);
	}
}

static void
walk_pieces(ValueWalk *w, SlicedRow *head, uint32 size)
{
	SlicedLayout layout;
	SlicedPieceIterator it = {&layout, size};
	bool		rest_walked = false;
	SlicedDamage damage = sliced_layout_load(&layout, w->ts, head);

	if (damage != SLICED_SOUND)
	{
		walk_report_damage(w, 0, damage);
		return;
	}
	if (layout.total > size)
		walk_report(w, SLICED_PROBLEM_POINTER, size,
					sliced_damage_text(SLICED_PIECES_TOO_LONG));

	if (head->rawlen > 0)
	{
		SlicedPiece inline_bytes = {.len = head->rawlen};

		walk_slice(w, head, 0, 0, &inline_bytes, false);
	}
	while (sliced_piece_next(&it))
	{
		int			i = it.next - 1;

		if (it.piece.objid == 0)
			continue;
		if (i == layout.npieces)
		{
			walk_object(w, i, &it.piece, true);
			rest_walked = true;
			continue;
		}
		if (w->visitor->object)
			w->visitor->object(w->visitor->arg, it.piece.objid);
		walk_object(w, i, &it.piece, false);
		if (w->ts->snapshot != NULL)
			walk_unneeded(w, &layout, size, it.piece.objid);
	}
	if (!rest_walked && w->ts->snapshot != NULL)
		walk_unneeded(w, &layout, size, layout.valueid);
	if (layout.patches != NULL)
		walk_patches(w, &layout, size);
	sliced_layout_free(&layout);
}

/* A value in core's format consists of chunks of known lengths. */
static void
walk_chunks(ValueWalk *w, const struct varatt_external *ptr)
{
	uint32		size = VARATT_EXTERNAL_GET_EXTSIZE(*ptr);
	uint32		have = 0;
	int32		next = 0;

	sliced_scan_seek(w->ts, ptr->va_valueid, SLICED_HEAD_SEQ, ForwardScanDirection);
	while (sliced_scan_next(w->ts, ForwardScanDirection))
	{
		uint32		expected = Min(size - have, TOAST_MAX_CHUNK_SIZE);

		CHECK_FOR_INTERRUPTS();
		if (w->ts->seq != next || expected == 0)
		{
			walk_report(w, w->ts->seq > next && expected > 0 ?
						SLICED_PROBLEM_MISSING : SLICED_PROBLEM_EXCESS,
						have, "unexpected chunk number");
			return;
		}
		if (w->ts->len != expected)
		{
			walk_report(w, SLICED_PROBLEM_CORRUPTED, have, "unexpected chunk length");
			return;
		}
		have += expected;
		next++;
	}
	if (have < size)
		walk_report(w, SLICED_PROBLEM_MISSING, have, "the chunk is missing");
}

void
sliced_value_walk(ToastScan *ts, const struct varatt_external *ptr,
				  const SlicedVisitor *visitor)
{
	ValueWalk	w = {.ts = ts, .visitor = visitor};
	uint32		size = sliced_pointer_size(ptr);
	SlicedRow	head;
	SlicedDamage damage;

	if (!sliced_pointer_is_ours(ptr))
	{
		walk_chunks(&w, ptr);
		return;
	}

	damage = sliced_head_find(ts, ptr->va_valueid, PG_INT32_MAX, &head);
	if (sliced_is_missing(damage) || damage == SLICED_NOT_SLICES)
		walk_report(&w, SLICED_PROBLEM_MISSING, 0, sliced_damage_text(damage));
	else if (damage != SLICED_SOUND)
		walk_report_damage(&w, 0, damage);
	else if (head.npieces > 0)
		walk_pieces(&w, &head, size);
	else
	{
		SlicedPiece whole = {.objid = ptr->va_valueid, .len = size};

		walk_object(&w, 0, &whole, true);
	}
}
