/*
 * retention.h
 *	  Slices that decoders still have to read.
 *
 * A decoder that reads a value late finds its rows deleted, and still needs them.
 * Core keeps dead rows for decoders in catalogs, and in tables whose owner says that
 * output plugins read them (user_catalog_table).  Our toast relations pass for such a
 * table wherever heap removes rows, and nowhere else:
 *
 *		SLICED_RETAIN_BEGIN(toastrel);
 *		heap's callback
 *		SLICED_RETAIN_END();
 *
 * They do not where heap writes rows: it would log more.  As with PG_TRY, do not
 * return from in between.  Nothing changes for tables, or where decoders do not read
 * slices.
 */
#ifndef SLICED_DECODE_RETENTION_H
#define SLICED_DECODE_RETENTION_H

#include "postgres.h"

#include "access/xlog.h"
#include "base/settings.h"
#include "catalog/pg_class.h"
#include "utils/rel.h"

typedef struct SlicedRetaining
{
	Relation	rel;			/* NULL: nothing to retain */
	bytea	   *ours;			/* options */
	bytea	   *saved;
	struct SlicedRetaining *outer;
} SlicedRetaining;

/* True if decoders may read rows of this relation of ours. */
static inline bool
sliced_is_retained(Relation rel)
{
	return XLogLogicalInfoActive() && rel->rd_rel->relkind == RELKIND_TOASTVALUE &&
		sliced_keeps_for_decoders() && RelationNeedsWAL(rel);
}

#define SLICED_RETAIN_BEGIN(relation) \
	do { \
		SlicedRetaining sliced_retaining; \
		sliced_retain_enter(&sliced_retaining, relation); \
		PG_TRY(); \
		{ \
			do { } while (0)

#define SLICED_RETAIN_END() \
		} \
		PG_FINALLY(); \
		{ \
			sliced_retain_leave(&sliced_retaining); \
		} \
		PG_END_TRY(); \
	} while (0)

extern void sliced_retain_enter(SlicedRetaining *retaining, Relation rel);
extern void sliced_retain_leave(SlicedRetaining *retaining);

/* retention.c: callbacks of the access method that remove rows */
struct TableAmRoutine;
extern void sliced_retention_callbacks(struct TableAmRoutine *routine);

/* Called once, when the library is loaded. */
extern void sliced_retention_init(void);

#endif
