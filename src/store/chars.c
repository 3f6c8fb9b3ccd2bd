/*
 * chars.c
 *	  Finds characters of UTF-8 in a value without reading the bytes before them.
 */
#include "postgres.h"

#include "access/table.h"
#include "base/counters.h"
#include "base/limits.h"
#include "format/pointer.h"
#include "format/utf8.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "store/chars.h"
#include "store/cursor.h"
#include "store/layout.h"
#include "store/reader.h"

/*
 * The search.  Functions return false when it has ended: they have found the
 * character, or something is wrong.
 */
typedef struct CharSearch
{
	Relation	toastrel;
	ToastScan	ts;
	uint32		left;			/* characters to pass over */
	uint32		passed;			/* bytes of the value passed over */
	bool		found;
} CharSearch;

/* Bytes whose characters are counted at once. */
#define CHARS_BLOCK		256

/* Pass over 'len' bytes in memory. */
static bool
chars_pass_bytes(CharSearch *s, const char *bytes, uint32 len)
{
	uint32		i = 0;

	while (len - i >= CHARS_BLOCK)
	{
		uint32		nchars = CHARS_BLOCK - sliced_utf8_followers(bytes + i, CHARS_BLOCK);

		if (nchars > s->left)
			break;
		s->left -= nchars;
		i += CHARS_BLOCK;
	}
	for (; i < len; i++)
	{
		if (sliced_utf8_is_follower(bytes[i]))
			continue;
		if (s->left == 0)
		{
			s->found = true;
			s->passed += i;
			return false;
		}
		s->left--;
	}
	s->passed += len;
	return true;
}

/*
 * Read bytes [start, end) of the object, of one slice, and pass over them: first what
 * valid UTF-8 can need to pass over the characters that are left, behind the end of one
 * that began in the slice before.
 */
static bool
chars_pass_by_reading(CharSearch *s, Oid objid, uint32 start, uint32 end)
{
	uint64		enough = ((uint64) s->left + 1) * pg_encoding_max_length(PG_UTF8);

	while (start < end)
	{
		uint32		len = Min(end - start, enough);
		char	   *work = palloc(len);
		bool		go_on = sliced_object_read(s->toastrel, objid, start, len, work) &&
			chars_pass_bytes(s, work, len);

		pfree(work);
		if (!go_on)
			return false;
		start += len;
		enough = end;
	}
	return true;
}

/* Pass over characters that are known to have one byte each. */
static bool
chars_pass_ascii(CharSearch *s, uint32 len)
{
	uint32		n = Min(len, s->left);

	s->passed += n;
	s->left -= n;
	s->found = n < len;
	return !s->found;
}

/*
 * Pass over bytes before 'end' of the slice at 'start'.  The last character may
 * go on in the next slice, so it is over only when the next has begun.
 */
static bool
chars_pass_slice(CharSearch *s, const SlicedRow *row, Oid objid, uint32 start, uint32 pos, uint32 end)
{
	uint32		upto = Min(end, start + row->rawlen);
	uint32		nchars = row->rawlen - row->followers;

	if (row->followers == 0)
		return chars_pass_ascii(s, upto - pos);
	if (row->followers != SLICED_NOT_COUNTED &&
		pos == start && upto == start + row->rawlen && nchars <= s->left)
	{
		s->left -= nchars;
		s->passed += row->rawlen;
		return true;
	}
	return chars_pass_by_reading(s, objid, pos, upto);
}

/* Pass over bytes [pos, end) of an object. */
static bool
chars_pass_object(CharSearch *s, Oid objid, uint32 pos, uint32 end)
{
	SlicedCursor cursor = {
		.ts = &s->ts,
		.objid = objid,
		.moving = NoMovementScanDirection,
		.end = end
	};

	while (pos < end)
	{
		SlicedRow	row;
		uint32		start;

		CHECK_FOR_INTERRUPTS();
		if (sliced_cursor_find(&cursor, pos, &row, &start) != SLICED_SOUND ||
			!chars_pass_slice(s, &row, objid, start, pos, end))
			return false;
		pos = Min(end, start + row.rawlen);
		/* do not fetch its other rows: find the next slice in the index */
		if (row.continuations > 0)
			cursor.moving = BackwardScanDirection;
	}
	return true;
}

/* Pass over a piece of the value. */
static bool
chars_pass_piece(CharSearch *s, const SlicedPieces *pieces, const SlicedPiece *piece)
{
	if (piece->objid == 0)
		return chars_pass_bytes(s, pieces->literals + piece->start, piece->len);
	return chars_pass_object(s, piece->objid, piece->start, piece->start + piece->len);
}

/* Pass over bytes [from, to) of a value. */
static bool
chars_pass_range(CharSearch *s, SlicedLayout *layout, uint32 from, uint32 to)
{
	SlicedPieces pieces;
	SlicedPieceIterator it = {&pieces};
	bool		go_on = sliced_pieces_find(&pieces, layout, &s->ts, from, to) == SLICED_SOUND;

	while (go_on && sliced_piece_next(&it))
		go_on = chars_pass_piece(s, &pieces, &it.piece);
	sliced_pieces_free(&pieces);
	return go_on;
}

/* Pass over a value of 'size' bytes, in steps that are worth looking up. */
static bool
chars_pass_value(CharSearch *s, SlicedLayout *layout, uint32 size)
{
	uint32		at = Min(layout->ascii, size);

	if (!chars_pass_ascii(s, at))
		return false;
	while (at < size)
	{
		uint32		to = !layout->flat && size - at > SLICED_CHARS_STEP ? at + SLICED_CHARS_STEP : size;

		if (!chars_pass_range(s, layout, at, to))
			return false;
		at = to;
	}
	return true;
}

static void
char_search(CharSearch *s, Oid valueid, uint32 size)
{
	SlicedRow	head;
	SlicedLayout layout;

	if (sliced_head_find(&s->ts, valueid, SLICED_HEAD_SEQ, &head) != SLICED_SOUND)
		return;
	if (sliced_layout_load(&layout, &s->ts, &head) == SLICED_SOUND &&
		chars_pass_value(s, &layout, size))
		s->found = true;		/* at the end */
	sliced_layout_free(&layout);
}

bool
sliced_chars_seek(const struct varatt_external *value, uint32 nchar, uint32 *offset,
				  uint32 *have)
{
	CharSearch	s = {.left = nchar};
	instr_time	began = sliced_reading_begin();

	s.toastrel = table_open(value->va_toastrelid, AccessShareLock);
	sliced_scan_open(&s.ts, s.toastrel, NULL, AccessShareLock);
	char_search(&s, value->va_valueid, sliced_pointer_size(value));
	sliced_scan_close(&s.ts, AccessShareLock);
	if (s.found)
		sliced_reading_end(RelationGetRelid(s.toastrel), began, false);
	table_close(s.toastrel, NoLock);
	*offset = s.passed;
	if (have != NULL)
		*have = nchar - s.left;
	return s.found;
}
