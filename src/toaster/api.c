/*
 * api.c
 *	  Functions of pg_sliced for toasters of other extensions (base/toaster.h).
 *
 * We cannot trust them, so an offset beyond a document is an error here, where our
 * own toasters have assertions.  Errors name the wrong function.  A comparison of
 * values has no function; then at_work.c names the toaster.
 */
#include "postgres.h"

#include "base/limits.h"
#include "format/pointer.h"
#include "toaster/api.h"
#include "toaster/column.h"
#include "toaster/registry.h"
#include "toaster/subscript.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "value/document.h"
#include "value/result.h"
#include "value/same_bytes.h"

/* The name of the function that is wrong, at the beginning of a message. */
static const char *
name_of(Oid function)
{
	return OidIsValid(function) ? psprintf("function %s", format_procedure(function)) : "a toaster";
}

static SlicedDocument *
document_of_argument(FunctionCallInfo fcinfo, int arg)
{
	struct varatt_external ptr;

	if (unlikely(arg < 0 || arg >= PG_NARGS()))
		ereport(ERROR,
				errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				errmsg("%s asks for the document in argument %d, and has %d",
					   name_of(fcinfo->flinfo == NULL ? InvalidOid : fcinfo->flinfo->fn_oid), arg,
					   PG_NARGS()));
	if (fcinfo->args[arg].isnull ||
		!sliced_pointer_get(&ptr, (struct varlena *) DatumGetPointer(fcinfo->args[arg].value)))
		return NULL;
	return sliced_document_at(&ptr, fcinfo);
}

static uint32
document_size(const SlicedDocument *doc)
{
	return doc->partial.size;
}

static void
check_range(Oid function, uint64 start, uint64 len, uint32 size)
{
	if (unlikely(start + len > size))
		ereport(ERROR,
				errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				errmsg("%s asks for bytes %llu to %llu of a value of %u bytes", name_of(function),
					   (unsigned long long) start, (unsigned long long) (start + len), size));
}

/* An error if the rope has no room for 'len' more bytes. */
static void
check_length(const SlicedRope *rope, uint32 len)
{
	if (unlikely((uint64) rope->len + len > MaxAllocSize - VARHDRSZ))
		ereport(ERROR,
				errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("%s makes a value of %llu bytes", name_of(rope->maker),
					   (unsigned long long) rope->len + len));
}

static void
check_base(const SlicedRope *rope, const SlicedRope *other)
{
	if (unlikely(memcmp(&rope->base, &other->base, sizeof(rope->base)) != 0))
		ereport(ERROR,
				errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				errmsg("%s joins ropes of different values", name_of(rope->maker)));
}

static const char *
document_need(SlicedDocument *doc, uint32 start, uint32 len)
{
	check_range(doc->reader, start, len, doc->partial.size);
	return sliced_document_need(doc, start, len);
}

static Datum
document_datum(SlicedDocument *doc)
{
	return PointerGetDatum(doc->partial.varlena);
}

static SlicedRope *
rope_of_document(const SlicedDocument *doc)
{
	SlicedRope *rope = sliced_document_rope(doc);

	rope->maker = doc->reader;
	return rope;
}

static SlicedRope *
rope_begin(const SlicedRope *like)
{
	SlicedRope *rope = sliced_rope_make(&like->base);

	rope->maker = like->maker;
	return rope;
}

static void
rope_add_rope(SlicedRope *rope, const SlicedRope *other, uint32 start, uint32 len)
{
	check_base(rope, other);
	check_range(rope->maker, start, len, other->len);
	check_length(rope, len);
	sliced_rope_add_rope(rope, other, start, len);
}

static void
rope_add_bytes(SlicedRope *rope, const char *bytes, uint32 len)
{
	check_length(rope, len);
	sliced_rope_add_bytes(rope, bytes, len);
}

static void
rope_add_changed(SlicedRope *rope, const char *bytes, uint32 len, SlicedDocument *old,
				 const SlicedRope *whole, uint32 start, uint32 old_len)
{
	const char *old_bytes = document_need(old, start, old_len);
	uint32		suffix = sliced_common_suffix(old_bytes + old_len, bytes + len, Min(len, old_len));

	check_base(rope, whole);
	check_range(rope->maker, start, old_len, whole->len);
	check_length(rope, len);
	if (suffix < len && suffix < SLICED_SIMILAR)
		suffix = 0;
	sliced_rope_add_similar(rope, bytes, len - suffix, old_bytes, old_len - suffix, whole, start);
	sliced_rope_add_rope(rope, whole, start + old_len - suffix, suffix);
}

static const SlicedApi sliced_api_functions = {
	.api = SLICED_TOASTER_API,
	.document = document_of_argument,
	.document_size = document_size,
	.document_need = document_need,
	.document_datum = document_datum,
	.rope_of_document = rope_of_document,
	.rope_begin = rope_begin,
	.rope_add_rope = rope_add_rope,
	.rope_add_bytes = rope_add_bytes,
	.rope_add_changed = rope_add_changed,
	.result_rope = sliced_result_of_rope,
	.result_unchanged = sliced_result_unchanged,
	.subscripts_are_harmless = sliced_subscripts_are_harmless,
	.toaster_of_type = sliced_toaster_of_type,
	.toaster_of_column = sliced_toaster_of_column
};

void
sliced_api_init(void)
{
	*find_rendezvous_variable(SLICED_RENDEZVOUS) = (void *) &sliced_api_functions;
}
