/*
 * edit.c
 *	  Functions that change some pairs of an hstore, and share the rest with the old
 *	  value.
 *
 * Each takes the place of a function of hstore's where an UPDATE computes a new
 * value.  It returns a rope: the new count, new entries from the first pair that
 * moves to the last, the strings of the old hstore, and new strings between them.
 * Byte for byte this is what hstore would make.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "stored.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

/* Pair 'at' is removed or gets another value, or a new pair comes before it. */
typedef struct Edit
{
	uint32		at;
	bool		found;			/* pair 'at' has this key */
	const Pairs *new;			/* NULL: remove the pair */
} Edit;

typedef struct Making
{
	const StoredHstore *old;
	const SlicedRope *whole;	/* the same as a rope */
	uint32		count;			/* pairs made so far */
	uint64		end;			/* and the length of their strings */
	SlicedRope *entries;
	HEntry	   *new_entries;	/* memory for new ones */
	SlicedRope *strings;
} Making;

static void
add_entry(Making *m, bool is_first, bool isnull)
{
	HEntry	   *entry = m->new_entries++;

	entry->entry = (m->end & HENTRY_POSMASK) | (is_first ? HENTRY_ISFIRST : 0) |
		(isnull ? HENTRY_ISNULL : 0);
	sliced_api()->rope_add_bytes(m->entries, (char *) entry, sizeof(HEntry));
}

static void
add_old_strings(Making *m, uint32 start, uint32 end)
{
	sliced_api()->rope_add_rope(m->strings, m->whole, m->old->strings + start, end - start);
	m->end += end - start;
}

/*
 * Keep pairs [from, to).  Their strings move if something before them has changed,
 * and the first entry of all bears a mark.  Otherwise their entries stay as well.
 */
static void
add_old_pairs(Making *m, uint32 from, uint32 to)
{
	const StoredHstore *old = m->old;
	uint32		start = stored_hstore_end(old, from);
	uint32		end = stored_hstore_end(old, to);

	if (from == to)
		return;
	if (m->end == start && (m->count == 0) == (from == 0))
		sliced_api()->rope_add_rope(m->entries, m->whole,
									old->strings - (old->count - from) * 2 * sizeof(HEntry),
									(to - from) * 2 * sizeof(HEntry));
	else
	{
		const HEntry *entries = stored_hstore_entries(old, from * 2, to * 2);
		uint64		moved = m->end - start;

		for (uint32 i = 0; i < (to - from) * 2; i++)
			m->new_entries[i].entry = ((HSE_ENDPOS(entries[i]) + moved) & HENTRY_POSMASK) |
				(entries[i].entry & HENTRY_ISNULL);
		if (m->count == 0)
			m->new_entries[0].entry |= HENTRY_ISFIRST;
		sliced_api()->rope_add_bytes(m->entries, (char *) m->new_entries,
									 (to - from) * 2 * sizeof(HEntry));
		m->new_entries += (to - from) * 2;
	}
	add_old_strings(m, start, end);
	m->count += to - from;
}

/* Add a pair with a new value, and with the key of old pair 'at' if it has one. */
static void
add_new_pair(Making *m, const Edit *edit)
{
	const Pairs *new = edit->new;

	if (edit->found)
	{
		StoredPair	old = stored_hstore_pair(m->old, edit->at);

		add_old_strings(m, old.key, old.value);
	}
	else
	{
		sliced_api()->rope_add_bytes(m->strings, new->key, new->keylen);
		m->end += new->keylen;
	}
	add_entry(m, m->count == 0, false);
	if (!new->isnull)
	{
		sliced_api()->rope_add_bytes(m->strings, new->val, new->vallen);
		m->end += new->vallen;
	}
	add_entry(m, false, new->isnull);
	m->count++;
}

/* The old hstore after these edits, which are sorted by place. */
static SlicedRope *
make(const StoredHstore *old, const SlicedRope *whole, const Edit *edits, int nedits)
{
	const SlicedApi *api = sliced_api();
	SlicedRope *result = api->rope_begin(whole);
	uint32	   *word = palloc(sizeof(uint32));
	uint32		at = 0;
	Making		m = {
		.old = old,
		.whole = whole,
		.entries = api->rope_begin(whole),
		.new_entries = MemoryContextAllocHuge(CurrentMemoryContext, ((Size) old->count + nedits) * 2 * sizeof(HEntry)),
		.strings = api->rope_begin(whole)
	};

	for (int i = 0; i < nedits; i++)
	{
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		add_old_pairs(&m, at, edits[i].at);
		if (edits[i].new != NULL)
			add_new_pair(&m, &edits[i]);
		at = edits[i].at + edits[i].found;
	}
	add_old_pairs(&m, at, old->count);

	*word = m.count | HS_FLAG_NEWVERSION;
	if (m.count == old->count)
		api->rope_add_rope(result, whole, 0, sizeof(uint32));
	else
		api->rope_add_bytes(result, (char *) word, sizeof(uint32));
	api->rope_add_rope(result, m.entries, 0, m.count * 2 * sizeof(HEntry));
	api->rope_add_rope(result, m.strings, 0, m.end);
	return result;
}

/* Return the function's result: argument 'arg', the old hstore, after these edits. */
static Datum
result(FunctionCallInfo fcinfo, int arg, const StoredHstore *old, const Edit *edits, int nedits)
{
	const SlicedRope *whole;

	if (nedits == 0 && arg == 0)
		return sliced_api()->result_unchanged(fcinfo);
	whole = sliced_api()->rope_of_document(old->doc);
	return sliced_api()->result_rope(fcinfo, nedits == 0 ? whole : make(old, whole, edits, nedits));
}

/* ---- adding pairs ---- */

/*
 * Merge these pairs into the hstore.  Where both have a key, the right operand of ||
 * wins.  That is the pairs, unless the hstore is argument 1.
 */
static Datum
merge(FunctionCallInfo fcinfo, int arg, const StoredHstore *old, const Pairs *pairs, int npairs)
{
	Edit	   *edits = palloc(Max(npairs, 1) * sizeof(Edit));
	int			nedits = 0;
	uint32		at = 0;

	for (int i = 0; i < npairs; i++)
	{
		bool		found = stored_hstore_find(old, pairs[i].key, pairs[i].keylen, &at);

		if (!found || (arg == 0 && !stored_hstore_has_value(old, at, &pairs[i])))
			edits[nedits++] = (Edit) {at, found, &pairs[i]};
	}
	return result(fcinfo, arg, old, edits, nedits);
}

/*
 * h || h.  If the result may be so long that hstore complains, hstore's own function,
 * 'theirs', makes it.
 */
static Datum
concatenate(FunctionCallInfo fcinfo, PGFunction theirs)
{
	for (int arg = 0; arg < 2; arg++)
	{
		StoredHstore old;
		HStore	   *other;
		Pairs	   *pairs;
		int			npairs;

		if (!stored_hstore_argument(fcinfo, arg, &old))
			continue;
		other = hstore_in_memory(fcinfo->args[1 - arg].value);
		if ((uint64) old.size + VARSIZE(other) > MaxAllocSize / 2)
			break;
		pairs = pairs_of_hstore(other, &npairs);
		return merge(fcinfo, arg, &old, pairs, npairs);
	}
	return theirs(fcinfo);
}

static Datum
call_concatenate(FunctionCallInfo fcinfo)
{
	static void *place = NULL;

	return concatenate(fcinfo, (PGFunction) hstore_symbol(&place, "hstore_concat"));
}

PG_FUNCTION_INFO_V1(sliced_hstore_concat);

Datum
sliced_hstore_concat(PG_FUNCTION_ARGS)
{
	return call_concatenate(fcinfo);
}

PG_FUNCTION_INFO_V1(sliced_hstore_assign);

/* h[key] = value is h || hstore(key, value). */
Datum
sliced_hstore_assign(PG_FUNCTION_ARGS)
{
	static void *place = NULL;
	NullableDatum key = fcinfo->args[1];
	LOCAL_FCINFO(pair, 2);
	Datum		result;

	if (key.isnull)
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("hstore subscript in assignment must not be null"));
	InitFunctionCallInfoData(*pair, fcinfo->flinfo, 2, InvalidOid, NULL, NULL);
	pair->args[0] = key;
	pair->args[1] = fcinfo->args[2];
	result = ((PGFunction) hstore_symbol(&place, "hstore_from_text")) (pair);
	if (PG_ARGISNULL(0))
		return result;
	fcinfo->args[1].value = result;
	result = call_concatenate(fcinfo);
	fcinfo->args[1] = key;
	return result;
}

/* ---- removing pairs ---- */

/*
 * Remove the pairs of these keys; with 'same', only if their values are the same too.
 */
static Datum
remove_pairs(FunctionCallInfo fcinfo, const StoredHstore *old, const Pairs *pairs, int npairs,
			 bool same)
{
	Edit	   *edits = palloc(Max(npairs, 1) * sizeof(Edit));
	int			nedits = 0;
	uint32		at = 0;

	for (int i = 0; i < npairs; i++)
		if (stored_hstore_find(old, pairs[i].key, pairs[i].keylen, &at) &&
			(!same || stored_hstore_has_value(old, at, &pairs[i])))
			edits[nedits++] = (Edit) {at, true, NULL};
	return result(fcinfo, 0, old, edits, nedits);
}

PG_FUNCTION_INFO_V1(sliced_hstore_delete_key);

Datum
sliced_hstore_delete_key(PG_FUNCTION_ARGS)
{
	static void *place = NULL;
	StoredHstore old;
	Pairs		pair = {.key = NULL};
	text	   *key;

	if (!stored_hstore_argument(fcinfo, 0, &old))
		return ((PGFunction) hstore_symbol(&place, "hstore_delete")) (fcinfo);
	key = PG_GETARG_TEXT_PP(1);
	pair.key = VARDATA_ANY(key);
	pair.keylen = VARSIZE_ANY_EXHDR(key);
	return remove_pairs(fcinfo, &old, &pair, 1, false);
}

PG_FUNCTION_INFO_V1(sliced_hstore_delete_keys);

Datum
sliced_hstore_delete_keys(PG_FUNCTION_ARGS)
{
	static void *place = NULL;
	StoredHstore old;
	Pairs	   *pairs;
	int			npairs;

	if (!stored_hstore_argument(fcinfo, 0, &old))
		return ((PGFunction) hstore_symbol(&place, "hstore_delete_array")) (fcinfo);
	pairs = pairs_of_keys(PG_GETARG_ARRAYTYPE_P(1), &npairs);
	return remove_pairs(fcinfo, &old, pairs, npairs, false);
}

PG_FUNCTION_INFO_V1(sliced_hstore_delete_pairs);

Datum
sliced_hstore_delete_pairs(PG_FUNCTION_ARGS)
{
	static void *place = NULL;
	StoredHstore old;
	Pairs	   *pairs;
	int			npairs;

	if (!stored_hstore_argument(fcinfo, 0, &old))
		return ((PGFunction) hstore_symbol(&place, "hstore_delete_hstore")) (fcinfo);
	pairs = pairs_of_hstore(hstore_in_memory(PG_GETARG_DATUM(1)), &npairs);
	return remove_pairs(fcinfo, &old, pairs, npairs, true);
}
