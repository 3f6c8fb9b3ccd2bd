/*
 * kept_files.h
 *	  Files of toast relations that decoders still have to read.
 *
 * TRUNCATE, DROP, VACUUM FULL, REINDEX and others give a toast relation, or its
 * index, another file, and core removes the old one with the commit.  While there are
 * logical slots the old file stays, so announcements remain right.
 *
 * The rule is that of deleted rows: a file that transaction X has replaced is like a
 * row that X has deleted.  It may go when X is older than the catalog rows that
 * decoders need.
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

/* All kept files of this database: a list of SlicedKeptFile. */
extern List *sliced_kept_files(void);

/*
 * Remove those that no decoder needs any more, when this transaction commits; or all
 * of them.
 */
extern int	sliced_kept_files_remove(bool all);

/*
 * The same, called now and then by a transaction that writes anyway; does nothing
 * while another session does it.
 */
extern void sliced_kept_files_sweep(void);

/* A file of a toast relation is about to be emptied in place: give it another one. */
extern void sliced_toast_empty(Relation toastrel);

/* Called once, when the library is loaded. */
extern void sliced_kept_files_init(void);

#endif
