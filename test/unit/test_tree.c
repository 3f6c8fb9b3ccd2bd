/*
 * test_tree.c
 *	  Tests trees of edits: random changes, compared with a plain copy of the value.
 *
 * The store is in memory.  After each change the value must be equal to the copy, and
 * each row must have one owner: the tree names exactly the rows that are there.
 */
#include "postgres.h"

#include <setjmp.h>
#include <sys/resource.h>

#ifdef __SANITIZE_ADDRESS__
extern size_t __sanitizer_get_current_allocated_bytes(void);
#define allocated() __sanitizer_get_current_allocated_bytes()
#else
#define allocated() ((size_t) 0)
#endif

#include "tree/tree.h"
#include "unit.h"

#define MAX_ROWS	200000

/* No leak check: in the server a change has a memory context. */
const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}

typedef struct Row
{
	SlicedChildKind kind;
	uint32		objid;
	int32		seq;
	uint32		len;			/* of the content */
	uint32		size;
	char	   *bytes;
	ItemPointerData place;
} Row;

static Row	rows[MAX_ROWS];
static int	nrows;
static uint32 slice_len;

static uint32 seed = 1;

static uint32
rnd(uint32 n)
{
	seed = seed * 1664525 + 1013904223;
	return n == 0 ? 0 : (uint32) (((uint64) seed * n) >> 32);
}

/* ---- the store ---- */

static Row *
find(SlicedChildKind kind, uint32 objid, int32 pos)
{
	for (int i = nrows - 1; i >= 0; i--)
	{
		Row		   *r = &rows[i];

		if (r->kind == kind && r->objid == objid &&
			(kind == SLICED_CHILD_NODE ? r->seq == pos : r->seq <= pos && pos < (int64) r->seq + r->len))
			return r;
	}
	printf("# no row of kind %d, object %u, at %d\n", kind, objid, pos);
	abort();
}

static uint64 known;				/* how often nodes were where their parents said */
static uint64 known_extents;		/* how often readers of extents knew where to look */

static void
store_locate(void *arg, uint32 objid, int32 seq, ItemPointer hint)
{
	*hint = find(seq < 0 ? SLICED_CHILD_NODE : SLICED_CHILD_EXTENT, objid, seq)->place;
}

static SlicedDamage
store_node(void *arg, uint32 objid, int32 seq, ItemPointer hint, char **bytes, uint32 *size)
{
	Row		   *r = find(SLICED_CHILD_NODE, objid, seq);

	/* a parent's hint is right, or invalid */
	check(!ItemPointerIsValid(hint) || memcmp(hint, &r->place, sizeof(r->place)) == 0);
	known += ItemPointerIsValid(hint);
	*hint = r->place;

	*size = r->size;
	*bytes = memcpy(palloc(r->size), r->bytes, r->size);
	return SLICED_SOUND;
}

static SlicedTreeSlice
store_slice(void *arg, uint32 objid, uint32 pos)
{
	Row		   *r = find(SLICED_CHILD_EXTENT, objid, pos);

	return (SlicedTreeSlice) {r->seq, r->len, r->len * 35 / 100 + 20};
}

static SlicedDamage
store_read(void *arg, uint32 objid, uint32 start, uint32 len, char *dst)
{
	while (len > 0)
	{
		Row		   *r = find(SLICED_CHILD_EXTENT, objid, start);
		uint32		n = Min(len, r->seq + r->len - start);

		memcpy(dst, r->bytes + start - r->seq, n);
		start += n;
		len -= n;
		dst += n;
	}
	return SLICED_SOUND;
}

static void
store_damaged(void *arg, uint32 objid, int32 seq, SlicedDamage damage)
{
	printf("# damage %d in object %u at %d\n", damage, objid, seq);
	abort();
}

static const SlicedTreeStore store = {
	.node = store_node, .locate = store_locate, .slice = store_slice, .read = store_read, .damaged = store_damaged
};

static void
add_row(SlicedChildKind kind, uint32 objid, int32 seq, uint32 len, const char *bytes, uint32 size)
{
	uint32		block;

	Assert(nrows < MAX_ROWS);
	rows[nrows] = (Row) {kind, objid, seq, len, size, malloc(size + 1)};
	/* ItemPointerSet() is a macro that evaluates its arguments twice */
	block = rnd(100000);
	ItemPointerSet(&rows[nrows].place, block, 1 + nrows % 200);
	memcpy(rows[nrows++].bytes, bytes, size);
}

/* Estimated WAL of a row: heap and index, at most a page's worth each. */
static uint32
wal_of(SlicedChildKind kind, uint32 size)
{
	if (kind == SLICED_CHILD_NODE)
		return size + 20 + 130;
	return size * 35 / 100 + 40 + (size * 35 / 100 / 2000 + 1) * 130;
}

static uint32
add_extent(uint32 objid, uint32 seq, const char *bytes, uint32 len)
{
	uint32		wal = 0;

	for (uint32 done = 0, n; done < len; done += n)
	{
		n = Min(slice_len, len - done);
		add_row(SLICED_CHILD_EXTENT, objid, seq + done, n, bytes + done, n);
		wal += wal_of(SLICED_CHILD_EXTENT, n);
	}
	return wal;
}

/* Drop the rows with these names, which must all be there. */
static uint32
drop_rows(const SlicedTreeName *name)
{
	uint32		done = 0;
	uint32		wal = 0;

	for (int i = 0; i < nrows && done < name->len; i++)
	{
		Row		   *r = &rows[i];

		if (r->kind != name->kind || r->objid != name->objid ||
			(r->kind == SLICED_CHILD_NODE ? r->seq != name->seq :
			 r->seq < name->seq || r->seq >= (int64) name->seq + name->len))
			continue;
		done += r->len;
		wal += 60;
		free(r->bytes);
		rows[i--] = rows[--nrows];
	}
	check(done == name->len);
	return wal;
}

/* ---- a value ---- */

typedef struct Value
{
	uint32		id;
	char	   *root;
	uint32		root_size;
	char	   *bytes;			/* as it should be */
	uint32		len;
} Value;

static uint32 last_id = 100;

/* Stores the value's bytes as one that is new. */
static void
value_store(Value *v)
{
	SlicedChild child = {.kind = SLICED_CHILD_EXTENT, .objid = ++last_id, .len = v->len};
	SlicedItem	item = {.len = v->len};
	SlicedNode	node = {.nchildren = 1, .nitems = 1, .len = v->len, .children = &child, .items = &item};

	for (int i = 0; i < nrows; i++)
		free(rows[i].bytes);
	nrows = 0;
	v->id = last_id;
	add_extent(v->id, 0, v->bytes, v->len);
	v->root_size = sliced_node_size(&node, v->id);
	v->root = malloc(v->root_size);
	sliced_node_encode(v->root, &node, v->id);
}

static void
value_make(Value *v, uint32 len)
{
	v->len = len;
	v->bytes = malloc(len + 1);
	for (uint32 i = 0; i < len; i++)
		v->bytes[i] = rnd(256);
	nrows = 0;
	value_store(v);
}

/*
 * The same for a document that is cut: all short values together, 'short_len' bytes,
 * with 'nlong' long values between them.
 */
static void
value_make_cut(Value *v, uint32 short_len, int nlong, uint32 long_len)
{
	SlicedChild *children = palloc((nlong + 1) * sizeof(SlicedChild));
	SlicedItem *items = palloc((2 * nlong + 1) * sizeof(SlicedItem));
	SlicedNode	node = {.children = children, .items = items};
	char	   *region = malloc(short_len);
	uint32		own = 1;
	uint32		done = 0;

	nrows = 0;
	v->id = ++last_id;
	v->len = short_len + nlong * long_len;
	v->bytes = malloc(v->len + 1);
	for (uint32 i = 0; i < v->len; i++)
		v->bytes[i] = rnd(256);
	children[node.nchildren++] = (SlicedChild) {.objid = v->id, .seq = own, .len = short_len};
	own += short_len;
	for (int i = 0; i <= nlong; i++)
	{
		uint32		len = i == nlong ? short_len - done : short_len / (nlong + 1);

		memcpy(region + done, v->bytes + node.len, len);
		items[node.nitems++] = (SlicedItem) {.start = done, .len = len};
		node.len += len;
		done += len;
		if (i == nlong)
			break;
		add_extent(v->id, own, v->bytes + node.len, long_len);
		items[node.nitems++] = (SlicedItem) {.child = node.nchildren, .len = long_len};
		children[node.nchildren++] = (SlicedChild) {.objid = v->id, .seq = own, .len = long_len};
		own += long_len;
		node.len += long_len;
	}
	add_extent(v->id, 1, region, short_len);
	free(region);
	v->root_size = sliced_node_size(&node, v->id);
	v->root = malloc(v->root_size);
	sliced_node_encode(v->root, &node, v->id);
}

static void
value_free(Value *v)
{
	free(v->root);
	free(v->bytes);
	for (int i = 0; i < nrows; i++)
		free(rows[i].bytes);
	nrows = 0;
}

/* Check that the value is equal to the copy. */
static void
value_check(const Value *v, uint32 start, uint32 len)
{
	static SlicedTreeWalk walk;
	SlicedTreePiece piece;
	char	   *read = malloc(len + 1);
	uint32		done = 0;

	sliced_tree_walk(&walk, &store, v->root, v->root_size, v->id, -1, start, len);
	while (sliced_tree_next(&walk, &piece))
	{
		Assert(done + piece.len <= len);
		if (piece.bytes != NULL)
			memcpy(read + done, piece.bytes, piece.len);
		else
			store_read(NULL, piece.objid, piece.start, piece.len, read + done);
		if (ItemPointerIsValid(&piece.hint))
		{
			Row		   *r = find(SLICED_CHILD_EXTENT, piece.objid, piece.slice);

			check(r->seq == piece.slice && memcmp(&r->place, &piece.hint, sizeof(r->place)) == 0);
			known_extents++;
		}
		done += piece.len;
	}
	check(walk.damage == SLICED_SOUND);
	check(done == len && memcmp(read, v->bytes + start, len) == 0);
	free(read);
}

/* A walk that is ended early leaves no memory behind. */
static void
early_end_check(const Value *v)
{
	static SlicedTreeWalk walk;
	SlicedTreePiece piece;
	size_t		before = allocated();
	uint32		start = rnd(v->len + 1);
	int			pieces = rnd(8);

	sliced_tree_walk(&walk, &store, v->root, v->root_size, v->id, -1, start, v->len - start);
	while (pieces-- > 0 && sliced_tree_next(&walk, &piece))
		;
	sliced_tree_end(&walk);
	check(allocated() == before);
}

typedef struct Shape
{
	uint64		named;			/* bytes of rows' content */
	int			nodes;
	int			depth;
	uint32		largest;		/* node */
} Shape;

static void
look_at(const char *bytes, uint32 size, uint32 objid, uint32 borrowed, int depth, Shape *s)
{
	SlicedNode	node;

	check(sliced_node_decode(&node, bytes, size, objid, borrowed) == SLICED_SOUND);
	check(size <= SLICED_NODE_MAX);
	s->depth = Max(s->depth, depth);
	s->largest = Max(s->largest, size);
	for (uint32 i = 0; i < node.nchildren; i++)
	{
		SlicedChild *c = &node.children[i];
		Row		   *r;

		if (c->kind == SLICED_CHILD_BORROWED)
			continue;
		s->named += c->len;
		r = find(c->kind, c->objid, c->seq);
		check(r->seq == c->seq);
		if (c->kind == SLICED_CHILD_NODE)
		{
			s->nodes++;
			check(r->len == c->len);
			look_at(r->bytes, r->size, r->objid, node.owns ? node.children[0].len : borrowed, depth + 1, s);
		}
		else
		{
			/* it ends where a slice ends */
			r = find(c->kind, c->objid, c->seq + c->len - 1);
			check((uint32) r->seq + r->len == c->seq + c->len);
			check(!node.owns || i > 0 || find(c->kind, c->objid, c->seq)->len == c->len);
		}
	}
	sliced_node_free(&node);
}

static void
add_name(void *arg, const SlicedTreeName *name)
{
	Shape	   *s = arg;

	check(name->damage == SLICED_SOUND);
	s->named += name->len;
	s->nodes += name->kind == SLICED_CHILD_NODE;
}

/*
 * Names are unique.  So if all named rows are there, and the sums are equal, each row
 * has exactly one owner.
 */
static Shape
owners_check(const Value *v)
{
	Shape		s = {0};
	Shape		names = {0};
	uint64		there = 0;
	SlicedNode	root;

	look_at(v->root, v->root_size, v->id, 0, 0, &s);
	check(sliced_node_decode(&root, v->root, v->root_size, v->id, 0) == SLICED_SOUND);
	sliced_tree_names(&store, &root, add_name, &names);
	check(names.named == s.named && names.nodes == s.nodes);
	sliced_node_free(&root);
	for (int i = 0; i < nrows; i++)
		there += rows[i].len;
	check(there == s.named);
	return s;
}

/* Changes that were given up, so that the value was stored as a new one. */
static int	stored_anew = 0;

/* Change the value; returns bytes of WAL. */
static uint32
value_change(Value *v, const SlicedTreeLimits *limits, const SlicedTreeRun *runs, int nruns)
{
	SlicedTreeChange change = {.store = &store, .limits = limits, .objid = ++last_id, .own = 1};
	uint32		wal;
	uint32		len = 0;
	char	   *bytes;

	sliced_tree_change(&change, v->root, v->root_size, v->id, runs, nruns);
	for (int i = 0; i < nruns; i++)
		len += runs[i].len;
	bytes = malloc(len + 1);
	len = 0;
	for (int i = 0; i < nruns; i++)
	{
		memcpy(bytes + len, runs[i].bytes != NULL ? runs[i].bytes : v->bytes + runs[i].start, runs[i].len);
		len += runs[i].len;
	}
	if (change.too_long)
	{
		free(v->root);
		free(v->bytes);
		v->bytes = bytes;
		v->len = len;
		value_store(v);
		stored_anew++;
		return len;
	}
	/* the head: new, and the old one deleted; we do not count the row's own update */
	wal = change.root_size + 32 + 130 + 60;
	for (int i = 0; i < change.nwrites; i++)
	{
		SlicedTreeWrite *w = &change.writes[i];

		if (w->name.kind == SLICED_CHILD_EXTENT)
			wal += add_extent(w->name.objid, w->name.seq, w->bytes, w->size);
		else
		{
			add_row(w->name.kind, w->name.objid, w->name.seq, w->name.len, w->bytes, w->size);
			wal += wal_of(w->name.kind, w->size);
		}
	}
	for (int i = 0; i < change.ndrops; i++)
		wal += drop_rows(&change.drops[i]);
	free(v->root);
	free(v->bytes);
	v->root = memcpy(malloc(change.root_size), change.root, change.root_size);
	v->root_size = change.root_size;
	v->id = change.objid;
	v->bytes = bytes;
	v->len = len;
	return wal;
}

/* Replace 'old' bytes by 'n' new ones. */
static uint32
value_splice(Value *v, const SlicedTreeLimits *limits, uint32 at, uint32 old, uint32 n)
{
	SlicedTreeRun runs[3];
	int			nruns = 0;
	char	   *new = palloc(n + 1);

	for (uint32 i = 0; i < n; i++)
		new[i] = rnd(256);
	if (at > 0)
		runs[nruns++] = (SlicedTreeRun) {NULL, 0, at};
	if (n > 0)
		runs[nruns++] = (SlicedTreeRun) {new, 0, n};
	if (at + old < v->len)
		runs[nruns++] = (SlicedTreeRun) {NULL, at + old, v->len - at - old};
	return value_change(v, limits, runs, nruns);
}

/* ---- tests ---- */

static const SlicedTreeLimits tiny = {
	.literals = 24, .leaf = 80, .children = 4, .longest = 20, .stored_per_leaf = 40, .small = 30, .nsmall = 4, .many = 20
};

static const SlicedTreeLimits usual = {
	.literals = 200, .leaf = 1000, .children = 16, .longest = 256, .stored_per_leaf = 4096, .small = 8192, .nsmall = 6, .many = 512
};

static void
random_changes(void)
{
	for (int round = 0; round < 60; round++)
	{
		Value		v;

		slice_len = 64 << rnd(4);
		if (round % 2 == 0)
			value_make(&v, 500 + rnd(6000));
		else
			value_make_cut(&v, 60 + rnd(900), 1 + rnd(12), 20 + rnd(800));
		for (int i = 0; i < 150; i++)
		{
			uint32		at = rnd(v.len + 1);
			uint32		old = rnd(rnd(8) == 0 ? v.len / 2 : 12);
			uint32		n = rnd(rnd(10) == 0 ? 900 : 12);

			old = Min(old, v.len - at);

			if (v.len - old + n == 0)
				continue;
			value_splice(&v, &tiny, at, old, n);
			value_check(&v, 0, v.len);
			at = rnd(v.len);
			value_check(&v, at, rnd(v.len - at + 1));
			owners_check(&v);
			if (v.len < 100)
				value_splice(&v, &tiny, rnd(v.len), 0, 3000);
			if (unit_failed_here)
			{
				printf("# round %d, change %d\n", round, i);
				return;
			}
		}
		value_free(&v);
	}
}

/*
 * Changes at one place make nodes of slices between those of other slices, one below the
 * other.  A value that would get too deep for readers is stored anew, and that is rare.
 */
static void
changes_at_one_place(void)
{
	/* none of the tests before */
	check(stored_anew == 0);
	for (int round = 0; round < 12; round++)
	{
		const uint32 lengths[] = {8, 20, 32};
		const int	nchanges = 600;
		int			depth = 0;
		int			before = stored_anew;
		Value		v;

		slice_len = 256;
		value_make(&v, 9600);
		for (int i = 0; i < nchanges; i++)
		{
			const uint32 places[] = {v.len, 0, v.len - 10, v.len / 2};

			value_splice(&v, &tiny, places[round % 4], 0, lengths[round / 4]);
			value_check(&v, 0, v.len);
			depth = Max(depth, owners_check(&v).depth);
		}
		check(depth + 1 < SLICED_TREE_DEPTH);
		check(stored_anew - before <= nchanges / 50);
		if (unit_failed_here)
		{
			printf("# round %d: depth %d, %d times stored anew\n", round, depth, stored_anew - before);
			return;
		}
		value_free(&v);
	}
	stored_anew = 0;
}

/* Many edits in one change; some of them are undone. */
static void
many_edits(void)
{
	for (int round = 0; round < 60; round++)
	{
		Value		v;

		slice_len = 64 << rnd(4);
		value_make(&v, 3000 + rnd(6000));
		for (int i = 0; i < 12; i++)
		{
			SlicedTreeRun runs[400];
			int			n = 0;
			uint32		pos = 0;

			while (pos < v.len && n < 390)
			{
				uint32		len = 1 + rnd(40);
				uint32		left_out = rnd(3) == 0 ? rnd(30) : 0;

				pos = Min(pos + left_out, v.len - 1);
				if (rnd(2) == 0)
					runs[n++] = (SlicedTreeRun) {"new bytes of this and that length", 0, 1 + rnd(33)};
				runs[n++] = (SlicedTreeRun) {NULL, pos, Min(len, v.len - pos)};
				if (rnd(20) == 0)
					runs[n++] = (SlicedTreeRun) {NULL, rnd(pos + 1), 1};
				pos += len;
			}
			if (pos < v.len)
				runs[n++] = (SlicedTreeRun) {NULL, pos, v.len - pos};
			value_change(&v, &tiny, runs, n);
			value_check(&v, 0, v.len);
			owners_check(&v);
			if (unit_failed_here)
			{
				printf("# round %d, change %d\n", round, i);
				return;
			}
		}
		value_free(&v);
	}
}

/*
 * Edit each line of a long value: the cost grows with its length, not with its
 * square.
 */
static void
many_edits_of_long_value(void)
{
	const uint32 line = 150;
	SlicedTreeRun *runs;
	struct rusage usage;
	Value		v;
	int			n = 0;

	slice_len = 2000;
	value_make(&v, 2000000);
	runs = palloc((2 * v.len / line + 2) * sizeof(SlicedTreeRun));
	for (uint32 pos = 0; pos < v.len; pos += line)
	{
		runs[n++] = (SlicedTreeRun) {NULL, pos, Min(line - 1, v.len - pos)};
		if (pos + line <= v.len)
			runs[n++] = (SlicedTreeRun) {"y", 0, 1};
	}
	value_change(&v, &usual, runs, n);
	value_check(&v, 0, v.len);
	owners_check(&v);
	value_free(&v);
	getrusage(RUSAGE_SELF, &usage);
	check(usage.ru_maxrss < 1000000);
}

/* ---- lists that move ---- */

#define LIST_AT		8			/* where it begins in the value */
#define MAX_WORDS	4000

typedef struct MovingList
{
	uint32		n;
	uint32		lengths[MAX_WORDS];
	uint32		types[MAX_WORDS];
} MovingList;

static char *
list_encode(const MovingList *list)
{
	char	   *bytes = palloc(MAX_WORDS * sizeof(SlicedListWord));
	uint32		end = 0;

	for (uint32 i = 0; i < list->n; i++)
	{
		SlicedListWord word;

		end += list->lengths[i];
		word = list->types[i] << 28 | (i % 32 == 0 ? SLICED_LIST_END | end : list->lengths[i]);
		memcpy(bytes + i * sizeof(word), &word, sizeof(word));
	}
	return bytes;
}

/* Replace 'old' words from number 'at' on by 'new' others. */
static void
list_splice(MovingList *list, uint32 at, uint32 old, uint32 new)
{
	memmove(list->lengths + at + new, list->lengths + at + old, (list->n - at - old) * sizeof(uint32));
	memmove(list->types + at + new, list->types + at + old, (list->n - at - old) * sizeof(uint32));
	list->n += new - old;
	for (uint32 i = at; i < at + new; i++)
	{
		list->lengths[i] = rnd(200);
		list->types[i] = rnd(8);
	}
}

static uint32
list_end(const MovingList *list, uint32 n)
{
	uint32		end = 0;

	for (uint32 i = 0; i < n; i++)
		end += list->lengths[i];
	return end;
}

/* A value of some bytes, the list, and other bytes. */
static void
list_value_make(Value *v, MovingList *list, uint32 n, uint32 behind)
{
	list->n = 0;
	list_splice(list, 0, 0, n);
	value_make(v, LIST_AT + n * sizeof(SlicedListWord) + behind);
	nrows = 0;
	memcpy(v->bytes + LIST_AT, list_encode(list), n * sizeof(SlicedListWord));
	add_extent(v->id, 0, v->bytes, v->len);
}

/*
 * Describe the list's words as runs of those at byte 'old' of the value, where equal.
 */
static int
list_runs(const Value *v, SlicedTreeRun *runs, const char *words, uint32 len, uint32 old)
{
	int			nruns = 0;

	for (uint32 i = 0, same; i < len; i += same)
	{
		for (same = 0; i + same < len && memcmp(words + i + same, v->bytes + old + i + same, 4) == 0; same += 4)
			;
		if (same > 0)
			runs[nruns++] = (SlicedTreeRun) {.start = old + i, .len = same};
		else
		{
			runs[nruns++] = (SlicedTreeRun) {.bytes = words + i, .len = 4};
			same = 4;
		}
	}
	return nruns;
}

/*
 * Change some words, and now and then something after the list.  The words behind the
 * change move as one run, or word by word.
 */
static uint32
list_change(Value *v, const SlicedTreeLimits *limits, MovingList *list, uint32 at, uint32 old, uint32 new,
			bool as_one)
{
	static SlicedTreeRun runs[MAX_WORDS + 6];
	int			nruns = 0;
	uint32		behind = LIST_AT + list->n * sizeof(SlicedListWord);
	uint32		end = list_end(list, at + old);
	uint32		left_out = rnd(3) == 0 ? rnd(9) : 0;
	uint32		rest = LIST_AT + (at + old) * sizeof(SlicedListWord);
	char	   *words;

	left_out = Min(left_out, v->len - behind);
	list_splice(list, at, old, new);
	words = list_encode(list);
	runs[nruns++] = (SlicedTreeRun) {.len = LIST_AT + at * sizeof(SlicedListWord)};
	if (new > 0)
		runs[nruns++] = (SlicedTreeRun) {
			.bytes = words + at * sizeof(SlicedListWord), .len = new * sizeof(SlicedListWord)
		};
	if (!as_one)
		nruns += list_runs(v, runs + nruns, words + (at + new) * sizeof(SlicedListWord), behind - rest, rest);
	else if (rest < behind)
		runs[nruns++] = (SlicedTreeRun) {
			.bytes = words + (at + new) * sizeof(SlicedListWord), .start = rest, .len = behind - rest,
			.is_list = true, .list = {
				end, (list_end(list, at + new) - end) & SLICED_LIST_BITS, (at + new) % SLICED_LIST_STRIDE
			}
		};
	if (rnd(4) == 0)
		runs[nruns++] = (SlicedTreeRun) {.bytes = "what is new behind it", .len = 1 + rnd(21)};
	if (behind + left_out < v->len)
		runs[nruns++] = (SlicedTreeRun) {.start = behind + left_out, .len = v->len - behind - left_out};
	return value_change(v, limits, runs, nruns);
}

/* One value gets longer and another shorter: the end in a word between them stays. */
static void
list_change_two(Value *v, MovingList *list)
{
	static SlicedTreeRun runs[MAX_WORDS + 2];
	uint32		behind = LIST_AT + list->n * sizeof(SlicedListWord);
	uint32		end = rnd(list->n / SLICED_LIST_STRIDE) * SLICED_LIST_STRIDE + SLICED_LIST_STRIDE;
	uint32		longer = end - 1 - rnd(SLICED_LIST_STRIDE - 1);
	uint32		by = rnd(20);
	int			nruns = 0;

	if (end >= list->n || list->lengths[end] < by)
		return;
	list->lengths[longer] += by;
	list->lengths[end] -= by;
	runs[nruns++] = (SlicedTreeRun) {.len = LIST_AT};
	nruns += list_runs(v, runs + nruns, list_encode(list), behind - LIST_AT, LIST_AT);
	if (behind < v->len)
		runs[nruns++] = (SlicedTreeRun) {.start = behind, .len = v->len - behind};
	value_change(v, &tiny, runs, nruns);
}

static void
lists_move(void)
{
	static MovingList list;

	for (int round = 0; round < 60; round++)
	{
		Value		v;

		/* some slices end within a word */
		slice_len = (64 << rnd(4)) + rnd(3);
		list_value_make(&v, &list, rnd(700), 400 + rnd(3000));
		for (int i = 0; i < 150; i++)
		{
			uint32		at = rnd(list.n + 1);
			uint32		old = rnd(rnd(10) == 0 ? 200 : 3);
			uint32		new = rnd(rnd(10) == 0 ? 200 : 3);

			old = Min(old, list.n - at);
			new = Min(new, MAX_WORDS - list.n);
			list_change(&v, &tiny, &list, at, old, new, rnd(4) > 0);
			list_change_two(&v, &list);
			value_check(&v, 0, v.len);
			for (int k = 0; k < 4; k++)
			{
				at = rnd(v.len);
				value_check(&v, at, rnd(rnd(2) == 0 ? 40 : v.len - at + 1) % (v.len - at + 1));
			}
			early_end_check(&v);
			owners_check(&v);
			if (unit_failed_here)
			{
				printf("# round %d, change %d\n", round, i);
				return;
			}
		}
		value_free(&v);
	}
}

/* A list goes before bytes that were in front of it. */
static void
lists_go_back(void)
{
	static MovingList list;

	for (uint32 n = 1; n < 200; n += 9)
	{
		Value		v;
		char	   *words;
		SlicedTreeRun runs[2];

		slice_len = 256;
		list_value_make(&v, &list, n, 300);
		words = list_encode(&list);
		runs[0] = (SlicedTreeRun) {.start = LIST_AT + n * sizeof(SlicedListWord), .len = 300};
		runs[1] = (SlicedTreeRun) {
			.bytes = words, .start = LIST_AT, .len = n * sizeof(SlicedListWord), .is_list = true
		};
		value_change(&v, &tiny, runs, 2);
		value_check(&v, 0, v.len);
		owners_check(&v);
		value_free(&v);
	}
}

/* The cost depends neither on the place of the change nor on the list's length. */
static void
lists_move_cheaply(void)
{
	static MovingList list;
	Value		v;
	uint64		wal = 0;

	slice_len = 8 * 1024;
	list_value_make(&v, &list, 3000, 500 * 1000);
	for (int i = 0; i < 1000; i++)
	{
		uint32		at = rnd(list.n);

		wal += list_change(&v, &usual, &list, at, rnd(2), 1, true);
		if (list.n > MAX_WORDS - 10)
			list_change(&v, &usual, &list, 0, 900, 0, true);
	}
	value_check(&v, 0, v.len);
	owners_check(&v);
	check(wal / 1000 < 900);
	value_free(&v);
}

/*
 * Slices that are no longer needed go.  If little of a slice is needed, that is
 * copied.
 */
static void
gaps_are_freed(void)
{
	Value		v;

	slice_len = 64;
	value_make(&v, 6400);
	value_splice(&v, &tiny, 1000, 4000, 0);
	value_check(&v, 0, v.len);
	check(owners_check(&v).named < 2400 + 2 * 64);
	value_splice(&v, &tiny, 0, 2350, 0);
	value_check(&v, 0, v.len);
	check(owners_check(&v).named < 50 + 64);
	value_free(&v);
}

/* A slice with very many edits is written anew. */
static void
slices_wear_out(void)
{
	Value		v;

	slice_len = 128 * 1024;
	value_make(&v, 100 * 1000);
	for (int i = 0; i < 6000; i++)
		value_splice(&v, &usual, rnd(v.len - 8), 8, 8);
	value_check(&v, 0, v.len);
	check(owners_check(&v).nodes < 30);
	value_free(&v);
}

/* Edits of a slice go to leaves, even where short slices between have edits. */
static void
owners_stay_short(void)
{
	Value		v;
	uint32		largest = 0;

	slice_len = 128 * 1024;
	value_make(&v, 400 * 1000);
	for (int i = 0; i < 20; i++)
		value_splice(&v, &usual, rnd(slice_len), 8, 9);
	value_splice(&v, &usual, 60 * 1000, 0, 800);
	for (int i = 0; i < 6; i++)
		value_splice(&v, &usual, 60 * 1000 + rnd(790), 8, 9);
	for (int i = 0; i < 300; i++)
	{
		value_splice(&v, &usual, rnd(slice_len), 8, 9);
		largest = Max(largest, owners_check(&v).largest);
	}
	value_check(&v, 0, v.len);
	check(largest < usual.leaf * 3 / 2);
	value_free(&v);
}

/* All bytes of the slice that the root owns are replaced, and those between them stay. */
static void
slice_is_replaced(void)
{
	char		new[40];
	SlicedTreeRun runs[] = {
		{.bytes = new, .len = 40}, {.start = 20, .len = 40}, {.bytes = new, .len = 40}, {.start = 80, .len = 40},
		{.bytes = new, .len = 40}
	};
	Value		v;

	memset(new, 'x', sizeof(new));
	slice_len = 128;
	value_make(&v, 100);
	value_splice(&v, &tiny, 20, 0, 40);
	value_splice(&v, &tiny, 80, 0, 40);
	value_change(&v, &tiny, runs, lengthof(runs));
	value_check(&v, 0, v.len);
	owners_check(&v);
	value_splice(&v, &tiny, 30, 5, 9);
	value_check(&v, 0, v.len);
	owners_check(&v);
	value_free(&v);
}

/* The bytes between long values are written anew without these. */
static void
long_values_stay(void)
{
	Value		v;
	uint32		most = 0;
	uint64		all = 0;

	slice_len = 128 * 1024;
	value_make_cut(&v, 60 * 1000, 30, 100 * 1000);
	for (int i = 0; i < 3000; i++)
	{
		uint32		at = rnd(2) == 0 ? rnd(1000) : rnd(v.len - 8);
		uint32		wal = value_splice(&v, &usual, at, 8, 9);

		most = Max(most, wal);
		all += wal;
	}
	check(all / 3000 < 1500);
	value_check(&v, 0, v.len);
	owners_check(&v);
	/* a slice or two, compressed, and nodes */
	check(most < 150 * 1000);
	value_free(&v);
}

/* A value that begins as one slice, with edits of it, grows to a thousand. */
static void
values_grow(void)
{
	Value		v;

	slice_len = 128 * 1024;
	value_make(&v, 50 * 1000);
	for (int i = 0; i < 200; i++)
	{
		value_splice(&v, &usual, v.len, 0, 9000);
		value_splice(&v, &usual, rnd(v.len - 8), 8, 8);
		check(v.root_size < 1500);
	}
	value_check(&v, 0, v.len);
	check(owners_check(&v).depth <= 5);
	value_free(&v);
}

/* A node has unknown places only of what its last change has written. */
static void
places_are_known(void)
{
	Value		v;
	Shape		shape;

	slice_len = 128 * 1024;
	value_make(&v, 2000 * 1000);
	for (int i = 0; i < 3000; i++)
		value_splice(&v, &usual, rnd(v.len - 8), 8, i % 30 == 0 ? 300 : 9);
	known = known_extents = 0;
	shape = owners_check(&v);
	value_check(&v, 0, v.len);
	check(known > shape.nodes * 3 / 4);
	check(known_extents > 50);
	value_free(&v);
}

/* ---- damage ---- */

typedef enum Harm
{
	NODE_MISSING,
	NODE_CUT_OFF,
	NODE_OF_OTHER_LENGTH,
	NODE_WITHIN_ITSELF,
	NO_HARM,
	SLICES_MISSING,
	SLICE_LATE,
	SLICE_EARLY,
	SLICE_EMPTY,
	SLICE_TOO_LONG
} Harm;

static Harm harm;
static uint32 harmed_objid;
static int32 harmed_seq;
static uint32 harmed_from;		/* slices that begin before that are sound */
static jmp_buf found_damage;
static SlicedDamage damage_found;

/* A node of one item: some bytes, or all of a child. */
static char *
small_node(const Row *r, SlicedChild *child, uint32 len, uint32 *size)
{
	SlicedItem	item = {.bytes = child == NULL ? "bytes of a node that is too short" : NULL, .len = len};
	SlicedNode	node = {.nchildren = child != NULL, .nitems = 1, .len = len, .children = child, .items = &item};
	char	   *bytes;

	*size = sliced_node_size(&node, r->objid);
	bytes = palloc(*size);
	sliced_node_encode(bytes, &node, r->objid);
	return bytes;
}

static SlicedDamage
harmed_node(void *arg, uint32 objid, int32 seq, ItemPointer hint, char **bytes, uint32 *size)
{
	Row		   *r = find(SLICED_CHILD_NODE, objid, seq);
	SlicedChild itself = {.kind = SLICED_CHILD_NODE, .height = 1, .objid = objid, .seq = seq, .len = r->len};
	SlicedDamage damage = store_node(arg, objid, seq, hint, bytes, size);

	if (objid != harmed_objid || seq != harmed_seq)
		return damage;
	if (harm == NODE_MISSING)
		return SLICED_NODE_MISSING;
	if (harm == NODE_CUT_OFF)
		--*size;
	if (harm == NODE_OF_OTHER_LENGTH)
		*bytes = small_node(r, NULL, r->len == 1 ? 2 : 1, size);
	if (harm == NODE_WITHIN_ITSELF)
		*bytes = small_node(r, &itself, r->len, size);
	return SLICED_SOUND;
}

static SlicedDamage
harmed_read(void *arg, uint32 objid, uint32 start, uint32 len, char *dst)
{
	return harm == SLICES_MISSING ? SLICED_SLICE_MISSING : store_read(arg, objid, start, len, dst);
}

static SlicedTreeSlice
harmed_slice(void *arg, uint32 objid, uint32 pos)
{
	SlicedTreeSlice slice = store_slice(arg, objid, pos);

	if (slice.start < harmed_from)
		return slice;
	slice.start += harm == SLICE_LATE;
	slice.start -= harm == SLICE_EARLY;
	if (harm == SLICE_EMPTY)
		slice.len = 0;
	if (harm == SLICE_TOO_LONG)
		slice.len += 100 * 1000;
	return slice;
}

static void
harmed_damaged(void *arg, uint32 objid, int32 seq, SlicedDamage damage)
{
	damage_found = damage;
	longjmp(found_damage, 1);
}

static const SlicedTreeStore harmed_store = {
	.node = harmed_node, .locate = store_locate, .slice = harmed_slice, .read = harmed_read, .damaged = harmed_damaged
};

/* What ends a walk through the value. */
static SlicedDamage
walk_harmed(const Value *v)
{
	static SlicedTreeWalk walk;
	SlicedTreePiece piece;
	uint32		done = 0;

	sliced_tree_walk(&walk, &harmed_store, v->root, v->root_size, v->id, -1, 0, v->len);
	while (sliced_tree_next(&walk, &piece))
	{
		check(done + piece.len <= v->len);
		if (piece.bytes != NULL)
			check(memcmp(v->bytes + done, piece.bytes, piece.len) == 0);
		done += piece.len;
	}
	check(done < v->len || walk.damage == SLICED_SOUND);
	return walk.damage;
}

static SlicedDamage
change_harmed_by(const Value *v, const SlicedTreeRun *runs, int nruns)
{
	SlicedTreeChange change = {.store = &harmed_store, .limits = &tiny, .objid = v->id + 1000, .own = 1};

	damage_found = SLICED_SOUND;
	if (setjmp(found_damage) == 0)
		sliced_tree_change(&change, v->root, v->root_size, v->id, runs, nruns);
	return damage_found;
}

/* What a change finds that drops all nodes. */
static SlicedDamage
change_harmed(const Value *v)
{
	SlicedTreeRun run = {.bytes = "x", .len = 1};

	return change_harmed_by(v, &run, 1);
}

/* What a change finds that edits all slices: few edits would stay in the root. */
static SlicedDamage
edit_harmed(const Value *v)
{
	SlicedTreeRun *runs = palloc((v->len / 5 + 1) * 2 * sizeof(SlicedTreeRun));
	int			nruns = 0;

	for (uint32 at = 0; at < v->len; at += 5)
	{
		runs[nruns++] = (SlicedTreeRun) {.start = at, .len = Min(4, v->len - at)};
		if (at + 4 < v->len)
			runs[nruns++] = (SlicedTreeRun) {.bytes = "x", .len = 1};
	}
	return change_harmed_by(v, runs, nruns);
}

typedef struct NamesOfHarmed
{
	SlicedDamage damage;
	int			ndamaged;
} NamesOfHarmed;

static void
name_harmed(void *arg, const SlicedTreeName *name)
{
	NamesOfHarmed *names = arg;

	if (name->damage == SLICED_SOUND)
		return;
	check(name->objid == harmed_objid && name->seq == harmed_seq);
	names->damage = name->damage;
	names->ndamaged++;
}

/* Readers, changes and lists of names end at a damaged node, and tell of it. */
static void
nodes_are_damaged(void)
{
	for (int round = 0; round < 20; round++)
	{
		Value		v;

		slice_len = 64;
		value_make(&v, 3000);
		for (int i = 0; i < 60; i++)
			value_splice(&v, &tiny, rnd(v.len - 8), 8, 9);
		for (int i = 0; i < nrows; i++)
			if (rows[i].kind == SLICED_CHILD_NODE)
			{
				harmed_objid = rows[i].objid;
				harmed_seq = rows[i].seq;
				if (rnd(3) == 0)
					break;
			}
		for (harm = 0; harm < NO_HARM; harm++)
		{
			SlicedDamage damage = harm == NODE_MISSING ? SLICED_NODE_MISSING : SLICED_NODE_IMPOSSIBLE;
			NamesOfHarmed names = {SLICED_SOUND};
			SlicedNode	root;

			check(walk_harmed(&v) == damage);
			/* that a node is within itself is no damage for who only collects its rows */
			check(change_harmed(&v) == (harm == NODE_WITHIN_ITSELF ? SLICED_SOUND : damage));
			check(edit_harmed(&v) == damage);
			check(sliced_node_decode(&root, v.root, v.root_size, v.id, 0) == SLICED_SOUND);
			sliced_tree_names(&harmed_store, &root, name_harmed, &names);
			check(names.damage == (harm == NODE_WITHIN_ITSELF ? SLICED_SOUND : damage));
			check(harm == NODE_WITHIN_ITSELF || names.ndamaged > 0);
			sliced_node_free(&root);
		}
		check(walk_harmed(&v) == SLICED_SOUND);
		check(edit_harmed(&v) == SLICED_SOUND);
		value_free(&v);
	}
}

/* Each node has another one below it, and none is the last. */
static SlicedDamage
bottomless_node(void *arg, uint32 objid, int32 seq, ItemPointer hint, char **bytes, uint32 *size)
{
	Row			row = {.objid = objid};
	SlicedChild next = {.kind = SLICED_CHILD_NODE, .height = 1, .objid = objid, .seq = seq - 1, .len = 100};

	*bytes = small_node(&row, &next, 100, size);
	return SLICED_SOUND;
}

static void
count_name(void *arg, const SlicedTreeName *name)
{
	int		   *n = arg;

	check(name->damage == (++*n < SLICED_TREE_DEPTH ? SLICED_SOUND : SLICED_NODE_IMPOSSIBLE));
}

/* A list of names ends where a tree gets deeper than any. */
static void
trees_are_too_deep(void)
{
	const SlicedTreeStore bottomless = {.node = bottomless_node};
	ItemPointerData nowhere;
	SlicedNode	root;
	char	   *bytes;
	uint32		size;
	int			n = 0;

	ItemPointerSetInvalid(&nowhere);
	bottomless_node(NULL, 1, -1, &nowhere, &bytes, &size);
	check(sliced_node_decode(&root, bytes, size, 1, 0) == SLICED_SOUND);
	sliced_tree_names(&bottomless, &root, count_name, &n);
	check(n == SLICED_TREE_DEPTH);
	sliced_node_free(&root);
}

/* Slices are not where a node has them. */
static void
slices_are_misplaced(void)
{
	for (int round = 0; round < 20; round++)
	{
		Value		v;

		slice_len = 64;
		harmed_objid = 0;
		value_make(&v, 1000);
		/* without edits at first */
		for (int i = 0; i < round; i++)
			value_splice(&v, &tiny, rnd(v.len - 8), 8, 9);
		for (harm = SLICE_LATE; harm <= SLICE_TOO_LONG; harm++)
			for (harmed_from = 0; harmed_from < 900; harmed_from += 300)
				check(edit_harmed(&v) == SLICED_SLICE_MISPLACED);
		harmed_from = 0;
		value_free(&v);
	}
}

/* More bytes are asked for than there are. */
static void
ranges_are_impossible(void)
{
	static SlicedTreeWalk walk;
	SlicedTreePiece piece;
	Value		v;

	slice_len = 64;
	value_make(&v, 300);
	sliced_tree_walk(&walk, &store, v.root, v.root_size, v.id, -1, 1, v.len);
	check(walk.damage == SLICED_NODE_IMPOSSIBLE && !sliced_tree_next(&walk, &piece));
	sliced_tree_walk(&walk, &store, v.root, v.root_size, v.id, -1, PG_UINT32_MAX, 2);
	check(walk.damage == SLICED_NODE_IMPOSSIBLE && !sliced_tree_next(&walk, &piece));
	sliced_tree_walk(&walk, &store, v.root, v.root_size - 1, v.id, -1, 0, v.len);
	check(walk.damage == SLICED_NODE_IMPOSSIBLE && !sliced_tree_next(&walk, &piece));
	value_free(&v);
}

/* The old words of a list that has moved are missing, or a node above them is. */
static void
lists_are_damaged(void)
{
	static MovingList list;
	int			nharmed = 0;

	for (int round = 0; round < 20; round++)
	{
		Value		v;

		slice_len = 256;
		list_value_make(&v, &list, 400 + rnd(200), 1000);
		for (int i = 0; i < 30; i++)
			list_change(&v, &tiny, &list, rnd(list.n), 0, 1, true);
		harm = SLICES_MISSING;
		harmed_objid = 0;
		check(walk_harmed(&v) == SLICED_SLICE_MISSING);
		for (int i = 0; i < nrows; i++)
			if (rows[i].kind == SLICED_CHILD_NODE)
			{
				harmed_objid = rows[i].objid;
				harmed_seq = rows[i].seq;
				harm = NODE_MISSING;
				check(walk_harmed(&v) == SLICED_NODE_MISSING);
				nharmed++;
			}
		value_free(&v);
	}
	check(nharmed > 0);
}

/* Bytes of WAL for a change, on average at most, with the limits for real use. */
static void
changes_are_cheap(void)
{
	static const struct
	{
		uint32		old;
		uint32		new;
		uint32		mean;
	}			kinds[] = {{8, 8, 1500}, {90, 100, 3500}, {0, 236, 3500}, {200, 0, 1500}};

	slice_len = 128 * 1024;
	for (uint32 len = 20 * 1000; len <= 2000 * 1000; len *= 10)
		for (int k = 0; k < lengthof(kinds); k++)
		{
			Value		v;
			uint64		wal = 0;
			uint32		n = Min(600, len / 400);
			Shape		shape;

			value_make(&v, len);
			for (uint32 i = 0; i < n; i++)
				wal += value_splice(&v, &usual, rnd(v.len - kinds[k].old), kinds[k].old, kinds[k].new);
			value_check(&v, 0, v.len);
			shape = owners_check(&v);
			check(wal / n <= kinds[k].mean);
			check(shape.depth <= 4);
			value_free(&v);
		}
}

int
main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	run_test(random_changes);
	run_test(many_edits);
	run_test(many_edits_of_long_value);
	run_test(lists_move);
	run_test(lists_go_back);
	run_test(lists_move_cheaply);
	run_test(gaps_are_freed);
	run_test(slices_wear_out);
	run_test(owners_stay_short);
	run_test(slice_is_replaced);
	run_test(long_values_stay);
	run_test(values_grow);
	run_test(places_are_known);
	run_test(nodes_are_damaged);
	run_test(trees_are_too_deep);
	run_test(slices_are_misplaced);
	run_test(ranges_are_impossible);
	run_test(lists_are_damaged);
	run_test(changes_are_cheap);
	run_test(changes_at_one_place);
	return unit_failures != 0;
}
