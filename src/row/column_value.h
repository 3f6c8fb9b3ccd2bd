/*
 * column_value.h
 *	  The forms of a column's value on its way into a row.
 *
 * Plain, compressed within the row, or drafted for storage outside it.  A value that
 * heap or another table of ours has compressed stays so if the column would do the
 * same.
 */
#ifndef SLICED_ROW_COLUMN_VALUE_H
#define SLICED_ROW_COLUMN_VALUE_H

#include "postgres.h"

#include "access/toast_compression.h"
#include "store/draft.h"
#include "toaster/column.h"

/*
 * True if core can decompress what this method of its own has compressed.  A server
 * that is built without lz4 cannot read such values.
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
 * NULL if not, or if that is unlikely.
 */
extern SlicedDraft *sliced_column_copy(const SlicedColumn *column, struct varlena *value,
									   Size limit);

/* Draft a value that may stay in its row: tries its compressed form. */
extern SlicedDraft *sliced_column_draft(struct varlena *value, SlicedCompression compression);

/*
 * Draft a value that leaves its row.  If the column's codec has compressed it
 * already, takes its bytes as they are.
 */
extern void sliced_column_draft_final(SlicedDraft *draft, struct varlena *value,
									  SlicedCompression compression, const SlicedPolicy *policy);

/* True if the value might fit in a row when compressed, judged by its beginning. */
extern bool sliced_column_might_stay_inline(struct varlena *value,
											SlicedCompression compression);

/* The draft as a value of at most 'limit' bytes within its row, or NULL. */
extern struct varlena *sliced_column_inline_form(SlicedDraft *draft, Size limit);

#endif
