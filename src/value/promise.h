/*
 * promise.h
 *	  Pointers to values that are not written yet.
 *
 * Where an UPDATE computes a column's new value, a function that changes a value does
 * not build the result but promises it.  A promise is an ordinary toast pointer with
 * an id that no value has; this backend remembers the rope that it stands for.  A
 * reader gets the bytes that the rope describes from the toast relation's fetch
 * callback.  The promise may be stored in a row that had the rope's base in that
 * column; then only the difference is written.  Otherwise it is read like any value.
 * A promise that never gets into a row leaves no trace.
 *
 * Promises last until the end of the transaction, also beyond the rollback of a
 * subtransaction that has stored one.  The memory they may take is limited; past
 * that, functions build their results as ever.
 */
#ifndef SLICED_VALUE_PROMISE_H
#define SLICED_VALUE_PROMISE_H

#include "postgres.h"

#include "store/rope.h"
#include "utils/rel.h"

/*
 * The value that a datum points to, as a rope in the current context; NULL if
 * it is neither a value of ours nor a promise.  The rope may share memory of the
 * promise, which is there until the promise is kept.
 */
extern SlicedRope *sliced_rope_of(const struct varlena *datum);

/* The same for a pointer of ours. */
extern SlicedRope *sliced_rope_at(const struct varatt_external *ptr);

/*
 * The rope of a promise that is not stored, for a reader: no copy but where one must be
 * made.
 */
extern const SlicedRope *sliced_rope_to_read(const struct varatt_external *ptr);

/*
 * A pointer to the value that a datum points to, if that is a value of ours that
 * is stored.
 */
extern bool sliced_stored_pointer(struct varatt_external *ptr, const struct varlena *datum);

/* The same for a pointer of ours. */
extern bool sliced_stored_at(struct varatt_external *stored, const struct varatt_external *ptr);

/* True if the pointer is a promise, stored by now or not. */
extern bool sliced_is_promised(const struct varatt_external *ptr);

/*
 * True if a rollback other than that of the whole transaction may take something
 * away.
 */
extern bool sliced_parts_may_go(void);

/* True if promises have memory for another rope. */
extern bool sliced_promise_has_memory(const SlicedRope *rope);

/*
 * Make a promise of the rope; the parts of it that are needed are copied.  'maker' is
 * the function that makes it, if known.  NULL if there is no memory.
 */
extern struct varlena *sliced_promise_make(const SlicedRope *rope, Oid maker);

/*
 * The function that made this promise; InvalidOid if it is not a promise, or the
 * function is not known.
 */
extern Oid	sliced_promise_maker(const struct varlena *datum);

/*
 * True if the function has made a promise in this transaction.  Functions that make
 * promises never return one that they were given.
 */
extern bool sliced_makes_promises(Oid function);

/*
 * The caller has the only copy of this datum.  If it is a promise that is not stored,
 * forget it.
 */
extern void sliced_promise_release(const struct varlena *datum);

/*
 * A row is about to get the value under the promise's id.  If that id has been used
 * up, put another promise of the same rope in its place.  Returns false if there is
 * no memory for it: then the promise can be read like any value, but not kept.
 */
extern bool sliced_promise_renew(struct varlena *datum);

/*
 * The promise has been kept: its value is stored under this id.  In a subtransaction
 * that is the promise's own id.  Readers of the promise will find the value there;
 * 'datum' itself may become the pointer to it.
 */
extern void sliced_promise_kept(struct varlena *datum, Oid valueid);

/*
 * If there is such a promise, read bytes [offset, offset + len) of it and return
 * true.
 */
extern bool sliced_promise_read(Relation toastrel, Oid valueid, uint32 size,
								uint32 offset, uint32 len, char *dest);

/* True if a promise may exist. */
extern bool sliced_promises_exist(void);

/* Called once, when the library is loaded. */
extern void sliced_promises_init(void);

#endif
