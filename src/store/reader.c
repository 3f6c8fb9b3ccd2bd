/*
 * reader.c
 *	  Reads a value, or a range of it, slice by slice.
 *
 * One descent of the index finds the head and, in the same scan, the slices
 * that follow: reading a value from its start needs nothing else.  A range far
 * from the start takes a second descent, backwards from its first byte, to the
 * slice that covers it; slices are found by where they begin.
 *
 * Several rows may cover a position: an older, shorter version of a slice is a
 * prefix of its successor, so any row that covers the position will do.
 */
#include "postgres.h"

#include "codec/codec.h"
#include "miscadmin.h"
#include "store/reader.h"

const char *
sliced_slice_gather(ToastScan *ts, const SlicedRow *row, uint32 start, bool reseek,
					SlicedSlice *slice)
{
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
		return NULL;

	slice->stored = slice->buffer = palloc(slice->storedlen);
	memcpy(slice->buffer, row->payload, have);
	if (reseek)
		sliced_scan_seek(ts, ts->objid, start + 1, ForwardScanDirection);

	while (part < slice->nrows)
	{
		SlicedRow	next;
		const char *problem;

		if (!sliced_scan_next(ts, ForwardScanDirection) || ts->seq > start + part)
			return "a continuation of the slice is missing";
		problem = sliced_row_decode(&next, ts->data, ts->len, ts->objid, ts->seq);
		if (problem)
			return problem;
		if (next.kind != SLICED_ROW_CONTINUATION || ts->seq != start + part)
			continue;			/* of another version of these bytes */
		if (next.parts != part || next.rawlen != slice->rawlen ||
			next.storedlen != slice->storedlen || next.codec != slice->codec ||
			next.payload_len > slice->storedlen - have)
			return "a continuation does not belong to the slice";
		memcpy(slice->buffer + have, next.payload, next.payload_len);
		have += next.payload_len;
		part++;
	}
	return have == slice->storedlen ? NULL : "the slice's rows do not add up";
}

const char *
sliced_slice_decompress(const SlicedSlice *slice, uint32 from, uint32 to, char *dest)
{
	const SlicedCodec *codec = sliced_codec_get(slice->codec);
	char	   *work = dest;
	bool		ok;

	Assert(from <= to && to <= slice->rawlen);

	if (slice->codec == SLICED_CODEC_NONE)
	{
		memcpy(dest, slice->stored + from, to - from);
		return NULL;
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
	return ok ? NULL : "the slice cannot be decompressed";
}

const char *
sliced_piece_check(const SlicedRow *head, const SlicedPiece *piece)
{
	if (piece->len == 0 || piece->start > INT_MAX || piece->len > INT_MAX ||
		(piece->objid == 0 && (uint64) piece->start + piece->len > head->rawlen))
		return "impossible piece";
	return NULL;
}

/* What is being read; positions are in the current object. */
typedef struct Reader
{
	ToastScan	ts;
	Oid			valueid;
	uint32		value_offset;	/* of the byte at 'dest', for messages */
	char	   *dest;
} Reader;

static void
complain(Reader *r, const char *problem)
{
	if (problem)
		sliced_report_corruption(r->ts.toastrel, r->valueid, r->value_offset, problem);
}

/* Copy bytes [pos, end) of the slice that begins at 'start', as far as it has them. */
static uint32
copy_from_slice(Reader *r, const SlicedRow *row, uint32 start, bool reseek,
				uint32 pos, uint32 end)
{
	SlicedSlice slice;
	uint32		upto = Min(end, start + row->rawlen);

	complain(r, sliced_slice_gather(&r->ts, row, start, reseek, &slice));
	complain(r, sliced_slice_decompress(&slice, pos - start, upto - start, r->dest));
	if (slice.buffer)
		pfree(slice.buffer);
	r->dest += upto - pos;
	r->value_offset += upto - pos;
	return upto;
}

/*
 * Decode the current row.  Returns whether it is the first row of a slice that
 * covers 'pos'; '*start' is where the slice begins.
 */
static bool
current_covers(Reader *r, uint32 pos, SlicedRow *row, uint32 *start)
{
	complain(r, sliced_row_decode(row, r->ts.data, r->ts.len, r->ts.objid, r->ts.seq));
	if (row->kind == SLICED_ROW_CONTINUATION || row->npieces > 0)
		return false;
	*start = Max(r->ts.seq, 0);
	return *start <= pos && pos - *start < row->rawlen;
}

/*
 * Read bytes [pos, end) of an object.  With 'started' the scan is already
 * moving forward over the object's rows and has not passed 'pos'.
 */
static void
read_object(Reader *r, Oid objid, uint32 pos, uint32 end, bool started)
{
	SlicedRow	row;
	uint32		start;

	if (!started && pos > 0)
	{
		sliced_scan_seek(&r->ts, objid, pos, BackwardScanDirection);
		do
		{
			if (!sliced_scan_next(&r->ts, BackwardScanDirection))
				complain(r, "the slice is missing");
		} while (!current_covers(r, pos, &row, &start));

		pos = copy_from_slice(r, &row, start, true, pos, end);
		if (pos < end && row.parts == 0)
			sliced_scan_seek(&r->ts, objid, pos, ForwardScanDirection);
	}
	else if (!started)
		sliced_scan_seek(&r->ts, objid, SLICED_HEAD_SEQ, ForwardScanDirection);

	while (pos < end)
	{
		CHECK_FOR_INTERRUPTS();
		if (!sliced_scan_next(&r->ts, ForwardScanDirection) || r->ts.seq > (int32) pos)
			complain(r, "the slice is missing");
		if (current_covers(r, pos, &row, &start))
			pos = copy_from_slice(r, &row, start, false, pos, end);
	}
}

/* Read bytes [offset, end) of a value that has a piece table. */
static void
read_pieces(Reader *r, SlicedRow *head, uint32 offset, uint32 end)
{
	SlicedSlice inline_bytes;
	SlicedPiece *pieces;
	uint32		at = 0;			/* value offset at which the piece begins */

	complain(r, sliced_slice_gather(&r->ts, head, 0, false, &inline_bytes));
	if (inline_bytes.buffer == NULL)
		inline_bytes.stored = inline_bytes.buffer =
			memcpy(palloc(inline_bytes.storedlen + 1), inline_bytes.stored,
				   inline_bytes.storedlen);
	pieces = palloc(head->npieces * sizeof(SlicedPiece));
	for (int i = 0; i < head->npieces; i++)
		pieces[i] = sliced_row_piece(head, i);

	for (int i = 0; i < head->npieces && offset < end; i++)
	{
		SlicedPiece *piece = &pieces[i];

		complain(r, sliced_piece_check(head, piece));
		if (offset - at < piece->len)
		{
			uint32		from = piece->start + (offset - at);
			uint32		n = Min(end - offset, piece->len - (offset - at));

			if (piece->objid != 0)
				read_object(r, piece->objid, from, from + n, false);
			else
			{
				complain(r, sliced_slice_decompress(&inline_bytes, from, from + n, r->dest));
				r->dest += n;
				r->value_offset += n;
			}
			offset += n;
		}
		at += piece->len;
	}
	if (offset < end)
		complain(r, "its pieces end here");
	pfree(pieces);
	pfree(inline_bytes.buffer);
}

bool
sliced_value_read(Relation toastrel, Oid valueid, uint32 offset, uint32 len, char *dest)
{
	Reader		r = {.valueid = valueid, .value_offset = offset, .dest = dest};
	SlicedRow	head;

	sliced_scan_open(&r.ts, toastrel, NULL, AccessShareLock);
	sliced_scan_seek(&r.ts, valueid, SLICED_HEAD_SEQ, ForwardScanDirection);
	if (!sliced_scan_next(&r.ts, ForwardScanDirection))
		complain(&r, "the value is missing");
	if (r.ts.seq != SLICED_HEAD_SEQ)
	{
		if (r.ts.seq != 0)
			complain(&r, "the head is missing");
		sliced_scan_close(&r.ts, AccessShareLock);
		return false;
	}

	complain(&r, sliced_row_decode(&head, r.ts.data, r.ts.len, valueid, r.ts.seq));
	if (head.kind != SLICED_ROW_HEAD)
		complain(&r, "the head is missing");
	if (head.npieces > 0)
		read_pieces(&r, &head, offset, offset + len);
	else
	{
		uint32		pos = offset;
		uint32		end = offset + len;
		bool		near = pos <= head.rawlen;

		if (pos < head.rawlen && len > 0)
			pos = copy_from_slice(&r, &head, 0, false, pos, end);
		read_object(&r, valueid, pos, end, near);
	}
	sliced_scan_close(&r.ts, AccessShareLock);
	return true;
}
