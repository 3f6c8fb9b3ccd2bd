/*
 * toasters.c
 *	  sliced_functions.list_toasters(): the registered toasters.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "toaster/registry.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(sliced_list_toasters);

Datum
sliced_list_toasters(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	List	   *toasters;
	int			n;
	SlicedRegistered *copies;

	InitMaterializedSRF(fcinfo, 0);

	/* the code below may read the catalogs, which may rebuild the list: copy it */
	toasters = sliced_toasters();
	n = list_length(toasters);
	copies = palloc(n * sizeof(SlicedRegistered));
	for (int i = 0; i < n; i++)
		copies[i] = *(SlicedRegistered *) list_nth(toasters, i);

	for (int i = 0; i < n; i++)
	{
		SlicedRegistered *by_default = sliced_registered_default(copies[i].type);
		Datum		values[] = {
			NameGetDatum(&copies[i].name), ObjectIdGetDatum(copies[i].type),
			ObjectIdGetDatum(copies[i].function),
			BoolGetDatum(by_default != NULL && by_default->function == copies[i].function)
		};
		bool		nulls[lengthof(values)] = {false};

		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
