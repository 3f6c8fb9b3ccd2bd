/*
 * change.h
 *	  Stores a value as its differences from the one that it replaces.
 *
 * A change is planned before the row is updated, since the row needs the pointer, and
 * written when the update has succeeded.  The new value takes over slices of the old
 * one. Only versions of one row share slices, so the row's owner still owns
 * everything that its pointer leads to.
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
 * Plan how to store what the rope describes.  'new_id' is the id to take if the value
 * does not just grow; InvalidOid if none has been taken yet.
 */
extern void sliced_change_plan(SlicedChange *change, SlicedWriter *writer,
							   const SlicedRope *rope, Oid new_id,
							   SlicedCompression compression, const SlicedPolicy *policy);

/*
 * True if a rope found by comparing saves enough.  The change is written anew as well if
 * it does not, but the caller may know a shorter way.
 */
extern bool sliced_change_is_worth_it(Relation toastrel, const SlicedRope *rope);

/* Write it, and delete the rows of the old value that the new one does not share. */
extern void sliced_change_write(SlicedChange *change, SlicedWriter *writer);

#endif
