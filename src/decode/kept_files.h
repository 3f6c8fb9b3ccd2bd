/*
 * kept_files.h
 *	  Files of toast relations that decoders have still to read.
 *
 * TRUNCATE, DROP, VACUUM FULL, REINDEX and all else that gives a toast relation another
 * file, or its index, leave the old one to core, which removes it with the commit.  While
 * there are logical slots it stays, and with it all that announcements say of it.
 *
 * The rule is that of deleted rows: a file that transaction X has replaced is like a row that
 * X has deleted.  It may go when X is older than what decoders need of catalogs.
 */
#ifndef SLICED_DECODE_KEPT_FILES_H
#define SLICED_DECODE_KEPT_FILES_H

#include "postgres.h"

#include "access/transam.h"
#include "nodes/pg_list.h"
#include "store/toast_file.h"

typedef struct SlicedKeptFile
{
	RelFileLocator file;
	FullTransactionId replaced;	/* by this transaction */
} SlicedKeptFile;

/* All of this database: a list of SlicedKeptFile. */
extern List *sliced_kept_files(void);

/* Remove those that nobody needs any more, when this transaction commits; or all of them. */
extern int	sliced_kept_files_remove(bool all);

/* The same now and then, where a transaction writes anyway, unless another session does. */
extern void sliced_kept_files_sweep(void);

/* A file of a toast relation is about to be emptied in place: give it another one. */
extern void sliced_toast_empty(Relation toastrel);

/* Called once, when the library is loaded. */
extern void sliced_kept_files_init(void);

#endif
