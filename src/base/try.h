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

#endif
