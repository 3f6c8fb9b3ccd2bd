/*
 * common.h
 *	  The most common keys of the outer side of a join, by the statistics of its
 *	  column.
 *
 * Inner rows with such keys stay in memory, no matter which partition they belong to.
 * So most outer rows need not be written.
 */
#ifndef SLICED_SPILL_COMMON_H
#define SLICED_SPILL_COMMON_H

#include "postgres.h"

#include "fmgr.h"

typedef struct SlicedCommonKeys
{
	int			n;
	uint32	   *hashes;			/* the most common one first */
	uint32	   *table;			/* the same as a hash table; 0: empty */
	uint32		mask;
} SlicedCommonKeys;

/*
 * Get the common keys of a column, hashed by this function, if they make a
 * difference.
 */
extern void sliced_common_keys(SlicedCommonKeys *keys, Oid relid, int column, bool inherited,
							   FmgrInfo *function, Oid collation);

/* Keep no more than the first 'n'. */
extern void sliced_common_keep(SlicedCommonKeys *keys, int n);

static inline bool
sliced_is_common(const SlicedCommonKeys *keys, uint32 hash)
{
	if (keys->n == 0)
		return false;
	for (uint32 i = hash & keys->mask; keys->table[i] != 0; i = (i + 1) & keys->mask)
		if (keys->table[i] == hash)
			return true;
	return false;
}

#endif
