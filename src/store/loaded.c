/*
 * loaded.c
 *	  Dictionaries in memory.
 */
#include "postgres.h"

#include "base/limits.h"
#include "store/loaded.h"

typedef struct Loaded
{
	SlicedDictionaryName name;
	SlicedDictionary *dictionary;	/* NULL: a free entry */
	uint64		used;			/* when it was last used */
} Loaded;

static Loaded loaded[SLICED_DICTIONARIES];
static uint64 uses = 0;
static SlicedLoader load_bytes;
static bool loading = false;
static SlicedDictionaryName not_found;

static bool
is_same(const SlicedDictionaryName *a, const SlicedDictionaryName *b)
{
	return a->relid == b->relid && a->id == b->id && a->checksum == b->checksum;
}

/* The entry that is free, or was used longest ago. */
static Loaded *
make_free(void)
{
	Loaded	   *entry = &loaded[0];

	for (int i = 0; i < SLICED_DICTIONARIES && entry->dictionary != NULL; i++)
		if (loaded[i].dictionary == NULL || loaded[i].used < entry->used)
			entry = &loaded[i];
	if (entry->dictionary != NULL)
		sliced_dictionary_free(entry->dictionary);
	entry->dictionary = NULL;
	return entry;
}

static SlicedDamage
load(const SlicedDictionaryName *name, SlicedDictionary **dictionary)
{
	char	   *bytes = NULL;
	uint32		len;
	SlicedDamage damage = load_bytes(name, &bytes, &len);

	if (damage == SLICED_SOUND)
	{
		Loaded	   *entry = make_free();

		entry->dictionary = sliced_dictionary_make(bytes, len);
		if (entry->dictionary == NULL)
			ereport(ERROR,
					errcode(ERRCODE_OUT_OF_MEMORY),
					errmsg("out of memory"));
		entry->name = *name;
		entry->used = ++uses;
		*dictionary = entry->dictionary;
	}
	if (bytes != NULL)
		pfree(bytes);
	return damage;
}

SlicedDamage
sliced_loaded_find(const SlicedDictionaryName *name, SlicedDictionary **dictionary)
{
	SlicedDamage damage = SLICED_DICTIONARY_DAMAGED;

	*dictionary = NULL;
	for (int i = 0; i < SLICED_DICTIONARIES; i++)
		if (loaded[i].dictionary != NULL && is_same(&loaded[i].name, name))
		{
			loaded[i].used = ++uses;
			*dictionary = loaded[i].dictionary;
			return SLICED_SOUND;
		}

	/* the bytes of a dictionary are compressed without one */
	if (!loading)
	{
		loading = true;
		PG_TRY();
		{
			damage = load(name, dictionary);
		}
		PG_FINALLY();
		{
			loading = false;
		}
		PG_END_TRY();
	}
	if (damage != SLICED_SOUND)
		not_found = *name;
	return damage;
}

SlicedDictionaryName
sliced_loaded_not_found(void)
{
	return not_found;
}

void
sliced_loaded_init(SlicedLoader loader)
{
	load_bytes = loader;
}
