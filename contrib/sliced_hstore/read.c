/*
 * read.c
 *	  Functions that look at some pairs of an hstore, without reading the rest.
 *
 * Each takes the place of a function of hstore's.  It finds the keys that it was
 * asked for, makes a small hstore of their pairs, and passes that to hstore's own
 * function.  For these keys both hstores give the same answers.
 */
#include "postgres.h"

#include "stored.h"
#include "utils/builtins.h"

/* The pairs of the hstore that have these keys, with or without their values. */
static HStore *
pick(const StoredHstore *h, const Pairs *keys, int nkeys, bool values)
{
	Pairs	   *found = palloc(Max(nkeys, 1) * sizeof(Pairs));
	int			nfound = 0;
	uint32		at = 0;

	for (int i = 0; i < nkeys; i++)
		if (stored_hstore_find(h, keys[i].key, keys[i].keylen, &at))
		{
			StoredPair	pair = stored_hstore_pair(h, at);
			Pairs	   *copy = &found[nfound++];

			*copy = keys[i];
			copy->isnull = pair.isnull;
			copy->needfree = false;
			copy->vallen = values ? pair.end - pair.value : 0;
			/* bytes stay where they are while we read others */
			copy->val = values ? unconstify(char *, stored_hstore_bytes(h, pair.value, pair.end)) : "";
		}
	return hstore_of_pairs(found, nfound);
}

/*
 * Call hstore's function with a small hstore in place of 'h', which is argument
 * 'arg'.
 */
static Datum
call_on_pairs(FunctionCallInfo fcinfo, PGFunction theirs, int arg, const StoredHstore *h,
			  const Pairs *keys, int nkeys, bool values)
{
	Datum		whole = fcinfo->args[arg].value;
	Datum		result;

	fcinfo->args[arg].value = PointerGetDatum(pick(h, keys, nkeys, values));
	result = theirs(fcinfo);
	/* a constant argument must still be there the next time */
	fcinfo->args[arg].value = whole;
	return result;
}

static Datum
read_key(FunctionCallInfo fcinfo, PGFunction theirs, bool values)
{
	StoredHstore h;
	Pairs		key = {.key = NULL};
	text	   *name;

	if (!stored_hstore_argument(fcinfo, 0, &h))
		return theirs(fcinfo);
	name = PG_GETARG_TEXT_PP(1);
	key.key = VARDATA_ANY(name);
	key.keylen = VARSIZE_ANY_EXHDR(name);
	return call_on_pairs(fcinfo, theirs, 0, &h, &key, 1, values);
}

static Datum
read_keys(FunctionCallInfo fcinfo, PGFunction theirs, bool values)
{
	StoredHstore h;
	Pairs	   *keys;
	int			nkeys;

	if (!stored_hstore_argument(fcinfo, 0, &h))
		return theirs(fcinfo);
	keys = pairs_of_keys(PG_GETARG_ARRAYTYPE_P(1), &nkeys);
	return call_on_pairs(fcinfo, theirs, 0, &h, keys, nkeys, values);
}

/* Look up in argument 'arg' the keys of argument 'other'. */
static Datum
compare(FunctionCallInfo fcinfo, PGFunction theirs, int arg, int other)
{
	StoredHstore h;
	Pairs	   *keys;
	int			nkeys;

	if (!stored_hstore_argument(fcinfo, arg, &h))
		return theirs(fcinfo);
	keys = pairs_of_hstore(hstore_in_memory(fcinfo->args[other].value), &nkeys);
	return call_on_pairs(fcinfo, theirs, arg, &h, keys, nkeys, true);
}

#define READ_FUNCTION(ours, theirs, read, ...) \
	PG_FUNCTION_INFO_V1(ours); \
	Datum \
	ours(PG_FUNCTION_ARGS) \
	{ \
		static void *place = NULL; \
		return read(fcinfo, (PGFunction) hstore_symbol(&place, theirs), __VA_ARGS__); \
	}

READ_FUNCTION(sliced_hstore_fetchval, "hstore_fetchval", read_key, true)
READ_FUNCTION(sliced_hstore_exist, "hstore_exists", read_key, false)
READ_FUNCTION(sliced_hstore_defined, "hstore_defined", read_key, false)
READ_FUNCTION(sliced_hstore_slice_array, "hstore_slice_to_array", read_keys, true)
READ_FUNCTION(sliced_hstore_slice, "hstore_slice_to_hstore", read_keys, true)
READ_FUNCTION(sliced_hstore_exists_any, "hstore_exists_any", read_keys, false)
READ_FUNCTION(sliced_hstore_exists_all, "hstore_exists_all", read_keys, false)
READ_FUNCTION(sliced_hstore_contains, "hstore_contains", compare, 0, 1)
READ_FUNCTION(sliced_hstore_contained, "hstore_contained", compare, 1, 0)
