/*
 * kept_files.c
 *	  sliced.kept_files(), sliced.remove_kept_files(): files that decoders still
 *	  have to read.
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/locks.h"
#include "decode/kept_files.h"
#include "fmgr.h"
#include "funcapi.h"
#include "storage/smgr.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"
#include "utils/xid8.h"

static int64
bytes_of(const RelFileLocator *file)
{
	SMgrRelation smgr = smgropen(*file, SLICED_NO_BACKEND);
	int64		bytes = 0;

	if (smgrexists(smgr, MAIN_FORKNUM))
		bytes = (int64) smgrnblocks(smgr, MAIN_FORKNUM) * BLCKSZ;
	smgrclose(smgr);
	return bytes;
}

PG_FUNCTION_INFO_V1(sliced_list_kept_files);

Datum
sliced_list_kept_files(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, sliced_kept_files())
	{
		SlicedKeptFile *kept = lfirst(lc);
		Datum		values[4];
		bool		nulls[4] = {false};

		values[0] = ObjectIdGetDatum(kept->file.spcOid);
		values[1] = ObjectIdGetDatum(kept->file.relNumber);
		values[2] = Int64GetDatum(bytes_of(&kept->file));
		values[3] = FullTransactionIdGetDatum(kept->replaced);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(sliced_remove_kept_files);

Datum
sliced_remove_kept_files(PG_FUNCTION_ARGS)
{
	sliced_refuse_read_only("sliced.remove_kept_files()");
	PG_RETURN_INT32(sliced_kept_files_remove(false));
}
