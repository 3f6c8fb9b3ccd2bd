/*
 * document.c
 *	  Values that a statement reads here and there.
 *
 * We keep the few documents that were used last.  A document belongs to the
 * expression that first asked for it, its owner.  It is freed when the statement of
 * its owner ends, when the transaction ends, and when a subtransaction is
 * rolled back, since most values of the documents may be gone then.  A pointer never
 * comes to stand for other bytes.
 *
 * A document is pinned only while bytes of it are fetched.  No expression, and no
 * subtransaction, ends within that time: after an error the document is
 * unpinned before any callback is told of an end.
 *
 * Core may look at a document after the function that gave it has returned.  Such a
 * document is kept: when we forget it, its memory stays until its keepers release it.
 */
#include "postgres.h"

#include "base/limits.h"
#include "base/stop.h"
#include "base/transaction.h"
#include "format/pointer.h"
#include "utils/memutils.h"
#include "value/document.h"
#include "value/promise.h"

static SlicedDocument *documents[SLICED_DOCUMENTS];
static int	ndocuments = 0;
static uint64 uses = 0;

/*
 * Contexts of expressions that own documents.  If there are more expressions, the
 * documents of the others stay until the transaction ends.
 */
static MemoryContext owners[SLICED_DOCUMENT_OWNERS];

static void
forget_document(int i)
{
	SlicedDocument *doc = documents[i];

	Assert(doc->pins == 0);
	documents[i] = documents[--ndocuments];
	doc->forgotten = true;
	if (doc->keepers == 0)
		MemoryContextDelete(doc->partial.mcxt);
}

void
sliced_document_keep(SlicedDocument *doc)
{
	doc->keepers++;
}

void
sliced_document_release(SlicedDocument *doc)
{
	doc->keepers--;
	if (doc->forgotten && doc->keepers == 0)
		MemoryContextDelete(doc->partial.mcxt);
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
	MemoryContext *entry = arg;

	for (int i = ndocuments - 1; i >= 0; i--)
		if (documents[i]->owner == *entry)
			forget_document(i);
	*entry = NULL;
}

/* The owner, or NULL.  From now on we are told when it ends. */
static MemoryContext
register_owner(MemoryContext owner)
{
	MemoryContextCallback *callback;
	MemoryContext *entry = NULL;

	for (int i = 0; i < lengthof(owners); i++)
	{
		if (owners[i] == owner)
			return owner;
		if (owners[i] == NULL && entry == NULL)
			entry = &owners[i];
	}
	if (entry == NULL)
		return NULL;
	callback = MemoryContextAlloc(owner, sizeof(MemoryContextCallback));
	SLICED_STOP("document.before-owner");
	callback->func = at_end_of_owner;
	callback->arg = entry;
	MemoryContextRegisterResetCallback(owner, callback);
	*entry = owner;
	return owner;
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
add_document(const struct varatt_external *ptr, MemoryContext owner)
{
	MemoryContext mcxt;
	SlicedDocument *doc;

	make_room(sliced_pointer_size(ptr));
	mcxt = AllocSetContextCreate(TopMemoryContext, "sliced document", ALLOCSET_SMALL_SIZES);
	PG_TRY();
	{
		doc = MemoryContextAllocZero(mcxt, sizeof(SlicedDocument));
		doc->ptr = *ptr;
		doc->owner = owner;
		SLICED_STOP("document.begun");
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

/*
 * Find or make the document at a pointer of ours.  A new one gets that owner, or
 * NULL.
 */
static SlicedDocument *
get_document(const struct varatt_external *ptr, MemoryContext owner)
{
	SlicedDocument *doc = document_at(ptr);

	if (doc == NULL)
		doc = add_document(ptr, owner == NULL ? NULL : register_owner(owner));
	doc->used = ++uses;
	return doc;
}

SlicedDocument *
sliced_document_at(const struct varatt_external *ptr, FunctionCallInfo fcinfo)
{
	SlicedDocument *doc = get_document(ptr, fcinfo == NULL ? NULL : fcinfo->flinfo->fn_mcxt);

	doc->reader = fcinfo == NULL ? InvalidOid : fcinfo->flinfo->fn_oid;
	return doc;
}

/*
 * Read bytes [from, to) of a promise.  Some may be bytes of its base, which is a
 * document too.
 */
static void
read_promise(SlicedDocument *doc, const SlicedRope *rope, uint32 from, uint32 to)
{
	SlicedDocument *base = get_document(&rope->base, doc->owner);
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

SlicedRope *
sliced_document_rope(const SlicedDocument *doc)
{
	return sliced_rope_at(&doc->ptr);
}

/* Read bytes of the document that are needed and not there. */
static void
fetch_bytes(SlicedDocument *doc, uint32 from, uint32 to)
{
	struct varatt_external stored;

	if (sliced_stored_at(&stored, &doc->ptr))
		sliced_partial_read(&doc->partial, &stored, from, to);
	else
		read_promise(doc, sliced_rope_to_read(&doc->ptr), from, to);
}

const char *
sliced_document_try_need(SlicedDocument *doc, uint32 at, uint32 len)
{
	struct varatt_external stored;

	if (!sliced_partial_has(&doc->partial, at, at + len) &&
		sliced_stored_at(&stored, &doc->ptr) &&
		!sliced_partial_try_read(&doc->partial, &stored, at, at + len))
		return NULL;
	return sliced_document_need(doc, at, len);
}

const char *
sliced_document_try_read(const struct varatt_external *ptr)
{
	SlicedDocument *doc = get_document(ptr, NULL);

	return sliced_document_try_need(doc, 0, doc->partial.size);
}

void
sliced_document_complain(const SlicedDocument *doc)
{
	ereport(ERROR,
			errcode(ERRCODE_DATA_CORRUPTED),
			errmsg("value %u does not have the structure of its type",
				   doc->ptr.va_valueid));
}

void
sliced_document_read(SlicedDocument *doc, uint32 from, uint32 to)
{
	SlicedRange missing;

	if (to > doc->partial.size || to < from)
		sliced_document_complain(doc);
	missing = sliced_partial_missing(&doc->partial, from, to);
	if (missing.from == to)
		return;

	doc->pins++;
	PG_TRY();
	{
		SLICED_STOP("document.before-fetch");
		fetch_bytes(doc, from, to);
		SLICED_STOP("document.fetched");
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
