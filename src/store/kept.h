/*
 * kept.h
 *	  Slices that were read stay in memory, for those who read bytes here and there.
 *
 * Who reads some of a slice reads more of it, perhaps after a few bytes of others: new bytes
 * between the runs of an old slice are short slices of their own.  So a long one is kept, and
 * a short one; and a slice that is wanted as a whole is of no use to anybody else.
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

/* How many of bytes [pos, end) of the object a slice that is kept has; they are copied to 'dst'. */
extern uint32 sliced_kept_read(const SlicedKept *kept, Oid objid, uint32 pos, uint32 end, char *dst);

/*
 * The same of a slice that has byte 'pos' and was not kept.  If only a part of it is wanted the
 * slice is kept now: its bytes before 'likely' and some more, or all of them if the last load of
 * this slice was too short.
 */
extern SlicedDamage sliced_kept_load(SlicedKept *kept, Oid objid, const SlicedSlice *slice, uint32 pos,
									 uint32 end, uint32 likely, char *dst, uint32 *n);

extern void sliced_kept_forget(SlicedKept *kept);

#endif
