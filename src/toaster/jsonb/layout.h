/*
 * layout.h
 *	  Cuts a jsonb document: short values together, each long value by itself.
 */
#ifndef SLICED_JSONB_LAYOUT_H
#define SLICED_JSONB_LAYOUT_H

#include "postgres.h"

#include "base/toaster.h"

/*
 * Cut a document of SLICED_CUT_MIN bytes or more; short values are region 0.  A
 * SlicedCutter.
 */
extern int	sliced_jsonb_cut(const char *raw, uint32 len, SlicedCut **cuts, int *ncuts);

#endif
