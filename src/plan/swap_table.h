/*
 * swap_table.h
 *	  Maps functions to those of ours that take their place.
 */
#ifndef SLICED_PLAN_SWAP_TABLE_H
#define SLICED_PLAN_SWAP_TABLE_H

#include "postgres.h"

#include "base/toaster.h"
#include "toaster/registry.h"

/* From now on, exchange the functions that the type's default toaster offers. */
extern void sliced_swap_table_add(Oid type);

/* The same for the toaster that this function returns. */
extern void sliced_swap_table_add_toaster(Oid function);

/* Return the function that takes the place of 'function'.  InvalidOid if there is none. */
extern Oid	sliced_swap_table_find(Oid function, SlicedSwapKind kind);

/* What a toaster's function takes the place of. */
typedef struct SlicedReplaced
{
	NameData	toaster;
	List	   *theirs;			/* functions; only those whose results can be compared */
} SlicedReplaced;

/*
 * Return what 'ours' takes the place of, according to the toasters added so far; NULL
 * for any other function.  The result is valid until the next toaster is added.
 */
extern const SlicedReplaced *sliced_swap_table_replaced(Oid ours);

#endif
