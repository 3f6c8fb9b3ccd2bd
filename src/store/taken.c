/*
 * taken.c
 *	  Slices that are stored as they are in another table.
 */
#include "postgres.h"

#include "codec/codec.h"
#include "miscadmin.h"
#include "store/layout.h"
#include "store/slice.h"
#include "store/taken.h"

/* Room for so many slices at first. */
#define FIRST_SLICES	8

/* Would a writer have made this slice, of a value of which 'left' bytes are left? */
static bool
is_as_written(const SlicedSlice *slice, uint32 left, int codec)
{
	const SlicedCodec *c = sliced_codec_get(codec);
	char	   *work;
	bool		result;

	if (slice->has_dictionary || slice->rawlen > left || (slice->rawlen < left && slice->rawlen < c->slice_raw))
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

/* The scan stands on the head.  Nothing but whole slices, one behind the other, is taken. */
static bool
taken_load_slices(SlicedTaken *taken, ToastScan *ts, SlicedRow row, uint32 size, int codec)
{
	int			room = FIRST_SLICES;
	uint32		pos = 0;

	taken->ascii = row.ascii;
	taken->slices = palloc(room * sizeof(SlicedTakenSlice));
	for (;;)
	{
		SlicedSlice slice;

		CHECK_FOR_INTERRUPTS();
		if (pos == size ||
			sliced_slice_gather(ts, &row, pos, 0, &slice) != SLICED_SOUND)
			return false;
		if (!is_as_written(&slice, size - pos, codec))
		{
			if (slice.buffer != NULL)
				pfree(slice.buffer);
			return false;
		}
		pos += slice.rawlen;
		taken_add(taken, &room, &row, &slice);
		if (!sliced_scan_next(ts, ForwardScanDirection))
			return pos == size;
		if (ts->seq < 0 || (uint32) ts->seq != pos ||
			sliced_row_decode(&row, ts->data, ts->len, ts->objid, ts->seq) != SLICED_SOUND ||
			row.kind != SLICED_ROW_SLICE)
			return false;
	}
}

bool
sliced_taken_load(SlicedTaken *taken, Relation toastrel, Oid valueid, uint32 size, int codec,
				  uint32 more_than)
{
	ToastScan	ts;
	SlicedRow	head;
	bool		result;

	memset(taken, 0, sizeof(*taken));
	sliced_scan_open(&ts, toastrel, NULL, AccessShareLock);
	result = sliced_head_find(&ts, valueid, PG_INT32_MAX, &head) == SLICED_SOUND &&
		head.npieces == 0 && head.patches == NULL &&
		(head.rawlen < size || head.storedlen > more_than) &&
		taken_load_slices(taken, &ts, head, size, codec);
	sliced_scan_close(&ts, AccessShareLock);
	if (!result)
		sliced_taken_free(taken);
	return result;
}

void
sliced_taken_set(SlicedTaken *taken, uint32 len, int codec, const char *stored, uint32 storedlen)
{
	taken->nslices = 1;
	taken->slices = palloc(sizeof(SlicedTakenSlice));
	taken->slices[0] = (SlicedTakenSlice) {
		.rawlen = len,
		.storedlen = storedlen,
		.followers = SLICED_NOT_COUNTED,
		.codec = codec,
		.stored = stored
	};
	taken->ascii = 0;
}

bool
sliced_taken_read(const SlicedTaken *taken, char *dest)
{
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
	memset(taken, 0, sizeof(*taken));
}
