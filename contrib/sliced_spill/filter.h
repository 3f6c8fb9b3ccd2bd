/*
 * filter.h
 *	  A Bloom filter of hashes.  All bits of one hash are in one word.  That makes
 *	  the filter so cheap that we need not know in advance whether it will help.
 */
#ifndef SLICED_SPILL_FILTER_H
#define SLICED_SPILL_FILTER_H

#include "postgres.h"

typedef struct SlicedFilter
{
	uint64	   *words;			/* NULL: no filter */
	uint32		n;
} SlicedFilter;

static inline Size
sliced_filter_bytes(const SlicedFilter *filter)
{
	return filter->words == NULL ? 0 : filter->n * sizeof(uint64);
}

/* The hash's word: by its upper bits, because partitions go by the lower ones. */
static inline uint64 *
sliced_filter_word(const SlicedFilter *filter, uint32 hash)
{
	return &filter->words[((uint64) hash * filter->n) >> 32];
}

/* The hash's four bits in its word. */
static inline uint64
sliced_filter_bits(uint32 hash)
{
	uint64		mixed = hash * UINT64CONST(0x9E3779B97F4A7C15);

	return UINT64CONST(1) << (mixed >> 58) | UINT64CONST(1) << (mixed >> 52 & 63) |
		UINT64CONST(1) << (mixed >> 46 & 63) | UINT64CONST(1) << (mixed >> 40 & 63);
}

static inline void
sliced_filter_add(SlicedFilter *filter, uint32 hash)
{
	*sliced_filter_word(filter, hash) |= sliced_filter_bits(hash);
}

/* False only if this hash was not added. */
static inline bool
sliced_filter_has(const SlicedFilter *filter, uint32 hash)
{
	uint64		bits = sliced_filter_bits(hash);

	return (*sliced_filter_word(filter, hash) & bits) == bits;
}

#endif
