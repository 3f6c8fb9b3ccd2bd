/*
 * damage.c
 *	  What can be wrong with stored bytes, in words.
 */
#include "postgres.h"

#include "format/damage.h"

static const char *const texts[] = {
	[SLICED_SOUND] = "nothing is wrong",
	[SLICED_VALUE_MISSING] = "the value is missing",
	[SLICED_HEAD_MISSING] = "the head is missing",
	[SLICED_SLICE_MISSING] = "the slice is missing",
	[SLICED_CONTINUATION_MISSING] = "a continuation of the slice is missing",
	[SLICED_NODE_MISSING] = "a node is missing",
	[SLICED_DICTIONARY_MISSING] = "its dictionary is missing",
	[SLICED_NOT_SLICES] = "the value is not stored as slices",
	[SLICED_ROW_TOO_SHORT] = "row too short",
	[SLICED_CHECKSUM_MISMATCH] = "checksum mismatch",
	[SLICED_VERSION_UNKNOWN] = "unknown format version",
	[SLICED_KIND_UNKNOWN] = "unknown kind of row",
	[SLICED_CODEC_UNKNOWN] = "unknown codec",
	[SLICED_CODEC_AND_LENGTH_DISAGREE] = "codec and slice length disagree",
	[SLICED_CHARACTERS_IMPOSSIBLE] = "impossible number of characters",
	[SLICED_HEAD_TOO_SHORT] = "head too short",
	[SLICED_HEAD_TOO_SHORT_FOR_ROOT] = "head too short for its root",
	[SLICED_HEAD_FLAGS_UNKNOWN] = "unknown flags in head",
	[SLICED_HEAD_MISPLACED] = "head in the wrong place",
	[SLICED_TAIL_TOO_SHORT] = "tail too short",
	[SLICED_TAIL_FLAGS_UNKNOWN] = "unknown flags in tail",
	[SLICED_TAIL_WITHOUT_END] = "tail without an end",
	[SLICED_CONTINUATION_MISPLACED] = "continuation in the wrong place",
	[SLICED_CONTINUATION_TOO_LONG] = "continuation too long",
	[SLICED_SLICE_MISPLACED] = "slice in the wrong place",
	[SLICED_SLICE_LENGTH_IMPOSSIBLE] = "impossible slice length",
	[SLICED_SLICE_LENGTH_WRONG] = "slice is shorter or longer than it says",
	[SLICED_ENTRY_IMPOSSIBLE] = "impossible entry of a dictionary",
	[SLICED_NODE_MISPLACED] = "node in the wrong place",
	[SLICED_NODE_IMPOSSIBLE] = "impossible node",
	[SLICED_CONTINUATION_FOREIGN] = "a continuation does not belong to the slice",
	[SLICED_ROWS_DO_NOT_ADD_UP] = "the slice's rows do not add up",
	[SLICED_DECOMPRESSION_FAILED] = "the slice cannot be decompressed",
	[SLICED_ROOT_TOO_LONG] = "what the root has is longer than the value",
	[SLICED_DICTIONARY_DAMAGED] = "its dictionary is damaged"
};

StaticAssertDecl(lengthof(texts) == SLICED_DICTIONARY_DAMAGED + 1, "a damage has no text");

const char *
sliced_damage_text(SlicedDamage damage)
{
	return texts[damage];
}
