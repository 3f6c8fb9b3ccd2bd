/*
 * index_build.c
 *	  Builds of indexes that read long values.
 *
 * heapam decides which versions of rows get entries.  Some of those are dead for new
 * snapshots, and their values may be gone (dying.h).  So we ask heapam only for the
 * places of the versions, as if ctid were the index's column, and compute here what
 * the index wants of a version.  A version without its values, which no snapshot
 * sees, gets no entry.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/sysattr.h"
#include "am/dying.h"
#include "am/index_build.h"
#include "base/identity.h"
#include "base/stop.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "storage/bufmgr.h"

typedef struct IndexBuild
{
	Relation	rel;
	IndexInfo  *info;
	Bitmapset  *columns;		/* that the index reads */
	bool		anyvisible;
	IndexBuildCallback callback;
	void	   *callback_state;

	EState	   *estate;
	ExprContext *econtext;
	ExprState  *predicate;
	TupleTableSlot *slot;
	HeapTupleData tuple;		/* in the slot */
	Buffer		buffer;			/* of the last version */
} IndexBuild;

static void
load_version(IndexBuild *b, ItemPointer tid)
{
	Page		page;
	ItemId		lp;

	if (!BufferIsValid(b->buffer) ||
		BufferGetBlockNumber(b->buffer) != ItemPointerGetBlockNumber(tid))
		b->buffer = ReleaseAndReadBuffer(b->buffer, b->rel, ItemPointerGetBlockNumber(tid));
	/* heapam has pinned the page and has just looked at it */
	page = BufferGetPage(b->buffer);
	lp = PageGetItemId(page, ItemPointerGetOffsetNumber(tid));
	b->tuple.t_data = (HeapTupleHeader) PageGetItem(page, lp);
	b->tuple.t_len = ItemIdGetLength(lp);
	b->tuple.t_self = *tid;
	b->tuple.t_tableOid = RelationGetRelid(b->rel);
	ExecStoreBufferHeapTuple(&b->tuple, b->slot, b->buffer);
}

/* True if the version's deleter has committed, or its inserter aborted. */
static bool
version_is_over(IndexBuild *b)
{
	TransactionId dead_after;
	HTSV_Result state;

	LockBuffer(b->buffer, BUFFER_LOCK_SHARE);
	state = HeapTupleSatisfiesVacuumHorizon(&b->tuple, b->buffer, &dead_after);
	LockBuffer(b->buffer, BUFFER_LOCK_UNLOCK);
	return state == HEAPTUPLE_DEAD || state == HEAPTUPLE_RECENTLY_DEAD;
}

/*
 * Fetch what the index reads of the version in the slot.  Returns false if the values
 * are gone and so is the version.
 */
static bool
fetch_values(IndexBuild *b)
{
	MemoryContext old = MemoryContextSwitchTo(b->econtext->ecxt_per_tuple_memory);
	bool		found;

	slot_getallattrs(b->slot);
	found = sliced_row_fetch_values(b->rel, b->slot->tts_values, b->slot->tts_isnull, b->columns);
	SLICED_STOP("index.values-fetched");
	MemoryContextSwitchTo(old);
	return found || !version_is_over(b);
}

static void
build_entry(Relation index, ItemPointer tid, Datum *ctid, bool *ctid_isnull, bool alive,
			void *state)
{
	IndexBuild *b = state;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	ResetExprContext(b->econtext);
	load_version(b, (ItemPointer) DatumGetPointer(ctid[0]));
	/* some callers look at rows that others are changing; any may be dead by now */
	if ((!alive || b->anyvisible) && !fetch_values(b))
		return;
	if (b->predicate != NULL && !ExecQual(b->predicate, b->econtext))
		return;
	FormIndexDatum(b->info, b->slot, b->estate, values, isnull);
	SLICED_STOP("index.before-entry");
	b->callback(index, tid, values, isnull, alive, b->callback_state);
}

/*
 * True if the index may need values outside their rows, of versions that are dead.
 * '*columns' are the columns that it reads.
 */
static bool
reads_dying_values(Relation rel, IndexInfo *info, Bitmapset **columns)
{
	*columns = NULL;
	if (!OidIsValid(rel->rd_rel->reltoastrelid))
		return false;
	/* the scan then has a snapshot, which keeps the values of the rows it sees */
	if (info->ii_Concurrent)
		return false;
	*columns = sliced_index_columns(rel, info);
	return *columns != NULL;
}

double
sliced_index_build(Relation rel, Relation index, IndexInfo *info, bool allow_sync,
				   bool anyvisible, bool progress, BlockNumber start_block,
				   BlockNumber numblocks, IndexBuildCallback callback, void *callback_state,
				   TableScanDesc scan)
{
	IndexBuild	b = {
		.rel = rel,
		.info = info,
		.anyvisible = anyvisible,
		.callback = callback,
		.callback_state = callback_state
	};
	IndexInfo	ctid = *info;
	double		result;

	if (!reads_dying_values(rel, info, &b.columns))
		return sliced_heap->index_build_range_scan(rel, index, info, allow_sync, anyvisible,
												   progress, start_block, numblocks, callback,
												   callback_state, scan);

	ctid.ii_NumIndexAttrs = ctid.ii_NumIndexKeyAttrs = 1;
	ctid.ii_IndexAttrNumbers[0] = SelfItemPointerAttributeNumber;
	ctid.ii_Expressions = ctid.ii_Predicate = NIL;

	b.estate = CreateExecutorState();
	b.econtext = GetPerTupleExprContext(b.estate);
	b.slot = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsBufferHeapTuple);
	b.econtext->ecxt_scantuple = b.slot;
	b.predicate = ExecPrepareQual(info->ii_Predicate, b.estate);
	result = sliced_heap->index_build_range_scan(rel, index, &ctid, allow_sync, anyvisible,
												 progress, start_block, numblocks, build_entry,
												 &b, scan);
	info->ii_BrokenHotChain = ctid.ii_BrokenHotChain;
	SLICED_STOP("index.entries-made");

	ExecDropSingleTupleTableSlot(b.slot);
	if (BufferIsValid(b.buffer))
		ReleaseBuffer(b.buffer);
	FreeExecutorState(b.estate);
	/* they were compiled for that executor state */
	info->ii_ExpressionsState = NIL;
	info->ii_PredicateState = NULL;
	bms_free(b.columns);
	return result;
}
