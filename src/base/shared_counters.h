/*
 * shared_counters.h
 *	  What all sessions of a server have counted (counters.h).
 *
 * A table of fixed size in dynamic shared memory, so that it takes no preloading.
 * Who cannot get it, since shared memory is full, keeps his numbers to himself.
 * When it is full, what has no place goes to one of all such.  The last session to end
 * leaves the numbers in a file, from which the first one after a restart takes them.
 */
#ifndef SLICED_BASE_SHARED_COUNTERS_H
#define SLICED_BASE_SHARED_COUNTERS_H

#include "postgres.h"

#include "base/counters.h"
#include "datatype/timestamp.h"

/* Attach to the table, or make it, unless that was tried.  Never fails. */
extern void sliced_shared_attach(void);

/* Add to it.  False if this session is not attached.  Never fails. */
extern bool sliced_shared_add(const SlicedBooked *booked, int n);

/* What there is of one toast relation and column. */
typedef struct SlicedSharedRow
{
	Oid			database;
	SlicedBooked booked;
	TimestampTz since;			/* counted since then */
} SlicedSharedRow;

/* All there is, in palloc'd memory; NULL if this session is not attached. */
extern SlicedSharedRow *sliced_shared_list(int *n);

/*
 * Remove what there is of a toast relation; with InvalidOid, what is of no certain one.
 */
extern void sliced_shared_remove(Oid database, Oid toastrelid);

/* Remove what there is of a database. */
extern void sliced_shared_remove_all(Oid database);

/*
 * Is it time to look for what belongs to no relation any more, since there is not
 * much room left?
 */
extern bool sliced_shared_is_crowded(void);

/*
 * A session that wants to know at once what its parallel workers read says so, collects
 * (adds) it when they have ended, and says when it has enough.  Workers report what they
 * have read; nobody may want to know.  None of these fails.
 */
extern void sliced_shared_lead(void);
extern void sliced_shared_collect(uint64 *reads);
extern void sliced_shared_lead_no_more(void);
extern void sliced_shared_report(const uint64 *reads);

#endif
