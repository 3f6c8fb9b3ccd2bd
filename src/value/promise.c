/*
 * promise.c
 *	  Pointers to values that are not written yet.
 *
 * An id names one content.  Every promise has an id of its own, taken fresh from the
 * counter of object ids.  It stands for one content as long as the transaction lasts:
 * the one that its rope describes.  A promise that is kept is stored in one of two
 * ways.  Either its value gets that same id, so that a reader with the pointer finds
 * the same bytes there.  Or, at the top level of the transaction, a value has grown
 * and keeps the id of its base.  Only then does the promise become another name of a
 * stored value, and only the rollback of the whole transaction can take that back.
 *
 * In a subtransaction values do not grow (store/growth.c), and a promise that is kept
 * there also keeps its rope.  When the subtransaction is rolled back, variables of
 * PL/pgSQL, for example, may still have the pointer; its readers find the same bytes
 * in the rope again.  The id has been used up then.  If the promise arrives in a row
 * once more, the row gets a new promise of the same rope (sliced_promise_renew()).
 * An id counts as used up as soon as a row is about to get it.  So nothing is ever
 * written twice under one id.
 *
 * A rope is good as long as its base can be read.  A stored base stays for the
 * transaction, except one that a subtransaction has written that has not ended, or
 * was rolled back: its rows may be removed then.  If such a base is a promise, it has
 * a rope too, and is read through that (rope_of()); if not, the new rope gets all
 * bytes.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "access/xact.h"
#include "base/limits.h"
#include "base/stop.h"
#include "base/transaction.h"
#include "catalog/catalog.h"
#include "format/pointer.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "store/reader.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "value/promise.h"

typedef struct PromiseKey
{
	Oid			toastrelid;
	Oid			valueid;
	uint32		size;
} PromiseKey;

typedef struct Promise
{
	PromiseKey	key;
	SlicedRope *rope;			/* NULL if stored for good */
	Oid			maker;			/* the function that made it, if known */
	Oid			stored;			/* the id that it is stored under, or InvalidOid */
	bool		used_up;		/* a row has got its id, or was about to */
	SubTransactionId subid;		/* if stored, but not for good: the subtransaction */
	dlist_node	node;			/* of revocable, if stored, but not for good */
} Promise;

static MemoryContext promise_mcxt;	/* NULL if there are no promises */
static HTAB *promises;
static List *makers;			/* functions that have made one in this transaction */
static Size memory;
static dlist_head revocable;	/* stored in a subtransaction, oldest first */
static bool any_rolled_back;	/* some subtransaction has been rolled back */

/* The rope composed last, and its promise: see rope_of(). */
static SlicedRope *composed;
static PromiseKey composed_of;

static Size
rope_memory(const SlicedRope *rope)
{
	return sizeof(Promise) + sizeof(SlicedRope) + rope->nruns * sizeof(SlicedRun) +
		sliced_rope_new_bytes(rope);
}

static void
forget_composed(void)
{
	if (composed == NULL)
		return;
	pfree(composed->runs);
	pfree(composed);
	composed = NULL;
}

/* A composed rope may share its bytes. */
static void
forget_rope(Promise *promise)
{
	forget_composed();
	memory -= rope_memory(promise->rope);
	pfree(promise->rope);
	promise->rope = NULL;
}

static PromiseKey
promise_key(const struct varatt_external *ptr)
{
	PromiseKey	key = {ptr->va_toastrelid, ptr->va_valueid, sliced_pointer_size(ptr)};

	return key;
}

static bool
is_stored(const Promise *promise)
{
	return OidIsValid(promise->stored);
}

static Promise *
find_promise(const PromiseKey *key)
{
	return promise_mcxt == NULL ? NULL : hash_search(promises, key, HASH_FIND, NULL);
}

static Promise *
find_promise_at(const struct varatt_external *ptr)
{
	PromiseKey	key;

	if (promise_mcxt == NULL)
		return NULL;
	key = promise_key(ptr);
	return find_promise(&key);
}

static Promise *
find_promise_of(const struct varlena *datum)
{
	struct varatt_external ptr;

	return sliced_pointer_get(&ptr, datum) ? find_promise_at(&ptr) : NULL;
}

/* The base of the promise, if that is a promise that has been rolled back. */
static Promise *
rolled_back_base(const Promise *promise)
{
	PromiseKey	key = promise_key(&promise->rope->base);
	Promise    *base = find_promise(&key);

	return base == NULL || is_stored(base) ? NULL : base;
}

/* Bytes [from, to) of a promise, yet to be described; 'at' is where run 'run' begins. */
typedef struct Stretch
{
	const Promise *promise;
	const Promise *base;
	int			run;
	uint32		at;
	uint32		from;
	uint32		to;
} Stretch;

/*
 * The rope of a promise whose bases are promises that have been rolled back: a rope
 * of the base of the first of them.  It shares their bytes, which stay.
 */
static SlicedRope *
rope_of_chain(const Promise *promise)
{
	const Promise *first = promise;
	SlicedRope *result;
	int			depth = 1;
	int			room = 16;
	Stretch    *stack = palloc(room * sizeof(Stretch));

	while (rolled_back_base(first) != NULL)
		first = rolled_back_base(first);
	result = sliced_rope_make(&first->rope->base);

	stack[0] = (Stretch) {promise, rolled_back_base(promise), 0, 0, 0, promise->rope->len};
	while (depth > 0)
	{
		Stretch    *s = &stack[depth - 1];
		const SlicedRun *run = &s->promise->rope->runs[s->run];
		uint32		skip = s->from - s->at;
		uint32		n;

		CHECK_FOR_INTERRUPTS();
		if (s->from == s->to)
		{
			depth--;
			continue;
		}
		if (skip >= run->len)
		{
			s->at += run->len;
			s->run++;
			continue;
		}
		n = Min(s->to - s->from, run->len - skip);
		s->from += n;
		if (run->bytes != NULL)
			sliced_rope_add_bytes(result, run->bytes + skip, n);
		else if (s->base == NULL)
			sliced_rope_add_base(result, run->start + skip, n);
		else
		{
			const Promise *base = s->base;

			if (depth == room)
				stack = repalloc(stack, (room *= 2) * sizeof(Stretch));
			stack[depth++] = (Stretch) {base, rolled_back_base(base), 0, 0, run->start + skip,
				run->start + skip + n};
		}
	}
	pfree(stack);
	return result;
}

/*
 * The rope of a promise that is not stored; its base can be read.  A composed rope
 * stays for the next reader: for a variable that was changed thousands of times,
 * composing takes longer than reading.
 */
static const SlicedRope *
rope_of(const Promise *promise)
{
	MemoryContext old;

	if (rolled_back_base(promise) == NULL)
		return promise->rope;
	if (composed == NULL || memcmp(&composed_of, &promise->key, sizeof(PromiseKey)) != 0)
	{
		forget_composed();
		old = MemoryContextSwitchTo(promise_mcxt);
		SLICED_STOP("promise.before-composing");
		composed = rope_of_chain(promise);
		composed_of = promise->key;
		MemoryContextSwitchTo(old);
	}
	return composed;
}

SlicedRope *
sliced_rope_at(const struct varatt_external *ptr)
{
	struct varatt_external stored;
	SlicedRope *rope;

	if (sliced_stored_at(&stored, ptr))
	{
		rope = sliced_rope_make(&stored);
		sliced_rope_add_base(rope, 0, sliced_pointer_size(&stored));
	}
	else
	{
		const SlicedRope *promised = rope_of(find_promise_at(ptr));

		rope = sliced_rope_make(&promised->base);
		sliced_rope_add_rope(rope, promised, 0, promised->len);
	}
	return rope;
}

const SlicedRope *
sliced_rope_to_read(const struct varatt_external *ptr)
{
	const Promise *promise = find_promise_at(ptr);

	return rolled_back_base(promise) == NULL ? promise->rope : sliced_rope_at(ptr);
}

SlicedRope *
sliced_rope_of(const struct varlena *datum)
{
	struct varatt_external ptr;

	return sliced_pointer_get(&ptr, datum) ? sliced_rope_at(&ptr) : NULL;
}

bool
sliced_stored_at(struct varatt_external *stored, const struct varatt_external *ptr)
{
	Promise    *promise = find_promise_at(ptr);

	*stored = *ptr;
	if (promise == NULL)
		return true;
	if (is_stored(promise))
		stored->va_valueid = promise->stored;
	return is_stored(promise);
}

bool
sliced_stored_pointer(struct varatt_external *ptr, const struct varlena *datum)
{
	struct varatt_external given;

	return sliced_pointer_get(&given, datum) && sliced_stored_at(ptr, &given);
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
	SLICED_STOP("promise.before-table");
	promises = hash_create("sliced promises", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	memory = 0;
	makers = NIL;
	dlist_init(&revocable);
	promise_mcxt = ctl.hcxt;
}

/* Register a promise of what the rope describes; 'key' says where. */
static void
enter_promise(const PromiseKey *key, const SlicedRope *rope, Oid maker)
{
	SlicedRope *copy = sliced_rope_copy(rope, promise_mcxt);
	MemoryContext old = MemoryContextSwitchTo(promise_mcxt);
	Promise    *promise;

	makers = list_append_unique_oid(makers, maker);
	MemoryContextSwitchTo(old);
	SLICED_STOP("promise.rope-copied");
	promise = hash_search(promises, key, HASH_ENTER, NULL);
	promise->rope = copy;
	promise->maker = maker;
	promise->stored = InvalidOid;
	promise->used_up = false;
	memory += rope_memory(copy);
}

bool
sliced_promise_has_memory(const SlicedRope *rope)
{
	return promise_mcxt == NULL || memory + rope_memory(rope) <= SLICED_PROMISE_MEMORY;
}

struct varlena *
sliced_promise_make(const SlicedRope *rope, Oid maker)
{
	PromiseKey	key = {rope->base.va_toastrelid, InvalidOid, rope->len};
	struct varlena *result;

	if (!sliced_promise_has_memory(rope))
		return NULL;
	if (promise_mcxt == NULL)
		begin_promises();
	/* ids of promises are in no index */
	do
		key.valueid = unused_id(key.toastrelid);
	while (find_promise(&key) != NULL);
	enter_promise(&key, rope, maker);
	SLICED_STOP("promise.made");
	result = palloc(TOAST_POINTER_SIZE);
	sliced_pointer_set((char *) result, key.toastrelid, key.valueid, key.size);
	return result;
}

Oid
sliced_promise_maker(const struct varlena *datum)
{
	const Promise *promise = find_promise_of(datum);

	return promise == NULL ? InvalidOid : promise->maker;
}

bool
sliced_makes_promises(Oid function)
{
	return promise_mcxt != NULL && list_member_oid(makers, function);
}

void
sliced_promise_release(const struct varlena *datum)
{
	Promise    *promise = find_promise_of(datum);

	if (promise == NULL || is_stored(promise))
		return;
	forget_rope(promise);
	hash_search(promises, &promise->key, HASH_REMOVE, NULL);
}

bool
sliced_is_promised(const struct varatt_external *ptr)
{
	return find_promise_at(ptr) != NULL;
}

bool
sliced_parts_may_go(void)
{
	return GetCurrentTransactionNestLevel() > 1 || any_rolled_back;
}

bool
sliced_promise_renew(struct varlena *datum)
{
	Promise    *promise = find_promise_of(datum);

	if (promise == NULL || is_stored(promise))
		return true;
	if (promise->used_up)
	{
		struct varlena *renewed = sliced_promise_make(rope_of(promise), InvalidOid);

		if (renewed == NULL)
			return false;
		SLICED_STOP("promise.before-renewal");
		memcpy(datum, renewed, TOAST_POINTER_SIZE);
		promise = find_promise_of(datum);
	}
	promise->used_up = true;
	return true;
}

/*
 * Now only the rollback of the whole transaction can take the stored value back, so a
 * reader of the promise only needs to know where the value is.
 */
static void
store_for_good(Promise *promise)
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
	Promise    *promise = find_promise_of(datum);

	if (promise == NULL || is_stored(promise))
		return;
	promise->stored = valueid;
	if (GetCurrentTransactionNestLevel() > 1)
	{
		Assert(valueid == promise->key.valueid);
		promise->subid = GetCurrentSubTransactionId();
		dlist_push_tail(&revocable, &promise->node);
		return;
	}
	VARATT_EXTERNAL_GET_POINTER(ptr, datum);
	ptr.va_valueid = valueid;
	memcpy(VARDATA_EXTERNAL(datum), &ptr, sizeof(ptr));
	store_for_good(promise);
}

bool
sliced_promise_read(Relation toastrel, Oid valueid, uint32 size, uint32 offset, uint32 len,
					char *dest)
{
	PromiseKey	key = {RelationGetRelid(toastrel), valueid, size};
	Promise    *promise = find_promise(&key);

	if (promise == NULL)
		return false;
	if (is_stored(promise))
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
 * Promises that were stored in the subtransaction are the last of their list.
 * Allocates nothing: the subtransaction may be ending because there is no memory.
 */
static void
at_end_of_subtransaction(bool committed, SubTransactionId mine, SubTransactionId parent)
{
	dlist_node *node;

	if (!committed)
		any_rolled_back = true;
	if (promise_mcxt == NULL)
		return;
	forget_composed();
	node = dlist_is_empty(&revocable) ? NULL : dlist_tail_node(&revocable);
	while (node != NULL)
	{
		Promise    *promise = dlist_container(Promise, node, node);
		dlist_node *previous = dlist_has_prev(&revocable, node) ?
			dlist_prev_node(&revocable, node) : NULL;

		if (promise->subid != mine)
			break;
		promise->subid = parent;
		if (!committed)
		{
			dlist_delete(node);
			promise->stored = InvalidOid;
		}
		else if (parent == TopSubTransactionId)
		{
			dlist_delete(node);
			store_for_good(promise);
		}
		node = previous;
	}
}

/* The memory of promises goes with the transaction's. */
static void
at_end_of_transaction(void)
{
	promise_mcxt = NULL;
	composed = NULL;
	any_rolled_back = false;
}

void
sliced_promises_init(void)
{
	sliced_transaction_at_end(at_end_of_transaction, at_end_of_subtransaction);
}
