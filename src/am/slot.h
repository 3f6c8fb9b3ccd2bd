/*
 * slot.h
 *	  Marked rows in the slots of scans.
 *
 * On disk, a row with values of ours bears the marker instead of
 * HEAP_HASEXTERNAL.  A tuple that goes anywhere as a whole must bear the flag.
 */
#ifndef SLICED_AM_SLOT_H
#define SLICED_AM_SLOT_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "format/pointer.h"

/*
 * In tts_flags, where core uses the lowest bits: whoever gets what the scan puts
 * here takes columns from it, and never the tuple as a whole to somewhere else.  So
 * the tuple may stay as it is on disk.  plan/columns_only.c decides.
 */
#define SLICED_SLOT_COLUMNS_ONLY	((uint16) 1 << 15)

static inline bool
sliced_slot_takes_columns_only(const TupleTableSlot *slot)
{
	return (slot->tts_flags & SLICED_SLOT_COLUMNS_ONLY) != 0;
}

/* The slot holds a tuple of heap's, or a copy of one: is it marked? */
static inline bool
sliced_slot_is_marked(const TupleTableSlot *slot)
{
	return sliced_tuple_is_marked(((const HeapTupleTableSlot *) slot)->tuple->t_data);
}

/* Put a copy with the flag in the place of the tuple, which is marked. */
extern void sliced_slot_copy_flagged(TupleTableSlot *slot);

#endif
