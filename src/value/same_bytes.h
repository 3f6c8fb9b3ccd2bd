/*
 * same_bytes.h
 *	  How far two stretches of bytes are the same, and a hash of those that may be.
 */
#ifndef SLICED_VALUE_SAME_BYTES_H
#define SLICED_VALUE_SAME_BYTES_H

#include "postgres.h"

/*
 * Returns how many bytes, at most 'n', are the same at the beginning of 'a' and 'b'.
 */
extern uint32 sliced_common_prefix(const char *a, const char *b, uint32 n);

/*
 * Returns how many bytes are the same at the end.  'a' and 'b' point behind the
 * bytes.
 */
extern uint32 sliced_common_suffix(const char *a, const char *b, uint32 n);

/* How many bytes are hashed together. */
#define SLICED_WINDOW	16

static inline uint32
sliced_window_hash(const char *p)
{
	uint64		a;
	uint64		b;

	memcpy(&a, p, sizeof(a));
	memcpy(&b, p + sizeof(a), sizeof(b));
	a *= UINT64CONST(0x9E3779B97F4A7C15);
	b = (b ^ (a >> 29)) * UINT64CONST(0xC2B2AE3D27D4EB4F);
	return b >> 32;
}

#endif
