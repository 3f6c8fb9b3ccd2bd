/*
 * layout.c
 *	  How an hstore is cut: entries, keys and short values together, each long value
 *	  by itself.
 *
 * Then short values are read and changed without the long ones between them, and keys
 * are stored close together: 200 keys with 20 values of 20 kB are found in 4 pages
 * instead of 44.  The head of a stored value lists what was cut out, and every change
 * writes the head.  So we cut out only some of the longest values.
 */
#include "postgres.h"

#include "stored.h"

#define LONG_VALUE	(4 * 1024)

/* The most long values to cut out. */
static int
max_long(uint32 len)
{
	return Min(4 + len / (16 * 1024), 32);
}

static int
longest_first(const void *a, const void *b)
{
	uint32		x = ((const SlicedCut *) a)->len;
	uint32		y = ((const SlicedCut *) b)->len;

	return x < y ? 1 : x > y ? -1 : 0;
}

static int
by_place(const void *a, const void *b)
{
	uint32		x = ((const SlicedCut *) a)->start;
	uint32		y = ((const SlicedCut *) b)->start;

	return x < y ? -1 : x > y ? 1 : 0;
}

/* The long values, in a palloc'd array. */
static SlicedCut *
find_long(HStore *hstore, uint32 len, int *nlong)
{
	HEntry	   *entries = ARRPTR(hstore);
	uint32		strings = STRPTR(hstore) - (char *) hstore - VARHDRSZ;
	SlicedCut  *found = palloc((len / LONG_VALUE + 1) * sizeof(SlicedCut));
	int			n = 0;

	for (uint32 i = 0; i < HS_COUNT(hstore); i++)
	{
		uint32		start = strings + HSE_ENDPOS(entries[2 * i]);
		uint32		end = strings + HSE_ENDPOS(entries[2 * i + 1]);

		if (end - start >= LONG_VALUE)
			found[n++] = (SlicedCut) {start, end - start, 0};
	}
	*nlong = n;
	return found;
}

int
stored_hstore_cut(const char *raw, uint32 len, SlicedCut **cuts, int *ncuts)
{
	SlicedCut  *values;
	HStore	   *hstore = hstore_of_bytes(raw, len);
	int			nvalues;
	uint32		done = 0;
	int			n = 0;

	if (hstore == NULL)
		return 0;
	values = find_long(hstore, len, &nvalues);
	if (nvalues == 0)
		return 0;
	qsort(values, nvalues, sizeof(SlicedCut), longest_first);
	nvalues = Min(nvalues, max_long(len));
	qsort(values, nvalues, sizeof(SlicedCut), by_place);

	*cuts = palloc((2 * nvalues + 1) * sizeof(SlicedCut));
	for (int i = 0; i < nvalues; i++)
	{
		if (done < values[i].start)
			(*cuts)[n++] = (SlicedCut) {done, values[i].start - done, 0};
		(*cuts)[n++] = (SlicedCut) {values[i].start, values[i].len, i + 1};
		done = values[i].start + values[i].len;
	}
	if (done < len)
		(*cuts)[n++] = (SlicedCut) {done, len - done, 0};
	*ncuts = n;
	return nvalues + 1;
}
