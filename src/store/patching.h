/*
 * patching.h
 *	  Changes of a few bytes, as patches.
 *
 * A change that replaces a few bytes by as many others leaves the pieces of a value
 * as they are and adds a patch (format/patches.h).  New patches are in the head of
 * the new value.  When these are too many they are merged with the newest layers of
 * patches, to a new layer.  Each layer has several times the patches of the next
 * newer one, so that a patch is written only a few times before the value is written
 * anew.
 *
 * A layer is written and deleted like slices: the value that needs it owns it, and
 * the value that takes its place owns those layers that it still lists.
 */
#ifndef SLICED_STORE_PATCHING_H
#define SLICED_STORE_PATCHING_H

#include "postgres.h"

#include "store/layout.h"
#include "store/rope.h"
#include "store/writer.h"

typedef struct SlicedPatchList
{
	int			n;
	int			max;
	SlicedPatch *patches;
} SlicedPatchList;

typedef struct SlicedPatching
{
	const SlicedLayout *old;	/* what is changed */
	uint32		old_size;
	SlicedPatchTable table;		/* of the new value */
	SlicedPatchList added;		/* patches of this change, in order when it is written */
	int			nmerged;		/* layers of the old value that are merged */
} SlicedPatching;

/*
 * How many pieces of the new value have bytes [start, end) of an object, or some of
 * them?
 */
typedef int (*SlicedPieceCounter) (void *arg, Oid objid, uint32 start, uint32 end);

/* Prepare to change a value of 'old_size' bytes. */
extern void sliced_patching_begin(SlicedPatching *p, const SlicedLayout *old, uint32 old_size);

/*
 * Run 'i' of a rope of the old value is new bytes.  If these and those in the runs that
 * follow, up to '*next', take the place of bytes [*start, *start + *len) of the old
 * value, add patches for them.  False if that is not so, or not possible.  The bytes
 * of the rope must last until the change is written.
 */
extern bool sliced_patching_add(SlicedPatching *p, const SlicedRope *rope, int i, int *next,
								uint32 *start, uint32 *len);

/*
 * Put the patches in order.  False if several pieces of the new value have the bytes
 * of one, which is therefore wrong in some of them.
 */
extern bool sliced_patching_fit(SlicedPatching *p, SlicedPieceCounter count, void *arg);

/* Bytes that all patches take, at most. */
extern uint64 sliced_patching_bytes(const SlicedPatching *p);

/*
 * Write those patches that do not stay in the head.  From then on p->table is what the
 * head says; it has no objects if there are no patches.
 */
extern void sliced_patching_write(SlicedPatching *p, SlicedWriter *writer,
								  SlicedPieceCounter count, void *arg);

/* Delete the layers that the new value does not have. */
extern void sliced_patching_drop(SlicedPatching *p, Relation toastrel);

extern void sliced_patching_free(SlicedPatching *p);

#endif
