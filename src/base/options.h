/*
 * options.h
 *	  Changes a storage parameter of a relation for the time of one call of heapam.
 *
 *		SLICED_OPTION_BEGIN(rel, fillfactor, 70);
 *		heap_insert(rel, ...);
 *		SLICED_OPTION_END();
 *
 * The value is computed first, so it may depend on the relation's own options.  After
 * an error the relation has them again.  As with PG_TRY, do not return from in
 * between.
 */
#ifndef SLICED_BASE_OPTIONS_H
#define SLICED_BASE_OPTIONS_H

#include "postgres.h"

#include "utils/rel.h"

typedef struct SlicedOptions
{
	Relation	rel;
	bytea	   *ours;
	bytea	   *saved;
} SlicedOptions;

#define SLICED_OPTION_BEGIN(rel, option, value) \
	do { \
		SlicedOptions sliced_options; \
		int			sliced_value = (value); \
		sliced_options_exchange(&sliced_options, rel)->option = sliced_value; \
		PG_TRY(); \
		{ \
			do { } while (0)

#define SLICED_OPTION_END() \
		} \
		PG_FINALLY(); \
		{ \
			sliced_options_restore(&sliced_options); \
		} \
		PG_END_TRY(); \
	} while (0)

/* Copy a relation's options, or the defaults if it has none. */
extern void sliced_options_copy(StdRdOptions *to, const bytea *from);

/*
 * Put a copy of the relation's options in their place, for the caller to change; put
 * them back.
 */
extern StdRdOptions *sliced_options_exchange(SlicedOptions *options, Relation rel);
extern void sliced_options_restore(SlicedOptions *options);

#endif
