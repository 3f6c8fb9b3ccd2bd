/*
 * taken.c
 *	  Takes slices as they are stored in another table.
 */
#include "postgres.h"

#include "base/limits.h"
#include "codec/codec.h"
#include "miscadmin.h"
#include "store/layout.h"
#include "store/slice.h"
#include "store/taken.h"

/* How many slices there is room for at first. */
#define FIRST_SLICES	8

/*
 * True if a writer would have made this slice, in a value that is not cut and has
 * 'left' bytes left.  A slice that heap has compressed may be longer, but then it is
 * the last.
 */
static bool
is_as_written(const SlicedSlice *slice, uint32 left, int codec)
{
	bool		whole = slice->start == 0 && slice->rawlen == left && left <= SLICED_SLICE_USUAL;
	char	   *work;
	bool		result;

	if (slice->has_dictionary ||
		(slice->rawlen != Min(left, sliced_codec_get(codec)->slice_raw) && !whole))
		return false;
	if (slice->codec == codec)
		return true;
	if (slice->codec != SLICED_CODEC_NONE || slice->rawlen < left)
		return false;
	/* the rest of a value may be too short to compress */
	work = palloc(SLICED_COMPRESS_ROOM(slice->rawlen));
	result = sliced_codec_try(codec, slice->stored, slice->rawlen, work, 0, NULL) == 0;
	pfree(work);
	return result;
}

static void
taken_add(SlicedTaken *taken, int *room, const SlicedRow *row, SlicedSlice *slice)
{
	SlicedTakenSlice *new;

	if (taken->nslices == *room)
	{
		*room *= 2;
		taken->slices = repalloc(taken->slices, *room * sizeof(SlicedTakenSlice));
	}
	new = &taken->slices[taken->nslices++];
	*new = (SlicedTakenSlice) {
		.rawlen = slice->rawlen,
		.storedlen = slice->storedlen,
		.followers = row->followers,
		.codec = slice->codec
	};
	if (slice->buffer == NULL)
		slice->buffer = memcpy(palloc(slice->storedlen), slice->stored, slice->storedlen);
	new->stored = new->memory = slice->buffer;
}

/*
 * The same where regions begin and end anywhere.  We assume that slices that are not
 * compressed were tried with the codec of all the others.
 */
static bool
is_as_cut(const SlicedSlice *slice, uint32 left, int codec)
{
	return !slice->has_dictionary && slice->rawlen <= left &&
		(slice->codec == codec || slice->codec == SLICED_CODEC_NONE);
}

/*
 * Take slices from 'pos' to 'end' of an object; the scan stands on the first.  Takes
 * only whole slices, one behind the other.
 */
static bool
taken_load_slices(SlicedTaken *taken, ToastScan *ts, SlicedRow row, uint32 pos, uint32 end,
				  int codec, bool cut)
{
	int			room = FIRST_SLICES;

	taken->slices = palloc(room * sizeof(SlicedTakenSlice));
	for (;;)
	{
		SlicedSlice slice;

		CHECK_FOR_INTERRUPTS();
		if (pos == end ||
			sliced_slice_gather(ts, &row, pos, 0, &slice) != SLICED_SOUND)
			return false;
		if (!(cut ? is_as_cut : is_as_written) (&slice, end - pos, codec))
		{
			if (slice.buffer != NULL)
				pfree(slice.buffer);
			return false;
		}
		pos += slice.rawlen;
		taken_add(taken, &room, &row, &slice);
		if (!sliced_scan_next(ts, ForwardScanDirection))
			return pos == end;
		if ((uint32) ts->seq != pos ||
			sliced_row_decode(&row, ts->data, ts->len, ts->objid, ts->seq) != SLICED_SOUND ||
			row.kind != SLICED_ROW_SLICE)
			return false;
	}
}

/* Take the slices of a value that has been cut.  The scan stands on its head. */
static bool
taken_load_cut(SlicedTaken *taken, ToastScan *ts, const SlicedRow *head, uint32 size, int codec,
			   uint32 more_than)
{
	SlicedRow	row;
	uint64		stored = 0;
	bool		compressed = false;

	if (sliced_layout_load(&taken->layout, ts, head) != SLICED_SOUND ||
		!sliced_layout_is_cut(&taken->layout, size) ||
		!sliced_scan_next(ts, ForwardScanDirection) || ts->seq != SLICED_OWN_START ||
		sliced_row_decode(&row, ts->data, ts->len, ts->objid, ts->seq) != SLICED_SOUND ||
		row.kind != SLICED_ROW_SLICE ||
		!taken_load_slices(taken, ts, row, SLICED_OWN_START, taken->layout.own, codec, true))
		return false;
	for (int i = 0; i < taken->nslices; i++)
	{
		stored += taken->slices[i].storedlen;
		compressed = compressed || taken->slices[i].codec == codec;
	}
	/* compressed as a whole, it would take less */
	return compressed && stored > (uint64) more_than * 2;
}

bool
sliced_taken_load(SlicedTaken *taken, Relation toastrel, Oid valueid, uint32 size, int codec,
				  bool cut, uint32 more_than)
{
	ToastScan	ts;
	SlicedRow	head;
	bool		result;

	memset(taken, 0, sizeof(*taken));
	sliced_scan_open(&ts, toastrel, NULL, AccessShareLock);
	result = sliced_head_find(&ts, valueid, PG_INT32_MAX, &head) == SLICED_SOUND;
	if (result)
	{
		taken->ascii = head.ascii;
		result = cut ? taken_load_cut(taken, &ts, &head, size, codec, more_than) :
			head.root == NULL && (head.rawlen < size || head.storedlen > more_than) &&
			taken_load_slices(taken, &ts, head, 0, size, codec, false);
	}
	sliced_scan_close(&ts, AccessShareLock);
	if (!result)
		sliced_taken_free(taken);
	return result;
}

void
sliced_taken_set(SlicedTaken *taken, uint32 len, int codec, const char *stored, uint32 storedlen)
{
	memset(taken, 0, sizeof(*taken));
	taken->nslices = 1;
	taken->slices = palloc(sizeof(SlicedTakenSlice));
	taken->slices[0] = (SlicedTakenSlice) {
		.rawlen = len,
		.storedlen = storedlen,
		.followers = SLICED_NOT_COUNTED,
		.codec = codec,
		.stored = stored
	};
}

bool
sliced_taken_read(const SlicedTaken *taken, char *dest)
{
	Assert(taken->layout.root == NULL);
	for (int i = 0; i < taken->nslices; i++)
	{
		const SlicedTakenSlice *taken_slice = &taken->slices[i];
		SlicedSlice slice = {
			.rawlen = taken_slice->rawlen,
			.storedlen = taken_slice->storedlen,
			.codec = taken_slice->codec,
			.stored = taken_slice->stored
		};

		if (sliced_slice_decompress(&slice, 0, slice.rawlen, dest) != SLICED_SOUND)
			return false;
		dest += slice.rawlen;
	}
	return true;
}

void
sliced_taken_free(SlicedTaken *taken)
{
	for (int i = 0; i < taken->nslices; i++)
		if (taken->slices[i].memory != NULL)
			pfree(taken->slices[i].memory);
	if (taken->slices != NULL)
		pfree(taken->slices);
	sliced_layout_free(&taken->layout);
	memset(taken, 0, sizeof(*taken));
}
