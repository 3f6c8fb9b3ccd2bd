/*
 * object.h
 *	  Reads bytes of objects here and there.
 */
#ifndef SLICED_STORE_OBJECT_H
#define SLICED_STORE_OBJECT_H

#include "postgres.h"

#include "store/kept.h"
#include "store/toast_scan.h"

/* Read bytes [start, start + len) of an object.  The scan moves. */
extern SlicedDamage sliced_objects_read(SlicedKept *kept, ToastScan *ts, Oid objid, uint32 start, uint32 len,
										char *dst);

#endif
