/*
 * object.h
 *	  Reads bytes of objects here and there.
 */
#ifndef SLICED_STORE_OBJECT_H
#define SLICED_STORE_OBJECT_H

#include "postgres.h"

#include "store/toast_scan.h"

/* The slice that was read last stays in memory, or its first bytes: who reads some of it reads more. */
typedef struct SlicedObjects
{
	Oid			objid;			/* of that slice; or InvalidOid */
	uint32		start;
	uint32		len;
	char	   *raw;			/* in 'mcxt' */
	MemoryContext mcxt;
} SlicedObjects;

/* Read bytes [start, start + len) of an object.  The scan moves. */
extern SlicedDamage sliced_objects_read(SlicedObjects *objects, ToastScan *ts, Oid objid,
										uint32 start, uint32 len, char *dst);

extern void sliced_objects_forget(SlicedObjects *objects);

#endif
