/*
 * fuzz_codec.c
 *	  Decompress anything; compress anything and get it back.
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

	if (size < 4)
		return 0;
	codec = sliced_codec_get(data[0] % SLICED_N_CODECS);
	rawlen = data[1] << 8 | data[2];
	want = rawlen * data[3] / 255;

	/* exact allocations, so that the sanitizer sees every step too far */
	out = malloc(want + 1);
	codec->decompress(input, len, out, want, rawlen, NULL);
	free(out);

	out = malloc(SLICED_COMPRESS_ROOM(len));
	n = sliced_codec_try(data[0] % SLICED_N_CODECS, input, len, out, 3, NULL);
	if (n > 0)
	{
		char	   *back = malloc(len);

		if (!codec->decompress(out, n, back, len, len, NULL) || memcmp(input, back, len) != 0)
			abort();
		free(back);
	}
	free(out);
	return 0;
}
