/*
 * common_runs.c
 *	  Finds the runs of bytes that an old and a new value have in common.
 *
 * First we compare the beginning and the end.  Then we walk through the bytes between
 * them in lock-step: while bytes are the same both values advance.  Where they
 * differ, we look for a place where they are the same again.
 *
 * 1. On the same diagonal, which is where bytes were replaced by as many.
 * 2. Nearby: some windows of the next old bytes go into a small table, and windows of the
 *    next new bytes are looked up in it; then the same farther on, with fewer windows.
 * 3. Farther away: samples of either value tell places that they have in common, anchors
 *    (anchors.c).  The walk goes on where the diagonal of the next anchor begins.  Without
 *    anchors the rest of the two values differs, and the search ends.
 *
 * The walk only goes forward, in both values, so it keeps a window of the old one and
 * reads on.  Blocks that have changed places are not found.
 *
 * Everything that costs time is counted as work (value/anchors.h gives the unit).
 * The budget is small, and grows with what is found.  So no contents can make an
 * update much slower than writing the value would be.
 */
#include "postgres.h"

#include "base/limits.h"
#include "value/common_runs.h"
#include "value/same_bytes.h"

/* The walk looks no farther ahead than this, and measures runs up to this length. */
#define REACH			8192
#define LONG_RUN		1024
#define AHEAD			(REACH + LONG_RUN + SLICED_WINDOW)

/* On the same diagonal it looks this far. */
#define DIAGONAL_REACH	256

/* After runs that are too short to be used it does not trust the diagonal. */
#define DIAGONAL_TRIES	3

/* What looking on the same diagonal costs. */
#define WORK_RESYNC		32

/*
 * The budget: a constant, a part of the new value's length, and more for each byte
 * found.
 */
#define BUDGET_MIN		16384
#define BUDGET_PART		8
#define BUDGET_FOUND	3

/* How a search nearby is done. */
typedef struct Level
{
	uint32		reach;			/* in both values */
	uint32		each;			/* distance of old windows in the table */
	uint32		gap;			/* between bursts of as many new windows in a row */
	uint32		least;			/* a shorter run is left to the next level */
	uint32		enough;			/* a run this long has no better rival */
} Level;

static const Level levels[] = {
	{96, 8, 16, SLICED_COMMON_RUN, 256},
	{768, 16, 64, 2 * SLICED_COMMON_RUN, 512},
	{REACH, 32, 512, SLICED_COMMON_RUN, LONG_RUN}
};

#define TABLE_SIZE		512
StaticAssertDecl(REACH / 32 < TABLE_SIZE, "the table has room for all old windows");

typedef struct Walk
{
	const SlicedOldBytes *old;
	const char *new;
	uint32		o;				/* where the walk is, in the old value */
	uint32		n;				/* ... and in the new one */
	uint32		old_end;		/* where the common end of both values begins */
	uint32		new_end;
	SlicedCommonRuns *found;
	int			short_runs;		/* how many in a row */
	uint64		budget;

	/* bytes [from, to) of the old value are at 'window' */
	const char *window;
	uint32		from;
	uint32		to;
	uint32		used;			/* up to here they are paid for */
	char	   *buffer;
	bool		unreadable;

	SlicedAnchors *anchors;		/* NULL: not looked for yet */
	int			next_anchor;
} Walk;

static void
runs_add(SlicedCommonRuns *found, uint32 old_start, uint32 new_start, uint32 len)
{
	if (len == 0)
		return;
	if (found->nruns == found->maxruns)
	{
		found->maxruns = Max(8, found->maxruns * 2);
		found->runs = found->runs == NULL ? palloc(found->maxruns * sizeof(SlicedCommonRun)) :
			repalloc(found->runs, found->maxruns * sizeof(SlicedCommonRun));
	}
	found->runs[found->nruns++] = (SlicedCommonRun) {old_start, new_start, len};
	found->shared += len;
}

/* ---- old bytes ---- */

/*
 * Bytes up to 'end' of the old value are looked at: count the cost of reading them.
 */
static void
use_old(Walk *w, uint32 end)
{
	if (end > w->used)
	{
		if (w->old->bytes == NULL)
			w->found->work += end - w->used;
		w->used = end;
	}
}

static uint32
next_step(uint32 pos, uint32 len)
{
	uint64		next = pos == 0 ? SLICED_COMPARE_FIRST :
		(uint64) pos - pos % SLICED_COMPARE_STEP + SLICED_COMPARE_STEP;

	return Min(next, len);
}

/*
 * Returns the old bytes from 'start' on: 'len' of them, at most AHEAD, or up to the
 * end.  The bytes up to w->to are there as well.  NULL if they cannot be read.
 */
static const char *
old_at(Walk *w, uint32 start, uint32 len)
{
	uint32		end = Min((uint64) start + len, w->old->len);

	Assert(len <= AHEAD);
	if (start < w->from || start > w->to)
	{
		w->from = w->to = start;
		w->used = Max(w->used, start);
	}
	if (end > w->to)
	{
		if (w->buffer == NULL)
			w->buffer = palloc(Min(SLICED_COMPARE_STEP + AHEAD, w->old->len));
		if (w->to > start)
			memmove(w->buffer, w->window + (start - w->from), w->to - start);
		w->from = start;
		w->window = w->buffer;
		while (w->to < end)
		{
			uint32		next = next_step(w->to, w->old->len);

			w->found->work += SLICED_WORK_READ;
			if (!w->old->read(w->old->arg, w->to, next, w->buffer + (w->to - w->from)))
			{
				w->unreadable = true;
				return NULL;
			}
			w->to = next;
		}
	}
	use_old(w, end);
	return w->window + (start - w->from);
}

/* ---- beginning, end, and lock-step ---- */

/* Returns how many bytes are the same from where the walk is. */
static uint32
same_ahead(Walk *w)
{
	uint32		limit = Min(w->old_end - w->o, w->new_end - w->n);
	uint32		done = 0;

	while (done < limit)
	{
		const char *old = old_at(w, w->o + done, 1);
		uint32		len;
		uint32		same;

		if (old == NULL)
			break;
		len = Min(limit - done, w->to - (w->o + done));
		same = sliced_common_prefix(old, w->new + w->n + done, len);
		done += same;
		use_old(w, w->o + done);
		if (same < len)
			break;
	}
	w->found->work += done / SLICED_WORK_COMPARE;
	return done;
}

/*
 * Returns how many bytes are the same at the end, but not before where the walk is.
 */
static uint32
same_at_end(Walk *w)
{
	uint32		oldlen = w->old->len;
	uint32		limit = Min(oldlen - w->o, w->new_end - w->n);
	uint32		done = 0;
	uint32		size = 0;
	char	   *buffer = NULL;

	if (w->old->bytes != NULL)
		return sliced_common_suffix(w->old->bytes + oldlen, w->new + w->new_end, limit);
	while (done < limit)
	{
		uint32		end = oldlen - done;
		uint32		start = done == 0 ? end - Min(end, SLICED_COMPARE_FIRST) :
			(end - 1) - (end - 1) % SLICED_COMPARE_STEP;
		uint32		n;

		start = Max(start, oldlen - limit);
		if (end - start > size)
		{
			if (buffer != NULL)
				pfree(buffer);
			size = done == 0 ? end - start : SLICED_COMPARE_STEP;
			buffer = palloc(size);
		}
		if (!w->old->read(w->old->arg, start, end, buffer))
			break;
		n = sliced_common_suffix(buffer + (end - start), w->new + w->new_end - done, end - start);
		done += n;
		if (n < end - start)
			break;
	}
	if (buffer != NULL)
		pfree(buffer);
	return done;
}

/* ---- where the two are the same again ---- */

static bool
resync_on_diagonal(Walk *w)
{
	const char *old = old_at(w, w->o, DIAGONAL_REACH + SLICED_WINDOW);
	const char *new = w->new + w->n;
	uint32		limit;

	if (old == NULL)
		return false;
	limit = Min(w->old_end - w->o, w->new_end - w->n);
	for (uint32 k = 8; k <= DIAGONAL_REACH && k + SLICED_WINDOW <= limit; k *= 2)
		if (memcmp(old + k, new + k, SLICED_WINDOW) == 0)
		{
			k -= sliced_common_suffix(old + k, new + k, k);
			w->o += k;
			w->n += k;
			return true;
		}
	return false;
}

/*
 * Bytes that are the same around a pair of places, 'old' and 'new', within some
 * limits.
 */
typedef struct Match
{
	uint32		old;			/* where it begins, from where the walk is */
	uint32		new;
	uint32		len;			/* LONG_RUN at most: of those the nearest is taken */
} Match;

static Match
measure_match(Walk *w, const char *old, uint32 o, uint32 old_limit, uint32 n)
{
	const char *new = w->new + w->n;
	uint32		before = sliced_common_suffix(old + o, new + n, Min(Min(o, n), LONG_RUN));
	uint32		ahead = sliced_common_prefix(old + o, new + n,
											 Min(Min(old_limit - o, w->new_end - w->n - n), LONG_RUN));

	w->found->work += SLICED_WORK_WINDOW + (before + ahead) / SLICED_WORK_COMPARE;
	return (Match) {o - before, n - before, Min(before + ahead, LONG_RUN)};
}

static bool
resync_nearby(Walk *w, const Level *level)
{
	uint16		table[TABLE_SIZE];
	uint32		mask = TABLE_SIZE - 1;
	const char *old;
	const char *new = w->new + w->n;
	uint32		old_limit;
	uint32		new_limit = w->new_end - w->n;
	uint32		nold;
	Match		best = {.len = 0};

	/* what there is will do, if it is half of that: nothing more is decompressed */
	old = old_at(w, w->o, w->to > w->o && w->to - w->o >= level->reach / 2 ?
				 Min(w->to - w->o, AHEAD) : level->reach + LONG_RUN);
	if (old == NULL)
		return false;
	old_limit = Min(w->old_end, w->to) - w->o;
	if (old_limit < SLICED_WINDOW || new_limit < SLICED_WINDOW)
		return false;
	nold = Min(level->reach, old_limit - SLICED_WINDOW + 1) / level->each;
	while (mask / 2 > 2 * nold)
		mask /= 2;
	memset(table, 0, (mask + 1) * sizeof(uint16));
	for (uint32 i = nold; i > 0; i--)	/* of those that are the same the first one stays */
		table[sliced_window_hash(old + (i - 1) * level->each) & mask] = i;
	w->found->work += nold * SLICED_WORK_WINDOW;

	for (uint32 start = 0; start < level->reach && start + SLICED_WINDOW <= new_limit; start += level->gap)
	{
		uint32		end = Min(start + level->each, new_limit - SLICED_WINDOW + 1);

		w->found->work += (end - start) * SLICED_WORK_WINDOW;
		for (uint32 n = start; n < end; n++)
		{
			uint32		i = table[sliced_window_hash(new + n) & mask];
			uint32		o = (i - 1) * level->each;
			Match		match;

			if (i == 0 || memcmp(old + o, new + n, SLICED_WINDOW) != 0 ||
				(n - o == best.new - best.old && n < best.new + best.len))
				continue;
			match = measure_match(w, old, o, old_limit, n);
			if (match.len > best.len)
				best = match;
		}
		if (best.len >= level->enough)
			break;
	}
	if (best.len < level->least)
		return false;
	w->o += best.old;
	w->n += best.new;
	return true;
}

/* ---- anchors ---- */

/* True if bytes are the same on this diagonal, here or a little farther on. */
static bool
is_same_about(Walk *w, uint32 o, uint32 n)
{
	uint32		limit = Min(w->old_end - o, w->new_end - n);
	const char *old;

	if (o < w->from || o >= w->to)
	{
		/* from the beginning of its slice, so that other places in it are at hand */
		old_at(w, Max(w->o, o - o % SLICED_COMPARE_STEP), 1);
		w->found->work += w->to - w->from;
	}
	old = w->unreadable ? NULL : old_at(w, o, 4 * DIAGONAL_REACH);
	w->found->work += WORK_RESYNC;
	for (uint32 k = 0; old != NULL && k <= 2 * DIAGONAL_REACH && k + 2 * SLICED_WINDOW <= limit;
		 k = k == 0 ? 64 : k * 2)
		if (memcmp(old + k, w->new + n + k, 2 * SLICED_WINDOW) == 0)
			return true;
	return false;
}

/* Go to where the anchor's diagonal begins, which is here or before the anchor. */
static void
go_to_anchor(Walk *w, const SlicedCommonRun *anchor)
{
	uint32		same = Min(anchor->old_start - w->o, anchor->new_start - w->n);
	uint32		o = anchor->old_start - same;
	uint32		n = anchor->new_start - same;
	uint32		differ = 0;		/* from here ... */

	if (is_same_about(w, o, n))
		same = 0;
	while (same - differ > DIAGONAL_REACH && !w->unreadable)
	{
		uint32		middle = differ + (same - differ) / 2;

		if (is_same_about(w, o + middle, n + middle))
			same = middle;
		else
			differ = middle;
	}
	w->o = o + same;
	w->n = n + same;
}

static void
find_anchors(Walk *w)
{
	SlicedAnchors *a = w->anchors = palloc(sizeof(SlicedAnchors));

	a->old = w->old;
	a->old_start = w->o;
	a->old_end = w->old_end;
	a->new = w->new;
	a->new_start = w->n;
	a->new_end = w->new_end;
	a->budget = w->budget > w->found->work ? w->budget - w->found->work : 0;
	w->unreadable = !sliced_anchors_find(a);
	w->found->work += a->work;
	for (int i = 0; i < a->n; i++)
		w->budget += (uint64) BUDGET_FOUND * a->anchors[i].len;
}

static bool
resync_far_away(Walk *w)
{
	/* where so little is left the last level has seen all of it */
	if (Min(w->old_end - w->o, w->new_end - w->n) <= REACH)
		return false;
	if (w->anchors == NULL)
		find_anchors(w);
	while (!w->unreadable && w->next_anchor < w->anchors->n)
	{
		const SlicedCommonRun *anchor = &w->anchors->anchors[w->next_anchor++];

		if (anchor->old_start < w->o || anchor->new_start < w->n)
			continue;
		go_to_anchor(w, anchor);
		w->short_runs = 0;
		return !w->unreadable;
	}
	return false;
}

static bool
resync(Walk *w)
{
	w->found->work += WORK_RESYNC;
	if (w->short_runs < DIAGONAL_TRIES && resync_on_diagonal(w))
		return true;
	for (int i = 0; i < lengthof(levels) && !w->unreadable; i++)
		if (resync_nearby(w, &levels[i]))
			return true;
	return !w->unreadable && resync_far_away(w);
}

void
sliced_common_runs_find(SlicedCommonRuns *found, const SlicedOldBytes *old, const char *new,
						uint32 len, bool between)
{
	Walk		w = {
		.old = old,
		.new = new,
		.old_end = old->len,
		.new_end = len,
		.found = found,
		.window = old->bytes,
		.to = old->bytes != NULL ? old->len : 0
	};
	uint32		prefix;
	uint32		suffix;

	*found = (SlicedCommonRuns) {0};
	prefix = w.o = w.n = same_ahead(&w);
	suffix = same_at_end(&w);
	w.old_end -= suffix;
	w.new_end -= suffix;
	runs_add(found, 0, 0, prefix);
	w.budget = Min(BUDGET_MIN, 4 * (uint64) len) + len / BUDGET_PART + (uint64) BUDGET_FOUND * (prefix + suffix);

	while (between && w.o < w.old_end && w.n < w.new_end && !w.unreadable && found->work < w.budget &&
		   resync(&w))
	{
		uint32		same = same_ahead(&w);

		if (same >= SLICED_COMMON_RUN)
		{
			runs_add(found, w.o, w.n, same);
			w.budget += (uint64) BUDGET_FOUND * same;
			w.short_runs = 0;
		}
		else
			w.short_runs++;
		w.o += same;
		w.n += same;
	}
	runs_add(found, w.old->len - suffix, len - suffix, suffix);
	if (w.buffer != NULL)
		pfree(w.buffer);
	if (w.anchors != NULL)
		pfree(w.anchors);
}
