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

/* Counting rows tells little, but takes long: the same rights as for pgstattuple. */
static void
check_allowed(Oid relid)
{
	if (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
		!has_privs_of_role(GetUserId(), ROLE_PG_STAT_SCAN_TABLES))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, get_rel_name(relid));
}

static void
check_table(Relation rel)
{
	const char *name = RelationGetRelationName(rel);

	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is a partitioned table", name),
				errhint("Ask for its partitions: SELECT s.* FROM pg_partition_tree('%s') p, sliced.toast_space(p.relid) s WHERE p.isleaf;",
						name));
	if (!sliced_is_ours(rel) || rel->rd_rel->relkind == RELKIND_TOASTVALUE)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a table of access method \"sliced\"", name));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot access temporary tables of other sessions"));
}

PG_FUNCTION_INFO_V1(sliced_toast_space);

Datum
sliced_toast_space(PG_FUNCTION_ARGS)
{
	double		percent = PG_GETARG_FLOAT8(1);
	Space		s = {.toastrel = NULL};
	BlockNumber npages = 0;
	BlockNumber nread = 0;
	Datum		values[2 + N_MEASURES];
	bool		nulls[2 + N_MEASURES] = {false};
	TupleDesc	desc;
	Relation	rel;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (!(percent > 0 && percent <= 100))
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("percentage of pages must be above 0, and 100 at most"));
	check_allowed(PG_GETARG_OID(0));
	rel = relation_open(PG_GETARG_OID(0), AccessShareLock);
	check_table(rel);
	if (OidIsValid(rel->rd_rel->reltoastrelid))
	{
		s.toastrel = table_open(rel->rd_rel->reltoastrelid, AccessShareLock);
		s.oldest_xmin = GetOldestNonRemovableTransactionId(s.toastrel);
		npages = RelationGetNumberOfBlocks(s.toastrel);
		nread = measure_pages(&s, npages, 100 / percent);
		table_close(s.toastrel, AccessShareLock);
	}
	relation_close(rel, AccessShareLock);

	values[0] = Int64GetDatum(npages);
	values[1] = Int64GetDatum(nread);
	for (int i = 0; i < N_MEASURES; i++)
		values[2 + i] = Int64GetDatum(nread == 0 ? 0 :
									  (int64) ((double) s.sums[i] * npages / nread + 0.5));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
