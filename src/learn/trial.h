/*
 * trial.h
 *	  Computes what rows would take if they were stored otherwise.
 *
 * Each row goes through the code of an insert, with other settings for its columns:
 * some values stay in the row, the others become rows of the toast relation.  We count
 * the result and forget it, and write nothing.
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
	int			target;			/* toast_tuple_target; 0: the table's */
} SlicedChoice;

/* Space and time that the values of a column take. */
typedef struct SlicedTrialColumn
{
	double		stored;			/* bytes, within rows or outside, with their share of the index */
	double		read_bytes;		/* decompressed for the measurement */
	double		read_seconds;	/* time that took */
} SlicedTrialColumn;

typedef struct SlicedTrial
{
	Relation	rel;
	SlicedChoice choice;
	SlicedColumn *columns;		/* their settings */
	SlicedWriter *writer;
	SlicedTally tally;			/* rows of the toast relation */
	SlicedPacking rows;			/* of the table */
	double		far;			/* bytes there of the parts of values that were not
								 * tried */
	SlicedTrialColumn *takes;
	double		write_seconds;
	MemoryContext mcxt;			/* of one row */
} SlicedTrial;

/* A row to try, with its values fetched, of long values only the beginning. */
typedef struct SlicedTrialRow
{
	Datum	   *values;
	bool	   *isnull;
	uint64	   *long_len;		/* if not 0, the column's value has this length, and
								 * this row has its beginning */
} SlicedTrialRow;

/* 'dictionaries' has one for each column, or NULL; they remain the caller's. */
extern void sliced_trial_begin(SlicedTrial *trial, Relation rel, const SlicedChoice *choice,
							   SlicedDictionary **dictionaries);

/* Add the space that the row would take. */
extern void sliced_trial_row(SlicedTrial *trial, const SlicedTrialRow *row);

/* Bytes of the pages of a toast relation and its index. */
extern double sliced_tally_bytes(const SlicedTally *tally);

#endif
