/*
 * document.h
 *	  Values that a statement reads here and there.
 *
 * doc->>'a', doc->>'b' ... WHERE doc->>'c' = ... looks at one document many times.
 * So the bytes that were read of a value are kept until the statement is over, and
 * each of its slices is read once.
 */
#ifndef SLICED_VALUE_DOCUMENT_H
#define SLICED_VALUE_DOCUMENT_H

#include "postgres.h"

#include "base/compat.h"
#include "base/toaster.h"
#include "store/partial.h"
#include "store/rope.h"

struct SlicedDocument
{
	SlicedPartial partial;		/* its bytes, those that have been needed */
	struct varatt_external ptr;
	Oid			reader;			/* the function that asked for it last, or InvalidOid */
	uint64		used;			/* when it was used last */
	int			pins;			/* callers that need it while others are read */
	int			keepers;		/* callers that need the bytes read so far for
								 * longer */
	bool		forgotten;		/* only its keepers have it */
	MemoryContext owner;		/* of the expression that first asked for it; or NULL */
	void	   *hints;			/* what its toaster remembers of it, in the context of 'partial' */
};

/*
 * The document at a pointer of ours, to a stored value or a promise.  It stays
 * until the next call, or longer.  'fcinfo' is that of the function that asks, or
 * NULL: documents last as long as its expression.
 */
extern SlicedDocument *sliced_document_at(const struct varatt_external *ptr,
										  FunctionCallInfo fcinfo);

/* The whole of it as a rope, in the current context. */
extern SlicedRope *sliced_document_rope(const SlicedDocument *doc);

/* Bytes [at, at + len) of the document; NULL if they are damaged, or missing. */
extern const char *sliced_document_try_need(SlicedDocument *doc, uint32 at, uint32 len);

/* All bytes of the document at a pointer; likewise. */
extern const char *sliced_document_try_read(const struct varatt_external *ptr);

/* Raise the error that a document does not have the structure of its type. */
pg_noreturn extern void sliced_document_complain(const SlicedDocument *doc);

/* Read those of bytes [from, to) that are missing. */
extern void sliced_document_read(SlicedDocument *doc, uint32 from, uint32 to);

/*
 * Bytes [at, at + len) of the document.  They are in their place, and so are all
 * other bytes that have been needed.
 */
static inline const char *
sliced_document_need(SlicedDocument *doc, uint32 at, uint32 len)
{
	if (!sliced_partial_has(&doc->partial, at, at + len))
		sliced_document_read(doc, at, at + len);
	return doc->partial.bytes + at;
}

/*
 * Keep the bytes that have been read of a document where they are until this is
 * released, even if the document itself is forgotten meanwhile.
 */
extern void sliced_document_keep(SlicedDocument *doc);
extern void sliced_document_release(SlicedDocument *doc);

/* Called once, when the library is loaded. */
extern void sliced_documents_init(void);

#endif
