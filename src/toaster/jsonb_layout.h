/*
 * jsonb_layout.h
 *	  How a jsonb document is cut: what is short together, what is long by itself.
 */
#ifndef SLICED_TOASTER_JSONB_LAYOUT_H
#define SLICED_TOASTER_JSONB_LAYOUT_H

#include "postgres.h"

#include "store/writer.h"

/* Documents shorter than this are not cut. */
#define SLICED_JSONB_CUT_MIN	(16 * 1024)

/*
 * Cut a document that is not shorter: what is short is region 0.  A SlicedCutter.
 */
extern int	sliced_jsonb_cut(const char *raw, uint32 len, SlicedCut **cuts, int *ncuts);

#endif
