/*
 * fuzz_codec.c
 *	  Decompresses any bytes; compresses any bytes and gets them back.
 *
 * Half of the cases have a dictionary, which is the end of the input.
 */
#include "postgres.h"

#include "codec/codec.h"

int			LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	const SlicedCodec *codec;
	const char *input = (const char *) data + 4;
	uint32		len = size - 4;
	uint32		rawlen;
	uint32		want;
	uint32		n;
	char	   *out;
	SlicedDictionary *dictionary = NULL;

	if (size < 4)
		return 0;
	codec = sliced_codec_get(data[0] % SLICED_N_CODECS);
	if (data[0] >= 128 && codec->has_dictionaries)
	{
		uint32		part = len * (data[0] & 63) / 63;

		dictionary = sliced_dictionary_make(input + len - part, part);
		/* compressed bytes may be their own dictionary */
		if (data[0] & 64)
			len -= part;
	}
	rawlen = data[1] << 8 | data[2];
	want = rawlen * data[3] / 255;

	/* exact allocations, so that the sanitizer sees every step too far */
	out = malloc(want + 1);
	codec->decompress(input, len, out, want, rawlen, dictionary);
	free(out);

	out = malloc(SLICED_COMPRESS_ROOM(len));
	n = sliced_codec_try(data[0] % SLICED_N_CODECS, input, len, out, 3, dictionary);
	if (n > 0)
	{
		char	   *back = malloc(len);

		if (!codec->decompress(out, n, back, len, len, dictionary) || memcmp(input, back, len) != 0)
			abort();
		free(back);
	}
	free(out);
	if (dictionary != NULL)
		sliced_dictionary_free(dictionary);
	return 0;
}
