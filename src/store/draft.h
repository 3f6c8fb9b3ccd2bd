/*
 * draft.h
 *	  Values about to be stored.
 *
 * A value is drafted first: its codec is chosen and its first slice compressed,
 * which tells whether the value could stay in its row instead.  Whoever decides
 * against that hands the draft to the writer, so nothing is compressed twice.
 */
#ifndef SLICED_STORE_DRAFT_H
#define SLICED_STORE_DRAFT_H

#include "postgres.h"

#include "base/toaster.h"
#include "codec/codec.h"
#include "store/taken.h"

typedef struct SlicedDraft
{
	const char *raw;			/* the caller's memory; NULL if the value is taken as it is */
	uint32		len;
	SlicedCompression compression;	/* to try on every slice */

	/* The value as it is stored elsewhere, if 'raw' is NULL. */
	SlicedTaken taken;

	/* How to store it in another order than that of its bytes, if not 0. */
	int			ncuts;
	SlicedCut  *cuts;			/* all of its bytes, in their order */
	int			nregions;		/* in the order in which to store them */

	/* The first slice, unless it is cut. */
	uint32		first_raw;		/* raw bytes tried together */
	uint32		first_stored;	/* 0 if compressing them does not pay */
	bool		first_has_dictionary;
	const char *first;			/* the compressed bytes */
	void	   *first_memory;	/* where they are, or NULL: in the caller's memory */
} SlicedDraft;

/*
 * Prepare to store 'len' bytes at 'raw', which must stay until the draft is
 * written or dropped.  Allocates in the current context.
 */
extern void sliced_draft_init(SlicedDraft *draft, const char *raw, uint32 len,
							  SlicedCompression compression);

/*
 * The same for a value that will certainly be stored, in the order that the policy
 * has for it.
 */
extern void sliced_draft_final(SlicedDraft *draft, const char *raw, uint32 len,
							   SlicedCompression compression, const SlicedPolicy *policy);

/* Does the policy have an order of its own for values of this length? */
static inline bool
sliced_policy_cuts(const SlicedPolicy *policy, uint32 len)
{
	return policy->cut != NULL && len >= policy->cut_min;
}

/*
 * The same for a value of 'len' bytes that somebody else has compressed to 'stored',
 * which must stay as well.  It is taken as it is, without a look inside: what does not
 * decompress is reported when it is read, as in heap.  False, and no draft, unless we
 * might have compressed the value so ourselves.
 */
extern bool sliced_draft_take(SlicedDraft *draft, uint32 len, SlicedCompression compression,
							  const char *stored, uint32 storedlen);

/*
 * The same for a value of ours in another table, or an older file of this one.  False
 * unless it is as the writer would write it, and takes more than 'more_than' bytes.
 */
extern bool sliced_draft_copy(SlicedDraft *draft, Relation toastrel, Oid valueid, uint32 len,
							  SlicedCompression compression, const SlicedPolicy *policy,
							  uint32 more_than);

/* Is it stored in another order than that of its bytes? */
static inline bool
sliced_draft_is_cut(const SlicedDraft *draft)
{
	return draft->ncuts > 0 || draft->taken.layout.root != NULL;
}

/* The value's bytes, decompressed if need be, in the current context. */
extern const char *sliced_draft_raw(const SlicedDraft *draft);

/* Free what the draft has allocated. */
extern void sliced_draft_free(SlicedDraft *draft);

/*
 * How many bytes to store in place of the first slice's raw ones?  0: the raw bytes
 * themselves.
 */
extern uint32 sliced_draft_stored(const SlicedDraft *draft);

#endif
