/*
 * repack.h
 *	  REPACK (CONCURRENTLY).
 */
#ifndef SLICED_AM_REPACK_H
#define SLICED_AM_REPACK_H

#include "postgres.h"

#include "access/tableam.h"

/*
 * Copy the rows that 'snapshot' sees, while other sessions go on changing the old
 * table.  Core then repeats their changes.
 */
extern void sliced_copy_visible(Relation oldrel, Relation newrel, Relation index,
								bool use_sort, Snapshot snapshot, double *num_tuples);

#endif
