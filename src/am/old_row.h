/*
 * old_row.h
 *	  The version of a row that an update or delete replaces.
 */
#ifndef SLICED_AM_OLD_ROW_H
#define SLICED_AM_OLD_ROW_H

#include "postgres.h"

#include "access/htup.h"
#include "access/tableam.h"
#include "nodes/lockoptions.h"
#include "utils/relcache.h"

/*
 * Returns a copy of the row version at 'tid' if it has values outside the row; NULL
 * otherwise.  If something is wrong with 'tid', heapam will find it.
 */
extern HeapTuple sliced_old_row_fetch(Relation rel, ItemPointer tid);

/*
 * Lock the row.  Any result but TM_Ok is what heap_update() or heap_delete() would
 * have returned, too.
 */
extern TM_Result sliced_old_row_lock(Relation rel, ItemPointer tid, LockTupleMode mode,
									 CommandId cid, bool wait, TM_FailureData *tmfd);

/*
 * True if others may change the header of this row until we have locked it.  They
 * mark rows of core's, and expose rows whose identity has values outside the row.
 * NULL is no row.
 */
extern bool sliced_old_row_may_change(Relation rel, HeapTuple row);

/* Lock such a row, and replace the copy by the row as it is now. */
extern TM_Result sliced_old_row_lock_and_look(Relation rel, HeapTuple *row, LockTupleMode mode,
											  CommandId cid, bool wait, TM_FailureData *tmfd);

/* True if an update may mark this row of core's. */
extern bool sliced_old_row_may_take(Relation rel, HeapTuple tuple, uint32 options);

/*
 * Mark the row of core's at 'tid', which the caller has locked, in its page.  The row
 * still says the same.  The page's other free rows become ours with it.
 */
extern void sliced_old_row_take(Relation rel, ItemPointer tid);

/*
 * Set or clear HEAP_HASEXTERNAL of a marked row, which the caller has locked: with
 * it, heapam logs the row's identity with its values.
 */
extern void sliced_old_row_expose(Relation rel, ItemPointer tid, bool expose);

#endif
