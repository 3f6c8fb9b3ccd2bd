/*
 * cursor.h
 *	  Finds the slices of an object by the bytes they have.
 */
#ifndef SLICED_STORE_CURSOR_H
#define SLICED_STORE_CURSOR_H

#include "postgres.h"

#include "store/toast_scan.h"

/* Finds slices of one object, for one position after another. */
typedef struct SlicedCursor
{
	ToastScan  *ts;
	Oid			objid;
	ScanDirection moving;		/* how the scan moves over the object's rows: not at
								 * all yet, or forward, not past the position that
								 * is looked for next; or backward */
	uint32		end;			/* positions behind it are not looked for */
	bool		in_slice;		/* the first position is in the slice that begins at 'slice' */
	uint32		slice;
	ItemPointerData hint;		/* where its row may be, if it is only one */
} SlicedCursor;

/*
 * Find a slice that has byte 'pos': '*row' is its first row, '*start' where it
 * begins.
 */
extern SlicedDamage sliced_cursor_find(SlicedCursor *cursor, uint32 pos, SlicedRow *row,
									   uint32 *start);

/*
 * The same for slice number 'n' of those that have byte 'pos', counted from 0 and
 * from the last to begin.
 */
extern SlicedDamage sliced_slice_find_nth(ToastScan *ts, Oid objid, uint32 pos, int n,
										  SlicedRow *row, uint32 *start);

/*
 * The first row of the slice that has byte 'pos', damaged rows passed over; if no
 * slice has it, where it would begin.
 */
extern int32 sliced_slice_seq(ToastScan *ts, Oid objid, uint32 pos);

/*
 * Find the last row of an object, which is probably not before 'guess', and return
 * where the object ends.  0 if there is none, or if it is damaged.
 */
extern uint32 sliced_object_end(ToastScan *ts, Oid objid, uint32 guess, SlicedRow *last);

#endif
