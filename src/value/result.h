/*
 * result.h
 *	  Results of functions that change a value of ours.
 */
#ifndef SLICED_VALUE_RESULT_H
#define SLICED_VALUE_RESULT_H

#include "postgres.h"

#include "fmgr.h"
#include "store/rope.h"

/*
 * A function's result, described by a rope; the parts of it that are needed are
 * copied.  It is a promise or, if that is not possible or not worth it, the value
 * itself.  If an argument is a promise that its expression has just made for this
 * call, it is forgotten.
 */
extern Datum sliced_result_of_rope(FunctionCallInfo fcinfo, const SlicedRope *rope);

/*
 * The result of a function that changes nothing: its first argument.  If that is a
 * promise, the result is another promise of the same: a promise that an expression
 * makes is new every time, so the function that gets it may release it.  If it is a
 * stored value that a rollback may take away, the result is a promise with all its
 * bytes, since core would return the bytes.
 */
extern Datum sliced_result_unchanged(FunctionCallInfo fcinfo);

#endif
