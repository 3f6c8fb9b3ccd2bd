/*
 * page_rows.h
 *	  Reads the rows of single pages of a table, for samples.
 */
#ifndef SLICED_LEARN_PAGE_ROWS_H
#define SLICED_LEARN_PAGE_ROWS_H

#include "postgres.h"

#include "access/relscan.h"
#include "executor/tuptable.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

typedef struct SlicedPageRows
{
	TableScanDesc scan;
	Snapshot	snapshot;
	TupleTableSlot *slot;		/* the row; deformed in the current context */
} SlicedPageRows;

/* Rows that 'snapshot' sees. */
extern void sliced_page_rows_begin(SlicedPageRows *rows, Relation rel, Snapshot snapshot);

/* Turn to this page. */
extern void sliced_page_rows_of(SlicedPageRows *rows, BlockNumber block);

/* Fetch its next row; returns false if there is none. */
extern bool sliced_page_rows_next(SlicedPageRows *rows);

extern void sliced_page_rows_end(SlicedPageRows *rows);

#endif
