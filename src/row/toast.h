/*
 * toast.h
 *	  Decides which values of a row stay in it and how the others are stored.
 *
 * Either we or core look after the values of a row.  A row of ours bears the marker.
 * Its values are, or will be, in the toast relation as slices, except those from when
 * it was core's: they stay as they are until they are replaced.
 */
#ifndef SLICED_ROW_TOAST_H
#define SLICED_ROW_TOAST_H

#include "postgres.h"

#include "access/htup.h"
#include "nodes/pg_list.h"
#include "store/change.h"
#include "store/writer.h"
#include "utils/rel.h"

/* One value to write. */
typedef struct SlicedNewValue
{
	Oid			valueid;
	SlicedDraft draft;
	int			attno;
	bool		replaces;		/* an old value that it shares nothing with */
	bool		replaces_core;	/* and that is in core's format */
} SlicedNewValue;

/* One value to write as its difference from the one it replaces. */
typedef struct SlicedChangedValue
{
	SlicedChange change;
	struct varlena *promise;	/* in the caller's tuple, or NULL */
	const SlicedToaster *toaster;	/* of column 'attno' of 'rel' */
	Relation	rel;
	int			attno;
} SlicedChangedValue;

typedef struct SlicedRowToast
{
	HeapTuple	tuple;			/* for heapam */
	bool		core_way;		/* core toasts the tuple: it has no values of ours */
	List	   *new_values;		/* SlicedNewValue, to be written */
	List	   *changed_values; /* SlicedChangedValue, to be written */
	List	   *old_values;		/* ids of values the row no longer has */
	Oid			named;			/* the toast relation, as pointers name it */
} SlicedRowToast;

/*
 * The toast relation that pointers name; in a rewrite, values are written to another
 * one.
 */
static inline Oid
sliced_row_named_toast(Relation rel)
{
	return OidIsValid(rel->rd_toastoid) ? rel->rd_toastoid : rel->rd_rel->reltoastrelid;
}

/* Count this value with the work done since sliced_storing_begin(). */
extern void sliced_row_count_value(const SlicedRowToast *rt, const SlicedNewValue *value);

/*
 * True if core's toaster, or ours, must look at this row.  In a row shorter than
 * core's limit, ours looks at columns with a dictionary, if the table says how short
 * rows should be (toast_tuple_target).
 */
extern bool sliced_row_is_oversized(Relation rel, HeapTuple tuple);

/* Longest row of this table that stays inline if nothing in it is external. */
extern Size sliced_row_inline_limit(Relation rel);

/* Where the values of rows go. */
typedef struct SlicedRowTarget
{
	SlicedWriter *writer;		/* opened, with the options below, when first needed */
	int			options;
	bool		hide;

	/*
	 * If not NULL, for each column: the id that its new value takes if it is stored
	 * outside the row; InvalidOid for a fresh one.
	 */
	const Oid  *keep_ids;

	/*
	 * If not NULL, for each column: whether to write a value that the old version has
	 * too as if it were new.
	 */
	const bool *anew;
} SlicedRowTarget;

/*
 * Toast 'newtup', whose previous version was 'oldtup' (or NULL).
 *
 * Unchanged values of 'oldtup' stay as they are; for those that have changed a
 * little, only the difference is written.  With 'core_way' the caller wants a row
 * that core can toast; it may also get one without asking, if the row is too long for
 * us.  The result is in the current context and may point into 'newtup'.
 */
extern void sliced_row_toast(SlicedRowToast *rt, Relation rel, HeapTuple newtup,
							 HeapTuple oldtup, bool core_way, SlicedRowTarget *target);

/*
 * Hand the values to the writer.  In the tuple that was toasted, replaces each
 * promise that is written so by a pointer.
 */
extern void sliced_row_write(SlicedRowToast *rt, SlicedWriter *writer);

/*
 * All pointers to values in 'tuple', as it is on disk: a list of struct
 * varatt_external, palloc'd each.
 */
extern List *sliced_row_pointers(Relation rel, HeapTuple tuple);

/* The same as ids of values. */
extern List *sliced_row_values(Relation rel, HeapTuple tuple);

/* Delete the values that 'tuple' points to. */
extern void sliced_row_delete(Relation rel, HeapTuple tuple, bool speculative);

/* Delete values, by their ids, from the table's toast relation. */
extern void sliced_row_delete_values(Relation rel, List *valueids, bool speculative);

#endif
