/*
 * label.h
 *	  Labels of provider "sliced": options of tables and columns.
 *
 * "toaster=jsonb, compression=zstd, level=9, dictionary=auto", in pg_seclabel, where
 * dumps and upgrades find it. toaster/column.h says how the labels of a table, its
 * columns and the tables that it is a partition of combine.
 */
#ifndef SLICED_TOASTER_LABEL_H
#define SLICED_TOASTER_LABEL_H

#include "postgres.h"

#define SLICED_LABEL_PROVIDER	"sliced"

typedef struct SlicedLabel
{
	char		toaster[NAMEDATALEN];	/* empty: does not say */
	int			codec;			/* -1: does not say */
	int			level;			/* 0: does not say */
	int			dictionary;		/* SlicedDictionaryUse; -1: does not say */
} SlicedLabel;

/*
 * Split a label into its options.  This release or another one checked it when it was
 * set, so we skip options that we do not know.
 */
extern void sliced_label_read(const char *text, SlicedLabel *label);

/* Called once, when the library is loaded. */
extern void sliced_label_init(void);

#endif
