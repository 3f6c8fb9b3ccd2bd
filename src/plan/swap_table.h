/*
 * swap_table.h
 *	  Which of our functions takes the place of which.
 */
#ifndef SLICED_PLAN_SWAP_TABLE_H
#define SLICED_PLAN_SWAP_TABLE_H

#include "postgres.h"

#include "base/toaster.h"
#include "toaster/registry.h"

/* What the toasters of a type offer is exchanged from now on. */
extern void sliced_swap_table_add(Oid type);

/* The same for the toaster that this function returns. */
extern void sliced_swap_table_add_toaster(Oid function);

/*
 * What takes the place of a function; InvalidOid if nothing does, or not
 * everybody may execute both.
 */
extern Oid	sliced_swap_table_find(Oid function, SlicedSwapKind kind);

/* The function of this name, for a toaster's subscripts; InvalidOid likewise. */
extern Oid	sliced_swap_function(Oid namespace, const char *name, int nargs, const Oid *argtypes);

#endif
