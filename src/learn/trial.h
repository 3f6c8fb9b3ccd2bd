/*
 * trial.h
 *	  What would rows take, were they stored otherwise?
 *
 * Rows go the way that they go when they are inserted, from the choice of which values
 * stay in them to the rows of the toast relation, but for what is said of their columns.
 * What comes out is counted and forgotten: nothing is written, anywhere.
 */
#ifndef SLICED_LEARN_TRIAL_H
#define SLICED_LEARN_TRIAL_H

#include "postgres.h"

#include "codec/dictionary.h"
#include "store/packing.h"
#include "store/writer.h"
#include "toaster/column.h"
#include "utils/rel.h"

/* A way to store the values of all columns whose STORAGE allows for compression. */
typedef struct SlicedChoice
{
	int			codec;
	int			level;
	bool		dictionary;
	int			target;			/* toast_tuple_target; 0: what the table says */
} SlicedChoice;

/* What the values of a column take. */
typedef struct SlicedTrialColumn
{
	double		stored;			/* bytes, within rows or outside, with their share of the index */
	double		read_bytes;		/* that were decompressed */
	double		read_seconds;	/* how long that took */
} SlicedTrialColumn;

typedef struct SlicedTrial
{
	Relation	rel;
	SlicedChoice choice;
	SlicedColumn *columns;		/* what would hold for them */
	SlicedWriter *writer;
	SlicedTally tally;			/* rows of the toast relation */
	SlicedPacking rows;			/* of the table */
	double		far;			/* bytes that parts of values, which were not tried, take there */
	SlicedTrialColumn *takes;
	double		write_seconds;
	MemoryContext mcxt;			/* of one row */
} SlicedTrial;

/* A row to try: what it has outside has been fetched, but for the rest of long values. */
typedef struct SlicedTrialRow
{
	Datum	   *values;
	bool	   *isnull;
	uint64	   *long_len;		/* if not 0, the column's value is so long, and here is how it begins */
} SlicedTrialRow;

/* 'dictionaries' has one for each column, or NULL; they stay the caller's. */
extern void sliced_trial_begin(SlicedTrial *trial, Relation rel, const SlicedChoice *choice,
							   SlicedDictionary **dictionaries);

/* Add what the row would take. */
extern void sliced_trial_row(SlicedTrial *trial, const SlicedTrialRow *row);

/* Bytes of the pages of a toast relation and its index. */
extern double sliced_tally_bytes(const SlicedTally *tally);

#endif
