/*
 * statements.h
 *	  Which statements read or change parts of values?
 *
 * Those that call what toasters exchange (swap_table.h), or that subscript, a column of
 * a table; be it ours already or not.
 */
#ifndef SLICED_PLAN_STATEMENTS_H
#define SLICED_PLAN_STATEMENTS_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* A column of which a statement reads, or changes, a part. */
typedef struct SlicedUse
{
	Oid			relid;
	int			attno;
	bool		changes;
} SlicedUse;

/*
 * Analyze the statements in 'text', which may have parameters, and list what they use,
 * each once.  Fails where a user who sent them would fail.
 */
extern List *sliced_statement_uses(const char *text);

#endif
