/*
 * layout.c
 *	  Cuts a jsonb document: short values together, each long value by itself.
 *
 * Entries, keys and short values, at any depth, lie between long strings, arrays and
 * objects.  Stored together, they can be read without the long values.  A long value,
 * or the rest of a long container without the long values in it, is a region of its
 * own, with slices of its own.
 *
 * The head lists the regions and every change writes the head, so their number is
 * bounded.  The longest values get them.
 */
#include "postgres.h"

#include "base/limits.h"
#include "miscadmin.h"
#include "toaster/jsonb/layout.h"
#include "toaster/jsonb/tree.h"

/* The largest number of long values. */
static int
max_long(uint32 len)
{
	return Min(SLICED_REGIONS + len / SLICED_REGIONS_EACH, SLICED_REGIONS_MAX);
}

/* A long value: bytes [start, end) of the document. */
typedef struct LongValue
{
	uint32		start;
	uint32		end;
	uint32		own;			/* without long values in it */
} LongValue;

typedef struct LongValues
{
	const char *document;
	int			n;
	int			max;			/* size of the array of long values */
	LongValue *found;
	bool		unsound;		/* the document is no jsonb, or damaged */
} LongValues;

static void
add_long(LongValues *s, uint32 start, uint32 end, uint32 own)
{
	if (s->n == s->max)
	{
		s->max = Max(16, s->max * 2);
		s->found = s->found == NULL ? palloc(s->max * sizeof(LongValue)) :
			repalloc(s->found, s->max * sizeof(LongValue));
	}
	s->found[s->n++] = (LongValue) {start, end, own};
}

/*
 * Find long values in a container of 'len' bytes.  Returns the number of bytes that
 * are not in them.
 */
static uint32
find_long_values(LongValues *s, JsonbContainer *container, uint32 len)
{
	uint32		count = JsonContainerSize(container);
	uint32		nentries = JsonContainerIsObject(container) ? count * 2 : count;
	char	   *data = (char *) &container->children[nentries];
	uint32		begin = 0;
	uint32		rest = len;

	check_stack_depth();
	if (!sliced_container_is_sound((char *) container, len))
	{
		/* heap stores, and copies, any bytes it is given */
		s->unsound = true;
		return len;
	}
	for (uint32 i = 0; i < nentries; i++)
	{
		JEntry		entry = container->children[i];
		uint32		end = JBE_HAS_OFF(entry) ? JBE_OFFLENFLD(entry) : begin + JBE_OFFLENFLD(entry);
		uint32		start = JBE_ISCONTAINER(entry) ? INTALIGN(begin) : begin;
		uint32		own = end - start;

		if (own >= SLICED_LONG_VALUE && i >= nentries - count)
		{
			rest -= own;
			if (JBE_ISCONTAINER(entry))
				own = find_long_values(s, (JsonbContainer *) (data + start), own);
			if (own < SLICED_LONG_VALUE)
				rest += own;
			else
				add_long(s, data + start - s->document, data + end - s->document, own);
		}
		begin = end;
	}
	return rest;
}

static int
longest_first(const void *a, const void *b)
{
	uint32		x = ((const LongValue *) a)->own;
	uint32		y = ((const LongValue *) b)->own;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* A value that contains another begins before it, or at the same place. */
static int
outer_first(const void *a, const void *b)
{
	const LongValue *x = a;
	const LongValue *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end ? 1 : 0;
}

/* Add the cuts of a region up to 'to'; all before '*done' is cut already. */
static void
cut_upto(SlicedCut *cuts, int *ncuts, int region, uint32 *done, uint32 to)
{
	if (*done < to)
		cuts[(*ncuts)++] = (SlicedCut) {*done, to - *done, region};
	*done = to;
}

/*
 * Cut this region up to 'end', and the long values in it; the first of them, if any,
 * is 'i'.  Returns the next long value behind the region.
 */
static int
cut_region(const LongValues *s, int i, int region, uint32 end, uint32 *done,
		   SlicedCut *cuts, int *ncuts)
{
	while (i < s->n && s->found[i].start < end)
	{
		const LongValue *inner = &s->found[i];

		cut_upto(cuts, ncuts, region, done, inner->start);
		i = cut_region(s, i + 1, i + 1, inner->end, done, cuts, ncuts);
	}
	cut_upto(cuts, ncuts, region, done, end);
	return i;
}

int
sliced_jsonb_cut(const char *raw, uint32 len, SlicedCut **cuts, int *ncuts)
{
	JsonbContainer *root = (JsonbContainer *) raw;
	LongValues	s = {.document = raw};
	uint32		done = 0;

	if (len < SLICED_CUT_MIN || JsonContainerIsScalar(root))
		return 0;
	find_long_values(&s, root, len);
	if (s.n == 0 || s.unsound)
		return 0;
	if (s.n > max_long(len))
	{
		qsort(s.found, s.n, sizeof(LongValue), longest_first);
		s.n = max_long(len);
	}
	qsort(s.found, s.n, sizeof(LongValue), outer_first);

	*cuts = palloc((2 * s.n + 1) * sizeof(SlicedCut));
	*ncuts = 0;
	cut_region(&s, 0, 0, len, &done, *cuts, ncuts);
	return s.n + 1;
}
