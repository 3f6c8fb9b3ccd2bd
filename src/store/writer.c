/*
 * writer.c
 *	  Writes new values into the toast relation.
 *
 * A value is cut into slices of as many raw bytes as its codec likes, and each
 * slice's compressed bytes into rows of sizes that fill pages.  Where compression
 * does not pay, every row is a slice of its own.  batch.c brings rows into the toast
 * relation.
 */
#include "postgres.h"

#include "access/table.h"
#include "base/counters.h"
#include "base/limits.h"
#include "base/stop.h"
#include "catalog/catalog.h"
#include "codec/codec.h"
#include "format/utf8.h"
#include "store/batch.h"
#include "store/cursor.h"
#include "store/layout.h"
#include "store/slice.h"
#include "store/toast_scan.h"
#include "store/writer.h"

struct SlicedWriter
{
	SlicedBatch batch;
	Relation	other;			/* new ids must be unused in it too; or NULL */
};

SlicedWriter *
sliced_writer_open(Oid toastrelid, uint32 options, bool hide)
{
	SlicedWriter *w = palloc0(sizeof(SlicedWriter));

	sliced_batch_open(&w->batch, toastrelid, options, hide);
	return w;
}

SlicedWriter *
sliced_writer_open_tally(SlicedTally *tally)
{
	SlicedWriter *w = palloc0(sizeof(SlicedWriter));

	w->batch.tally = tally;
	return w;
}

Relation
sliced_writer_relation(SlicedWriter *w)
{
	return w->batch.toastrel;
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
	sliced_scan_seek(&ts, valueid, SLICED_FIRST_SEQ, ForwardScanDirection);
	found = sliced_scan_next(&ts, ForwardScanDirection);
	sliced_scan_close(&ts, AccessShareLock);
	return found;
}

Oid
sliced_writer_new_id(SlicedWriter *w)
{
	Oid			id;

	do
		id = GetNewOidWithIndex(w->batch.toastrel,
								RelationGetRelid(w->batch.indexes[w->batch.valid]), 1);
	while (w->other != NULL && has_rows(w->other, id));
	SLICED_STOP("writer.id-taken");
	return id;
}

uint32
sliced_writer_length(SlicedWriter *w, Oid valueid)
{
	ToastScan	ts;
	SlicedRow	last;
	uint32		length;

	for (int i = 0; i < w->batch.nrows; i++)
		if (w->batch.objids[i] == valueid)
		{
			sliced_writer_flush(w);
			break;
		}
	sliced_scan_open(&ts, w->batch.toastrel, NULL, AccessShareLock);
	length = sliced_object_end(&ts, valueid, 0, &last);
	sliced_scan_close(&ts, AccessShareLock);
	return length;
}

void
sliced_writer_stay_near(SlicedWriter *w, BlockNumber block)
{
	sliced_writer_flush(w);
	w->batch.near = block;
}

/*
 * The object whose bytes are being cut into rows.  The first row of a slice at 0
 * is the head itself if the object is a value.
 */
typedef struct CutObject
{
	Oid			objid;
	bool		with_head;
	uint32		ascii;			/* leading bytes known to be ASCII */
} CutObject;

static bool
is_head(const CutObject *object, uint32 start)
{
	return object->with_head && start == 0;
}

/* Begin a slice: returns the bytes that its first row takes besides the payload. */
static uint32
slice_begin(const CutObject *object, SlicedRow *row, uint32 start)
{
	if (!is_head(object, start))
	{
		row->kind = SLICED_ROW_SLICE;
		return sizeof(SlicedRowHeader);
	}
	row->kind = SLICED_ROW_HEAD;
	row->ascii = object->ascii;
	return sizeof(SlicedRowHeader) + sizeof(SlicedHeadHeader);
}

static inline int32
slice_seq(const CutObject *object, uint32 start)
{
	return is_head(object, start) ? SLICED_HEAD_SEQ : (int32) start;
}

/*
 * Returns how many of 'len' bytes at 'raw', from 'start' on, continue a character.
 * If the value is all ASCII, as most are, we know already.
 */
static uint32
count_followers(const CutObject *object, uint32 start, const char *raw, uint32 len)
{
	return start + len <= object->ascii ? 0 : sliced_utf8_followers(raw, len);
}

/* Add one compressed slice, cut into as many rows as it takes. */
static void
slice_write_compressed(SlicedWriter *w, const CutObject *object, uint32 start, SlicedRow row,
					   const char *stored)
{
	uint32		storedlen = row.storedlen;
	uint32		overhead = slice_begin(object, &row, start);
	bool		quarters = false;
	uint32		first = sliced_row_cut(storedlen, overhead, &quarters);
	bool		later = quarters;
	uint32		done;

	for (done = first; done < storedlen; row.continuations++)
		done += sliced_row_cut(storedlen - done, sizeof(SlicedRowHeader), &later);

	sliced_count_slice_written(row.codec, row.rawlen, storedlen);
	row.payload = stored;
	row.payload_len = first;
	sliced_batch_add(&w->batch, object->objid, slice_seq(object, start), &row);

	row.kind = SLICED_ROW_CONTINUATION;
	row.continuations = 0;
	for (done = first; done < storedlen; done += row.payload_len)
	{
		row.continuations++;
		row.payload = stored + done;
		row.payload_len = sliced_row_cut(storedlen - done, sizeof(SlicedRowHeader), &quarters);
		sliced_batch_add(&w->batch, object->objid, start + row.continuations, &row);
	}
}

/* Returns how many bytes a full row takes. */
static uint32
full_row_payload(uint32 overhead)
{
	bool		quarters = false;

	return sliced_row_cut(PG_INT16_MAX, overhead, &quarters);
}

/*
 * Add bytes from 'start' on that do not compress.  Unless they are the last, stop
 * when less than a full row is left: the rest is stored with the bytes that follow.
 * Returns how many bytes were added.
 */
static uint32
slice_write_raw(SlicedWriter *w, const CutObject *object, uint32 start, const char *raw,
				uint32 len, bool last)
{
	uint32		done = 0;
	bool		quarters = false;

	while (done < len)
	{
		SlicedRow	row = {.codec = SLICED_CODEC_NONE};
		uint32		overhead = slice_begin(object, &row, start + done);
		uint32		n = sliced_row_cut(len - done, overhead, &quarters);

		if (!last && done > 0 && n < full_row_payload(overhead))
			break;
		row.rawlen = row.storedlen = row.payload_len = n;
		row.payload = raw + done;
		row.followers = count_followers(object, start + done, row.payload, n);
		sliced_count_slice_written(SLICED_CODEC_NONE, n, n);
		sliced_batch_add(&w->batch, object->objid, slice_seq(object, start + done), &row);
		done += n;
	}
	return done;
}

/* Measure how long it takes to read a slice of this many raw bytes. */
static void
tally_read(SlicedTally *tally, const SlicedCompression *compression, bool has_dictionary,
		   const char *stored, uint32 storedlen, uint32 rawlen)
{
	uint32		named = has_dictionary ? SLICED_DICTIONARY_NAME : 0;
	char	   *raw = palloc(rawlen);
	instr_time	began;
	instr_time	ended;

	INSTR_TIME_SET_CURRENT(began);
	(void) sliced_codec_get(compression->codec)->decompress(stored + named, storedlen - named, raw,
															rawlen, rawlen, has_dictionary ?
															compression->tried : NULL);
	INSTR_TIME_SET_CURRENT(ended);
	INSTR_TIME_ACCUM_DIFF(tally->read_time, ended, began);
	tally->read_bytes += rawlen;
	pfree(raw);
}

/*
 * Add 'len' bytes at 'raw' to the object, from 'start' on.  With a draft they are
 * a whole value, and the draft knows what its first slice is like.
 */
static void
object_write(SlicedWriter *w, const CutObject *object, uint32 start, const char *raw, uint32 len,
			 SlicedCompression compression, const SlicedDraft *draft)
{
	const SlicedCodec *codec = sliced_codec_get(compression.codec);
	uint32		done = 0;
	char	   *work = NULL;

	do
	{
		uint32		rawlen = Min(len - done, codec->slice_raw);
		const char *stored;
		uint32		storedlen;
		bool		has_dictionary;

		if (draft != NULL && done == 0)
		{
			stored = draft->first;
			storedlen = sliced_draft_stored(draft);
			has_dictionary = draft->first_has_dictionary;
		}
		else
		{
			if (work == NULL)
				work = palloc(SLICED_SLICE_ROOM(codec->slice_raw));
			stored = work;
			storedlen = sliced_slice_compress(&compression, raw + done, rawlen, work,
											  &has_dictionary);
		}

		if (storedlen > 0)
		{
			SlicedRow	row = {
				.codec = compression.codec,
				.has_dictionary = has_dictionary,
				.rawlen = rawlen,
				.storedlen = storedlen,
				.followers = count_followers(object, start + done, raw + done, rawlen)
			};

			slice_write_compressed(w, object, start + done, row, stored);
			if (w->batch.tally != NULL)
				tally_read(w->batch.tally, &compression, has_dictionary, stored, storedlen, rawlen);
			done += rawlen;
		}
		else
			done += slice_write_raw(w, object, start + done, raw + done, rawlen,
									done + rawlen == len);
		SLICED_STOP("writer.slice-added");
	} while (done < len);

	if (work)
		pfree(work);
}

/*
 * Add a value region by region, then the head that says where its bytes are.  The
 * head itself contains a short first region.
 */
static void
value_write_in_regions(SlicedWriter *w, Oid valueid, const SlicedDraft *draft)
{
	SlicedNode	node = {
		.children = palloc(draft->nregions * sizeof(SlicedChild)),
		.nitems = draft->ncuts,
		.items = palloc(draft->ncuts * sizeof(SlicedItem)),
		.len = draft->len
	};
	char	   *region = MemoryContextAllocHuge(CurrentMemoryContext, draft->len);
	uint32		own = SLICED_OWN_START;
	uint32		size;
	char	   *root;

	for (int r = 0; r < draft->nregions; r++)
	{
		uint32		len = 0;

		for (int i = 0; i < draft->ncuts; i++)
		{
			const SlicedCut *cut = &draft->cuts[i];

			if (cut->region != r)
				continue;
			node.items[i] = (SlicedItem) {.child = node.nchildren, .start = len, .len = cut->len};
			memcpy(region + len, draft->raw + cut->start, cut->len);
			len += cut->len;
		}
		if (r == 0 && len <= SLICED_INLINE_REGION)
		{
			for (int i = 0; i < draft->ncuts; i++)
				if (draft->cuts[i].region == r)
					node.items[i].bytes = draft->raw + draft->cuts[i].start;
			continue;
		}
		sliced_writer_add_slices(w, valueid, own, region, len, draft->compression);
		node.children[node.nchildren++] = (SlicedChild) {
			.kind = SLICED_CHILD_EXTENT, .objid = valueid, .seq = own, .len = len
		};
		own += len;
		SLICED_STOP("writer.region-added");
	}
	size = sliced_node_size(&node, valueid);
	root = palloc(size);
	sliced_node_encode(root, &node, valueid);
	sliced_writer_add_head(w, valueid, root, size, own, sliced_utf8_ascii(draft->raw, draft->len));
	pfree(root);
	sliced_node_free(&node);
	pfree(region);
}

/* Add slices that were compressed elsewhere. */
static void
taken_write(SlicedWriter *w, CutObject *object, uint32 start, const SlicedTaken *taken)
{
	for (int i = 0; i < taken->nslices; i++)
	{
		const SlicedTakenSlice *slice = &taken->slices[i];

		if (slice->codec == SLICED_CODEC_NONE)
			slice_write_raw(w, object, start, slice->stored, slice->rawlen, true);
		else
		{
			SlicedRow	row = {
				.codec = slice->codec,
				.rawlen = slice->rawlen,
				.storedlen = slice->storedlen,
				.followers = slice->followers
			};

			slice_write_compressed(w, object, start, row, slice->stored);
		}
		start += slice->rawlen;
	}
}

/* Add a value that was cut elsewhere.  Its root names slices as seen from its own id. */
static void
taken_write_in_regions(SlicedWriter *w, Oid valueid, const SlicedTaken *taken)
{
	CutObject	object = {.objid = valueid};

	taken_write(w, &object, SLICED_OWN_START, taken);
	sliced_writer_add_head(w, valueid, taken->layout.root, taken->layout.root_size,
						   taken->layout.own, taken->ascii);
}

void
sliced_writer_add(SlicedWriter *w, Oid valueid, const SlicedDraft *draft)
{
	CutObject	object = {
		.objid = valueid,
		.with_head = true
	};

	if (draft->ncuts > 0)
	{
		value_write_in_regions(w, valueid, draft);
		return;
	}
	if (draft->raw == NULL && draft->taken.layout.root != NULL)
	{
		taken_write_in_regions(w, valueid, &draft->taken);
		return;
	}
	if (draft->raw == NULL)
	{
		object.ascii = draft->taken.ascii;
		taken_write(w, &object, 0, &draft->taken);
		return;
	}
	object.ascii = sliced_utf8_ascii(draft->raw, draft->len);
	object_write(w, &object, 0, draft->raw, draft->len, draft->compression, draft);
}

void
sliced_writer_add_slices(SlicedWriter *w, Oid objid, uint32 start, const char *raw,
						 uint32 len, SlicedCompression compression)
{
	CutObject	object = {.objid = objid};

	object_write(w, &object, start, raw, len, compression, NULL);
}

/* Nodes can stay near others, though slices that came with them cannot. */
static void
node_row_add(SlicedWriter *w, Oid objid, int32 seq, const SlicedRow *row)
{
	if (w->batch.nbytes + sliced_row_size(row) > SLICED_SMALL_ROWS)
		sliced_writer_flush(w);
	sliced_batch_add(&w->batch, objid, seq, row);
}

void
sliced_writer_add_node(SlicedWriter *w, Oid objid, int32 seq, const char *bytes, uint32 size)
{
	SlicedRow	row = {
		.kind = SLICED_ROW_NODE,
		.codec = SLICED_CODEC_NONE,
		.rawlen = size,
		.storedlen = size,
		.payload = bytes,
		.payload_len = size
	};

	Assert(size <= SLICED_NODE_MAX);
	sliced_count(SLICED_STORED_WRITTEN + SLICED_CODEC_NONE, size);
	SLICED_STOP("writer.before-node");
	node_row_add(w, objid, seq, &row);
}

void
sliced_writer_add_head(SlicedWriter *w, Oid valueid, const char *root, uint32 root_size,
					   uint32 own, uint32 ascii)
{
	SlicedRow	row = {
		.kind = SLICED_ROW_HEAD,
		.codec = SLICED_CODEC_NONE,
		.payload = "",
		.root_size = root_size,
		.root = root,
		.ascii = ascii,
		.own = own
	};

	Assert(root_size <= SLICED_NODE_MAX);
	sliced_count(SLICED_STORED_WRITTEN + SLICED_CODEC_NONE, root_size);
	SLICED_STOP("writer.before-head");
	node_row_add(w, valueid, SLICED_HEAD_SEQ, &row);
	SLICED_STOP("writer.head-added");
}

void
sliced_writer_add_entry(SlicedWriter *w, int32 seq, const SlicedEntry *entry)
{
	SlicedRow	row = {
		.kind = SLICED_ROW_ENTRY,
		.codec = SLICED_CODEC_NONE,
		.rawlen = sizeof(SlicedEntry),
		.storedlen = sizeof(SlicedEntry),
		.payload = (const char *) entry,
		.payload_len = sizeof(SlicedEntry)
	};

	sliced_batch_add(&w->batch, InvalidOid, seq, &row);
}

/* A tail with room for 'capacity' bytes. */
static SlicedRow
tail_row(const char *raw, uint32 len, uint32 capacity)
{
	SlicedRow	row = {
		.kind = SLICED_ROW_TAIL,
		.payload = raw,
		.payload_len = len,
		.capacity = capacity
	};

	return row;
}

void
sliced_writer_add_tail(SlicedWriter *w, Oid objid, uint32 start, const char *raw, uint32 len,
					   uint32 capacity)
{
	SlicedRow	row = tail_row(raw, len, capacity);

	sliced_batch_flush(&w->batch);
	SLICED_STOP("writer.before-tail");
	sliced_batch_add(&w->batch, objid, start, &row);
	if (capacity > len)
		sliced_batch_flush_with_room(&w->batch);
}

void
sliced_writer_update_tail(SlicedWriter *w, ItemPointer tid, Oid objid, uint32 start,
						  const char *raw, uint32 len, uint32 capacity)
{
	SlicedRow	row = tail_row(raw, len, capacity);

	sliced_batch_replace(&w->batch, tid, objid, start, &row);
}

void
sliced_writer_flush(SlicedWriter *w)
{
	sliced_batch_flush(&w->batch);
}

void
sliced_writer_close(SlicedWriter *w)
{
	if (w->batch.tally == NULL)
		sliced_batch_close(&w->batch);
	if (w->other != NULL)
		table_close(w->other, AccessShareLock);
	pfree(w);
}
