/*
 * modify.h
 *	  Inserts, updates and deletes of rows.
 */
#ifndef SLICED_AM_MODIFY_H
#define SLICED_AM_MODIFY_H

#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "base/compat.h"

extern void sliced_modify_callbacks(TableAmRoutine *routine);
extern void sliced_tuple_insert(Relation rel, TupleTableSlot *slot, CommandId cid,
								uint32 options, BulkInsertState bistate);
extern void sliced_tuple_insert_speculative(Relation rel, TupleTableSlot *slot, CommandId cid,
											uint32 options, BulkInsertState bistate,
											uint32 spec_token);
extern void sliced_multi_insert(Relation rel, TupleTableSlot **slots, int nslots,
								CommandId cid, uint32 options, BulkInsertState bistate);
extern TM_Result sliced_tuple_update(Relation rel, ItemPointer otid, TupleTableSlot *slot,
									 CommandId cid, uint32 options, Snapshot snapshot,
									 Snapshot crosscheck, bool wait, TM_FailureData *tmfd,
									 LockTupleMode *lockmode, TU_UpdateIndexes *update_indexes);

typedef enum SlicedRenewed
{
	SLICED_RENEWAL_DONE,
	SLICED_RENEWAL_WAITS,		/* another transaction has locked the row */
	SLICED_RENEWAL_CHANGED,		/* the row has another version now, or is gone */
	SLICED_RENEWAL_FOR_CORE		/* only core can store it */
} SlicedRenewed;

/*
 * Update a row to itself: values of 'columns' are stored as new ones, though nothing
 * has changed.  'oldtup' is the row as it is on disk; the caller has seen it there
 * under the active snapshot, and its toast relation is ours.  Never waits.
 * '*row_length' is set to the length of the new version, as stored.  Decoders see an
 * update that changes no large value, and nothing of what is stored.  If the row's
 * identity is decoded, it must not include such values.
 */
extern SlicedRenewed sliced_tuple_renew(Relation rel, HeapTuple oldtup, HeapTuple newtup,
										const bool *columns, CommandId cid,
										TU_UpdateIndexes *update_indexes, uint32 *row_length);
extern TM_Result sliced_tuple_delete(Relation rel, ItemPointer tid, CommandId cid,
									 uint32 options, Snapshot snapshot, Snapshot crosscheck,
									 bool wait, TM_FailureData *tmfd);

#endif
