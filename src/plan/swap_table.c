/*
 * swap_table.c
 *	  Maps functions to those of ours that take their place.
 *
 * A hash of those exchanges of toasters that work (exchange.c), by the function that is
 * exchanged.  It contains what the types of this process's tables need, and is rebuilt
 * when a function, or a right to execute it, has changed.
 */
#include "postgres.h"

#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "plan/exchange.h"
#include "plan/swap_table.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#define NKINDS	(SLICED_SWAP_EDIT + 1)

typedef struct SwapEntry
{
	Oid			function;
	Oid			ours[NKINDS];	/* InvalidOid: not exchanged */
} SwapEntry;

typedef struct ReplacedEntry
{
	Oid			ours;
	SlicedReplaced public;
} ReplacedEntry;

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
static HTAB *replaced;
static HTAB *added;
static uint64 generation = 0;	/* the registry's, when the table was begun */

static void
begin_table(void)
{
	HASHCTL		ctl = {.keysize = sizeof(Oid), .entrysize = sizeof(SwapEntry)};

	swaps = replaced = added = NULL;
	if (table_mcxt == NULL)
		table_mcxt = AllocSetContextCreate(TopMemoryContext, "sliced swaps", ALLOCSET_SMALL_SIZES);
	else
		MemoryContextReset(table_mcxt);
	generation = 0;
	ctl.hcxt = table_mcxt;
	swaps = hash_create("sliced swaps", 128, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	ctl.entrysize = sizeof(ReplacedEntry);
	replaced = hash_create("sliced functions replaced", 128, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	ctl.keysize = sizeof(AddedKey);
	ctl.entrysize = sizeof(AddedEntry);
	added = hash_create("sliced swaps added", 16, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	generation = sliced_registry_generation();
}

/* Enter an exchange that works. */
static void
add_swap(const SlicedExchange *exchange)
{
	SwapEntry  *entry;
	bool		found;

	entry = hash_search(swaps, &exchange->theirs, HASH_ENTER, &found);
	if (!found)
		memset(entry->ours, 0, sizeof(entry->ours));
	entry->ours[exchange->swap->kind] = exchange->ours;
}

/* The same, from our function to all those whose place it takes. */
static void
add_replaced(const SlicedExchange *exchange, const NameData *toaster)
{
	ReplacedEntry *entry;
	MemoryContext old;
	bool		found;

	entry = hash_search(replaced, &exchange->ours, HASH_ENTER, &found);
	if (!found)
	{
		entry->public.toaster = *toaster;
		entry->public.theirs = NIL;
	}
	old = MemoryContextSwitchTo(table_mcxt);
	entry->public.theirs = list_append_unique_oid(entry->public.theirs, exchange->theirs);
	MemoryContextSwitchTo(old);
}

static void
add_toaster(SlicedRegistered *registered)
{
	SlicedRegistered copy;
	const SlicedToaster *toaster;
	ListCell   *lc;

	if (registered == NULL)
		return;
	/* what follows may read the catalogs, which may rebuild the list of toasters */
	copy = *registered;
	toaster = sliced_registered_try(registered, NULL);
	if (toaster == NULL)
		return;
	foreach(lc, sliced_exchanges(toaster, copy.type, copy.namespace))
	{
		const SlicedExchange *exchange = lfirst(lc);

		if (exchange->problem != NULL)
			continue;
		add_swap(exchange);
		if (exchange->comparable)
			add_replaced(exchange, &copy.name);
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

Oid
sliced_swap_table_find(Oid function, SlicedSwapKind kind)
{
	SwapEntry  *entry;

	/* no table of ours has a type with a toaster, or what was found may be gone */
	if (generation != sliced_registry_generation())
		return InvalidOid;
	entry = hash_search(swaps, &function, HASH_FIND, NULL);
	return entry != NULL ? entry->ours[kind] : InvalidOid;
}

const SlicedReplaced *
sliced_swap_table_replaced(Oid ours)
{
	ReplacedEntry *entry = replaced == NULL ? NULL : hash_search(replaced, &ours, HASH_FIND, NULL);

	return entry != NULL ? &entry->public : NULL;
}
