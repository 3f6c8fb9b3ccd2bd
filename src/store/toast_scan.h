/*
 * toast_scan.h
 *	  Walks over the rows of one object in the toast relation.
 *
 * Visibility is ours: a row counts unless its inserter aborted.  A session that holds
 * a pointer may see the row with that pointer, so the value was complete when that
 * row was written.  Older snapshots still need rows that were deleted or superseded
 * since, and unique checks read rows of transactions in progress.  Readers never look
 * at rows that the pointer does not cover.
 */
#ifndef SLICED_STORE_TOAST_SCAN_H
#define SLICED_STORE_TOAST_SCAN_H

#include "postgres.h"

#include "access/genam.h"
#include "access/sdir.h"
#include "base/compat.h"
#include "executor/tuptable.h"
#include "format/row.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

typedef enum SlicedVisibility
{
	SLICED_SEE_READABLE,		/* as described above */
	SLICED_SEE_OWN_ABORTED,		/* and rows that this transaction has rolled back */
	SLICED_SEE_ABORTED,			/* and rows of transactions that aborted since we
								 * look at the table */
	SLICED_SEE_CURRENT			/* rows that the row's owner sees: neither deleted
								 * nor superseded, nor another transaction's in
								 * progress */
} SlicedVisibility;

typedef struct ToastScan
{
	Relation	toastrel;
	Relation   *indexes;		/* NULL: it is a file (store/toast_file.h) */
	int			nindexes;
	Snapshot	snapshot;		/* NULL: our own visibility */
	SlicedVisibility visibility;	/* if so: which */
	MemoryContext mcxt;			/* of the scan, for what indexes allocate on the way */
	IndexScanDesc scan;
	TupleTableSlot *slot;

	/*
	 * The rows to look for, and the current row; 'data' stays valid until the next
	 * call.
	 */
	Oid			objid;
	int32		first,
				last;
	int32		seq;
	const char *data;
	uint32		len;
	ItemPointerData tid;
} ToastScan;

/*
 * Open a scan of 'toastrel', which the caller has opened with 'lockmode' or a
 * stronger lock.  'snapshot' NULL means the visibility described above.
 */
extern void sliced_scan_open(ToastScan *ts, Relation toastrel, Snapshot snapshot,
							 LOCKMODE lockmode);
extern void sliced_scan_close(ToastScan *ts, LOCKMODE lockmode);

/*
 * Position before the rows of 'objid' with chunk_seq >= 'seq' (forward) or
 * <= 'seq' (backward).
 */
extern void sliced_scan_seek(ToastScan *ts, Oid objid, int32 seq, ScanDirection dir);

/*
 * The same for rows with 'first' <= chunk_seq <= 'last'.  The index is read page by
 * page, and a page may have hundreds of an object's rows: it is worth saying where to
 * end.
 */
extern void sliced_scan_seek_within(ToastScan *ts, Oid objid, int32 first, int32 last);

/*
 * No slice has as many rows: it has at most SLICED_SLICE_MAX bytes, and all its
 * rows but the last have 2 kB.
 */
#define SLICED_MANY_ROWS	1024

/* The last chunk_seq that a row can have if its slice begins before 'end'. */
static inline int32
sliced_last_seq(uint32 end)
{
	return end < PG_INT32_MAX - SLICED_MANY_ROWS ? end + SLICED_MANY_ROWS : PG_INT32_MAX;
}

/* Step to the next row; false if there is none. */
extern bool sliced_scan_next(ToastScan *ts, ScanDirection dir);

/*
 * True if row 'seq' of 'objid' is still at 'tid'.  Then it is the current row of the
 * scan, which has not moved.
 */
extern bool sliced_scan_is_at(ToastScan *ts, const ItemPointerData *tid, Oid objid, int32 seq);

/*
 * Take a row of the toast relation apart, and return its chunk_id.  A row with broken
 * data counts as one without data, which no reader takes for sound.
 */
extern Oid	sliced_toast_row_take_apart(Relation toastrel, HeapTuple tuple, int32 *seq,
										const char **data, uint32 *len);

/* The transaction that inserted the current row. */
extern TransactionId sliced_scan_inserter(ToastScan *ts);

/*
 * True if the row in the slot (a heap tuple in a buffer) is one of ours that its
 * value's owner no longer has.  A value that has grown leaves such rows behind.  Core
 * deletes values by their ids and must not see them.
 */
extern bool sliced_row_is_stale(Relation toastrel, TupleTableSlot *slot);

/*
 * Raise ERRCODE_DATA_CORRUPTED for value 'valueid', at raw offset 'offset'.
 */
pg_noreturn extern void sliced_report_corruption(Relation toastrel, Oid valueid, uint32 offset,
												 SlicedDamage damage);

#endif
