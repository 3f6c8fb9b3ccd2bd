/*
 * result.h
 *	  What functions return that change a value of ours.
 */
#ifndef SLICED_VALUE_RESULT_H
#define SLICED_VALUE_RESULT_H

#include "postgres.h"

#include "fmgr.h"
#include "store/rope.h"

/*
 * A function's result, described by a rope of which what is needed is copied: a
 * promise, or if that is not possible or not worth it, the value itself.  If an
 * argument is a promise that was made just for this call, by the expression it is the
 * result of, nobody needs that any more.
 */
extern Datum sliced_result_of_rope(FunctionCallInfo fcinfo, const SlicedRope *rope);

/*
 * The result of a function that changes nothing: its first argument.  If that is a
 * promise, the result is another one of the same: a promise that an expression
 * makes is new every time, so whoever it is made for may release it.  If it is a
 * stored value that a rollback may take away, the result is a promise with all its
 * bytes, since core would return the bytes.
 */
extern Datum sliced_result_unchanged(FunctionCallInfo fcinfo);

#endif
