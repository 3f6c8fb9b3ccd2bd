/*
 * scan.h
 *	  Rows on their way out.
 */
#ifndef SLICED_AM_SCAN_H
#define SLICED_AM_SCAN_H

#include "postgres.h"

#include "access/tableam.h"

extern void sliced_scan_callbacks(TableAmRoutine *routine);

/* Has the slot that heap has filled a marked row?  Then flag it, in a copy. */
extern void sliced_flag_row(Relation rel, TupleTableSlot *slot);

/* The same in a scan: not if only columns are taken from the slot. */
extern void sliced_flag_scanned_row(TableScanDesc scan, TupleTableSlot *slot);

#endif
