/*
 * elements.h
 *	  Finds the elements of an array of ours.
 *
 * An array begins with its dimensions, and a bitmap if there are NULLs.  Then come
 * the elements that are not NULL, one after another, each at its type's alignment.
 * If all are of one length, we compute the offset of each.  Otherwise we walk over
 * their lengths, and remember offsets that we have passed.
 *
 * All places are offsets into the array's document.
 */
#ifndef SLICED_ARRAY_ELEMENTS_H
#define SLICED_ARRAY_ELEMENTS_H

#include "postgres.h"

#include "base/compat.h"
#include "fmgr.h"
#include "utils/array.h"
#include "value/document.h"

/* Core's limit to the elements of an array. */
#define SLICED_ARRAY_MAX			((int64) (MaxAllocSize / sizeof(Datum)))

/* The first field of an array's header that its document has, too. */
#define SLICED_ARRAY_START			offsetof(ArrayType, ndim)

/* The array's header, without dimensions, in its document. */
#define SLICED_ARRAY_HEADER			(sizeof(ArrayType) - SLICED_ARRAY_START)

typedef struct SlicedArray
{
	SlicedDocument *doc;
	uint32		size;			/* of the document; the elements end there, too */
	int			ndim;			/* at least one */
	int			dims[MAXDIM];
	int			lbs[MAXDIM];	/* lower bounds */
	int			nitems;			/* NULLs included */
	Oid			elemtype;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	uint32		stride;			/* from element to element; 0 if lengths differ */
	bool		has_nulls;		/* has a bitmap */
	uint32		bitmap;			/* its offset, if there is one */
	uint32		data;			/* where the elements begin */
} SlicedArray;

/* Length, alignment and so on of a type, kept for the next calls of the function. */
extern ArrayMetaState *sliced_array_element_type(FunctionCallInfo fcinfo, Oid type);

/* The type of an array argument's elements, as the function's expression says. */
extern Oid	sliced_array_argument_type(FunctionCallInfo fcinfo, int arg);

/*
 * Look at the array that is a function's argument.  Returns false for arrays that
 * core must handle: those that are not ours, that have no elements, or whose elements
 * end with a zero byte.
 */
extern bool sliced_array_get(FunctionCallInfo fcinfo, int arg, SlicedArray *array);

/* Raise the error that the document is no array. */
pg_noreturn extern void sliced_array_complain(const SlicedArray *array);

/* True if item 'i', counted from 0, is NULL. */
extern bool sliced_array_is_null(const SlicedArray *array, int i);

/*
 * The offset of item 'i', or of the next one if it is NULL; the end of the array if
 * there are no more items.
 */
extern uint32 sliced_array_place(const SlicedArray *array, int i);

/* Item 'i', which is not NULL, copied to the current context. */
extern Datum sliced_array_fetch(const SlicedArray *array, int i);

/* The first offset at or behind 'at' where an element may begin. */
static inline uint32
sliced_array_align(char typalign, uint64 at)
{
	uint64		in_datum = at + SLICED_ARRAY_START;

	return att_align_nominal(in_datum, typalign) - SLICED_ARRAY_START;
}

/* The offset at which the elements of an array of 'nitems' items begin. */
static inline uint32
sliced_array_data_start(int ndim, int nitems, bool has_nulls)
{
	return (has_nulls ? ARR_OVERHEAD_WITHNULLS(ndim, nitems) : ARR_OVERHEAD_NONULLS(ndim)) -
		SLICED_ARRAY_START;
}

/* The offset of an array's bitmap. */
static inline uint32
sliced_array_bitmap_start(int ndim)
{
	return SLICED_ARRAY_HEADER + 2 * ndim * sizeof(int);
}

#endif
