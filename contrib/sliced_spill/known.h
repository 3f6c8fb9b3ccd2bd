/*
 * known.h
 *	  Keys of groups that are in core's table.  We need not look up rows with these
 *	  keys there, because core does so anyway.
 *
 * An entry is all bytes of a key.  The same bytes are the same key, which has been
 * found in the table, and no group leaves the table before the pass ends.  Keys that
 * are equal but have other bytes are merely not known.
 */
#ifndef SLICED_SPILL_KNOWN_H
#define SLICED_SPILL_KNOWN_H

#include "postgres.h"

#include "executor/tuptable.h"

/* Longer keys are not known. */
#define SLICED_KNOWN_LEN	48

typedef struct SlicedKnownKey
{
	uint32		hash;			/* 0: the place is empty */
	uint32		len;
	char		bytes[SLICED_KNOWN_LEN];
} SlicedKnownKey;

typedef struct SlicedKnown
{
	SlicedKnownKey *places;		/* NULL: nothing is known, nor will be */
	uint32		mask;
	uint32		asked;
	uint32		found;
	uint32		hash;			/* of the key asked for last; 0: it cannot be known */
} SlicedKnown;

/* Uses memory from the current context. */
extern void sliced_known_init(SlicedKnown *known, Size room);
extern void sliced_known_free(SlicedKnown *known);

/* True if the key in these columns was added.  The row's columns have been deformed. */
extern bool sliced_is_known(SlicedKnown *known, TupleTableSlot *row, const AttrNumber *columns, int n);

/* Add the key that was asked for last, of the same row. */
extern void sliced_known_add(SlicedKnown *known, TupleTableSlot *row, const AttrNumber *columns, int n);

#endif
