/*
 * heap_bridge.c
 *	  Makes our tables pass for heap's where heapam insists on that.
 *
 * Index builds: heap_getnext() refuses relations whose routine is not heap's.  So we
 * exchange the routine while the scan runs.  The relcache may rebuild the entry
 * meanwhile (a concurrent GRANT is enough) and put our routine back; a relcache
 * callback exchanges it again.
 *
 * A function in an index expression may run queries of this very table, though one
 * that is really IMMUTABLE does not.  While they run the table is ours again: heap's
 * scan would hand out rows as they are on disk, and copies of these in other tables
 * would point to values that are not theirs.
 *
 * Long rows: heapam calls core's toaster for rows longer than a quarter of a page.
 * The toaster shortens them to toast_tuple_target, a storage parameter of the table.
 * If the table does not set it, we put ours in its place while heapam works on such a
 * row.
 *
 * An error undoes all of this.
 */
#include "postgres.h"

#include "am/heap_bridge.h"
#include "am/index_build.h"
#include "base/identity.h"
#include "base/invalidation.h"
#include "base/stop.h"
#include "decode/retention.h"
#include "utils/rel.h"

/* Innermost first. */
static SlicedBridge *bridges = NULL;

static void
exchange_again(Datum arg, Oid relid)
{
	for (SlicedBridge *b = bridges; b != NULL; b = b->outer)
		if (!OidIsValid(relid) || RelationGetRelid(b->rel) == relid)
			b->rel->rd_tableam = sliced_heap;
}

void
sliced_bridge_init(void)
{
	sliced_at_relation_change(exchange_again);
}

void
sliced_bridge_enter(SlicedBridge *bridge, Relation rel)
{
	bridge->rel = rel;
	bridge->ours = rel->rd_tableam;
	bridge->outer = bridges;
	bridges = bridge;
	rel->rd_tableam = sliced_heap;
}

void
sliced_bridge_leave(SlicedBridge *bridge)
{
	Assert(bridges == bridge);
	bridges = bridge->outer;
	bridge->rel->rd_tableam = bridge->ours;
}

SlicedBridge *
sliced_bridges_suspend(void)
{
	SlicedBridge *suspended = bridges;

	for (SlicedBridge *b = suspended; b != NULL; b = b->outer)
		b->rel->rd_tableam = b->ours;
	bridges = NULL;
	return suspended;
}

void
sliced_bridges_resume(SlicedBridge *suspended)
{
	Assert(bridges == NULL);
	bridges = suspended;
	for (SlicedBridge *b = suspended; b != NULL; b = b->outer)
		b->rel->rd_tableam = sliced_heap;
}

static double
sliced_index_build_range_scan(Relation rel, Relation index, struct IndexInfo *info,
							  bool allow_sync, bool anyvisible, bool progress,
							  BlockNumber start_block, BlockNumber numblocks,
							  IndexBuildCallback callback, void *callback_state,
							  TableScanDesc scan)
{
	SlicedBridge bridge;
	SlicedRetaining retaining;
	double		result = 0;

	sliced_bridge_enter(&bridge, rel);
	sliced_retain_enter(&retaining, rel);
	PG_TRY();
	{
		SLICED_STOP("index.before-build");
		result = sliced_index_build(rel, index, info, allow_sync, anyvisible, progress,
									start_block, numblocks, callback, callback_state, scan);
		SLICED_STOP("index.built");
	}
	PG_FINALLY();
	{
		sliced_retain_leave(&retaining);
		sliced_bridge_leave(&bridge);
	}
	PG_END_TRY();
	return result;
}

static void
sliced_index_validate_scan(Relation rel, Relation index, struct IndexInfo *info,
						   Snapshot snapshot, struct ValidateIndexState *state)
{
	SlicedBridge bridge;
	SlicedRetaining retaining;

	sliced_bridge_enter(&bridge, rel);
	sliced_retain_enter(&retaining, rel);
	PG_TRY();
	{
		SLICED_STOP("index.before-validation");
		sliced_heap->index_validate_scan(rel, index, info, snapshot, state);
		SLICED_STOP("index.validated");
	}
	PG_FINALLY();
	{
		sliced_retain_leave(&retaining);
		sliced_bridge_leave(&bridge);
	}
	PG_END_TRY();
}

void
sliced_bridge_callbacks(TableAmRoutine *routine)
{
	routine->index_build_range_scan = sliced_index_build_range_scan;
	routine->index_validate_scan = sliced_index_validate_scan;
}
