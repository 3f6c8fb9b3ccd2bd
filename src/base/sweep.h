/*
 * sweep.h
 *	  Statistics of relations that are gone go.
 */
#ifndef SLICED_BASE_SWEEP_H
#define SLICED_BASE_SWEEP_H

#include "postgres.h"

/* Remove what belongs to relations or databases that are no more. */
extern void sliced_counters_sweep(void);

/* A relation is being made: nothing of its number is its. */
extern void sliced_counters_relation_is_new(Oid relid);

#endif
