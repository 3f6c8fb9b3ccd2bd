/*
 * change.c
 *	  Stores a value as what differs from the one it replaces.
 *
 * A value that grows is a matter of growth.c.  Any other change makes a new value
 * with an id of its own.  Its head lists pieces of the old value's objects and,
 * between them, the new bytes.  Short ones are in the head itself, others in
 * slices of the new value's own object.
 *
 * Old slices that no piece needs any more are deleted.  To find them we look at
 * what the change has dropped, not at the whole value, so a change of one byte
 * costs the same whatever the length.  A slice stays if some of its bytes are
 * still needed; the others are garbage.  When there is too much garbage, or too
 * little left of the old value, the value is written anew.
 *
 * Each piece costs every later change its entry in the head, and readers a
 * descent.  When there are too many, those neighbours that are cheapest to copy
 * are joined and written as new bytes.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "base/counters.h"
#include "base/limits.h"
#include "base/stop.h"
#include "codec/codec.h"
#include "format/pointer.h"
#include "format/utf8.h"
#include "miscadmin.h"
#include "store/change.h"
#include "store/cursor.h"
#include "store/layout.h"
#include "store/patching.h"
#include "store/remover.h"

/* A piece of the new value: new bytes (objid 0), or those of an object. */
typedef struct NewPiece
{
	Oid			objid;
	uint32		start;			/* in the object */
	uint32		len;
	uint32		at;				/* in the new value */
} NewPiece;

typedef struct Derivation
{
	SlicedChange *change;
	SlicedWriter *writer;
	Relation	toastrel;
	SlicedLayout old;
	uint32		old_size;
	ItemPointerData old_head;	/* where its head is: nothing moves it before we delete it */
	int			npieces;
	int			maxpieces;
	NewPiece   *pieces;
	SlicedPatching patching;
} Derivation;

/* How many pieces may the value have?  Each change writes them all. */
static int
change_max_pieces(const SlicedChange *change)
{
	const SlicedPolicy *policy = change->policy;
	uint32		len = change->rope->len;

	if (policy->pieces == 0)
		return Min(SLICED_PIECES + len / SLICED_PIECES_EACH, SLICED_PIECES_MAX);
	return Min(policy->pieces + (policy->pieces_each == 0 ? 0 : len / policy->pieces_each),
			   Min(policy->pieces_max, SLICED_PIECES_MAX));
}

static void
change_load_old(Derivation *d)
{
	const struct varatt_external *base = &d->change->rope->base;
	SlicedDamage damage;
	ToastScan	ts;
	SlicedRow	head;

	sliced_scan_open(&ts, d->toastrel, NULL, AccessShareLock);
	ts.visibility = SLICED_SEE_CURRENT;
	damage = sliced_head_find(&ts, base->va_valueid, SLICED_HEAD_SEQ, &head);
	if (damage == SLICED_SOUND)
	{
		d->old_head = ts.tid;
		damage = sliced_layout_load(&d->old, &ts, &head);
	}
	sliced_scan_close(&ts, AccessShareLock);
	if (damage != SLICED_SOUND)
		sliced_report_corruption(d->toastrel, base->va_valueid, 0, damage);
	d->old_size = sliced_pointer_size(base);
}

static void
new_piece_add(Derivation *d, Oid objid, uint32 start, uint32 len, uint32 at)
{
	NewPiece   *last = d->npieces > 0 ? &d->pieces[d->npieces - 1] : NULL;

	if (len == 0)
		return;
	if (last != NULL && last->objid == objid && (objid == 0 || last->start + last->len == start))
	{
		last->len += len;
		return;
	}
	if (d->npieces == d->maxpieces)
	{
		d->maxpieces = d->maxpieces == 0 ? 16 : d->maxpieces * 2;
		d->pieces = d->pieces == NULL ? palloc(d->maxpieces * sizeof(NewPiece)) :
			repalloc(d->pieces, d->maxpieces * sizeof(NewPiece));
	}
	d->pieces[d->npieces++] = (NewPiece) {objid, start, len, at};
}

/* Add bytes [start, start + len) of the old value as pieces of its objects. */
static void
new_pieces_add_old(Derivation *d, uint32 start, uint32 len, uint32 at)
{
	SlicedPieceIterator it = {&d->old, d->old_size};

	while (len > 0 && sliced_piece_next(&it))
	{
		uint32		skip = start - it.at;
		uint32		n;

		if (skip >= it.piece.len)
			continue;
		n = Min(len, it.piece.len - skip);
		new_piece_add(d, it.piece.objid, it.piece.objid == 0 ? 0 : it.piece.start + skip, n, at);
		start += n;
		len -= n;
		at += n;
	}
}

/* Find the pieces of the new value and, if wanted, what can be patches of them. */
static void
new_pieces_find(Derivation *d, bool patches)
{
	const SlicedRope *rope = d->change->rope;
	uint32		at = 0;

	d->npieces = 0;
	sliced_patching_free(&d->patching);
	sliced_patching_begin(&d->patching, &d->old, d->old_size);
	for (int i = 0, next; i < rope->nruns; i = next)
	{
		const SlicedRun *run = &rope->runs[i];
		uint32		start = run->start;
		uint32		len = run->len;

		next = i + 1;
		if (run->bytes == NULL ||
			(patches && sliced_patching_add(&d->patching, rope, i, &next, &start, &len)))
			new_pieces_add_old(d, start, len, at);
		else
			new_piece_add(d, 0, 0, len, at);
		at += len;
	}
}

/* Rebuild the list of pieces without those that were emptied, joining neighbours. */
static void
new_pieces_tidy(Derivation *d)
{
	int			n = d->npieces;

	d->npieces = 0;
	for (int i = 0; i < n; i++)
	{
		NewPiece	piece = d->pieces[i];

		new_piece_add(d, piece.objid, piece.start, piece.len, piece.at);
	}
}

/* What copying a piece costs. */
static inline uint64
piece_copy_cost(const NewPiece *piece)
{
	return piece->objid == 0 ? 0 : piece->len;
}

/* Copy pieces that are not worth an entry of their own. */
static void
new_pieces_limit(Derivation *d)
{
	int			limit = change_max_pieces(d->change);

	for (int i = 1; i + 1 < d->npieces; i++)
		if (d->pieces[i].len <= SLICED_TINY_PIECE &&
			(d->pieces[i - 1].objid == 0 || d->pieces[i + 1].objid == 0))
			d->pieces[i].objid = 0;
	new_pieces_tidy(d);

	if (d->npieces <= limit)
		return;
	/* choosing takes time that is quadratic in their number */
	for (uint32 short_one = 2 * SLICED_TINY_PIECE; d->npieces > 4 * limit; short_one *= 2)
	{
		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < d->npieces; i++)
			if (d->pieces[i].len <= short_one)
				d->pieces[i].objid = 0;
		new_pieces_tidy(d);
	}
	while (d->npieces > limit / 4 * 3)
	{
		int			best = 0;
		uint64		least = PG_UINT64_MAX;

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i + 1 < d->npieces; i++)
		{
			uint64		cost = piece_copy_cost(&d->pieces[i]) + piece_copy_cost(&d->pieces[i + 1]);

			if (cost < least)
			{
				least = cost;
				best = i;
			}
		}
		d->pieces[best].objid = d->pieces[best + 1].objid = 0;
		new_pieces_tidy(d);
	}
}

/* How many pieces of the new value have bytes [start, end) of an object, or some? */
static int
new_pieces_count(void *arg, Oid objid, uint32 start, uint32 end)
{
	Derivation *d = arg;
	int			n = 0;

	for (int i = 0; i < d->npieces; i++)
		if (d->pieces[i].objid == objid && d->pieces[i].start < end &&
			d->pieces[i].start + d->pieces[i].len > start)
			n++;
	return n;
}

static bool
new_pieces_need(Derivation *d, Oid objid, uint32 start, uint32 end)
{
	return new_pieces_count(d, objid, start, end) > 0;
}

/* Do patches take more than they are worth? */
static bool
patches_are_too_many(const Derivation *d)
{
	return sliced_patching_bytes(&d->patching) >
		(uint64) d->change->rope->len / SLICED_PATCHES_PART + SLICED_PATCHES_MIN;
}

/*
 * Decide what the new value consists of.  Whether patches are right is a matter of all
 * pieces, before some are copied.  Where these are very many there are no patches: each
 * is looked for in all of them.
 */
static void
new_value_plan(Derivation *d)
{
	new_pieces_find(d, d->change->policy->patches);
	if (d->npieces > 4 * change_max_pieces(d->change) ||
		!sliced_patching_fit(&d->patching, new_pieces_count, d))
		new_pieces_find(d, false);
	new_pieces_limit(d);
}

/*
 * Bytes [start, end) of the object have been dropped: delete the slices that no
 * piece needs.  If no piece is of this object, delete all that is left of it,
 * damaged rows too.  Returns how many raw bytes the slices had.
 */
static uint32
slices_free_dropped(Derivation *d, Oid objid, uint32 start, uint32 end)
{
	bool		all = !new_pieces_need(d, objid, 0, PG_UINT32_MAX);
	uint32		freed = 0;
	ToastScan	ts;

	if (all)
	{
		start = 0;
		end = PG_UINT32_MAX;
	}
	sliced_scan_open(&ts, d->toastrel, NULL, RowExclusiveLock);
	ts.visibility = SLICED_SEE_CURRENT;
	sliced_scan_seek(&ts, objid, all ? SLICED_HEAD_SEQ : sliced_slice_seq(&ts, objid, start),
					 ForwardScanDirection);
	while (sliced_scan_next(&ts, ForwardScanDirection))
	{
		SlicedRow	row;
		uint32		from = Max(ts.seq, 0);

		CHECK_FOR_INTERRUPTS();
		if (sliced_row_decode(&row, ts.data, ts.len, objid, ts.seq) != SLICED_SOUND)
		{
			if (all)
				sliced_toast_row_delete(d->toastrel, objid, &ts.tid);
			continue;
		}
		if (row.npieces > 0)
			continue;
		if (row.kind == SLICED_ROW_CONTINUATION)
			from -= row.parts;
		if (from >= end)
			break;
		if (from + row.rawlen <= start || new_pieces_need(d, objid, from, from + row.rawlen))
			continue;
		if (row.kind != SLICED_ROW_CONTINUATION)
			freed += row.rawlen;
		sliced_toast_row_delete(d->toastrel, objid, &ts.tid);
	}
	sliced_scan_close(&ts, NoLock);
	return freed;
}

/*
 * Go through the bytes of 'old', a piece of the old value, that no piece needs.
 * Returns how many more bytes of garbage they make; without 'delete', how many at
 * most: of a long run, all slices but those at its ends can be deleted.
 */
static int64
piece_drop_unneeded(Derivation *d, const SlicedPiece *old, bool delete)
{
	uint32		pos = old->start;
	uint32		end = old->start + old->len;
	int64		dropped = 0;

	while (pos < end)
	{
		uint32		next = end;		/* where the next piece begins that has something */
		bool		skip = false;

		for (int i = 0; i < d->npieces; i++)
		{
			NewPiece   *piece = &d->pieces[i];

			if (piece->objid != old->objid || piece->start + piece->len <= pos)
				continue;
			if (piece->start <= pos)
			{
				pos = Min(end, piece->start + piece->len);
				skip = true;
				break;
			}
			next = Min(next, piece->start);
		}
		if (skip)
			continue;
		if (delete)
			dropped += (int64) (next - pos) - slices_free_dropped(d, old->objid, pos, next);
		else
			dropped += Min(next - pos, 2 * SLICED_SLICE_USUAL);
		pos = next;
	}
	return dropped;
}

static int64
pieces_drop_unneeded(Derivation *d, bool delete)
{
	SlicedPieceIterator it = {&d->old, d->old_size};
	int64		dropped = 0;

	while (sliced_piece_next(&it))
		if (it.piece.objid != 0)
			dropped += piece_drop_unneeded(d, &it.piece, delete);
	return dropped;
}

static uint32
new_pieces_len(Derivation *d)
{
	uint32		result = 0;

	for (int i = 0; i < d->npieces; i++)
		if (d->pieces[i].objid == 0)
			result += d->pieces[i].len;
	return result;
}

/* Is the old value not worth being shared?  Counts why. */
static bool
change_is_better_anew(Derivation *d)
{
	uint32		len = d->change->rope->len;
	SlicedCounter why;

	if (len < SLICED_WORTH_SHARING)
		why = SLICED_ANEW_SHORT;
	else if (new_pieces_len(d) > len / 4 * 3)
		why = SLICED_ANEW_NEW;
	else if (patches_are_too_many(d))
		why = SLICED_ANEW_PATCHES;
	else if (d->old.garbage + pieces_drop_unneeded(d, false) >
			 (uint64) len / 2 + SLICED_GARBAGE_MIN)
		why = SLICED_ANEW_GARBAGE;
	else
		return false;
	sliced_count(why, 1);
	return true;
}

static void
change_write_anew(Derivation *d)
{
	const SlicedRope *rope = d->change->rope;
	char	   *raw = MemoryContextAllocHuge(CurrentMemoryContext, rope->len + 1);
	SlicedDraft draft;

	sliced_count(SLICED_STORED, 1);
	sliced_rope_read(rope, d->toastrel, 0, rope->len, raw);
	sliced_draft_final(&draft, raw, rope->len, d->change->compression, d->change->policy);
	SLICED_STOP("change.before-anew");
	sliced_writer_add(d->writer, d->change->valueid, &draft);
	sliced_writer_flush(d->writer);
	SLICED_STOP("change.written-anew");
	sliced_value_delete(d->toastrel, rope->base.va_valueid, false);
	SLICED_STOP("change.old-value-deleted");
	pfree(raw);
}

/*
 * Write the pieces that are new, and make the piece table of all.  Returns the
 * length of the inline bytes.
 */
static uint32
change_write_new_bytes(Derivation *d, SlicedPiece *table, char *inline_bytes)
{
	SlicedChange *change = d->change;
	uint32		inline_len = 0;
	uint64		own_len = 0;
	uint32		own_done = 0;
	char	   *own;

	for (int i = 0; i < d->npieces; i++)
	{
		NewPiece   *piece = &d->pieces[i];
		SlicedPiece *entry = &table[i];

		*entry = (SlicedPiece) {piece->objid, piece->start, piece->len};
		if (piece->objid != 0)
			continue;
		if (inline_len + piece->len <= SLICED_INLINE_REGION)
		{
			entry->start = inline_len;
			sliced_rope_read(change->rope, d->toastrel, piece->at, piece->len,
							 inline_bytes + inline_len);
			inline_len += piece->len;
		}
		else
		{
			entry->objid = change->valueid;
			entry->start = SLICED_OWN_START + own_len;
			own_len += piece->len;
		}
	}
	if (own_len == 0)
		return inline_len;

	own = MemoryContextAllocHuge(CurrentMemoryContext, own_len);
	for (int i = 0; i < d->npieces; i++)
		if (table[i].objid == change->valueid)
		{
			sliced_rope_read(change->rope, d->toastrel, d->pieces[i].at, d->pieces[i].len,
							 own + own_done);
			own_done += d->pieces[i].len;
		}
	sliced_writer_add_slices(d->writer, change->valueid, SLICED_OWN_START, own, own_len,
							 change->compression);
	pfree(own);
	return inline_len;
}

/* How many leading bytes of the new value are known to be characters of one byte? */
static uint32
change_known_ascii(Derivation *d)
{
	const SlicedRope *rope = d->change->rope;
	uint32		result = 0;

	for (int i = 0; i < rope->nruns; i++)
	{
		const SlicedRun *run = &rope->runs[i];
		uint32		known = 0;

		if (run->bytes != NULL)
			known = sliced_utf8_ascii(run->bytes, run->len);
		else if (run->start < d->old.ascii)
			known = Min(run->len, d->old.ascii - run->start);
		result += known;
		if (known < run->len)
			break;
	}
	return result;
}

static void
change_derive(Derivation *d)
{
	SlicedPiece *table = palloc(d->npieces * sizeof(SlicedPiece));
	char		inline_bytes[SLICED_INLINE_REGION];
	uint32		inline_len;
	int64		garbage;
	SlicedNewHead head;

	sliced_count(SLICED_CHANGED, 1);
	/* this page is written anyway: another one may cost a full page of WAL */
	sliced_writer_stay_near(d->writer, ItemPointerGetBlockNumber(&d->old_head));
	inline_len = change_write_new_bytes(d, table, inline_bytes);
	SLICED_STOP("change.new-bytes-added");
	sliced_patching_write(&d->patching, d->writer, new_pieces_count, d);

	/* while what is dropped is still there, its bytes can be read */
	garbage = d->old.garbage + pieces_drop_unneeded(d, true);
	SLICED_STOP("change.slices-dropped");
	if (d->old.npieces > 0)
		sliced_toast_row_delete(d->toastrel, d->old.valueid, &d->old_head);
	SLICED_STOP("change.head-deleted");
	sliced_patching_drop(&d->patching, d->toastrel);

	/* the head goes last: who finds it finds everything */
	head = (SlicedNewHead) {
		.pieces = table,
		.npieces = d->npieces,
		.inline_bytes = inline_bytes,
		.inline_len = inline_len,
		.ascii = change_known_ascii(d),
		.garbage = Max(garbage, 0),
		.patches = d->patching.table.nobjects > 0 ? &d->patching.table : NULL
	};
	sliced_writer_add_head(d->writer, d->change->valueid, &head);
	sliced_writer_stay_near(d->writer, InvalidBlockNumber);
	pfree(table);
}

uint32
sliced_change_new_bytes(const SlicedRope *rope, const SlicedPolicy *policy)
{
	SlicedChange change = {.rope = rope, .policy = policy};
	Derivation	d = {
		.change = &change,
		.old = {.valueid = rope->base.va_valueid},
		.old_size = sliced_pointer_size(&rope->base)
	};
	uint32		result;

	new_value_plan(&d);
	result = patches_are_too_many(&d) ? rope->len :
		new_pieces_len(&d) + sliced_patching_bytes(&d.patching);
	sliced_patching_free(&d.patching);
	if (d.pieces != NULL)
		pfree(d.pieces);
	return result;
}

void
sliced_change_plan(SlicedChange *change, SlicedWriter *writer, const SlicedRope *rope,
				   Oid new_id, SlicedCompression compression, const SlicedPolicy *policy)
{
	change->rope = rope;
	change->compression = compression;
	change->policy = policy;
	change->grows = sliced_rope_grows(rope) &&
		sliced_growth_prepare(&change->growth, sliced_writer_relation(writer), &rope->base);
	change->valueid = change->grows ? rope->base.va_valueid :
		OidIsValid(new_id) ? new_id : sliced_writer_new_id(writer);
}

void
sliced_change_write(SlicedChange *change, SlicedWriter *writer)
{
	Derivation	d = {
		.change = change,
		.writer = writer,
		.toastrel = sliced_writer_relation(writer)
	};

	if (change->grows)
	{
		const SlicedRun *new = &change->rope->runs[1];

		sliced_growth_write(&change->growth, writer, new->bytes, new->len, change->compression);
		return;
	}

	change_load_old(&d);
	new_value_plan(&d);
	if (change_is_better_anew(&d))
		change_write_anew(&d);
	else
		change_derive(&d);
	sliced_patching_free(&d.patching);
	sliced_layout_free(&d.old);
	if (d.pieces != NULL)
		pfree(d.pieces);
}
