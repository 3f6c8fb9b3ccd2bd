/*
 * column_value.c
 *	  The forms of a column's value on its way into a row.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "base/limits.h"
#include "codec/codec.h"
#include "format/pointer.h"
#include "row/column_value.h"
#include "store/reader.h"
#include "value/promise.h"

/* Compression hardly ever shortens a value by more than this factor. */
#define LIKELY_GAIN		4

/* Core's number of a compression method as that of a codec; -1 if it has none. */
static int
method_codec(uint32 method)
{
	switch (method)
	{
		case TOAST_PGLZ_COMPRESSION_ID:
			return SLICED_CODEC_PGLZ;
		case TOAST_LZ4_COMPRESSION_ID:
			return SLICED_CODEC_LZ4;
		default:
			return -1;
	}
}

/*
 * True if core can decompress what this codec has compressed.  Core may be built
 * without lz4; pg_sliced always has it.
 */
static bool
core_has_codec(int codec)
{
	switch (codec)
	{
		case SLICED_CODEC_PGLZ:
			return true;
#ifdef USE_LZ4
		case SLICED_CODEC_LZ4:
			return true;
#endif
		default:
			return false;
	}
}

bool
sliced_core_has_method(ToastCompressionId method)
{
	return core_has_codec(method_codec(method));
}

/* The codec that compresses values within a row, for columns with codec 'codec'. */
static int
inline_codec(int codec)
{
	if (codec == SLICED_CODEC_NONE || core_has_codec(codec))
		return codec;
	return core_has_codec(SLICED_CODEC_LZ4) ? SLICED_CODEC_LZ4 : SLICED_CODEC_PGLZ;
}

/*
 * True if the value may be compressed within a row.  Core tells only by the lengths
 * whether a value that it moves out is compressed: with its header for compression,
 * the value must be shorter than without.
 */
static bool
is_shorter_compressed(uint32 rawlen, uint32 storedlen)
{
	return storedlen + VARHDRSZ_COMPRESSED + SLICED_GAIN_INLINE < rawlen;
}

SlicedDraft *
sliced_column_draft(struct varlena *value, SlicedCompression compression)
{
	SlicedDraft *draft = palloc(sizeof(SlicedDraft));

	/* after detoasting it has no compression left, but perhaps a short header */
	value = detoast_attr(value);
	sliced_draft_init(draft, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), compression);
	return draft;
}

/*
 * Turn 'result', which already has its 'storedlen' compressed bytes, into a value as
 * core compresses it.  Every such value is made here.
 */
static struct varlena *
compressed_value(char *result, int codec, uint32 rawlen, uint32 storedlen)
{
	Assert(core_has_codec(codec));
	SET_VARSIZE_COMPRESSED(result, VARHDRSZ_COMPRESSED + storedlen);
	TOAST_COMPRESS_SET_SIZE_AND_COMPRESS_METHOD((struct varlena *) result, rawlen,
												codec == SLICED_CODEC_PGLZ ?
												TOAST_PGLZ_COMPRESSION_ID :
												TOAST_LZ4_COMPRESSION_ID);
	return (struct varlena *) result;
}

/*
 * A value of ours as it is stored, if 'codec' has compressed it as a whole; NULL
 * otherwise.
 */
static struct varlena *
fetch_ours(const struct varatt_external *ptr, int codec)
{
	Relation	toastrel = table_open(ptr->va_toastrelid, AccessShareLock);
	uint32		size = sliced_pointer_size(ptr);
	uint32		storedlen;
	char	   *value = sliced_value_compressed(toastrel, ptr->va_valueid, size, codec,
												VARHDRSZ_COMPRESSED, &storedlen);

	table_close(toastrel, NoLock);
	return value == NULL || !is_shorter_compressed(size, storedlen) ? NULL :
		compressed_value(value, codec, size, storedlen);
}

struct varlena *
sliced_column_fetch(const SlicedColumn *column, struct varlena *value)
{
	struct varatt_external ptr;
	struct varlena *ours;
	int			codec = column->compression.codec;

	if (!VARATT_IS_EXTERNAL_ONDISK(value) || column->compression.dictionary.id != 0)
		return detoast_attr(value);
	VARATT_EXTERNAL_GET_POINTER(ptr, value);
	if (ptr.va_rawsize - VARHDRSZ > SLICED_SLICE_USUAL ||
		sliced_policy_cuts(&column->toaster->policy, ptr.va_rawsize - VARHDRSZ))
		return detoast_attr(value);
	if (VARATT_EXTERNAL_IS_COMPRESSED(ptr) &&
		method_codec(VARATT_EXTERNAL_GET_COMPRESS_METHOD(ptr)) == codec)
		return detoast_external_attr(value);
	if (core_has_codec(codec) &&
		sliced_stored_pointer(&ptr, value) && (ours = fetch_ours(&ptr, codec)) != NULL)
		return ours;
	return detoast_attr(value);
}

SlicedDraft *
sliced_column_copy(const SlicedColumn *column, struct varlena *value, Size limit)
{
	struct varatt_external ptr;
	SlicedCompression compression = column->compression;
	SlicedDraft *draft;
	Relation	toastrel;
	uint32		size;
	bool		copied;

	/*
	 * bytes do not tell the level that compressed them, and a dictionary stays in its
	 * table
	 */
	if (sliced_codec_get(compression.codec)->max_level > 0 || compression.dictionary.id != 0 ||
		compression.codec == SLICED_CODEC_NONE || !sliced_stored_pointer(&ptr, value))
		return NULL;
	size = sliced_pointer_size(&ptr);
	if (size <= LIKELY_GAIN * limit)
		return NULL;
	draft = palloc(sizeof(SlicedDraft));
	toastrel = table_open(ptr.va_toastrelid, AccessShareLock);
	copied = sliced_draft_copy(draft, toastrel, ptr.va_valueid, size, compression,
							   &column->toaster->policy, limit);
	table_close(toastrel, NoLock);
	return copied ? draft : NULL;
}

void
sliced_column_draft_final(SlicedDraft *draft, struct varlena *value,
						  SlicedCompression compression, const SlicedPolicy *policy)
{
	if (VARATT_IS_COMPRESSED(value) &&
		method_codec(TOAST_COMPRESS_METHOD(value)) == compression.codec &&
		!sliced_policy_cuts(policy, VARDATA_COMPRESSED_GET_EXTSIZE(value)) &&
		sliced_draft_take(draft, VARDATA_COMPRESSED_GET_EXTSIZE(value), compression,
						  (char *) value + VARHDRSZ_COMPRESSED,
						  VARSIZE(value) - VARHDRSZ_COMPRESSED))
		return;
	value = detoast_attr(value);
	sliced_draft_final(draft, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), compression, policy);
}

bool
sliced_column_might_stay_inline(struct varlena *value, SlicedCompression compression)
{
	SlicedDraft probe;
	uint32		len;

	value = detoast_attr(value);
	len = VARSIZE_ANY_EXHDR(value);
	compression.dictionary.id = 0;
	sliced_draft_init(&probe, VARDATA_ANY(value), Min(len, SLICED_PROBE), compression);
	sliced_draft_free(&probe);
	/* the whole value may compress twice as well as its beginning */
	return probe.first_stored > 0 &&
		(uint64) probe.first_stored * len / probe.first_raw < 2 * SLICED_ROW_INLINE_MAX;
}

struct varlena *
sliced_column_inline_form(SlicedDraft *draft, Size limit)
{
	int			codec = inline_codec(draft->compression.codec);
	SlicedDraft other;
	char	   *result;

	/*
	 * if zstd, or a dictionary, leaves it too long, no other codec makes it short
	 * enough
	 */
	if (draft->first_stored == 0 || draft->first_raw < draft->len ||
		draft->first_stored > limit)
		return NULL;

	if (codec != draft->compression.codec || draft->first_has_dictionary)
	{
		sliced_draft_init(&other, draft->raw, draft->len, (SlicedCompression) {codec});
		if (other.first_stored == 0 || other.first_raw < other.len)
			return NULL;
		draft = &other;
	}

	if (!is_shorter_compressed(draft->len, draft->first_stored))
		return NULL;
	result = palloc(VARHDRSZ_COMPRESSED + draft->first_stored);
	memcpy(result + VARHDRSZ_COMPRESSED, draft->first, draft->first_stored);
	return compressed_value(result, codec, draft->len, draft->first_stored);
}
