/*
 * shared_counters.h
 *	  What all sessions of a server have counted (counters.h).
 *
 * The counters are a table of fixed size in dynamic shared memory, so the library
 * need not be preloaded.  A session that cannot get it, since shared memory is full,
 * keeps its numbers to itself.  When the table is full, each database has one row for
 * everything that finds no other row.  The last session to end leaves the numbers in
 * a file, from which the first one after a restart takes them.
 */
#ifndef SLICED_BASE_SHARED_COUNTERS_H
#define SLICED_BASE_SHARED_COUNTERS_H

#include "postgres.h"

#include "base/counter_kinds.h"
#include "datatype/timestamp.h"

/*
 * Attach to the table, or make it, unless this session has tried before.  Never
 * fails.
 */
extern void sliced_shared_attach(void);

/* Add to it.  Returns false if this session is not attached.  Never fails. */
extern bool sliced_shared_add(const SlicedBooked *booked, int n);

/* From now on, call this before the session detaches from the table. */
extern void sliced_shared_before_detaching(void (*flush) (void));

/* A row of the table: the counters of one toast relation and column. */
typedef struct SlicedSharedRow
{
	Oid			database;
	SlicedBooked booked;
	TimestampTz since;			/* counted since then */
} SlicedSharedRow;

/* All rows, in palloc'd memory; NULL if this session is not attached. */
extern SlicedSharedRow *sliced_shared_list(int *n);

/*
 * Remove the rows of a toast relation; with InvalidOid, the database's row for the
 * rest.
 */
extern void sliced_shared_remove(Oid database, Oid toastrelid);

/* Remove all rows of a database. */
extern void sliced_shared_remove_all(Oid database);

/*
 * True if it is time to look for rows of relations that are gone, since there is not
 * much room left.  True only once a minute.
 */
extern bool sliced_shared_is_crowded(void);

/*
 * A session that wants to know at once what its parallel workers read begins to lead.
 * It collects (adds) their numbers when they have ended, and stops to lead when it
 * has enough.  Workers report what they have read, even if their leader does not
 * collect it. None of these fails.
 */
extern void sliced_shared_lead(void);
extern void sliced_shared_collect(uint64 *reads);
extern void sliced_shared_lead_no_more(void);
extern void sliced_shared_report(const uint64 *reads);

#endif
