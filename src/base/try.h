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

/* The same, but wait at most this long for a lock that another session holds. */
extern ErrorData *sliced_try_soon(void (*work) (void *), void *arg, int ms);

/*
 * The same, and take everything back that it did, so that no lock stays.  Nothing that it
 * says reaches the client.
 */
extern ErrorData *sliced_try_and_undo(void (*work) (void *), void *arg, int ms);

#endif
