/*
 * damage.h
 *	  What can be wrong with stored bytes.
 *
 * Code that reads stored bytes returns one of these.  Its caller raises an error,
 * tries something else, or reports it.
 */
#ifndef SLICED_FORMAT_DAMAGE_H
#define SLICED_FORMAT_DAMAGE_H

#include "postgres.h"

typedef enum SlicedDamage
{
	SLICED_SOUND = 0,

	/* something is not there */
	SLICED_VALUE_MISSING,
	SLICED_HEAD_MISSING,
	SLICED_SLICE_MISSING,
	SLICED_CONTINUATION_MISSING,
	SLICED_NODE_MISSING,
	SLICED_DICTIONARY_MISSING,

	/* the value is in core's format */
	SLICED_NOT_SLICES,

	/* a row */
	SLICED_ROW_TOO_SHORT,
	SLICED_CHECKSUM_MISMATCH,
	SLICED_VERSION_UNKNOWN,
	SLICED_KIND_UNKNOWN,
	SLICED_CODEC_UNKNOWN,
	SLICED_CODEC_AND_LENGTH_DISAGREE,
	SLICED_CHARACTERS_IMPOSSIBLE,
	SLICED_HEAD_TOO_SHORT,
	SLICED_HEAD_TOO_SHORT_FOR_ROOT,
	SLICED_HEAD_FLAGS_UNKNOWN,
	SLICED_HEAD_MISPLACED,
	SLICED_TAIL_TOO_SHORT,
	SLICED_TAIL_FLAGS_UNKNOWN,
	SLICED_TAIL_WITHOUT_END,
	SLICED_CONTINUATION_MISPLACED,
	SLICED_CONTINUATION_TOO_LONG,
	SLICED_SLICE_MISPLACED,
	SLICED_SLICE_LENGTH_IMPOSSIBLE,
	SLICED_SLICE_LENGTH_WRONG,
	SLICED_ENTRY_IMPOSSIBLE,
	SLICED_NODE_MISPLACED,
	SLICED_NODE_IMPOSSIBLE,

	/* the rows of a slice, or the slices of a value, together */
	SLICED_CONTINUATION_FOREIGN,
	SLICED_ROWS_DO_NOT_ADD_UP,
	SLICED_DECOMPRESSION_FAILED,
	SLICED_ROOT_TOO_LONG,
	SLICED_DICTIONARY_DAMAGED
} SlicedDamage;

/* The damage in words that fit behind a colon. */
extern const char *sliced_damage_text(SlicedDamage damage);

/* True if something is missing.  Then it may not be written yet. */
static inline bool
sliced_is_missing(SlicedDamage damage)
{
	return damage >= SLICED_VALUE_MISSING && damage <= SLICED_DICTIONARY_MISSING;
}

/*
 * True if the checksum says that the row is as it was written, but not by a release
 * like this one.
 */
static inline bool
sliced_is_newer(SlicedDamage damage)
{
	return damage == SLICED_VERSION_UNKNOWN || damage == SLICED_KIND_UNKNOWN ||
		damage == SLICED_CODEC_UNKNOWN || damage == SLICED_HEAD_FLAGS_UNKNOWN;
}

#endif
