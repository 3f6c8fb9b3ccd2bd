/*
 * index_build.h
 *	  Building an index of a table that passes for one of heap.
 */
#ifndef SLICED_AM_INDEX_BUILD_H
#define SLICED_AM_INDEX_BUILD_H

#include "postgres.h"

#include "access/tableam.h"

/* the callback index_build_range_scan */
extern double sliced_index_build(Relation rel, Relation index, struct IndexInfo *info,
								 bool allow_sync, bool anyvisible, bool progress,
								 BlockNumber start_block, BlockNumber numblocks,
								 IndexBuildCallback callback, void *callback_state,
								 TableScanDesc scan);

#endif
