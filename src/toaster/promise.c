/*
 * promise.c
 *	  Pointers to values that are not written yet.
 *
 * Why a fresh id, where growing a value is going to keep that of the base: the
 * same pointer could come to mean something else.  An UPDATE that waits for
 * another one computes its value twice, the second time from a base that has the
 * length the first promise had.
 *
 * Who has a promise may still have it when a subtransaction that has kept it is
 * rolled back, and with it what was written: PL/pgSQL's variables are not tied to
 * subtransactions.  So within one, a promise that is kept stays what it is, and
 * its rope too, and if need be it becomes again what it was.  At the top, where
 * nobody outlives a rollback, the one who has it gets the pointer instead.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "format/pointer.h"
#include "lib/ilist.h"
#include "nodes/nodeFuncs.h"
#include "store/reader.h"
#include "toaster/promise.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

/* Memory that all promises may take, and those of it that are kept. */
#define MAX_MEMORY		(64 * 1024 * 1024)
#define MAX_KEPT_MEMORY	(32 * 1024 * 1024)

typedef struct PromiseKey
{
	Oid			toastrelid;
	Oid			valueid;
	uint32		size;
} PromiseKey;

typedef struct Promise
{
	PromiseKey	key;
	SlicedRope *rope;			/* NULL if kept for good */
	const void *maker;			/* who made it */
	bool		kept;
	Oid			stored;			/* if kept: under which id */
	SubTransactionId subid;		/* if kept, and not for good: in which */
	dlist_node	node;			/* of one of the lists below */
} Promise;

static MemoryContext promise_mcxt;	/* NULL if there are no promises */
static HTAB *promises;
static Size memory;
static Size kept_memory;		/* of it */
static dlist_head revocable;	/* kept in a subtransaction, oldest first */
static dlist_head revoked;		/* whose subtransaction was rolled back */
static bool any_revoked;

static Size
memory_of(const SlicedRope *rope)
{
	return sizeof(Promise) + sizeof(SlicedRope) + rope->nruns * sizeof(SlicedRun) +
		sliced_rope_new_bytes(rope);
}

static void
forget_rope(Promise *promise)
{
	memory -= memory_of(promise->rope);
	pfree(promise->rope);
	promise->rope = NULL;
}

static PromiseKey
key_of(const struct varatt_external *ptr)
{
	PromiseKey	key = {ptr->va_toastrelid, ptr->va_valueid, sliced_pointer_size(ptr)};

	return key;
}

static void
enter(const PromiseKey *key, const SlicedRope *rope, const void *maker)
{
	SlicedRope *copy = sliced_rope_copy(rope, promise_mcxt);
	Promise    *promise;
	bool		exists;

	promise = hash_search(promises, key, HASH_ENTER, &exists);
	if (exists)
	{
		/* rolled back more than once, in subtransactions within each other */
		pfree(copy);
		return;
	}
	promise->rope = copy;
	promise->maker = maker;
	promise->kept = false;
	memory += memory_of(copy);
}

/*
 * What was written for some promises has been rolled back.  Who has a pointer to
 * it is to find the same in the promise; later promises may be based on it.
 */
static void
settle_revoked(void)
{
	while (!dlist_is_empty(&revoked))
	{
		Promise    *promise = dlist_container(Promise, node, dlist_pop_head_node(&revoked));

		if (promise->stored != promise->key.valueid)
		{
			PromiseKey	key = promise->key;

			key.valueid = promise->stored;
			enter(&key, promise->rope, NULL);
		}
	}
}

static Promise *
find(const PromiseKey *key)
{
	if (promise_mcxt == NULL)
		return NULL;
	settle_revoked();
	return hash_search(promises, key, HASH_FIND, NULL);
}

static Promise *
find_datum(const struct varlena *datum)
{
	struct varatt_external ptr;
	PromiseKey	key;

	if (promise_mcxt == NULL || !sliced_pointer_get(&ptr, datum))
		return NULL;
	key = key_of(&ptr);
	return find(&key);
}

/* The same rope, but of the base's base. */
static SlicedRope *
rebase(const SlicedRope *rope, const SlicedRope *base)
{
	SlicedRope *result = sliced_rope_make(&base->base);

	for (int i = 0; i < rope->nruns; i++)
	{
		const SlicedRun *run = &rope->runs[i];

		if (run->bytes != NULL)
			sliced_rope_add_bytes(result, run->bytes, run->len);
		else
			sliced_rope_add_rope(result, base, run->start, run->len);
	}
	return result;
}

/* The rope of a promise that is not kept, whose base is stored. */
static const SlicedRope *
rope_of(Promise *promise)
{
	while (any_revoked)
	{
		PromiseKey	key = key_of(&promise->rope->base);
		Promise    *base = find(&key);
		SlicedRope *rope;

		if (base == NULL || base->kept || base == promise)
			break;
		rope = sliced_rope_copy(rebase(promise->rope, base->rope), promise_mcxt);
		forget_rope(promise);
		promise->rope = rope;
		memory += memory_of(rope);
	}
	return promise->rope;
}

SlicedRope *
sliced_rope_of(const struct varlena *datum)
{
	struct varatt_external ptr;
	Promise    *promise;
	SlicedRope *rope;

	if (!sliced_pointer_get(&ptr, datum))
		return NULL;
	promise = find_datum(datum);
	if (promise != NULL && !promise->kept)
	{
		const SlicedRope *promised = rope_of(promise);

		rope = sliced_rope_make(&promised->base);
		sliced_rope_add_rope(rope, promised, 0, promised->len);
		return rope;
	}
	if (promise != NULL)
		ptr.va_valueid = promise->stored;
	rope = sliced_rope_make(&ptr);
	sliced_rope_add_base(rope, 0, sliced_pointer_size(&ptr));
	return rope;
}

bool
sliced_stored_pointer(struct varatt_external *ptr, const struct varlena *datum)
{
	Promise    *promise;

	if (!sliced_pointer_get(ptr, datum))
		return false;
	promise = find_datum(datum);
	if (promise != NULL && promise->kept)
		ptr->va_valueid = promise->stored;
	return promise == NULL || promise->kept;
}

/* The value itself. */
static struct varlena *
build(const SlicedRope *rope)
{
	struct varlena *result = palloc(rope->len + VARHDRSZ);

	SET_VARSIZE(result, rope->len + VARHDRSZ);
	if (rope->len > 0)
	{
		Relation	toastrel = table_open(rope->base.va_toastrelid, AccessShareLock);

		sliced_rope_read(rope, toastrel, 0, rope->len, VARDATA(result));
		table_close(toastrel, AccessShareLock);
	}
	return result;
}

static Oid
unused_id(Oid toastrelid)
{
	Relation	toastrel = table_open(toastrelid, AccessShareLock);
	Relation   *indexes;
	int			nindexes;
	int			valid = toast_open_indexes(toastrel, AccessShareLock, &indexes, &nindexes);
	Oid			id = GetNewOidWithIndex(toastrel, RelationGetRelid(indexes[valid]), 1);

	toast_close_indexes(indexes, nindexes, AccessShareLock);
	table_close(toastrel, AccessShareLock);
	return id;
}

static void
begin_promises(void)
{
	HASHCTL		ctl = {.keysize = sizeof(PromiseKey), .entrysize = sizeof(Promise)};

	ctl.hcxt = AllocSetContextCreate(TopTransactionContext, "sliced promises",
									 ALLOCSET_DEFAULT_SIZES);
	promises = hash_create("sliced promises", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	memory = 0;
	kept_memory = 0;
	dlist_init(&revocable);
	dlist_init(&revoked);
	any_revoked = false;
	promise_mcxt = ctl.hcxt;
}

struct varlena *
sliced_promise_make(const SlicedRope *rope, const void *maker)
{
	PromiseKey	key = {rope->base.va_toastrelid, InvalidOid, rope->len};
	struct varlena *result;

	if (rope->len < SLICED_PROMISE_MIN || rope->len > MaxAllocSize - VARHDRSZ ||
		(promise_mcxt != NULL && memory + memory_of(rope) > MAX_MEMORY))
		return build(rope);

	if (promise_mcxt == NULL)
		begin_promises();
	key.valueid = unused_id(key.toastrelid);
	enter(&key, rope, maker);
	result = palloc(TOAST_POINTER_SIZE);
	sliced_pointer_set((char *) result, key.toastrelid, key.valueid, key.size);
	return result;
}

void
sliced_promise_release(const struct varlena *datum, const void *maker)
{
	Promise    *promise = find_datum(datum);

	if (promise == NULL || promise->kept || maker == NULL || promise->maker != maker)
		return;
	forget_rope(promise);
	hash_search(promises, &promise->key, HASH_REMOVE, NULL);
}

Datum
sliced_promise_result(FunctionCallInfo fcinfo, const SlicedRope *rope)
{
	Node	   *expr = fcinfo->flinfo->fn_expr;
	struct varlena *result = sliced_promise_make(rope, expr);
	List	   *args = expr == NULL ? NIL : IsA(expr, FuncExpr) ? ((FuncExpr *) expr)->args :
		IsA(expr, OpExpr) ? ((OpExpr *) expr)->args : NIL;

	for (int i = 0; i < Min(list_length(args), 2); i++)
		if (!fcinfo->args[i].isnull && exprType(list_nth(args, i)) == exprType(expr))
			sliced_promise_release((struct varlena *) DatumGetPointer(fcinfo->args[i].value),
								   list_nth(args, i));
	return PointerGetDatum(result);
}

/*
 * What it was kept with cannot be rolled back but with the whole transaction: who
 * has the promise needs to be told no more than where the value is.
 */
static void
keep_for_good(Promise *promise)
{
	forget_rope(promise);
	/* under its own id it is found like any */
	if (promise->stored == promise->key.valueid)
		hash_search(promises, &promise->key, HASH_REMOVE, NULL);
	else
		memory += sizeof(Promise);
}

void
sliced_promise_kept(struct varlena *datum, Oid valueid)
{
	struct varatt_external ptr;
	Promise    *promise = find_datum(datum);
	Size		size;

	if (promise == NULL || promise->kept)
		return;
	promise->kept = true;
	promise->stored = valueid;
	size = memory_of(promise->rope);
	if (GetCurrentTransactionNestLevel() > 1 && kept_memory + size <= MAX_KEPT_MEMORY)
	{
		promise->subid = GetCurrentSubTransactionId();
		kept_memory += size;
		dlist_push_tail(&revocable, &promise->node);
		return;
	}
	VARATT_EXTERNAL_GET_POINTER(ptr, datum);
	ptr.va_valueid = valueid;
	memcpy(VARDATA_EXTERNAL(datum), &ptr, sizeof(ptr));
	keep_for_good(promise);
}

bool
sliced_promise_read(Relation toastrel, Oid valueid, uint32 size, uint32 offset, uint32 len,
					char *dest)
{
	PromiseKey	key = {RelationGetRelid(toastrel), valueid, size};
	Promise    *promise = find(&key);

	if (promise == NULL)
		return false;
	if (promise->kept)
		return sliced_value_read(toastrel, promise->stored, offset, len, dest);
	sliced_rope_read(rope_of(promise), toastrel, offset, len, dest);
	return true;
}

bool
sliced_promises_exist(void)
{
	return promise_mcxt != NULL;
}

/*
 * Promises that were kept in the subtransaction are the last of their list.
 * Allocates nothing: it may be ending because there is no memory.
 */
static void
at_end_of_subtransaction(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
						 void *arg)
{
	if (promise_mcxt == NULL ||
		(event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB))
		return;
	for (dlist_node *node = dlist_is_empty(&revocable) ? NULL : dlist_tail_node(&revocable);
		 node != NULL;)
	{
		Promise    *promise = dlist_container(Promise, node, node);
		dlist_node *previous = dlist_has_prev(&revocable, node) ?
			dlist_prev_node(&revocable, node) : NULL;

		if (promise->subid != mine)
			break;
		promise->subid = parent;
		if (event == SUBXACT_EVENT_ABORT_SUB || parent == TopSubTransactionId)
		{
			dlist_delete(node);
			kept_memory -= memory_of(promise->rope);
			if (event == SUBXACT_EVENT_ABORT_SUB)
			{
				promise->kept = false;
				any_revoked = true;
				dlist_push_head(&revoked, node);
			}
			else
				keep_for_good(promise);
		}
		node = previous;
	}
}

static void
at_end_of_transaction(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_PARALLEL_ABORT:
			/* their memory goes with the transaction's */
			promise_mcxt = NULL;
			break;
		default:
			break;
	}
}

void
sliced_promises_init(void)
{
	RegisterSubXactCallback(at_end_of_subtransaction, NULL);
	RegisterXactCallback(at_end_of_transaction, NULL);
}
