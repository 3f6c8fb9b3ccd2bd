/*
 * at_work.h
 *	  Adds the toaster that was at work to the context of errors.
 *
 * Any extension may bring a toaster.  Between begin and end, errors get a line of
 * context with its name.
 */
#ifndef SLICED_TOASTER_AT_WORK_H
#define SLICED_TOASTER_AT_WORK_H

#include "postgres.h"

#include "base/toaster.h"
#include "utils/rel.h"

typedef struct SlicedAtWork
{
	ErrorContextCallback callback;
	const SlicedToaster *toaster;
	Relation	rel;			/* it works on column 'attno' of this; NULL: none */
	int			attno;
} SlicedAtWork;

extern void sliced_at_work_begin(SlicedAtWork *work, const SlicedToaster *toaster,
								 Relation rel, int attno);
extern void sliced_at_work_end(SlicedAtWork *work);

#endif
