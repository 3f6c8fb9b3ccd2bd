/*
 * draft.h
 *	  Values about to be stored.
 *
 * A value is drafted first: its codec is chosen and its first slice compressed, which
 * tells whether the value could stay in its row instead.  A caller that decides
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

	/* If not 0, how to store it in another order than that of its bytes. */
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

/* True if the policy has an order of its own for values of this length. */
static inline bool
sliced_policy_cuts(const SlicedPolicy *policy, uint32 len)
{
	return policy->cut != NULL && len >= policy->cut_min;
}

/*
 * The same for a value of 'len' bytes that core has compressed to 'stored', which
 * must stay as well.  It is taken as it is, without a look inside: if it does not
 * decompress, reading reports that, as in heap.  Returns false, and makes no draft,
 * unless we might have compressed the value so ourselves.
 */
extern bool sliced_draft_take(SlicedDraft *draft, uint32 len, SlicedCompression compression,
							  const char *stored, uint32 storedlen);

/*
 * The same for a value of ours in another table, or in an older file of this one.
 * Returns false unless the writer would write it so, and it takes more than
 * 'more_than' bytes.
 */
extern bool sliced_draft_copy(SlicedDraft *draft, Relation toastrel, Oid valueid, uint32 len,
							  SlicedCompression compression, const SlicedPolicy *policy,
							  uint32 more_than);

/* True if it is stored in another order than that of its bytes. */
static inline bool
sliced_draft_is_cut(const SlicedDraft *draft)
{
	return draft->ncuts > 0 || draft->taken.layout.root != NULL;
}

/* The bytes of a value that is not cut, decompressed if need be, in the current context. */
extern const char *sliced_draft_raw(const SlicedDraft *draft);

/* Free what the draft has allocated. */
extern void sliced_draft_free(SlicedDraft *draft);

/*
 * Returns how many bytes to store in place of the first slice's raw ones; 0 for the
 * raw bytes themselves.
 */
extern uint32 sliced_draft_stored(const SlicedDraft *draft);

#endif
