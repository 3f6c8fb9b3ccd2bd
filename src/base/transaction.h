/*
 * transaction.h
 *	  Callbacks for the end of transactions, and of their parts.
 */
#ifndef SLICED_BASE_TRANSACTION_H
#define SLICED_BASE_TRANSACTION_H

#include "postgres.h"

/* The transaction was committed, rolled back or prepared. */
typedef void (*SlicedTransactionEnd) (void);

/* Subtransaction 'mine' of 'parent' was committed or rolled back. */
typedef void (*SlicedSubtransactionEnd) (bool committed, SubTransactionId mine,
										 SubTransactionId parent);

/*
 * Call these from now on, in the order of such calls.  They must not fail: the
 * session may be out of memory.
 */
extern void sliced_transaction_at_end(SlicedTransactionEnd transaction,
									  SlicedSubtransactionEnd subtransaction);

#endif
