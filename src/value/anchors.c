/*
 * anchors.c
 *	  Places that two values have in common, however far they have moved.
 *
 * A sample is the beginning of a slice, which is decompressed without the rest.  A
 * few of its windows go into a table.  A burst is a series of windows of the new
 * value, one behind the other.  It is long enough that one of them is sure to begin
 * where a window in the table does, if the sample has these bytes.
 */
#include "postgres.h"

#include "value/anchors.h"
#include "value/same_bytes.h"

/* A sample has one window in this many bytes; a burst has this many windows. */
#define EACH			64

/* Windows here are twice as long: shorter ones are often the same by chance. */
#define LONG_WINDOW		(2 * SLICED_WINDOW)
#define WORK_LONG_WINDOW	(2 * SLICED_WORK_WINDOW)

/* This many bursts should hit something, if most is the same. */
#define HITS			16

#define SAMPLES_MAX		16
#define WINDOWS_MAX		(SLICED_COMMON_SAMPLE / EACH)

StaticAssertDecl(SAMPLES_MAX * WINDOWS_MAX < PG_UINT16_MAX, "windows have numbers of 16 bits");

typedef struct Samples
{
	uint32		n;
	uint32		start[SAMPLES_MAX];
	uint32		len[SAMPLES_MAX];
	const char *bytes[SAMPLES_MAX];
	char	   *buffer;			/* where they are, if they were read */
	uint32		mask;			/* of the table's size */
	uint16	   *table;			/* numbers of windows, from 1 */
} Samples;

static uint64
work_left(const SlicedAnchors *a)
{
	return a->budget > a->work ? a->budget - a->work : 0;
}

/* Choose samples all over the old value, as many as half of the budget can read. */
static bool
samples_read(Samples *s, SlicedAnchors *a)
{
	bool		in_memory = a->old->bytes != NULL;
	uint32		max = in_memory ? SAMPLES_MAX :
		Max(1, Min(SAMPLES_MAX, work_left(a) / 2 / (SLICED_COMMON_SAMPLE + SLICED_WORK_READ)));
	uint32		step = in_memory ? SLICED_COMMON_SAMPLE : SLICED_COMPARE_STEP;
	uint32		begin = in_memory ? a->old_start : a->old_start - a->old_start % step;
	uint32		steps = ((uint64) a->old_end - begin + step - 1) / step;
	uint64		each = (uint64) step * ((steps + max - 1) / max);

	if (!in_memory)
		s->buffer = palloc(max * SLICED_COMMON_SAMPLE);
	for (uint64 from = begin; from < a->old_end && s->n < max; from += each)
	{
		uint32		start = Max(from, a->old_start);
		uint32		len = Min(SLICED_COMMON_SAMPLE, a->old_end - start);
		uint32		i = s->n++;

		s->start[i] = start;
		s->len[i] = len;
		if (in_memory)
		{
			s->bytes[i] = a->old->bytes + start;
			continue;
		}
		s->bytes[i] = s->buffer + i * SLICED_COMMON_SAMPLE;
		a->work += SLICED_WORK_READ + len;
		if (!a->old->read(a->old->arg, start, start + len, s->buffer + i * SLICED_COMMON_SAMPLE))
			return false;
	}
	return true;
}

static uint32
samples_len(const Samples *s)
{
	uint32		len = 0;

	for (uint32 i = 0; i < s->n; i++)
		len += s->len[i];
	return len;
}

static uint32
long_window_hash(const char *p)
{
	return sliced_window_hash(p) * 31 + sliced_window_hash(p + SLICED_WINDOW);
}

static void
samples_hash(Samples *s, SlicedAnchors *a)
{
	uint32		size = 64;

	while (size < 2 * s->n * WINDOWS_MAX)
		size *= 2;
	s->mask = size - 1;
	s->table = palloc(size * sizeof(uint16));
	memset(s->table, 0, size * sizeof(uint16));
	for (uint32 i = s->n; i-- > 0;)
		for (uint32 k = 0; k * EACH + LONG_WINDOW <= s->len[i]; k++)
		{
			s->table[long_window_hash(s->bytes[i] + k * EACH) & s->mask] = i * WINDOWS_MAX + k + 1;
			a->work += WORK_LONG_WINDOW;
		}
}

/*
 * If a run of some length leads through this new byte, add it as an anchor and return
 * true.
 */
static bool
add_anchor(SlicedAnchors *a, const Samples *s, uint32 n)
{
	uint32		number = s->table[long_window_hash(a->new + n) & s->mask];
	uint32		i = (number - 1) / WINDOWS_MAX;
	uint32		o = (number - 1) % WINDOWS_MAX * EACH;
	uint32		before;
	uint32		ahead;

	if (number == 0 || memcmp(s->bytes[i] + o, a->new + n, LONG_WINDOW) != 0)
		return false;
	before = sliced_common_suffix(s->bytes[i] + o, a->new + n, Min(o, n - a->new_start));
	ahead = sliced_common_prefix(s->bytes[i] + o, a->new + n, Min(s->len[i] - o, a->new_end - n));
	a->work += SLICED_WORK_WINDOW + (before + ahead) / SLICED_WORK_COMPARE;
	if (before + ahead < 2 * SLICED_COMMON_RUN)
		return false;
	a->anchors[a->n++] = (SlicedCommonRun) {s->start[i] + o - before, n - before, before + ahead};
	return true;
}

/* Look up bursts all over the new value.  Returns how many hit something. */
static int
look_up_bursts(SlicedAnchors *a, const Samples *s)
{
	uint32		span = a->new_end - a->new_start;
	uint64		max = (uint64) HITS * (a->old_end - a->old_start) / samples_len(s);
	uint32		n = Max(HITS, Min(Min(max, SLICED_ANCHORS_MAX), work_left(a) / (EACH * WORK_LONG_WINDOW)));
	int			hits = 0;

	for (uint32 i = 0; i < n; i++)
	{
		uint32		start = a->new_start + (uint64) span * i / n;
		bool		hit = a->n > 0 &&
			start < a->anchors[a->n - 1].new_start + a->anchors[a->n - 1].len;

		if (!hit)
			a->work += EACH * WORK_LONG_WINDOW;
		for (uint32 k = 0; !hit && k < EACH && (uint64) start + k + LONG_WINDOW <= a->new_end; k++)
			hit = add_anchor(a, s, start + k);
		hits += hit;
	}
	return hits;
}

/* Keep as many anchors as possible that follow each other in the old value too. */
static void
order_anchors(SlicedAnchors *a)
{
	int			count[SLICED_ANCHORS_MAX];	/* the longest chain in order that ends
											 * with this one */
	int			before[SLICED_ANCHORS_MAX];
	SlicedCommonRun kept[SLICED_ANCHORS_MAX];
	int			best = -1;
	int			n = 0;

	for (int i = 0; i < a->n; i++)
	{
		count[i] = 1;
		before[i] = -1;
		for (int k = 0; k < i; k++)
			if (a->anchors[k].old_start < a->anchors[i].old_start && count[k] >= count[i])
			{
				count[i] = count[k] + 1;
				before[i] = k;
			}
		if (best < 0 || count[i] > count[best])
			best = i;
	}
	for (int i = best; i >= 0; i = before[i])
		kept[n++] = a->anchors[i];
	a->n = n;
	for (int i = 0; i < n; i++)
		a->anchors[i] = kept[n - 1 - i];
}

bool
sliced_anchors_find(SlicedAnchors *a)
{
	Samples		s = {.n = 0};
	bool		ok;

	a->n = 0;
	a->work = 0;
	ok = samples_read(&s, a);
	if (ok)
	{
		samples_hash(&s, a);
		/* one may be chance */
		if (look_up_bursts(a, &s) < 2)
			a->n = 0;
		order_anchors(a);
		pfree(s.table);
	}
	if (s.buffer != NULL)
		pfree(s.buffer);
	return ok;
}
