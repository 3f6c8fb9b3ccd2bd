/*
 * change.h
 *	  Stores a value as what differs from the one it replaces.
 *
 * Planned before the row is updated, since the row needs the pointer; written
 * when the update has succeeded.  The new value takes over what the old one had:
 * slices that both have are shared by versions of one row only, so the row's
 * owner still owns everything its pointer leads to.
 */
#ifndef SLICED_STORE_CHANGE_H
#define SLICED_STORE_CHANGE_H

#include "postgres.h"

#include "store/growth.h"
#include "store/rope.h"
#include "store/writer.h"

typedef struct SlicedChange
{
	const SlicedRope *rope;		/* its base is the value that is replaced */
	Oid			valueid;		/* for the pointer */
	SlicedCompression compression;
	const SlicedPolicy *policy;
	bool		grows;
	SlicedGrowth growth;
} SlicedChange;

/*
 * Plan how to store what the rope describes.  'new_id' is an id to take if the
 * value does not just grow; InvalidOid if none has been taken yet.
 */
extern void sliced_change_plan(SlicedChange *change, SlicedWriter *writer,
							   const SlicedRope *rope, Oid new_id,
							   SlicedCompression compression, const SlicedPolicy *policy);

/* Write it, and delete of the old value what is not shared. */
extern void sliced_change_write(SlicedChange *change, SlicedWriter *writer);

#endif
