/*
 * slot.h
 *	  Marked rows in the slots of scans.
 *
 * On disk, a row with values of ours bears the marker instead of HEAP_HASEXTERNAL.  A
 * tuple that leaves its scan as a whole must bear the flag.
 */
#ifndef SLICED_AM_SLOT_H
#define SLICED_AM_SLOT_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "format/pointer.h"

/*
 * In tts_flags, where core uses the lowest bits: the plan node that gets this slot
 * takes columns from it, and never passes the tuple on as a whole.  So the tuple may
 * stay as it is on disk.  plan/columns_only.c decides.
 */
#define SLICED_SLOT_COLUMNS_ONLY	((uint16) 1 << 15)

static inline bool
sliced_slot_takes_columns_only(const TupleTableSlot *slot)
{
	return (slot->tts_flags & SLICED_SLOT_COLUMNS_ONLY) != 0;
}

/* True if the tuple in the slot, as it is on disk, has values outside. */
static inline bool
sliced_slot_has_values(const TupleTableSlot *slot)
{
	return sliced_tuple_has_values(((const HeapTupleTableSlot *) slot)->tuple->t_data);
}

/* Replace the tuple by a copy with the flag and without the marker. */
extern void sliced_slot_copy_flagged(TupleTableSlot *slot);

#endif
