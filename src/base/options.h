/*
 * options.h
 *	  Other storage parameters for a relation, for the time of one call of heapam.
 *
 * The call belongs between these two, within PG_TRY and PG_FINALLY.
 */
#ifndef SLICED_BASE_OPTIONS_H
#define SLICED_BASE_OPTIONS_H

#include "postgres.h"

#include "utils/rel.h"

typedef struct SlicedOptions
{
	Relation	rel;
	bytea	   *ours;
	bytea	   *saved;
} SlicedOptions;

/* Put a copy of the relation's options in their place; the caller changes it. */
extern StdRdOptions *sliced_options_exchange(SlicedOptions *options, Relation rel);
extern void sliced_options_restore(SlicedOptions *options);

#endif
