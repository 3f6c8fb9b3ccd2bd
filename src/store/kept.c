/*
 * kept.c
 *	  Keeps slices that were read in memory, for readers of bytes here and there.
 */
#include "postgres.h"

#include "base/limits.h"
#include "store/kept.h"

static void
forget(SlicedKeptSlice *slice)
{
	if (OidIsValid(slice->objid))
		pfree(slice->raw);
	slice->objid = InvalidOid;
	slice->len = 0;
}

void
sliced_kept_forget(SlicedKept *kept)
{
	forget(&kept->long_one);
	forget(&kept->short_one);
}

static uint32
read_from(const SlicedKeptSlice *slice, Oid objid, uint32 pos, uint32 end, char *dst)
{
	uint32		n;

	if (slice->objid != objid || pos < slice->start || pos - slice->start >= slice->len)
		return 0;
	n = Min(end - pos, slice->start + slice->len - pos);
	memcpy(dst, slice->raw + (pos - slice->start), n);
	return n;
}

uint32
sliced_kept_read(const SlicedKept *kept, Oid objid, uint32 pos, uint32 end, char *dst)
{
	uint32		n = read_from(&kept->long_one, objid, pos, end, dst);

	return n > 0 ? n : read_from(&kept->short_one, objid, pos, end, dst);
}

SlicedDamage
sliced_kept_load(SlicedKept *kept, Oid objid, const SlicedSlice *slice, uint32 pos, uint32 end,
				 uint32 likely, char *dst, uint32 *n)
{
	SlicedKeptSlice *entry = slice->rawlen < SLICED_SMALL_EXTENT ? &kept->short_one : &kept->long_one;
	uint32		len = slice->rawlen;
	SlicedDamage damage;

	if (pos == slice->start && end - pos >= len)
	{
		*n = len;
		return sliced_slice_decompress(slice, 0, len, dst);
	}
	if (entry->objid != objid || entry->start != slice->start)
		len = Min(len, Max(Max(end, likely) - slice->start, SLICED_FIRST_PART));
	forget(entry);
	entry->raw = MemoryContextAlloc(kept->mcxt, len);
	damage = sliced_slice_decompress(slice, 0, len, entry->raw);
	if (damage != SLICED_SOUND)
	{
		pfree(entry->raw);
		return damage;
	}
	entry->objid = objid;
	entry->start = slice->start;
	entry->len = len;
	*n = read_from(entry, objid, pos, end, dst);
	return SLICED_SOUND;
}
