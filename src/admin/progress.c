/*
 * progress.c
 *	  Shows the progress of conversions, which admin/convert.c reports where core's
 *	  commands do.
 */
#include "postgres.h"

#include "admin/convert.h"
#include "base/compat.h"
#include "catalog/pg_authid.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(sliced_conversions);

Datum
sliced_conversions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int			n = pgstat_fetch_stat_numbackends();

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < n; i++)
	{
		PgBackendStatus *backend = sliced_backend_status(i);
		Datum		values[3 + SLICED_PROGRESS_PARAMS];
		bool		nulls[3 + SLICED_PROGRESS_PARAMS] = {false};
		bool		hidden;

		if (backend == NULL || backend->st_procpid == 0 ||
			(int) backend->st_progress_command != SLICED_PROGRESS_COMMAND)
			continue;
		/* as in core's views of progress */
		hidden = !has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) &&
			!has_privs_of_role(GetUserId(), backend->st_userid);
		values[0] = Int32GetDatum(backend->st_procpid);
		values[1] = ObjectIdGetDatum(backend->st_databaseid);
		values[2] = ObjectIdGetDatum(backend->st_progress_command_target);
		nulls[2] = hidden;
		for (int p = 0; p < SLICED_PROGRESS_PARAMS; p++)
		{
			values[3 + p] = Int64GetDatum(backend->st_progress_param[p]);
			nulls[3 + p] = hidden;
		}
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
