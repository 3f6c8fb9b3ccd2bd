/*
 * layout.h
 *	  How a jsonb document is cut: short values together, each long value by
 *	  itself.
 */
#ifndef SLICED_JSONB_LAYOUT_H
#define SLICED_JSONB_LAYOUT_H

#include "postgres.h"

#include "base/toaster.h"

/*
 * Cut a document of SLICED_CUT_MIN bytes or more: what is short is region 0.
 * A SlicedCutter.
 */
extern int	sliced_jsonb_cut(const char *raw, uint32 len, SlicedCut **cuts, int *ncuts);

#endif
