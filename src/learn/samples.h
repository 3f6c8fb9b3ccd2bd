/*
 * samples.h
 *	  Values of a column, to make a dictionary and to try it.
 */
#ifndef SLICED_LEARN_SAMPLES_H
#define SLICED_LEARN_SAMPLES_H

#include "postgres.h"

#include "utils/rel.h"
#include "utils/snapshot.h"

/* Values, one behind the other: even ones for training, odd ones for the trial. */
typedef struct SlicedSamples
{
	char	   *bytes[2];
	uint32		used[2];
	size_t	   *lengths[2];
	int			n[2];
	int			most;			/* of each */

	/* Longer values within a row would be stored outside if they were written now. */
	Size		inline_max;
	bool		any_inline;

	/* Bytes of values that are too long for dictionaries, the same with and without. */
	uint64		long_bytes;
	uint64		short_bytes;
} SlicedSamples;

/* Take samples of a column from pages all over the table, of rows that 'snapshot' sees. */
extern void sliced_samples_take(SlicedSamples *samples, Relation rel, Snapshot snapshot,
								int attno);
extern void sliced_samples_free(SlicedSamples *samples);

#endif
