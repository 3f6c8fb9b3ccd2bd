/*
 * state.h
 *	  A row while it is toasted.
 *
 * change.c says what its old version has to do with it, shrink.c which of
 * its values stay in it, toast.c what is written.
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

/* What is known of a column while its row is toasted. */
typedef struct SlicedRowColumn
{
	SlicedColumn options;		/* once they have been asked for, and have a toaster */
	bool		kept;			/* pointer that the old version has too */
	bool		external;		/* pointer to a value yet to be written */
	bool		tried;			/* compression was tried */
	bool		replaces;		/* a value outside the row */
	bool		replaces_core;	/* that is in core's format */
	struct varlena *raw;		/* what the value was before we compressed it */
	SlicedDraft *draft;
	const SlicedRope *rope;		/* how the value differs from the old version's */
	struct varlena *promise;	/* which promised it, if one did */
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
	bool		is_short;		/* only columns with a dictionary are looked at */
	const bool *anew;			/* see SlicedRowTarget */
} SlicedRowState;

/* How long would it be, as it is now? */
extern Size sliced_row_state_size(const SlicedRowState *row);

extern const SlicedColumn *sliced_row_column_options(SlicedRowState *row, int i);

/* The column's value, of 'size' bytes, goes out of the row; its pointer's id comes later. */
extern void sliced_row_reserve_pointer(SlicedRowState *row, int i, uint32 size);

/*
 * Compare with the old version, which is a row of the table, or NULL: which pointers stay, and
 * which values differ in part only.  Ids of values that go are added to
 * 'old_values'.  With 'fetch', fetch values that belong to another row.
 */
extern void sliced_row_compare(SlicedRowState *row, HeapTuple oldtup, bool fetch,
							   List **old_values);

/* Compress values, and move them out, until the row is short enough. */
extern void sliced_row_shrink(SlicedRowState *row);

#endif
