/*
 * subscript.h
 *	  Subscripts that become function calls.
 */
#ifndef SLICED_TOASTER_SUBSCRIPT_H
#define SLICED_TOASTER_SUBSCRIPT_H

#include "postgres.h"

#include "nodes/primnodes.h"

/* True if the expression may be evaluated at any time.  NULL may. */
extern bool sliced_is_harmless(const Node *expr);

/*
 * Core evaluates subscripts only if there is a container, and the value to assign
 * only if no subscript is NULL.  True if they may be evaluated in any case.
 */
extern bool sliced_subscripts_are_harmless(const SubscriptingRef *ref);

/* A call of the function, to be copied to the place of a subscript. */
extern FuncExpr *sliced_subscript_call(Oid function, Oid resulttype, List *args);

#endif
