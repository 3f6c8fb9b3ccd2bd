/*
 * toasters.c
 *	  sliced_functions.list_toasters(): the registered toasters; and
 *	  sliced_functions.list_toaster_functions(): what they exchange.
 */
#include "postgres.h"

#include "base/try.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "plan/exchange.h"
#include "toaster/registry.h"
#include "utils/builtins.h"
#include "utils/regproc.h"
#include "utils/tuplestore.h"

/*
 * The registered toasters, in an array.  It is a copy, since code that reads the
 * catalogs may make the list anew.
 */
static SlicedRegistered *
copy_toasters(int *n)
{
	List	   *toasters = sliced_toasters();
	SlicedRegistered *copies;

	*n = list_length(toasters);
	copies = palloc(Max(*n, 1) * sizeof(SlicedRegistered));
	for (int i = 0; i < *n; i++)
		copies[i] = *(SlicedRegistered *) list_nth(toasters, i);
	return copies;
}

PG_FUNCTION_INFO_V1(sliced_list_toasters);

Datum
sliced_list_toasters(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int			n;
	SlicedRegistered *copies;

	InitMaterializedSRF(fcinfo, 0);
	copies = copy_toasters(&n);
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

/* Text or null. */
static void
set_text(Datum *value, bool *isnull, const char *text)
{
	*isnull = text == NULL;
	*value = text == NULL ? 0 : CStringGetTextDatum(text);
}

/* A row for an exchange; for a toaster that cannot be used, 'exchange' is NULL. */
static void
add_row(ReturnSetInfo *rsinfo, SlicedRegistered *registered, const SlicedExchange *exchange,
		const char *problem)
{
	Datum		values[6] = {NameGetDatum(&registered->name), ObjectIdGetDatum(registered->type)};
	bool		nulls[lengthof(values)] = {false};
	const char *theirs = exchange == NULL ? NULL :
		OidIsValid(exchange->theirs) ? format_procedure(exchange->theirs) :
		OidIsValid(exchange->swap->core) ? psprintf("%u", exchange->swap->core) : exchange->swap->theirs;
	const char *ours = exchange == NULL ? NULL :
		OidIsValid(exchange->ours) ? format_procedure(exchange->ours) : exchange->swap->ours;

	set_text(&values[2], &nulls[2], theirs);
	set_text(&values[3], &nulls[3], ours);
	values[4] = BoolGetDatum(problem == NULL);
	set_text(&values[5], &nulls[5], problem);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

typedef struct Trying
{
	SlicedRegistered *registered;
	const SlicedToaster *toaster;
	char	   *problem;
} Trying;

static void
try_toaster(void *arg)
{
	Trying	   *trying = arg;

	trying->toaster = sliced_registered_try(trying->registered, &trying->problem);
}

PG_FUNCTION_INFO_V1(sliced_list_toaster_functions);

Datum
sliced_list_toaster_functions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	SlicedRegistered *copies;
	int			n;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	copies = copy_toasters(&n);
	for (int i = 0; i < n; i++)
	{
		Trying		trying = {&copies[i]};
		ErrorData  *error = sliced_try(try_toaster, &trying);

		if (error != NULL || trying.toaster == NULL)
		{
			add_row(rsinfo, &copies[i], NULL, error != NULL ? error->message : trying.problem);
			continue;
		}
		foreach(lc, sliced_exchanges(trying.toaster, copies[i].type, copies[i].namespace))
		{
			const SlicedExchange *exchange = lfirst(lc);

			add_row(rsinfo, &copies[i], exchange, exchange->problem);
		}
	}
	return (Datum) 0;
}
