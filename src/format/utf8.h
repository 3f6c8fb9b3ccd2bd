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

/* How many of 'len' bytes continue a character? */
static inline uint32
sliced_utf8_followers(const char *s, uint32 len)
{
	uint32		n = 0;

	/* sums of one byte each are what compilers vectorize well */
	while (len > 0)
	{
		uint32		run = Min(len, 255);
		uint8		sum = 0;

		for (uint32 i = 0; i < run; i++)
			sum += sliced_utf8_is_follower(s[i]);
		n += sum;
		s += run;
		len -= run;
	}
	return n;
}

/* How many leading bytes are characters of one byte? */
static inline uint32
sliced_utf8_ascii(const char *s, uint32 len)
{
	uint32		i = 0;

	for (; i + sizeof(uint64) <= len; i += sizeof(uint64))
	{
		uint64		word;

		memcpy(&word, s + i, sizeof(word));
		if (word & UINT64CONST(0x8080808080808080))
			break;
	}
	while (i < len && !IS_HIGHBIT_SET(s[i]))
		i++;
	return i;
}

#endif
