/*
 * decoding.h
 *	  Decides what logical decoding must be able to see.
 */
#ifndef SLICED_DECODE_DECODING_H
#define SLICED_DECODE_DECODING_H

#include "postgres.h"

#include "access/htup.h"
#include "nodes/lockoptions.h"
#include "utils/rel.h"

extern bool sliced_is_decoded(Relation rel);
extern bool sliced_hides_slices(Relation rel);
extern bool sliced_announces_values(Relation rel);
extern bool sliced_logical_slot_exists(void);
extern void sliced_let_slots_go_on(void);
extern bool sliced_identity_needs_values(Relation rel, HeapTuple oldtup);
extern LockTupleMode sliced_update_lock(Relation rel, HeapTuple oldtup, HeapTuple newtup);

#endif
