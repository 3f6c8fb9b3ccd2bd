/*
 * counter_kinds.h
 *	  What is counted: see counters.h.
 */
#ifndef SLICED_BASE_COUNTER_KINDS_H
#define SLICED_BASE_COUNTER_KINDS_H

#include "postgres.h"

#include "base/codec_ids.h"

typedef enum SlicedCounter
{
	/* of a table: reads */
	SLICED_READS,				/* of whole values, or of parts */
	SLICED_CORE_READS,			/* of these: of values in core's format */
	SLICED_SLICES_READ,
	SLICED_STORED_READ,			/* bytes of these slices, as stored */
	SLICED_DECOMPRESSED,		/* bytes that decompression made of them */
	SLICED_READ_TIME,			/* microseconds, where track_io_timing is on */
#define SLICED_N_READ_COUNTERS	(SLICED_READ_TIME + 1)

	/* of a column: its values, when a row is written */
	SLICED_KEPT_COMPRESSED,		/* in a row that was too long, and stays in it */
	SLICED_KEPT_AS_IS,			/* the same, though compression was tried */
	SLICED_STORED,				/* outside the row, whole */
	SLICED_STORED_AS_IS,		/* of these: though compression was tried */
	SLICED_UNCHANGED,			/* an update brought the stored value again */
	SLICED_APPENDED,			/* the value only grew */
	SLICED_CHANGED,				/* only the difference was written */
	/* why a value was stored whole though it replaced another one */
	SLICED_REPLACED,			/* the two have nothing in common */
	SLICED_REPLACED_CORE,		/* the old one was in core's format */
	SLICED_ANEW_SHORT,			/* the new one is not worth sharing */
	SLICED_ANEW_NEW,			/* little is left of the old one */
	/* slices and bytes written, by codec */
	SLICED_SLICES_WRITTEN,
	SLICED_RAW_WRITTEN = SLICED_SLICES_WRITTEN + SLICED_N_CODECS,
	SLICED_STORED_WRITTEN = SLICED_RAW_WRITTEN + SLICED_N_CODECS,
	SLICED_N_COUNTERS = SLICED_STORED_WRITTEN + SLICED_N_CODECS
} SlicedCounter;

/* What is booked under one toast relation and column. */
typedef struct SlicedBooked
{
	Oid			toastrelid;		/* InvalidOid: everything that found no room */
	int			attno;
	uint64		counts[SLICED_N_COUNTERS];
} SlicedBooked;

#endif
