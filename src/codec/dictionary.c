/*
 * dictionary.c
 *	  Bytes that a codec looks back at before the first byte of a slice.
 *
 * One dictionary serves both codecs.  zstd reads its tables; lz4 takes all of it for
 * text. zstd puts the most useful part last, so that part is near for lz4.
 */
#include "postgres.h"

#include <lz4.h>
#include <zdict.h>
#include <zstd.h>

#include "codec/dictionary.h"

struct SlicedDictionary
{
	int			level;			/* of zstd */
	ZSTD_CDict *zstd;
	ZSTD_DDict *unzstd;
	LZ4_stream_t *lz4;
	uint32		len;
	char		bytes[FLEXIBLE_ARRAY_MEMBER];
};

SlicedDictionary *
sliced_dictionary_make(const char *bytes, uint32 len)
{
	SlicedDictionary *dictionary = malloc(offsetof(SlicedDictionary, bytes) + len);

	if (dictionary == NULL)
		return NULL;
	memset(dictionary, 0, offsetof(SlicedDictionary, bytes));
	dictionary->len = len;
	memcpy(dictionary->bytes, bytes, len);
	return dictionary;
}

void
sliced_dictionary_free(SlicedDictionary *dictionary)
{
	ZSTD_freeCDict(dictionary->zstd);
	ZSTD_freeDDict(dictionary->unzstd);
	free(dictionary->lz4);
	free(dictionary);
}

const char *
sliced_dictionary_bytes(const SlicedDictionary *dictionary, uint32 *len)
{
	*len = dictionary->len;
	return dictionary->bytes;
}

const ZSTD_CDict *
sliced_dictionary_zstd(SlicedDictionary *dictionary, int level)
{
	if (dictionary->zstd == NULL || dictionary->level != level)
	{
		ZSTD_freeCDict(dictionary->zstd);
		dictionary->zstd = ZSTD_createCDict(dictionary->bytes, dictionary->len, level);
		dictionary->level = level;
	}
	return dictionary->zstd;
}

const ZSTD_DDict *
sliced_dictionary_unzstd(SlicedDictionary *dictionary)
{
	if (dictionary->unzstd == NULL)
		dictionary->unzstd = ZSTD_createDDict(dictionary->bytes, dictionary->len);
	return dictionary->unzstd;
}

const LZ4_stream_t *
sliced_dictionary_lz4(SlicedDictionary *dictionary)
{
	if (dictionary->lz4 == NULL &&
		(dictionary->lz4 = malloc(sizeof(LZ4_stream_t))) != NULL)
	{
		LZ4_initStream(dictionary->lz4, sizeof(LZ4_stream_t));
		LZ4_loadDict(dictionary->lz4, dictionary->bytes, dictionary->len);
	}
	return dictionary->lz4;
}

uint32
sliced_dictionary_train(char *dst, uint32 room, const char *samples, const size_t *lengths,
						uint32 n)
{
	size_t		len = ZDICT_trainFromBuffer(dst, room, samples, lengths, n);

	return ZDICT_isError(len) ? 0 : len;
}
