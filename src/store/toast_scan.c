/*
 * toast_scan.c
 *	  Walks over the rows of one object in the toast relation.
 *
 * The unique index on (chunk_id, chunk_seq) is the directory of slices.  Rows
 * are read where they are, in the buffer: the slot holds the pin.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/skey.h"
#include "access/stratnum.h"
#include "access/subtrans.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/toast_internals.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_type_d.h"
#include "executor/tuptable.h"
#include "storage/bufmgr.h"
#include "store/loaded.h"
#include "store/toast_file.h"
#include "store/toast_scan.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#define CACHE_LINE	64

void
sliced_scan_open(ToastScan *ts, Relation toastrel, Snapshot snapshot, LOCKMODE lockmode)
{
	Relation	index = sliced_toast_file_index(toastrel);

	ts->toastrel = toastrel;
	ts->indexes = NULL;
	ts->nindexes = 0;
	if (index == NULL)
	{
		int			valid = toast_open_indexes(toastrel, lockmode, &ts->indexes, &ts->nindexes);

		index = ts->indexes[valid];
	}
	ts->snapshot = snapshot;
	ts->mcxt = CurrentMemoryContext;
	ts->visibility = SLICED_SEE_READABLE;
	ts->slot = MakeSingleTupleTableSlot(RelationGetDescr(toastrel), &TTSOpsBufferHeapTuple);
	ts->scan = index_beginscan(toastrel, index, snapshot ? snapshot : SnapshotAny, NULL, 3, 0, 0);
}

void
sliced_scan_close(ToastScan *ts, LOCKMODE lockmode)
{
	index_endscan(ts->scan);
	ExecDropSingleTupleTableSlot(ts->slot);
	if (ts->indexes != NULL)
		toast_close_indexes(ts->indexes, ts->nindexes, lockmode);
}

void
sliced_scan_seek_within(ToastScan *ts, Oid objid, int32 first, int32 last)
{
	ScanKeyData keys[3];

	ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(objid));
	ScanKeyInit(&keys[1], 2, BTGreaterEqualStrategyNumber, F_INT4GE, Int32GetDatum(first));
	ScanKeyInit(&keys[2], 2, BTLessEqualStrategyNumber, F_INT4LE, Int32GetDatum(last));
	/* a condition that all rows meet costs a test; the index drops duplicates */
	if (first == SLICED_FIRST_SEQ)
		keys[1] = keys[2];
	else if (last == PG_INT32_MAX)
		keys[2] = keys[1];
	index_rescan(ts->scan, keys, lengthof(keys), NULL, 0);
	ts->objid = objid;
	ts->first = first;
	ts->last = last;
}

void
sliced_scan_seek(ToastScan *ts, Oid objid, int32 seq, ScanDirection dir)
{
	if (ScanDirectionIsForward(dir))
		sliced_scan_seek_within(ts, objid, seq, PG_INT32_MAX);
	else
		sliced_scan_seek_within(ts, objid, SLICED_FIRST_SEQ, seq);
}

/* True if a subtransaction of ours that was rolled back has written this. */
static bool
xid_is_own(TransactionId xid)
{
	TransactionId top = GetTopTransactionIdIfAny();

	return TransactionIdIsValid(top) && TransactionIdFollows(xid, top) &&
		TransactionIdEquals(SubTransGetTopmostTransaction(xid), top);
}

/* A reader takes a row unless its inserter aborted. */
static bool
row_is_readable(ToastScan *ts, HeapTuple tuple, Buffer buffer)
{
	TransactionId xmin,
				dead_after;
	HTSV_Result state;

	/* once set, this hint is never taken back: no lock needed */
	if (HeapTupleHeaderXminCommitted(tuple->t_data))
		return true;

	/* this variant says DEAD for an aborted inserter, and for nothing else */
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	state = HeapTupleSatisfiesVacuumHorizon(tuple, buffer, &dead_after);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (state != HEAPTUPLE_DEAD)
		return true;
	xmin = HeapTupleHeaderGetRawXmin(tuple->t_data);
	return ts->visibility != SLICED_SEE_READABLE &&
		TransactionIdFollowsOrEquals(xmin, TransactionXmin) &&
		(ts->visibility == SLICED_SEE_ABORTED || xid_is_own(xmin));
}

/*
 * True if the row would be there if all other transactions aborted now, and we
 * committed.
 */
static bool
row_is_current(HeapTuple tuple, Buffer buffer)
{
	TransactionId xmin = HeapTupleHeaderGetRawXmin(tuple->t_data);
	TransactionId dead_after;
	bool		result = false;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	switch (HeapTupleSatisfiesVacuumHorizon(tuple, buffer, &dead_after))
	{
		case HEAPTUPLE_LIVE:
			result = true;
			break;
		case HEAPTUPLE_INSERT_IN_PROGRESS:
			result = TransactionIdIsCurrentTransactionId(xmin);
			break;
		case HEAPTUPLE_DELETE_IN_PROGRESS:
			result = !TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetUpdateXid(tuple->t_data));
			break;
		case HEAPTUPLE_DEAD:
		case HEAPTUPLE_RECENTLY_DEAD:
			break;
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return result;
}

/* True if a row's data, with its length, ends with the row or before. */
static bool
chunk_is_sound(HeapTuple tuple, const struct varlena *chunk)
{
	const char *end = (char *) tuple->t_data + tuple->t_len;

	if ((char *) chunk >= end || VARATT_IS_EXTERNAL(chunk))
		return false;
	if (VARATT_IS_SHORT(chunk))
		return (char *) chunk + VARSIZE_SHORT(chunk) <= end;
	return !VARATT_IS_COMPRESSED(chunk) && (char *) chunk + VARHDRSZ <= end &&
		VARSIZE(chunk) >= VARHDRSZ && VARSIZE(chunk) <= end - (char *) chunk;
}

Oid
sliced_toast_row_take_apart(Relation toastrel, HeapTuple tuple, int32 *seq, const char **data,
							uint32 *len)
{
	TupleDesc	desc = RelationGetDescr(toastrel);
	bool		isnull;
	struct varlena *chunk;

	*seq = DatumGetInt32(fastgetattr(tuple, 2, desc, &isnull));
	chunk = (struct varlena *) DatumGetPointer(fastgetattr(tuple, 3, desc, &isnull));
	*data = NULL;
	*len = 0;
	if (!isnull && chunk_is_sound(tuple, chunk))
	{
		*data = VARDATA_ANY(chunk);
		*len = VARSIZE_ANY_EXHDR(chunk);
	}
	return DatumGetObjectId(fastgetattr(tuple, 1, desc, &isnull));
}

/*
 * The index of a file may be one that REINDEX has replaced.  VACUUM does not know
 * that index, so it leads to places that were given to other rows since, or to the
 * table again.
 */
static bool
scan_next_of_file(ToastScan *ts, ScanDirection dir)
{
	for (;;)
	{
		if (!ts->scan->xs_heap_continue)
		{
			ItemPointer tid = index_getnext_tid(ts->scan, dir);

			if (tid == NULL)
				return false;
			if (ItemPointerGetBlockNumber(tid) >= RelationGetNumberOfBlocks(ts->toastrel))
				continue;
		}
		if (index_fetch_heap(ts->scan, ts->slot))
			return true;
	}
}

static bool
scan_next_slot(ToastScan *ts, ScanDirection dir)
{
	MemoryContext old = MemoryContextSwitchTo(ts->mcxt);
	bool		result = ts->indexes == NULL ? scan_next_of_file(ts, dir) :
		index_getnext_slot(ts->scan, dir, ts->slot);

	MemoryContextSwitchTo(old);
	return result;
}

/*
 * Rows are scattered over shared memory, where the processor does not expect them:
 * tell it to fetch all of a row at once.
 */
static void
row_prefetch(HeapTuple tuple)
{
	for (uint32 i = 0; i < tuple->t_len; i += CACHE_LINE)
		__builtin_prefetch((char *) tuple->t_data + i);
}

static bool
row_is_visible(ToastScan *ts)
{
	BufferHeapTupleTableSlot *bslot = (BufferHeapTupleTableSlot *) ts->slot;
	HeapTuple	tuple = bslot->base.tuple;

	row_prefetch(tuple);
	if (ts->snapshot != NULL)
		return true;			/* the snapshot has decided */
	return ts->visibility == SLICED_SEE_CURRENT ? row_is_current(tuple, bslot->buffer) :
		row_is_readable(ts, tuple, bslot->buffer);
}

bool
sliced_scan_next(ToastScan *ts, ScanDirection dir)
{
	while (scan_next_slot(ts, dir))
	{
		HeapTuple	tuple = ((BufferHeapTupleTableSlot *) ts->slot)->base.tuple;

		if (!row_is_visible(ts))
			continue;
		ts->tid = tuple->t_self;
		if (sliced_toast_row_take_apart(ts->toastrel, tuple, &ts->seq, &ts->data, &ts->len) == ts->objid &&
			ts->seq >= ts->first && ts->seq <= ts->last)
			return true;
	}
	return false;
}

/*
 * A row never moves, unless the toast relation is rewritten by itself.  Then another
 * row is at its place, or none.
 */
bool
sliced_scan_is_at(ToastScan *ts, const ItemPointerData *tid, Oid objid, int32 seq)
{
	ItemPointerData place = *tid;
	HeapTuple	tuple;

	if (!ItemPointerIsValid(&place) ||
		ItemPointerGetBlockNumber(&place) >= RelationGetNumberOfBlocks(ts->toastrel) ||
		!table_tuple_fetch_row_version(ts->toastrel, &place,
									   ts->snapshot != NULL ? ts->snapshot : SnapshotAny, ts->slot) ||
		!row_is_visible(ts))
		return false;
	tuple = ((BufferHeapTupleTableSlot *) ts->slot)->base.tuple;
	ts->tid = tuple->t_self;
	ts->objid = sliced_toast_row_take_apart(ts->toastrel, tuple, &ts->seq, &ts->data, &ts->len);
	return ts->objid == objid && ts->seq == seq;
}

TransactionId
sliced_scan_inserter(ToastScan *ts)
{
	/* this includes rows that COPY FREEZE has inserted */
	return HeapTupleHeaderGetRawXmin(((BufferHeapTupleTableSlot *) ts->slot)->base.tuple->t_data);
}

bool
sliced_row_is_stale(Relation toastrel, TupleTableSlot *slot)
{
	BufferHeapTupleTableSlot *bslot = (BufferHeapTupleTableSlot *) slot;
	HeapTuple	tuple = bslot->base.tuple;
	Oid			objid;
	int32		seq;
	const char *data;
	uint32		len;
	SlicedRow	row;

	if (HeapTupleHeaderXminCommitted(tuple->t_data) &&
		(tuple->t_data->t_infomask & HEAP_XMAX_INVALID))
		return false;
	if (row_is_current(tuple, bslot->buffer))
		return false;
	objid = sliced_toast_row_take_apart(toastrel, tuple, &seq, &data, &len);
	return sliced_row_decode(&row, data, len, objid, seq) == SLICED_SOUND;
}

/*
 * Users know their tables, not the toast relations behind them: those are named
 * after the table's oid.
 */
static char *
owner_name(Relation toastrel)
{
	Oid			owner;

	if (sscanf(RelationGetRelationName(toastrel), "pg_toast_%u", &owner) == 1)
	{
		char	   *name = get_rel_name(owner);

		if (name != NULL)
			return name;
	}
	return RelationGetRelationName(toastrel);
}

void
sliced_report_corruption(Relation toastrel, Oid valueid, uint32 offset, SlicedDamage damage)
{
	if (sliced_is_newer(damage))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("value %u of table \"%s\" was stored by a newer release of pg_sliced: %s",
					   valueid, owner_name(toastrel), sliced_damage_text(damage)),
				errdetail("The library of this server knows format version %d.",
						  SLICED_FORMAT_VERSION),
				errhint("Install the newer release again: it reads what older ones have stored."));
	ereport(ERROR,
			errcode(ERRCODE_DATA_CORRUPTED),
			errmsg("value %u of table \"%s\" is corrupted at offset %u: %s",
				   valueid, owner_name(toastrel), offset,
				   sliced_damage_text(damage)),
			damage == SLICED_DICTIONARY_MISSING || damage == SLICED_DICTIONARY_DAMAGED ?
			errdetail("The dictionary is value %u of \"%s\".", sliced_loaded_not_found().id,
					  RelationGetRelationName(toastrel)) : 0,
			errhint("Find all damaged values of the table with sliced.verify()."));
}
