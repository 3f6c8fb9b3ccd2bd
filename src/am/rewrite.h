/*
 * rewrite.h
 *	  VACUUM FULL and CLUSTER.
 */
#ifndef SLICED_AM_REWRITE_H
#define SLICED_AM_REWRITE_H

#include "postgres.h"

#include "access/tableam.h"

extern void sliced_relation_copy_for_cluster(Relation oldrel, Relation newrel, Relation index,
											 bool use_sort, TransactionId oldest_xmin,
											 Snapshot snapshot, TransactionId *xid_cutoff,
											 MultiXactId *multi_cutoff, double *num_tuples,
											 double *tups_vacuumed, double *tups_recently_dead);

#endif
