/*
 * space.c
 *	  sliced.toast_space(): what is in the pages of a table's toast relation.
 *
 * Goes through all pages, or through some that are evenly spaced, and classifies rows
 * by their headers.  It puts no value together and decompresses nothing.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "base/compat.h"
#include "base/identity.h"
#include "base/tables.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "store/toast_scan.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

typedef enum Measure
{
	LIVE_BYTES,					/* of rows that a transaction may see */
	DEAD_BYTES,					/* of rows that were deleted, or never committed */
	FREE_BYTES,					/* for new rows */
	HEADS,						/* of values, or with an object's first slice */
	DERIVED,					/* heads with a root: of changed or cut values */
	NODES,						/* besides roots */
	SLICES,
	RAW_BYTES,					/* of slices */
	STORED_BYTES,
	CORE_VALUES,
	CORE_BYTES,
	N_MEASURES
} Measure;

typedef struct Space
{
	Relation	toastrel;
	TransactionId oldest_xmin;
	uint64		sums[N_MEASURES];
} Space;

static void
measure_row(Space *s, HeapTuple tuple)
{
	SlicedRow	row;
	int32		seq;
	const char *data;
	uint32		len;
	Oid			objid = sliced_toast_row_take_apart(s->toastrel, tuple, &seq, &data, &len);

	if (data == NULL || sliced_row_decode(&row, data, len, objid, seq) != SLICED_SOUND)
	{
		/* counted as core's; verify() finds the damage */
		s->sums[CORE_VALUES] += seq == 0;
		s->sums[CORE_BYTES] += len;
		return;
	}
	if (row.kind == SLICED_ROW_HEAD)
	{
		s->sums[HEADS]++;
		s->sums[DERIVED] += row.root != NULL;
	}
	if (row.kind == SLICED_ROW_ENTRY)
		return;					/* of the directory of dictionaries */
	if (row.kind == SLICED_ROW_NODE)
		s->sums[NODES]++;
	else if (row.kind != SLICED_ROW_CONTINUATION && row.rawlen > 0)
	{
		s->sums[SLICES]++;
		s->sums[RAW_BYTES] += row.rawlen;
	}
	s->sums[STORED_BYTES] += row.root_size + row.payload_len;
}

static void
measure_page(Space *s, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);

	if (PageIsNew(page))
	{
		s->sums[FREE_BYTES] += BLCKSZ;
		return;
	}
	s->sums[FREE_BYTES] += PageGetHeapFreeSpace(page);
	for (OffsetNumber i = FirstOffsetNumber; i <= PageGetMaxOffsetNumber(page); i++)
	{
		ItemId		lp = PageGetItemId(page, i);
		HeapTupleData tuple;

		if (!ItemIdIsNormal(lp))
			continue;
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, lp);
		tuple.t_len = ItemIdGetLength(lp);
		tuple.t_tableOid = RelationGetRelid(s->toastrel);
		ItemPointerSet(&tuple.t_self, BufferGetBlockNumber(buffer), i);
		switch (HeapTupleSatisfiesVacuum(&tuple, s->oldest_xmin, buffer))
		{
			case HEAPTUPLE_DEAD:
			case HEAPTUPLE_RECENTLY_DEAD:
				s->sums[DEAD_BYTES] += tuple.t_len;
				break;
			default:
				s->sums[LIVE_BYTES] += tuple.t_len;
				measure_row(s, &tuple);
		}
	}
}

/* Measure every page number n * step.  Returns how many pages that was. */
static BlockNumber
measure_pages(Space *s, BlockNumber npages, double step)
{
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	BlockNumber nread = 0;

	for (double at = 0; at < npages; at += step, nread++)
	{
		Buffer		buffer;

		CHECK_FOR_INTERRUPTS();
		buffer = ReadBufferExtended(s->toastrel, MAIN_FORKNUM, (BlockNumber) at, RBM_NORMAL,
									strategy);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		measure_page(s, buffer);
		UnlockReleaseBuffer(buffer);
	}
	FreeAccessStrategy(strategy);
	return nread;
}

static void
put_space(ReturnSetInfo *rsinfo, Oid relid, double percent)
{
	Relation	rel = relation_open(relid, NoLock);
	Space		s = {.toastrel = NULL};
	BlockNumber npages = 0;
	BlockNumber nread = 0;
	Datum		values[3 + N_MEASURES];
	bool		nulls[3 + N_MEASURES] = {false};

	if (OidIsValid(rel->rd_rel->reltoastrelid))
	{
		s.toastrel = table_open(rel->rd_rel->reltoastrelid, AccessShareLock);
		s.oldest_xmin = GetOldestNonRemovableTransactionId(s.toastrel);
		npages = RelationGetNumberOfBlocks(s.toastrel);
		nread = measure_pages(&s, npages, 100 / percent);
		table_close(s.toastrel, AccessShareLock);
	}
	relation_close(rel, NoLock);

	values[0] = sliced_table_datum(relid);
	values[1] = Int64GetDatum(npages);
	values[2] = Int64GetDatum(nread);
	for (int i = 0; i < N_MEASURES; i++)
		values[3 + i] = Int64GetDatum(nread == 0 ? 0 :
									  (int64) ((double) s.sums[i] * npages / nread + 0.5));
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

PG_FUNCTION_INFO_V1(sliced_toast_space);

Datum
sliced_toast_space(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	double		percent;
	ListCell   *lc;

	sliced_argument_check(fcinfo, 0, "rel");
	sliced_argument_check(fcinfo, 1, "percent");
	percent = PG_GETARG_FLOAT8(1);
	if (!(percent > 0 && percent <= 100))
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("percent must be above 0, and 100 at most"));
	InitMaterializedSRF(fcinfo, 0);
	/* counting rows tells little, but takes long: the same rights as for pgstattuple */
	foreach(lc, sliced_tables_lock(PG_GETARG_OID(0), SLICED_SCANNER, AccessShareLock))
		put_space(rsinfo, lfirst_oid(lc), percent);
	return (Datum) 0;
}
