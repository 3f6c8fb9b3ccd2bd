/*
 * packing.h
 *	  Computes how many pages rows of given lengths would fill.
 *
 * Rows go where heap would put them: on the page written last, or one left with
 * enough room. So rows can be measured without being inserted (see
 * sliced_writer_open_tally()).
 */
#ifndef SLICED_STORE_PACKING_H
#define SLICED_STORE_PACKING_H

#include "postgres.h"

#define SLICED_OPEN_PAGES	32

typedef struct SlicedPacking
{
	uint64		nrows;
	uint64		nbytes;			/* that rows take of their pages */
	uint64		npages;			/* that have been begun */
	int			nopen;
	int			last;			/* the one that was written last */
	Size		room[SLICED_OPEN_PAGES];	/* on pages that rows may still go to */
} SlicedPacking;

/* Add a row of 'len' bytes, its header included. */
extern void sliced_packing_add(SlicedPacking *packing, Size len);

/* The bytes of all pages; of pages that are not full, only a part counts. */
extern double sliced_packing_bytes(const SlicedPacking *packing);

#endif
