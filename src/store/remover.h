/*
 * remover.h
 *	  Deletes values from the toast relation.
 */
#ifndef SLICED_STORE_REMOVER_H
#define SLICED_STORE_REMOVER_H

#include "postgres.h"

#include "store/layout.h"
#include "utils/rel.h"

/*
 * Delete everything that a value owns.  The caller has deleted or replaced the row
 * with its pointer, and has opened the toast relation with RowExclusiveLock.  Rows
 * that are deleted already are passed over: core's toaster may have deleted them.
 *
 * With 'speculative' the value was written by this very command, for a row
 * whose insertion is taken back.
 */
extern void sliced_value_delete(Relation toastrel, Oid valueid, bool speculative);

/* Delete the rows of a name; on behalf of the value's owner.  The scan moves. */
extern void sliced_rows_delete(ToastScan *ts, const SlicedTreeName *name);

/* Delete one row of an object; on behalf of the value's owner, like all of this. */
extern void sliced_toast_row_delete(Relation toastrel, Oid objid, ItemPointer tid);

/* Bytes of chunk_data in the rows that this session has deleted with their values. */
extern uint64 sliced_bytes_deleted;

#endif
