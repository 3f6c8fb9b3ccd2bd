/*
 * registry.c
 *	  Knows all toasters, and the default one of each type.
 *
 * We keep what we found in the catalogs until some function changes.  Looking may end
 * in an error, and functions may change meanwhile, so the list counts only when it is
 * complete.  Toasters themselves are in libraries, which stay loaded.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "base/identity.h"
#include "base/stop.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_am.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "toaster/registry.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#define RESULT_TYPE		"toaster_handler"
#define NAME_SUFFIX		"_toaster"

/* The toaster of a type, once looked up. */
typedef struct TypeDefault
{
	Oid			type;
	SlicedRegistered *registered;	/* or NULL */
} TypeDefault;

static MemoryContext registry_mcxt;		/* of everything that follows */
static List *registered_toasters;
static HTAB *types;
static uint64 registry_generation = 0;	/* in which the toasters were found; 0: never */
static uint64 generation = 1;

const SlicedToaster sliced_plain_toaster = {.api = SLICED_TOASTER_API};

PG_FUNCTION_INFO_V1(sliced_plain_toaster_handler);

Datum
sliced_plain_toaster_handler(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&sliced_plain_toaster);
}

PG_FUNCTION_INFO_V1(sliced_toaster_handler_in);

Datum
sliced_toaster_handler_in(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			errmsg("cannot accept a value of type %s", "sliced." RESULT_TYPE));
}

PG_FUNCTION_INFO_V1(sliced_toaster_handler_out);

Datum
sliced_toaster_handler_out(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			errmsg("cannot display a value of type %s", "sliced." RESULT_TYPE));
}

/* Some function has changed. */
static void
forget_toasters(Datum arg, int cacheid, uint32 hashvalue)
{
	generation++;
}

uint64
sliced_registry_generation(void)
{
	return generation;
}

static int
by_type_and_name(const ListCell *a, const ListCell *b)
{
	const SlicedRegistered *x = lfirst(a);
	const SlicedRegistered *y = lfirst(b);
	int			order = x->type < y->type ? -1 : x->type > y->type ? 1 :
		strcmp(NameStr(x->name), NameStr(y->name));

	return order != 0 ? order : (x->function > y->function) - (x->function < y->function);
}

/*
 * The function as a registered toaster, if its signature and name say so; NULL
 * otherwise.
 */
static SlicedRegistered *
read_function(Oid function, Oid result_type)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	SlicedRegistered *result = NULL;
	Form_pg_proc proc;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	if (proc->prolang == ClanguageId && proc->prorettype == result_type && !proc->proretset &&
		proc->pronargs == 1)
	{
		int			len = strlen(NameStr(proc->proname)) - strlen(NAME_SUFFIX);

		if (len > 0 && strcmp(NameStr(proc->proname) + len, NAME_SUFFIX) == 0)
		{
			result = palloc0(sizeof(SlicedRegistered));
			result->function = function;
			result->namespace = proc->pronamespace;
			result->type = proc->proargtypes.values[0];
			memcpy(NameStr(result->name), NameStr(proc->proname), len);
		}
	}
	ReleaseSysCache(tuple);
	return result;
}

/* Functions depend on the type of their result, unless it is core's. */
static List *
find_functions(Oid result_type)
{
	Relation	depend = table_open(DependRelationId, AccessShareLock);
	List	   *result = NIL;
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(TypeRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(result_type));
	scan = systable_beginscan(depend, DependReferenceIndexId, true, NULL, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		if (form->classid == ProcedureRelationId)
			result = list_append_unique_oid(result, form->objid);
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
	return result;
}

/*
 * Everything we know starts from the access method's handler.  This session may not
 * have used it yet, or the access method was dropped and made again.
 */
static void
find_access_method(void)
{
	HeapTuple	tuple;

	if (OidIsValid(sliced_handler_oid) &&
		SearchSysCacheExists1(PROCOID, ObjectIdGetDatum(sliced_handler_oid)))
		return;
	tuple = SearchSysCache1(AMNAME, CStringGetDatum("sliced"));
	if (HeapTupleIsValid(tuple))
	{
		/* calls our handler, which sets sliced_handler_oid */
		GetTableAmRoutine(((Form_pg_am) GETSTRUCT(tuple))->amhandler);
		ReleaseSysCache(tuple);
	}
}

/* Read the list of toasters from the catalogs, into the current context. */
static List *
find_toasters(void)
{
	List	   *result = NIL;
	Oid			result_type;
	ListCell   *lc;

	find_access_method();
	if (!OidIsValid(sliced_handler_oid))
		return NIL;
	result_type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(RESULT_TYPE),
								  ObjectIdGetDatum(get_func_namespace(sliced_handler_oid)));
	if (!OidIsValid(result_type))
		return NIL;
	foreach(lc, find_functions(result_type))
	{
		SlicedRegistered *registered = read_function(lfirst_oid(lc), result_type);

		if (registered != NULL)
			result = lappend(result, registered);
	}
	list_sort(result, by_type_and_name);
	return result;
}

static void
look_into_catalogs(void)
{
	for (int looks = 0; registry_generation != generation && looks < SLICED_LOOKS; looks++)
	{
		HASHCTL		ctl = {.keysize = sizeof(Oid), .entrysize = sizeof(TypeDefault)};
		MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "sliced toasters",
												   ALLOCSET_SMALL_SIZES);
		MemoryContext old = MemoryContextSwitchTo(mcxt);
		uint64		found_in = generation;
		List	   *found = find_toasters();

		MemoryContextSwitchTo(old);
		ctl.hcxt = mcxt;
		types = NULL;
		if (registry_mcxt != NULL)
			MemoryContextDelete(registry_mcxt);
		MemoryContextSetParent(mcxt, TopMemoryContext);
		registry_mcxt = mcxt;
		registered_toasters = found;
		SLICED_STOP("registry.before-types");
		types = hash_create("sliced toasters by type", 16, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		registry_generation = found_in;
		CHECK_FOR_INTERRUPTS();
	}
}

List *
sliced_toasters(void)
{
	look_into_catalogs();
	return registered_toasters;
}

static bool
has_name_of_type(const SlicedRegistered *registered)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(registered->type));
	bool		result = false;

	if (HeapTupleIsValid(tuple))
	{
		result = strcmp(NameStr(registered->name),
						NameStr(((Form_pg_type) GETSTRUCT(tuple))->typname)) == 0;
		ReleaseSysCache(tuple);
	}
	return result;
}

/* The type's only toaster; of several, the one that has the type's name. */
static SlicedRegistered *
choose_default(Oid type)
{
	SlicedRegistered *only = NULL;
	SlicedRegistered *named = NULL;
	int			n = 0;
	ListCell   *lc;

	foreach(lc, registered_toasters)
	{
		SlicedRegistered *registered = lfirst(lc);

		if (registered->type != type)
			continue;
		n++;
		only = registered;
		if (named == NULL && has_name_of_type(registered))
			named = registered;
	}
	return n == 1 ? only : named;
}

/*
 * The default of the type, or of a type whose values are the same bytes: text's for
 * varchar, the one of anyarray for arrays.
 */
static SlicedRegistered *
find_default(Oid type)
{
	SlicedRegistered *result = choose_default(type);
	ListCell   *lc;

	foreach(lc, registered_toasters)
	{
		Oid			other = ((SlicedRegistered *) lfirst(lc))->type;

		if (result != NULL)
			break;
		if (other != type && (other == ANYARRAYOID || get_typtype(other) != TYPTYPE_PSEUDO) &&
			IsBinaryCoercible(type, other))
			result = choose_default(other);
	}
	return result;
}

SlicedRegistered *
sliced_registered_default(Oid type)
{
	TypeDefault *entry;
	bool		found;

	type = getBaseType(type);
	look_into_catalogs();
	entry = hash_search(types, &type, HASH_FIND, NULL);
	if (entry == NULL)
	{
		SlicedRegistered *result;
		int			looks = 0;

		/* looking may find that functions have changed */
		do
		{
			look_into_catalogs();
			result = find_default(type);
		} while (registry_generation != generation && ++looks < SLICED_LOOKS);
		if (registry_generation != generation)
			return result;
		entry = hash_search(types, &type, HASH_ENTER, &found);
		entry->registered = result;
	}
	return entry->registered;
}

/*
 * Returns what is wrong with a toaster, or NULL.  A wrong one could make us loop, or read
 * memory that is not ours.
 */
static const char *
problem_of(const SlicedToaster *toaster)
{
	if (toaster->nswaps < 0 || (toaster->nswaps > 0 && toaster->swaps == NULL))
		return psprintf("\"nswaps\" is %d, and \"swaps\" is %s.", toaster->nswaps,
						toaster->swaps == NULL ? "NULL" : "not NULL");
	for (int i = 0; i < toaster->nswaps; i++)
	{
		const SlicedSwap *swap = &toaster->swaps[i];

		if (swap->kind < SLICED_SWAP_READ || swap->kind > SLICED_SWAP_EDIT)
			return psprintf("\"swaps[%d].kind\" is %d.", i, (int) swap->kind);
		if (swap->ours == NULL)
			return psprintf("\"swaps[%d].ours\" is NULL.", i);
		if (!OidIsValid(swap->core) && swap->theirs == NULL)
			return psprintf("\"swaps[%d]\" has neither \"core\" nor \"theirs\".", i);
	}
	return NULL;
}

static void
add_context(void *arg)
{
	errcontext("function %s", (const char *) arg);
}

static const SlicedToaster *
call_handler(Oid function)
{
	ErrorContextCallback context = {
		.callback = add_context,
		.arg = format_procedure(function),
		.previous = error_context_stack
	};
	FmgrInfo	flinfo;
	LOCAL_FCINFO(fcinfo, 1);
	Datum		result;

	error_context_stack = &context;
	fmgr_info(function, &flinfo);
	InitFunctionCallInfoData(*fcinfo, &flinfo, 1, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = 0;
	fcinfo->args[0].isnull = true;
	result = FunctionCallInvoke(fcinfo);
	error_context_stack = context.previous;
	return fcinfo->isnull ? NULL : (const SlicedToaster *) DatumGetPointer(result);
}

/* Why a toaster cannot be used. */
typedef struct Refusal
{
	char	   *message;
	const char *detail;			/* or NULL */
	const char *hint;			/* or NULL */
} Refusal;

/* Judge what 'function' returned.  Returns false, and fills 'refusal', if it is no use. */
static bool
is_usable(const SlicedToaster *toaster, Oid function, Refusal *refusal)
{
	memset(refusal, 0, sizeof(Refusal));
	if (toaster == NULL)
		refusal->message = psprintf("function %s returned no toaster", format_procedure(function));
	else if (toaster->api != SLICED_TOASTER_API)
	{
		refusal->message = psprintf("function %s returned a toaster for interface %u of pg_sliced, which has interface %u",
									format_procedure(function), toaster->api, SLICED_TOASTER_API);
		refusal->hint = "Install releases of both extensions that belong together.";
	}
	else if ((refusal->detail = problem_of(toaster)) != NULL)
		refusal->message = psprintf("function %s returned a toaster with impossible functions to exchange",
									format_procedure(function));
	return refusal->message == NULL;
}

const SlicedToaster *
sliced_registered_load(SlicedRegistered *registered)
{
	Oid			function = registered->function;
	uint64		before = registry_generation;
	const SlicedToaster *toaster;
	Refusal		refusal;

	if (registered->toaster != NULL)
		return registered->toaster;
	toaster = call_handler(function);
	if (!is_usable(toaster, function, &refusal))
		ereport(ERROR,
				errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				errmsg_internal("%s", refusal.message),
				refusal.detail == NULL ? 0 : errdetail_internal("%s", refusal.detail),
				refusal.hint == NULL ? 0 : errhint("%s", refusal.hint));
	/* the function may have done anything; the list may be a new one by now */
	SLICED_STOP("registry.toaster-called");
	if (before == registry_generation)
		registered->toaster = toaster;
	return toaster;
}

static bool
file_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* True if core looks for "$libdir/library" in other directories as well. */
static bool
is_searched_elsewhere(void)
{
	/* PostgreSQL 18 can; Debian's servers have a setting for packages under test */
	const char *debian = GetConfigOption("extension_destdir", true, false);

	return (debian != NULL && *debian != '\0') || strcmp(Dynamic_library_path, "$libdir") != 0;
}

/*
 * False if the function's library is missing from where it must be.  If it may be
 * elsewhere, loading it will tell.
 */
static bool
has_library(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool		isnull = true;
	bool		result = true;
	Datum		library;
	char	   *path;

	if (!HeapTupleIsValid(tuple))
		return false;
	library = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_probin, &isnull);
	path = isnull ? NULL : TextDatumGetCString(library);
	if (path != NULL && strncmp(path, "$libdir/", 8) == 0 && !is_searched_elsewhere())
		path = psprintf("%s/%s", pkglib_path, path + 8);
	if (path != NULL && is_absolute_path(path))
		result = file_exists(path) || file_exists(psprintf("%s%s", path, DLSUFFIX));
	ReleaseSysCache(tuple);
	return result;
}

const SlicedToaster *
sliced_registered_try(SlicedRegistered *registered, char **problem)
{
	Oid			function = registered->function;
	uint64		before = registry_generation;
	const SlicedToaster *toaster;
	Refusal		refusal;

	if (registered->toaster != NULL)
		return registered->toaster;
	if (!has_library(function))
	{
		if (problem != NULL)
			*problem = psprintf("the library of function %s is missing", format_procedure(function));
		return NULL;
	}
	toaster = call_handler(function);
	if (!is_usable(toaster, function, &refusal))
	{
		if (problem != NULL)
			*problem = refusal.detail == NULL ? refusal.message :
				psprintf("%s: %s", refusal.message, refusal.detail);
		return NULL;
	}
	if (before == registry_generation)
		registered->toaster = toaster;
	return toaster;
}

const SlicedToaster *
sliced_toaster_of_type(Oid type)
{
	SlicedRegistered *registered = sliced_registered_default(type);

	return registered == NULL ? &sliced_plain_toaster : sliced_registered_load(registered);
}

/* True if the toaster works for values of the type, or if that is InvalidOid. */
static bool
works_for(const SlicedRegistered *registered, Oid type)
{
	return !OidIsValid(type) || registered->type == type || registered->type == ANYOID ||
		IsBinaryCoercible(type, registered->type);
}

/*
 * All toasters that work for a type, with that name if it is not NULL; the type's own
 * come first.
 */
static List *
find_registered(Oid type, const char *name)
{
	List	   *result;
	int			looks = 0;

	type = OidIsValid(type) ? getBaseType(type) : type;
	do
	{
		ListCell   *lc;

		result = NIL;
		look_into_catalogs();
		foreach(lc, registered_toasters)
		{
			SlicedRegistered *registered = lfirst(lc);

			if ((name != NULL && strcmp(NameStr(registered->name), name) != 0) ||
				!works_for(registered, type))
				continue;
			result = registered->type == type ? lcons(registered, result) :
				lappend(result, registered);
		}
	} while (registry_generation != generation && ++looks < SLICED_LOOKS);
	return result;
}

SlicedRegistered *
sliced_registered_named(Oid type, const char *name)
{
	List	   *found = find_registered(type, name);

	return found == NIL ? NULL : linitial(found);
}

char *
sliced_registered_names(Oid type)
{
	StringInfoData names;
	ListCell   *lc;

	initStringInfo(&names);
	foreach(lc, find_registered(type, NULL))
		appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "",
						 NameStr(((SlicedRegistered *) lfirst(lc))->name));
	return names.data;
}

SlicedRegistered *
sliced_registered_of(Oid function)
{
	ListCell   *lc;

	look_into_catalogs();
	foreach(lc, registered_toasters)
		if (((SlicedRegistered *) lfirst(lc))->function == function)
			return lfirst(lc);
	return NULL;
}

const char *
sliced_toaster_name(const SlicedToaster *toaster)
{
	ListCell   *lc;

	foreach(lc, registered_toasters)
	{
		SlicedRegistered *registered = lfirst(lc);

		if (registered->toaster == toaster)
			return NameStr(registered->name);
	}
	return "?";
}

void
sliced_registry_init(void)
{
	CacheRegisterSyscacheCallback(PROCOID, forget_toasters, (Datum) 0);
}
