/*
 * remover.h
 *	  Deletes values from the toast relation.
 */
#ifndef SLICED_STORE_REMOVER_H
#define SLICED_STORE_REMOVER_H

#include "postgres.h"

#include "utils/rel.h"

/*
 * Delete everything that a value owns.  The caller has deleted or replaced the
 * row with its pointer, and has opened the toast relation with
 * RowExclusiveLock.  Rows that this transaction has deleted before are passed
 * over: core's toaster may have been here.
 *
 * With 'speculative' the value was written by this very command, for a row
 * whose insertion is taken back.
 */
extern void sliced_value_delete(Relation toastrel, Oid valueid, bool speculative);

#endif
