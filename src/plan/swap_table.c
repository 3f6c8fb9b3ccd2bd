/*
 * swap_table.c
 *	  Maps functions to those of ours that take their place.
 *
 * A hash of what the toasters offer, by the function that is exchanged.  It contains
 * what the types of this process's tables need, and is rebuilt when a function has
 * changed.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "base/compat.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "plan/swap_table.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#define NKINDS	(SLICED_SWAP_EDIT + 1)

typedef struct SwapEntry
{
	Oid			function;
	Oid			ours[NKINDS];	/* InvalidOid: not exchanged */
} SwapEntry;

/* A type, for its default toaster, or the function of a toaster that a label names. */
typedef struct AddedKey
{
	Oid			classid;		/* pg_type or pg_proc */
	Oid			objid;
} AddedKey;

typedef struct AddedEntry
{
	AddedKey	key;
	bool		complete;		/* all of its swaps are in the table */
} AddedEntry;

static MemoryContext table_mcxt;
static HTAB *swaps;
static HTAB *added;
static uint64 generation = 0;	/* the registry's, when the table was begun */

static void
begin_table(void)
{
	HASHCTL		ctl = {.keysize = sizeof(Oid), .entrysize = sizeof(SwapEntry)};

	swaps = added = NULL;
	if (table_mcxt == NULL)
		table_mcxt = AllocSetContextCreate(TopMemoryContext, "sliced swaps", ALLOCSET_SMALL_SIZES);
	else
		MemoryContextReset(table_mcxt);
	generation = 0;
	ctl.hcxt = table_mcxt;
	swaps = hash_create("sliced swaps", 128, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	ctl.keysize = sizeof(AddedKey);
	ctl.entrysize = sizeof(AddedEntry);
	added = hash_create("sliced swaps added", 16, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	generation = sliced_registry_generation();
}

/* Find a function in C.  Only a superuser can have made one. */
static Oid
find_function(Oid namespace, const char *name, oidvector *args)
{
	HeapTuple	tuple = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum(name),
									   PointerGetDatum(args), ObjectIdGetDatum(namespace));
	Oid			result = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
			result = ((Form_pg_proc) GETSTRUCT(tuple))->oid;
		ReleaseSysCache(tuple);
	}
	return result;
}

/* Enter 'function', described by 'proc', if we have one of the same signature. */
static void
add_swap(const SlicedSwap *swap, Oid namespace, Oid function, Form_pg_proc proc)
{
	Oid			ours = find_function(namespace, swap->ours, &proc->proargtypes);
	SwapEntry  *entry;
	bool		found;

	if (!OidIsValid(ours) || get_func_rettype(ours) != proc->prorettype)
		return;
	entry = hash_search(swaps, &function, HASH_ENTER, &found);
	if (!found)
		memset(entry->ours, 0, sizeof(entry->ours));
	entry->ours[swap->kind] = ours;
}

static void
add_swap_of_core(const SlicedSwap *swap, Oid namespace)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(swap->core));

	if (!HeapTupleIsValid(tuple))
		return;
	add_swap(swap, namespace, swap->core, (Form_pg_proc) GETSTRUCT(tuple));
	ReleaseSysCache(tuple);
}

/* Enter all functions of the name in the type's namespace: there may be several. */
static void
add_swaps_of_name(const SlicedSwap *swap, Oid namespace, Oid type_namespace)
{
	CatCList   *list = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(swap->theirs));

	for (int i = 0; i < list->n_members; i++)
	{
		Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(&list->members[i]->tuple);

		if (proc->pronamespace == type_namespace && proc->prolang == ClanguageId)
			add_swap(swap, namespace, proc->oid, proc);
	}
	ReleaseSysCacheList(list);
}

static Oid
namespace_of_type(Oid type)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Oid			result = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		result = ((Form_pg_type) GETSTRUCT(tuple))->typnamespace;
		ReleaseSysCache(tuple);
	}
	return result;
}

static void
add_toaster(SlicedRegistered *registered)
{
	const SlicedToaster *toaster;
	Oid			namespace;
	Oid			type_namespace;

	if (registered == NULL)
		return;
	namespace = registered->namespace;
	type_namespace = namespace_of_type(registered->type);
	toaster = sliced_registered_try(registered);
	if (toaster == NULL)
		return;
	for (int i = 0; i < toaster->nswaps; i++)
	{
		const SlicedSwap *swap = &toaster->swaps[i];

		if (OidIsValid(swap->core))
			add_swap_of_core(swap, namespace);
		else
			add_swaps_of_name(swap, namespace, type_namespace);
	}
}

static void
add_once(AddedKey key)
{
	AddedEntry *entry;
	bool		found;

	for (int looks = 0; looks < SLICED_LOOKS; looks++)
	{
		if (generation != sliced_registry_generation())
			begin_table();
		entry = hash_search(added, &key, HASH_ENTER, &found);
		if (!found)
			entry->complete = false;
		if (entry->complete)
			return;
		add_toaster(key.classid == TypeRelationId ? sliced_registered_default(key.objid) :
					sliced_registered_of(key.objid));
		/* if functions have changed meanwhile, what was found may be gone */
		if (generation == sliced_registry_generation())
			entry->complete = true;
		CHECK_FOR_INTERRUPTS();
	}
}

void
sliced_swap_table_add(Oid type)
{
	add_once((AddedKey) {TypeRelationId, type});
}

void
sliced_swap_table_add_toaster(Oid function)
{
	add_once((AddedKey) {ProcedureRelationId, function});
}

/* PUBLIC must have the right, because the plan may be kept and run for other users. */
static bool
all_may_execute(Oid function)
{
	return object_aclcheck(ProcedureRelationId, function, ACL_ID_PUBLIC, ACL_EXECUTE) == ACLCHECK_OK;
}

Oid
sliced_swap_table_find(Oid function, SlicedSwapKind kind)
{
	SwapEntry  *entry;

	/* no table of ours has a type with a toaster, or what was found may be gone */
	if (generation != sliced_registry_generation())
		return InvalidOid;
	entry = hash_search(swaps, &function, HASH_FIND, NULL);
	return entry != NULL && OidIsValid(entry->ours[kind]) && all_may_execute(function) &&
		all_may_execute(entry->ours[kind]) ? entry->ours[kind] : InvalidOid;
}

Oid
sliced_swap_function(Oid namespace, const char *name, int nargs, const Oid *argtypes)
{
	Oid			function = find_function(namespace, name, buildoidvector(argtypes, nargs));

	return OidIsValid(function) && all_may_execute(function) ? function : InvalidOid;
}
