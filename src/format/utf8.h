/*
 * utf8.h
 *	  Counts characters of UTF-8 by counting the bytes that continue one.
 *
 * In valid UTF-8 every character has one byte that is not of the form 10xxxxxx.
 * Counts of parts add up, wherever the parts were cut.
 */
#ifndef SLICED_FORMAT_UTF8_H
#define SLICED_FORMAT_UTF8_H

#include "postgres.h"

static inline bool
sliced_utf8_is_follower(char c)
{
	return (c & 0xC0) == 0x80;
}

/* 1 for each of eight bytes that continues a character, 0 for the others. */
static inline uint64
sliced_utf8_followers_of_word(const char *s)
{
	uint64		word;

	memcpy(&word, s, sizeof(word));
	return ((word & ~(word << 1)) >> 7) & UINT64CONST(0x0101010101010101);
}

/* Returns how many of 'len' bytes continue a character. */
static inline uint32
sliced_utf8_followers(const char *s, uint32 len)
{
	uint32		n = 0;

	while (len >= sizeof(uint64))
	{
		/* eight sums of one byte each, then four of two, then one */
		uint32		words = Min(len / sizeof(uint64), 255);
		uint64		sums = 0;

		for (uint32 i = 0; i < words; i++)
			sums += sliced_utf8_followers_of_word(s + i * sizeof(uint64));
		sums = (sums & UINT64CONST(0x00FF00FF00FF00FF)) +
			((sums >> 8) & UINT64CONST(0x00FF00FF00FF00FF));
		n += (sums * UINT64CONST(0x0001000100010001)) >> 48;
		s += words * sizeof(uint64);
		len -= words * sizeof(uint64);
	}
	for (uint32 i = 0; i < len; i++)
		n += sliced_utf8_is_follower(s[i]);
	return n;
}

/* Returns how many leading bytes are characters of one byte. */
static inline uint32
sliced_utf8_ascii(const char *s, uint32 len)
{
	uint32		i = 0;
	uint64		words[4];

	/* one jump for four words: most texts pass all of them */
	for (; i + sizeof(words) <= len; i += sizeof(words))
	{
		memcpy(words, s + i, sizeof(words));
		if ((words[0] | words[1] | words[2] | words[3]) & UINT64CONST(0x8080808080808080))
			break;
	}
	while (i < len && !IS_HIGHBIT_SET(s[i]))
		i++;
	return i;
}

#endif
