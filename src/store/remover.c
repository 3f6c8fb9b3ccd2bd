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
#include "utils/builtins.h"

uint64		sliced_bytes_deleted = 0;

void
sliced_toast_row_delete(Relation toastrel, Oid objid, ItemPointer tid)
{
	TM_FailureData tmfd;
	TM_Result	result = heap_delete(toastrel, tid, GetCurrentCommandId(true), 0,
									 InvalidSnapshot, true, &tmfd);

	SLICED_STOP("remove.row-deleted");
	/* only the owner of the row touches the value, unless there is damage */
	if (result != TM_Ok)
		ereport(ERROR,
				errcode(ERRCODE_DATA_CORRUPTED),
				errmsg("a row of value %u in \"%s\" has been changed by another session, or twice",
					   objid, RelationGetRelationName(toastrel)));
}

static void
object_delete(ToastScan *ts, Oid objid, bool speculative)
{
	ts->visibility = SLICED_SEE_CURRENT;
	sliced_scan_seek(ts, objid, SLICED_FIRST_SEQ, ForwardScanDirection);
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

/* Objects that a value has rows of. */
typedef struct Objects
{
	int			n;
	int			room;
	Oid		   *list;
} Objects;

static void
objects_add(void *arg, const SlicedTreeName *name)
{
	Objects    *objects = arg;

	if (objects->n > 0 && objects->list[objects->n - 1] == name->objid)
		return;
	if (objects->n == objects->room)
	{
		objects->room = Max(8, objects->room * 2);
		objects->list = objects->list == NULL ? palloc(objects->room * sizeof(Oid)) :
			repalloc_huge(objects->list, objects->room * sizeof(Oid));
	}
	objects->list[objects->n++] = name->objid;
}

/*
 * Find the objects that the value has rows of, besides that of its own id.  All
 * existing rows of an object belong to one value.  The head may have been deleted
 * already, and damage must not keep the table's row from being deleted.  So rows
 * below a node that cannot be read are left for verify to find.
 */
static void
objects_find(Objects *objects, ToastScan *ts, Oid valueid)
{
	SlicedRow	head;
	SlicedLayout layout;

	if (sliced_head_find(ts, valueid, SLICED_HEAD_SEQ, &head) != SLICED_SOUND)
		return;
	if (sliced_layout_load(&layout, ts, &head) == SLICED_SOUND && layout.root != NULL)
		sliced_layout_names(&layout, ts, objects_add, objects);
	sliced_layout_free(&layout);
	if (objects->n > 0)
		qsort(objects->list, objects->n, sizeof(Oid), oid_cmp);
}

void
sliced_value_delete(Relation toastrel, Oid valueid, bool speculative)
{
	ToastScan	ts;
	Objects		objects = {0};

	sliced_scan_open(&ts, toastrel, NULL, RowExclusiveLock);
	objects_find(&objects, &ts, valueid);
	object_delete(&ts, valueid, speculative);
	SLICED_STOP("remove.own-object-deleted");
	for (int i = 0; i < objects.n; i++)
		if (objects.list[i] != valueid && (i == 0 || objects.list[i] != objects.list[i - 1]))
			object_delete(&ts, objects.list[i], speculative);
	sliced_scan_close(&ts, NoLock);
	if (objects.list != NULL)
		pfree(objects.list);
}

void
sliced_rows_delete(ToastScan *ts, const SlicedTreeName *name)
{
	int32		first = name->seq > 0 || name->kind == SLICED_CHILD_NODE ? name->seq : SLICED_HEAD_SEQ;
	int32		last = name->kind == SLICED_CHILD_NODE ? name->seq : name->seq + (int32) name->len - 1;

	sliced_scan_seek_within(ts, name->objid, first, last);
	while (sliced_scan_next(ts, ForwardScanDirection))
	{
		CHECK_FOR_INTERRUPTS();
		sliced_toast_row_delete(ts->toastrel, name->objid, &ts->tid);
	}
}
