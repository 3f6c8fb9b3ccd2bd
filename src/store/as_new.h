/*
 * as_new.h
 *	  Tells whether a value is stored as a new one would be.
 */
#ifndef SLICED_STORE_AS_NEW_H
#define SLICED_STORE_AS_NEW_H

#include "postgres.h"

#include "access/detoast.h"
#include "base/toaster.h"
#include "codec/codec.h"
#include "store/toast_scan.h"

/*
 * True if the writer would store the value, to which 'ptr' leads, as it is stored
 * now.  That holds for everything that the writer has just written.  So a command
 * that writes other values anew has nothing to do the second time.
 *
 * We look at the head, and at how the value begins and ends.  We read its bytes only
 * if its first slice is not compressed, or if it might be cut and is not.  Levels are
 * not stored, so they make no difference.  For a damaged head returns true: a reader
 * reports the damage. 'ts' is an open scan of the toast relation.
 */
extern bool sliced_value_is_as_new(ToastScan *ts, const struct varatt_external *ptr,
								   SlicedCompression compression, const SlicedPolicy *policy);

#endif
