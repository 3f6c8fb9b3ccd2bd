/*
 * same_bytes.c
 *	  How far two stretches of bytes are the same.
 */
#include "postgres.h"

#include "value/same_bytes.h"

uint32
sliced_common_prefix(const char *a, const char *b, uint32 n)
{
	uint32		i = 0;

	while (i + sizeof(uint64) <= n && memcmp(a + i, b + i, sizeof(uint64)) == 0)
		i += sizeof(uint64);
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

uint32
sliced_common_suffix(const char *a, const char *b, uint32 n)
{
	uint32		i = 0;

	while (i + sizeof(uint64) <= n &&
		   memcmp(a - i - sizeof(uint64), b - i - sizeof(uint64), sizeof(uint64)) == 0)
		i += sizeof(uint64);
	while (i < n && a[-1 - (int64) i] == b[-1 - (int64) i])
		i++;
	return i;
}
