/*
 * heap_bridge.h
 *	  Makes our tables pass for heap's where heapam insists on that.
 */
#ifndef SLICED_AM_HEAP_BRIDGE_H
#define SLICED_AM_HEAP_BRIDGE_H

#include "postgres.h"

#include "access/tableam.h"

extern void sliced_bridge_init(void);
extern void sliced_bridge_callbacks(TableAmRoutine *routine);

/*
 * Make 'rel' pass for a table of heap, and back.  Calls nest; between them an
 * error must lead to sliced_bridge_leave() as well (PG_FINALLY).
 */
typedef struct SlicedBridge
{
	Relation	rel;
	const TableAmRoutine *ours;
	struct SlicedBridge *outer;
} SlicedBridge;

extern void sliced_bridge_enter(SlicedBridge *bridge, Relation rel);
extern void sliced_bridge_leave(SlicedBridge *bridge);

/*
 * Make all those relations ours again while a query of a user's function runs; NULL
 * if there are none.  An error must lead to sliced_bridges_resume() as well.
 */
extern SlicedBridge *sliced_bridges_suspend(void);
extern void sliced_bridges_resume(SlicedBridge *suspended);

#endif
