/*
 * change.c
 *	  Stores a value as its differences from the one that it replaces.
 *
 * Growth of a value is in growth.c.  Any other change makes a new value with an id of
 * its own.  It is a tree (tree/tree.h).  The tree says what to write, mostly a few
 * nodes, and which rows no node needs any more.  If little is left of the old value,
 * the new one is written by itself.
 *
 * The new value owns the rows of the old one: no other value has them.
 */
#include "postgres.h"

#include <setjmp.h>

#include "base/counters.h"
#include "base/limits.h"
#include "base/stop.h"
#include "format/pointer.h"
#include "format/utf8.h"
#include "miscadmin.h"
#include "store/change.h"
#include "store/cursor.h"
#include "store/layout.h"
#include "store/reader.h"
#include "store/remover.h"
#include "utils/memutils.h"

static const SlicedTreeLimits limits = {
	.literals = SLICED_NODE_LITERALS,
	.leaf = SLICED_NODE_LEAF,
	.children = SLICED_NODE_CHILDREN,
	.longest = SLICED_NODE_LITERAL,
	.stored_per_leaf = SLICED_STORED_PER_LEAF,
	.small = SLICED_SMALL_EXTENT,
	.nsmall = SLICED_SMALL_EXTENTS,
	.many = SLICED_NODE_MANY
};

typedef struct Derivation
{
	SlicedChange *change;
	SlicedWriter *writer;
	ToastScan	ts;				/* over what the owner of the old value sees */
	SlicedKept	kept;
	SlicedLayout old;
	uint32		old_size;
	ItemPointerData old_head;	/* where its head is: nothing moves it before we delete it */
	SlicedTreeChange tree;
	sigjmp_buf	unreadable;		/* where planning ends if it comes upon damage */
} Derivation;

static SlicedDamage
change_load_old(Derivation *d)
{
	const struct varatt_external *base = &d->change->rope->base;
	SlicedDamage damage;
	SlicedRow	head;

	damage = sliced_head_find(&d->ts, base->va_valueid, SLICED_HEAD_SEQ, &head);
	if (damage == SLICED_SOUND)
	{
		d->old_head = d->ts.tid;
		damage = sliced_layout_load(&d->old, &d->ts, &head);
	}
	d->old_size = sliced_pointer_size(base);
	if (damage == SLICED_SOUND && d->old.total > d->old_size)
		damage = SLICED_ROOT_TOO_LONG;
	return damage;
}

/* ---- the old value as a tree ---- */

static SlicedDamage
old_node(void *arg, uint32 objid, int32 seq, ItemPointer hint, char **bytes, uint32 *size)
{
	Derivation *d = arg;

	return sliced_node_read(&d->ts, objid, seq, hint, bytes, size);
}

static void
old_locate(void *arg, uint32 objid, int32 seq, ItemPointer hint)
{
	Derivation *d = arg;

	sliced_name_find(&d->ts, objid, seq, hint);
}

static void
old_damaged(void *arg, uint32 objid, int32 seq, SlicedDamage damage)
{
	siglongjmp(((Derivation *) arg)->unreadable, 1);
}

static SlicedTreeSlice
old_slice(void *arg, uint32 objid, uint32 pos)
{
	Derivation *d = arg;
	SlicedRow	row;
	uint32		start;
	SlicedDamage damage = sliced_slice_find_nth(&d->ts, objid, pos, 0, &row, &start);

	if (damage != SLICED_SOUND)
		old_damaged(d, objid, pos, damage);
	return (SlicedTreeSlice) {.start = start, .len = row.rawlen, .stored = row.storedlen};
}

static SlicedDamage
old_read(void *arg, uint32 objid, uint32 start, uint32 len, char *dst)
{
	Derivation *d = arg;

	return sliced_objects_read(&d->kept, &d->ts, objid, start, len, dst);
}

/* Its root, with the bytes behind it in the value. */
static char *
old_root(Derivation *d, uint32 *size)
{
	const SlicedLayout *old = &d->old;
	uint32		rest = d->old_size - old->total;
	SlicedNode	node = old->node;
	char	   *root;

	if (rest == 0)
	{
		*size = old->root_size;
		return old->root;
	}
	node.children = palloc((node.nchildren + 1) * sizeof(SlicedChild));
	node.items = palloc((node.nitems + 1) * sizeof(SlicedItem));
	if (old->root != NULL)
	{
		memcpy(node.children, old->node.children, node.nchildren * sizeof(SlicedChild));
		memcpy(node.items, old->node.items, node.nitems * sizeof(SlicedItem));
	}
	node.items[node.nitems++] = (SlicedItem) {.child = node.nchildren, .len = rest};
	node.children[node.nchildren++] = (SlicedChild) {
		.kind = SLICED_CHILD_EXTENT, .objid = old->valueid, .seq = old->own, .len = rest
	};
	node.len += rest;
	*size = sliced_node_size(&node, old->valueid);
	root = palloc(*size);
	sliced_node_encode(root, &node, old->valueid);
	return root;
}

/* ---- the new value ---- */

/*
 * Plan what to write.  Returns false if there is no way, most likely because the old
 * value is damaged.  The change may replace the damaged part; if not, writing the
 * value anew comes upon it and raises the error.
 */
static bool
change_plan_tree(Derivation *d)
{
	const SlicedRope *rope = d->change->rope;
	SlicedTreeStore store = {
		.arg = d, .node = old_node, .locate = old_locate, .slice = old_slice, .read = old_read, .damaged = old_damaged
	};
	SlicedTreeRun *runs = palloc_extended((rope->nruns + 1) * sizeof(SlicedTreeRun), MCXT_ALLOC_HUGE);
	uint32		size;
	char	   *root = old_root(d, &size);

	if (sigsetjmp(d->unreadable, 0) != 0)
		return false;
	for (int i = 0; i < rope->nruns; i++)
	{
		const SlicedRun *run = &rope->runs[i];

		runs[i] = (SlicedTreeRun) {run->bytes, run->start, run->len, run->is_list, run->list};
	}
	d->tree = (SlicedTreeChange) {
		.store = &store, .limits = &limits, .objid = d->change->valueid, .own = SLICED_OWN_START
	};
	sliced_tree_change(&d->tree, root, size, d->old.valueid, runs, rope->nruns);
	return !d->tree.too_long;
}

/* The part of its bytes that the old value takes, by the slices at some places. */
static double
old_part_stored(Derivation *d)
{
	uint64		raw = 0;
	uint64		stored = 0;

	for (int i = 0; i < SLICED_STORED_SAMPLES; i++)
	{
		uint32		at = (uint64) d->old_size * (2 * i + 1) / (2 * SLICED_STORED_SAMPLES);
		SlicedPieces pieces = {0};
		SlicedRow	row;
		uint32		start;

		if (sliced_pieces_find(&pieces, &d->old, &d->ts, at, at + 1) == SLICED_SOUND &&
			pieces.n > 0 && OidIsValid(pieces.list[0].objid) &&
			sliced_slice_find_nth(&d->ts, pieces.list[0].objid, pieces.list[0].start, 0, &row,
								  &start) == SLICED_SOUND)
		{
			raw += row.rawlen;
			stored += row.storedlen;
		}
		sliced_pieces_free(&pieces);
	}
	return raw == 0 ? 1 : (double) stored / raw;
}

/*
 * True if most of the value is new, or if so many places have changed that edits take
 * more than most of the value: bytes in them are not compressed.
 */
static bool
change_is_mostly_new(Derivation *d)
{
	const SlicedRope *rope = d->change->rope;
	uint32		unshared = sliced_rope_unshared(rope);
	double		part;

	if (unshared > rope->len / 4 * 3)
		return true;
	if (rope->nruns <= SLICED_MANY_RUNS)
		return false;
	part = old_part_stored(d);
	return unshared * part + rope->nruns / 2.0 * SLICED_RUN_WORTH > rope->len * part / 4 * 3;
}

/* True if the old value is not worth sharing.  Counts why. */
static bool
change_is_better_anew(Derivation *d)
{
	SlicedCounter why;

	if (d->change->rope->len < SLICED_WORTH_SHARING)
		why = SLICED_ANEW_SHORT;
	else if (change_is_mostly_new(d))
		why = SLICED_ANEW_NEW;
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
	sliced_rope_read(rope, d->ts.toastrel, 0, rope->len, raw);
	sliced_draft_final(&draft, raw, rope->len, d->change->compression, d->change->policy);
	SLICED_STOP("change.before-anew");
	sliced_writer_add(d->writer, d->change->valueid, &draft);
	sliced_writer_flush(d->writer);
	SLICED_STOP("change.written-anew");
	sliced_value_delete(d->ts.toastrel, rope->base.va_valueid, false);
	SLICED_STOP("change.old-value-deleted");
	pfree(raw);
}

/*
 * Returns how many leading bytes of the new value are known to be characters of one
 * byte.
 */
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

/* Write the tree's new rows, children first, and delete the rows that it dropped. */
static void
change_write_tree(Derivation *d)
{
	const SlicedTreeChange *tree = &d->tree;

	sliced_count(SLICED_CHANGED, 1);
	/* this page is written anyway: another one may cost a full page of WAL */
	sliced_writer_stay_near(d->writer, ItemPointerGetBlockNumber(&d->old_head));
	for (int i = 0; i < tree->nwrites; i++)
	{
		const SlicedTreeWrite *write = &tree->writes[i];

		if (write->name.kind == SLICED_CHILD_NODE)
			sliced_writer_add_node(d->writer, tree->objid, write->name.seq, write->bytes,
								   write->size);
		else
			sliced_writer_add_slices(d->writer, tree->objid, write->name.seq, write->bytes,
									 write->size, d->change->compression);
	}
	SLICED_STOP("change.new-rows-added");
	for (int i = 0; i < tree->ndrops; i++)
		sliced_rows_delete(&d->ts, &tree->drops[i]);
	SLICED_STOP("change.rows-dropped");
	if (d->old.root != NULL)
		sliced_toast_row_delete(d->ts.toastrel, d->old.valueid, &d->old_head);
	SLICED_STOP("change.head-deleted");

	/* the head goes last: a reader that finds it finds everything */
	sliced_writer_add_head(d->writer, d->change->valueid, tree->root, tree->root_size,
						   tree->own_end, change_known_ascii(d));
	sliced_writer_stay_near(d->writer, InvalidBlockNumber);
}

static void
change_derive(SlicedChange *change, SlicedWriter *writer)
{
	Derivation *d = palloc0(sizeof(Derivation));
	SlicedDamage damage;

	d->change = change;
	d->writer = writer;
	d->kept.mcxt = CurrentMemoryContext;
	sliced_scan_open(&d->ts, sliced_writer_relation(writer), NULL, RowExclusiveLock);
	d->ts.visibility = SLICED_SEE_CURRENT;
	damage = change_load_old(d);
	if (damage != SLICED_SOUND)
		sliced_report_corruption(d->ts.toastrel, change->rope->base.va_valueid, 0, damage);
	if (!change_is_better_anew(d) && change_plan_tree(d))
		change_write_tree(d);
	else
		change_write_anew(d);
	sliced_scan_close(&d->ts, NoLock);
}

bool
sliced_change_is_worth_it(Relation toastrel, const SlicedRope *rope)
{
	SlicedChange change = {.rope = rope};
	Derivation *d;
	bool		result;

	if (rope->nruns <= SLICED_MANY_RUNS)
		return true;
	d = palloc0(sizeof(Derivation));
	d->change = &change;
	sliced_scan_open(&d->ts, toastrel, NULL, AccessShareLock);
	d->ts.visibility = SLICED_SEE_READABLE;
	/* damage is found when the change is written */
	result = change_load_old(d) != SLICED_SOUND || !change_is_mostly_new(d);
	sliced_scan_close(&d->ts, NoLock);
	pfree(d);
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
	MemoryContext mcxt;
	MemoryContext old;

	if (change->grows)
	{
		const SlicedRun *new = &change->rope->runs[1];

		sliced_growth_write(&change->growth, writer, new->bytes, new->len, change->compression);
		return;
	}
	mcxt = AllocSetContextCreate(CurrentMemoryContext, "change of a value", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(mcxt);
	change_derive(change, writer);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
}
