/*
 * dying.h
 *	  Row versions that are dead for new snapshots, and their values.
 *
 * VACUUM FULL, CLUSTER and index builds take versions that were deleted or replaced,
 * as long as some old snapshot might see them.  They judge by numbers: the deleter's
 * xid is not below a horizon that was computed when the command began.  A session
 * that removes slices judges by another horizon, and by the xid that deleted the
 * slices.  The slices of an old version may have been deleted by the transaction that
 * replaced a later version, and that transaction may have the lower xid.  A horizon
 * can also be lower than the last: a new snapshot waits for transactions of all
 * databases, VACUUM only for those of its own.  So the slices may be gone, or go at
 * any moment.
 *
 * That does no harm.  A session removes slices of a version only when every snapshot
 * that is left sees their deleter as committed.  Their deleter is the transaction
 * that replaced the version, or one that came after its commit.  So no snapshot that
 * is left sees the version: it is dead, and we can leave it out.
 */
#ifndef SLICED_AM_DYING_H
#define SLICED_AM_DYING_H

#include "postgres.h"

#include "nodes/bitmapset.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

/*
 * Columns that the index reads, also in its expressions and predicate, and that may
 * have values outside their row.  A set of numbers as pull_varattnos() makes them.
 */
extern Bitmapset *sliced_index_columns(Relation rel, IndexInfo *info);

/*
 * In a row of the table, exchange pointers to values for the values themselves, in
 * the current context.  'columns' is a set as above, or NULL: all.  Returns false if
 * one is missing.  A damaged value keeps its pointer; its reader gets the error.
 */
extern bool sliced_row_fetch_values(Relation rel, Datum *values, bool *isnull,
									const Bitmapset *columns);

#endif
