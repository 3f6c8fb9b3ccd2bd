/*
 * as_new.h
 *	  Is a value stored as a new one would be?
 */
#ifndef SLICED_STORE_AS_NEW_H
#define SLICED_STORE_AS_NEW_H

#include "postgres.h"

#include "access/detoast.h"
#include "base/toaster.h"
#include "codec/codec.h"
#include "store/toast_scan.h"

/*
 * Would the writer store the value, which 'ptr' leads to, as it is stored now?  What
 * the writer has just written always is; so whoever writes anew what is not has
 * nothing to do the second time.
 *
 * The head is looked at, and how the value begins and ends; only if its first slice
 * is not compressed, or it might be cut and is not, its bytes.  A level is not
 * stored, so it makes no difference.  A damaged head is left to whoever reads it:
 * true.  'ts' is an open scan of the toast relation.
 */
extern bool sliced_value_is_as_new(ToastScan *ts, const struct varatt_external *ptr,
								   SlicedCompression compression, const SlicedPolicy *policy);

#endif
