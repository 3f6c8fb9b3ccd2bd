/*
 * toast_file.h
 *	  Opens toast relations by their files, if the catalogs do not know these.
 *
 * A process that decodes the WAL has the catalogs of an earlier time, and reads
 * values from the file that they were written to.  That file may belong to no
 * relation any more.
 */
#ifndef SLICED_STORE_TOAST_FILE_H
#define SLICED_STORE_TOAST_FILE_H

#include "postgres.h"

#include "base/compat.h"
#include "utils/rel.h"

/* The files of a toast relation and of its index. */
typedef struct SlicedToastFile
{
	Oid			toastrelid;		/* as pointers name it */
	RelFileLocator table;
	RelFileLocator index;
} SlicedToastFile;

/*
 * Returns the files that the toast relation has now.  The caller has locked its
 * table.
 */
extern void sliced_toast_file_find(SlicedToastFile *file, Oid toastrelid);

/*
 * From here on sliced_toast_open() of this toast relation opens these files, until
 * the caller leaves them.  After an error, sliced_toast_file_leave() must be called
 * as well (PG_FINALLY).
 */
extern void sliced_toast_file_enter(const SlicedToastFile *file);
extern void sliced_toast_file_leave(void);

/* The toast relation, or the files that have been entered; and close it again. */
extern Relation sliced_toast_open(Oid toastrelid);
extern void sliced_toast_close(Relation toastrel);

/* The index to read, if these are files; otherwise NULL. */
extern Relation sliced_toast_file_index(Relation toastrel);

#endif
