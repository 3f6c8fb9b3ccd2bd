/*
 * column.h
 *	  The settings of a column: its toaster, its codec, its level, its dictionary.
 *
 * The first of these that says something decides, for each setting by itself:
 *
 *	  the column's label (toaster/label.h)
 *	  SET COMPRESSION of the column
 *	  its table's label
 *	  the label of the same column of the table that this is a partition of,
 *	  then that table's; and so on to the root
 *	  the type's default toaster, and the settings
 *
 * A table's label names a toaster for those columns that it works for.  STORAGE
 * EXTERNAL or PLAIN means no compression, regardless of all others.
 *
 * If a label's toaster does not exist, or does not work for the column's type, the
 * type's default takes its place.
 */
#ifndef SLICED_TOASTER_COLUMN_H
#define SLICED_TOASTER_COLUMN_H

#include "postgres.h"

#include "base/toaster.h"
#include "codec/codec.h"
#include "utils/rel.h"

typedef struct SlicedColumn
{
	const SlicedToaster *toaster;
	SlicedCompression compression;
	int			dictionary;		/* SlicedDictionaryUse */
} SlicedColumn;

/*
 * The settings for a new value of a column, which is of variable length.  If a
 * label's toaster cannot be used, a WARNING, once in a session for a table.
 */
extern SlicedColumn sliced_column(Relation rel, int attno);

/* Its toaster alone, without a warning. */
extern const SlicedToaster *sliced_toaster_of_column(Relation rel, int attno);

/* True if a label names the toaster of any of the table's columns. */
extern bool sliced_columns_name_toasters(Relation rel);

/* The function of the toaster that a label gives to the column; InvalidOid if none does. */
extern Oid	sliced_column_toaster_function(Relation rel, int attno);

/* ---- where it comes from ---- */

typedef enum SlicedOrigin
{
	SLICED_FROM_DEFAULT,		/* the type, or a setting */
	SLICED_FROM_STORAGE,		/* SET STORAGE, or the type's */
	SLICED_FROM_COMPRESSION,	/* SET COMPRESSION */
	SLICED_FROM_COLUMN_LABEL,
	SLICED_FROM_TABLE_LABEL
} SlicedOrigin;

typedef struct SlicedSource
{
	SlicedOrigin origin;
	Oid			relid;			/* the table with the label */
} SlicedSource;

typedef struct SlicedColumnSources
{
	NameData	toaster;		/* named by a label; empty if none does */
	bool		missing;		/* but it cannot be used */
	SlicedSource toaster_from;
	SlicedSource codec_from;
	SlicedSource level_from;
	SlicedSource dictionary_from;
} SlicedColumnSources;

/* The same as sliced_column(), without a warning, and where each setting comes from. */
extern SlicedColumn sliced_column_explain(Relation rel, int attno, SlicedColumnSources *sources);

/* Called once, when the library is loaded. */
extern void sliced_column_init(void);

#endif
