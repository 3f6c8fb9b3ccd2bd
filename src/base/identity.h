/*
 * identity.h
 *	  Which relations are ours.
 */
#ifndef SLICED_BASE_IDENTITY_H
#define SLICED_BASE_IDENTITY_H

#include "postgres.h"

#include "access/tableam.h"
#include "utils/rel.h"

/* Our routine; NULL until this process first uses the access method. */
extern PGDLLEXPORT const TableAmRoutine *sliced_routine;

/* heap's, which ours calls; set with ours. */
extern const TableAmRoutine *sliced_heap;

/* The function that returned ours when last called. */
extern PGDLLEXPORT Oid sliced_handler_oid;

/* True if the relation is a table, or a toast relation, of our access method. */
static inline bool
sliced_is_ours(Relation rel)
{
	return sliced_routine != NULL && rel->rd_tableam == sliced_routine;
}

/*
 * Before a relation becomes one of the access method: keep the method from being
 * dropped until the transaction ends, or fail if it has been dropped already.  Older
 * releases of core do not do that.
 */
extern void sliced_method_keep(Oid am);

/*
 * True if 'rel', a table of ours, has a toast relation that is not ours.  The answer
 * is kept in the table's relcache entry.  A command that gives the table other files,
 * or another toast relation, invalidates the entry.
 */
extern bool sliced_toast_is_foreign(Relation rel);

#endif
