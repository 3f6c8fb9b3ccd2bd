/*
 * estimate.c
 *	  Estimates what a table would take if its values were stored otherwise.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "advise/estimate.h"
#include "base/codec_ids.h"
#include "base/compat.h"
#include "base/identity.h"
#include "base/limits.h"
#include "base/options.h"
#include "base/settings.h"
#include "codec/codec.h"
#include "common/pg_prng.h"
#include "learn/page_rows.h"
#include "learn/train.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/sampling.h"
#include "utils/timestamp.h"

/* A thorough level, to see how much it saves. */
#define THOROUGH	9

/* A column gets a dictionary if it has at least this part of the table's bytes. */
#define WORTH_TRAINING	0.1

/* The short target is tried if short rows have at least this part of the bytes. */
#define MANY_SHORT	0.2

/* Parts of the time after which the first look, and training, are over. */
#define LOOK_UNTIL	0.2
#define TRAIN_UNTIL	0.5

/* True once 'part' of the time is used up. */
static bool
is_over(const SlicedEstimate *e, TimestampTz began, double part)
{
	TimestampTz now = GetCurrentTimestamp();

	return now - began >= (e->deadline - began) * part;
}

/* ---- pages ---- */

/*
 * Choose pages from all over the table, in random order, so that the first few of
 * them are a sample as well.
 */
static BlockNumber *
pages_in_no_order(BlockNumber nblocks, int *n)
{
	BlockSamplerData sampler;
	BlockNumber *pages;

	*n = Min(nblocks, SLICED_ESTIMATE_PAGES);
	pages = palloc(Max(*n, 1) * sizeof(BlockNumber));
	BlockSampler_Init(&sampler, nblocks, *n, pg_prng_uint32(&pg_global_prng_state));
	for (int i = 0; i < *n; i++)
	{
		int			other = pg_prng_uint64_range(&pg_global_prng_state, 0, i);

		pages[i] = pages[other];
		pages[other] = BlockSampler_Next(&sampler);
	}
	return pages;
}

static double
relation_bytes(Relation rel)
{
	return RelationGetNumberOfBlocks(rel) * (double) BLCKSZ;
}

double
sliced_table_bytes(Relation rel)
{
	double		bytes = relation_bytes(rel);
	Relation	toastrel;
	ListCell   *lc;

	if (!OidIsValid(rel->rd_rel->reltoastrelid))
		return bytes;
	toastrel = table_open(rel->rd_rel->reltoastrelid, AccessShareLock);
	bytes += relation_bytes(toastrel);
	foreach(lc, RelationGetIndexList(toastrel))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		bytes += relation_bytes(index);
		index_close(index, AccessShareLock);
	}
	table_close(toastrel, AccessShareLock);
	return bytes;
}

/* What these rows take on pages that are filled up to the table's fillfactor. */
static double
rows_bytes(Relation rel, const SlicedPacking *rows)
{
	return sliced_packing_bytes(rows) * 100 / RelationGetFillFactor(rel, HEAP_DEFAULT_FILLFACTOR);
}

/* ---- the first look ---- */

static bool
has_length(TupleDesc desc, int i)
{
	return TupleDescAttr(desc, i)->attlen == -1 && !TupleDescAttr(desc, i)->attisdropped;
}

/* Rows and chunks as core would write them. */
typedef struct AsHeap
{
	SlicedPacking rows;
	SlicedTally chunks;
} AsHeap;

static void
add_chunks(AsHeap *as_heap, uint32 bytes)
{
	for (uint32 at = 0; at < bytes; at += TOAST_MAX_CHUNK_SIZE)
		sliced_packing_add(&as_heap->chunks.pages,
						   Min(bytes - at, TOAST_MAX_CHUNK_SIZE) +
						   MAXALIGN(SizeofHeapTupleHeader) + sizeof(Oid) + sizeof(int32) + VARHDRSZ);
}

/* Measure a row's values without compression.  Returns how many bytes they are. */
static double
measure_row(SlicedEstimate *e, TupleTableSlot *slot, AsHeap *as_heap)
{
	TupleDesc	desc = RelationGetDescr(e->rel);
	double		raw = 0;
	bool		outside = false;

	for (int i = 0; i < desc->natts; i++)
	{
		struct varlena *value = (struct varlena *) DatumGetPointer(slot->tts_values[i]);
		SlicedEstimateColumn *column = &e->columns[i];
		Size		len;

		if (slot->tts_isnull[i] || !has_length(desc, i))
			continue;
		len = toast_raw_datum_size(PointerGetDatum(value)) - VARHDRSZ;
		raw += len;
		column->values++;
		column->raw += len;
		column->longest = Max(column->longest, len);
		if (VARATT_IS_EXTERNAL_ONDISK(value))
		{
			struct varatt_external ptr;

			VARATT_EXTERNAL_GET_POINTER(ptr, value);
			column->outside++;
			column->outside_raw += len;
			outside = true;
			add_chunks(as_heap, VARATT_EXTERNAL_GET_EXTSIZE(ptr));
			if (VARATT_EXTERNAL_GET_EXTSIZE(ptr) < ptr.va_rawsize - VARHDRSZ)
				e->core_outside += VARATT_EXTERNAL_GET_EXTSIZE(ptr);
		}
	}
	if (!outside && raw > SLICED_ESTIMATE_TARGET)
		e->short_raw += raw;
	return raw;
}

/* Find how long values are, and how many there are. */
static void
look(SlicedEstimate *e, SlicedPageRows *rows, const BlockNumber *pages, int npages)
{
	TimestampTz began = GetCurrentTimestamp();
	AsHeap		as_heap = {0};
	double		factor;
	int			n = 0;

	while (n < npages && (n == 0 || !is_over(e, began, LOOK_UNTIL)))
	{
		sliced_page_rows_of(rows, pages[n++]);
		while (sliced_page_rows_next(rows))
		{
			slot_getallattrs(rows->slot);
			e->raw += measure_row(e, rows->slot, &as_heap);
			e->rows++;
			sliced_packing_add(&as_heap.rows, ExecFetchSlotHeapTuple(rows->slot, false, NULL)->t_len);
		}
	}
	factor = n == 0 ? 0 : (double) e->pages / n;
	e->rows *= factor;
	e->raw *= factor;
	e->short_raw *= factor;
	e->core_outside *= factor;
	if (!sliced_is_ours(e->rel))
		e->as_heap = factor * (rows_bytes(e->rel, &as_heap.rows) + sliced_tally_bytes(&as_heap.chunks));
	for (int i = 0; i < RelationGetDescr(e->rel)->natts; i++)
	{
		e->columns[i].values *= factor;
		e->columns[i].raw *= factor;
		e->columns[i].outside *= factor;
		e->columns[i].outside_raw *= factor;
	}
}

/* ---- dictionaries ---- */

/* Bytes that the dictionary takes where it is stored. */
static double
dictionary_takes(const char *bytes, uint32 len)
{
	SlicedTally tally = {0};
	SlicedWriter *writer = sliced_writer_open_tally(&tally);
	SlicedDraft draft;

	sliced_draft_init(&draft, bytes, len,
					  (SlicedCompression) {SLICED_CODEC_ZSTD, SLICED_DICTIONARY_LEVEL});
	sliced_writer_add(writer, 1, &draft);
	sliced_draft_free(&draft);
	sliced_writer_close(writer);
	return sliced_tally_bytes(&tally);
}

static void
train_column(SlicedEstimate *e, int i)
{
	SlicedColumnSources from;
	SlicedColumn column = sliced_column_explain(e->rel, i + 1, &from);
	SlicedEntry entry;
	char	   *bytes;

	if (from.codec_from.origin == SLICED_FROM_STORAGE)
		return;
	column.compression = (SlicedCompression) {SLICED_CODEC_ZSTD, sliced_zstd_level};
	bytes = sliced_train_column(e->rel, GetLatestSnapshot(), i + 1, &column, &entry);
	if (bytes == NULL)
		return;
	e->dictionaries[i] = sliced_dictionary_make(bytes, entry.len);
	e->dictionary_bytes += dictionary_takes(bytes, entry.len);
	pfree(bytes);
}

static void
train(SlicedEstimate *e, TimestampTz began)
{
	for (int i = 0; i < RelationGetDescr(e->rel)->natts; i++)
		if (has_length(RelationGetDescr(e->rel), i) &&
			e->columns[i].raw >= WORTH_TRAINING * e->raw && !is_over(e, began, TRAIN_UNTIL))
			train_column(e, i);
}

/* Dictionaries are not palloc'd. */
static void
free_dictionaries(void *arg)
{
	SlicedEstimate *e = arg;

	/* after an error the relation may be closed */
	for (int i = 0; i < e->ncolumns; i++)
		if (e->dictionaries[i] != NULL)
			sliced_dictionary_free(e->dictionaries[i]);
}

/*
 * True if rows below the default target have a large part of the bytes, and the table
 * uses that target.  A smaller target would then store them otherwise.
 */
static bool
has_short_rows(const SlicedEstimate *e)
{
	return e->short_raw >= MANY_SHORT * e->raw &&
		RelationGetToastTupleTarget(e->rel, TOAST_TUPLE_TARGET) == TOAST_TUPLE_TARGET;
}

/* ---- choices to try ---- */

static void
add_choice(SlicedEstimate *e, SlicedChoice choice)
{
	Assert(e->nchoices < SLICED_ESTIMATE_CHOICES);
	e->choices[e->nchoices++].choice = choice;
}

static void
make_choices(SlicedEstimate *e)
{
	bool		any = false;

	add_choice(e, (SlicedChoice) {SLICED_CODEC_PGLZ});
	add_choice(e, (SlicedChoice) {SLICED_CODEC_LZ4});
	add_choice(e, (SlicedChoice) {SLICED_CODEC_ZSTD, sliced_zstd_level});
	if (sliced_zstd_level != THOROUGH)
		add_choice(e, (SlicedChoice) {SLICED_CODEC_ZSTD, THOROUGH});
	for (int i = 0; i < RelationGetDescr(e->rel)->natts; i++)
		any = any || e->dictionaries[i] != NULL;
	if (!any)
		return;
	add_choice(e, (SlicedChoice) {SLICED_CODEC_LZ4, 0, true});
	add_choice(e, (SlicedChoice) {SLICED_CODEC_ZSTD, sliced_zstd_level, true});
	if (!has_short_rows(e))
		return;
	add_choice(e, (SlicedChoice) {SLICED_CODEC_LZ4, 0, true, SLICED_ESTIMATE_TARGET});
	add_choice(e, (SlicedChoice) {SLICED_CODEC_ZSTD, sliced_zstd_level, true, SLICED_ESTIMATE_TARGET});
}

/*
 * True for a value outside its row that is not compressed, since its column has STORAGE
 * EXTERNAL.  What heap has compressed before that was set is none.
 */
static bool
is_kept_as_is(Form_pg_attribute att, const struct varlena *value)
{
	struct varatt_external ptr;

	if (att->attstorage != TYPSTORAGE_EXTERNAL || !VARATT_IS_EXTERNAL_ONDISK(value))
		return false;
	VARATT_EXTERNAL_GET_POINTER(ptr, value);
	return !VARATT_EXTERNAL_IS_COMPRESSED(ptr);
}

/* Try lz4 on a value that its column's STORAGE forbids compressing. */
static void
try_lz4(SlicedEstimateColumn *column, const struct varlena *value, Size whole)
{
	uint32		len = Min(VARSIZE_ANY_EXHDR(value), SLICED_SLICE_LZ4);
	char	   *room = palloc(SLICED_COMPRESS_ROOM(len));
	uint32		stored = sliced_codec_try(SLICED_CODEC_LZ4, VARDATA_ANY(value), len, room, 0, NULL);

	column->external_len += whole;
	column->external_raw += len;
	column->external_lz4 += stored > 0 ? stored : len;
	pfree(room);
}

/*
 * Fetch the row's outside values, and decompress them.  Returns how many bytes the
 * row's values are.
 */
static double
fetch_row(SlicedEstimate *e, TupleTableSlot *slot, SlicedTrialRow *row)
{
	TupleDesc	desc = RelationGetDescr(e->rel);
	double		raw = 0;

	row->values = palloc(desc->natts * sizeof(Datum));
	row->isnull = slot->tts_isnull;
	row->long_len = palloc0(desc->natts * sizeof(uint64));
	memcpy(row->values, slot->tts_values, desc->natts * sizeof(Datum));
	for (int i = 0; i < desc->natts; i++)
	{
		struct varlena *value = (struct varlena *) DatumGetPointer(row->values[i]);
		bool		is_as_is;
		Size		len;

		if (row->isnull[i] || !has_length(desc, i))
			continue;
		is_as_is = is_kept_as_is(TupleDescAttr(desc, i), value);
		len = toast_raw_datum_size(PointerGetDatum(value)) - VARHDRSZ;
		raw += len;
		e->columns[i].tried_raw += len;
		if (len > SLICED_ESTIMATE_PART)
		{
			row->long_len[i] = len;
			value = detoast_attr_slice(value, 0, SLICED_ESTIMATE_PART);
		}
		else if (VARATT_IS_EXTERNAL(value))
			value = detoast_attr(value);
		row->values[i] = PointerGetDatum(value);
		if (is_as_is)
			try_lz4(&e->columns[i], value, len);
	}
	return raw;
}

/* Try the rows of one page, but only the first ones if they are long. */
static void
try_page(SlicedEstimate *e, SlicedPageRows *rows, SlicedTrial *trials)
{
	double		raw = 0;

	while (raw < SLICED_ESTIMATE_PAGE_BYTES && sliced_page_rows_next(rows))
	{
		SlicedTrialRow row;

		slot_getallattrs(rows->slot);
		raw += fetch_row(e, rows->slot, &row);
		for (int i = 0; i < e->nchoices; i++)
			sliced_trial_row(&trials[i], &row);
		e->rows_tried++;
	}
	e->raw_tried += raw;
}

/* Scale up from the rows that were tried to the table. */
static void
conclude(SlicedEstimate *e, const SlicedTrial *trial, SlicedEstimated *result)
{
	double		rows = e->rows_tried == 0 ? 0 : e->rows / e->rows_tried;
	double		raw = e->raw_tried == 0 ? 0 : e->raw / e->raw_tried;
	double		read_bytes = 0;
	double		read_seconds = 0;
	int			natts = RelationGetDescr(e->rel)->natts;

	result->bytes = rows_bytes(e->rel, &trial->rows) * rows +
		(sliced_tally_bytes(&trial->tally) + trial->far) * raw +
		(trial->choice.dictionary ? e->dictionary_bytes : 0);
	result->column_bytes = palloc0(natts * sizeof(double));
	for (int i = 0; i < natts; i++)
	{
		SlicedEstimateColumn *column = &e->columns[i];

		if (column->tried_raw > 0)
			result->column_bytes[i] = trial->takes[i].stored * column->raw / column->tried_raw;
		read_bytes += trial->takes[i].read_bytes;
		read_seconds += trial->takes[i].read_seconds;
	}
	result->write_rate = trial->write_seconds > 0 ? e->raw_tried / trial->write_seconds : 0;
	result->read_rate = read_seconds > 0 ? read_bytes / read_seconds : 0;
}

static void
try_choices(SlicedEstimate *e, SlicedPageRows *rows, const BlockNumber *pages, int npages,
			TimestampTz began)
{
	MemoryContext page_mcxt = AllocSetContextCreate(CurrentMemoryContext, "sliced estimate page",
													ALLOCSET_DEFAULT_SIZES);
	SlicedTrial *trials = palloc(e->nchoices * sizeof(SlicedTrial));

	for (int i = 0; i < e->nchoices; i++)
		sliced_trial_begin(&trials[i], e->rel, &e->choices[i].choice, e->dictionaries);
	for (int n = 0; n < npages && e->raw_tried < SLICED_ESTIMATE_BYTES &&
		 (e->rows_tried == 0 || !is_over(e, began, 1)); n++)
	{
		MemoryContext old = MemoryContextSwitchTo(page_mcxt);

		sliced_page_rows_of(rows, pages[n]);
		try_page(e, rows, trials);
		ExecClearTuple(rows->slot);
		MemoryContextSwitchTo(old);
		MemoryContextReset(page_mcxt);
	}
	for (int i = 0; i < e->nchoices; i++)
		conclude(e, &trials[i], &e->choices[i]);
}

bool
sliced_estimate_possible(Relation rel)
{
	return OidIsValid(rel->rd_rel->reltoastrelid);
}

SlicedEstimate *
sliced_estimate(Relation rel, TimestampTz deadline)
{
	TimestampTz began = GetCurrentTimestamp();
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "sliced estimate",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	SlicedEstimate *e = palloc0(sizeof(SlicedEstimate));
	MemoryContextCallback *at_end = palloc0(sizeof(MemoryContextCallback));
	int			natts = RelationGetDescr(rel)->natts;
	BlockNumber *pages;
	SlicedPageRows rows;
	int			npages;

	e->rel = rel;
	e->mcxt = mcxt;
	e->deadline = deadline;
	e->ncolumns = natts;
	e->columns = palloc0(natts * sizeof(SlicedEstimateColumn));
	e->dictionaries = palloc0(natts * sizeof(SlicedDictionary *));
	at_end->func = free_dictionaries;
	at_end->arg = e;
	MemoryContextRegisterResetCallback(mcxt, at_end);

	e->pages = RelationGetNumberOfBlocks(rel);
	e->bytes = sliced_table_bytes(rel);
	if (!sliced_estimate_possible(rel))
	{
		MemoryContextSwitchTo(old);
		return e;
	}
	pages = pages_in_no_order(e->pages, &npages);
	sliced_page_rows_begin(&rows, rel, GetLatestSnapshot());
	look(e, &rows, pages, npages);
	if (e->raw > 0)
	{
		if (has_short_rows(e))
		{
			SLICED_OPTION_BEGIN(rel, toast_tuple_target, SLICED_ESTIMATE_TARGET);
			train(e, began);
			SLICED_OPTION_END();
		}
		else
			train(e, began);
		make_choices(e);
		try_choices(e, &rows, pages, npages, began);
	}
	sliced_page_rows_end(&rows);
	MemoryContextSwitchTo(old);
	return e;
}
