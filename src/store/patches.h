/*
 * patches.h
 *	  Reads the patches of a value.
 *
 * Whoever has read bytes of an object for a value lays the value's patches over
 * them; the object itself is never changed.
 */
#ifndef SLICED_STORE_PATCHES_H
#define SLICED_STORE_PATCHES_H

#include "postgres.h"

#include "store/layout.h"

/* Has the value patches of this object?  Then '*base' is the place of its first byte. */
static inline bool
sliced_object_is_patched(const SlicedLayout *layout, Oid objid, uint32 *base)
{
	if (layout->patches == NULL)
		return false;
	for (int i = 0; i < layout->patches->nobjects; i++)
		if (layout->patches->objects[i].objid == objid)
		{
			*base = layout->patches->objects[i].base;
			return true;
		}
	return false;
}

/*
 * Lay the value's patches over bytes [from, to) of an object, which are at 'dest'.
 * The scan moves if the value has layers.
 */
extern SlicedDamage sliced_patches_apply(ToastScan *ts, const SlicedLayout *layout, Oid objid,
										 uint32 from, uint32 to, char *dest);

/*
 * Go through a layer, in the order of its rows.  The scan stands on a row if this
 * returns SLICED_SOUND and '*row' has its patches; at the end 'row->until' is
 * PG_INT32_MAX.  'at' is 0 for the first row, then the last row's 'until'.
 */
extern SlicedDamage sliced_layer_next(ToastScan *ts, Oid layer, uint32 at, SlicedRow *row);

/* The patches of a row. */
static inline SlicedPatchReader
sliced_row_patch_reader(const SlicedRow *row)
{
	return sliced_patch_reader(sliced_row_patches(row), row->payload_len - sizeof(uint32),
							   row->from);
}

#endif
