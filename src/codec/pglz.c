/*
 * pglz.c
 *	  PostgreSQL's own LZ compressor.
 *
 * It looks back 4 kB only, so slices larger than a few windows gain nothing.
 * It decompresses literals byte by byte, so a small gain is not worth it.
 */
#include <limits.h>

#include "base/limits.h"
#include "codec/codec.h"
#include "common/pg_lzcompress.h"

/*
 * Give up if nothing repeats within the first 4 kB, or if the whole does not
 * come out an eighth smaller: min_gain below.
 */
static const PGLZ_Strategy strategy = {
	.min_input_size = 32,
	.max_input_size = INT_MAX,
	.min_comp_rate = 12,
	.first_success_by = 4096,
	.match_size_good = 128,
	.match_size_drop = 10
};

static uint32
pglz_codec_compress(const char *src, uint32 len, char *dst, uint32 cap, int level,
					SlicedDictionary *dictionary)
{
	int32		n = pglz_compress(src, len, dst, &strategy);

	return n > 0 && (uint32) n <= cap ? n : 0;
}

static bool
pglz_codec_decompress(const char *src, uint32 len, char *dst, uint32 want, uint32 rawlen,
					  SlicedDictionary *dictionary)
{
	if (want > rawlen)
		return false;
	return pglz_decompress(src, len, dst, want, want == rawlen) == (int32) want;
}

const SlicedCodec sliced_codec_pglz = {
	.name = "pglz",
	.slice_raw = SLICED_SLICE_PGLZ,
	.min_gain = SLICED_GAIN_PGLZ,
	.compress = pglz_codec_compress,
	.decompress = pglz_codec_decompress
};
