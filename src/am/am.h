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
#include "access/tableam.h"

/* heap's routine, for what we wrap */
extern const TableAmRoutine *sliced_heap;

/* scan.c: rows on their way out */
extern void sliced_scan_callbacks(TableAmRoutine *routine);

/* modify.c: rows on their way in, and out of the world */
extern void sliced_modify_callbacks(TableAmRoutine *routine);

/*
 * heapam has stored 'stored' in place of 'tuple': make the two one and the same row
 * version.
 */
extern void sliced_header_adopt(HeapTuple tuple, HeapTuple stored);

/* foreign_toast.c: toast relations, and tables, that others have exchanged */
extern void sliced_foreign_toast_callbacks(TableAmRoutine *routine);

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

/* rewrite.c: VACUUM FULL and CLUSTER */
extern void sliced_relation_copy_for_cluster(Relation OldTable, Relation NewTable,
											 Relation OldIndex, bool use_sort,
											 TransactionId OldestXmin,
											 TransactionId *xid_cutoff,
											 MultiXactId *multi_cutoff,
											 double *num_tuples,
											 double *tups_vacuumed,
											 double *tups_recently_dead);

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

/* decoding.c: what logical decoding must be able to see */
extern bool sliced_is_decoded(Relation rel);
extern bool sliced_hides_slices(Relation rel);
extern bool sliced_identity_needs_values(Relation rel, HeapTuple oldtup);
extern LockTupleMode sliced_update_lock(Relation rel, HeapTuple oldtup, HeapTuple newtup);
extern void sliced_old_row_expose(Relation rel, ItemPointer tid, bool expose);

#endif
