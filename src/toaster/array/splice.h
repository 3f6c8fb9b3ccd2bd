/*
 * splice.h
 *	  Replaces some items of an array by others, as a rope.
 *
 * The result is byte for byte what core would make.  We read only as much of the
 * array as it takes to find the items, and the part of the bitmap that changes.
 */
#ifndef SLICED_ARRAY_SPLICE_H
#define SLICED_ARRAY_SPLICE_H

#include "postgres.h"

#include "store/rope.h"
#include "toaster/array/elements.h"

/* Items to put into an array, in memory. */
typedef struct SlicedItems
{
	int			n;
	const char *data;			/* those that are not NULL, each padded as in an array */
	uint32		len;
	const uint8 *bitmap;		/* NULL: none of them is NULL */
} SlicedItems;

typedef struct SlicedSplice
{
	int			at;				/* the first item of the array to go */
	int			remove;			/* number of items that go */
	int			gap_before;		/* this many NULLs, */
	SlicedItems items;			/* these, */
	int			gap_after;		/* and this many NULLs take their place */
	bool		needs_bitmap;	/* even if no item is NULL */
	int			dims[MAXDIM];	/* of the result, as many as the array has */
	int			lbs[MAXDIM];
} SlicedSplice;

/* A splice that changes nothing: the caller sets what is different. */
extern SlicedSplice sliced_splice_begin(const SlicedArray *array);

/* A single item, in the current context. */
extern SlicedItems sliced_items_one(const ArrayMetaState *type, Datum value, bool isnull);

/* The first 'n' items of an array in memory. */
extern SlicedItems sliced_items_of(const ArrayMetaState *type, ArrayType *array, int n);

/*
 * The result as a rope of the array's own, 'whole', in the current context; it shares
 * the items' memory.  NULL if no array may be like that; core raises the error.
 */
extern SlicedRope *sliced_splice(const SlicedArray *array, const SlicedRope *whole,
								 const SlicedSplice *splice);

#endif
