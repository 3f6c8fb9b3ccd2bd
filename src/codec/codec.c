/*
 * codec.c
 *	  Finds a codec by its number and decides whether compression pays.
 */
#include "codec/codec.h"

static const SlicedCodec *const codecs[SLICED_N_CODECS] = {
	[SLICED_CODEC_NONE] = &sliced_codec_none,
	[SLICED_CODEC_PGLZ] = &sliced_codec_pglz,
	[SLICED_CODEC_LZ4] = &sliced_codec_lz4,
	[SLICED_CODEC_ZSTD] = &sliced_codec_zstd,
};

const SlicedCodec *
sliced_codec_get(int id)
{
	return id >= 0 && id < SLICED_N_CODECS ? codecs[id] : NULL;
}

int
sliced_codec_named(const char *name)
{
	for (int id = 0; id < SLICED_N_CODECS; id++)
		if (strcmp(codecs[id]->name, name) == 0)
			return id;
	return -1;
}

uint32
sliced_codec_limit(int id, uint32 len)
{
	const SlicedCodec *codec = codecs[id];

	return codec->compress == NULL || len <= codec->min_gain ? 0 :
		len - len / codec->min_gain - 1;
}

uint32
sliced_codec_try(int id, const char *src, uint32 len, char *dst, int level,
				 SlicedDictionary *dictionary)
{
	uint32		limit = sliced_codec_limit(id, len);

	return limit == 0 ? 0 : codecs[id]->compress(src, len, dst, limit, level, dictionary);
}
