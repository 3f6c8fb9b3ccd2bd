/*
 * lz4.c
 *	  LZ4: fast in both directions, looks back 64 kB.
 *
 * A slice begins with nothing to look back at.  So slices of 64 kB miss half of what
 * they could find, slices of 128 kB a quarter, which costs 2 to 4 % on logs and
 * documents.
 *
 * The library's function for a single block uses another hash table below 64 kB,
 * which finds more and shorter matches.  Its function for a stream of blocks, here a
 * stream of one, always uses the table for long blocks.  With that, slices of a few
 * kB of JSON come out up to 6 % smaller, those of logs 2 % larger, and both take less
 * time in both directions.  Short matches are worth their time only where long ones
 * save next to nothing, as in digits or lists of UUIDs.  Hex text that is stored as
 * it is takes a tenth of the time to read, so short matches must save a twentieth.
 */
#include <lz4.h>

#include "base/limits.h"
#include "codec/codec.h"

static uint32
compress_as_stream(const char *src, uint32 len, char *dst, uint32 cap,
				   SlicedDictionary *dictionary)
{
	const LZ4_stream_t *loaded = dictionary == NULL ? NULL : sliced_dictionary_lz4(dictionary);
	LZ4_stream_t stream;
	int			n;

	if (loaded != NULL)
		stream = *loaded;
	else if (dictionary != NULL)
		return 0;
	else
		LZ4_initStream(&stream, sizeof(stream));
	n = LZ4_compress_fast_continue(&stream, src, dst, len, cap, 1);
	return n > 0 ? n : 0;
}

static uint32
lz4_codec_compress(const char *src, uint32 len, char *dst, uint32 cap, int level,
				   SlicedDictionary *dictionary)
{
	uint32		n = compress_as_stream(src, len, dst, cap, dictionary);
	int			by_block;

	if (dictionary != NULL || len >= SLICED_LZ4_SHORT_BLOCK || (n > 0 && n < len - len / SLICED_GAIN_LZ4_LONG))
		return n;
	by_block = LZ4_compress_default(src, dst, len, n > 0 ? n - len / SLICED_GAIN_LZ4_SHORTER :
									Min(cap, len - len / SLICED_GAIN_LZ4_SHORT));
	if (by_block > 0)
		return by_block;
	return n > 0 ? compress_as_stream(src, len, dst, cap, NULL) : 0;
}

static bool
lz4_codec_decompress(const char *src, uint32 len, char *dst, uint32 want, uint32 rawlen,
					 SlicedDictionary *dictionary)
{
	const char *bytes;
	uint32		nbytes;
	int			n;

	if (want > rawlen)
		return false;
	if (dictionary != NULL)
	{
		bytes = sliced_dictionary_bytes(dictionary, &nbytes);
		if (want == rawlen)
			n = LZ4_decompress_safe_usingDict(src, dst, len, rawlen, bytes, nbytes);
		else
			n = LZ4_decompress_safe_partial_usingDict(src, dst, len, want, want, bytes, nbytes);
	}
	else if (want == rawlen)
		n = LZ4_decompress_safe(src, dst, len, rawlen);
	else
		n = LZ4_decompress_safe_partial(src, dst, len, want, want);
	return n >= 0 && (uint32) n == want;
}

const SlicedCodec sliced_codec_lz4 = {
	.name = "lz4",
	.slice_raw = SLICED_SLICE_LZ4,
	.min_gain = SLICED_GAIN_LZ4,
	.has_dictionaries = true,
	.compress = lz4_codec_compress,
	.decompress = lz4_codec_decompress
};
