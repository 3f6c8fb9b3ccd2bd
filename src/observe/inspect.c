/*
 * inspect.c
 *	  sliced.inspect(): what one value consists of, slice by slice.
 *
 * For values that are stored as slices, pg_column_size() knows only the length in the
 * pointer, and pg_column_compression() knows nothing.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "access/table.h"
#include "access/toast_compression.h"
#include "access/toast_internals.h"
#include "base/identity.h"
#include "codec/codec.h"
#include "fmgr.h"
#include "format/pointer.h"
#include "funcapi.h"
#include "store/walk.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"
#include "value/promise.h"

/* One walk over the value. */
typedef struct Attempt
{
	ReturnSetInfo *result;
	bool		warn;			/* of problems */
	bool		any_problem;
} Attempt;

static void
inspect_put(ReturnSetInfo *result, int i, Oid objid, int64 start, uint32 rawlen, uint32 storedlen,
			const char *codec, int nrows)
{
	Datum		values[7];
	bool		isnull[7] = {false};

	values[0] = Int32GetDatum(i + 1);
	values[1] = ObjectIdGetDatum(objid);
	isnull[1] = !OidIsValid(objid);
	values[2] = Int64GetDatum(start);
	values[3] = Int32GetDatum(rawlen);
	values[4] = Int32GetDatum(storedlen);
	values[5] = CStringGetTextDatum(codec);
	values[6] = Int32GetDatum(nrows);
	tuplestore_putvalues(result->setResult, result->setDesc, values, isnull);
}

static void
inspect_on_slice(void *arg, int i, Oid objid, const SlicedSlice *slice)
{
	Attempt    *attempt = arg;

	inspect_put(attempt->result, i, objid, slice->start, slice->rawlen, slice->storedlen,
				slice->has_dictionary ?
				psprintf("%s, dictionary", sliced_codec_get(slice->codec)->name) :
				sliced_codec_get(slice->codec)->name, slice->nrows);
}

/* A node is shown by its name.  Its bytes are not bytes of the value. */
static void
inspect_on_node(void *arg, Oid objid, int32 seq, uint32 size)
{
	Attempt    *attempt = arg;
	ReturnSetInfo *result = attempt->result;
	Datum		values[7] = {0};
	bool		isnull[7] = {true, false, false, true, false, false, false};

	values[1] = ObjectIdGetDatum(objid);
	values[2] = Int64GetDatum(seq);
	values[4] = Int32GetDatum(size);
	values[5] = CStringGetTextDatum("node");
	values[6] = Int32GetDatum(1);
	tuplestore_putvalues(result->setResult, result->setDesc, values, isnull);
}

static void
inspect_on_problem(void *arg, SlicedProblemKind kind, Oid objid, int64 offset, const char *message)
{
	Attempt    *attempt = arg;

	attempt->any_problem = true;
	if (attempt->warn)
		ereport(WARNING,
				errcode(ERRCODE_DATA_CORRUPTED),
				errmsg("value %u is corrupted at offset %lld: %s", objid, (long long) offset,
					   message));
}

/*
 * Put the value's slices and return true if the value is whole.  If it is not, warn
 * or put nothing.
 */
static bool
try_to_inspect(ReturnSetInfo *result, const struct varatt_external *ptr, Snapshot snapshot,
			   SlicedVisibility visibility, bool warn)
{
	Attempt		attempt = {.result = result, .warn = warn};
	SlicedVisitor visitor = {
		.arg = &attempt,
		.slice = inspect_on_slice,
		.node = inspect_on_node,
		.problem = inspect_on_problem
	};
	Relation	toastrel = table_open(ptr->va_toastrelid, AccessShareLock);
	ToastScan	scan;

	sliced_scan_open(&scan, toastrel, snapshot, AccessShareLock);
	scan.visibility = visibility;
	sliced_value_walk(&scan, ptr, &visitor);
	sliced_scan_close(&scan, AccessShareLock);
	table_close(toastrel, AccessShareLock);
	if (attempt.any_problem && !warn)
		tuplestore_clear(result->setResult);
	return !attempt.any_problem;
}

/*
 * A slice may have several versions.  The statement's snapshot selects the right one
 * best.  But it does not see a value that the statement itself has written, as in
 * RETURNING, nor one that was rewritten or has grown since.  Readers find all of
 * these, so we report only what they do not find either.
 */
static void
inspect_ours(ReturnSetInfo *result, const struct varatt_external *ptr)
{
	Snapshot	snapshot = GetActiveSnapshot();

	if (!try_to_inspect(result, ptr, snapshot, SLICED_SEE_READABLE, false) &&
		!try_to_inspect(result, ptr, NULL, SLICED_SEE_CURRENT, false) &&
		!try_to_inspect(result, ptr, NULL, SLICED_SEE_READABLE, false))
		try_to_inspect(result, ptr, snapshot, SLICED_SEE_READABLE, true);
}

/* A value within its row, or one that core's toaster stored outside. */
static void
inspect_other(ReturnSetInfo *result, struct varlena *value)
{
	const char *codec = "none";
	uint32		stored = toast_datum_size(PointerGetDatum(value));
	uint32		raw = toast_raw_datum_size(PointerGetDatum(value)) - VARHDRSZ;
	Oid			valueid = InvalidOid;
	int			nrows = 0;

	switch (toast_get_compression_id(value))
	{
		case TOAST_PGLZ_COMPRESSION_ID:
			codec = "pglz";
			break;
		case TOAST_LZ4_COMPRESSION_ID:
			codec = "lz4";
			break;
		case TOAST_INVALID_COMPRESSION_ID:
			break;
	}
	if (VARATT_IS_EXTERNAL_ONDISK(value))
	{
		struct varatt_external ptr;

		VARATT_EXTERNAL_GET_POINTER(ptr, value);
		valueid = ptr.va_valueid;
		nrows = (stored + TOAST_MAX_CHUNK_SIZE - 1) / TOAST_MAX_CHUNK_SIZE;
	}
	else if (VARATT_IS_COMPRESSED(value))
		stored -= VARHDRSZ_COMPRESSED;
	else
		stored = raw;
	inspect_put(result, 0, valueid, 0, raw, stored, codec, nrows);
}

PG_FUNCTION_INFO_V1(sliced_inspect);

Datum
sliced_inspect(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	int16		typlen = get_typlen(get_fn_expr_argtype(fcinfo->flinfo, 0));
	struct varlena *value;
	struct varatt_external ptr;

	InitMaterializedSRF(fcinfo, 0);
	if (typlen != -1)
	{
		uint32		size = typlen > 0 ? typlen : strlen(DatumGetCString(PG_GETARG_DATUM(0)));

		inspect_put(result, 0, InvalidOid, 0, size, size, "none", 0);
		return (Datum) 0;
	}

	value = (struct varlena *) DatumGetPointer(PG_GETARG_DATUM(0));
	if (sliced_stored_pointer(&ptr, value))
		inspect_ours(result, &ptr);
	else if (sliced_pointer_get(&ptr, value))
		/* a promise */
		inspect_other(result, detoast_attr(value));
	else
		inspect_other(result, value);
	return (Datum) 0;
}
