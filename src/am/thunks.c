/*
 * thunks.c
 *	  Callbacks whose arguments differ between majors.
 *
 * Our callbacks have the arguments of the newest major (modify.h, rewrite.h).  On
 * older majors, functions here take the older arguments and call them.  Callbacks
 * that only look at what heap's have done are here altogether.
 */
#include "postgres.h"

#include "am/foreign_toast.h"
#include "am/modify.h"
#include "am/rewrite.h"
#include "am/scan.h"
#include "am/thunks.h"
#include "base/identity.h"
#include "base/stop.h"
#include "commands/vacuum.h"
#include "decode/kept_files.h"
#include "decode/retention.h"

/* ---- rows in ---- */

#if PG_VERSION_NUM >= 190000

#define thunk_insert				sliced_tuple_insert
#define thunk_insert_speculative	sliced_tuple_insert_speculative
#define thunk_multi_insert			sliced_multi_insert
#define thunk_update				sliced_tuple_update
#define thunk_delete				sliced_tuple_delete
#define thunk_copy_for_cluster		sliced_relation_copy_for_cluster

#else

static void
thunk_insert(Relation rel, TupleTableSlot *slot, CommandId cid, int options,
			 BulkInsertState bistate)
{
	sliced_tuple_insert(rel, slot, cid, options, bistate);
}

static void
thunk_insert_speculative(Relation rel, TupleTableSlot *slot, CommandId cid, int options,
						 BulkInsertState bistate, uint32 spec_token)
{
	sliced_tuple_insert_speculative(rel, slot, cid, options, bistate, spec_token);
}

static void
thunk_multi_insert(Relation rel, TupleTableSlot **slots, int nslots, CommandId cid, int options,
				   BulkInsertState bistate)
{
	sliced_multi_insert(rel, slots, nslots, cid, options, bistate);
}

#if PG_VERSION_NUM >= 160000
typedef TU_UpdateIndexes WhichIndexes;
#else
typedef bool WhichIndexes;
#endif

static TM_Result
thunk_update(Relation rel, ItemPointer otid, TupleTableSlot *slot, CommandId cid,
			 Snapshot snapshot, Snapshot crosscheck, bool wait, TM_FailureData *tmfd,
			 LockTupleMode *lockmode, WhichIndexes *update_indexes)
{
	TU_UpdateIndexes which;
	TM_Result	result = sliced_tuple_update(rel, otid, slot, cid, 0, snapshot, crosscheck,
											 wait, tmfd, lockmode, &which);

	/* as a bool: true if any index needs an entry */
	*update_indexes = which;
	return result;
}

static TM_Result
thunk_delete(Relation rel, ItemPointer tid, CommandId cid, Snapshot snapshot,
			 Snapshot crosscheck, bool wait, TM_FailureData *tmfd, bool changing_part)
{
	return sliced_tuple_delete(rel, tid, cid,
							   changing_part ? TABLE_DELETE_CHANGING_PARTITION : 0,
							   snapshot, crosscheck, wait, tmfd);
}

static void
thunk_copy_for_cluster(Relation oldrel, Relation newrel, Relation index, bool use_sort,
					   TransactionId oldest_xmin, TransactionId *xid_cutoff,
					   MultiXactId *multi_cutoff, double *num_tuples, double *tups_vacuumed,
					   double *tups_recently_dead)
{
	sliced_relation_copy_for_cluster(oldrel, newrel, index, use_sort, oldest_xmin, NULL,
									 xid_cutoff, multi_cutoff, num_tuples, tups_vacuumed,
									 tups_recently_dead);
}

#endif

/* ---- rows out ---- */

#if PG_VERSION_NUM >= 190000

static bool
thunk_analyze_next_tuple(TableScanDesc scan, double *liverows, double *deadrows,
						 TupleTableSlot *slot)
{
	if (!sliced_heap->scan_analyze_next_tuple(scan, liverows, deadrows, slot))
		return false;
	sliced_flag_row(scan->rs_rd, slot);
	return true;
}

#else

static bool
thunk_analyze_next_tuple(TableScanDesc scan, TransactionId oldest_xmin, double *liverows,
						 double *deadrows, TupleTableSlot *slot)
{
	if (!sliced_heap->scan_analyze_next_tuple(scan, oldest_xmin, liverows, deadrows, slot))
		return false;
	sliced_flag_row(scan->rs_rd, slot);
	return true;
}

#endif

#if PG_VERSION_NUM >= 180000

static bool
thunk_bitmap_next_tuple(TableScanDesc scan, TupleTableSlot *slot, bool *recheck,
						uint64 *lossy_pages, uint64 *exact_pages)
{
	bool		found = false;

	if (!sliced_is_retained(scan->rs_rd))
		found = sliced_heap->scan_bitmap_next_tuple(scan, slot, recheck, lossy_pages, exact_pages);
	else
	{
		SLICED_RETAIN_BEGIN(scan->rs_rd);
		found = sliced_heap->scan_bitmap_next_tuple(scan, slot, recheck, lossy_pages, exact_pages);
		SLICED_RETAIN_END();
	}
	if (!found)
		return false;
	sliced_flag_scanned_row(scan, slot);
	return true;
}

#else

static bool
thunk_bitmap_next_block(TableScanDesc scan, struct TBMIterateResult *tbmres)
{
	bool		result = false;

	if (!sliced_is_retained(scan->rs_rd))
		return sliced_heap->scan_bitmap_next_block(scan, tbmres);
	SLICED_RETAIN_BEGIN(scan->rs_rd);
	result = sliced_heap->scan_bitmap_next_block(scan, tbmres);
	SLICED_RETAIN_END();
	return result;
}

static bool
thunk_bitmap_next_tuple(TableScanDesc scan, struct TBMIterateResult *tbmres,
						TupleTableSlot *slot)
{
	if (!sliced_heap->scan_bitmap_next_tuple(scan, tbmres, slot))
		return false;
	sliced_flag_scanned_row(scan, slot);
	return true;
}

#endif

/* ---- dead rows ---- */

#if PG_VERSION_NUM >= 190000
typedef const VacuumParams VacuumHow;
#else
typedef VacuumParams VacuumHow;
#endif

static void
thunk_vacuum(Relation rel, VacuumHow *how, BufferAccessStrategy strategy)
{
	SLICED_RETAIN_BEGIN(rel);
	sliced_heap->relation_vacuum(rel, how, strategy);
	SLICED_RETAIN_END();
}

/* ---- files ---- */

#if PG_VERSION_NUM < 160000
#define relation_set_new_filelocator	relation_set_new_filenode
#endif

static void
thunk_set_new_filelocator(Relation rel, const RelFileLocator *locator, char persistence,
						  TransactionId *freeze_xid, MultiXactId *min_multi)
{
	sliced_new_file_check(rel);
	sliced_heap->relation_set_new_filelocator(rel, locator, persistence, freeze_xid, min_multi);
	SLICED_STOP("file.made");
}

static void
thunk_nontransactional_truncate(Relation rel)
{
	if (sliced_is_retained(rel))
		sliced_toast_empty(rel);
	else
		sliced_heap->relation_nontransactional_truncate(rel);
}

void
sliced_thunk_callbacks(TableAmRoutine *routine)
{
	routine->tuple_insert = thunk_insert;
	routine->tuple_insert_speculative = thunk_insert_speculative;
	routine->multi_insert = thunk_multi_insert;
	routine->tuple_update = thunk_update;
	routine->tuple_delete = thunk_delete;
	routine->relation_copy_for_cluster = thunk_copy_for_cluster;
	routine->scan_analyze_next_tuple = thunk_analyze_next_tuple;
	routine->scan_bitmap_next_tuple = thunk_bitmap_next_tuple;
#if PG_VERSION_NUM < 180000
	routine->scan_bitmap_next_block = thunk_bitmap_next_block;
#endif
	routine->relation_vacuum = thunk_vacuum;
	routine->relation_nontransactional_truncate = thunk_nontransactional_truncate;
	routine->relation_set_new_filelocator = thunk_set_new_filelocator;
}
