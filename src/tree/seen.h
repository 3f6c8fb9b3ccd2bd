/*
 * seen.h
 *	  Remembers the nodes that a walk has seen.
 *
 * Each node has one parent.  Damaged nodes may have several, and then there are more
 * ways to the lowest than there are atoms.  So a function that follows all names does
 * not go below a node that it has seen.
 */
#ifndef SLICED_TREE_SEEN_H
#define SLICED_TREE_SEEN_H

#include "postgres.h"

#include "common/hashfn.h"

typedef struct SlicedSeenNode
{
	uint64		name;			/* object, chunk_seq */
	char		status;
} SlicedSeenNode;

#define SH_PREFIX sliced_seen
#define SH_ELEMENT_TYPE SlicedSeenNode
#define SH_KEY_TYPE uint64
#define SH_KEY name
#define SH_HASH_KEY(tb, key) murmurhash32((uint32) (key) ^ (uint32) ((key) >> 32))
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_RAW_ALLOCATOR palloc0
#define SH_DEFINE
#define SH_DECLARE
#include "lib/simplehash.h"

/* True if this is the first time. */
static inline bool
sliced_seen_first(sliced_seen_hash *seen, uint32 objid, int32 seq)
{
	bool		found;

	sliced_seen_insert(seen, (uint64) objid << 32 | (uint32) seq, &found);
	return !found;
}

#endif
