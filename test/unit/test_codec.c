/*
 * test_codec.c
 *	  What every codec promises, for every codec.
 */
#include "postgres.h"

#include "base/limits.h"
#include "base/limits.h"
#include "codec/codec.h"
#include "unit.h"

#define MAX_LEN	(200 * 1000)

static char raw[MAX_LEN];
static char packed[SLICED_COMPRESS_ROOM(MAX_LEN)];
static char unpacked[MAX_LEN + 16];

static uint32 seed = 1;

static uint32
rnd(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 16;
}

/* 0: all equal, 1: words, 2: half noise, 3: noise */
static void
fill(int how, uint32 len)
{
	for (uint32 i = 0; i < len; i++)
		raw[i] = how == 0 ? 'x' :
			how == 1 ? "the quick brown fox "[(i + i / 97) % 20] :
			how == 2 && i % 64 < 32 ? 'y' : (char) rnd();
}

static const uint32 lengths[] = {
	0, 1, 2, 31, 32, 33, 100, 1996, 4096, 8000, 65535, 65536, 65547, 65548, 69632, 131072, MAX_LEN
};

/* What was compressed comes back, whole or any prefix of it; it did pay. */
static void
round_trip(void)
{
	for (int id = SLICED_CODEC_PGLZ; id < SLICED_N_CODECS; id++)
		for (int how = 0; how < 4; how++)
			for (int l = 0; l < lengthof(lengths); l++)
			{
				const SlicedCodec *codec = sliced_codec_get(id);
				uint32		len = lengths[l];
				uint32		n;

				fill(how, len);
				n = sliced_codec_try(id, raw, len, packed, 3, NULL);
				if (n == 0)
				{
					check(how > 0 || len < 100);
					continue;
				}
				check(n < len && len - n >= len / codec->min_gain);
				check(how != 3);
				for (int part = 0; part <= 4; part++)
				{
					uint32		want = (uint64) len * part / 4;

					memset(unpacked, '#', sizeof(unpacked));
					check(codec->decompress(packed, n, unpacked, want, len, NULL));
					check(memcmp(raw, unpacked, want) == 0);
					check(unpacked[want] == '#');
				}
			}
}

/* Damaged input is refused or gives wrong bytes, but stays within bounds. */
static void
damage(void)
{
	/* Until 15.5 and 16.1 core's pglz may fetch what lies before its output. */
	bool		guarded = PG_VERSION_NUM >= 160001 ||
		(PG_VERSION_NUM >= 150005 && PG_VERSION_NUM < 160000);

	for (int id = guarded ? SLICED_CODEC_PGLZ : SLICED_CODEC_PGLZ + 1; id < SLICED_N_CODECS; id++)
		for (int round = 0; round < 3000; round++)
		{
			const SlicedCodec *codec = sliced_codec_get(id);
			uint32		len = 100 + rnd() % 20000;
			uint32		n;

			fill(1 + rnd() % 2, len);
			n = sliced_codec_try(id, raw, len, packed, 3, NULL);
			if (n == 0)
				continue;
			for (int i = 1 + rnd() % 4; i > 0; i--)
				packed[rnd() % n] ^= 1 << rnd() % 8;
			memset(unpacked, '#', sizeof(unpacked));
			codec->decompress(packed, rnd() % 4 ? n : rnd() % n, unpacked,
							  rnd() % 2 ? len : rnd() % len, len, NULL);
			check(unpacked[len] == '#');
		}
}

/* Hex text repeats by chance only: the more of it, the more a compressor finds. */
static void
hex_text(void)
{
	uint32		n;

	if (SLICED_LZ4_SHORT_BLOCK < 60000)
		return;
	for (int i = 0; i < 60000; i++)
		raw[i] = "0123456789abcdef"[rnd() % 16];
	check(sliced_codec_try(SLICED_CODEC_LZ4, raw, 8000, packed, 3, NULL) == 0);
	check(sliced_codec_try(SLICED_CODEC_LZ4, raw, 16000, packed, 3, NULL) == 0);
	n = sliced_codec_try(SLICED_CODEC_LZ4, raw, 60000, packed, 3, NULL);
	check(n > 0 && n <= 57000);
}

static void
unknown_codecs(void)
{
	check(sliced_codec_get(-1) == NULL);
	check(sliced_codec_get(SLICED_N_CODECS) == NULL);
	check(strcmp(sliced_codec_get(SLICED_CODEC_ZSTD)->name, "zstd") == 0);
	check(!sliced_codec_get(SLICED_CODEC_NONE)->decompress("abc", 3, unpacked, 4, 4, NULL));
	check(sliced_codec_try(SLICED_CODEC_NONE, raw, 1000, packed, 3, NULL) == 0);
}

/* A slice is never larger than readers believe it can be. */
static void
slice_sizes(void)
{
	for (int id = 0; id < SLICED_N_CODECS; id++)
		check(sliced_codec_get(id)->slice_raw <= SLICED_SLICE_MAX);
}

int
main(void)
{
	run_test(round_trip);
	run_test(damage);
	run_test(hex_text);
	run_test(unknown_codecs);
	run_test(slice_sizes);
	return unit_failures != 0;
}
