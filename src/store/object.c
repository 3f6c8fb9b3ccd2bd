/*
 * object.c
 *	  Reads bytes of objects here and there.
 */
#include "postgres.h"

#include "base/limits.h"
#include "miscadmin.h"
#include "store/cursor.h"
#include "store/object.h"
#include "store/slice.h"

void
sliced_objects_forget(SlicedObjects *objects)
{
	if (OidIsValid(objects->objid))
		pfree(objects->raw);
	objects->objid = InvalidOid;
}

/*
 * Have the slice in memory that has byte 'pos', as far as bytes before 'end' need it, or all
 * of it the second time.
 */
static SlicedDamage
objects_load(SlicedObjects *objects, ToastScan *ts, Oid objid, uint32 pos, uint32 end)
{
	SlicedRow	row;
	SlicedSlice slice;
	uint32		start;
	uint32		len;
	SlicedDamage damage;

	if (objects->objid == objid && pos >= objects->start && pos - objects->start < objects->len)
		return SLICED_SOUND;
	damage = sliced_slice_find_nth(ts, objid, pos, 0, &row, &start);
	if (damage == SLICED_SOUND)
		damage = sliced_slice_gather(ts, &row, start, sliced_last_seq(pos + 1), &slice);
	if (damage != SLICED_SOUND)
		return damage;
	len = objects->objid == objid && objects->start == start ? slice.rawlen :
		Min(slice.rawlen, Max(end - start, SLICED_FIRST_PART));
	sliced_objects_forget(objects);
	objects->start = start;
	objects->len = len;
	objects->raw = MemoryContextAlloc(objects->mcxt, len);
	damage = sliced_slice_decompress(&slice, 0, len, objects->raw);
	if (damage == SLICED_SOUND)
		objects->objid = objid;
	else
		pfree(objects->raw);
	if (slice.buffer != NULL)
		pfree(slice.buffer);
	return damage;
}

SlicedDamage
sliced_objects_read(SlicedObjects *objects, ToastScan *ts, Oid objid, uint32 start, uint32 len,
					char *dst)
{
	while (len > 0)
	{
		SlicedDamage damage;
		uint32		n;

		CHECK_FOR_INTERRUPTS();
		damage = objects_load(objects, ts, objid, start, start + len);
		if (damage != SLICED_SOUND)
			return damage;
		n = Min(len, objects->start + objects->len - start);
		memcpy(dst, objects->raw + (start - objects->start), n);
		start += n;
		len -= n;
		dst += n;
	}
	return SLICED_SOUND;
}
