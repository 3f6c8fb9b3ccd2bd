/*
 * slice.c
 *	  A slice: the rows it takes, and its bytes.
 */
#include "postgres.h"

#include "base/counters.h"
#include "base/limits.h"
#include "store/loaded.h"
#include "store/slice.h"

SlicedDamage
sliced_slice_gather(ToastScan *ts, const SlicedRow *row, uint32 start, int32 reseek_to,
					SlicedSlice *slice)
{
	TransactionId writer = sliced_scan_inserter(ts);
	uint32		have = row->payload_len;
	int			number = 1;

	slice->start = start;
	slice->rawlen = row->rawlen;
	slice->codec = row->codec;
	slice->has_dictionary = row->has_dictionary;
	slice->toastrelid = RelationGetRelid(ts->toastrel);
	slice->nrows = 1 + row->continuations;
	slice->storedlen = row->storedlen;
	slice->stored = row->payload;
	slice->buffer = NULL;
	if (row->continuations == 0)
		return SLICED_SOUND;

	slice->stored = slice->buffer = palloc(slice->storedlen);
	memcpy(slice->buffer, row->payload, have);
	if (reseek_to > 0)
		sliced_scan_seek_within(ts, ts->objid, start + 1, reseek_to);

	while (number < slice->nrows)
	{
		SlicedRow	next;
		SlicedDamage damage;

		if (!sliced_scan_next(ts, ForwardScanDirection) || ts->seq > start + number)
			return SLICED_CONTINUATION_MISSING;
		damage = sliced_row_decode(&next, ts->data, ts->len, ts->objid, ts->seq);
		if (damage != SLICED_SOUND)
			return damage;

		/*
		 * A longer or shorter version of the slice may have rows of these numbers
		 * too.  So may one of the same lengths, if the transaction that wrote the
		 * first row has been aborted since, and another one has appended other bytes.
		 */
		if (next.kind != SLICED_ROW_CONTINUATION || ts->seq != start + number ||
			next.continuations != number || next.rawlen != slice->rawlen ||
			next.storedlen != slice->storedlen || next.codec != slice->codec ||
			next.has_dictionary != slice->has_dictionary ||
			!TransactionIdEquals(sliced_scan_inserter(ts), writer))
			continue;
		if (next.payload_len > slice->storedlen - have)
			return SLICED_CONTINUATION_FOREIGN;
		memcpy(slice->buffer + have, next.payload, next.payload_len);
		have += next.payload_len;
		number++;
	}
	return have == slice->storedlen ? SLICED_SOUND : SLICED_ROWS_DO_NOT_ADD_UP;
}

uint32
sliced_slice_compress(const SlicedCompression *compression, const char *raw, uint32 len, char *dst,
					  bool *has_dictionary)
{
	const SlicedDictionaryName *name = &compression->dictionary;
	SlicedDictionary *dictionary = NULL;
	uint32		limit = sliced_codec_limit(compression->codec, len);
	uint32		n;

	if (name->id != 0 && len <= SLICED_DICTIONARY_RAW && limit > SLICED_DICTIONARY_NAME &&
		sliced_codec_get(compression->codec)->has_dictionaries)
	{
		if (compression->tried != NULL)
			dictionary = compression->tried;
		else
			(void) sliced_loaded_find(name, &dictionary);
	}
	*has_dictionary = dictionary != NULL;
	if (dictionary == NULL)
		return sliced_codec_try(compression->codec, raw, len, dst, compression->level, NULL);

	n = sliced_codec_get(compression->codec)->compress(raw, len, dst + SLICED_DICTIONARY_NAME,
													   limit - SLICED_DICTIONARY_NAME,
													   compression->level, dictionary);
	memcpy(dst, &name->id, sizeof(name->id));
	memcpy(dst + sizeof(name->id), &name->checksum, sizeof(name->checksum));
	return n == 0 ? 0 : n + SLICED_DICTIONARY_NAME;
}

SlicedDictionaryName
sliced_slice_dictionary(const SlicedSlice *slice)
{
	SlicedDictionaryName name = {.relid = slice->toastrelid};

	memcpy(&name.id, slice->stored, sizeof(name.id));
	memcpy(&name.checksum, slice->stored + sizeof(name.id), sizeof(name.checksum));
	return name;
}

SlicedDamage
sliced_slice_decompress(const SlicedSlice *slice, uint32 from, uint32 to, char *dest)
{
	const SlicedCodec *codec = sliced_codec_get(slice->codec);
	const char *stored = slice->stored;
	uint32		storedlen = slice->storedlen;
	SlicedDictionary *dictionary = NULL;
	char	   *work = dest;
	bool		ok;

	Assert(from <= to && to <= slice->rawlen);

	sliced_count(SLICED_SLICES_READ, to > from);
	sliced_count(SLICED_STORED_READ, slice->storedlen);
	if (slice->codec == SLICED_CODEC_NONE)
	{
		memcpy(dest, slice->stored + from, to - from);
		return SLICED_SOUND;
	}

	if (slice->has_dictionary)
	{
		SlicedDictionaryName name = sliced_slice_dictionary(slice);
		SlicedDamage damage = sliced_loaded_find(&name, &dictionary);

		if (damage != SLICED_SOUND)
			return damage;
		stored += SLICED_DICTIONARY_NAME;
		storedlen -= SLICED_DICTIONARY_NAME;
	}
	sliced_count(SLICED_DECOMPRESSED, to);
	if (from > 0)
		work = palloc(to);
	ok = codec->decompress(stored, storedlen, work, to, slice->rawlen, dictionary);
	if (work != dest)
	{
		if (ok)
			memcpy(dest, work + from, to - from);
		pfree(work);
	}
	return ok ? SLICED_SOUND : SLICED_DECOMPRESSION_FAILED;
}
