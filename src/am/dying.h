/*
 * dying.h
 *	  Row versions that are dead for new snapshots, and their values.
 *
 * VACUUM FULL, CLUSTER and index builds take versions that were deleted or
 * replaced, as long as some old snapshot might see them.  They judge by numbers:
 * the deleter's xid is not below a horizon that was computed when the command
 * began.  Whoever removes slices judges by another horizon, and by the xid that has
 * deleted those.  Slices of an old version may have been deleted by the transaction
 * that replaced a later one, and that may have the lower xid.  A horizon can also be
 * lower than the last: a new snapshot waits for transactions of all databases,
 * VACUUM only for those of its own.  So the slices may be gone, or go at any moment.
 *
 * That harms nobody.  If slices of a version are gone, somebody has found that no
 * snapshot is left to which their deleter has not committed.  Their deleter is who
 * replaced the version, or somebody who came after that one's commit.  So there is
 * no snapshot left that sees the version: it is dead, and can be left out.
 */
#ifndef SLICED_AM_DYING_H
#define SLICED_AM_DYING_H

#include "postgres.h"

#include "nodes/bitmapset.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

/*
 * Which columns that may have values outside their row does the index read, in its
 * expressions and predicate too?  A set of numbers as pull_varattnos() makes them.
 */
extern Bitmapset *sliced_index_columns(Relation rel, IndexInfo *info);

/*
 * In a row of the table, exchange pointers to values for the values themselves, in
 * the current context.  'columns' is a set as above, or NULL: all.  Returns false
 * if one is missing.  A value that is damaged keeps its pointer: whoever reads that
 * gets the error.
 */
extern bool sliced_row_fetch_values(Relation rel, Datum *values, bool *isnull,
									const Bitmapset *columns);

#endif
