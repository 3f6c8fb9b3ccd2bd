/*
 * toaster.c
 *	  The toaster of text and bytea: nothing is special in how they are stored.
 */
#include "postgres.h"

#include "base/toaster.h"
#include "utils/fmgroids.h"

static const SlicedSwap text_swaps[] = {
	{SLICED_SWAP_READ, "text_length", F_LENGTH_TEXT},
	{SLICED_SWAP_READ, "text_length", F_TEXTLEN},
	{SLICED_SWAP_READ, "text_length", F_CHAR_LENGTH_TEXT},
	{SLICED_SWAP_READ, "text_length", F_CHARACTER_LENGTH_TEXT},
	{SLICED_SWAP_READ, "text_substr", F_SUBSTR_TEXT_INT4_INT4},
	{SLICED_SWAP_READ, "text_substr", F_SUBSTRING_TEXT_INT4_INT4},
	{SLICED_SWAP_READ, "text_substr", F_SUBSTR_TEXT_INT4},
	{SLICED_SWAP_READ, "text_substr", F_SUBSTRING_TEXT_INT4},
	{SLICED_SWAP_READ, "text_right", F_RIGHT},

	{SLICED_SWAP_EDIT, "edit_textcat", F_TEXTCAT},
	{SLICED_SWAP_EDIT, "edit_concat", F_CONCAT},
	{SLICED_SWAP_EDIT, "edit_overlay", F_OVERLAY_TEXT_TEXT_INT4_INT4},
	{SLICED_SWAP_EDIT, "edit_overlay", F_OVERLAY_TEXT_TEXT_INT4},
	{SLICED_SWAP_EDIT, "edit_substr", F_SUBSTR_TEXT_INT4_INT4},
	{SLICED_SWAP_EDIT, "edit_substr", F_SUBSTRING_TEXT_INT4_INT4},
	{SLICED_SWAP_EDIT, "edit_substr", F_SUBSTR_TEXT_INT4},
	{SLICED_SWAP_EDIT, "edit_substr", F_SUBSTRING_TEXT_INT4},
	{SLICED_SWAP_EDIT, "edit_left", F_LEFT},
	{SLICED_SWAP_EDIT, "edit_right", F_RIGHT},
	{SLICED_SWAP_EDIT, "edit_varchar", F_VARCHAR_VARCHAR_INT4_BOOL},
};

static const SlicedSwap bytea_swaps[] = {
	{SLICED_SWAP_READ, "get_byte", F_GET_BYTE},
	{SLICED_SWAP_READ, "get_bit", F_GET_BIT_BYTEA_INT8},

	{SLICED_SWAP_EDIT, "edit_byteacat", F_BYTEACAT},
	{SLICED_SWAP_EDIT, "edit_overlay", F_OVERLAY_BYTEA_BYTEA_INT4_INT4},
	{SLICED_SWAP_EDIT, "edit_overlay", F_OVERLAY_BYTEA_BYTEA_INT4},
	{SLICED_SWAP_EDIT, "edit_set_byte", F_SET_BYTE},
	{SLICED_SWAP_EDIT, "edit_set_bit", F_SET_BIT_BYTEA_INT8_INT4},
	{SLICED_SWAP_EDIT, "edit_substr", F_SUBSTR_BYTEA_INT4_INT4},
	{SLICED_SWAP_EDIT, "edit_substr", F_SUBSTRING_BYTEA_INT4_INT4},
	{SLICED_SWAP_EDIT, "edit_substr", F_SUBSTR_BYTEA_INT4},
	{SLICED_SWAP_EDIT, "edit_substr", F_SUBSTRING_BYTEA_INT4},
};

static const SlicedToaster text_toaster = {
	.api = SLICED_TOASTER_API,
	.swaps = text_swaps,
	.nswaps = lengthof(text_swaps)
};

static const SlicedToaster bytea_toaster = {
	.api = SLICED_TOASTER_API,
	.swaps = bytea_swaps,
	.nswaps = lengthof(bytea_swaps)
};

PG_FUNCTION_INFO_V1(sliced_text_toaster);

Datum
sliced_text_toaster(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&text_toaster);
}

PG_FUNCTION_INFO_V1(sliced_bytea_toaster);

Datum
sliced_bytea_toaster(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&bytea_toaster);
}
