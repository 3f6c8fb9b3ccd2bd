/*
 * samples.c
 *	  Values of a column, to make a dictionary and to try it.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "base/limits.h"
#include "base/stop.h"
#include "common/pg_prng.h"
#include "learn/page_rows.h"
#include "learn/samples.h"
#include "row/toast.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/sampling.h"

static void
samples_init(SlicedSamples *samples, Relation rel)
{
	memset(samples, 0, sizeof(*samples));
	samples->most = SLICED_TRAIN_VALUES / 2;
	samples->inline_max = sliced_row_inline_limit(rel);
	for (int half = 0; half < 2; half++)
	{
		samples->bytes[half] = palloc(SLICED_TRAIN_BYTES / 2);
		samples->lengths[half] = palloc(samples->most * sizeof(size_t));
	}
}

/*
 * Add a value, if it is outside its row or would be stored there.  Returns false if
 * it is not, or there is no room.
 */
static bool
samples_add(SlicedSamples *samples, struct varlena *value)
{
	int			half = samples->n[0] > samples->n[1] ? 1 : 0;
	Size		size;
	struct varlena *raw;

	if (!VARATT_IS_EXTERNAL_ONDISK(value))
	{
		if (VARSIZE_ANY(value) <= samples->inline_max)
			return false;
		samples->any_inline = true;
	}
	size = toast_raw_datum_size(PointerGetDatum(value)) - VARHDRSZ;
	if (size > SLICED_DICTIONARY_RAW)
	{
		samples->long_bytes += size;
		return true;
	}
	if (samples->n[half] == samples->most || size > SLICED_TRAIN_BYTES / 2 - samples->used[half])
		return false;
	raw = detoast_attr(value);
	/* damaged, if its length is not what its pointer says */
	if (VARSIZE_ANY_EXHDR(raw) != size)
		return false;
	samples->short_bytes += size;
	memcpy(samples->bytes[half] + samples->used[half], VARDATA_ANY(raw), size);
	samples->lengths[half][samples->n[half]++] = size;
	samples->used[half] += size;
	return true;
}

/* Add values of one page, up to the page's share. */
static void
sample_page(SlicedSamples *samples, SlicedPageRows *rows, int attno, BlockNumber block, int share)
{
	int			n = 0;

	sliced_page_rows_of(rows, block);
	while (n < share && sliced_page_rows_next(rows))
	{
		bool		isnull;
		Datum		value = slot_getattr(rows->slot, attno, &isnull);

		if (!isnull && samples_add(samples, (struct varlena *) DatumGetPointer(value)))
			n++;
	}
}

void
sliced_samples_take(SlicedSamples *samples, Relation rel, Snapshot snapshot, int attno)
{
	MemoryContext page_mcxt = AllocSetContextCreate(CurrentMemoryContext, "sliced samples",
													ALLOCSET_DEFAULT_SIZES);
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	BlockNumber npages = Min(nblocks, SLICED_TRAIN_PAGES);
	BlockSamplerData sampler;
	SlicedPageRows rows;
	MemoryContext old;

	samples_init(samples, rel);
	sliced_page_rows_begin(&rows, rel, snapshot);
	BlockSampler_Init(&sampler, nblocks, npages, pg_prng_uint32(&pg_global_prng_state));
	old = MemoryContextSwitchTo(page_mcxt);
	while (BlockSampler_HasMore(&sampler))
	{
		sample_page(samples, &rows, attno, BlockSampler_Next(&sampler), SLICED_TRAIN_VALUES / npages);
		ExecClearTuple(rows.slot);
		MemoryContextReset(page_mcxt);
	}
	MemoryContextSwitchTo(old);
	sliced_page_rows_end(&rows);
	MemoryContextDelete(page_mcxt);
	SLICED_STOP("train.samples-taken");
}

void
sliced_samples_free(SlicedSamples *samples)
{
	for (int half = 0; half < 2; half++)
	{
		pfree(samples->bytes[half]);
		pfree(samples->lengths[half]);
	}
}
