/*
 * estimate.h
 *	  What would a table take, were its values stored otherwise?
 *
 * Three looks at pages all over the table: how long its values are; what dictionary
 * they would get; and, for as many as there is time, what each choice makes of them
 * (learn/trial.h).  Nothing is written.
 */
#ifndef SLICED_ADVISE_ESTIMATE_H
#define SLICED_ADVISE_ESTIMATE_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "learn/trial.h"

#define SLICED_ESTIMATE_CHOICES		10

/* A column, as far as its values can be compressed or moved out of rows. */
typedef struct SlicedEstimateColumn
{
	double		values;			/* that are not null */
	double		raw;			/* their bytes, without compression */
	double		outside;		/* how many are outside their rows */
	double		outside_raw;	/* their bytes, without compression */
	double		longest;		/* of those that were looked at */
	double		tried_raw;
} SlicedEstimateColumn;

/* What a choice would make of the table. */
typedef struct SlicedEstimated
{
	SlicedChoice choice;
	double		bytes;			/* table, toast relation and its index */
	double		write_rate;		/* bytes a second, without compression; 0 if not known */
	double		read_rate;		/* the same of those that are compressed outside */
	double	   *column_bytes;
} SlicedEstimated;

typedef struct SlicedEstimate
{
	Relation	rel;
	TimestampTz deadline;
	MemoryContext mcxt;			/* of all this */

	/* as it is */
	BlockNumber pages;
	double		bytes;			/* table, toast relation and its index */
	double		as_heap;		/* of heap's: if core wrote it anew, it would take this */
	double		core_outside;	/* bytes of values in core's format outside rows */
	SlicedEstimateColumn *columns;
	double		rows;
	double		raw;			/* of all values */
	double		short_raw;		/* of those in rows that stay in one piece, but need not */

	/* of these, what was tried */
	double		rows_tried;
	double		raw_tried;
	int			nchoices;
	SlicedEstimated choices[SLICED_ESTIMATE_CHOICES];
	SlicedDictionary **dictionaries;	/* for each column, or NULL */
	double		dictionary_bytes;
} SlicedEstimate;

/*
 * Is there anything that could be stored otherwise?  Not in tables without long types: of
 * those an estimate has the bytes as it is, and no choices.
 */
extern bool sliced_estimate_possible(Relation rel);

/* What the table, its toast relation and the index of that take now. */
extern double sliced_table_bytes(Relation rel);

/* Estimate, until 'deadline' or a little later. */
extern SlicedEstimate *sliced_estimate(Relation rel, TimestampTz deadline);

/* When it is over, from now on; an error if that is in the past. */
extern TimestampTz sliced_deadline(const Interval *max_time);

/* May the user ask this of this relation?  An error if not. */
extern void sliced_estimate_check(Relation rel, bool partitioned_too);

#endif
