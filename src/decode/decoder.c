/*
 * decoder.c
 *	  Gives values of ours to output plugins.
 *
 * Core's decoder collects the changes of a transaction, with rows as they are on
 * disk, and passes them to an output plugin.  We join it at three places.
 *
 * The WAL: we exchange the function for logical messages for ours, which queues
 * announcements (decode/announce.h) so that no stream ends between one and its rows,
 * and leaves all other messages to core's.
 *
 * Messages on their way to the plugin: announcements end here, in a list.
 *
 * Changes on their way to the plugin: pointers to announced values become pointers to
 * objects that read the value when the plugin wants its bytes.  If it does not look
 * at a row, or a column, we read nothing; we keep nothing, and spill nothing.
 * Pointers without an announcement are of values that have not changed, and stay, as
 * core's do.
 *
 * An announcement names the file, so we do not look for it in the catalogs of either
 * time.  The value is there: its rows stay as long as decoders may want them
 * (decode/retention.c).
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/rmgr.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog_internal.h"
#include "decode/announce.h"
#include "decode/decoder.h"
#include "format/pointer.h"
#include "miscadmin.h"
#include "replication/decode.h"
#include "replication/logical.h"
#include "replication/message.h"
#include "replication/reorderbuffer.h"
#include "replication/slot.h"
#include "replication/snapbuild.h"
#include "storage/procarray.h"
#include "store/reader.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/*
 * The queued bytes: a number that only this process knows, so that no user's message
 * passes for an announcement, and then the announcement.
 */
static uint64 secret = 0;

#define QUEUED_SIZE(n)	(sizeof(secret) + SLICED_ANNOUNCEMENT_SIZE(n))

/* Core's functions. */
static void (*core_decode) (LogicalDecodingContext *ctx, XLogRecordBuffer *buf);
static ReorderBufferApplyChangeCB core_change;
static ReorderBufferStreamChangeCB core_stream_change;
static ReorderBufferMessageCB core_message;
static ReorderBufferStreamMessageCB core_stream_message;
static ReorderBufferBeginPrepareCB core_begin_prepare;

/* ---- announced values ---- */

typedef struct Known
{
	SlicedToastFile file;
	SlicedAnnounced value;
} Known;

/* Values of the rows that come next, in the order of rows. */
static struct
{
	TransactionId xid;			/* the top-level transaction */
	Known	   *values;
	int			n;
	int			room;
	int			next;			/* the one after the last that was found */
}			known;

static ReorderBufferTXN *
top_of(ReorderBufferTXN *txn)
{
	return txn->toptxn != NULL ? txn->toptxn : txn;
}

static void
known_forget(void)
{
	known.n = known.next = 0;
}

static void
known_add(ReorderBufferTXN *txn, const SlicedAnnouncement *announcement, int n)
{
	if (known.xid != top_of(txn)->xid)
		known_forget();
	known.xid = top_of(txn)->xid;
	if (known.n + n > known.room)
	{
		int			room = Max(known.n + n, 2 * known.room);

		known.values = known.values == NULL ?
			MemoryContextAlloc(TopMemoryContext, room * sizeof(Known)) :
			repalloc_huge(known.values, room * sizeof(Known));
		known.room = room;
	}
	for (int i = 0; i < n; i++)
	{
		Known	   *k = &known.values[known.n++];

		memcpy(&k->file, &announcement->file, sizeof(SlicedToastFile));
		memcpy(&k->value, &announcement->values[i], sizeof(SlicedAnnounced));
	}
}

/* The value of this pointer, if it was announced; usually the next one in the list. */
static const Known *
known_find(const struct varatt_external *ptr, bool is_old)
{
	for (int i = 0; i < known.n; i++)
	{
		int			at = (known.next + i) % known.n;
		const Known *k = &known.values[at];

		if (k->value.valueid == ptr->va_valueid && k->file.toastrelid == ptr->va_toastrelid &&
			k->value.is_old == is_old && k->value.rawsize == ptr->va_rawsize &&
			k->value.extinfo == ptr->va_extinfo)
		{
			known.next = at + 1;
			return k;
		}
	}
	return NULL;
}

/* ---- values that are read when needed ---- */

typedef struct Value
{
	ExpandedObjectHeader hdr;
	Known		known;
	Relation	rel;
	ReorderBufferTXN *txn;		/* of the change; may be a subtransaction */
	bool		may_come;		/* its slices may not be written yet */
} Value;

/* Read the bytes of a value of ours, or of core's chunks. */
static SlicedDamage
read_bytes(Relation toastrel, const struct varatt_external *ptr, char *dest)
{
	if (sliced_pointer_is_ours(ptr))
		return sliced_value_try_read(toastrel, SLICED_SEE_READABLE, ptr->va_valueid, 0,
									 sliced_pointer_size(ptr), dest);
	return sliced_chunks_read(toastrel, ptr->va_valueid, VARATT_EXTERNAL_GET_EXTSIZE(*ptr), dest) ?
		SLICED_SOUND : SLICED_VALUE_MISSING;
}

static bool
is_aborted(TransactionId xid)
{
	return !TransactionIdIsInProgress(xid) && !TransactionIdDidCommit(xid);
}

/*
 * Read the value, now or when the transaction has written it: an update writes the
 * row first.
 *
 * While we are on our way to a page of the index, VACUUM and others may use the page
 * for something else: for a decoder, core counts the slot but no snapshot.  Then we
 * come to a wrong page, and find nothing there.  So we look again for what is
 * missing.
 */
static SlicedDamage
read_in_time(const Value *value, const struct varatt_external *ptr, char *dest)
{
	for (int again = 3;;)
	{
		bool		may_come = value->may_come && TransactionIdIsInProgress(value->txn->xid);
		Relation	toastrel = sliced_toast_open(value->known.file.toastrelid);
		SlicedDamage damage = read_bytes(toastrel, ptr, dest);

		if (damage == SLICED_SOUND || (!may_come && again-- == 0))
			return damage;
		CHECK_FOR_INTERRUPTS();
		pg_usleep(1000L);
	}
}

static void
add_context(void *arg)
{
	const Value *value = arg;

	errcontext("reading value %u of table \"%s\" for replication slot \"%s\"",
			   value->known.value.valueid, RelationGetRelationName(value->rel),
			   NameStr(MyReplicationSlot->data.name));
}

/*
 * The slices of a transaction that has aborted meanwhile may be gone, even the file,
 * and something else may be in their place.  Core recognises this error as such an
 * abort.
 */
pg_noreturn static void
report_aborted(const Value *value)
{
	/*
	 * if core knows of the abort, it still passes on that the transaction was
	 * prepared
	 */
	if (value->txn->txn_flags & RBTXN_IS_PREPARED)
		sliced_set_aborted(top_of(value->txn));
	ereport(ERROR,
			errcode(ERRCODE_TRANSACTION_ROLLBACK),
			errmsg("transaction %u was aborted while it was decoded", value->txn->xid));
}

static void
value_read(const Value *value, const struct varatt_external *ptr, char *dest)
{
	TransactionId alive = CheckXidAlive;
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "sliced decoded value",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	ErrorContextCallback context = {error_context_stack, add_context, unconstify(Value *, value)};
	volatile SlicedDamage damage = SLICED_SOUND;

	/* core checks reads of catalogs by this; we check for aborts ourselves */
	CheckXidAlive = InvalidTransactionId;
	sliced_toast_file_enter(&value->known.file);
	error_context_stack = &context;
	PG_TRY();
	{
		damage = read_in_time(value, ptr, dest);
	}
	PG_CATCH();
	{
		sliced_toast_file_leave();
		CheckXidAlive = alive;
		if (geterrcode() == ERRCODE_QUERY_CANCELED || !is_aborted(value->txn->xid))
			PG_RE_THROW();
		FlushErrorState();
		report_aborted(value);
	}
	PG_END_TRY();
	error_context_stack = context.previous;
	sliced_toast_file_leave();
	CheckXidAlive = alive;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);

	/* not earlier: the transaction may have aborted while we read */
	if (is_aborted(value->txn->xid))
		report_aborted(value);
	if (damage != SLICED_SOUND)
		ereport(ERROR,
				errcode(ERRCODE_DATA_CORRUPTED),
				errmsg("replication slot \"%s\" needs value %u of table \"%s\", which cannot be read: %s",
					   NameStr(MyReplicationSlot->data.name), ptr->va_valueid,
					   RelationGetRelationName(value->rel), sliced_damage_text(damage)));
}

static void
value_pointer(const Value *value, struct varatt_external *ptr)
{
	ptr->va_rawsize = value->known.value.rawsize;
	ptr->va_extinfo = value->known.value.extinfo;
	ptr->va_valueid = value->known.value.valueid;
	ptr->va_toastrelid = value->known.file.toastrelid;
}

static Size
value_flat_size(ExpandedObjectHeader *hdr)
{
	return ((Value *) hdr)->known.value.rawsize;
}

static void
value_flatten_into(ExpandedObjectHeader *hdr, void *result, Size allocated)
{
	Value	   *value = (Value *) hdr;
	struct varatt_external ptr;

	value_pointer(value, &ptr);
	SET_VARSIZE(result, allocated);
	if (sliced_pointer_is_ours(&ptr) || !VARATT_EXTERNAL_IS_COMPRESSED(ptr))
		value_read(value, &ptr, VARDATA(result));
	else
	{
		uint32		size = VARATT_EXTERNAL_GET_EXTSIZE(ptr);
		varlena    *stored = palloc(VARHDRSZ + size);
		varlena    *raw;

		SET_VARSIZE_COMPRESSED(stored, VARHDRSZ + size);
		value_read(value, &ptr, VARDATA(stored));
		raw = detoast_attr(stored);
		if (VARSIZE(raw) != allocated)
			ereport(ERROR,
					errcode(ERRCODE_DATA_CORRUPTED),
					errmsg("value %u of table \"%s\" has another length than its pointer says",
						   ptr.va_valueid, RelationGetRelationName(value->rel)));
		memcpy(result, raw, allocated);
		pfree(raw);
		pfree(stored);
	}
}

static const ExpandedObjectMethods value_methods = {value_flat_size, value_flatten_into};

/* A datum that is read when a function wants its bytes, in the current context. */
static Datum
make_value(const Known *k, Relation rel, ReorderBufferChange *change, bool may_come)
{
	Value	   *value = palloc0(sizeof(Value));
	struct varatt_indirect indirect;
	char	   *datum = palloc(INDIRECT_POINTER_SIZE);

	EOH_init_header(&value->hdr, &value_methods, CurrentMemoryContext);
	value->known = *k;
	value->rel = rel;
	value->txn = change->txn;
	value->may_come = may_come;
	indirect.pointer = (varlena *) DatumGetPointer(EOHPGetRODatum(&value->hdr));
	SET_VARTAG_EXTERNAL(datum, VARTAG_INDIRECT);
	memcpy(VARDATA_EXTERNAL(datum), &indirect, sizeof(indirect));
	return PointerGetDatum(datum);
}

/* ---- changes ---- */

/* The row, with values in the place of announced pointers. */
static SlicedDecodedRow
with_values(SlicedDecodedRow row, bool is_old, Relation rel, ReorderBufferChange *change,
			bool may_come)
{
	HeapTuple	tuple = sliced_decoded_row(row);
	TupleDesc	desc = RelationGetDescr(rel);
	Datum	   *values;
	bool	   *isnull;
	bool		found = false;
	HeapTuple	result;

	if (!sliced_tuple_is_marked(tuple->t_data))
		return row;
	values = palloc(desc->natts * sizeof(Datum));
	isnull = palloc(desc->natts * sizeof(bool));
	heap_deform_tuple(tuple, desc, values, isnull);
	for (int i = 0; i < desc->natts; i++)
	{
		struct varatt_external ptr;
		const Known *k;

		if (isnull[i] || TupleDescAttr(desc, i)->attlen != -1 ||
			!VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(values[i])))
			continue;
		VARATT_EXTERNAL_GET_POINTER(ptr, DatumGetPointer(values[i]));
		k = known_find(&ptr, is_old);
		if (k == NULL)
			continue;
		values[i] = make_value(k, rel, change, may_come);
		found = true;
	}
	if (!found)
		return row;
	result = heap_form_tuple(desc, values, isnull);
	result->t_self = tuple->t_self;
	result->t_tableOid = tuple->t_tableOid;
	return sliced_make_decoded_row(result);
}

/*
 * Pass a change on, with rows that have values.  Core gets its own rows back: it has
 * counted them.
 */
static void
pass_change(ReorderBuffer *rb, ReorderBufferTXN *txn, Relation rel, ReorderBufferChange *change,
			void (*pass) (ReorderBuffer *rb, ReorderBufferTXN *txn, Relation rel,
						  ReorderBufferChange *change),
			bool may_come)
{
	SlicedDecodedRow newrow = change->data.tp.newtuple;
	SlicedDecodedRow oldrow = change->data.tp.oldtuple;
	MemoryContext work;
	MemoryContext old;

	if (known.n == 0 || known.xid != top_of(txn)->xid)
	{
		pass(rb, txn, rel, change);
		return;
	}
	work = AllocSetContextCreate(CurrentMemoryContext, "sliced decoded row", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(work);
	PG_TRY();
	{
		if (newrow != NULL)
			change->data.tp.newtuple = with_values(newrow, false, rel, change, may_come);
		if (oldrow != NULL)
			change->data.tp.oldtuple = with_values(oldrow, true, rel, change, may_come);
		MemoryContextSwitchTo(old);
		pass(rb, txn, rel, change);
	}
	PG_FINALLY();
	{
		change->data.tp.newtuple = newrow;
		change->data.tp.oldtuple = oldrow;
	}
	PG_END_TRY();
	if (change->data.tp.clear_toast_afterwards)
		known_forget();
	MemoryContextDelete(work);
}

static void
our_change(ReorderBuffer *rb, ReorderBufferTXN *txn, Relation rel, ReorderBufferChange *change)
{
	pass_change(rb, txn, rel, change, core_change, false);
}

static void
our_stream_change(ReorderBuffer *rb, ReorderBufferTXN *txn, Relation rel,
				  ReorderBufferChange *change)
{
	pass_change(rb, txn, rel, change, core_stream_change, true);
}

/* ---- messages ---- */

/* True if the message is an announcement, which we then remember. */
static bool
is_announcement(ReorderBufferTXN *txn, const char *prefix, Size size, const char *message)
{
	if (secret == 0 || size < QUEUED_SIZE(0) || strcmp(prefix, SLICED_MESSAGE_PREFIX) != 0 ||
		memcmp(message, &secret, sizeof(secret)) != 0)
		return false;
	known_add(txn, (const SlicedAnnouncement *) (message + sizeof(secret)),
			  (size - QUEUED_SIZE(0)) / sizeof(SlicedAnnounced));
	return true;
}

static void
our_message(ReorderBuffer *rb, ReorderBufferTXN *txn, XLogRecPtr lsn, bool transactional,
			const char *prefix, Size size, const char *message)
{
	if (!is_announcement(txn, prefix, size, message))
		core_message(rb, txn, lsn, transactional, prefix, size, message);
}

static void
our_stream_message(ReorderBuffer *rb, ReorderBufferTXN *txn, XLogRecPtr lsn, bool transactional,
				   const char *prefix, Size size, const char *message)
{
	if (!is_announcement(txn, prefix, size, message))
		core_stream_message(rb, txn, lsn, transactional, prefix, size, message);
}

/*
 * Core watches a prepared transaction, so that it learns of a rollback meanwhile.
 * But it asks each change's own subtransaction whether that is prepared, and none
 * ever is.
 */
static void
our_begin_prepare(ReorderBuffer *rb, ReorderBufferTXN *txn)
{
	dlist_iter	iter;

	dlist_foreach(iter, &txn->subtxns)
		dlist_container(ReorderBufferTXN, node, iter.cur)->txn_flags |= RBTXN_IS_PREPARED;
	core_begin_prepare(rb, txn);
}

static void
join(ReorderBuffer *rb)
{
	if (rb->apply_change == our_change)
		return;
	core_change = rb->apply_change;
	core_stream_change = rb->stream_change;
	core_message = rb->message;
	core_stream_message = rb->stream_message;
	core_begin_prepare = rb->begin_prepare;
	rb->apply_change = our_change;
	rb->stream_change = our_stream_change;
	rb->message = our_message;
	rb->stream_message = our_stream_message;
	rb->begin_prepare = our_begin_prepare;
}

/* ---- the WAL ---- */

static void
queue(ReorderBuffer *rb, TransactionId xid, XLogRecPtr lsn, const xl_logical_message *message)
{
	MemoryContext old = MemoryContextSwitchTo(rb->context);
	ReorderBufferChange *change = ReorderBufferAllocChange(rb);
	Size		size = sizeof(secret) + message->message_size;
	char	   *content = palloc(size);

	while (secret == 0)
		if (!pg_strong_random(&secret, sizeof(secret)))
			ereport(ERROR,
					errcode(ERRCODE_INTERNAL_ERROR),
					errmsg("could not generate random number"));
	memcpy(content, &secret, sizeof(secret));
	memcpy(content + sizeof(secret), message->message + message->prefix_size,
		   message->message_size);
	change->action = REORDER_BUFFER_CHANGE_MESSAGE;
	change->data.msg.prefix = pstrdup(SLICED_MESSAGE_PREFIX);
	change->data.msg.message_size = size;
	change->data.msg.message = content;
	/*
	 * like a chunk of core's: core does not stream the transaction before the row has
	 * come
	 */
	ReorderBufferQueueChange(rb, xid, lsn, change, true);
	MemoryContextSwitchTo(old);
}

/* Queues announcements under the same conditions as core queues its messages. */
static void
our_decode(LogicalDecodingContext *ctx, XLogRecordBuffer *buf)
{
	SnapBuild  *builder = ctx->snapshot_builder;
	XLogReaderState *r = buf->record;
	TransactionId xid = XLogRecGetXid(r);
	xl_logical_message *message = (xl_logical_message *) XLogRecGetData(r);

	if (!sliced_is_announcement(r))
	{
		core_decode(ctx, buf);
		return;
	}

	ReorderBufferProcessXid(ctx->reorder, xid, buf->origptr);
	if (SnapBuildCurrentState(builder) < SNAPBUILD_FULL_SNAPSHOT || ctx->fast_forward)
		return;
	if (message->dbId != ctx->slot->data.database ||
		(ctx->callbacks.filter_by_origin_cb != NULL &&
		 filter_by_origin_cb_wrapper(ctx, XLogRecGetOrigin(r))))
		return;
	if (!SnapBuildProcessChange(builder, xid, buf->origptr))
		return;
	join(ctx->reorder);
	queue(ctx->reorder, xid, buf->endptr, message);
}

void
sliced_decoder_init(void)
{
	core_decode = RmgrTable[RM_LOGICALMSG_ID].rm_decode;
	RmgrTable[RM_LOGICALMSG_ID].rm_decode = our_decode;
}
