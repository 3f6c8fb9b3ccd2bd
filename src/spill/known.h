/*
 * known.h
 *	  Keys of groups that are in core's table, so that rows with one of them need not be
 *	  looked for there by us as well: core does it anyway.
 *
 * An entry is a key's bytes, all of them.  The same bytes are the same key, which has been
 * found in the table, and no group leaves the table before the pass ends.  Keys that are
 * equal but have other bytes are merely not known.
 */
#ifndef SLICED_SPILL_KNOWN_H
#define SLICED_SPILL_KNOWN_H

#include "postgres.h"

#include "executor/tuptable.h"

/* Longer keys are not known. */
#define SLICED_KNOWN_LEN	48

typedef struct SlicedKnownKey
{
	uint32		hash;			/* 0: none is here */
	uint32		len;
	char		bytes[SLICED_KNOWN_LEN];
} SlicedKnownKey;

typedef struct SlicedKnown
{
	SlicedKnownKey *places;		/* NULL: nothing is known, nor will be */
	uint32		mask;
	uint32		asked;
	uint32		found;
	uint32		hash;			/* of the key that was asked for last; 0: it cannot be known */
} SlicedKnown;

/* With memory from the current context. */
extern void sliced_known_init(SlicedKnown *known, Size room);
extern void sliced_known_free(SlicedKnown *known);

/* Is the key in these columns of the row, which has been taken apart, one that was added? */
extern bool sliced_is_known(SlicedKnown *known, TupleTableSlot *row, const AttrNumber *columns, int n);

/* Add the key that was asked for last, of the same row. */
extern void sliced_known_add(SlicedKnown *known, TupleTableSlot *row, const AttrNumber *columns, int n);

#endif
