/*
 * dictionary.h
 *	  Dictionaries, and which one new slices of a column look back at.
 *
 * A dictionary is a value in the toast relation of the table whose slices name it.
 * Nothing deletes it: it goes with all else when the toast relation is written anew
 * or emptied.  So a reader who sees the slice sees the dictionary, on a standby or
 * after a crash as well.  A dictionary consists of pieces of the values it was made of,
 * so a file written anew gets dictionaries made of its own rows, never an old one.
 *
 * A slice may name a dictionary that is committed, or that its own transaction has
 * written and not rolled back: then both go together.  So who writes asks
 * sliced_dictionary_current() for each row anew, and what that remembers is forgotten
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

/* Is it there on disk, as it should be, and was not rolled back? */
extern SlicedDamage sliced_dictionary_check(const SlicedDictionaryName *name);

/* What new slices of a column look back at; id 0: nothing. */
extern SlicedDictionaryName sliced_dictionary_current(Oid toastrelid, int attno);

/* A row of the directory. */
typedef struct SlicedListedEntry
{
	int			attno;
	int			n;
	SlicedEntry entry;
} SlicedListedEntry;

/*
 * All that the directory has, of committed transactions and this one, in the order of
 * columns, older ones first: a list of SlicedListedEntry.  Damaged rows are left out;
 * '*damage' is what is wrong with the last of those.
 */
extern List *sliced_dictionary_list(Relation toastrel, SlicedDamage *damage);

/* The last entry of a column in such a list, or NULL. */
extern const SlicedEntry *sliced_dictionary_last(List *entries, int attno);

/*
 * Add a dictionary for new slices of a column; an entry of length 0 says that none
 * was worth it.  Sets the entry's id and checksum.  Keeps other sessions from adding
 * one until the transaction ends (SLICED_LOCK_DIRECTORY), when they hear of it.
 */
extern void sliced_dictionary_add(SlicedWriter *writer, int attno, SlicedEntry *entry,
								  const char *bytes);

/* Called once, when the library is loaded. */
extern void sliced_dictionary_init(void);

#endif
