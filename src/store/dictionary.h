/*
 * dictionary.h
 *	  Dictionaries, and the choice of one for new slices of a column.
 *
 * A dictionary is a value in the toast relation of the table whose slices name it.
 * Nothing deletes it: it goes with everything else when the toast relation is written
 * anew or emptied.  So a reader that sees the slice sees the dictionary, also on a
 * standby or after a crash.  A dictionary consists of pieces of the values it was
 * made of, so a file written anew gets dictionaries made of its own rows, never an
 * old one.
 *
 * A slice may name a dictionary that is committed, or that its own transaction has
 * written and not rolled back: then both go together.  So a writer calls
 * sliced_dictionary_current() for each row.  That function forgets what it remembers
 * when the relation's relcache entry is invalidated, as it is at rollback.
 *
 * The id of a dictionary that was rolled back is free for something else.  So a name
 * has the checksum of the bytes as well (store/loaded.h).
 */
#ifndef SLICED_STORE_DICTIONARY_H
#define SLICED_STORE_DICTIONARY_H

#include "postgres.h"

#include "codec/codec.h"
#include "format/damage.h"
#include "format/entry.h"
#include "nodes/pg_list.h"
#include "store/writer.h"
#include "utils/rel.h"

/* True if it is there on disk, as it should be, and was not rolled back. */
extern SlicedDamage sliced_dictionary_check(const SlicedDictionaryName *name);

/* The dictionary that new slices of a column look back at; id 0: none. */
extern SlicedDictionaryName sliced_dictionary_current(Oid toastrelid, int attno);

/* A row of the directory. */
typedef struct SlicedListedEntry
{
	int			attno;
	int			n;
	SlicedEntry entry;
} SlicedListedEntry;

/*
 * All entries of the directory, of committed transactions and this one, in the order
 * of columns, older ones first: a list of SlicedListedEntry.  Leaves out damaged
 * rows; '*damage' is what is wrong with the last of them.
 */
extern List *sliced_dictionary_list(Relation toastrel, SlicedDamage *damage);

/* The last entry of a column in such a list, or NULL. */
extern const SlicedEntry *sliced_dictionary_last(List *entries, int attno);

/*
 * Add a dictionary for new slices of a column; an entry of length 0 says that none
 * was worth it.  Sets the entry's id and checksum.  Until the transaction ends, other
 * sessions cannot add one (SLICED_LOCK_DIRECTORY); then they learn of it.
 */
extern void sliced_dictionary_add(SlicedWriter *writer, int attno, SlicedEntry *entry,
								  const char *bytes);

/* Called once, when the library is loaded. */
extern void sliced_dictionary_init(void);

#endif
