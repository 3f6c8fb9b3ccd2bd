/*
 * advice.h
 *	  What to do with a table, in SQL, what that will bring, or to leave it.
 */
#ifndef SLICED_ADVISE_ADVICE_H
#define SLICED_ADVISE_ADVICE_H

#include "postgres.h"

#include "advise/estimate.h"
#include "advise/usage.h"
#include "nodes/pg_list.h"

typedef struct SlicedAdvice
{
	int			attno;			/* 0: of the whole table */
	const char *topic;
	const char *text;
	double		now;			/* bytes, of table, toast relation and its index; 0: not known */
	double		then;
	const char *sql;			/* or NULL */
} SlicedAdvice;

/* What there is to say, SlicedAdvice: one thing at least. */
extern List *sliced_advice(const SlicedEstimate *e, const SlicedUsage *usage);

/* What new values of the column that has most of them get now; NULL if that was not tried. */
extern const SlicedEstimated *sliced_present_choice(const SlicedEstimate *e);

/* As core's pg_size_pretty(), palloc'd. */
extern char *sliced_pretty_bytes(double bytes);

#endif
