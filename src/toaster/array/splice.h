/*
 * splice.h
 *	  Arrays in which some items are replaced by others, as ropes.
 *
 * Byte for byte what core would make.  Nothing of the array is read but what it takes to
 * find the items, and the part of the bitmap that changes.
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
	int			at;				/* which item of the array is the first to go */
	int			remove;			/* how many go */
	int			gap_before;		/* so many NULLs, */
	SlicedItems items;			/* these, */
	int			gap_after;		/* and so many NULLs take their place */
	bool		needs_bitmap;	/* even if nothing in it is NULL */
	int			dims[MAXDIM];	/* of the result, which has as many as the array */
	int			lbs[MAXDIM];
} SlicedSplice;

/* A splice that changes nothing: the caller says what is different. */
extern SlicedSplice sliced_splice_begin(const SlicedArray *array);

/* A single item, in memory of the caller's. */
extern SlicedItems sliced_items_one(const ArrayMetaState *type, Datum value, bool isnull);

/* The first 'n' items of an array in memory. */
extern SlicedItems sliced_items_of(const ArrayMetaState *type, ArrayType *array, int n);

/*
 * The result as a rope of the array's own, 'whole', in the current context; it shares
 * the items' memory.  NULL if no array may be like that, which core has errors for.
 */
extern SlicedRope *sliced_splice(const SlicedArray *array, const SlicedRope *whole,
								 const SlicedSplice *splice);

#endif
