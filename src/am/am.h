/*
 * am.h
 *	  The callbacks of the access method, by file.
 *
 * handler.c copies heap's routine and puts these in its place; whatever is not
 * here is heap's.
 */
#ifndef SLICED_AM_AM_H
#define SLICED_AM_AM_H

#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "base/compat.h"

/* heap's routine, for what we wrap */
extern const TableAmRoutine *sliced_heap;

/* scan.c: rows on their way out */
extern void sliced_scan_callbacks(TableAmRoutine *routine);

/* Has the slot that heap has filled a marked row?  Then flag it, in a copy. */
extern void sliced_flag_row(Relation rel, TupleTableSlot *slot);

/* The same in a scan: not if only columns are taken from the slot. */
extern void sliced_flag_scanned_row(TableScanDesc scan, TupleTableSlot *slot);

/* modify.c: rows on their way in, and out of the world */
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

/*
 * Update a row to itself: values of the columns 'anew' are stored as new ones, though
 * nothing has changed.  'oldtup', as it is on disk, has been seen there under the active
 * snapshot, and its toast relation is ours.  Never waits: a row that others
 * have locked stays as it is (TM_WouldBlock), and so does one that only core can
 * store (TM_Invisible).  '*row_length': of the new version, as stored.  Decoders see an
 * update that changes no large value, and nothing of what is stored.  The row's identity,
 * if that is decoded, must not include such values.
 */
extern TM_Result sliced_tuple_renew(Relation rel, HeapTuple oldtup, HeapTuple newtup,
									const bool *anew, CommandId cid,
									TU_UpdateIndexes *update_indexes, uint32 *row_length);
extern TM_Result sliced_tuple_delete(Relation rel, ItemPointer tid, CommandId cid,
									 uint32 options, Snapshot snapshot, Snapshot crosscheck,
									 bool wait, TM_FailureData *tmfd);

/*
 * heapam has stored 'stored' in place of 'tuple': make the two one and the same row
 * version.
 */
static inline void
sliced_header_adopt(HeapTuple tuple, HeapTuple stored)
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

/*
 * adopt.c: tables, and rows, that become ours.  May an update mark this row of
 * core's?
 */
extern bool sliced_may_take_row(Relation rel, HeapTuple tuple, uint32 options);

/* foreign_toast.c: toast relations, and tables, that others have exchanged */
extern void sliced_new_file_check(Relation rel);

/*
 * The slot has a marked row, as it is on disk, of a table with a foreign toast
 * relation: give it the row with its values.
 */
extern void sliced_slot_flatten(Relation rel, TupleTableSlot *slot);

/*
 * Make the table's toast relation, which is foreign, ours.  The caller has locked
 * both, so that nobody reads them, and nobody remembers their old state
 * afterwards.
 */
extern void sliced_toast_take_over(Relation rel);

/* Change the access method of a table, or toast relation, in the catalog. */
extern void sliced_relation_set_am(Oid relid, Oid am);

/* rewrite.c: VACUUM FULL and CLUSTER */
extern void sliced_relation_copy_for_cluster(Relation oldrel, Relation newrel, Relation index,
											 bool use_sort, TransactionId oldest_xmin,
											 Snapshot snapshot, TransactionId *xid_cutoff,
											 MultiXactId *multi_cutoff, double *num_tuples,
											 double *tups_vacuumed, double *tups_recently_dead);

/*
 * repack.c: copy the rows that 'snapshot' sees, while others go on changing the old
 * table.  REPACK CONCURRENTLY then repeats their changes.
 */
extern void sliced_copy_visible(Relation oldrel, Relation newrel, Relation index,
								bool use_sort, Snapshot snapshot, double *num_tuples);

/* thunks.c: callbacks whose arguments depend on the major */
extern void sliced_thunk_callbacks(TableAmRoutine *routine);

/* index_build.c: index_build_range_scan, of a table that passes for one of heap */
extern double sliced_index_build(Relation rel, Relation index, struct IndexInfo *info,
								 bool allow_sync, bool anyvisible, bool progress,
								 BlockNumber start_block, BlockNumber numblocks,
								 IndexBuildCallback callback, void *callback_state,
								 TableScanDesc scan);

/* heap_bridge.c: where heapam insists on heap */
extern void sliced_bridge_init(void);
extern void sliced_bridge_callbacks(TableAmRoutine *routine);

/*
 * Make 'rel' pass for a table of heap, and back.  Calls nest; between them an
 * error must lead to sliced_bridge_leave() as well (PG_FINALLY).
 */
typedef struct SlicedBridge
{
	Relation	rel;
	const TableAmRoutine *ours;
	struct SlicedBridge *outer;
} SlicedBridge;

extern void sliced_bridge_enter(SlicedBridge *bridge, Relation rel);
extern void sliced_bridge_leave(SlicedBridge *bridge);

/*
 * For as long as somebody's query runs, all those relations are ours again; NULL if
 * there are none.  An error must lead to sliced_bridges_resume() as well.
 */
extern SlicedBridge *sliced_bridges_suspend(void);
extern void sliced_bridges_resume(SlicedBridge *suspended);

/* decoder.c: gives values to output plugins.  Called once, when the library is loaded. */
extern void sliced_decoder_init(void);

/* late.c: has somebody decoded in this process before the library was loaded? */
extern void sliced_late_init(void);
extern void sliced_late_join(void);

/* decoding.c: what logical decoding must be able to see */
extern bool sliced_is_decoded(Relation rel);
extern bool sliced_hides_slices(Relation rel);
extern bool sliced_announces_values(Relation rel);
extern bool sliced_logical_slot_exists(void);
extern void sliced_let_slots_go_on(void);
extern bool sliced_identity_needs_values(Relation rel, HeapTuple oldtup);
extern LockTupleMode sliced_update_lock(Relation rel, HeapTuple oldtup, HeapTuple newtup);

#endif
