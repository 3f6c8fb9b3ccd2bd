/*
 * late.c
 *	  The library is loaded while its process is decoding.
 *
 * If the server does not preload the library, a process that decodes loads it when
 * core opens the first table of ours, to pass on a change of it.  From then on we
 * join in.  But we have not seen the WAL that the process has read so far.  So we
 * read it once more: if a transaction that is not finished yet has announced values,
 * decoding stops with an error that says what to do.
 *
 * Core does not say where its buffer is.  The buffer is the first thing in a memory
 * context of its own; we look there for pointers to that context and to its children.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "access/xlogreader.h"
#include "access/xlogrecovery.h"
#include "access/xlogutils.h"
#include "decode/announce.h"
#include "decode/late.h"
#include "replication/reorderbuffer.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

static bool is_late = false;

/* We search the first bytes of the context for the buffer; it has at least 8 kB. */
#define SEARCHED	2048

static bool
is_child(MemoryContext context, MemoryContext child, const char *name)
{
	for (MemoryContext c = context->firstchild; c != NULL; c = c->nextchild)
		if (c == child)
			return strcmp(c->name, name) == 0;
	return false;
}

static ReorderBuffer *
find_in(MemoryContext context)
{
	for (Size at = 0; at < SEARCHED; at += MAXIMUM_ALIGNOF)
	{
		ReorderBuffer *rb = (ReorderBuffer *) ((char *) context + at);

		if (rb->context == context &&
			is_child(context, rb->change_context, "Change") &&
			is_child(context, rb->txn_context, "TXN") &&
			is_child(context, rb->tup_context, "Tuples"))
			return rb;
	}
	return NULL;
}

static ReorderBuffer *
find_below(MemoryContext context)
{
	ReorderBuffer *rb = NULL;

	if (strcmp(context->name, "ReorderBuffer") == 0)
		return find_in(context);
	for (MemoryContext c = context->firstchild; c != NULL && rb == NULL; c = c->nextchild)
		rb = find_below(c);
	return rb;
}

/* True if this is one of these transactions, or of their subtransactions. */
static bool
has_transaction(dlist_head *txns, TransactionId xid)
{
	dlist_iter	iter;

	dlist_foreach(iter, txns)
	{
		ReorderBufferTXN *txn = dlist_container(ReorderBufferTXN, node, iter.cur);

		if (txn->xid == xid || has_transaction(&txn->subtxns, xid))
			return true;
	}
	return false;
}

/*
 * The range from the first record of the transactions in the buffer to the commit
 * that is being passed on.
 */
static void
what_was_read(ReorderBuffer *rb, XLogRecPtr *begin, XLogRecPtr *end)
{
	dlist_iter	iter;

	*begin = *end = InvalidXLogRecPtr;
	dlist_foreach(iter, &rb->toplevel_by_lsn)
	{
		ReorderBufferTXN *txn = dlist_container(ReorderBufferTXN, node, iter.cur);

		if (*begin == InvalidXLogRecPtr || txn->first_lsn < *begin)
			*begin = txn->first_lsn;
		*end = Max(*end, txn->end_lsn);
	}
	/* the transaction is streamed before its commit */
	if (*end == InvalidXLogRecPtr)
		*end = RecoveryInProgress() ? GetXLogReplayRecPtr(NULL) : GetFlushRecPtr(NULL);
}

static bool
any_has_announced(ReorderBuffer *rb)
{
	XLogReaderState *reader = XLogReaderAllocate(wal_segment_size, NULL,
												 XL_ROUTINE(.page_read = read_local_xlog_page,
															.segment_open = wal_segment_open,
															.segment_close = wal_segment_close),
												 NULL);
	XLogRecPtr	begin;
	XLogRecPtr	end;
	bool		found = false;

	if (reader == NULL)
		ereport(ERROR, errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"));
	what_was_read(rb, &begin, &end);
	PG_TRY();
	{
		XLogBeginRead(reader, begin);
		while (!found && reader->EndRecPtr < end)
		{
			char	   *error;

			CHECK_FOR_INTERRUPTS();
			if (XLogReadRecord(reader, &error) == NULL)
				ereport(ERROR,
						errcode_for_file_access(),
						errmsg("could not read WAL at %X/%X: %s",
							   LSN_FORMAT_ARGS(reader->EndRecPtr), error != NULL ? error : "no record"));
			found = sliced_is_announcement(reader) &&
				has_transaction(&rb->toplevel_by_lsn, XLogRecGetXid(reader));
		}
	}
	PG_FINALLY();
	{
		XLogReaderFree(reader);
	}
	PG_END_TRY();
	return found;
}

void
sliced_late_init(void)
{
	is_late = HistoricSnapshotActive();
}

void
sliced_late_join(void)
{
	ReorderBuffer *rb;

	if (!is_late)
		return;
	/* after an error, decoding begins anew in this process, with us */
	is_late = false;
	rb = find_below(TopMemoryContext);
	if (rb == NULL || any_has_announced(rb))
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("logical decoding has begun without pg_sliced, and needs it"),
				errhint("Add pg_sliced to shared_preload_libraries, and restart the server."));
}
