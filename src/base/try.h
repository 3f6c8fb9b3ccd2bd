/*
 * try.h
 *	  Work that may fail without ending the transaction.
 */
#ifndef SLICED_BASE_TRY_H
#define SLICED_BASE_TRY_H

#include "postgres.h"

/*
 * Call 'work' in a subtransaction.  Returns NULL, or the error, palloc'd, if it failed.
 * Errors that end the session or the statement are thrown again.
 */
extern ErrorData *sliced_try(void (*work) (void *), void *arg);

/* The same, and fail if another session holds a lock for long that the work needs. */
extern ErrorData *sliced_try_soon(void (*work) (void *), void *arg);

/* The same, and take everything back that it did, so that no lock stays. */
extern ErrorData *sliced_try_and_undo(void (*work) (void *), void *arg);

#endif
