/*
 * page_rows.c
 *	  Reads the rows of single pages of a table, for samples.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "base/compat.h"
#include "learn/page_rows.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"

void
sliced_page_rows_begin(SlicedPageRows *rows, Relation rel, Snapshot snapshot)
{
	ItemPointerData none;

	ItemPointerSet(&none, 0, FirstOffsetNumber);
	rows->slot = table_slot_create(rel, NULL);
	/* a snapshot of another kind holds nothing back that it could let go */
	rows->snapshot = IsMVCCSnapshot(snapshot) ? RegisterSnapshot(snapshot) : snapshot;
	rows->scan = table_beginscan_tidrange(rel, rows->snapshot, &none, &none, 0);
}

void
sliced_page_rows_of(SlicedPageRows *rows, BlockNumber block)
{
	ItemPointerData first;
	ItemPointerData last;

	ItemPointerSet(&first, block, FirstOffsetNumber);
	ItemPointerSet(&last, block, MaxOffsetNumber);
	table_rescan_tidrange(rows->scan, &first, &last);
}

bool
sliced_page_rows_next(SlicedPageRows *rows)
{
	CHECK_FOR_INTERRUPTS();
	return table_scan_getnextslot_tidrange(rows->scan, ForwardScanDirection, rows->slot);
}

void
sliced_page_rows_end(SlicedPageRows *rows)
{
	table_endscan(rows->scan);
	if (IsMVCCSnapshot(rows->snapshot))
		UnregisterSnapshot(rows->snapshot);
	ExecDropSingleTupleTableSlot(rows->slot);
}
