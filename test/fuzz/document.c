/*
 * document.c
 *	  Documents in memory.
 */
#include "postgres.h"

#include <sanitizer/asan_interface.h>

#include "document.h"
#include "format/pointer.h"
#include "toaster/difference.h"

static SlicedDocument the_document;
static char *copy;
static const char *original;

SlicedDocument *
document_make(const char *bytes, uint32 len)
{
	char		pointer[TOAST_POINTER_SIZE];

	original = bytes;
	copy = memcpy((char *) palloc(len + VARHDRSZ) + VARHDRSZ, bytes, len);
	ASAN_POISON_MEMORY_REGION(copy, len);
	memset(&the_document, 0, sizeof(the_document));
	SET_VARSIZE(copy - VARHDRSZ, len + VARHDRSZ);
	sliced_pointer_set(pointer, 1, 2, len);
	sliced_pointer_get(&the_document.ptr, (struct varlena *) pointer);
	the_document.partial.size = len;
	the_document.partial.bytes = copy;
	the_document.partial.varlena = (struct varlena *) (copy - VARHDRSZ);
	return &the_document;
}

void
sliced_document_complain(const SlicedDocument *doc)
{
	ereport(ERROR, errmsg("broken"));
}

void
sliced_document_read(SlicedDocument *doc, uint32 from, uint32 to)
{
	if (to > doc->partial.size || to < from)
		sliced_document_complain(doc);
	ASAN_UNPOISON_MEMORY_REGION(copy + from, to - from);
	/* the same bytes, or those of earlier calls and these */
	if (from <= doc->partial.last.to && to >= doc->partial.last.from)
	{
		from = Min(from, doc->partial.last.from);
		to = Max(to, doc->partial.last.to);
	}
	doc->partial.last = (SlicedRange) {from, to};
}

const char *
sliced_document_try_need(SlicedDocument *doc, uint32 at, uint32 len)
{
	return sliced_document_need(doc, at, len);
}

SlicedDocument *
sliced_document_at(const struct varatt_external *ptr, FunctionCallInfo fcinfo)
{
	return &the_document;
}

SlicedRope *
sliced_document_rope(const SlicedDocument *doc)
{
	SlicedRope *rope = sliced_rope_make(&doc->ptr);

	sliced_rope_add_base(rope, 0, doc->partial.size);
	return rope;
}

void
document_check_rope(const SlicedRope *rope, const char *bytes, uint32 len)
{
	uint32		at = 0;

	for (int i = 0; i < rope->nruns; i++)
	{
		const SlicedRun *run = &rope->runs[i];

		if (run->len > rope->len - at || (bytes != NULL && run->len > len - at))
			abort();
		if (run->bytes == NULL && (uint64) run->start + run->len > the_document.partial.size)
			abort();
		if (bytes != NULL &&
			memcmp(run->bytes != NULL ? run->bytes : original + run->start, bytes + at, run->len) != 0)
			abort();
		at += run->len;
	}
	if (at != rope->len || (bytes != NULL && at != len))
		abort();
}
