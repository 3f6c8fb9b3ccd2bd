/*
 * lz4.c
 *	  LZ4: fast in both directions, looks back 64 kB.
 *
 * A slice begins with nothing to look back at, so slices of 64 kB miss half of
 * what there is to find; 128 kB miss a quarter, which costs 2 to 4 % on logs and
 * documents.  Besides, below 64 kB the library uses a finer hash table, finds
 * more and shorter matches, and its output takes up to 1.6 times as long to
 * decompress.
 */
#include <lz4.h>

#include "codec/codec.h"

static uint32
lz4_codec_compress(const char *src, uint32 len, char *dst, uint32 cap, int level)
{
	int			n = LZ4_compress_default(src, dst, len, cap);

	return n > 0 ? n : 0;
}

static bool
lz4_codec_decompress(const char *src, uint32 len, char *dst, uint32 want, uint32 rawlen)
{
	int			n;

	if (want > rawlen)
		return false;
	if (want == rawlen)
		n = LZ4_decompress_safe(src, dst, len, rawlen);
	else
		n = LZ4_decompress_safe_partial(src, dst, len, want, want);
	return n >= 0 && (uint32) n == want;
}

const SlicedCodec sliced_codec_lz4 = {
	.name = "lz4",
	.slice_raw = 128 * 1024,
	.min_gain = 50,
	.compress = lz4_codec_compress,
	.decompress = lz4_codec_decompress
};
