/*
 * loaded.h
 *	  Dictionaries in memory.
 *
 * Slices look back at dictionaries, and a dictionary is stored in slices.  So what is
 * in memory is apart from what reads it, which is handed in.
 *
 * A name has the checksum of the bytes, so what is in memory under a name is right for
 * ever: nothing makes it invalid.
 */
#ifndef SLICED_STORE_LOADED_H
#define SLICED_STORE_LOADED_H

#include "postgres.h"

#include "codec/codec.h"
#include "format/damage.h"

/*
 * Find the dictionary of this name, which is valid until the next is looked for.  If
 * that fails, it is NULL and the result says why.
 */
extern SlicedDamage sliced_loaded_find(const SlicedDictionaryName *name,
									   SlicedDictionary **dictionary);

/* The name of the last one that was not found, for messages. */
extern SlicedDictionaryName sliced_loaded_not_found(void);

/* Reads the bytes of a dictionary, palloc'd; whatever else it sets '*bytes' to is freed. */
typedef SlicedDamage (*SlicedLoader) (const SlicedDictionaryName *name, char **bytes,
									  uint32 *len);

/* Called once, when the library is loaded. */
extern void sliced_loaded_init(SlicedLoader loader);

#endif
