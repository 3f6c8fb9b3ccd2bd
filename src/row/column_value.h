/*
 * column_value.h
 *	  The forms that a column's value takes on its way into a row.
 *
 * Plain, compressed within the row, or drafted to be stored outside it.  What is
 * compressed already, by heap or in another table of ours, stays so if the column
 * would do the same.
 */
#ifndef SLICED_ROW_COLUMN_VALUE_H
#define SLICED_ROW_COLUMN_VALUE_H

#include "postgres.h"

#include "access/toast_compression.h"
#include "store/draft.h"
#include "toaster/column.h"

/*
 * Can core decompress what this method of its own has compressed?  A server that is
 * built without lz4 cannot read such values.
 */
extern bool sliced_core_has_method(ToastCompressionId method);

/*
 * The value that a pointer from another row leads to: compressed, if its bytes are
 * just what the column would store, otherwise plain.
 */
extern struct varlena *sliced_column_fetch(const SlicedColumn *column, struct varlena *value);

/*
 * Draft a value that a pointer from another row leads to, if it is stored just as the
 * column would store it, and is too long for a row that can keep 'limit' bytes of it.
 * NULL if not, or if it is not likely to be.
 */
extern SlicedDraft *sliced_column_copy(const SlicedColumn *column, struct varlena *value,
									   Size limit);

/* Draft a value that may stay in its row: its compressed form is tried. */
extern SlicedDraft *sliced_column_draft(struct varlena *value, SlicedCompression compression);

/*
 * Draft a value that leaves its row.  If that codec has compressed it already, its
 * bytes are taken as they are.
 */
extern void sliced_column_draft_final(SlicedDraft *draft, struct varlena *value,
									  SlicedCompression compression, const SlicedPolicy *policy);

/* Could the value be compressed to fit in a row?  Judged by how it begins. */
extern bool sliced_column_might_stay_inline(struct varlena *value,
											SlicedCompression compression);

/* The draft as a value of at most 'limit' bytes within its row, or NULL. */
extern struct varlena *sliced_column_inline_form(SlicedDraft *draft, Size limit);

#endif
