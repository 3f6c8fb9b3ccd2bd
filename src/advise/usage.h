/*
 * usage.h
 *	  What pg_stat_statements knows of statements that read or change parts of
 *	  values.
 */
#ifndef SLICED_ADVISE_USAGE_H
#define SLICED_ADVISE_USAGE_H

#include "postgres.h"

#include "datatype/timestamp.h"
#include "nodes/pg_list.h"

/* How often statements have read, or changed, parts of a column. */
typedef struct SlicedUsed
{
	Oid			relid;			/* as they name it, possibly a partitioned table */
	int			attno;
	double		reads;			/* calls */
	double		changes;
	double		ms;				/* that these took, in all */
	double		wal;			/* bytes that changes have written to it */
	const char *longest;		/* beginning of the slowest statement; or NULL */
} SlicedUsed;

typedef struct SlicedUsage
{
	bool		known;			/* pg_stat_statements could be read */
	List	   *used;			/* SlicedUsed */
	int			unclear;		/* not analyzed: other search_path, tables gone */
} SlicedUsage;

/* Ask pg_stat_statements, until 'deadline'; the result is in the current context. */
extern SlicedUsage *sliced_usage(TimestampTz deadline);

/* The usage of a table's column, under the table's name or that of an ancestor. */
extern SlicedUsed sliced_usage_of(const SlicedUsage *usage, Oid relid, int attno);

#endif
