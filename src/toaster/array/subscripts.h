/*
 * subscripts.h
 *	  Array subscripts as arguments of functions.
 *
 * Core evaluates subscripts by code that cannot be exchanged.  So we turn them into
 * calls of our functions.  Bounds of slices are one array, upper ones first, since
 * that is the order in which core evaluates them; a number says which of them were
 * omitted.
 */
#ifndef SLICED_ARRAY_SUBSCRIPTS_H
#define SLICED_ARRAY_SUBSCRIPTS_H

#include "postgres.h"

#include "base/toaster.h"
#include "utils/array.h"

typedef struct SlicedSubscripts
{
	int			n;
	int			values[MAXDIM];
} SlicedSubscripts;

typedef struct SlicedBounds
{
	int			n;
	int			upper[MAXDIM];
	int			lower[MAXDIM];
	bool		has_upper[MAXDIM];
	bool		has_lower[MAXDIM];
} SlicedBounds;

/* Subscripts of a single element.  Returns false if one is NULL. */
extern bool sliced_subscripts_get(ArrayType *array, SlicedSubscripts *subscripts);

/*
 * Bounds of a slice; bit i of 'given' says whether element i of the array is one, and
 * not omitted.  Returns false if one is NULL.
 */
extern bool sliced_bounds_get(ArrayType *array, int given, SlicedBounds *bounds);

/* The call that takes the place of an array subscript, or an assignment to one; or NULL. */
extern FuncExpr *sliced_array_swap_subscript(SubscriptingRef *ref, SlicedSwapKind kind,
											 SlicedSwapWork *work);

#endif
