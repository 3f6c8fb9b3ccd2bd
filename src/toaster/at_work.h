/*
 * at_work.h
 *	  Says which toaster was at work when an error occurred.
 *
 * A toaster may come from anybody.  Between begin and end, errors get a line of
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
	Relation	rel;			/* whose column 'attno' it works on; NULL: none */
	int			attno;
} SlicedAtWork;

extern void sliced_at_work_begin(SlicedAtWork *work, const SlicedToaster *toaster,
								 Relation rel, int attno);
extern void sliced_at_work_end(SlicedAtWork *work);

#endif
