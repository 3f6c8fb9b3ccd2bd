/*
 * dictionary.h
 *	  Bytes that a codec looks back at before the first byte of a slice.
 *
 * Slices of a few kB begin with nothing to look back at, and most of their bytes have
 * been in other slices as well: keys, words, whole phrases.
 */
#ifndef SLICED_CODEC_DICTIONARY_H
#define SLICED_CODEC_DICTIONARY_H

#include "postgres.h"

/* A dictionary in memory, in the forms that the codecs want, made when first needed. */
typedef struct SlicedDictionary SlicedDictionary;

/* A copy of 'len' bytes; NULL if there is no memory. */
extern SlicedDictionary *sliced_dictionary_make(const char *bytes, uint32 len);
extern void sliced_dictionary_free(SlicedDictionary *dictionary);

/* Its bytes. */
extern const char *sliced_dictionary_bytes(const SlicedDictionary *dictionary, uint32 *len);

/* ---- for codecs; NULL if there is no memory ---- */

struct ZSTD_CDict_s;
struct ZSTD_DDict_s;
union LZ4_stream_u;

extern const struct ZSTD_CDict_s *sliced_dictionary_zstd(SlicedDictionary *dictionary, int level);
extern const struct ZSTD_DDict_s *sliced_dictionary_unzstd(SlicedDictionary *dictionary);
extern const union LZ4_stream_u *sliced_dictionary_lz4(SlicedDictionary *dictionary);

/*
 * Make a dictionary of at most 'room' bytes from samples: 'n' of them, of these
 * lengths, one behind the other.  Returns its length; 0 if they are too few or have
 * nothing in common.
 */
extern uint32 sliced_dictionary_train(char *dst, uint32 room, const char *samples,
									  const size_t *lengths, uint32 n);

#endif
