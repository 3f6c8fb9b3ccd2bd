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
	SlicedDictionary *dictionary;	/* NULL: a free place */
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

/* The place of the one used longest ago, or a free one. */
static Loaded *
make_place(void)
{
	Loaded	   *place = &loaded[0];

	for (int i = 0; i < SLICED_DICTIONARIES && place->dictionary != NULL; i++)
		if (loaded[i].dictionary == NULL || loaded[i].used < place->used)
			place = &loaded[i];
	if (place->dictionary != NULL)
		sliced_dictionary_free(place->dictionary);
	place->dictionary = NULL;
	return place;
}

static SlicedDamage
load(const SlicedDictionaryName *name, SlicedDictionary **dictionary)
{
	char	   *bytes = NULL;
	uint32		len;
	SlicedDamage damage = load_bytes(name, &bytes, &len);

	if (damage == SLICED_SOUND)
	{
		Loaded	   *place = make_place();

		place->dictionary = sliced_dictionary_make(bytes, len);
		if (place->dictionary == NULL)
			ereport(ERROR,
					errcode(ERRCODE_OUT_OF_MEMORY),
					errmsg("out of memory"));
		place->name = *name;
		place->used = ++uses;
		*dictionary = place->dictionary;
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
