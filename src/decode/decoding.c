/*
 * decoding.c
 *	  Decides what logical decoding must be able to see.
 *
 * Decoding rebuilds values from the WAL of core's chunks and cannot read slices, so a
 * row that may be decoded goes the core way.  The answer is exact for each
 * transaction: a slot decodes only transactions that had no xid yet when it was
 * created.  So we take the xid first and then look for logical slots, of any
 * database, since a slot can be copied into another.  If there is none, no later slot
 * will decode this transaction.
 *
 * We take the xid first even where nothing is logged for decoders yet: since 19 the
 * first slot switches that on, also for transactions that are running.
 *
 * Slots on a standby are not visible here.  The standby's feedback gives the physical
 * slot that it uses a catalog_xmin, which physical slots have for no other reason:
 * then some session decodes there.  Without such a slot, or before the feedback has
 * arrived, we write slices that a standby may decode.  Its decoder must not lose them
 * silently: it stops at every inserted slice, but skips updates.  So while a standby
 * may be decoding, we update no tail (store/growth.c).
 *
 * The identity of an old row is logged as well.  heapam fetches its values only if
 * the tuple has HEAP_HASEXTERNAL.  Our rows do not have it on disk, so we set it
 * while heapam needs it.
 */
#include "postgres.h"

#include "access/heaptoast.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "base/compat.h"
#include "base/settings.h"
#include "base/stop.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "decode/decoding.h"
#include "format/pointer.h"
#include "replication/slot.h"
#include "storage/standby.h"
#include "utils/datum.h"
#include "utils/rel.h"
#include "utils/relcache.h"

/* True if there is a logical slot, here or on a standby. */
bool
sliced_logical_slot_exists(void)
{
	bool		found = false;

	LWLockAcquire(ReplicationSlotControlLock, LW_SHARED);
	for (int i = 0; i < sliced_max_slots() && !found; i++)
	{
		ReplicationSlot *slot = &ReplicationSlotCtl->replication_slots[i];

		found = slot->in_use && (SlotIsLogical(slot) ||
								 TransactionIdIsValid(slot->data.catalog_xmin));
	}
	LWLockRelease(ReplicationSlotControlLock);
	return found;
}

/*
 * The caller waits for VACUUM, which may wait for slots.  A slot advances when it
 * reads which transactions run, and an idle server does not log that.
 */
void
sliced_let_slots_go_on(void)
{
	if (XLogLogicalInfoActive() && sliced_keeps_for_decoders() && sliced_logical_slot_exists())
		LogStandbySnapshot();
}

/* True if a decoder may read what this transaction does to the table. */
bool
sliced_is_decoded(Relation rel)
{
	/* the last transaction that no decoder will read */
	static FullTransactionId unseen = {0};
	FullTransactionId xid;

	if (!XLogIsNeeded() || !RelationNeedsWAL(rel))
		return false;
	if (sliced_decoding() != SLICED_DECODING_AUTO)
		return RelationIsLogicallyLogged(rel) && sliced_decoding() == SLICED_DECODING_ON;

	xid = GetTopFullTransactionId();
	SLICED_STOP("decoding.xid-taken");
	if (FullTransactionIdEquals(xid, unseen))
		return false;
	if (RelationIsLogicallyLogged(rel) && sliced_logical_slot_exists())
		return true;
	unseen = xid;
	return false;
}

/*
 * True if slices must be hidden from decoders.  A decoder takes every row of a toast
 * relation for a chunk of core's and stops at ours, even if no subscription has the
 * table.
 */
bool
sliced_hides_slices(Relation rel)
{
	return RelationIsLogicallyLogged(rel) &&
		(sliced_decoding() == SLICED_DECODING_OFF ||
		 sliced_decoding() == SLICED_DECODING_SLICES);
}

/*
 * True if we announce values to decoders.  They skip the rows of a table that takes
 * another's place.
 */
bool
sliced_announces_values(Relation rel)
{
	return sliced_decoding() == SLICED_DECODING_SLICES && RelationIsLogicallyLogged(rel) &&
		!OidIsValid(rel->rd_rel->relrewrite);
}

/* True if the replica identity of the row includes values outside it. */
bool
sliced_identity_needs_values(Relation rel, HeapTuple oldtup)
{
	Bitmapset  *key;
	TupleDesc	desc = RelationGetDescr(rel);
	bool		result = false;
	int			i = -1;

	switch (rel->rd_rel->relreplident)
	{
		case REPLICA_IDENTITY_NOTHING:
			return false;
		case REPLICA_IDENTITY_FULL:
			return true;
	}

	key = RelationGetIndexAttrBitmap(rel, INDEX_ATTR_BITMAP_IDENTITY_KEY);
	while ((i = bms_next_member(key, i)) >= 0)
	{
		AttrNumber	attno = i + FirstLowInvalidHeapAttributeNumber;
		bool		isnull;
		Datum		value;

		if (TupleDescAttr(desc, attno - 1)->attlen != -1)
			continue;
		value = heap_getattr(oldtup, attno, desc, &isnull);
		if (!isnull && VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(value)))
			result = true;
	}
	bms_free(key);
	return result;
}

/*
 * The lock that heap_update() will take.  Unless the key changes, it lets others hold
 * the row's key, as sessions do that insert rows which refer to it.
 */
LockTupleMode
sliced_update_lock(Relation rel, HeapTuple oldtup, HeapTuple newtup)
{
	Bitmapset  *key = RelationGetIndexAttrBitmap(rel, INDEX_ATTR_BITMAP_KEY);
	TupleDesc	desc = RelationGetDescr(rel);
	bool		changes = false;
	int			i = -1;

	while (!changes && (i = bms_next_member(key, i)) >= 0)
	{
		AttrNumber	attno = i + FirstLowInvalidHeapAttributeNumber;
		Form_pg_attribute att = TupleDescAttr(desc, attno - 1);
		bool		oldnull;
		bool		newnull;
		Datum		oldvalue = heap_getattr(oldtup, attno, desc, &oldnull);
		Datum		newvalue = heap_getattr(newtup, attno, desc, &newnull);

		changes = oldnull != newnull ||
			(!oldnull && !datumIsEqual(oldvalue, newvalue, att->attbyval, att->attlen));
	}
	bms_free(key);
	return changes ? LockTupleExclusive : LockTupleNoKeyExclusive;
}
