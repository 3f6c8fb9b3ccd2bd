/*
 * zstd.c
 *	  Zstandard: a third smaller than lz4, and still faster to read than pglz.
 *
 * One context for each direction lives as long as the process: making one
 * costs more than compressing a slice.
 */
#include <zstd.h>
#include <zstd_errors.h>

#include "base/limits.h"
#include "codec/codec.h"

static uint32
compress_with_dictionary(ZSTD_CCtx *cctx, const char *src, uint32 len, char *dst, uint32 cap,
						 int level, SlicedDictionary *dictionary)
{
	const ZSTD_CDict *digested = sliced_dictionary_zstd(dictionary, level);
	size_t		n;

	if (digested == NULL)
		return 0;
	ZSTD_CCtx_reset(cctx, ZSTD_reset_session_and_parameters);
	/* the row names the dictionary and the length already */
	ZSTD_CCtx_setParameter(cctx, ZSTD_c_dictIDFlag, 0);
	ZSTD_CCtx_refCDict(cctx, digested);
	n = ZSTD_compress2(cctx, dst, cap, src, len);
	ZSTD_CCtx_reset(cctx, ZSTD_reset_session_and_parameters);
	return ZSTD_isError(n) ? 0 : n;
}

static uint32
zstd_codec_compress(const char *src, uint32 len, char *dst, uint32 cap, int level,
					SlicedDictionary *dictionary)
{
	static ZSTD_CCtx *cctx = NULL;
	size_t		n;

	if (cctx == NULL && (cctx = ZSTD_createCCtx()) == NULL)
		return 0;
	if (dictionary != NULL)
		return compress_with_dictionary(cctx, src, len, dst, cap, level, dictionary);
	n = ZSTD_compressCCtx(cctx, dst, cap, src, len, level);
	return ZSTD_isError(n) ? 0 : n;
}

/* Want of memory is no damage of the bytes that are read. */
static void
fail_without_memory(bool has_memory)
{
	if (!has_memory)
		ereport(ERROR,
				errcode(ERRCODE_OUT_OF_MEMORY),
				errmsg("out of memory"),
				errdetail("Failed to decompress with zstd."));
}

/* True if zstd says that it is an error. */
static bool
is_error(size_t result)
{
	fail_without_memory(ZSTD_getErrorCode(result) != ZSTD_error_memory_allocation);
	return ZSTD_isError(result);
}

/*
 * The dictionary's tables; NULL if its bytes are damaged.  zstd does not say whether
 * they are, or memory is short, so we look for memory and try again.
 */
static const ZSTD_DDict *
unzstd(SlicedDictionary *dictionary)
{
	const ZSTD_DDict *result = sliced_dictionary_unzstd(dictionary);
	/* volatile: compilers know that nothing is done with it, and would not ask for it */
	void	   *volatile memory;

	if (result != NULL)
		return result;
	memory = malloc(2 * SLICED_DICTIONARY_MAX);
	fail_without_memory(memory != NULL);
	free(memory);
	return sliced_dictionary_unzstd(dictionary);
}

/*
 * To decompress a prefix, end the stream early.  zstd produces whole blocks, so this
 * saves the blocks behind the one that holds the last byte.
 */
static bool
zstd_decompress_prefix(ZSTD_DCtx *dctx, const char *src, uint32 len, char *dst, uint32 want)
{
	ZSTD_inBuffer in = {src, len, 0};
	ZSTD_outBuffer out = {dst, want, 0};

	while (out.pos < want)
	{
		size_t		before = in.pos + out.pos;
		size_t		left = ZSTD_decompressStream(dctx, &out, &in);

		if (is_error(left) || in.pos + out.pos == before)
			return false;
	}
	return true;
}

static bool
zstd_codec_decompress(const char *src, uint32 len, char *dst, uint32 want, uint32 rawlen,
					  SlicedDictionary *dictionary)
{
	static ZSTD_DCtx *dctx = NULL;
	const ZSTD_DDict *digested = NULL;
	size_t		n;

	if (want > rawlen)
		return false;
	if (dctx == NULL)
		dctx = ZSTD_createDCtx();
	fail_without_memory(dctx != NULL);
	if (dictionary != NULL && (digested = unzstd(dictionary)) == NULL)
		return false;
	ZSTD_DCtx_reset(dctx, ZSTD_reset_session_only);
	if (is_error(ZSTD_DCtx_refDDict(dctx, digested)))
		return false;
	if (want < rawlen)
		return zstd_decompress_prefix(dctx, src, len, dst, want);
	n = ZSTD_decompressDCtx(dctx, dst, rawlen, src, len);
	return !is_error(n) && n == rawlen;
}

const SlicedCodec sliced_codec_zstd = {
	.name = "zstd",
	.slice_raw = SLICED_SLICE_ZSTD,
	.min_gain = SLICED_GAIN_ZSTD,
	.max_level = SLICED_ZSTD_LEVELS,
	.has_dictionaries = true,
	.compress = zstd_codec_compress,
	.decompress = zstd_codec_decompress
};
