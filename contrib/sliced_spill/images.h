/*
 * images.h
 *	  Grouping keys by their bytes, where equal keys have equal bytes.
 */
#ifndef SLICED_SPILL_IMAGES_H
#define SLICED_SPILL_IMAGES_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "nodes/plannodes.h"

/* True if equal keys of this aggregate have equal bytes. */
extern bool sliced_equal_images(const Agg *agg, TupleDesc input);

/* A hash of the bytes of these columns.  The row's columns have been deformed. */
extern uint32 sliced_image_hash(TupleTableSlot *row, const AttrNumber *columns, int n);

#endif
