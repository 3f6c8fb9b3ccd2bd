/*
 * none.c
 *	  The codec for bytes that compression does not make smaller.
 */
#include "base/limits.h"
#include "codec/codec.h"

static bool
none_decompress(const char *src, uint32 len, char *dst, uint32 want, uint32 rawlen,
				SlicedDictionary *dictionary)
{
	if (len != rawlen || want > rawlen)
		return false;
	memcpy(dst, src, want);
	return true;
}

const SlicedCodec sliced_codec_none = {
	.name = "none",
	.slice_raw = SLICED_SLICE_NONE,
	.decompress = none_decompress
};
