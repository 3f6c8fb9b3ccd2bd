/*
 * characters.c
 *	  Finds characters in a text of ours, without reading all of it.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "format/pointer.h"
#include "format/utf8.h"
#include "mb/pg_wchar.h"
#include "store/chars.h"
#include "toaster/text/characters.h"
#include "value/promise.h"

bool
sliced_char_offset(const struct varlena *text, uint32 nchar, uint32 *offset)
{
	struct varatt_external ptr;

	if (!sliced_pointer_get(&ptr, text))
		return false;
	if (pg_database_encoding_max_length() == 1)
	{
		*offset = Min(nchar, sliced_pointer_size(&ptr));
		return true;
	}
	return GetDatabaseEncoding() == PG_UTF8 && sliced_stored_pointer(&ptr, text) &&
		sliced_chars_seek(&ptr, nchar, offset, NULL);
}

bool
sliced_last_chars_offset(struct varlena *text, uint32 nchars, uint32 *offset)
{
	struct varatt_external ptr;
	uint32		size;
	uint32		pos;
	struct varlena *end;

	if (!sliced_pointer_get(&ptr, text))
		return false;
	size = sliced_pointer_size(&ptr);
	if (pg_database_encoding_max_length() == 1)
	{
		*offset = size - Min(nchars, size);
		return true;
	}
	if (GetDatabaseEncoding() != PG_UTF8)
		return false;

	pos = Min(size, (uint64) nchars * pg_encoding_max_length(PG_UTF8));
	end = detoast_attr_slice(text, size - pos, pos);
	while (pos > 0 && nchars > 0)
		if (!sliced_utf8_is_follower(VARDATA_ANY(end)[--pos]))
			nchars--;
	*offset = size - VARSIZE_ANY_EXHDR(end) + pos;
	pfree(end);
	return true;
}

bool
sliced_char_count(const struct varlena *text, uint32 *nchars)
{
	struct varatt_external ptr;
	uint32		end;

	if (!sliced_pointer_get(&ptr, text))
		return false;
	if (pg_database_encoding_max_length() == 1)
	{
		*nchars = sliced_pointer_size(&ptr);
		return true;
	}
	return GetDatabaseEncoding() == PG_UTF8 && sliced_stored_pointer(&ptr, text) &&
		sliced_chars_seek(&ptr, PG_UINT32_MAX, &end, nchars);
}
