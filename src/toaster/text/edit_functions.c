/*
 * edit_functions.c
 *	  Functions of core that change a part of a value, as promises.
 *
 * They take the place of core's where an UPDATE computes a column's new value (see
 * plan/swap.c), and have the same results and errors for every argument.  They leave
 * to core all values that are not ours, and all errors.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "fmgr.h"
#include "format/pointer.h"
#include "mb/pg_wchar.h"
#include "toaster/text/characters.h"
#include "utils/builtins.h"
#include "value/promise.h"
#include "value/result.h"

/* The argument, not fetched, if it is a value of ours or a promise of one. */
static struct varlena *
our_argument(FunctionCallInfo fcinfo, SlicedRope **rope)
{
	struct varlena *value = (struct varlena *) PG_GETARG_POINTER(0);

	*rope = sliced_rope_of(value);
	return *rope == NULL ? NULL : value;
}

static void
add_varlena(SlicedRope *rope, const struct varlena *value)
{
	sliced_rope_add_bytes(rope, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
}

/* Bytes [0, upto) of the value, 'middle', and the value's bytes from 'from' on. */
static Datum
replace_bytes(FunctionCallInfo fcinfo, const SlicedRope *value, uint32 upto,
			  const char *middle, uint32 middle_len, uint32 from)
{
	SlicedRope *rope = sliced_rope_make(&value->base);

	sliced_rope_add_rope(rope, value, 0, upto);
	sliced_rope_add_bytes(rope, middle, middle_len);
	sliced_rope_add_rope(rope, value, from, value->len - from);
	return sliced_result_of_rope(fcinfo, rope);
}

/* Bytes [start, end) of the value. */
static Datum
cut_out(FunctionCallInfo fcinfo, const SlicedRope *value, uint32 start, uint32 end)
{
	SlicedRope *rope = sliced_rope_make(&value->base);

	sliced_rope_add_rope(rope, value, start, end - start);
	return sliced_result_of_rope(fcinfo, rope);
}

/* ---- concatenation ---- */

/*
 * Both sides as one rope, if they are of one value and the second continues the
 * first.
 */
static SlicedRope *
join(const SlicedRope *left, const SlicedRope *right)
{
	SlicedRope *rope;

	if (memcmp(&left->base, &right->base, sizeof(left->base)) != 0)
		return NULL;
	rope = sliced_rope_make(&left->base);
	sliced_rope_add_rope(rope, left, 0, left->len);
	sliced_rope_add_rope(rope, right, 0, right->len);
	return sliced_rope_unshared(rope) < Min(left->len, right->len) ? rope : NULL;
}

/*
 * Either side may be ours.  If both are, and they do not join, the result shares the
 * longer one.
 */
static bool
concatenate_values(FunctionCallInfo fcinfo, Datum *result)
{
	struct varlena *left = (struct varlena *) PG_GETARG_POINTER(0);
	struct varlena *right = (struct varlena *) PG_GETARG_POINTER(1);
	SlicedRope *left_rope = sliced_rope_of(left);
	SlicedRope *right_rope = sliced_rope_of(right);
	SlicedRope *joined = left_rope == NULL || right_rope == NULL ? NULL : join(left_rope, right_rope);

	if (joined != NULL)
	{
		*result = sliced_result_of_rope(fcinfo, joined);
		return true;
	}
	if (left_rope != NULL && (right_rope == NULL || right_rope->len <= left_rope->len))
	{
		right = pg_detoast_datum_packed(right);
		*result = replace_bytes(fcinfo, left_rope, left_rope->len, VARDATA_ANY(right),
						 VARSIZE_ANY_EXHDR(right), left_rope->len);
		return true;
	}
	if (right_rope != NULL)
	{
		left = pg_detoast_datum_packed(left);
		*result = replace_bytes(fcinfo, right_rope, 0, VARDATA_ANY(left),
						 VARSIZE_ANY_EXHDR(left), 0);
		return true;
	}
	return false;
}

PG_FUNCTION_INFO_V1(sliced_edit_textcat);

Datum
sliced_edit_textcat(PG_FUNCTION_ARGS)
{
	Datum		result;

	return concatenate_values(fcinfo, &result) ? result : textcat(fcinfo);
}

PG_FUNCTION_INFO_V1(sliced_edit_byteacat);

Datum
sliced_edit_byteacat(PG_FUNCTION_ARGS)
{
	Datum		result;

	return concatenate_values(fcinfo, &result) ? result : byteacat(fcinfo);
}

/* A text or varchar argument of concat(), as a rope. */
static SlicedRope *
rope_of_text(FunctionCallInfo fcinfo, int arg)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, arg);

	return PG_ARGISNULL(arg) || (type != TEXTOID && type != VARCHAROID) ? NULL :
		sliced_rope_of((struct varlena *) PG_GETARG_POINTER(arg));
}

/* Add the text that core makes of arguments [from, to) of concat(). */
static void
add_others(SlicedRope *rope, FunctionCallInfo fcinfo, int from, int to)
{
	LOCAL_FCINFO(others, FUNC_MAX_ARGS);

	memcpy(others, fcinfo, SizeForFunctionCallInfo(PG_NARGS()));
	for (int i = 0; i < PG_NARGS(); i++)
		others->args[i].isnull |= i < from || i >= to;
	add_varlena(rope, (struct varlena *) DatumGetPointer(text_concat(others)));
}

PG_FUNCTION_INFO_V1(sliced_edit_concat);

/*
 * concat(value, ...): core puts together the arguments behind the value, except those
 * that continue it.
 */
Datum
sliced_edit_concat(PG_FUNCTION_ARGS)
{
	SlicedRope *first;
	SlicedRope *rope;
	int			done = 1;

	/* a call with VARIADIC has one argument */
	if (PG_NARGS() == 1 || (first = rope_of_text(fcinfo, 0)) == NULL)
		return text_concat(fcinfo);
	rope = sliced_rope_make(&first->base);
	sliced_rope_add_rope(rope, first, 0, first->len);
	for (int i = 1; i < PG_NARGS(); i++)
	{
		SlicedRope *next = rope_of_text(fcinfo, i);

		if (next == NULL || join(rope, next) == NULL)
			continue;
		add_others(rope, fcinfo, done, i);
		sliced_rope_add_rope(rope, next, 0, next->len);
		done = i + 1;
	}
	add_others(rope, fcinfo, done, PG_NARGS());
	return sliced_result_of_rope(fcinfo, rope);
}

/* ---- overlay ---- */

/* The characters, or bytes, that overlay() replaces: [first, next), counted from 0. */
static bool
overlay_range(int32 start, int32 length, uint32 *first, uint32 *next)
{
	int32		end;

	if (start <= 0 || pg_add_s32_overflow(start, length, &end))
		return false;
	*first = start - 1;
	*next = Max(end, 1) - 1;
	return true;
}

static bool
overlay_bytea(FunctionCallInfo fcinfo, const bytea *new, int32 length, Datum *result)
{
	SlicedRope *rope;
	uint32		first;
	uint32		next;

	if (our_argument(fcinfo, &rope) == NULL ||
		!overlay_range(PG_GETARG_INT32(2), length, &first, &next))
		return false;
	*result = replace_bytes(fcinfo, rope, Min(first, rope->len), VARDATA_ANY(new),
					 VARSIZE_ANY_EXHDR(new), Min(next, rope->len));
	return true;
}

PG_FUNCTION_INFO_V1(sliced_edit_bytea_overlay);

Datum
sliced_edit_bytea_overlay(PG_FUNCTION_ARGS)
{
	Datum		result;

	return overlay_bytea(fcinfo, PG_GETARG_BYTEA_PP(1), PG_GETARG_INT32(3), &result) ?
		result : byteaoverlay(fcinfo);
}

PG_FUNCTION_INFO_V1(sliced_edit_bytea_overlay_no_len);

Datum
sliced_edit_bytea_overlay_no_len(PG_FUNCTION_ARGS)
{
	bytea	   *new = PG_GETARG_BYTEA_PP(1);
	Datum		result;

	return overlay_bytea(fcinfo, new, VARSIZE_ANY_EXHDR(new), &result) ?
		result : byteaoverlay_no_len(fcinfo);
}

static bool
overlay_text(FunctionCallInfo fcinfo, const text *new, int32 length, Datum *result)
{
	SlicedRope *rope;
	struct varlena *value = our_argument(fcinfo, &rope);
	uint32		first;
	uint32		next;

	if (value == NULL || !overlay_range(PG_GETARG_INT32(2), length, &first, &next) ||
		!sliced_char_offset(value, first, &first) || !sliced_char_offset(value, next, &next))
		return false;
	*result = replace_bytes(fcinfo, rope, first, VARDATA_ANY(new), VARSIZE_ANY_EXHDR(new),
					 next);
	return true;
}

PG_FUNCTION_INFO_V1(sliced_edit_text_overlay);

Datum
sliced_edit_text_overlay(PG_FUNCTION_ARGS)
{
	Datum		result;

	return overlay_text(fcinfo, PG_GETARG_TEXT_PP(1), PG_GETARG_INT32(3), &result) ?
		result : textoverlay(fcinfo);
}

PG_FUNCTION_INFO_V1(sliced_edit_text_overlay_no_len);

Datum
sliced_edit_text_overlay_no_len(PG_FUNCTION_ARGS)
{
	text	   *new = PG_GETARG_TEXT_PP(1);
	Datum		result;

	return overlay_text(fcinfo, new,
						pg_mbstrlen_with_len(VARDATA_ANY(new), VARSIZE_ANY_EXHDR(new)),
						&result) ?
		result : textoverlay_no_len(fcinfo);
}

/* ---- single bytes ---- */

PG_FUNCTION_INFO_V1(sliced_edit_bytea_set_byte);

Datum
sliced_edit_bytea_set_byte(PG_FUNCTION_ARGS)
{
	int32		n = PG_GETARG_INT32(1);
	char		byte = PG_GETARG_INT32(2);
	SlicedRope *rope;

	if (our_argument(fcinfo, &rope) != NULL && n >= 0 && n < rope->len)
		return replace_bytes(fcinfo, rope, n, &byte, 1, n + 1);
	return byteaSetByte(fcinfo);
}

PG_FUNCTION_INFO_V1(sliced_edit_bytea_set_bit);

Datum
sliced_edit_bytea_set_bit(PG_FUNCTION_ARGS)
{
	int64		n = PG_GETARG_INT64(1);
	int32		bit = PG_GETARG_INT32(2);
	SlicedRope *rope;
	struct varlena *value = our_argument(fcinfo, &rope);

	if (value != NULL && n >= 0 && n / 8 < rope->len && (bit == 0 || bit == 1))
	{
		char		byte = VARDATA_ANY(detoast_attr_slice(value, n / 8, 1))[0];

		byte = (byte & ~(1 << n % 8)) | (bit << n % 8);
		return replace_bytes(fcinfo, rope, n / 8, &byte, 1, n / 8 + 1);
	}
	return byteaSetBit(fcinfo);
}

/* ---- parts ---- */

/* The characters, or bytes, of substr(): [first, next), counted from 0. */
static bool
substr_range(int32 start, int32 length, uint32 *first, uint32 *next)
{
	int32		end;

	if (length < 0)
		return false;			/* an error */
	*first = Max(start, 1) - 1;
	if (pg_add_s32_overflow(start, length, &end))
		*next = PG_UINT32_MAX;
	else
		*next = Max(Max(end, 1) - 1, *first);
	return true;
}

static bool
cut_bytes(FunctionCallInfo fcinfo, uint32 first, uint32 next, Datum *result)
{
	SlicedRope *rope;

	if (our_argument(fcinfo, &rope) == NULL)
		return false;
	*result = cut_out(fcinfo, rope, Min(first, rope->len), Min(next, rope->len));
	return true;
}

static bool
cut_chars(FunctionCallInfo fcinfo, uint32 first, uint32 next, Datum *result)
{
	SlicedRope *rope;
	struct varlena *value = our_argument(fcinfo, &rope);

	if (value == NULL || !sliced_char_offset(value, first, &first))
		return false;
	if (next == PG_UINT32_MAX)
		next = rope->len;
	else if (!sliced_char_offset(value, next, &next))
		return false;
	*result = cut_out(fcinfo, rope, first, next);
	return true;
}

PG_FUNCTION_INFO_V1(sliced_edit_bytea_substr);

Datum
sliced_edit_bytea_substr(PG_FUNCTION_ARGS)
{
	uint32		first;
	uint32		next;
	Datum		result;

	return substr_range(PG_GETARG_INT32(1), PG_GETARG_INT32(2), &first, &next) &&
		cut_bytes(fcinfo, first, next, &result) ? result : bytea_substr(fcinfo);
}

PG_FUNCTION_INFO_V1(sliced_edit_bytea_substr_no_len);

Datum
sliced_edit_bytea_substr_no_len(PG_FUNCTION_ARGS)
{
	Datum		result;

	return cut_bytes(fcinfo, Max(PG_GETARG_INT32(1), 1) - 1, PG_UINT32_MAX, &result) ?
		result : bytea_substr_no_len(fcinfo);
}

PG_FUNCTION_INFO_V1(sliced_edit_text_substr);

Datum
sliced_edit_text_substr(PG_FUNCTION_ARGS)
{
	uint32		first;
	uint32		next;
	Datum		result;

	return substr_range(PG_GETARG_INT32(1), PG_GETARG_INT32(2), &first, &next) &&
		cut_chars(fcinfo, first, next, &result) ? result : text_substr(fcinfo);
}

PG_FUNCTION_INFO_V1(sliced_edit_text_substr_no_len);

Datum
sliced_edit_text_substr_no_len(PG_FUNCTION_ARGS)
{
	Datum		result;

	return cut_chars(fcinfo, Max(PG_GETARG_INT32(1), 1) - 1, PG_UINT32_MAX, &result) ?
		result : text_substr_no_len(fcinfo);
}

PG_FUNCTION_INFO_V1(sliced_edit_text_left);

Datum
sliced_edit_text_left(PG_FUNCTION_ARGS)
{
	int32		n = PG_GETARG_INT32(1);
	SlicedRope *rope;
	struct varlena *value = our_argument(fcinfo, &rope);
	uint32		end;

	if (value != NULL && n != PG_INT32_MIN &&
		(n < 0 ? sliced_last_chars_offset(value, -n, &end) : sliced_char_offset(value, n, &end)))
		return cut_out(fcinfo, rope, 0, end);
	return text_left(fcinfo);
}

PG_FUNCTION_INFO_V1(sliced_edit_text_right);

Datum
sliced_edit_text_right(PG_FUNCTION_ARGS)
{
	int32		n = PG_GETARG_INT32(1);
	SlicedRope *rope;
	struct varlena *value = our_argument(fcinfo, &rope);
	uint32		start;

	if (value != NULL && n != PG_INT32_MIN &&
		(n < 0 ? sliced_char_offset(value, -n, &start) : sliced_last_chars_offset(value, n, &start)))
		return cut_out(fcinfo, rope, start, rope->len);
	return text_right(fcinfo);
}

/* ---- casts ---- */

PG_FUNCTION_INFO_V1(sliced_edit_varchar);

/* A text fits if it has no more bytes than the varchar may have characters. */
Datum
sliced_edit_varchar(PG_FUNCTION_ARGS)
{
	struct varlena *value = (struct varlena *) PG_GETARG_POINTER(0);
	int32		typmod = PG_GETARG_INT32(1);
	struct varatt_external ptr;

	if (sliced_pointer_get(&ptr, value) &&
		(typmod < VARHDRSZ || sliced_pointer_size(&ptr) <= typmod - VARHDRSZ))
		return sliced_result_unchanged(fcinfo);
	return varchar(fcinfo);
}
