/*
 * advice.h
 *	  Advice on a table: what to do, in SQL, and what it will bring; or to leave the
 *	  table.
 */
#ifndef SLICED_ADVISE_ADVICE_H
#define SLICED_ADVISE_ADVICE_H

#include "postgres.h"

#include "advise/estimate.h"
#include "advise/usage.h"
#include "nodes/pg_list.h"

typedef struct SlicedAdvice
{
	int			attno;			/* 0: the advice is on the whole table */
	const char *topic;
	const char *text;
	double		now;			/* bytes, of table, toast relation and its index; 0: not known */
	double		then;
	const char *sql;			/* or NULL */
	bool		is_variant;		/* instead of the advice before it, and it has a price */
	const char *col;			/* the column's name; NULL: attno is 0 */
} SlicedAdvice;

/* Return the advice on a table, as SlicedAdvice: one row at least. */
extern List *sliced_advice(const SlicedEstimate *e, const SlicedUsage *usage);

/*
 * The choice that new values of the column with most bytes get now; NULL if the
 * estimate did not try it.
 */
extern const SlicedEstimated *sliced_present_choice(const SlicedEstimate *e);

/* Bytes of the table written anew as it is, if that is less than it takes. */
extern double sliced_written_anew(const SlicedEstimate *e);

#endif
