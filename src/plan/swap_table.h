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

/*
 * Return the function that takes the place of 'function'.  InvalidOid if there is
 * none, or if PUBLIC may not execute both.
 */
extern Oid	sliced_swap_table_find(Oid function, SlicedSwapKind kind);

/*
 * Return the function of this name, for a toaster's subscripts.  InvalidOid likewise.
 */
extern Oid	sliced_swap_function(Oid namespace, const char *name, int nargs, const Oid *argtypes);

#endif
