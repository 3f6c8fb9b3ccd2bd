/*
 * late.c
 *	  The library is loaded while somebody decodes.
 *
 * Where the server does not preload it, a process that decodes loads it when core opens the
 * first table of ours, to pass on a change of it.  From then on we join in.  But what the
 * process has read of the WAL so far went by without us; announcements look like messages
 * of a user's then, and cannot be told from those.  So if there are any, or if some of what
 * was read is not in memory, decoding stops, and says what to do.
 *
 * Core does not say where its buffer is.  It is the first thing in a memory context of its
 * own; we look there for what points to that context and to its children.
 */
#include "postgres.h"

#include "am/am.h"
#include "am/announce.h"
#include "base/compat.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

static bool is_late = false;

/* The buffer is looked for in the first bytes of its context, which have 8 kB at least. */
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

/* May this transaction have announcements that we have not seen? */
static bool
may_announce(ReorderBufferTXN *txn)
{
	dlist_iter	iter;

	if (rbtxn_is_serialized(txn) || rbtxn_is_serialized_clear(txn) || rbtxn_is_streamed(txn))
		return true;
	dlist_foreach(iter, &txn->changes)
	{
		ReorderBufferChange *change = dlist_container(ReorderBufferChange, node, iter.cur);

		if (change->action == REORDER_BUFFER_CHANGE_MESSAGE &&
			strcmp(change->data.msg.prefix, SLICED_MESSAGE_PREFIX) == 0)
			return true;
	}
	dlist_foreach(iter, &txn->subtxns)
		if (may_announce(dlist_container(ReorderBufferTXN, node, iter.cur)))
			return true;
	return false;
}

static bool
any_may_announce(ReorderBuffer *rb)
{
	dlist_iter	iter;

	dlist_foreach(iter, &rb->toplevel_by_lsn)
		if (may_announce(dlist_container(ReorderBufferTXN, node, iter.cur)))
			return true;
	return false;
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
	if (rb == NULL || any_may_announce(rb))
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("logical decoding has begun without pg_sliced, and needs it"),
				errhint("Add pg_sliced to shared_preload_libraries, and restart the server."));
}
