/*
 * announce.c
 *	  Tells decoders where values are.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xloginsert.h"
#include "base/stop.h"
#include "decode/announce.h"
#include "decode/decoding.h"
#include "format/pointer.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "replication/message.h"

void
sliced_announcing_begin(SlicedAnnouncing *a, Relation rel, bool hidden)
{
	a->rel = rel;
	a->wanted = !hidden && sliced_announces_values(rel);
	if (a->wanted)
		initStringInfo(&a->values);
}

static void
add(SlicedAnnouncing *a, const struct varatt_external *ptr, bool is_old)
{
	SlicedAnnounced value = {ptr->va_valueid, ptr->va_rawsize, is_old, ptr->va_extinfo};

	appendBinaryStringInfo(&a->values, (char *) &value, sizeof(value));
}

static void
add_new(SlicedAnnouncing *a, const SlicedRowToast *rt, Oid valueid, uint32 size)
{
	char		pointer[TOAST_POINTER_SIZE];
	struct varatt_external ptr;

	sliced_pointer_set(pointer, rt->named, valueid, size);
	sliced_pointer_get(&ptr, (struct varlena *) pointer);
	add(a, &ptr, false);
}

void
sliced_announcing_add(SlicedAnnouncing *a, const SlicedRowToast *rt)
{
	ListCell   *lc;

	if (!a->wanted)
		return;
	foreach(lc, rt->new_values)
	{
		SlicedNewValue *value = lfirst(lc);

		add_new(a, rt, value->valueid, value->draft.len);
	}
	foreach(lc, rt->changed_values)
	{
		SlicedChangedValue *value = lfirst(lc);

		add_new(a, rt, value->change.valueid, value->change.rope->len);
	}
}

/*
 * If the whole row is its identity, heapam logs it as it is.  Of a key it fetches the
 * values, regardless of the header.
 */
void
sliced_announcing_add_old(SlicedAnnouncing *a, HeapTuple oldtup)
{
	List	   *pointers;
	ListCell   *lc;

	if (!a->wanted || a->rel->rd_rel->relreplident != REPLICA_IDENTITY_FULL)
		return;
	pointers = sliced_row_pointers(a->rel, oldtup);
	foreach(lc, pointers)
		add(a, lfirst(lc), true);
	list_free_deep(pointers);
}

/*
 * As LogLogicalMessage() does, with a prefix that LogLogicalMessage() would not
 * write.
 */
static void
log_message(const SlicedToastFile *file, const StringInfo values)
{
	static char prefix[SLICED_MESSAGE_PREFIX_SIZE] = SLICED_MESSAGE_PREFIX;
	xl_logical_message message = {
		.dbId = MyDatabaseId,
		.transactional = true,
		.prefix_size = sizeof(prefix),
		.message_size = SLICED_ANNOUNCEMENT_SIZE(0) + values->len
	};

	StaticAssertStmt(sizeof(SlicedToastFile) == SLICED_ANNOUNCEMENT_SIZE(0), "no gap");
	/* the record is of this subtransaction, as the row's will be */
	GetCurrentTransactionId();
	XLogBeginInsert();
	XLogRegisterData((char *) &message, SizeOfLogicalMessage);
	XLogRegisterData(prefix, sizeof(prefix));
	XLogRegisterData((char *) file, sizeof(*file));
	XLogRegisterData(values->data, values->len);
	XLogSetRecordFlags(XLOG_INCLUDE_ORIGIN);
	XLogInsert(RM_LOGICALMSG_ID, XLOG_LOGICAL_MESSAGE);
}

void
sliced_announcing_end(SlicedAnnouncing *a)
{
	SlicedToastFile file;

	if (!a->wanted)
		return;
	if (a->values.len > 0)
	{
		sliced_toast_file_find(&file, a->rel->rd_rel->reltoastrelid);
		SLICED_STOP("announce.before-message");
		log_message(&file, &a->values);
		SLICED_STOP("announce.message-logged");
	}
	pfree(a->values.data);
}

bool
sliced_is_announcement(XLogReaderState *r)
{
	const xl_logical_message *message = (const xl_logical_message *) XLogRecGetData(r);

	return XLogRecGetRmid(r) == RM_LOGICALMSG_ID &&
		(XLogRecGetInfo(r) & ~XLR_INFO_MASK) == XLOG_LOGICAL_MESSAGE &&
		message->transactional &&
		message->prefix_size == SLICED_MESSAGE_PREFIX_SIZE &&
		memcmp(message->message, SLICED_MESSAGE_PREFIX, sizeof(SLICED_MESSAGE_PREFIX)) == 0 &&
		message->message_size >= SLICED_ANNOUNCEMENT_SIZE(0);
}
