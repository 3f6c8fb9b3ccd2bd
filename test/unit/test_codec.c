/*
 * test_codec.c
 *	  Tests of every codec: that it does what codec.h says.
 */
#include "postgres.h"

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

/* Compressed bytes come back, whole or as any prefix; compressing did pay. */
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
	/* Core's pglz before 15.5 and 16.1 may read bytes before its output. */
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

/* ---- with a dictionary ---- */

#define N_SAMPLES	400

static char samples[N_SAMPLES * 300];
static size_t sample_lengths[N_SAMPLES];
static char trained[8192];

/* A document like the others, but with other numbers. */
static uint32
document(char *dst)
{
	return sprintf(dst, "{\"id\": %u, \"customer\": \"%08x%08x\", \"city\": \"%s\", \"state\": \"%s\", \"description\": \"an item of the catalogue, number %u\"}",
				   rnd(), rnd() * 7919, rnd() * 104729, rnd() % 2 ? "Berlin" : "Hamburg", rnd() % 2 ? "ordered" : "shipped", rnd() % 100);
}

static uint32
take_samples(void)
{
	uint32		len = 0;

	for (int i = 0; i < N_SAMPLES; i++)
	{
		sample_lengths[i] = document(samples + len);
		len += sample_lengths[i];
	}
	return len;
}

/*
 * 0: from samples, 1: text, 2: noise, 3: short, 4: a dictionary's beginning, then
 * noise
 */
static SlicedDictionary *
some_dictionary(int how)
{
	uint32		len = how == 0 ? 0 : how == 3 ? 5 : sizeof(trained);

	if (how == 0)
	{
		take_samples();
		len = sliced_dictionary_train(trained, sizeof(trained), samples, sample_lengths, N_SAMPLES);
		check(len > 256 && len <= sizeof(trained));
	}
	else
	{
		fill(how == 1 ? 1 : 3, len);
		memcpy(trained, raw, len);
		if (how == 4)
			memcpy(trained, "\x37\xA4\x30\xEC\x01", 5);
	}
	return sliced_dictionary_make(trained, len);
}

/* Documents one after the other, up to a length. */
static void
fill_with_documents(uint32 len)
{
	char		one[300];

	for (uint32 at = 0, n; at < len; at += n)
	{
		n = document(one);
		memcpy(raw + at, one, Min(n, len - at));
	}
}

/* Bytes that were compressed with a dictionary come back with a copy of it. */
static void
with_dictionary(void)
{
	for (int how = 0; how < 5; how++)
	{
		SlicedDictionary *dictionary = some_dictionary(how);
		uint32		nbytes;
		const char *bytes = sliced_dictionary_bytes(dictionary, &nbytes);
		SlicedDictionary *copy = sliced_dictionary_make(bytes, nbytes);

		check(memcmp(bytes, trained, nbytes) == 0);
		for (int id = SLICED_CODEC_PGLZ; id < SLICED_N_CODECS; id++)
			for (int l = 0; l < lengthof(lengths); l++)
			{
				const SlicedCodec *codec = sliced_codec_get(id);
				uint32		len = lengths[l];
				uint32		n;
				uint32		without;

				if (!codec->has_dictionaries)
					continue;
				fill_with_documents(len);
				without = sliced_codec_try(id, raw, len, packed, 3, NULL);
				n = sliced_codec_try(id, raw, len, packed, l % 2 ? 3 : 9, dictionary);
				/* a dictionary pays where slices are short and like the samples */
				if (how == 0 && len > 1000 && len <= 4096)
					check(n > 0 && n < (without > 0 ? without : len) * 9 / 10);
				if (n == 0)
				{
					check(len <= 2000 || how == 4);
					continue;
				}
				check(n < len && len - n >= len / codec->min_gain);
				for (int part = 0; part <= 4; part++)
				{
					uint32		want = (uint64) len * part / 4;

					memset(unpacked, '#', sizeof(unpacked));
					check(codec->decompress(packed, n, unpacked, want, len, copy));
					check(memcmp(raw, unpacked, want) == 0);
					check(unpacked[want] == '#');
				}
			}
		sliced_dictionary_free(dictionary);
		sliced_dictionary_free(copy);
	}
	check(!sliced_codec_get(SLICED_CODEC_PGLZ)->has_dictionaries);
	/* tiny dictionaries: damaged rows may name such */
	for (uint32 len = 0; len < 9; len++)
		sliced_dictionary_free(sliced_dictionary_make(trained, len));
}

/* Damaged bytes, another dictionary or none: decompressing stays within bounds. */
static void
damage_with_dictionary(void)
{
	SlicedDictionary *dictionaries[6] = {NULL};

	for (int how = 0; how < 5; how++)
		dictionaries[how + 1] = some_dictionary(how);
	for (int round = 0; round < 6000; round++)
	{
		int			id = round % 2 ? SLICED_CODEC_LZ4 : SLICED_CODEC_ZSTD;
		uint32		len = 100 + rnd() % 20000;
		uint32		want = rnd() % 2 ? len : rnd() % len;
		uint32		n;
		char	   *input;
		char	   *output = malloc(want + 1);
		SlicedDictionary *one = dictionaries[rnd() % 6];
		SlicedDictionary *other = dictionaries[rnd() % 6];

		fill_with_documents(len);
		n = sliced_codec_try(id, raw, len, packed, 3, one);
		for (int i = rnd() % 4; i > 0 && n > 0; i--)
			packed[rnd() % n] ^= 1 << rnd() % 8;
		/* exact allocations, so that the sanitizer sees every step too far */
		n = rnd() % 4 || n == 0 ? n : rnd() % n;
		input = memcpy(malloc(n + 1), packed, n);
		memset(output, '#', want + 1);
		sliced_codec_get(id)->decompress(input, n, output, want, len, other);
		check(output[want] == '#');
		/* the next call does not suffer */
		fill_with_documents(3000);
		n = sliced_codec_try(id, raw, 3000, packed, 3, one);
		if (n > 0)
			check(sliced_codec_get(id)->decompress(packed, n, unpacked, 3000, 3000, one) &&
				  memcmp(raw, unpacked, 3000) == 0);
		n = sliced_codec_try(id, raw, 3000, packed, 3, NULL);
		check(n > 0 && sliced_codec_get(id)->decompress(packed, n, unpacked, 3000, 3000, NULL) &&
			  memcmp(raw, unpacked, 3000) == 0);
		free(input);
		free(output);
	}
	for (int how = 0; how < 5; how++)
		sliced_dictionary_free(dictionaries[how + 1]);
}

/* No dictionary comes of no samples, too few, or samples with nothing in common. */
static void
training(void)
{
	uint32		len = take_samples();
	char	   *dst = malloc(512);

	check(sliced_dictionary_train(dst, 0, samples, sample_lengths, N_SAMPLES) == 0);
	check(sliced_dictionary_train(dst, 512, samples, sample_lengths, 0) == 0);
	check(sliced_dictionary_train(dst, 512, samples, sample_lengths, 1) == 0);
	check(sliced_dictionary_train(dst, 512, samples, sample_lengths, N_SAMPLES) <= 512);
	for (uint32 i = 0; i < len; i++)
		samples[i] = rnd();
	check(sliced_dictionary_train(dst, 512, samples, sample_lengths, N_SAMPLES) <= 512);
	memset(sample_lengths, 0, sizeof(sample_lengths));
	check(sliced_dictionary_train(dst, 512, samples, sample_lengths, N_SAMPLES) == 0);
	free(dst);
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

/* A codec gives no more bytes than the slice has, and "none" gives those it got. */
static void
too_many_wanted(void)
{
	SlicedDictionary *dictionary = some_dictionary(0);

	fill(1, 4096);
	for (int id = 0; id < SLICED_N_CODECS; id++)
	{
		const SlicedCodec *codec = sliced_codec_get(id);
		uint32		n = sliced_codec_try(id, raw, 4096, packed, 3, NULL);

		if (id == SLICED_CODEC_NONE)
		{
			memcpy(packed, raw, 4096);
			n = 4096;
			check(codec->decompress(packed, n, unpacked, 1000, n, NULL));
			check(memcmp(raw, unpacked, 1000) == 0);
			check(!codec->decompress(packed, n - 1, unpacked, 1000, n, NULL));
		}
		memset(unpacked, '#', sizeof(unpacked));
		check(n > 0 && !codec->decompress(packed, n, unpacked, 4097, 4096, NULL));
		check(unpacked[4096] == '#');
		if (codec->has_dictionaries)
			check(!codec->decompress(packed, n, unpacked, 4097, 4096, dictionary));
	}
	sliced_dictionary_free(dictionary);
}

/* No slice is larger than readers expect. */
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
	run_test(with_dictionary);
	run_test(damage_with_dictionary);
	run_test(training);
	run_test(hex_text);
	run_test(unknown_codecs);
	run_test(too_many_wanted);
	run_test(slice_sizes);
	return unit_failures != 0;
}
