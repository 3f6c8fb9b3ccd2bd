/*
 * packing.c
 *	  Computes how many pages rows of given lengths would fill.
 */
#include "postgres.h"

#include "storage/bufpage.h"
#include "store/packing.h"

#define PAGE_ROOM	(BLCKSZ - SizeOfPageHeaderData)

/* The page written last, or the next open one with enough room; -1 if none has it. */
static int
page_with_room(const SlicedPacking *p, Size size)
{
	for (int i = 0; i < p->nopen; i++)
	{
		int			page = (p->last + i) % p->nopen;

		if (p->room[page] >= size)
			return page;
	}
	return -1;
}

static int
new_page(SlicedPacking *p)
{
	int			fullest = 0;

	p->npages++;
	if (p->nopen < SLICED_OPEN_PAGES)
	{
		p->room[p->nopen] = PAGE_ROOM;
		return p->nopen++;
	}
	for (int i = 1; i < p->nopen; i++)
		if (p->room[i] < p->room[fullest])
			fullest = i;
	p->room[fullest] = PAGE_ROOM;
	return fullest;
}

void
sliced_packing_add(SlicedPacking *p, Size len)
{
	Size		size = Min(MAXALIGN(len) + sizeof(ItemIdData), PAGE_ROOM);
	int			page = page_with_room(p, size);

	if (page < 0)
		page = new_page(p);
	p->room[page] -= size;
	p->last = page;
	p->nrows++;
	p->nbytes += size;
}

double
sliced_packing_bytes(const SlicedPacking *p)
{
	double		unfilled = 0;

	/* a sample ends with pages that more rows of the same kind would have filled as the others */
	for (int i = 0; i < p->nopen; i++)
		unfilled += p->room[i];
	if (p->npages <= SLICED_OPEN_PAGES)
		return p->npages * (double) BLCKSZ;
	return p->npages * (double) BLCKSZ - unfilled / 2;
}
