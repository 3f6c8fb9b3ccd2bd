/*
 * identity.h
 *	  Which relations are ours.
 */
#ifndef SLICED_BASE_IDENTITY_H
#define SLICED_BASE_IDENTITY_H

#include "postgres.h"

#include "access/tableam.h"
#include "utils/rel.h"

/* Our routine; NULL until the access method was first used in this process. */
extern PGDLLEXPORT const TableAmRoutine *sliced_routine;

/* The function that returns it, where it was last asked. */
extern PGDLLEXPORT Oid sliced_handler_oid;

/* Is the relation a table, or a toast relation, of our access method? */
static inline bool
sliced_is_ours(Relation rel)
{
	return sliced_routine != NULL && rel->rd_tableam == sliced_routine;
}

/*
 * Before a relation becomes one of the access method: keep the method from being
 * dropped until the transaction ends, or complain if that has happened.  Older
 * releases of core do not.
 */
extern void sliced_method_keep(Oid am);

/*
 * Does the table have a toast relation that is not ours?  'rel' is a table of
 * ours.  The answer is kept in its relcache entry: whoever gives the table other
 * files, or another toast relation, invalidates that.
 */
extern bool sliced_toast_is_foreign(Relation rel);

#endif
