/*
 * walk.c
 *	  Visits all slices of a value, and reports their problems.
 *
 * Unlike the reader, it goes on after a problem and reports each once: after
 * damage it continues where the next good slice begins.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "format/pointer.h"
#include "miscadmin.h"
#include "store/cursor.h"
#include "store/layout.h"
#include "store/walk.h"

typedef struct ValueWalk
{
	ToastScan  *ts;
	const SlicedVisitor *visitor;
} ValueWalk;

static void
walk_report(ValueWalk *w, SlicedProblemKind kind, int64 offset, const char *message)
{
	w->visitor->problem(w->visitor->arg, kind, w->ts->objid, offset, message);
}

/* Report a row, or a slice, that is there at least in part. */
static void
walk_report_damage(ValueWalk *w, int64 offset, SlicedDamage damage)
{
	walk_report(w, SLICED_PROBLEM_CORRUPTED, offset, sliced_damage_text(damage));
}

/*
 * Gather a slice, try to decompress it, and show it; false if that is not possible.
 */
static bool
walk_slice(ValueWalk *w, const SlicedRow *row, uint32 start, int i, Oid objid, bool reseek)
{
	SlicedSlice slice;
	SlicedDamage damage = sliced_slice_gather(w->ts, row, start, reseek ? PG_INT32_MAX : 0, &slice);

	if (damage == SLICED_SOUND)
	{
		char	   *raw = palloc(slice.rawlen + 1);

		damage = sliced_slice_decompress(&slice, 0, slice.rawlen, raw);
		pfree(raw);
	}
	if (damage != SLICED_SOUND)
		walk_report_damage(w, start, damage);
	else
		w->visitor->slice(w->visitor->arg, i, objid, &slice);
	if (slice.buffer)
		pfree(slice.buffer);
	return damage == SLICED_SOUND;
}

/* Visit the slices in which a reader would find the bytes of the piece. */
static void
walk_as_reader(ValueWalk *w, int i, const SlicedPiece *piece)
{
	uint32		pos = piece->start;
	uint32		end = piece->start + piece->len;
	SlicedCursor cursor = {
		.ts = w->ts,
		.objid = piece->objid,
		.end = end,
		.moving = NoMovementScanDirection
	};

	while (pos < end)
	{
		SlicedRow	row;
		uint32		start;
		SlicedDamage damage = sliced_cursor_find(&cursor, pos, &row, &start);

		CHECK_FOR_INTERRUPTS();
		if (damage != SLICED_SOUND)
		{
			walk_report(w, SLICED_PROBLEM_MISSING, pos, sliced_damage_text(damage));
			return;
		}
		if (!walk_slice(w, &row, start, i, piece->objid,
						ScanDirectionIsBackward(cursor.moving)))
			return;
		if (row.continuations > 0)
			cursor.moving = ForwardScanDirection;
		pos = start + row.rawlen;
	}
}

static void
walk_object(ValueWalk *w, int i, const SlicedPiece *piece, bool whole)
{
	ToastScan  *ts = w->ts;
	uint32		pos = piece->start;
	uint32		end = piece->start + piece->len;
	bool		lost = false;	/* behind damage: where the next begins is unknown */

	if (ts->snapshot == NULL)
	{
		walk_as_reader(w, i, piece);
		return;
	}

	sliced_scan_seek(ts, piece->objid,
					 pos == 0 ? SLICED_HEAD_SEQ : sliced_slice_seq(ts, piece->objid, pos),
					 ForwardScanDirection);

	while ((pos < end || whole) && sliced_scan_next(ts, ForwardScanDirection))
	{
		SlicedRow	row;
		SlicedDamage damage = sliced_row_decode(&row, ts->data, ts->len, ts->objid, ts->seq);
		uint32		start = Max(ts->seq, 0);

		CHECK_FOR_INTERRUPTS();
		/* no reader takes it for a slice */
		if (damage == SLICED_SOUND && row.kind == SLICED_ROW_ENTRY)
			damage = SLICED_ENTRY_IMPOSSIBLE;
		if (damage != SLICED_SOUND)
		{
			if (!lost)
				walk_report_damage(w, start, damage);
			lost = true;
			continue;
		}
		if (row.kind == SLICED_ROW_HEAD && (row.root != NULL || row.rawlen == 0))
			continue;
		if (start >= end)
		{
			if (whole && !lost)
				walk_report(w, SLICED_PROBLEM_EXCESS, start, "the value ends before this slice");
			break;
		}
		if (row.kind == SLICED_ROW_CONTINUATION || (start < pos && pos > piece->start))
		{
			/* of a slice that is damaged, or not there */
			if (!lost)
				walk_report(w, SLICED_PROBLEM_OVERLAP, start, "these bytes are there twice");
			if (row.kind == SLICED_ROW_CONTINUATION || start + row.rawlen <= pos)
				continue;
		}
		if (start > pos && !lost)
			walk_report(w, SLICED_PROBLEM_MISSING, pos, sliced_damage_text(SLICED_SLICE_MISSING));
		if (!whole && (start < piece->start || start + row.rawlen > end))
			walk_report(w, SLICED_PROBLEM_OVERLAP, start, "a node has a part of this slice");
		lost = !walk_slice(w, &row, start, i, piece->objid, false);
		pos = start + row.rawlen;
	}
	if (pos < end && !lost)
		walk_report(w, SLICED_PROBLEM_MISSING, pos, sliced_damage_text(SLICED_SLICE_MISSING));
	else if (pos > end && whole)
		walk_report(w, SLICED_PROBLEM_EXCESS, end, "the value is longer than its pointer says");
}

/* ---- values with a root ---- */

/* The rows of a tree, in the order in which they were found. */
typedef struct Names
{
	int			n;
	int			room;
	SlicedTreeName *list;
} Names;

static void
names_add(void *arg, const SlicedTreeName *name)
{
	Names	   *names = arg;

	if (names->n == names->room)
	{
		names->room = Max(16, names->room * 2);
		names->list = repalloc_huge(names->list, names->room * sizeof(SlicedTreeName));
	}
	names->list[names->n++] = *name;
}

/* Nodes are before slices, and rows in their order. */
static int
compare_names(const void *a, const void *b)
{
	const SlicedTreeName *x = a;
	const SlicedTreeName *y = b;

	if (x->objid != y->objid)
		return x->objid < y->objid ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Returns the first chunk_seq behind the name's rows. */
static int32
name_end(const SlicedTreeName *name)
{
	return name->kind == SLICED_CHILD_NODE ? name->seq + 1 : name->seq + (int32) name->len;
}

static void
walk_name(ValueWalk *w, int i, const SlicedTreeName *name)
{
	w->ts->objid = name->objid;
	if (w->visitor->object)
		w->visitor->object(w->visitor->arg, name->objid);
	if (name->kind == SLICED_CHILD_EXTENT)
	{
		SlicedPiece piece = {name->objid, name->seq, name->len};

		walk_object(w, i, &piece, false);
	}
	else if (sliced_is_missing(name->damage))
		walk_report(w, SLICED_PROBLEM_MISSING, name->seq, sliced_damage_text(name->damage));
	else if (name->damage != SLICED_SOUND)
		walk_report_damage(w, name->seq, name->damage);
	else if (w->visitor->node)
		w->visitor->node(w->visitor->arg, name->objid, name->seq, name->size);
}

/*
 * Report rows of an object that none of its 'n' names, which are sorted, has.  In the
 * value's own object no name has the head, nor the rows behind the root's content.
 */
static void
walk_unnamed(ValueWalk *w, Oid objid, const SlicedTreeName *names, int n, const SlicedLayout *layout)
{
	ToastScan  *ts = w->ts;
	int			k = 0;

	sliced_scan_seek(ts, objid, SLICED_FIRST_SEQ, ForwardScanDirection);
	for (int i = 0; i + 1 < n; i++)
		if (name_end(&names[i]) > names[i + 1].seq)
			walk_report(w, SLICED_PROBLEM_OVERLAP, names[i + 1].seq, "two nodes name this row");
	while (sliced_scan_next(ts, ForwardScanDirection))
	{
		SlicedRow	row;
		int32		seq = ts->seq;

		CHECK_FOR_INTERRUPTS();
		if (sliced_row_decode(&row, ts->data, ts->len, objid, ts->seq) != SLICED_SOUND ||
			row.kind == SLICED_ROW_CONTINUATION)
			continue;
		if (objid == layout->valueid && (seq == SLICED_HEAD_SEQ || seq >= (int32) layout->own))
			continue;
		if (seq == SLICED_HEAD_SEQ && row.root == NULL)
			seq = 0;			/* the first slice */
		while (k < n && name_end(&names[k]) <= seq)
			k++;
		if (k == n || seq < names[k].seq)
			walk_report(w, SLICED_PROBLEM_EXCESS, seq, "no node of the value names this row");
	}
}

/* The same for all objects of a value. */
static void
walk_all_unnamed(ValueWalk *w, Names *names, const SlicedLayout *layout)
{
	bool		own = false;

	qsort(names->list, names->n, sizeof(SlicedTreeName), compare_names);
	for (int i = 0, next; i < names->n; i = next)
	{
		Oid			objid = names->list[i].objid;

		next = i + 1;
		while (next < names->n && names->list[next].objid == objid)
			next++;
		own |= objid == layout->valueid;
		walk_unnamed(w, objid, &names->list[i], next - i, layout);
	}
	if (!own)
		walk_unnamed(w, layout->valueid, NULL, 0, layout);
}

static void
walk_tree(ValueWalk *w, const SlicedRow *head, uint32 size)
{
	Names		names = {.list = palloc(sizeof(SlicedTreeName)), .room = 1};
	SlicedLayout layout;
	SlicedPiece rest;
	SlicedDamage damage = sliced_layout_load(&layout, w->ts, head);

	if (damage == SLICED_SOUND && layout.total > size)
		walk_report(w, SLICED_PROBLEM_POINTER, size, sliced_damage_text(SLICED_ROOT_TOO_LONG));
	if (damage != SLICED_SOUND)
	{
		walk_report_damage(w, 0, damage);
		sliced_layout_free(&layout);
		return;
	}
	if (w->visitor->node)
		w->visitor->node(w->visitor->arg, layout.valueid, SLICED_HEAD_SEQ, layout.root_size);
	sliced_layout_names(&layout, w->ts, names_add, &names);
	for (int i = 0; i < names.n; i++)
		walk_name(w, i, &names.list[i]);

	rest = (SlicedPiece) {
		layout.valueid, layout.own, size > layout.total ? size - layout.total : 0
	};
	if (w->ts->snapshot != NULL || rest.len > 0)
		walk_object(w, names.n, &rest, true);
	if (w->ts->snapshot != NULL)
		walk_all_unnamed(w, &names, &layout);
	sliced_layout_free(&layout);
	pfree(names.list);
}

/* A value in core's format consists of chunks of known lengths. */
static void
walk_chunks(ValueWalk *w, const struct varatt_external *ptr)
{
	uint32		size = VARATT_EXTERNAL_GET_EXTSIZE(*ptr);
	uint32		have = 0;
	int32		next = 0;

	sliced_scan_seek(w->ts, ptr->va_valueid, SLICED_HEAD_SEQ, ForwardScanDirection);
	while (sliced_scan_next(w->ts, ForwardScanDirection))
	{
		uint32		expected = Min(size - have, TOAST_MAX_CHUNK_SIZE);

		CHECK_FOR_INTERRUPTS();
		if (w->ts->seq != next || expected == 0)
		{
			walk_report(w, w->ts->seq > next && expected > 0 ?
						SLICED_PROBLEM_MISSING : SLICED_PROBLEM_EXCESS,
						have, "unexpected chunk number");
			return;
		}
		if (w->ts->len != expected)
		{
			walk_report(w, SLICED_PROBLEM_CORRUPTED, have, "unexpected chunk length");
			return;
		}
		have += expected;
		next++;
	}
	if (have < size)
		walk_report(w, SLICED_PROBLEM_MISSING, have, "the chunk is missing");
}

void
sliced_value_walk(ToastScan *ts, const struct varatt_external *ptr,
				  const SlicedVisitor *visitor)
{
	ValueWalk	w = {.ts = ts, .visitor = visitor};
	uint32		size = sliced_pointer_size(ptr);
	SlicedRow	head;
	SlicedDamage damage;

	if (!sliced_pointer_is_ours(ptr))
	{
		walk_chunks(&w, ptr);
		return;
	}

	damage = sliced_head_find(ts, ptr->va_valueid, PG_INT32_MAX, &head);
	if (sliced_is_missing(damage) || damage == SLICED_NOT_SLICES)
		walk_report(&w, SLICED_PROBLEM_MISSING, 0, sliced_damage_text(damage));
	else if (damage != SLICED_SOUND)
		walk_report_damage(&w, 0, damage);
	else if (head.root != NULL)
		walk_tree(&w, &head, size);
	else
	{
		SlicedPiece whole = {.objid = ptr->va_valueid, .len = size};

		walk_object(&w, 0, &whole, true);
	}
}
