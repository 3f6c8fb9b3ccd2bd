/*
 * transaction.h
 *	  What is done when a transaction, or a part of it, has ended.
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
 * Have these called from now on, in the order of such calls.  They must not fail:
 * memory may be what there is none of.
 */
extern void sliced_transaction_at_end(SlicedTransactionEnd transaction,
									  SlicedSubtransactionEnd subtransaction);

#endif
