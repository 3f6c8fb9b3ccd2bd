/*
 * slice.c
 *	  A slice: the rows it takes, and its bytes.
 */
#include "postgres.h"

#include "codec/codec.h"
#include "store/slice.h"

SlicedDamage
sliced_slice_gather(ToastScan *ts, const SlicedRow *row, uint32 start, int32 reseek_to,
					SlicedSlice *slice)
{
	TransactionId writer = sliced_scan_inserter(ts);
	uint32		have = row->payload_len;
	int			part = 1;

	slice->start = start;
	slice->rawlen = row->rawlen;
	slice->codec = row->codec;
	slice->nrows = 1 + row->parts;
	slice->storedlen = row->storedlen;
	slice->stored = row->payload;
	slice->buffer = NULL;
	if (row->parts == 0)
		return SLICED_SOUND;

	slice->stored = slice->buffer = palloc(slice->storedlen);
	memcpy(slice->buffer, row->payload, have);
	if (reseek_to > 0)
		sliced_scan_seek_within(ts, ts->objid, start + 1, reseek_to);

	while (part < slice->nrows)
	{
		SlicedRow	next;
		SlicedDamage damage;

		if (!sliced_scan_next(ts, ForwardScanDirection) || ts->seq > start + part)
			return SLICED_CONTINUATION_MISSING;
		damage = sliced_row_decode(&next, ts->data, ts->len, ts->objid, ts->seq);
		if (damage != SLICED_SOUND)
			return damage;

		/*
		 * A longer or shorter version of the slice may have rows of these numbers
		 * too; and so may one of the same lengths, if the transaction that wrote the
		 * first row has been aborted since, and another has appended something else.
		 */
		if (next.kind != SLICED_ROW_CONTINUATION || ts->seq != start + part ||
			next.parts != part || next.rawlen != slice->rawlen ||
			next.storedlen != slice->storedlen || next.codec != slice->codec ||
			!TransactionIdEquals(sliced_scan_inserter(ts), writer))
			continue;
		if (next.payload_len > slice->storedlen - have)
			return SLICED_CONTINUATION_FOREIGN;
		memcpy(slice->buffer + have, next.payload, next.payload_len);
		have += next.payload_len;
		part++;
	}
	return have == slice->storedlen ? SLICED_SOUND : SLICED_ROWS_DO_NOT_ADD_UP;
}

SlicedDamage
sliced_slice_decompress(const SlicedSlice *slice, uint32 from, uint32 to, char *dest)
{
	const SlicedCodec *codec = sliced_codec_get(slice->codec);
	char	   *work = dest;
	bool		ok;

	Assert(from <= to && to <= slice->rawlen);

	if (slice->codec == SLICED_CODEC_NONE)
	{
		memcpy(dest, slice->stored + from, to - from);
		return SLICED_SOUND;
	}

	if (from > 0)
		work = palloc(to);
	ok = codec->decompress(slice->stored, slice->storedlen, work, to, slice->rawlen);
	if (work != dest)
	{
		if (ok)
			memcpy(dest, work + from, to - from);
		pfree(work);
	}
	return ok ? SLICED_SOUND : SLICED_DECOMPRESSION_FAILED;
}
