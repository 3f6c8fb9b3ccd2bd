/*
 * toast_file.h
 *	  Toast relations by their files, where the catalogs do not tell.
 *
 * Who decodes the WAL has the catalogs of an earlier time, and reads values from the file
 * that they were written to.  That file may be no relation's any more.
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

/* Which files has the toast relation now?  The caller has locked its table. */
extern void sliced_toast_file_find(SlicedToastFile *file, Oid toastrelid);

/*
 * From here on sliced_toast_open() of this toast relation opens these files, until they
 * are left.  An error must lead to sliced_toast_file_leave() as well (PG_FINALLY).
 */
extern void sliced_toast_file_enter(const SlicedToastFile *file);
extern void sliced_toast_file_leave(void);

/* The toast relation, or the files that have been entered; and close it again. */
extern Relation sliced_toast_open(Oid toastrelid);
extern void sliced_toast_close(Relation toastrel);

/* The index to read, if these are files; otherwise NULL. */
extern Relation sliced_toast_file_index(Relation toastrel);

#endif
