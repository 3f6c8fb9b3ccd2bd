/*
 * object.c
 *	  Reads bytes of objects here and there.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "store/cursor.h"
#include "store/object.h"

SlicedDamage
sliced_objects_read(SlicedKept *kept, ToastScan *ts, Oid objid, uint32 start, uint32 len, char *dst)
{
	uint32		end = start + len;

	while (start < end)
	{
		uint32		n = sliced_kept_read(kept, objid, start, end, dst);

		CHECK_FOR_INTERRUPTS();
		if (n == 0)
		{
			SlicedRow	row;
			SlicedSlice slice;
			uint32		at;
			SlicedDamage damage = sliced_slice_find_nth(ts, objid, start, 0, &row, &at);

			if (damage == SLICED_SOUND)
				damage = sliced_slice_gather(ts, &row, at, sliced_last_seq(start + 1), &slice);
			if (damage != SLICED_SOUND)
				return damage;
			damage = sliced_kept_load(kept, objid, &slice, start, end, end, dst, &n);
			if (slice.buffer != NULL)
				pfree(slice.buffer);
			if (damage != SLICED_SOUND)
				return damage;
		}
		start += n;
		dst += n;
	}
	return SLICED_SOUND;
}
