/*
 * train.h
 *	  Where dictionaries come from.
 *
 * A dictionary is made of values that are stored outside their rows, and tried on
 * others.  If it saves at least a twentieth of what those take, and all of them
 * together more than it takes itself, it is for new values from then on.
 */
#ifndef SLICED_LEARN_TRAIN_H
#define SLICED_LEARN_TRAIN_H

#include "postgres.h"

#include "store/dictionary.h"
#include "store/writer.h"
#include "toaster/column.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

/* Can new values of this column look back at a dictionary?  '*column' is what holds for it. */
extern bool sliced_wants_dictionary(Relation rel, int attno, SlicedColumn *column);

/*
 * Train a dictionary for a column, from rows that 'snapshot' sees; its bytes, or NULL if
 * none is worth it.  '*entry' is what the directory is to say.
 */
extern char *sliced_train_column(Relation rel, Snapshot snapshot, int attno,
								 const SlicedColumn *column, SlicedEntry *entry);

/* A writer for dictionaries.  Who decodes never sees them, but the values themselves. */
extern SlicedWriter *sliced_dictionary_writer(Relation rel);

/*
 * ANALYZE has looked at the table, or its values are about to be converted: make
 * dictionaries for columns whose owner wants that, where there are enough values and
 * many more than the last time.  Does nothing while another session makes some.  Any
 * error becomes a WARNING.
 */
extern void sliced_train_if_due(Relation rel);

/*
 * The table is about to be written anew, to 'writer': make dictionaries for columns
 * that have one, or are to have one by themselves.
 */
extern void sliced_train_for_rewrite(Relation rel, SlicedWriter *writer);

/*
 * A row is about to be inserted into a table that takes the place of another one
 * (relrewrite).  The same, once enough rows have arrived.
 */
extern void sliced_train_arrived(Relation rel);

#endif
