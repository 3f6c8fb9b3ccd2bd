/*
 * scan.h
 *	  Reads rows of the table.
 */
#ifndef SLICED_AM_SCAN_H
#define SLICED_AM_SCAN_H

#include "postgres.h"

#include "access/tableam.h"

extern void sliced_scan_callbacks(TableAmRoutine *routine);

/* If heap has put a row with values outside into the slot, flag it, in a copy. */
extern void sliced_flag_row(Relation rel, TupleTableSlot *slot);

/* The same in a scan: nothing to do if only columns are taken from the slot. */
extern void sliced_flag_scanned_row(TableScanDesc scan, TupleTableSlot *slot);

#endif
