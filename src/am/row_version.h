/*
 * row_version.h
 *	  The parts of a tuple that say which row version it is.
 */
#ifndef SLICED_AM_ROW_VERSION_H
#define SLICED_AM_ROW_VERSION_H

#include "postgres.h"

#include "access/htup_details.h"

/* heapam has stored 'stored' in place of 'tuple': make 'tuple' the same row version. */
static inline void
sliced_become_version(HeapTuple tuple, HeapTuple stored)
{
	HeapTupleHeader to = tuple->t_data;
	HeapTupleHeader from = stored->t_data;

	tuple->t_self = stored->t_self;
	to->t_choice = from->t_choice;
	to->t_ctid = from->t_ctid;
	to->t_infomask = (to->t_infomask & ~HEAP_XACT_MASK) | (from->t_infomask & HEAP_XACT_MASK);
	to->t_infomask2 = (to->t_infomask2 & ~HEAP2_XACT_MASK) |
		(from->t_infomask2 & HEAP2_XACT_MASK);
}

#endif
