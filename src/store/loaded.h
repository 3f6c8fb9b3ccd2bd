/*
 * loaded.h
 *	  Dictionaries in memory.
 *
 * Slices look back at dictionaries, and a dictionary is stored in slices.  So the
 * dictionaries in memory do not know the function that reads them; the caller hands
 * it in.
 *
 * A name has the checksum of the bytes, so a dictionary in memory is right for its
 * name for ever: nothing makes it invalid.
 */
#ifndef SLICED_STORE_LOADED_H
#define SLICED_STORE_LOADED_H

#include "postgres.h"

#include "codec/codec.h"
#include "format/damage.h"

/*
 * Find the dictionary of this name.  It is valid until the next call.  If that fails,
 * it is NULL and the result says why.
 */
extern SlicedDamage sliced_loaded_find(const SlicedDictionaryName *name,
									   SlicedDictionary **dictionary);

/* The name of the last one that was not found, for messages. */
extern SlicedDictionaryName sliced_loaded_not_found(void);

/* Reads a dictionary's bytes, palloc'd.  The caller frees '*bytes' if it is set. */
typedef SlicedDamage (*SlicedLoader) (const SlicedDictionaryName *name, char **bytes,
									  uint32 *len);

/* Called once, when the library is loaded. */
extern void sliced_loaded_init(SlicedLoader loader);

#endif
