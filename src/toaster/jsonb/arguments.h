/*
 * arguments.h
 *	  Arguments of functions that change a jsonb, as ropes.
 *
 * In jsonb_set(doc, '{a}', (doc->'a') || x) the document, the part of it and the
 * promise of || have one base.  So the result is a rope of that base.
 */
#ifndef SLICED_JSONB_ARGUMENTS_H
#define SLICED_JSONB_ARGUMENTS_H

#include "postgres.h"

#include "toaster/jsonb/edit.h"
#include "toaster/jsonb/part.h"

/* A value of ours, stored or promised, or a part of one. */
typedef struct SlicedArgument
{
	SlicedPart	part;
	SlicedRope *rope;			/* of the whole value */
} SlicedArgument;

/*
 * Get an argument.  Returns false if it is not ours, or a part so short that copying
 * is better.
 */
extern bool sliced_argument_get(FunctionCallInfo fcinfo, int arg, SlicedArgument *argument);

/*
 * The same, if the argument is no scalar and has the base of 'other', which may be
 * 'argument'.
 */
extern bool sliced_argument_get_shared(FunctionCallInfo fcinfo, int arg, const SlicedArgument *other,
									   SlicedArgument *argument);

/* True if the two have one base. */
extern bool sliced_arguments_share(const SlicedArgument *a, const SlicedArgument *b);

/* Its container.  The document may go when the next one is opened. */
extern SlicedJsonbNode sliced_argument_open(FunctionCallInfo fcinfo, const SlicedArgument *argument);

/* The argument as a rope, in the current context; and bytes [start, start + len) of its document. */
extern SlicedRope *sliced_argument_rope(const SlicedArgument *argument);
extern SlicedRope *sliced_argument_range(const SlicedArgument *argument, uint32 start, uint32 len);

/*
 * A new value as a fragment for a rope that has the base of 'target': NULL is JSON's
 * null.
 */
extern SlicedFragment sliced_argument_fragment(FunctionCallInfo fcinfo, int arg,
											   const SlicedArgument *target);

/* Raise an error: an argument, ours or not, does not have the structure of its type. */
pg_noreturn extern void sliced_argument_complain(FunctionCallInfo fcinfo, int arg);

/* Fetch an argument; an error if its root is damaged. */
extern Jsonb *sliced_argument_fetch(FunctionCallInfo fcinfo, int arg);

/* The same; an error if it is damaged anywhere, so that core's functions can work on it. */
extern Jsonb *sliced_argument_fetch_sound(FunctionCallInfo fcinfo, int arg);

/*
 * Leave the call to core's function.  'a' and 'b' are its arguments that may be ours,
 * or -1.  Core trusts their contents, so damage anywhere in them is an error here.
 */
extern Datum sliced_arguments_leave(FunctionCallInfo fcinfo, PGFunction core, int a, int b);

/* The entries of an argument that was fetched: elements, or keys and then values. */
extern SlicedFragments sliced_argument_entries(FunctionCallInfo fcinfo, int arg, const Jsonb *jsonb);

/*
 * An argument as the function's result.  A part becomes a promise, as only our
 * functions know its datum.
 */
extern Datum sliced_argument_return(FunctionCallInfo fcinfo, int arg);

#endif
