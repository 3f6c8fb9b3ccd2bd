/*
 * sweep.h
 *	  Removes statistics of relations that are gone.
 */
#ifndef SLICED_BASE_SWEEP_H
#define SLICED_BASE_SWEEP_H

#include "postgres.h"

/* Remove the statistics of relations and databases that no longer exist. */
extern void sliced_counters_sweep(void);

/* A relation is being made: remove statistics of an older one with its OID. */
extern void sliced_counters_relation_is_new(Oid relid);

#endif
