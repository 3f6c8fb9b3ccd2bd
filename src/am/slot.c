/*
 * slot.c
 *	  Marked rows in the slots of scans.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "am/slot.h"

void
sliced_slot_copy_flagged(TupleTableSlot *slot)
{
	HeapTupleHeader header;

	ExecMaterializeSlot(slot);
	header = ((HeapTupleTableSlot *) slot)->tuple->t_data;
	header->t_infomask |= HEAP_HASEXTERNAL;
	header->t_infomask2 &= ~SLICED_MARKER;
}
