/*
 * statements.h
 *	  Finds the statements that read or change parts of values.
 *
 * These statements subscript a column of a table, or call on it a function that
 * toasters exchange (swap_table.h).  It makes no difference whether the table is ours
 * already.
 */
#ifndef SLICED_PLAN_STATEMENTS_H
#define SLICED_PLAN_STATEMENTS_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* A statement reads, or changes, a part of this column. */
typedef struct SlicedUse
{
	Oid			relid;
	int			attno;
	bool		changes;
} SlicedUse;

/*
 * Analyze the statements in 'text', which may have parameters, and list what they
 * use, each use once.  Fails where the statements would fail for a user who sent
 * them.  Runs no code that a user has written.
 */
extern List *sliced_statement_uses(const char *text);

#endif
