/*
 * usage.h
 *	  What pg_stat_statements knows of statements that read or change parts of values.
 */
#ifndef SLICED_ADVISE_USAGE_H
#define SLICED_ADVISE_USAGE_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "nodes/pg_list.h"

/* How often statements have read, or changed, parts of a column. */
typedef struct SlicedUsed
{
	Oid			relid;			/* as they name it: a partitioned table, it may be */
	int			attno;
	double		reads;			/* calls */
	double		changes;
	double		ms;				/* that these took, in all */
	const char *longest;		/* the statement that took most of that, as it begins; or NULL */
} SlicedUsed;

typedef struct SlicedUsage
{
	bool		known;			/* is pg_stat_statements there? */
	List	   *used;			/* SlicedUsed */
	int			unclear;		/* statements that cannot be analyzed by us: other search_path, tables gone */
} SlicedUsage;

/* Ask, until 'deadline'; in the current context. */
extern SlicedUsage *sliced_usage(TimestampTz deadline);

/* The part of it that concerns a column of a table, or of what that is a partition of. */
extern SlicedUsed sliced_usage_of(const SlicedUsage *usage, Oid relid, int attno);

/*
 * Call 'work' in a subtransaction.  If it fails: its message, palloc'd; NULL if not.  What
 * ends the session or the statement does.
 */
extern char *sliced_try(void (*work) (void *), void *arg);

#endif
