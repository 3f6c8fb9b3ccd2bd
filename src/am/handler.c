/*
 * handler.c
 *	  The access method: heap's routine with some callbacks of our own.
 *
 * One access method plays two roles.  As the access method of a table it toasts
 * rows into slices; as that of the table's toast relation, which core creates
 * with it because relation_toast_am() says so, it answers core's requests for
 * ranges of a value.  Everything above, types and clients and dumps, sees
 * ordinary toast pointers.
 */
#include "postgres.h"

#include "access/heaptoast.h"
#include "am/heap_bridge.h"
#include "am/modify.h"
#include "am/scan.h"
#include "am/thunks.h"
#include "base/identity.h"
#include "decode/late.h"
#include "decode/retention.h"
#include "fmgr.h"
#include "store/reader.h"
#include "value/promise.h"

static Oid
sliced_relation_toast_am(Relation rel)
{
	return rel->rd_rel->relam;
}

static void
sliced_relation_fetch_toast_slice(Relation toastrel, Oid valueid, int32 attrsize,
								  int32 sliceoffset, int32 slicelength,
								  varlena *result)
{
	if (!sliced_promise_read(toastrel, valueid, attrsize, sliceoffset, slicelength,
							 VARDATA(result)) &&
		!sliced_value_read(toastrel, valueid, sliceoffset, slicelength, VARDATA(result)))
		heap_fetch_toast_slice(toastrel, valueid, attrsize, sliceoffset, slicelength, result);
}

PG_FUNCTION_INFO_V1(sliced_handler);

Datum
sliced_handler(PG_FUNCTION_ARGS)
{
	static TableAmRoutine routine;

	if (sliced_routine == NULL)
	{
		sliced_heap = GetHeapamTableAmRoutine();
		routine = *sliced_heap;
		sliced_scan_callbacks(&routine);
		sliced_modify_callbacks(&routine);
		sliced_bridge_callbacks(&routine);
		sliced_retention_callbacks(&routine);
		sliced_thunk_callbacks(&routine);
		routine.relation_toast_am = sliced_relation_toast_am;
		routine.relation_fetch_toast_slice = sliced_relation_fetch_toast_slice;
		sliced_routine = &routine;
	}
	sliced_late_join();
	sliced_handler_oid = fcinfo->flinfo->fn_oid;
	PG_RETURN_POINTER(sliced_routine);
}
