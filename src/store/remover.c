/*
 * remover.c
 *	  Deletes values from the toast relation.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "store/remover.h"
#include "store/toast_scan.h"

void
sliced_toast_row_delete(Relation toastrel, Oid objid, ItemPointer tid)
{
	TM_FailureData tmfd;
	TM_Result	result = heap_delete(toastrel, tid, GetCurrentCommandId(true),
									 InvalidSnapshot, true, &tmfd, false);

	/* whoever owns the row owns the value, so nobody else was to touch it */
	if (result != TM_Ok)
		elog(ERROR, "unexpected result %d of deleting a row of value %u in \"%s\"",
			 result, objid, RelationGetRelationName(toastrel));
}

static void
delete_row(ToastScan *ts, bool speculative)
{
	/* a row of this very command: heap_delete() would not see it */
	if (speculative)
		heap_abort_speculative(ts->toastrel, &ts->tid);
	else
		sliced_toast_row_delete(ts->toastrel, ts->objid, &ts->tid);
}

static void
delete_object(Relation toastrel, Oid objid, bool speculative, List **shared)
{
	ToastScan	ts;

	sliced_scan_open(&ts, toastrel, NULL, RowExclusiveLock);
	ts.visibility = SLICED_SEE_CURRENT;
	sliced_scan_seek(&ts, objid, SLICED_HEAD_SEQ, ForwardScanDirection);
	while (sliced_scan_next(&ts, ForwardScanDirection))
	{
		SlicedRow	row;

		CHECK_FOR_INTERRUPTS();

		/* a damaged row must not keep its table row from being deleted */
		if (shared != NULL && ts.seq == SLICED_HEAD_SEQ &&
			sliced_row_decode(&row, ts.data, ts.len, objid, ts.seq) == NULL)
			for (int i = 0; i < row.npieces; i++)
				*shared = list_append_unique_oid(*shared, sliced_row_piece(&row, i).objid);
		delete_row(&ts, speculative);
	}
	sliced_scan_close(&ts, NoLock);
}

void
sliced_value_delete(Relation toastrel, Oid valueid, bool speculative)
{
	List	   *shared = NIL;
	ListCell   *lc;

	delete_object(toastrel, valueid, speculative, &shared);
	foreach(lc, shared)
	{
		Oid			objid = lfirst_oid(lc);

		if (OidIsValid(objid) && objid != valueid)
			delete_object(toastrel, objid, speculative, NULL);
	}
	list_free(shared);
}

void
sliced_value_delete_head(Relation toastrel, Oid valueid)
{
	ToastScan	ts;

	sliced_scan_open(&ts, toastrel, NULL, RowExclusiveLock);
	ts.visibility = SLICED_SEE_CURRENT;
	sliced_scan_seek(&ts, valueid, SLICED_HEAD_SEQ, ForwardScanDirection);
	if (sliced_scan_next(&ts, ForwardScanDirection) && ts.seq == SLICED_HEAD_SEQ)
		delete_row(&ts, false);
	sliced_scan_close(&ts, NoLock);
}
