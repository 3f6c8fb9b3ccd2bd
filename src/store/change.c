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
#include "base/limits.h"
#include "codec/codec.h"
#include "format/pointer.h"
#include "format/utf8.h"
#include "miscadmin.h"
#include "store/change.h"
#include "store/layout.h"
#include "store/reader.h"
#include "store/remover.h"

/* A run of the new value: new bytes (objid 0), or those of an object. */
typedef struct Part
{
	Oid			objid;
	uint32		start;			/* in the object */
	uint32		len;
	uint32		at;				/* in the new value */
} Part;

typedef struct Derivation
{
	SlicedChange *change;
	SlicedWriter *writer;
	Relation	toastrel;
	SlicedLayout old;
	SlicedPiece old_rest;
	BlockNumber old_block;		/* where its head is */
	int			nparts;
	int			maxparts;
	Part	   *parts;
} Derivation;

/* How many pieces may the value have?  Each change writes them all. */
static int
max_pieces(const SlicedChange *change)
{
	const SlicedPolicy *policy = change->policy;
	uint32		len = change->rope->len;

	if (policy->pieces == 0)
		return Min(SLICED_PIECES + len / SLICED_PIECES_EACH, SLICED_PIECES_MAX);
	return Min(policy->pieces + (policy->pieces_each == 0 ? 0 : len / policy->pieces_each),
			   Min(policy->pieces_max, SLICED_PIECES_MAX));
}

static void
load_old(Derivation *d)
{
	const struct varatt_external *base = &d->change->rope->base;
	const char *problem = "the value is missing";
	ToastScan	ts;
	SlicedRow	head;

	sliced_scan_open(&ts, d->toastrel, NULL, AccessShareLock);
	ts.visibility = SLICED_SEE_CURRENT;
	sliced_scan_seek_within(&ts, base->va_valueid, SLICED_HEAD_SEQ, SLICED_HEAD_SEQ);
	if (sliced_scan_next(&ts, ForwardScanDirection))
	{
		d->old_block = ItemPointerGetBlockNumber(&ts.tid);
		problem = sliced_row_decode(&head, ts.data, ts.len, ts.objid, ts.seq);
		if (problem == NULL && head.kind != SLICED_ROW_HEAD)
			problem = "the head is missing";
		if (problem == NULL)
			problem = sliced_layout_load(&d->old, &ts, &head);
	}
	sliced_scan_close(&ts, AccessShareLock);
	if (problem != NULL)
		sliced_report_corruption(d->toastrel, base->va_valueid, 0, problem);
	d->old_rest = sliced_layout_rest(&d->old, sliced_pointer_size(base));
}

static void
add_part(Derivation *d, Oid objid, uint32 start, uint32 len, uint32 at)
{
	Part	   *last = d->nparts > 0 ? &d->parts[d->nparts - 1] : NULL;

	if (len == 0)
		return;
	if (last != NULL && last->objid == objid && (objid == 0 || last->start + last->len == start))
	{
		last->len += len;
		return;
	}
	if (d->nparts == d->maxparts)
	{
		d->maxparts = d->maxparts == 0 ? 16 : d->maxparts * 2;
		d->parts = d->parts == NULL ? palloc(d->maxparts * sizeof(Part)) :
			repalloc(d->parts, d->maxparts * sizeof(Part));
	}
	d->parts[d->nparts++] = (Part) {objid, start, len, at};
}

/* Add bytes [start, start + len) of the old value as parts of its objects. */
static void
add_old_bytes(Derivation *d, uint32 start, uint32 len, uint32 at)
{
	uint32		pos = 0;

	for (int i = 0; i <= d->old.npieces && len > 0; i++)
	{
		SlicedPiece piece = i < d->old.npieces ? d->old.pieces[i] : d->old_rest;

		if (start - pos < piece.len)
		{
			uint32		skip = start - pos;
			uint32		n = Min(len, piece.len - skip);

			add_part(d, piece.objid, piece.objid == 0 ? 0 : piece.start + skip, n, at);
			start += n;
			len -= n;
			at += n;
		}
		pos += piece.len;
	}
}

static void
find_parts(Derivation *d)
{
	const SlicedRope *rope = d->change->rope;
	uint32		at = 0;

	for (int i = 0; i < rope->nruns; i++)
	{
		const SlicedRun *run = &rope->runs[i];

		if (run->bytes != NULL)
			add_part(d, 0, 0, run->len, at);
		else
			add_old_bytes(d, run->start, run->len, at);
		at += run->len;
	}
}

/* Rebuild the list of parts without those that were emptied, joining neighbours. */
static void
tidy_parts(Derivation *d)
{
	int			n = d->nparts;

	d->nparts = 0;
	for (int i = 0; i < n; i++)
	{
		Part		part = d->parts[i];

		add_part(d, part.objid, part.start, part.len, part.at);
	}
}

/* What copying a part costs. */
static inline uint64
copy_cost(const Part *part)
{
	return part->objid == 0 ? 0 : part->len;
}

/* Copy parts that are not worth an entry of their own. */
static void
limit_parts(Derivation *d)
{
	int			limit = max_pieces(d->change);

	for (int i = 1; i + 1 < d->nparts; i++)
		if (d->parts[i].len <= SLICED_TINY_PIECE &&
			(d->parts[i - 1].objid == 0 || d->parts[i + 1].objid == 0))
			d->parts[i].objid = 0;
	tidy_parts(d);

	if (d->nparts <= limit)
		return;
	/* choosing takes time that is quadratic in their number */
	for (uint32 short_one = 2 * SLICED_TINY_PIECE; d->nparts > 4 * limit; short_one *= 2)
	{
		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < d->nparts; i++)
			if (d->parts[i].len <= short_one)
				d->parts[i].objid = 0;
		tidy_parts(d);
	}
	while (d->nparts > limit / 4 * 3)
	{
		int			best = 0;
		uint64		least = PG_UINT64_MAX;

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i + 1 < d->nparts; i++)
		{
			uint64		cost = copy_cost(&d->parts[i]) + copy_cost(&d->parts[i + 1]);

			if (cost < least)
			{
				least = cost;
				best = i;
			}
		}
		d->parts[best].objid = d->parts[best + 1].objid = 0;
		tidy_parts(d);
	}
}

static bool
some_part_needs(Derivation *d, Oid objid, uint32 start, uint32 end)
{
	for (int i = 0; i < d->nparts; i++)
		if (d->parts[i].objid == objid && d->parts[i].start < end &&
			d->parts[i].start + d->parts[i].len > start)
			return true;
	return false;
}

/* The offset at which the slice with byte 'pos' of the object begins. */
static int32
seq_of_slice(ToastScan *ts, Oid objid, uint32 pos)
{
	SlicedRow	row;

	sliced_scan_seek(ts, objid, pos, BackwardScanDirection);
	while (sliced_scan_next(ts, BackwardScanDirection))
		if (sliced_row_decode(&row, ts->data, ts->len, objid, ts->seq) == NULL &&
			row.kind != SLICED_ROW_CONTINUATION)
			return ts->seq;
	return SLICED_HEAD_SEQ;
}

/*
 * Bytes [start, end) of the object have been dropped: delete the slices that no
 * part needs.  If no part is of this object, delete all that is left of it,
 * damaged rows too.  Returns how many raw bytes the slices had.
 */
static uint32
free_slices(Derivation *d, Oid objid, uint32 start, uint32 end)
{
	bool		all = !some_part_needs(d, objid, 0, PG_UINT32_MAX);
	uint32		freed = 0;
	ToastScan	ts;

	if (all)
	{
		start = 0;
		end = PG_UINT32_MAX;
	}
	sliced_scan_open(&ts, d->toastrel, NULL, RowExclusiveLock);
	ts.visibility = SLICED_SEE_CURRENT;
	sliced_scan_seek(&ts, objid, all ? SLICED_HEAD_SEQ : seq_of_slice(&ts, objid, start),
					 ForwardScanDirection);
	while (sliced_scan_next(&ts, ForwardScanDirection))
	{
		SlicedRow	row;
		uint32		from = Max(ts.seq, 0);

		CHECK_FOR_INTERRUPTS();
		if (sliced_row_decode(&row, ts.data, ts.len, objid, ts.seq) != NULL)
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
		if (from + row.rawlen <= start || some_part_needs(d, objid, from, from + row.rawlen))
			continue;
		if (row.kind != SLICED_ROW_CONTINUATION)
			freed += row.rawlen;
		sliced_toast_row_delete(d->toastrel, objid, &ts.tid);
	}
	sliced_scan_close(&ts, NoLock);
	return freed;
}

/*
 * Go through the bytes of 'old', a piece of the old value, that no part needs.
 * Returns how many more bytes of garbage they make; without 'delete', how many at
 * most: of a long run, all slices but those at its ends can be deleted.
 */
static int64
drop_unneeded(Derivation *d, const SlicedPiece *old, bool delete)
{
	uint32		pos = old->start;
	uint32		end = old->start + old->len;
	int64		dropped = 0;

	while (pos < end)
	{
		uint32		next = end;		/* where the next part begins that has something */
		bool		skip = false;

		for (int i = 0; i < d->nparts; i++)
		{
			Part	   *part = &d->parts[i];

			if (part->objid != old->objid || part->start + part->len <= pos)
				continue;
			if (part->start <= pos)
			{
				pos = Min(end, part->start + part->len);
				skip = true;
				break;
			}
			next = Min(next, part->start);
		}
		if (skip)
			continue;
		if (delete)
			dropped += (int64) (next - pos) - free_slices(d, old->objid, pos, next);
		else
			dropped += Min(next - pos, 2 * SLICED_SLICE_USUAL);
		pos = next;
	}
	return dropped;
}

static int64
drop_all_unneeded(Derivation *d, bool delete)
{
	int64		dropped = 0;

	for (int i = 0; i <= d->old.npieces; i++)
	{
		SlicedPiece *piece = i < d->old.npieces ? &d->old.pieces[i] : &d->old_rest;

		if (piece->objid != 0)
			dropped += drop_unneeded(d, piece, delete);
	}
	return dropped;
}

static uint32
new_bytes(Derivation *d)
{
	uint32		result = 0;

	for (int i = 0; i < d->nparts; i++)
		if (d->parts[i].objid == 0)
			result += d->parts[i].len;
	return result;
}

/* Is the old value not worth being shared? */
static bool
better_anew(Derivation *d)
{
	uint32		len = d->change->rope->len;

	return len < SLICED_WORTH_SHARING || new_bytes(d) > len / 4 * 3 ||
		d->old.garbage + drop_all_unneeded(d, false) > (uint64) len / 2 + SLICED_GARBAGE_MIN;
}

static void
write_anew(Derivation *d)
{
	const SlicedRope *rope = d->change->rope;
	char	   *raw = MemoryContextAllocHuge(CurrentMemoryContext, rope->len + 1);
	SlicedDraft draft;

	sliced_rope_read(rope, d->toastrel, 0, rope->len, raw);
	sliced_draft_final(&draft, raw, rope->len, d->change->codec, d->change->policy);
	sliced_writer_add(d->writer, d->change->valueid, &draft);
	sliced_writer_flush(d->writer);
	sliced_value_delete(d->toastrel, rope->base.va_valueid, false);
	pfree(raw);
}

/*
 * Write the parts that are new, and make the piece table of all.  Returns the
 * length of the inline bytes.
 */
static uint32
write_new_bytes(Derivation *d, SlicedPiece *pieces, char *inline_bytes)
{
	SlicedChange *change = d->change;
	uint32		inline_len = 0;
	uint64		own_len = 0;
	uint32		own_done = 0;
	char	   *own;

	for (int i = 0; i < d->nparts; i++)
	{
		Part	   *part = &d->parts[i];
		SlicedPiece *piece = &pieces[i];

		*piece = (SlicedPiece) {part->objid, part->start, part->len};
		if (part->objid != 0)
			continue;
		if (inline_len + part->len <= SLICED_INLINE_REGION)
		{
			piece->start = inline_len;
			sliced_rope_read(change->rope, d->toastrel, part->at, part->len,
							 inline_bytes + inline_len);
			inline_len += part->len;
		}
		else
		{
			piece->objid = change->valueid;
			piece->start = SLICED_OWN_START + own_len;
			own_len += part->len;
		}
	}
	if (own_len == 0)
		return inline_len;

	own = MemoryContextAllocHuge(CurrentMemoryContext, own_len);
	for (int i = 0; i < d->nparts; i++)
		if (pieces[i].objid == change->valueid)
		{
			sliced_rope_read(change->rope, d->toastrel, d->parts[i].at, d->parts[i].len,
							 own + own_done);
			own_done += d->parts[i].len;
		}
	sliced_writer_add_slices(d->writer, change->valueid, SLICED_OWN_START, own, own_len,
							 change->codec);
	pfree(own);
	return inline_len;
}

/* How many leading bytes of the new value are known to be characters of one byte? */
static uint32
known_ascii(Derivation *d)
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
derive(Derivation *d)
{
	SlicedPiece *pieces = palloc(d->nparts * sizeof(SlicedPiece));
	char		inline_bytes[SLICED_INLINE_REGION];
	uint32		inline_len;
	int64		garbage;

	/* this page is written anyway: another one may cost a full page of WAL */
	sliced_writer_stay_near(d->writer, d->old_block);
	inline_len = write_new_bytes(d, pieces, inline_bytes);

	/* while what is dropped is still there, its bytes can be read */
	garbage = d->old.garbage + drop_all_unneeded(d, true);
	if (d->old.npieces > 0)
		sliced_value_delete_head(d->toastrel, d->old.valueid);

	/* the head goes last: who finds it finds everything */
	sliced_writer_add_head(d->writer, d->change->valueid, pieces, d->nparts,
						   inline_bytes, inline_len, known_ascii(d), Max(garbage, 0));
	sliced_writer_stay_near(d->writer, InvalidBlockNumber);
	pfree(pieces);
}

uint32
sliced_change_new_bytes(const SlicedRope *rope, const SlicedPolicy *policy)
{
	SlicedChange change = {.rope = rope, .policy = policy};
	Derivation	d = {
		.change = &change,
		.old_rest = {rope->base.va_valueid, 0, sliced_pointer_size(&rope->base)}
	};
	uint32		result;

	find_parts(&d);
	limit_parts(&d);
	result = new_bytes(&d);
	if (d.parts != NULL)
		pfree(d.parts);
	return result;
}

void
sliced_change_plan(SlicedChange *change, SlicedWriter *writer, const SlicedRope *rope,
				   Oid new_id, int codec, const SlicedPolicy *policy)
{
	change->rope = rope;
	change->codec = codec;
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

		sliced_growth_write(&change->growth, writer, new->bytes, new->len, change->codec);
		return;
	}

	load_old(&d);
	find_parts(&d);
	limit_parts(&d);
	if (better_anew(&d))
		write_anew(&d);
	else
		derive(&d);
	sliced_layout_free(&d.old);
	if (d.parts != NULL)
		pfree(d.parts);
}
