/*
 * exchange.h
 *	  Decides which of the exchanges that a toaster declares work.
 *
 * An exchange is a function, and the toaster's function that takes its place.
 */
#ifndef SLICED_PLAN_EXCHANGE_H
#define SLICED_PLAN_EXCHANGE_H

#include "postgres.h"

#include "base/toaster.h"
#include "nodes/pg_list.h"

typedef struct SlicedExchange
{
	const SlicedSwap *swap;		/* what the toaster declares */
	Oid			theirs;			/* the function that is exchanged; InvalidOid: there is none */
	Oid			ours;			/* the one that takes its place; InvalidOid: there is none */
	bool		comparable;		/* both can be called, and their results compared */
	const char *problem;		/* why they are not exchanged; NULL: they are */
} SlicedExchange;

/*
 * The exchanges that a toaster declares, as a list of SlicedExchange in the current
 * context.  'type' is the type it knows, 'namespace' the schema of its function.  A
 * name may stand for several functions, and then for as many exchanges.
 */
extern List *sliced_exchanges(const SlicedToaster *toaster, Oid type, Oid namespace);

/*
 * The function in C of this name, for a toaster's subscripts.  InvalidOid if there is
 * none, or if PUBLIC may not execute it.
 */
extern Oid	sliced_exchange_function(Oid namespace, const char *name, int nargs, const Oid *argtypes);

#endif
