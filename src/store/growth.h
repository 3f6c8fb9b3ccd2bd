/*
 * growth.h
 *	  Adds bytes to the end of a value without writing the old bytes.
 *
 * A value that only grows keeps its id: the pointer of each row version says how much
 * of it that version has.  The session that grows a value has its row locked, at the
 * top level of its transaction.
 */
#ifndef SLICED_STORE_GROWTH_H
#define SLICED_STORE_GROWTH_H

#include "postgres.h"

#include "access/detoast.h"
#include "base/limits.h"
#include "storage/itemptr.h"
#include "store/writer.h"

typedef struct SlicedGrowth
{
	Oid			objid;
	uint32		first;			/* where slices begin that the value's root does not name */
	uint32		end;			/* where the new bytes go in the object */

	/* the last slice, if it is a tail */
	bool		has_tail;
	bool		tail_is_ours;	/* this transaction wrote it */
	bool		may_update;		/* and there is room for another version of it */
	ItemPointerData tail_tid;
	uint32		tail_start;
	uint32		tail_len;
	uint32		tail_capacity;
	char		tail[SLICED_TAIL_MAX];
} SlicedGrowth;

/*
 * Look at the end of the value.  We assume that the version of the row that we see is
 * the newest.  The result holds if heap_update() then confirms that.  Returns false
 * if the value cannot grow.
 */
extern bool sliced_growth_prepare(SlicedGrowth *growth, Relation toastrel,
								  const struct varatt_external *value);

/* Add 'len' bytes. */
extern void sliced_growth_write(SlicedGrowth *growth, SlicedWriter *writer,
								const char *bytes, uint32 len,
								SlicedCompression compression);

#endif
