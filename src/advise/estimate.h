/*
 * estimate.h
 *	  Estimates what a table would take if its values were stored otherwise.
 *
 * We look three times at pages all over the table.  The first look finds how long
 * values are.  The second trains the dictionaries that they would get.  The third, on
 * as many pages as there is time for, tries what each choice makes of them
 * (learn/trial.h).  Nothing is written.
 */
#ifndef SLICED_ADVISE_ESTIMATE_H
#define SLICED_ADVISE_ESTIMATE_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "learn/trial.h"

#define SLICED_ESTIMATE_CHOICES		10

/* A column whose values can be compressed, or moved out of rows. */
typedef struct SlicedEstimateColumn
{
	double		values;			/* that are not null */
	double		raw;			/* their bytes, without compression */
	double		outside;		/* how many are outside their rows */
	double		outside_raw;	/* their bytes, without compression */
	double		longest;		/* of those that were looked at */
	double		tried_raw;
	double		external_len;	/* the part of tried_raw that STORAGE EXTERNAL keeps as it is */
	double		external_raw;	/* bytes of them that lz4 was tried on, ... */
	double		external_lz4;	/* ... and what it made of them */
} SlicedEstimateColumn;

/* What a choice would make of the table. */
typedef struct SlicedEstimated
{
	SlicedChoice choice;
	double		bytes;			/* table, toast relation and its index */
	double		write_rate;		/* bytes a second, uncompressed; 0: not known */
	double		read_rate;		/* the same, reading compressed outside values */
	double	   *column_bytes;
} SlicedEstimated;

typedef struct SlicedEstimate
{
	Relation	rel;
	TimestampTz deadline;
	MemoryContext mcxt;			/* of all this */

	/* the table as it is */
	BlockNumber pages;
	double		bytes;			/* table, toast relation and its index */
	double		as_heap;		/* of heap's: bytes if core wrote it anew */
	double		core_outside;	/* bytes of values in core's format outside rows */
	int			ncolumns;
	SlicedEstimateColumn *columns;
	double		rows;
	double		raw;			/* of all values */
	double		short_raw;		/* of those in rows that stay in one piece, but need not */

	/* the part of this that was tried */
	double		rows_tried;
	double		raw_tried;
	int			nchoices;
	SlicedEstimated choices[SLICED_ESTIMATE_CHOICES];
	SlicedDictionary **dictionaries;	/* for each column, or NULL */
	double		dictionary_bytes;
} SlicedEstimate;

/*
 * True if the table has something that could be stored otherwise.  A table without
 * long types has not: its estimate has the bytes as they are, and no choices.
 */
extern bool sliced_estimate_possible(Relation rel);

/* Bytes that the table, its toast relation and that relation's index take now. */
extern double sliced_table_bytes(Relation rel);

/* Estimate, until 'deadline' or a little later. */
extern SlicedEstimate *sliced_estimate(Relation rel, TimestampTz deadline);

/* The time 'max_time' from now; an error if that is in the past. */
extern TimestampTz sliced_deadline(const Interval *max_time);

#endif
