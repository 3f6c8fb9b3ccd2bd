/*
 * kept.h
 *	  Keeps slices that were read in memory, for readers of bytes here and there.
 *
 * A reader of some bytes of a slice reads more of it later, perhaps after a few bytes
 * of other slices: new bytes between the runs of an old slice are short slices of
 * their own. So we keep a long slice and a short one.  A slice that is read as a
 * whole is not needed again.
 */
#ifndef SLICED_STORE_KEPT_H
#define SLICED_STORE_KEPT_H

#include "postgres.h"

#include "store/slice.h"

typedef struct SlicedKeptSlice
{
	Oid			objid;			/* or InvalidOid */
	uint32		start;
	uint32		len;			/* bytes that were decompressed */
	char	   *raw;
} SlicedKeptSlice;

typedef struct SlicedKept
{
	MemoryContext mcxt;
	SlicedKeptSlice long_one;
	SlicedKeptSlice short_one;
} SlicedKept;

/*
 * Copy bytes [pos, end) of the object to 'dst', as many of them as a kept slice has.
 * Returns their number.
 */
extern uint32 sliced_kept_read(const SlicedKept *kept, Oid objid, uint32 pos, uint32 end, char *dst);

/*
 * The same from a slice that has byte 'pos' and was not kept.  If only a part of it
 * is wanted, keep the slice now: its bytes before 'likely' and some more, or all of
 * them if the last load of this slice was too short.
 */
extern SlicedDamage sliced_kept_load(SlicedKept *kept, Oid objid, const SlicedSlice *slice, uint32 pos,
									 uint32 end, uint32 likely, char *dst, uint32 *n);

extern void sliced_kept_forget(SlicedKept *kept);

#endif
