/*
 * state.h
 *	  A row while it is toasted.
 *
 * change.c compares it with its old version, shrink.c decides which of its values
 * stay in it, and toast.c writes the others.
 */
#ifndef SLICED_ROW_STATE_H
#define SLICED_ROW_STATE_H

#include "postgres.h"

#include "access/htup.h"
#include "nodes/pg_list.h"
#include "store/draft.h"
#include "store/rope.h"
#include "toaster/column.h"
#include "utils/rel.h"

/* The state of a column while its row is toasted. */
typedef struct SlicedRowColumn
{
	SlicedColumn options;		/* once looked up, with a toaster */
	bool		kept;			/* pointer that the old version has too */
	bool		external;		/* pointer to a value yet to be written */
	bool		tried;			/* compression was tried */
	bool		replaces;		/* the old version's value was outside the row */
	bool		replaces_core;	/* and in core's format */
	struct varlena *raw;		/* the value before we compressed it */
	SlicedDraft *draft;
	const SlicedRope *rope;		/* how the value differs from the old version's */
	struct varlena *promise;	/* the promise that the rope comes from, or NULL */
} SlicedRowColumn;

typedef struct SlicedRowState
{
	Relation	rel;
	TupleDesc	desc;
	Datum	   *values;
	bool	   *isnull;
	SlicedRowColumn *cols;
	Size		hoff;
	bool		has_external;
	bool		is_short;		/* look only at columns with a dictionary */
	const bool *anew;			/* see SlicedRowTarget */
} SlicedRowState;

/* The length of the row as it is now. */
extern Size sliced_row_state_size(const SlicedRowState *row);

extern const SlicedColumn *sliced_row_column_options(SlicedRowState *row, int i);

/*
 * Move the column's value, of 'size' bytes, out of the row; its pointer gets an id
 * later.
 */
extern void sliced_row_reserve_pointer(SlicedRowState *row, int i, uint32 size);

/*
 * Compare with the old version, a row of the table or NULL: find the pointers that
 * stay, and the values that differ only in part.  Adds ids of values that go to
 * 'old_values'.  With 'fetch', fetches values that belong to another row.
 */
extern void sliced_row_compare(SlicedRowState *row, HeapTuple oldtup, bool fetch,
							   List **old_values);

/* Compress values, and move them out, until the row is short enough. */
extern void sliced_row_shrink(SlicedRowState *row);

#endif
