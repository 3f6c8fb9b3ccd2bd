/*
 * remover.c
 *	  Deletes values from the toast relation.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "base/compat.h"
#include "base/stop.h"
#include "miscadmin.h"
#include "store/layout.h"
#include "store/remover.h"

uint64		sliced_bytes_deleted = 0;

void
sliced_toast_row_delete(Relation toastrel, Oid objid, ItemPointer tid)
{
	TM_FailureData tmfd;
	TM_Result	result = heap_delete(toastrel, tid, GetCurrentCommandId(true), 0,
									 InvalidSnapshot, true, &tmfd);

	SLICED_STOP("remove.row-deleted");
	/* nobody else may touch it: whoever owns the row owns the value */
	if (result != TM_Ok)
		elog(ERROR, "unexpected result %d of deleting a row of value %u in \"%s\"",
			 result, objid, RelationGetRelationName(toastrel));
}

static void
object_delete(ToastScan *ts, Oid objid, bool speculative)
{
	ts->visibility = SLICED_SEE_CURRENT;
	sliced_scan_seek(ts, objid, SLICED_HEAD_SEQ, ForwardScanDirection);
	while (sliced_scan_next(ts, ForwardScanDirection))
	{
		CHECK_FOR_INTERRUPTS();
		sliced_bytes_deleted += ts->len;
		/* a row of this very command: heap_delete() would not see it */
		if (speculative)
			heap_abort_speculative(ts->toastrel, &ts->tid);
		else
			sliced_toast_row_delete(ts->toastrel, ts->objid, &ts->tid);
		SLICED_STOP("remove.next-row");
	}
}

/*
 * Of which objects does the value have pieces, and in which are its patches?  The head may have been deleted
 * already, and damage must not keep the table's row from being deleted.
 */
static List *
objects_of_pieces(ToastScan *ts, Oid valueid)
{
	List	   *result = NIL;
	SlicedRow	head;

	if (sliced_head_find(ts, valueid, SLICED_HEAD_SEQ, &head) == SLICED_SOUND)
	{
		SlicedPatchTable table = {0};
		uint32		size;

		for (int i = 0; i < head.npieces; i++)
			result = list_append_unique_oid(result, sliced_row_piece(&head, i).objid);
		if (head.patches != NULL)
			(void) sliced_patch_table_decode(&table, head.patches, head.patches_len, &size);
		for (int i = 0; i < table.nlayers; i++)
			result = list_append_unique_oid(result, table.layers[i].objid);
	}
	return result;
}

void
sliced_object_delete(Relation toastrel, Oid objid)
{
	ToastScan	ts;

	sliced_scan_open(&ts, toastrel, NULL, RowExclusiveLock);
	object_delete(&ts, objid, false);
	sliced_scan_close(&ts, NoLock);
}

void
sliced_value_delete(Relation toastrel, Oid valueid, bool speculative)
{
	ToastScan	ts;
	List	   *shared;
	ListCell   *lc;

	sliced_scan_open(&ts, toastrel, NULL, RowExclusiveLock);
	shared = objects_of_pieces(&ts, valueid);
	object_delete(&ts, valueid, speculative);
	SLICED_STOP("remove.own-object-deleted");
	foreach(lc, shared)
		if (OidIsValid(lfirst_oid(lc)) && lfirst_oid(lc) != valueid)
			object_delete(&ts, lfirst_oid(lc), speculative);
	sliced_scan_close(&ts, NoLock);
	list_free(shared);
}
