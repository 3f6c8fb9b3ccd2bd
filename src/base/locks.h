/*
 * locks.h
 *	  What a caller may do to a relation, and locks.
 *
 * A function that works on a relation calls these first, always in one order.  They
 * check that the statement may write, if it does, check the caller's right, take the lock, and
 * check the right again, since the relation may have got another owner while we
 * waited.
 */
#ifndef SLICED_BASE_LOCKS_H
#define SLICED_BASE_LOCKS_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "storage/lock.h"

typedef enum SlicedRight
{
	SLICED_OWNER,
	SLICED_READER,				/* SELECT on all of the table */
	SLICED_SCANNER,				/* the same, or pg_stat_scan_tables */
	SLICED_CALLER				/* no right but to call the function */
} SlicedRight;

/* Fail in a READ ONLY transaction, and in recovery. */
extern void sliced_refuse_read_only(const char *function);

/*
 * Lock a relation until the transaction ends.  Fails if the caller lacks the right.
 * If there is no such relation, returns false if 'missing_ok', and fails otherwise.
 */
extern bool sliced_relation_lock(Oid relid, SlicedRight right, LOCKMODE mode, bool missing_ok);

/*
 * The same for a relation and, if it is partitioned, for all its partitions; returns
 * their OIDs.  Leaves out partitions that are dropped meanwhile.
 */
extern List *sliced_relation_lock_tree(Oid relid, SlicedRight right, LOCKMODE mode);

/*
 * Locks that only we take, each for one relation.  They conflict with nothing but
 * themselves, so they neither wait for core's commands nor hold them up.
 */
typedef enum SlicedOwnLock
{
	SLICED_LOCK_CONVERSION = 1,	/* of a table: one session converts it */
	SLICED_LOCK_DIRECTORY = 2,	/* of a toast relation: one transaction adds dictionaries */
	SLICED_LOCK_KEPT_FILES = 3	/* of no relation: one transaction removes such files */
} SlicedOwnLock;

extern LOCKTAG sliced_own_lock(SlicedOwnLock what, Oid relid);

/*
 * Take one until the transaction ends.  Without 'wait', returns false if another
 * session has it.
 */
extern bool sliced_own_lock_take(SlicedOwnLock what, Oid relid, bool wait);

#endif
