/*
 * writer.c
 *	  Writes new values into the toast relation.
 *
 * A value is cut into slices of as many raw bytes as its codec likes, and each
 * slice's compressed bytes into rows of sizes that fill pages.  Where
 * compression does not pay, every row is a slice of its own.  Rows gather in a
 * batch that is inserted at once, across the values of a row and, for COPY,
 * across rows.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "access/xact.h"
#include "base/limits.h"
#include "base/options.h"
#include "base/settings.h"
#include "catalog/catalog.h"
#include "codec/codec.h"
#include "executor/tuptable.h"
#include "format/utf8.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "store/cursor.h"
#include "store/layout.h"
#include "store/writer.h"
#include "utils/memutils.h"

/* Memory: usually enough for a batch.  This block stays when the batch has been inserted. */
#define BATCH_BYTES	(48 * 1024)

/*
 * Tails and heads are going to be replaced, so they begin on a page with room for
 * their next versions: these are pruned there, rarely, and need no other page.
 */
#define ROOMY_FILLFACTOR	70

struct SlicedWriter
{
	Relation	toastrel;
	Relation   *indexes;
	int			nindexes;
	int			valid;
	int			options;
	Relation	other;			/* whose ids to avoid, or NULL */
	BlockNumber near;			/* a page for small rows, or InvalidBlockNumber */

	int			nrows;
	uint32		nbytes;			/* of the rows */
	HeapTuple	tuples[SLICED_BATCH_ROWS];
	Oid			objids[SLICED_BATCH_ROWS];
	int32		seqs[SLICED_BATCH_ROWS];
	TupleTableSlot *slots[SLICED_BATCH_ROWS];	/* made when first needed */
	MemoryContext mcxt;			/* of the writer itself */
	MemoryContext batch;		/* of the tuples */
};

/*
 * Memory for a batch.  A statement may open a writer for each row: what one gives
 * back when it closes is kept for the next, instead of going back to the system.
 * If it fails to close, the memory goes with the context that it is in.
 */
static MemoryContext spare_batch = NULL;

static MemoryContext
take_batch_memory(MemoryContext parent)
{
	MemoryContext batch = spare_batch;

	spare_batch = NULL;
	if (batch == NULL)
		return AllocSetContextCreate(parent, "sliced rows", ALLOCSET_DEFAULT_MINSIZE,
									 BATCH_BYTES, ALLOCSET_DEFAULT_MAXSIZE);
	MemoryContextSetParent(batch, parent);
	return batch;
}

static void
give_batch_memory_back(MemoryContext batch)
{
	if (spare_batch != NULL)
	{
		MemoryContextDelete(batch);
		return;
	}
	MemoryContextReset(batch);
	MemoryContextSetParent(batch, TopMemoryContext);
	spare_batch = batch;
}

SlicedWriter *
sliced_writer_open(Oid toastrelid, int options, bool hide)
{
	SlicedWriter *w = palloc0(sizeof(SlicedWriter));

	w->toastrel = table_open(toastrelid, RowExclusiveLock);
	w->valid = toast_open_indexes(w->toastrel, RowExclusiveLock, &w->indexes, &w->nindexes);

	/*
	 * Our rows are of many sizes: let the free space map fill the gaps even
	 * where the table itself is just being appended to.
	 */
	w->options = options & HEAP_INSERT_FROZEN;
	if (hide)
		w->options |= HEAP_INSERT_NO_LOGICAL;

	w->near = InvalidBlockNumber;
	w->mcxt = CurrentMemoryContext;
	w->batch = take_batch_memory(w->mcxt);
	return w;
}

Relation
sliced_writer_relation(SlicedWriter *w)
{
	return w->toastrel;
}

void
sliced_writer_avoid_ids_of(SlicedWriter *w, Oid other)
{
	w->other = table_open(other, AccessShareLock);
}

static bool
has_rows(Relation toastrel, Oid valueid)
{
	ToastScan	ts;
	bool		found;

	sliced_scan_open(&ts, toastrel, NULL, AccessShareLock);
	sliced_scan_seek(&ts, valueid, SLICED_HEAD_SEQ, ForwardScanDirection);
	found = sliced_scan_next(&ts, ForwardScanDirection);
	sliced_scan_close(&ts, AccessShareLock);
	return found;
}

Oid
sliced_writer_new_id(SlicedWriter *w)
{
	Oid			id;

	do
		id = GetNewOidWithIndex(w->toastrel, RelationGetRelid(w->indexes[w->valid]), 1);
	while (w->other != NULL && has_rows(w->other, id));
	return id;
}

uint32
sliced_writer_length(SlicedWriter *w, Oid valueid)
{
	ToastScan	ts;
	SlicedRow	last;
	uint32		length;

	for (int i = 0; i < w->nrows; i++)
		if (w->objids[i] == valueid)
		{
			sliced_writer_flush(w);
			break;
		}
	sliced_scan_open(&ts, w->toastrel, NULL, AccessShareLock);
	length = sliced_object_end(&ts, valueid, 0, &last);
	sliced_scan_close(&ts, AccessShareLock);
	return length;
}

static void
insert_index_entries(SlicedWriter *w, Oid objid, int32 seq, ItemPointer tid)
{
	Datum		values[2] = {ObjectIdGetDatum(objid), Int32GetDatum(seq)};
	bool		isnull[2] = {false, false};

	for (int i = 0; i < w->nindexes; i++)
	{
		Relation	index = w->indexes[i];

		/* one that REINDEX CONCURRENTLY has just begun is not ready yet */
		if (index->rd_index->indisready)
			index_insert(index, values, isnull, tid, w->toastrel,
						 index->rd_index->indisunique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO,
						 false, NULL);
	}
}

static void
forget_batch(SlicedWriter *w)
{
	w->nrows = 0;
	w->nbytes = 0;
	MemoryContextReset(w->batch);
}

/*
 * Insert the batch.  heap_multi_insert() cannot hide rows from logical decoding
 * and is no faster for a single one.
 */
static void
insert_batch(SlicedWriter *w)
{
	/* not the command id of the row: its expressions may have moved it on */
	CommandId	cid = GetCurrentCommandId(true);

	if (w->nrows == 1 || (w->options & HEAP_INSERT_NO_LOGICAL))
	{
		for (int i = 0; i < w->nrows; i++)
		{
			heap_insert(w->toastrel, w->tuples[i], cid, w->options, NULL);
			insert_index_entries(w, w->objids[i], w->seqs[i], &w->tuples[i]->t_self);
		}
	}
	else if (w->nrows > 0)
	{
		for (int i = 0; i < w->nrows; i++)
		{
			if (w->slots[i] == NULL)
			{
				MemoryContext old = MemoryContextSwitchTo(w->mcxt);

				w->slots[i] = MakeSingleTupleTableSlot(RelationGetDescr(w->toastrel),
													   &TTSOpsHeapTuple);
				MemoryContextSwitchTo(old);
			}
			/* a slot that did not own its tuple would make a copy */
			ExecStoreHeapTuple(w->tuples[i], w->slots[i], true);
		}
		heap_multi_insert(w->toastrel, w->slots, w->nrows, cid, w->options, NULL);
		for (int i = 0; i < w->nrows; i++)
		{
			insert_index_entries(w, w->objids[i], w->seqs[i], &w->slots[i]->tts_tid);
			ExecClearTuple(w->slots[i]);
		}
	}
}

void
sliced_writer_stay_near(SlicedWriter *w, BlockNumber block)
{
	if (block != w->near)
		sliced_writer_flush(w);
	w->near = block;
}

/* Insert the batch on a page with room for more. */
static void
insert_batch_with_room(SlicedWriter *w)
{
	SlicedOptions roomy;

	sliced_options_exchange(&roomy, w->toastrel)->fillfactor = ROOMY_FILLFACTOR;
	PG_TRY();
	{
		insert_batch(w);
	}
	PG_FINALLY();
	{
		sliced_options_restore(&roomy);
	}
	PG_END_TRY();
}

/* Has the page, which exists, room for the batch? */
static bool
page_has_room(SlicedWriter *w, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(w->toastrel, block);
	Size		free;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	free = PageGetHeapFreeSpace(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	return w->nbytes + w->nrows * (MAXIMUM_ALIGNOF + sizeof(ItemIdData)) <= free;
}

/*
 * Small rows are inserted near others, if these have room for them: heap tries
 * its target block before it asks the free space map.  A writer of many rows goes
 * on where it was.
 */
void
sliced_writer_flush(SlicedWriter *w)
{
	if (!BlockNumberIsValid(w->near) || w->nrows == 0 || w->nbytes > SLICED_SMALL_ROWS)
		insert_batch(w);
	else if (page_has_room(w, w->near))
	{
		BlockNumber target = RelationGetTargetBlock(w->toastrel);

		RelationSetTargetBlock(w->toastrel, w->near);
		insert_batch(w);
		RelationSetTargetBlock(w->toastrel, target);
	}
	else
		insert_batch_with_room(w);
	forget_batch(w);
}

static void
add_row(SlicedWriter *w, Oid objid, int32 seq, const SlicedRow *row)
{
	uint32		size = sliced_row_size(row);
	MemoryContext old;
	bytea	   *data;
	Datum		values[3];
	bool		isnull[3] = {false, false, false};

	CHECK_FOR_INTERRUPTS();
	if (w->nrows == SLICED_BATCH_ROWS)
		sliced_writer_flush(w);

	old = MemoryContextSwitchTo(w->batch);
	data = palloc(VARHDRSZ + size);
	SET_VARSIZE(data, VARHDRSZ + size);
	sliced_row_encode(VARDATA(data), objid, seq, row);
	values[0] = ObjectIdGetDatum(objid);
	values[1] = Int32GetDatum(seq);
	values[2] = PointerGetDatum(data);

	w->tuples[w->nrows] = heap_form_tuple(RelationGetDescr(w->toastrel), values, isnull);
	w->tuples[w->nrows]->t_tableOid = RelationGetRelid(w->toastrel);
	w->objids[w->nrows] = objid;
	w->seqs[w->nrows] = seq;
	w->nbytes += w->tuples[w->nrows]->t_len;
	w->nrows++;
	pfree(data);
	MemoryContextSwitchTo(old);
}

/*
 * What is being cut into rows: bytes of an object, whose first is at 'start'.
 * The first row of a slice at 0 is the head itself if the object is a value.
 */
typedef struct Cut
{
	Oid			objid;
	bool		with_head;
	uint32		ascii;			/* leading bytes known to be ASCII */
} Cut;

static bool
is_head(const Cut *cut, uint32 start)
{
	return cut->with_head && start == 0;
}

/* Begin a slice: returns the bytes that its first row takes besides the payload. */
static uint32
begin_slice(const Cut *cut, SlicedRow *row, uint32 start)
{
	if (!is_head(cut, start))
	{
		row->kind = SLICED_ROW_SLICE;
		return sizeof(SlicedRowHeader);
	}
	row->kind = SLICED_ROW_HEAD;
	row->ascii = cut->ascii;
	return sizeof(SlicedRowHeader) + sizeof(SlicedHeadHeader);
}

static inline int32
slice_seq(const Cut *cut, uint32 start)
{
	return is_head(cut, start) ? SLICED_HEAD_SEQ : (int32) start;
}

/*
 * How many of 'len' bytes at 'raw', from 'start' on, continue a character?  If
 * the value is all ASCII, as most are, we know already.
 */
static uint32
count_followers(const Cut *cut, uint32 start, const char *raw, uint32 len)
{
	return start + len <= cut->ascii ? 0 : sliced_utf8_followers(raw, len);
}

/* Add one compressed slice, cut into as many rows as it takes. */
static void
add_compressed(SlicedWriter *w, const Cut *cut, uint32 start, int codec, const char *raw,
			   uint32 rawlen, const char *stored, uint32 storedlen)
{
	SlicedRow	row = {
		.codec = codec,
		.rawlen = rawlen,
		.storedlen = storedlen,
		.followers = count_followers(cut, start, raw, rawlen)
	};
	uint32		overhead = begin_slice(cut, &row, start);
	bool		quarters = false;
	uint32		first = sliced_row_cut(storedlen, overhead, &quarters);
	bool		later = quarters;
	uint32		done;

	for (done = first; done < storedlen; row.parts++)
		done += sliced_row_cut(storedlen - done, sizeof(SlicedRowHeader), &later);

	row.payload = stored;
	row.payload_len = first;
	add_row(w, cut->objid, slice_seq(cut, start), &row);

	row.kind = SLICED_ROW_CONTINUATION;
	row.parts = 0;
	for (done = first; done < storedlen; done += row.payload_len)
	{
		row.parts++;
		row.payload = stored + done;
		row.payload_len = sliced_row_cut(storedlen - done, sizeof(SlicedRowHeader), &quarters);
		add_row(w, cut->objid, start + row.parts, &row);
	}
}

/* How many bytes a full row takes. */
static uint32
full_row(uint32 overhead)
{
	bool		quarters = false;

	return sliced_row_cut(PG_INT16_MAX, overhead, &quarters);
}

/*
 * Add bytes from 'start' on that do not compress.  Unless they are the last, stop
 * when less than a full row is left: the rest is stored with what follows.
 * Returns how many bytes were added.
 */
static uint32
add_raw(SlicedWriter *w, const Cut *cut, uint32 start, const char *raw, uint32 len, bool last)
{
	uint32		done = 0;
	bool		quarters = false;

	while (done < len)
	{
		SlicedRow	row = {.codec = SLICED_CODEC_NONE};
		uint32		overhead = begin_slice(cut, &row, start + done);
		uint32		n = sliced_row_cut(len - done, overhead, &quarters);

		if (!last && done > 0 && n < full_row(overhead))
			break;
		row.rawlen = row.storedlen = row.payload_len = n;
		row.payload = raw + done;
		row.followers = count_followers(cut, start + done, row.payload, n);
		add_row(w, cut->objid, slice_seq(cut, start + done), &row);
		done += n;
	}
	return done;
}

/*
 * Add 'len' bytes at 'raw' to the object, from 'start' on.  With a draft they are
 * a whole value, and the draft knows what its first slice is like.
 */
static void
add_bytes(SlicedWriter *w, const Cut *cut, uint32 start, const char *raw, uint32 len,
		  int codec_id, const SlicedDraft *draft)
{
	const SlicedCodec *codec = sliced_codec_get(codec_id);
	uint32		done = 0;
	char	   *work = NULL;

	do
	{
		uint32		rawlen = Min(len - done, codec->slice_raw);
		const char *stored;
		uint32		storedlen;

		if (draft != NULL && done == 0)
		{
			stored = draft->first;
			storedlen = sliced_draft_stored(draft);
		}
		else
		{
			if (work == NULL)
				work = palloc(SLICED_COMPRESS_ROOM(codec->slice_raw));
			stored = work;
			storedlen = sliced_codec_try(codec_id, raw + done, rawlen, work, sliced_zstd_level);
		}

		if (storedlen > 0)
		{
			add_compressed(w, cut, start + done, codec_id, raw + done, rawlen, stored, storedlen);
			done += rawlen;
		}
		else
			done += add_raw(w, cut, start + done, raw + done, rawlen, done + rawlen == len);
	} while (done < len);

	if (work)
		pfree(work);
}

/* Add a value region by region, then the head that says where its bytes are. */
static void
add_in_regions(SlicedWriter *w, Oid valueid, const SlicedDraft *draft)
{
	SlicedPiece *pieces = palloc(draft->ncuts * sizeof(SlicedPiece));
	char	   *region = MemoryContextAllocHuge(CurrentMemoryContext, draft->len);
	char		inline_bytes[SLICED_INLINE_REGION];
	uint32		inline_len = 0;
	uint32		own = SLICED_OWN_START;

	for (int r = 0; r < draft->nregions; r++)
	{
		uint32		len = 0;
		bool		in_head;

		for (int i = 0; i < draft->ncuts; i++)
		{
			const SlicedCut *cut = &draft->cuts[i];

			if (cut->region != r)
				continue;
			pieces[i] = (SlicedPiece) {valueid, own + len, cut->len};
			memcpy(region + len, draft->raw + cut->start, cut->len);
			len += cut->len;
		}
		in_head = r == 0 && len <= SLICED_INLINE_REGION;
		if (in_head)
		{
			memcpy(inline_bytes, region, len);
			inline_len = len;
			for (int i = 0; i < draft->ncuts; i++)
				if (draft->cuts[i].region == r)
				{
					pieces[i].objid = InvalidOid;
					pieces[i].start -= own;
				}
		}
		else
		{
			sliced_writer_add_slices(w, valueid, own, region, len, draft->codec);
			own += len;
		}
	}
	sliced_writer_add_head(w, valueid, pieces, draft->ncuts, inline_bytes, inline_len,
						   sliced_utf8_ascii(draft->raw, draft->len), 0);
	pfree(pieces);
	pfree(region);
}

void
sliced_writer_add(SlicedWriter *w, Oid valueid, const SlicedDraft *draft)
{
	Cut			cut = {
		.objid = valueid,
		.with_head = true
	};

	if (draft->ncuts > 0)
	{
		add_in_regions(w, valueid, draft);
		return;
	}
	cut.ascii = sliced_utf8_ascii(draft->raw, draft->len);
	add_bytes(w, &cut, 0, draft->raw, draft->len, draft->codec, draft);
}

void
sliced_writer_add_slices(SlicedWriter *w, Oid objid, uint32 start, const char *raw,
						 uint32 len, int codec)
{
	Cut			cut = {.objid = objid};

	add_bytes(w, &cut, start, raw, len, codec, NULL);
}

void
sliced_writer_add_head(SlicedWriter *w, Oid valueid, const SlicedPiece *pieces, int npieces,
					   const char *inline_bytes, uint32 inline_len, uint32 ascii,
					   uint32 garbage)
{
	SlicedRow	row = {
		.kind = SLICED_ROW_HEAD,
		.codec = SLICED_CODEC_NONE,
		.rawlen = inline_len,
		.storedlen = inline_len,
		.followers = sliced_utf8_followers(inline_bytes, inline_len),
		.payload = inline_bytes,
		.payload_len = inline_len,
		.npieces = npieces,
		.pieces = (const char *) pieces,
		.ascii = ascii,
		.garbage = garbage
	};

	Assert(sliced_row_size(&row) <= SLICED_MAX_HEAD);
	/* it can stay near others, though slices that came with it cannot */
	if (w->nbytes + sliced_row_size(&row) > SLICED_SMALL_ROWS)
		sliced_writer_flush(w);
	add_row(w, valueid, SLICED_HEAD_SEQ, &row);
}

static void
add_tail_row(SlicedWriter *w, Oid objid, uint32 start, const char *raw, uint32 len,
			 uint32 capacity)
{
	SlicedRow	row = {
		.kind = SLICED_ROW_TAIL,
		.payload = raw,
		.payload_len = len,
		.capacity = capacity
	};

	add_row(w, objid, start, &row);
}

void
sliced_writer_add_tail(SlicedWriter *w, Oid objid, uint32 start, const char *raw, uint32 len,
					   uint32 capacity)
{
	sliced_writer_flush(w);
	add_tail_row(w, objid, start, raw, len, capacity);
	if (capacity == len)
		return;
	insert_batch_with_room(w);
	forget_batch(w);
}

void
sliced_writer_update_tail(SlicedWriter *w, ItemPointer tid, Oid objid, uint32 start,
						  const char *raw, uint32 len, uint32 capacity)
{
	HeapTuple	tuple;
	TM_FailureData tmfd;
	LockTupleMode lockmode;
	TM_Result	result;

	sliced_writer_flush(w);
	add_tail_row(w, objid, start, raw, len, capacity);
	tuple = w->tuples[0];
	result = heap_update(w->toastrel, tid, tuple, GetCurrentCommandId(true), InvalidSnapshot,
						 true, &tmfd, &lockmode);
	if (result != TM_Ok)
		/* nobody else may touch it: whoever owns the row owns the value */
		elog(ERROR, "unexpected result %d of growing value %u in \"%s\"",
			 result, objid, RelationGetRelationName(w->toastrel));
	if (!HeapTupleIsHeapOnly(tuple))
		insert_index_entries(w, objid, start, &tuple->t_self);
	forget_batch(w);
}

void
sliced_writer_close(SlicedWriter *w)
{
	sliced_writer_flush(w);
	for (int i = 0; i < SLICED_BATCH_ROWS && w->slots[i]; i++)
		ExecDropSingleTupleTableSlot(w->slots[i]);
	give_batch_memory_back(w->batch);
	toast_close_indexes(w->indexes, w->nindexes, NoLock);
	table_close(w->toastrel, NoLock);
	if (w->other != NULL)
		table_close(w->other, AccessShareLock);
	pfree(w);
}
