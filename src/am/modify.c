/*
 * modify.c
 *	  Inserts, updates and deletes of rows.
 *
 * When slices are written, relative to the row:
 *
 *	insert	slices first.  No reader finds the row before, and a unique index on
 *			an expression may read it as soon as its index entry exists.
 *	update	row first, slices second, but still before this callback returns and
 *			thus before any index entry.  heap_update() decides whether there is
 *			an update at all: we would have to take back slices written before it
 *			whenever a concurrent update wins.
 *	delete	row first, for the same reason.
 *
 * The caller's slot keeps the raw values, from which index entries are made.
 */
#include "postgres.h"

#include "access/heaptoast.h"
#include "am/modify.h"
#include "am/old_row.h"
#include "am/row_version.h"
#include "base/identity.h"
#include "base/options.h"
#include "base/stop.h"
#include "decode/announce.h"
#include "decode/decoding.h"
#include "executor/tuptable.h"
#include "format/pointer.h"
#include "learn/train.h"
#include "row/toast.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* Memory for toasting rows; freed as a whole. */
static MemoryContext
enter_work_context(MemoryContext *old)
{
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext, "sliced row",
											   ALLOCSET_DEFAULT_SIZES);

	*old = MemoryContextSwitchTo(work);
	return work;
}

static void
leave_work_context(MemoryContext work, MemoryContext old)
{
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
}

/* True if heapam must not toast this row, which we left inline. */
static inline bool
is_long_inline_row(SlicedRowToast *rt)
{
	return !rt->core_way && rt->tuple->t_len > TOAST_TUPLE_THRESHOLD;
}

static void
insert_row(Relation rel, SlicedRowToast *rt, CommandId cid, uint32 options,
		   BulkInsertState bistate)
{
	if (!is_long_inline_row(rt))
	{
		heap_insert(rel, rt->tuple, cid, options, bistate);
		return;
	}
	SLICED_OPTION_BEGIN(rel, toast_tuple_target, sliced_row_inline_limit(rel));
	heap_insert(rel, rt->tuple, cid, options, bistate);
	SLICED_OPTION_END();
}

static void
insert_rows(Relation rel, TupleTableSlot **slots, int nslots, bool any_long,
			CommandId cid, uint32 options, BulkInsertState bistate)
{
	if (!any_long)
	{
		heap_multi_insert(rel, slots, nslots, cid, options, bistate);
		return;
	}
	SLICED_OPTION_BEGIN(rel, toast_tuple_target, sliced_row_inline_limit(rel));
	heap_multi_insert(rel, slots, nslots, cid, options, bistate);
	SLICED_OPTION_END();
}

/* An update as core asks for it: the row, and how to update it. */
typedef struct Update
{
	Relation	rel;
	ItemPointer tid;
	CommandId	cid;
	uint32		options;
	Snapshot	crosscheck;
	bool		wait;
	TM_FailureData *tmfd;
	LockTupleMode *lockmode;
	TU_UpdateIndexes *update_indexes;
	struct Renewal *renewal;	/* or NULL */
} Update;

/* An update that changes nothing, but stores some columns anew. */
typedef struct Renewal
{
	const bool *columns;
	/* out */
	bool		is_for_core;	/* only core can store the row, so it stays as it is */
	uint32		row_length;		/* of the new row, as stored */
} Renewal;

/* How an update stores its new values. */
typedef enum UpdateWay
{
	UPDATE_BY_SLICES,
	/*
	 * A decoder reads a pointer that stays as it does in core, but new values must be
	 * core's.
	 */
	UPDATE_BY_CORE_IF_NEW,
	UPDATE_BY_CORE,
	/* the same, and decoders need the old row's identity, which has values outside */
	UPDATE_BY_CORE_EXPOSED
} UpdateWay;

static TM_Result
update_row(const Update *u, HeapTuple newtup)
{
	/*
	 * a row that is stored anew is locked by now, and heap_update() supports only
	 * waiting
	 */
	return heap_update(u->rel, u->tid, newtup, u->cid, u->options, u->crosscheck,
					   u->wait || u->renewal != NULL, u->tmfd, u->lockmode, u->update_indexes);
}

static TM_Result
update_toasted(const Update *u, SlicedRowToast *rt)
{
	TM_Result	result = TM_Ok;

	if (!is_long_inline_row(rt))
		return update_row(u, rt->tuple);

	SLICED_OPTION_BEGIN(u->rel, toast_tuple_target, sliced_row_inline_limit(u->rel));
	result = update_row(u, rt->tuple);
	SLICED_OPTION_END();
	return result;
}

/*
 * True if new values must be stored as core stores them.  Decoders do not see the
 * rows that REPACK inserts.
 */
static bool
is_core_way(Relation rel, uint32 options)
{
	return sliced_toast_is_foreign(rel) ||
		((options & HEAP_INSERT_NO_LOGICAL) == 0 && sliced_is_decoded(rel));
}

/* Insert the row in 'slot', speculatively if 'spec_token' is not NULL. */
static void
insert_toasted(Relation rel, TupleTableSlot *slot, CommandId cid, uint32 options,
			   BulkInsertState bistate, const uint32 *spec_token)
{
	bool		should_free;
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, true, &should_free);

	slot->tts_tableOid = RelationGetRelid(rel);
	tuple->t_tableOid = slot->tts_tableOid;
	if (spec_token != NULL)
	{
		HeapTupleHeaderSetSpeculativeToken(tuple->t_data, *spec_token);
		options |= HEAP_INSERT_SPECULATIVE;
	}

	if (unlikely(OidIsValid(rel->rd_rel->relrewrite)))
		sliced_train_arrived(rel);
	if (!OidIsValid(rel->rd_rel->reltoastrelid) || !sliced_row_is_oversized(rel, tuple) ||
		is_core_way(rel, options))
		heap_insert(rel, tuple, cid, options, bistate);
	else
	{
		MemoryContext old;
		MemoryContext work = enter_work_context(&old);
		SlicedRowTarget target = {.options = options, .hide = sliced_hides_slices(rel)};
		SlicedRowToast rt;
		SlicedAnnouncing announcing;

		sliced_announcing_begin(&announcing, rel, (options & HEAP_INSERT_NO_LOGICAL) != 0);
		sliced_row_toast(&rt, rel, tuple, NULL, false, &target);
		if (target.writer != NULL)
		{
			sliced_row_write(&rt, target.writer);
			SLICED_STOP("insert.values-handed-over");
			sliced_writer_close(target.writer);
		}
		sliced_announcing_add(&announcing, &rt);
		sliced_announcing_end(&announcing);
		SLICED_STOP("insert.before-row");
		rt.tuple->t_tableOid = slot->tts_tableOid;
		if (spec_token != NULL)
			HeapTupleHeaderSetSpeculativeToken(rt.tuple->t_data, *spec_token);
		insert_row(rel, &rt, cid, options, bistate);
		SLICED_STOP("insert.row-inserted");
		sliced_become_version(tuple, rt.tuple);
		leave_work_context(work, old);
	}
	slot->tts_tid = tuple->t_self;

	if (should_free)
		pfree(tuple);
}

void
sliced_tuple_insert(Relation rel, TupleTableSlot *slot, CommandId cid, uint32 options,
					BulkInsertState bistate)
{
	insert_toasted(rel, slot, cid, options, bistate, NULL);
}

void
sliced_tuple_insert_speculative(Relation rel, TupleTableSlot *slot, CommandId cid,
								uint32 options, BulkInsertState bistate, uint32 spec_token)
{
	insert_toasted(rel, slot, cid, options, bistate, &spec_token);
}

static void
sliced_tuple_complete_speculative(Relation rel, TupleTableSlot *slot, uint32 spec_token,
								  bool succeeded)
{
	HeapTuple	row;

	SLICED_STOP("speculative.inserted");
	if (succeeded)
	{
		heap_finish_speculative(rel, &slot->tts_tid);
		SLICED_STOP("speculative.finished");
		return;
	}

	row = sliced_old_row_fetch(rel, &slot->tts_tid);
	heap_abort_speculative(rel, &slot->tts_tid);
	SLICED_STOP("speculative.row-taken-back");
	if (row != NULL && sliced_tuple_is_marked(row->t_data))
		sliced_row_delete(rel, row, true);
	SLICED_STOP("speculative.values-taken-back");
	if (row != NULL)
		heap_freetuple(row);
}

/*
 * We insert rows that need toasting from slots of our own, which hold the toasted
 * rows.  The slices of all of them go into the toast relation together.
 */
void
sliced_multi_insert(Relation rel, TupleTableSlot **slots, int nslots, CommandId cid,
					uint32 options, BulkInsertState bistate)
{
	MemoryContext old;
	MemoryContext work = NULL;
	SlicedRowTarget target = {.options = options, .hide = sliced_hides_slices(rel)};
	TupleTableSlot **inserted = slots;
	SlicedAnnouncing announcing;
	bool		any_long = false;

	if (unlikely(OidIsValid(rel->rd_rel->relrewrite)))
		sliced_train_arrived(rel);
	for (int i = 0; i < nslots && OidIsValid(rel->rd_rel->reltoastrelid); i++)
	{
		bool		should_free;
		HeapTuple	tuple = ExecFetchSlotHeapTuple(slots[i], true, &should_free);
		SlicedRowToast rt;

		if (sliced_row_is_oversized(rel, tuple))
		{
			if (work == NULL)
			{
				if (is_core_way(rel, options))
					break;
				work = enter_work_context(&old);
				sliced_announcing_begin(&announcing, rel, (options & HEAP_INSERT_NO_LOGICAL) != 0);
				inserted = palloc(nslots * sizeof(TupleTableSlot *));
				memcpy(inserted, slots, nslots * sizeof(TupleTableSlot *));
			}
			sliced_row_toast(&rt, rel, tuple, NULL, false, &target);
			if (target.writer != NULL)
				sliced_row_write(&rt, target.writer);
			SLICED_STOP("insert-many.values-handed-over");
			sliced_announcing_add(&announcing, &rt);
			any_long |= is_long_inline_row(&rt);
			inserted[i] = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsHeapTuple);
			ExecStoreHeapTuple(rt.tuple, inserted[i], false);
		}
		if (should_free)
			pfree(tuple);
	}

	if (target.writer != NULL)
		sliced_writer_close(target.writer);
	if (work != NULL)
		sliced_announcing_end(&announcing);

	SLICED_STOP("insert-many.before-rows");
	insert_rows(rel, inserted, nslots, any_long, cid, options, bistate);
	SLICED_STOP("insert-many.rows-inserted");

	if (work == NULL)
		return;
	for (int i = 0; i < nslots; i++)
		if (inserted[i] != slots[i])
		{
			HeapTuple	stored = ExecFetchSlotHeapTuple(inserted[i], false, NULL);
			bool		should_free;
			HeapTuple	tuple = ExecFetchSlotHeapTuple(slots[i], false, &should_free);

			sliced_become_version(tuple, stored);
			if (should_free)
				pfree(tuple);
			slots[i]->tts_tid = inserted[i]->tts_tid;
			slots[i]->tts_tableOid = inserted[i]->tts_tableOid;
			ExecDropSingleTupleTableSlot(inserted[i]);
		}
	leave_work_context(work, old);
}

/* True if decoders see nothing of what the update stores. */
static bool
is_hidden(const Update *u)
{
	return u->renewal != NULL || (u->options & TABLE_UPDATE_NO_LOGICAL) != 0;
}

static UpdateWay
way_of(const Update *u, HeapTuple oldtup)
{
	bool		is_decoded = !is_hidden(u) && sliced_is_decoded(u->rel);

	if (is_decoded && oldtup != NULL && sliced_identity_needs_values(u->rel, oldtup))
		return UPDATE_BY_CORE_EXPOSED;
	if (sliced_toast_is_foreign(u->rel))
		return UPDATE_BY_CORE;
	return is_decoded ? UPDATE_BY_CORE_IF_NEW : UPDATE_BY_SLICES;
}

/* Update a row of ours, or a row that becomes ours. */
static TM_Result
update_ours(const Update *u, HeapTuple oldtup, HeapTuple newtup)
{
	Relation	rel = u->rel;
	UpdateWay	way = way_of(u, oldtup);
	bool		taken = oldtup != NULL && !sliced_tuple_is_marked(oldtup->t_data);
	SlicedRowTarget target = {
		.hide = is_hidden(u) || sliced_hides_slices(rel),
		.anew = u->renewal != NULL ? u->renewal->columns : NULL
	};
	SlicedRowToast rt;
	SlicedAnnouncing announcing;
	TM_Result	result;

	sliced_announcing_begin(&announcing, rel, (u->options & TABLE_UPDATE_NO_LOGICAL) != 0);
	sliced_row_toast(&rt, rel, newtup, oldtup, way >= UPDATE_BY_CORE, &target);

	/* core would store the values as they are */
	if (u->renewal != NULL && rt.core_way)
	{
		u->renewal->is_for_core = true;
		return TM_Ok;
	}

	if (taken)
		sliced_old_row_take(rel, u->tid);

	if (way == UPDATE_BY_CORE_IF_NEW && (rt.new_values != NIL || rt.changed_values != NIL))
	{
		sliced_writer_close(target.writer);
		SLICED_STOP("update.before-core-way");
		target.writer = NULL;
		sliced_row_toast(&rt, rel, newtup, oldtup, true, &target);
	}
	rt.tuple->t_tableOid = newtup->t_tableOid;

	/* an error may have left the flag set */
	if (way == UPDATE_BY_CORE_EXPOSED || (oldtup != NULL && !taken && HeapTupleHasExternal(oldtup)))
		sliced_old_row_expose(rel, u->tid, way == UPDATE_BY_CORE_EXPOSED);

	/* to decoders, a value that is stored anew has not changed */
	if (u->renewal == NULL)
		sliced_announcing_add(&announcing, &rt);
	if (oldtup != NULL)
		sliced_announcing_add_old(&announcing, oldtup);
	sliced_announcing_end(&announcing);

	SLICED_STOP("update.before-row");
	result = update_toasted(u, &rt);
	sliced_become_version(newtup, rt.tuple);
	if (u->renewal != NULL)
		u->renewal->row_length = rt.tuple->t_len;
	SLICED_STOP("update.row-updated");

	if (way == UPDATE_BY_CORE_EXPOSED)
		sliced_old_row_expose(rel, u->tid, false);
	if (result == TM_Ok)
	{
		if (target.writer != NULL)
			sliced_row_write(&rt, target.writer);
		SLICED_STOP("update.values-handed-over");
		sliced_row_delete_values(rel, rt.old_values, false);
		SLICED_STOP("update.old-values-deleted");
	}
	if (target.writer != NULL)
		sliced_writer_close(target.writer);
	SLICED_STOP("update.done");
	return result;
}

TM_Result
sliced_tuple_update(Relation rel, ItemPointer otid, TupleTableSlot *slot, CommandId cid,
					uint32 options, Snapshot snapshot, Snapshot crosscheck, bool wait,
					TM_FailureData *tmfd, LockTupleMode *lockmode,
					TU_UpdateIndexes *update_indexes)
{
	Update		u = {rel, otid, cid, options, crosscheck, wait, tmfd, lockmode, update_indexes};
	bool		should_free;
	HeapTuple	newtup = ExecFetchSlotHeapTuple(slot, true, &should_free);
	HeapTuple	oldtup = NULL;
	bool		ours = false;
	TM_Result	result;

	slot->tts_tableOid = RelationGetRelid(rel);
	newtup->t_tableOid = slot->tts_tableOid;

	if (OidIsValid(rel->rd_rel->reltoastrelid))
		oldtup = sliced_old_row_fetch(rel, otid);
	if (sliced_old_row_may_change(rel, oldtup))
	{
		*lockmode = sliced_update_lock(rel, oldtup, newtup);
		result = sliced_old_row_lock_and_look(rel, &oldtup, *lockmode, cid, wait, tmfd);
		if (result != TM_Ok)
		{
			*update_indexes = TU_None;
			goto done;
		}
	}

	if (oldtup != NULL && sliced_tuple_is_marked(oldtup->t_data))
		ours = true;
	else if (OidIsValid(rel->rd_rel->reltoastrelid) && sliced_row_is_oversized(rel, newtup))
		ours = oldtup == NULL || sliced_old_row_may_take(rel, oldtup, options);

	if (!ours)
		result = update_row(&u, newtup);
	else
	{
		MemoryContext old;
		MemoryContext work = enter_work_context(&old);

		result = update_ours(&u, oldtup, newtup);
		leave_work_context(work, old);
	}

	slot->tts_tid = newtup->t_self;

done:
	if (oldtup != NULL)
		heap_freetuple(oldtup);
	if (should_free)
		pfree(newtup);
	return result;
}

/*
 * The update itself is logged for decoders, on all majors.  They find no slices, so
 * they take every pointer for a value that has not changed.
 *
 * TABLE_UPDATE_NO_LOGICAL (19) would keep the update from them as well.  But decoders
 * of 19's beta releases pass such an update on without its row, and output plugins
 * crash.
 */
SlicedRenewed
sliced_tuple_renew(Relation rel, HeapTuple oldtup, HeapTuple newtup, const bool *columns,
				   CommandId cid, TU_UpdateIndexes *update_indexes, uint32 *row_length)
{
	TM_FailureData tmfd;
	LockTupleMode lockmode;
	Renewal		renewal = {columns};
	Update		u = {rel, &oldtup->t_self, cid, 0, InvalidSnapshot, false,
		&tmfd, &lockmode, update_indexes, &renewal};
	MemoryContext old;
	MemoryContext work = enter_work_context(&old);
	TM_Result	result;

	newtup->t_tableOid = RelationGetRelid(rel);
	lockmode = sliced_update_lock(rel, oldtup, newtup);
	result = sliced_old_row_lock(rel, &oldtup->t_self, lockmode, cid, false, &tmfd);
	if (result == TM_Ok)
		result = update_ours(&u, sliced_old_row_fetch(rel, &oldtup->t_self), newtup);
	else
		*update_indexes = TU_None;
	leave_work_context(work, old);
	*row_length = renewal.row_length;
	if (result == TM_WouldBlock)
		return SLICED_RENEWAL_WAITS;
	if (result != TM_Ok)
		return SLICED_RENEWAL_CHANGED;
	return renewal.is_for_core ? SLICED_RENEWAL_FOR_CORE : SLICED_RENEWAL_DONE;
}

TM_Result
sliced_tuple_delete(Relation rel, ItemPointer tid, CommandId cid, uint32 options,
					Snapshot snapshot, Snapshot crosscheck, bool wait, TM_FailureData *tmfd)
{
	HeapTuple	row = NULL;
	bool		ours;
	bool		expose;
	TM_Result	result;

	if (OidIsValid(rel->rd_rel->reltoastrelid))
		row = sliced_old_row_fetch(rel, tid);
	if (row == NULL)
		return heap_delete(rel, tid, cid, options, crosscheck, wait, tmfd);

	if (sliced_old_row_may_change(rel, row))
	{
		result = sliced_old_row_lock_and_look(rel, &row, LockTupleExclusive, cid, wait, tmfd);
		if (result != TM_Ok)
			goto done;
	}

	ours = sliced_tuple_is_marked(row->t_data);
	expose = ours && sliced_is_decoded(rel) && sliced_identity_needs_values(rel, row);
	if (expose || (ours && HeapTupleHasExternal(row)))
		sliced_old_row_expose(rel, tid, expose);
	if (ours)
	{
		SlicedAnnouncing announcing;

		sliced_announcing_begin(&announcing, rel, false);
		sliced_announcing_add_old(&announcing, row);
		sliced_announcing_end(&announcing);
	}

	SLICED_STOP("delete.before-row");
	result = heap_delete(rel, tid, cid, options, crosscheck, wait, tmfd);
	SLICED_STOP("delete.row-deleted");

	if (expose)
		sliced_old_row_expose(rel, tid, false);
	if (result == TM_Ok && ours)
		sliced_row_delete(rel, row, false);
	SLICED_STOP("delete.values-deleted");

done:
	heap_freetuple(row);
	return result;
}

void
sliced_modify_callbacks(TableAmRoutine *routine)
{
	routine->tuple_complete_speculative = sliced_tuple_complete_speculative;
}
