/*
 * toaster.c
 *	  The toaster of arrays.
 */
#include "postgres.h"

#include "base/toaster.h"
#include "toaster/array/subscripts.h"
#include "utils/fmgroids.h"

static const SlicedSwap swaps[] = {
	{SLICED_SWAP_READ, "array_ndims", F_ARRAY_NDIMS},
	{SLICED_SWAP_READ, "array_dims", F_ARRAY_DIMS},
	{SLICED_SWAP_READ, "array_lower", F_ARRAY_LOWER},
	{SLICED_SWAP_READ, "array_upper", F_ARRAY_UPPER},
	{SLICED_SWAP_READ, "array_length", F_ARRAY_LENGTH},
	{SLICED_SWAP_READ, "array_cardinality", F_CARDINALITY},

	{SLICED_SWAP_EDIT, "edit_array_append", F_ARRAY_APPEND},
	{SLICED_SWAP_EDIT, "edit_array_prepend", F_ARRAY_PREPEND},
	{SLICED_SWAP_EDIT, "edit_array_cat", F_ARRAY_CAT},
};

static const SlicedToaster toaster = {
	.api = SLICED_TOASTER_API,
	.swaps = swaps,
	.nswaps = lengthof(swaps),
	.swap_subscript = sliced_array_swap_subscript
};

PG_FUNCTION_INFO_V1(sliced_array_toaster);

Datum
sliced_array_toaster(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&toaster);
}
