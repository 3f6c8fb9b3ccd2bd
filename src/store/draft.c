/*
 * draft.c
 *	  Values about to be stored.
 */
#include "postgres.h"

#include "base/limits.h"
#include "codec/codec.h"
#include "format/row.h"
#include "store/draft.h"
#include "store/slice.h"

/* A draft without anything compressed. */
static void
draft_begin(SlicedDraft *draft, const char *raw, uint32 len, SlicedCompression compression)
{
	memset(draft, 0, sizeof(*draft));
	draft->raw = raw;
	draft->len = len;
	draft->compression = compression;
	draft->first_raw = Min(len, sliced_codec_get(compression.codec)->slice_raw);
}

void
sliced_draft_init(SlicedDraft *draft, const char *raw, uint32 len, SlicedCompression compression)
{
	draft_begin(draft, raw, len, compression);
	if (compression.codec != SLICED_CODEC_NONE)
	{
		draft->first = draft->first_memory = palloc(SLICED_SLICE_ROOM(draft->first_raw));
		draft->first_stored = sliced_slice_compress(&compression, raw, draft->first_raw,
													draft->first_memory,
													&draft->first_has_dictionary);
	}
}

static void
complain_of_cuts(const SlicedDraft *draft, const char *detail)
{
	ereport(ERROR,
			errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
			errmsg("the cuts of a value of %u bytes are not possible", draft->len),
			errdetail_internal("%s", detail));
}

/*
 * Each region has a cut.  Regions lie side by side, or one within another.  A change lets edits of a child, and
 * all that lies between its runs, go down to a node of their own: of regions that lie
 * across each other both would own rows of one.
 */
static void
check_regions(const SlicedDraft *draft)
{
	bool	   *seen = palloc0(draft->nregions * sizeof(bool));
	int		   *open = palloc(draft->nregions * sizeof(int));	/* the innermost is the last */
	int			nopen = 0;

	for (int i = 0; i < draft->ncuts; i++)
	{
		int			region = draft->cuts[i].region;

		if (!seen[region])
		{
			seen[region] = true;
			open[nopen++] = region;
			continue;
		}
		/* regions within this one end here */
		while (nopen > 0 && open[nopen - 1] != region)
			nopen--;
		if (nopen == 0)
			complain_of_cuts(draft, psprintf("Cut %d is in region %d, which has ended: a region around it has gone on.",
											 i, region));
	}
	/* it would be an extent without bytes, which no reader accepts */
	for (int region = 0; region < draft->nregions; region++)
		if (!seen[region])
			complain_of_cuts(draft, psprintf("No cut is in region %d of %d.", region, draft->nregions));
	pfree(open);
	pfree(seen);
}

/*
 * The cuts come from the type's toaster.  If they are all of the value's bytes, each
 * once, the value can be put together again, however it was cut.
 */
static void
check_cuts(const SlicedDraft *draft)
{
	uint32		at = 0;

	if (draft->cuts == NULL || draft->ncuts <= 0 || draft->ncuts > SLICED_MAX_CUTS ||
		draft->nregions > draft->ncuts)
		complain_of_cuts(draft, psprintf("There are %d cuts in %d regions; at most %d cuts, and no more regions, are possible.",
										 draft->cuts == NULL ? 0 : draft->ncuts, draft->nregions,
										 SLICED_MAX_CUTS));
	for (int i = 0; i < draft->ncuts; i++)
	{
		const SlicedCut *cut = &draft->cuts[i];

		if (cut->start != at || cut->len == 0 || cut->len > draft->len - at)
			complain_of_cuts(draft, psprintf("Cut %d has %u bytes from %u on, and should begin at %u.",
											 i, cut->len, cut->start, at));
		if (cut->region < 0 || cut->region >= draft->nregions)
			complain_of_cuts(draft, psprintf("Cut %d is in region %d of %d.", i, cut->region,
											 draft->nregions));
		at += cut->len;
	}
	if (at != draft->len)
		complain_of_cuts(draft, psprintf("The last cut ends at %u.", at));
	check_regions(draft);
}

void
sliced_draft_final(SlicedDraft *draft, const char *raw, uint32 len,
				   SlicedCompression compression, const SlicedPolicy *policy)
{
	int			nregions = 0;

	if (sliced_policy_cuts(policy, len) && compression.codec != SLICED_CODEC_NONE)
	{
		draft_begin(draft, raw, len, compression);
		nregions = policy->cut(raw, len, &draft->cuts, &draft->ncuts);
		draft->nregions = nregions;
		if (nregions != 0)
			check_cuts(draft);
	}
	if (nregions == 0)
		sliced_draft_init(draft, raw, len, compression);
}

void
sliced_draft_free(SlicedDraft *draft)
{
	if (draft->first_memory != NULL)
		pfree(draft->first_memory);
	if (draft->ncuts > 0)
		pfree(draft->cuts);
	sliced_taken_free(&draft->taken);
	draft->first = draft->first_memory = NULL;
	draft->ncuts = 0;
}

/*
 * A value that fills a page by itself, and needs most of one when compressed: no
 * other row can use the room that compression saves, so save the reader the
 * decompression.
 */
static bool
page_is_lost_anyway(uint32 rawlen, uint32 storedlen)
{
	const uint32 overhead = sizeof(SlicedRowHeader) + sizeof(SlicedHeadHeader);
	bool		quarters = false;

	return storedlen > rawlen - rawlen / SLICED_GAIN_OF_PAGE &&
		sliced_row_cut(rawlen, overhead, &quarters) == rawlen;
}

bool
sliced_draft_take(SlicedDraft *draft, uint32 len, SlicedCompression compression,
				  const char *stored, uint32 storedlen)
{
	if (len > SLICED_SLICE_USUAL || storedlen == 0 || compression.dictionary.id != 0 ||
		storedlen > sliced_codec_limit(compression.codec, len) ||
		page_is_lost_anyway(len, storedlen))
		return false;
	draft_begin(draft, NULL, len, compression);
	sliced_taken_set(&draft->taken, len, compression.codec, stored, storedlen);
	return true;
}

bool
sliced_draft_copy(SlicedDraft *draft, Relation toastrel, Oid valueid, uint32 len,
				  SlicedCompression compression, const SlicedPolicy *policy, uint32 more_than)
{
	draft_begin(draft, NULL, len, compression);
	return sliced_taken_load(&draft->taken, toastrel, valueid, len, compression.codec,
							 sliced_policy_cuts(policy, len), more_than);
}

const char *
sliced_draft_raw(const SlicedDraft *draft)
{
	char	   *raw;

	if (draft->raw != NULL)
		return draft->raw;
	raw = MemoryContextAllocHuge(CurrentMemoryContext, draft->len);
	if (!sliced_taken_read(&draft->taken, raw))
		ereport(ERROR,
				errcode(ERRCODE_DATA_CORRUPTED),
				errmsg("a compressed value of %u bytes cannot be decompressed", draft->len));
	return raw;
}

uint32
sliced_draft_stored(const SlicedDraft *draft)
{
	if (draft->first_raw == draft->len && page_is_lost_anyway(draft->len, draft->first_stored))
		return 0;
	return draft->first_stored;
}
