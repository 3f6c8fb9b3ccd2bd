/*
 * promise.c
 *	  Pointers to values that are not written yet.
 *
 * Why a fresh id, where growing a value is going to keep that of the base: the
 * same pointer could come to mean something else.  An UPDATE that waits for
 * another one computes its value twice, the second time from a base that has the
 * length the first promise had.
 *
 * Why promises are not tied to subtransactions: PL/pgSQL's variables are not
 * either.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "format/pointer.h"
#include "lib/ilist.h"
#include "store/reader.h"
#include "toaster/promise.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

/* Memory that promises not kept may take. */
#define MAX_MEMORY	(64 * 1024 * 1024)

/*
 * Kept promises are remembered for who still holds them, such as the variables
 * of a trigger function that is going to return.  More than that are not needed.
 */
#define MAX_KEPT	20000

typedef struct PromiseKey
{
	Oid			toastrelid;
	Oid			valueid;
	uint32		size;
} PromiseKey;

typedef struct Promise
{
	PromiseKey	key;
	SlicedRope *rope;			/* NULL if kept */
	struct varatt_external stored;	/* if kept: where */
	dlist_node	node;			/* if kept: in the list of those, oldest first */
} Promise;

static MemoryContext promise_mcxt;	/* NULL if there are no promises */
static HTAB *promises;
static Size memory;				/* of those not kept */
static dlist_head kept;
static int	nkept;

static Promise *
find(Oid toastrelid, Oid valueid, uint32 size)
{
	PromiseKey	key = {toastrelid, valueid, size};

	return promise_mcxt == NULL ? NULL : hash_search(promises, &key, HASH_FIND, NULL);
}

static Promise *
find_datum(const struct varlena *datum)
{
	struct varatt_external ptr;

	if (promise_mcxt == NULL || !sliced_pointer_get(&ptr, datum))
		return NULL;
	return find(ptr.va_toastrelid, ptr.va_valueid, sliced_pointer_size(&ptr));
}

static Size
memory_of(const SlicedRope *rope)
{
	return sizeof(Promise) + sizeof(SlicedRope) + rope->nruns * sizeof(SlicedRun) +
		sliced_rope_new_bytes(rope);
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
	if (promise != NULL && promise->rope != NULL)
	{
		rope = sliced_rope_make(&promise->rope->base);
		sliced_rope_add_rope(rope, promise->rope, 0, promise->rope->len);
		return rope;
	}
	if (promise != NULL)
		ptr = promise->stored;
	rope = sliced_rope_make(&ptr);
	sliced_rope_add_base(rope, 0, sliced_pointer_size(&ptr));
	return rope;
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
	dlist_init(&kept);
	nkept = 0;
	promise_mcxt = ctl.hcxt;
}

struct varlena *
sliced_promise_make(const SlicedRope *rope)
{
	PromiseKey	key = {rope->base.va_toastrelid, InvalidOid, rope->len};
	struct varlena *result;
	SlicedRope *copy;
	Promise    *promise;

	if (rope->len < SLICED_PROMISE_MIN || rope->len > MaxAllocSize - VARHDRSZ ||
		(promise_mcxt != NULL && memory + memory_of(rope) > MAX_MEMORY))
		return build(rope);

	if (promise_mcxt == NULL)
		begin_promises();
	key.valueid = unused_id(key.toastrelid);
	result = palloc(TOAST_POINTER_SIZE);
	sliced_pointer_set((char *) result, key.toastrelid, key.valueid, key.size);

	copy = sliced_rope_copy(rope, promise_mcxt);
	promise = hash_search(promises, &key, HASH_ENTER, NULL);
	promise->rope = copy;
	memory += memory_of(copy);
	return result;
}

const SlicedRope *
sliced_promise_get(const struct varlena *datum)
{
	Promise    *promise = find_datum(datum);

	return promise == NULL ? NULL : promise->rope;
}

void
sliced_promise_kept(const struct varlena *datum, const struct varatt_external *pointer)
{
	Promise    *promise = find_datum(datum);

	if (promise == NULL || promise->rope == NULL)
		return;
	memory -= memory_of(promise->rope);
	pfree(promise->rope);
	promise->rope = NULL;

	/* under the promise's own id it is found like any value */
	if (pointer->va_valueid == promise->key.valueid)
	{
		hash_search(promises, &promise->key, HASH_REMOVE, NULL);
		return;
	}
	promise->stored = *pointer;
	dlist_push_tail(&kept, &promise->node);
	if (++nkept > MAX_KEPT)
	{
		Promise    *oldest = dlist_container(Promise, node, dlist_pop_head_node(&kept));

		nkept--;
		hash_search(promises, &oldest->key, HASH_REMOVE, NULL);
	}
}

bool
sliced_promise_read(Relation toastrel, Oid valueid, uint32 size, uint32 offset, uint32 len,
					char *dest)
{
	Promise    *promise = find(RelationGetRelid(toastrel), valueid, size);

	if (promise == NULL)
		return false;
	if (promise->rope == NULL)
		return sliced_value_read(toastrel, promise->stored.va_valueid, offset, len, dest);
	sliced_rope_read(promise->rope, toastrel, offset, len, dest);
	return true;
}

bool
sliced_promises_exist(void)
{
	return promise_mcxt != NULL;
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
	RegisterXactCallback(at_end_of_transaction, NULL);
}
