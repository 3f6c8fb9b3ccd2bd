/*
 * size.h
 *	  Computes how long a row is, and may be.
 */
#ifndef SLICED_ROW_SIZE_H
#define SLICED_ROW_SIZE_H

#include "postgres.h"

#include "access/tupdesc.h"

/*
 * The length of the row's data.  May be more than MaxAllocSize, which is no error,
 * and then need not be exact.
 */
extern Size sliced_row_data_size(TupleDesc desc, Datum *values, bool *isnull);

/*
 * Raise heap's error if a promise in such a row, whose header takes 'hoff', is so
 * long that heap could not form the row: it puts values into the row before it
 * toasts them.
 */
extern void sliced_row_check_promises(TupleDesc desc, Datum *values, bool *isnull, Size hoff);

#endif
