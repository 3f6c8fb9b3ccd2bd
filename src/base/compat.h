/*
 * compat.h
 *	  The only place that knows for which PostgreSQL major it is compiled.
 *
 * Older majors are shaped like newer ones here, so that the rest reads as if
 * only the newest existed.
 */
#ifndef SLICED_BASE_COMPAT_H
#define SLICED_BASE_COMPAT_H

#include "postgres.h"

#include "utils/snapmgr.h"

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 160000
#error "this version of pg_sliced is for PostgreSQL 15"
#endif

/* May rows that our snapshot sees have been vacuumed (old_snapshot_threshold)? */
static inline bool
sliced_snapshot_may_be_too_old(void)
{
	return OldSnapshotThresholdActive();
}

#endif
