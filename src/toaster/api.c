/*
 * api.c
 *	  What pg_sliced does for toasters of other extensions (base/toaster.h).
 *
 * They are not ours, so places beyond a document are errors here, where our own
 * toasters have assertions.
 */
#include "postgres.h"

#include "format/pointer.h"
#include "toaster/api.h"
#include "toaster/column.h"
#include "toaster/registry.h"
#include "toaster/subscript.h"
#include "value/document.h"
#include "value/result.h"

static SlicedDocument *
document_of_argument(FunctionCallInfo fcinfo, int arg)
{
	struct varatt_external ptr;

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
check_range(uint64 start, uint64 len, uint32 size)
{
	if (start + len > size)
		ereport(ERROR,
				errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				errmsg("a toaster asks for bytes %llu to %llu of a value of %u bytes",
					   (unsigned long long) start, (unsigned long long) (start + len), size));
}

static const char *
document_need(SlicedDocument *doc, uint32 start, uint32 len)
{
	check_range(start, len, doc->partial.size);
	return sliced_document_need(doc, start, len);
}

static Datum
document_datum(SlicedDocument *doc)
{
	return PointerGetDatum(doc->partial.varlena);
}

static SlicedRope *
rope_begin(const SlicedRope *like)
{
	return sliced_rope_make(&like->base);
}

static void
rope_add_rope(SlicedRope *rope, const SlicedRope *other, uint32 start, uint32 len)
{
	check_range(start, len, other->len);
	if (memcmp(&rope->base, &other->base, sizeof(rope->base)) != 0)
		ereport(ERROR,
				errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				errmsg("a toaster joins ropes of different values"));
	sliced_rope_add_rope(rope, other, start, len);
}

static const SlicedApi sliced_api_functions = {
	.api = SLICED_TOASTER_API,
	.document = document_of_argument,
	.document_size = document_size,
	.document_need = document_need,
	.document_datum = document_datum,
	.rope_of_document = sliced_document_rope,
	.rope_begin = rope_begin,
	.rope_add_rope = rope_add_rope,
	.rope_add_bytes = sliced_rope_add_bytes,
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
