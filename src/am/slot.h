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

/* The slot holds a tuple as it is on disk: has it values outside? */
static inline bool
sliced_slot_has_values(const TupleTableSlot *slot)
{
	return sliced_tuple_has_values(((const HeapTupleTableSlot *) slot)->tuple->t_data);
}

/* Put a copy with the flag, and without the marker, in the place of the tuple. */
extern void sliced_slot_copy_flagged(TupleTableSlot *slot);

#endif
