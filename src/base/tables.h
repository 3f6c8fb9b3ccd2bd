/*
 * tables.h
 *	  The tables that a call of one of our functions names.
 *
 * A function that takes a table takes a partitioned one as well: it works on its
 * sliced partitions, and says which of the others it passes over.
 */
#ifndef SLICED_BASE_TABLES_H
#define SLICED_BASE_TABLES_H

#include "postgres.h"

#include "base/locks.h"
#include "fmgr.h"
#include "nodes/pg_list.h"
#include "utils/rel.h"

/* An error if argument 'arg', which is called 'name', is NULL. */
extern void sliced_argument_check(FunctionCallInfo fcinfo, int arg, const char *name);

/*
 * True if this is a sliced table.  Reports why it is not; returns false for a
 * partitioned table, and for a partition that is passed over.
 */
extern bool sliced_table_check(Relation rel, bool is_partition);

/*
 * Lock a sliced table, or a partitioned table and its partitions, until the transaction
 * ends.  Fails if the caller lacks the right.  Returns the OIDs of the sliced ones.
 */
extern List *sliced_tables_lock(Oid relid, SlicedRight right, LOCKMODE mode);

/*
 * A table's name as regclass shows it.  Results have it as text, which compares with a
 * name.
 */
extern char *sliced_table_name(Oid relid);
extern Datum sliced_table_datum(Oid relid);

#endif
