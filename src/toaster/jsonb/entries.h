/*
 * entries.h
 *	  Compares the entries of a changed container with its old entries.
 */
#ifndef SLICED_JSONB_ENTRIES_H
#define SLICED_JSONB_ENTRIES_H

#include "postgres.h"

#include "store/rope.h"
#include "utils/jsonb.h"

typedef struct SlicedEntries
{
	const char *words;
	uint32		n;
	uint32		first;			/* the number of the first in its container */
	uint32		end;			/* the end of the data of the entry before that */
} SlicedEntries;

/*
 * Add new entries to a rope.  The old ones are 'other', a rope of the same base, from byte
 * 'start' on.
 */
extern void sliced_entries_add(SlicedRope *rope, const SlicedEntries *new, const SlicedEntries *old,
							   const SlicedRope *other, uint32 start);

#endif
