/*
 * checksum.c
 *	  The checksum of stored rows.
 */
#include "postgres.h"

#include "format/checksum.h"

/* Odd numbers with no structure: the first bits of the golden ratio and of square roots. */
#define MULTIPLIER	UINT64CONST(0x9E3779B97F4A7C15)

static const uint64 lane_start[4] = {
	UINT64CONST(0x6A09E667F3BCC908), UINT64CONST(0xBB67AE8584CAA73B),
	UINT64CONST(0x3C6EF372FE94F82B), UINT64CONST(0xA54FF53A5F1D36F1)
};

static inline uint64
word_at(const char *p)
{
	uint64		word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* A bijection in which every bit of the result depends on every bit of 'x'. */
static inline uint64
mix(uint64 x)
{
	x = (x ^ (x >> 32)) * MULTIPLIER;
	x = (x ^ (x >> 29)) * MULTIPLIER;
	return x ^ (x >> 32);
}

uint32
sliced_checksum(const char *data, uint32 len, uint64 place)
{
	uint64		a = lane_start[0] ^ place;
	uint64		b = lane_start[1] ^ len;
	uint64		c = lane_start[2];
	uint64		d = lane_start[3];
	uint64		result;

	for (; len >= 32; data += 32, len -= 32)
	{
		a = (a ^ word_at(data)) * MULTIPLIER;
		b = (b ^ word_at(data + 8)) * MULTIPLIER;
		c = (c ^ word_at(data + 16)) * MULTIPLIER;
		d = (d ^ word_at(data + 24)) * MULTIPLIER;
	}
	for (; len >= 8; data += 8, len -= 8)
		a = mix(a ^ word_at(data));
	if (len > 0)
	{
		uint64		rest = 0;

		memcpy(&rest, data, len);
		b = mix(b ^ rest);
	}

	result = mix(mix(mix(mix(a) ^ b) ^ c) ^ d);
	return (uint32) (result ^ (result >> 32));
}
