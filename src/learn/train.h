/*
 * train.h
 *	  Trains dictionaries.
 *
 * A dictionary is made of values that are stored outside their rows, and tried on
 * others.  If it saves at least 5 % of what those take, and saves more on all values
 * together than it takes itself, new values use it from then on.
 */
#ifndef SLICED_LEARN_TRAIN_H
#define SLICED_LEARN_TRAIN_H

#include "postgres.h"

#include "store/dictionary.h"
#include "store/writer.h"
#include "toaster/column.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

/*
 * True if new values of this column can look back at a dictionary.  '*column' is set
 * to the column's settings.
 */
extern bool sliced_wants_dictionary(Relation rel, int attno, SlicedColumn *column);

/*
 * Train a dictionary for a column, from rows that 'snapshot' sees.  Returns its
 * bytes, or NULL if none is worth it.  '*entry' is set to its entry in the directory.
 */
extern char *sliced_train_column(Relation rel, Snapshot snapshot, int attno,
								 const SlicedColumn *column, SlicedEntry *entry);

/* A writer for dictionaries.  Decoders never see these, but the values themselves. */
extern SlicedWriter *sliced_dictionary_writer(Relation rel);

/*
 * ANALYZE has looked at the table, or its values are about to be converted.  Make
 * dictionaries for columns whose owner wants that, if there are enough values and
 * many more than the last time.  Does nothing while another session makes some.  Any
 * error becomes a WARNING.
 */
extern void sliced_train_if_due(Relation rel);

/*
 * The table is about to be written anew, to 'writer'.  Make dictionaries for columns
 * that have one, or that get one automatically.
 */
extern void sliced_train_for_rewrite(Relation rel, SlicedWriter *writer);

/*
 * A row is about to be inserted into a table that takes the place of another one
 * (relrewrite).  Does the same, once enough rows have arrived.
 */
extern void sliced_train_arrived(Relation rel);

#endif
