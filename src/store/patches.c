/*
 * patches.c
 *	  Reads the patches of a value.
 *
 * The rows of a layer stand side by side: the first begins at place 0, each ends
 * where the next one begins, and the last one goes on for ever.  So one descent of
 * the index, backward from a place, finds the row that has its patches, and a row
 * that is missing is noticed.
 */
#include "postgres.h"

#include "base/limits.h"
#include "miscadmin.h"
#include "store/patches.h"

/* Lay patches over places [from, to), which are at 'dest'; false if they are damaged. */
static bool
patches_lay(SlicedPatchReader patches, uint32 from, uint32 to, char *dest)
{
	while (sliced_patch_next(&patches))
	{
		const SlicedPatch *patch = &patches.patch;
		uint32		first = Max(from, patch->place);
		uint32		next = Min(to, patch->place + patch->len);

		if (patch->place >= to)
			return true;
		if (first < next)
			memcpy(dest + (first - from), patch->bytes + (first - patch->place), next - first);
	}
	return patches.next == patches.end;
}

/* Decode the current row of a layer, which has to have place 'at'. */
static SlicedDamage
layer_row_decode(ToastScan *ts, uint32 at, SlicedRow *row)
{
	SlicedDamage damage = sliced_row_decode(row, ts->data, ts->len, ts->objid, ts->seq);

	if (damage != SLICED_SOUND)
		return damage;
	if (row->kind != SLICED_ROW_PATCHES)
		return SLICED_PATCHES_MISPLACED;
	return row->from <= at && at < row->until ? SLICED_SOUND : SLICED_PATCHES_MISSING;
}

/*
 * Find the row of a layer that has a place.  Of a layer of many rows only those are
 * looked at first that are near, if places are evenly patched.
 */
static SlicedDamage
layer_seek(ToastScan *ts, const SlicedLayer *layer, uint32 end, uint32 at, SlicedRow *row)
{
	uint32		nrows = layer->bytes / SLICED_PATCH_ROW + 1;
	uint32		near = end / nrows * 4;

	if (nrows > SLICED_MANY_PATCH_ROWS && at > near)
	{
		sliced_scan_seek_within(ts, layer->objid, 1 + at - near, 1 + at);
		if (sliced_scan_next(ts, BackwardScanDirection))
			return layer_row_decode(ts, at, row);
	}
	sliced_scan_seek_within(ts, layer->objid, 1, 1 + at);
	return sliced_scan_next(ts, BackwardScanDirection) ?
		layer_row_decode(ts, at, row) : SLICED_PATCHES_MISSING;
}

/* Lay a layer over places [from, to), which are at 'dest'. */
static SlicedDamage
layer_lay(ToastScan *ts, const SlicedLayer *layer, uint32 end, uint32 from, uint32 to, char *dest)
{
	SlicedRow	row;
	SlicedDamage damage = layer_seek(ts, layer, end, from, &row);

	for (bool first = true; damage == SLICED_SOUND; first = false)
	{
		CHECK_FOR_INTERRUPTS();
		if (!patches_lay(sliced_row_patch_reader(&row), from, to, dest))
			return SLICED_PATCHES_IMPOSSIBLE;
		if (row.until >= to)
			return SLICED_SOUND;
		if (first)
			sliced_scan_seek_within(ts, layer->objid, 1 + row.until, to);
		if (!sliced_scan_next(ts, ForwardScanDirection))
			return SLICED_PATCHES_MISSING;
		damage = layer_row_decode(ts, row.until, &row);
	}
	return damage;
}

SlicedDamage
sliced_patches_apply(ToastScan *ts, const SlicedLayout *layout, Oid objid, uint32 from,
					 uint32 to, char *dest)
{
	const SlicedPatchTable *table = layout->patches;
	uint32		base;

	if (from == to || !sliced_object_is_patched(layout, objid, &base))
		return SLICED_SOUND;
	if (to > table->end - base)
		return SLICED_PATCHES_MISPLACED;
	/* from the oldest to the newest */
	for (int i = table->nlayers - 1; i >= 0; i--)
	{
		SlicedDamage damage = layer_lay(ts, &table->layers[i], table->end, base + from,
										base + to, dest);

		if (damage != SLICED_SOUND)
			return damage;
	}
	return patches_lay(sliced_patch_reader(table->own, table->own_len, 0), base + from,
					   base + to, dest) ? SLICED_SOUND : SLICED_PATCHES_IMPOSSIBLE;
}

SlicedDamage
sliced_layer_next(ToastScan *ts, Oid layer, uint32 at, SlicedRow *row)
{
	SlicedDamage damage;

	if (at == 0)
		sliced_scan_seek_within(ts, layer, 1, PG_INT32_MAX);
	if (!sliced_scan_next(ts, ForwardScanDirection))
		return SLICED_PATCHES_MISSING;
	damage = layer_row_decode(ts, at, row);
	return damage == SLICED_SOUND && row->from != at ? SLICED_PATCHES_MISPLACED : damage;
}
