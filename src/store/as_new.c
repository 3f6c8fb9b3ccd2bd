/*
 * as_new.c
 *	  Tells whether a value is stored as a new one would be.
 *
 * The counterpart of the writer: it repeats every decision of how to store a value.
 * A value that does not compress costs one more attempt, since nothing stored says
 * which codec the writer has tried.
 */
#include "postgres.h"

#include "base/limits.h"
#include "format/pointer.h"
#include "store/as_new.h"
#include "store/draft.h"
#include "store/layout.h"
#include "store/reader.h"
#include "store/slice.h"

typedef struct Question
{
	ToastScan  *ts;
	Oid			valueid;
	uint32		size;
	SlicedCompression compression;
	const SlicedPolicy *policy;
} Question;

/* The first 'len' bytes of the value, palloc'd. */
static char *
read_begin(const Question *q, uint32 len)
{
	char	   *raw = palloc_extended(len, MCXT_ALLOC_HUGE);

	(void) sliced_value_read(q->ts->toastrel, q->valueid, 0, len, raw);
	return raw;
}

/*
 * True if the slice whose first row is 'row' looks back at the dictionary of a new
 * slice. A slice that is not compressed does not tell.
 */
static bool
dictionary_is_as_new(const Question *q, const SlicedRow *row)
{
	const SlicedDictionaryName *wanted = &q->compression.dictionary;
	SlicedSlice slice = {.stored = row->payload};
	SlicedDictionaryName named;

	if (row->codec == SLICED_CODEC_NONE)
		return true;
	if (wanted->id == 0 || row->rawlen > SLICED_DICTIONARY_RAW)
		return !row->has_dictionary;
	if (!row->has_dictionary || row->payload_len < SLICED_DICTIONARY_NAME)
		return false;
	named = sliced_slice_dictionary(&slice);
	return named.id == wanted->id && named.checksum == wanted->checksum;
}

static bool
codec_may_be(const Question *q, int codec)
{
	return codec == q->compression.codec || codec == SLICED_CODEC_NONE;
}

/*
 * Find the last slice of the value's own object that begins at 'seq' or before.
 * Returns false if there is none, or if it is damaged.
 */
static bool
find_slice_before(const Question *q, int32 seq, SlicedRow *row)
{
	do
	{
		sliced_scan_seek(q->ts, q->valueid, seq, BackwardScanDirection);
		if (!sliced_scan_next(q->ts, BackwardScanDirection) ||
			sliced_row_decode(row, q->ts->data, q->ts->len, q->valueid, q->ts->seq) != SLICED_SOUND)
			return false;
		seq = q->ts->seq - row->continuations;
	} while (row->kind == SLICED_ROW_CONTINUATION);
	return true;
}

/*
 * Bytes added to a value lie behind it in small slices until they are merged.  The
 * writer makes all compressed slices as long as the codec's slices are, except the
 * last.
 */
static bool
ends_as_new(const Question *q)
{
	uint32		full = sliced_codec_get(q->compression.codec)->slice_raw;
	SlicedRow	row;

	if (!find_slice_before(q, PG_INT32_MAX, &row))
		return true;
	if (row.kind == SLICED_ROW_TAIL || !codec_may_be(q, row.codec))
		return false;
	if (row.kind == SLICED_ROW_HEAD)
		return true;
	if (!find_slice_before(q, q->ts->seq - 1, &row))
		return true;
	return row.kind != SLICED_ROW_TAIL && codec_may_be(q, row.codec) &&
		(row.codec == SLICED_CODEC_NONE || row.rawlen == full);
}

/* The first slice is not compressed.  Returns true if a new one would be. */
static bool
begin_is_compressible(const Question *q)
{
	uint32		len = Min(q->size, sliced_codec_get(q->compression.codec)->slice_raw);
	char	   *raw = read_begin(q, len);
	SlicedDraft draft;
	bool		result;

	sliced_draft_init(&draft, raw, len, q->compression);
	result = (len == q->size ? sliced_draft_stored(&draft) : draft.first_stored) > 0;
	sliced_draft_free(&draft);
	pfree(raw);
	return result;
}

/*
 * True if the first bytes outside the head, of a value cut like this, would be
 * compressed.
 */
static bool
regions_are_compressible(const Question *q, const SlicedDraft *draft)
{
	uint32		cap = sliced_codec_get(q->compression.codec)->slice_raw;
	char	   *region = palloc(cap);
	char	   *work = palloc(SLICED_SLICE_ROOM(cap));
	bool		has_dictionary;
	bool		result = false;

	for (int r = 0; r < draft->nregions; r++)
	{
		uint32		len = 0;
		uint32		all = 0;

		for (int i = 0; i < draft->ncuts; i++)
			if (draft->cuts[i].region == r)
			{
				uint32		n = Min(draft->cuts[i].len, cap - len);

				memcpy(region + len, draft->raw + draft->cuts[i].start, n);
				len += n;
				all += draft->cuts[i].len;
			}
		if (r == 0 && all <= SLICED_INLINE_REGION)
			continue;
		result = sliced_slice_compress(&q->compression, region, len, work, &has_dictionary) > 0;
		break;
	}
	pfree(region);
	pfree(work);
	return result;
}

/*
 * Cut the value as a writer would.  Sets '*regions' to 0 if it would not be cut.
 * Sets 'compressible' to true if the first slice would be compressed then.
 */
static void
cut_again(const Question *q, int *regions, bool *compressible)
{
	char	   *raw = read_begin(q, q->size);
	SlicedDraft draft;

	sliced_draft_final(&draft, raw, q->size, q->compression, q->policy);
	*regions = draft.nregions;
	*compressible = draft.nregions > 0 && regions_are_compressible(q, &draft);
	sliced_draft_free(&draft);
	pfree(raw);
}

/* A value with a root.  A new value has a root if its type's toaster has cut it. */
static bool
root_is_as_new(const Question *q, const SlicedRow *head, bool may_be_cut)
{
	SlicedLayout layout;
	bool		is_cut = sliced_layout_load(&layout, q->ts, head) == SLICED_SOUND &&
		sliced_layout_is_cut(&layout, q->size);
	SlicedRow	first;
	int			regions;
	bool		compressible;

	sliced_layout_free(&layout);
	if (!may_be_cut || !is_cut)
		return false;
	sliced_scan_seek_within(q->ts, q->valueid, SLICED_OWN_START, SLICED_OWN_START);
	if (!sliced_scan_next(q->ts, ForwardScanDirection) ||
		sliced_row_decode(&first, q->ts->data, q->ts->len, q->valueid, q->ts->seq) != SLICED_SOUND)
		return true;
	if (first.codec == q->compression.codec)
		return dictionary_is_as_new(q, &first);
	if (first.codec != SLICED_CODEC_NONE)
		return false;
	cut_again(q, &regions, &compressible);
	return regions > 0 && !compressible;
}

bool
sliced_value_is_as_new(ToastScan *ts, const struct varatt_external *ptr,
					   SlicedCompression compression, const SlicedPolicy *policy)
{
	Question	q = {ts, ptr->va_valueid, sliced_pointer_size(ptr), compression, policy};
	bool		may_be_cut = sliced_policy_cuts(policy, q.size) &&
		compression.codec != SLICED_CODEC_NONE;
	SlicedRow	head;

	if (!sliced_pointer_is_ours(ptr))
		return false;
	ts->visibility = SLICED_SEE_CURRENT;
	if (sliced_head_find(ts, q.valueid, SLICED_HEAD_SEQ, &head) != SLICED_SOUND)
		return true;
	if (head.root != NULL)
		return root_is_as_new(&q, &head, may_be_cut);

	if (!codec_may_be(&q, head.codec) || !dictionary_is_as_new(&q, &head))
		return false;
	/* what heap has compressed may be longer */
	if (head.codec != SLICED_CODEC_NONE &&
		head.rawlen != Min(q.size, sliced_codec_get(head.codec)->slice_raw) &&
		(head.rawlen != q.size || q.size > SLICED_SLICE_USUAL))
		return false;
	if (!ends_as_new(&q))
		return false;
	if (may_be_cut)
	{
		int			regions;
		bool		compressible;

		cut_again(&q, &regions, &compressible);
		if (regions > 0)
			return false;
	}
	return head.codec == compression.codec || !begin_is_compressible(&q);
}
