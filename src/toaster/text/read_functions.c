/*
 * read_functions.c
 *	  Functions of core that look at a part of a value, without reading the rest.
 *
 * Each takes the place of a function of core (see plan/swap.c) and has the same
 * results and errors for every argument.  It leaves to core all calls that it cannot
 * do better.
 *
 * For bytea there is little to do: core itself fetches only the slices that substr()
 * asks for.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "common/int.h"
#include "fmgr.h"
#include "format/pointer.h"
#include "format/utf8.h"
#include "mb/pg_wchar.h"
#include "toaster/text/characters.h"
#include "utils/builtins.h"

/* The argument, not fetched, if it is a value of ours or a promise of one. */
static struct varlena *
our_argument(FunctionCallInfo fcinfo, uint32 *size)
{
	struct varlena *value = (struct varlena *) PG_GETARG_POINTER(0);
	struct varatt_external ptr;

	if (!sliced_pointer_get(&ptr, value))
		return NULL;
	*size = sliced_pointer_size(&ptr);
	return value;
}

PG_FUNCTION_INFO_V1(sliced_text_length);

Datum
sliced_text_length(PG_FUNCTION_ARGS)
{
	uint32		size;
	uint32		nchars;
	struct varlena *value = our_argument(fcinfo, &size);

	if (value != NULL && sliced_char_count(value, &nchars))
		PG_RETURN_INT32(nchars);
	return textlen(fcinfo);
}

/* The number of these bytes that the first 'nchars' characters take. */
static uint32
clip_chars(const char *bytes, uint32 len, uint32 nchars)
{
	if (pg_database_encoding_max_length() == 1)
		return Min(len, nchars);
	/* core's functions would complain of a truncated character behind those */
	for (uint32 i = 0; i < len; i++)
		if (!sliced_utf8_is_follower(bytes[i]) && nchars-- == 0)
			return i;
	return len;
}

/*
 * True if the last character of these bytes is complete.  If not, core may want to
 * complain.
 */
static bool
ends_with_character(const struct varlena *text)
{
	uint32		end = VARSIZE_ANY_EXHDR(text);
	uint32		lead = end;

	if (end == 0 || pg_database_encoding_max_length() == 1)
		return true;
	do
		lead--;
	while (lead > 0 && sliced_utf8_is_follower(VARDATA_ANY(text)[lead]));
	return lead + pg_utf_mblen((const unsigned char *) VARDATA_ANY(text) + lead) <= end;
}

/*
 * The first 'nchars' characters from byte 'offset' on, in UTF-8 or an encoding of
 * single bytes.
 */
static struct varlena *
chars_from(struct varlena *value, uint32 size, uint32 offset, uint32 nchars)
{
	uint32		want = Min(size - offset,
						   (uint64) nchars * pg_database_encoding_max_length());
	struct varlena *result = detoast_attr_slice(value, offset, want);

	SET_VARSIZE(result, VARHDRSZ +
				clip_chars(VARDATA(result), VARSIZE(result) - VARHDRSZ, nchars));
	return result;
}

/*
 * The characters from byte 'offset' to the end.  Returns false if the last is
 * incomplete.
 */
static bool
rest_from(struct varlena *value, uint32 size, uint32 offset, Datum *result)
{
	struct varlena *rest = detoast_attr_slice(value, offset, size - offset);

	*result = PointerGetDatum(rest);
	return ends_with_character(rest);
}

/* substr(value, start, length); skips the characters before the start. */
static bool
substring_of(struct varlena *value, uint32 size, int32 start, int32 length, Datum *result)
{
	int32		end;
	int32		first = Max(start, 1) - 1;
	uint32		offset;
	struct varlena *chars;

	/* an error, or everything to the end: for core */
	if (length < 0 || pg_add_s32_overflow(start, length, &end) || end < 1)
		return false;
	/* near the start, core does well enough */
	if (first == 0 || !sliced_char_offset(value, first, &offset))
		return false;
	chars = chars_from(value, size, offset, end - 1 - first);
	*result = PointerGetDatum(chars);
	return ends_with_character(chars);
}

PG_FUNCTION_INFO_V1(sliced_text_substr);

Datum
sliced_text_substr(PG_FUNCTION_ARGS)
{
	uint32		size;
	struct varlena *value = our_argument(fcinfo, &size);
	Datum		result;

	if (value != NULL &&
		substring_of(value, size, PG_GETARG_INT32(1), PG_GETARG_INT32(2), &result))
		return result;
	return text_substr(fcinfo);
}

PG_FUNCTION_INFO_V1(sliced_text_substr_no_len);

Datum
sliced_text_substr_no_len(PG_FUNCTION_ARGS)
{
	uint32		size;
	struct varlena *value = our_argument(fcinfo, &size);
	uint32		offset;
	Datum		result;

	if (value != NULL && PG_GETARG_INT32(1) > 1 &&
		sliced_char_offset(value, PG_GETARG_INT32(1) - 1, &offset) &&
		rest_from(value, size, offset, &result))
		return result;
	return text_substr_no_len(fcinfo);
}

PG_FUNCTION_INFO_V1(sliced_text_right);

Datum
sliced_text_right(PG_FUNCTION_ARGS)
{
	uint32		size;
	struct varlena *value = our_argument(fcinfo, &size);
	int32		n = PG_GETARG_INT32(1);
	uint32		offset;
	Datum		result;

	if (value != NULL && n != PG_INT32_MIN &&
		(n < 0 ? sliced_char_offset(value, -n, &offset) :
		 sliced_last_chars_offset(value, n, &offset)) &&
		rest_from(value, size, offset, &result))
		return result;
	return text_right(fcinfo);
}

PG_FUNCTION_INFO_V1(sliced_bytea_get_byte);

Datum
sliced_bytea_get_byte(PG_FUNCTION_ARGS)
{
	uint32		size;
	struct varlena *value = our_argument(fcinfo, &size);
	int32		n = PG_GETARG_INT32(1);

	if (value != NULL && n >= 0 && n < size)
		PG_RETURN_INT32(((unsigned char *) VARDATA_ANY(detoast_attr_slice(value, n, 1)))[0]);
	return byteaGetByte(fcinfo);
}

PG_FUNCTION_INFO_V1(sliced_bytea_get_bit);

Datum
sliced_bytea_get_bit(PG_FUNCTION_ARGS)
{
	uint32		size;
	struct varlena *value = our_argument(fcinfo, &size);
	int64		n = PG_GETARG_INT64(1);

	if (value != NULL && n >= 0 && n / 8 < size)
	{
		unsigned char byte = VARDATA_ANY(detoast_attr_slice(value, n / 8, 1))[0];

		PG_RETURN_INT32((byte >> n % 8) & 1);
	}
	return byteaGetBit(fcinfo);
}
