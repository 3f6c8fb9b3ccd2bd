/*
 * document.c
 *	  Values that a statement reads here and there.
 *
 * We keep the few documents that were used last.  They are freed with the
 * expression that first asked for one, which is when its statement ends; with the
 * transaction; and when a part of it is rolled back, which takes away most of the
 * values that they are of.  A pointer never comes to stand for other bytes.
 */
#include "postgres.h"

#include "base/limits.h"
#include "base/transaction.h"
#include "format/pointer.h"
#include "utils/memutils.h"
#include "value/document.h"
#include "value/promise.h"

static SlicedDocument *documents[SLICED_DOCUMENTS];
static int	ndocuments = 0;
static uint64 uses = 0;
static bool ends_with_owner = false;	/* freed with an expression that asked for one */

static void
forget_document(int i)
{
	MemoryContextDelete(documents[i]->partial.mcxt);
	documents[i] = documents[--ndocuments];
}

static void
forget_all(void)
{
	while (ndocuments > 0)
		forget_document(ndocuments - 1);
}

static void
at_end_of_owner(void *arg)
{
	ends_with_owner = false;
	forget_all();
}

/*
 * Forget everything when this context is freed, unless we wait for another one
 * already.
 */
static void
end_with(MemoryContext owner)
{
	MemoryContextCallback *callback;

	if (ends_with_owner)
		return;
	callback = MemoryContextAlloc(owner, sizeof(MemoryContextCallback));
	callback->func = at_end_of_owner;
	callback->arg = NULL;
	MemoryContextRegisterResetCallback(owner, callback);
	ends_with_owner = true;
}

/* Make room for one more document, of 'size' bytes. */
static void
make_room(uint32 size)
{
	for (;;)
	{
		uint64		together = size;
		int			oldest = -1;

		for (int i = 0; i < ndocuments; i++)
		{
			together += documents[i]->partial.size;
			if (documents[i]->pins == 0 &&
				(oldest < 0 || documents[i]->used < documents[oldest]->used))
				oldest = i;
		}
		if (oldest < 0 || (ndocuments < SLICED_DOCUMENTS && together <= SLICED_DOCUMENTS_TOGETHER))
			break;
		forget_document(oldest);
	}
	if (ndocuments == SLICED_DOCUMENTS)
		elog(ERROR, "too many documents are being read at once");
}

static SlicedDocument *
add_document(const struct varatt_external *ptr)
{
	MemoryContext mcxt;
	SlicedDocument *doc;

	make_room(sliced_pointer_size(ptr));
	mcxt = AllocSetContextCreate(TopMemoryContext, "sliced document", ALLOCSET_SMALL_SIZES);
	PG_TRY();
	{
		doc = MemoryContextAllocZero(mcxt, sizeof(SlicedDocument));
		doc->ptr = *ptr;
		sliced_partial_init(&doc->partial, mcxt, sliced_pointer_size(ptr));
	}
	PG_CATCH();
	{
		MemoryContextDelete(mcxt);
		PG_RE_THROW();
	}
	PG_END_TRY();
	documents[ndocuments++] = doc;
	return doc;
}

static SlicedDocument *
document_at(const struct varatt_external *ptr)
{
	for (int i = 0; i < ndocuments; i++)
	{
		SlicedDocument *doc = documents[i];

		if (doc->ptr.va_valueid == ptr->va_valueid &&
			doc->ptr.va_toastrelid == ptr->va_toastrelid &&
			doc->ptr.va_rawsize == ptr->va_rawsize)
		{
			doc->used = ++uses;
			return doc;
		}
	}
	return NULL;
}

/* The document at a pointer of ours. */
static SlicedDocument *
get_document(const struct varatt_external *ptr)
{
	SlicedDocument *doc = document_at(ptr);

	if (doc == NULL)
		doc = add_document(ptr);
	doc->used = ++uses;
	return doc;
}

SlicedDocument *
sliced_document_at(const struct varatt_external *ptr, FunctionCallInfo fcinfo)
{
	if (fcinfo != NULL)
		end_with(fcinfo->flinfo->fn_mcxt);
	return get_document(ptr);
}

/* Read bytes [from, to) of a promise: some are of its base, which is a document too. */
static void
read_promise(SlicedDocument *doc, const SlicedRope *rope, uint32 from, uint32 to)
{
	SlicedDocument *base = get_document(&rope->base);
	uint32		at = 0;

	from -= from % SLICED_DOCUMENT_STEP;
	to = Min((uint64) to + (SLICED_DOCUMENT_STEP - 1) - (to + (SLICED_DOCUMENT_STEP - 1)) % SLICED_DOCUMENT_STEP, doc->partial.size);

	for (int i = 0; i < rope->nruns; i++)
	{
		const SlicedRun *run = &rope->runs[i];
		uint32		first = Max(from, at);
		uint32		next = Min(to, at + run->len);

		if (first < next)
			memcpy(doc->partial.bytes + first,
				   run->bytes != NULL ? run->bytes + (first - at) :
				   sliced_document_need(base, run->start + (first - at), next - first),
				   next - first);
		at += run->len;
	}
	sliced_partial_add(&doc->partial, from, to);
}

/* The document's pointer as a datum, in 'buffer'. */
static struct varlena *
pointer_to(const SlicedDocument *doc, char buffer[TOAST_POINTER_SIZE])
{
	sliced_pointer_set(buffer, doc->ptr.va_toastrelid, doc->ptr.va_valueid, doc->partial.size);
	return (struct varlena *) buffer;
}

SlicedRope *
sliced_document_rope(const SlicedDocument *doc)
{
	char		buffer[TOAST_POINTER_SIZE];

	return sliced_rope_of(pointer_to(doc, buffer));
}

/* Read bytes of the document that are needed and not there. */
static void
fetch_bytes(SlicedDocument *doc, uint32 from, uint32 to)
{
	char		buffer[TOAST_POINTER_SIZE];
	struct varlena *datum = pointer_to(doc, buffer);
	struct varatt_external stored;

	if (sliced_stored_pointer(&stored, datum))
		sliced_partial_read(&doc->partial, &stored, from, to);
	else
		read_promise(doc, sliced_rope_of(datum), from, to);
}

const char *
sliced_document_try_read(const struct varatt_external *ptr)
{
	SlicedDocument *doc = get_document(ptr);
	uint32		size = doc->partial.size;
	char		buffer[TOAST_POINTER_SIZE];
	struct varatt_external stored;

	if (!sliced_partial_has(&doc->partial, 0, size) &&
		sliced_stored_pointer(&stored, pointer_to(doc, buffer)) &&
		!sliced_partial_try_read(&doc->partial, &stored, 0, size))
		return NULL;
	return sliced_document_need(doc, 0, size);
}

void
sliced_document_read(SlicedDocument *doc, uint32 from, uint32 to)
{
	SlicedRange missing;

	if (to > doc->partial.size || to < from)
		ereport(ERROR,
				errcode(ERRCODE_DATA_CORRUPTED),
				errmsg("value %u does not have the structure of its type",
					   doc->ptr.va_valueid));
	missing = sliced_partial_missing(&doc->partial, from, to);
	if (missing.from == to)
		return;

	doc->pins++;
	PG_TRY();
	{
		fetch_bytes(doc, from, to);
	}
	PG_FINALLY();
	{
		doc->pins--;
	}
	PG_END_TRY();
}

static void
at_end_of_subtransaction(bool committed, SubTransactionId mine, SubTransactionId parent)
{
	if (!committed)
		forget_all();
}

void
sliced_documents_init(void)
{
	sliced_transaction_at_end(forget_all, at_end_of_subtransaction);
}
