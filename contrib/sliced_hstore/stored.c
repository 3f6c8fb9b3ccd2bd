/*
 * stored.c
 *	  The pairs of an hstore that is stored in slices, and where they are.
 *
 * We read only the bytes that we look at.
 */
#include "postgres.h"

#include "stored.h"

/* An hstore's bytes begin after the varlena header, which HStore includes. */
#define ENTRIES_AT	(offsetof(HStore, size_) - VARHDRSZ + sizeof(uint32))

bool
stored_hstore_open(SlicedDocument *doc, StoredHstore *h)
{
	uint64		strings;
	uint32		word;

	h->doc = doc;
	h->size = sliced_api()->document_size(doc);
	if (h->size < ENTRIES_AT)
		return false;
	memcpy(&word, sliced_api()->document_need(doc, 0, sizeof(word)), sizeof(word));
	h->count = word & ~HS_FLAG_NEWVERSION;
	strings = ENTRIES_AT + (uint64) h->count * 2 * sizeof(HEntry);
	if ((word & HS_FLAG_NEWVERSION) == 0 || strings > h->size)
		return false;
	h->strings = strings;
	return strings + stored_hstore_end(h, h->count) == h->size;
}

bool
stored_hstore_argument(FunctionCallInfo fcinfo, int arg, StoredHstore *h)
{
	SlicedDocument *doc = sliced_api()->document(fcinfo, arg);

	return doc != NULL && stored_hstore_open(doc, h);
}

const HEntry *
stored_hstore_entries(const StoredHstore *h, uint32 i, uint32 upto)
{
	return (const HEntry *) sliced_api()->document_need(h->doc, ENTRIES_AT + i * sizeof(HEntry),
														(upto - i) * sizeof(HEntry));
}

uint32
stored_hstore_end(const StoredHstore *h, uint32 i)
{
	return i == 0 ? 0 : HSE_ENDPOS(*stored_hstore_entries(h, 2 * i - 1, 2 * i));
}

StoredPair
stored_hstore_pair(const StoredHstore *h, uint32 i)
{
	uint32		first = i == 0 ? 0 : 2 * i - 1;
	const HEntry *entries = stored_hstore_entries(h, first, 2 * i + 2);
	StoredPair	pair = {.key = 0};

	if (i > 0)
		pair.key = HSE_ENDPOS(*entries++);
	pair.value = HSE_ENDPOS(entries[0]);
	pair.end = HSE_ENDPOS(entries[1]);
	pair.isnull = HSE_ISNULL(entries[1]);
	return pair;
}

const char *
stored_hstore_bytes(const StoredHstore *h, uint32 start, uint32 end)
{
	return sliced_api()->document_need(h->doc, h->strings + start, end - start);
}

bool
stored_hstore_find(const StoredHstore *h, const char *key, uint32 len, uint32 *i)
{
	uint32		low = *i;
	uint32		high = h->count;

	while (low < high)
	{
		uint32		middle = low + (high - low) / 2;
		StoredPair	pair = stored_hstore_pair(h, middle);
		uint32		length = pair.value - pair.key;
		int			order = length != len ? (length < len ? -1 : 1) :
			memcmp(stored_hstore_bytes(h, pair.key, pair.value), key, len);

		if (order == 0)
		{
			*i = middle;
			return true;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*i = low;
	return false;
}

bool
stored_hstore_has_value(const StoredHstore *h, uint32 i, const Pairs *pair)
{
	StoredPair	old = stored_hstore_pair(h, i);

	if (old.isnull || pair->isnull)
		return old.isnull && pair->isnull;
	return old.end - old.value == pair->vallen &&
		memcmp(stored_hstore_bytes(h, old.value, old.end), pair->val, pair->vallen) == 0;
}

/* ---- hstores in memory ---- */

/* Libraries do not see each other's functions; PostgreSQL finds them by name. */
void *
hstore_symbol(void **place, const char *name)
{
	if (*place == NULL)
		*place = (void *) load_external_function("$libdir/hstore", name, true, NULL);
	return *place;
}

HStore *
hstore_in_memory(Datum datum)
{
	static void *upgrade = NULL;

	return ((HStore *(*) (Datum)) hstore_symbol(&upgrade, "hstoreUpgrade")) (datum);
}

HStore *
hstore_of_bytes(const char *raw, uint32 len)
{
	HStore	   *hstore = (HStore *) (raw - VARHDRSZ);
	uint64		strings;
	HEntry	   *entries;
	uint32		end = 0;

	if (len < ENTRIES_AT || (hstore->size_ & HS_FLAG_NEWVERSION) == 0)
		return NULL;
	strings = ENTRIES_AT + (uint64) (hstore->size_ & ~HS_FLAG_NEWVERSION) * 2 * sizeof(HEntry);
	if (strings > len)
		return NULL;
	entries = ARRPTR(hstore);
	for (uint32 i = 0; i < HS_COUNT(hstore) * 2; i++)
	{
		if (HSE_ENDPOS(entries[i]) < end)
			return NULL;
		end = HSE_ENDPOS(entries[i]);
	}
	return strings + end == len ? hstore : NULL;
}

HStore *
hstore_of_pairs(Pairs *pairs, int npairs)
{
	static void *make = NULL;
	int32		len = 0;

	for (int i = 0; i < npairs; i++)
		len += pairs[i].keylen + (pairs[i].isnull ? 0 : pairs[i].vallen);
	return ((HStore *(*) (Pairs *, int32, int32)) hstore_symbol(&make, "hstorePairs")) (pairs, npairs, len);
}

Pairs *
pairs_of_hstore(HStore *hstore, int *npairs)
{
	HEntry	   *entries = ARRPTR(hstore);
	char	   *strings = STRPTR(hstore);
	Pairs	   *pairs;

	*npairs = HS_COUNT(hstore);
	pairs = palloc(Max(*npairs, 1) * sizeof(Pairs));
	for (int i = 0; i < *npairs; i++)
	{
		pairs[i].key = HSTORE_KEY(entries, strings, i);
		pairs[i].keylen = HSTORE_KEYLEN(entries, i);
		pairs[i].val = HSTORE_VAL(entries, strings, i);
		pairs[i].vallen = HSTORE_VALLEN(entries, i);
		pairs[i].isnull = HSTORE_VALISNULL(entries, i);
		pairs[i].needfree = false;
	}
	return pairs;
}

Pairs *
pairs_of_keys(ArrayType *keys, int *npairs)
{
	static void *convert = NULL;

	return ((Pairs *(*) (ArrayType *, int *)) hstore_symbol(&convert, "hstoreArrayToPairs")) (keys, npairs);
}
