/*
 * list.h
 *	  Lists of jsonb's entries that have moved.
 *
 * A jsonb container has an entry of four bytes for each of its values.  The entry
 * says how long the value is; every 32nd says where the value ends.  So when a value
 * gets longer, or another one comes in front of it, all of the list behind it changes
 * a little.  A *moved list* is described by its old words.  'phase' is the present
 * number, of 32, of the first one; their values now end 'delta' bytes further.
 *
 * Entries are in the byte order of the machine, as they are in values.
 */
#ifndef SLICED_FORMAT_LIST_H
#define SLICED_FORMAT_LIST_H

#include "postgres.h"

typedef uint32 SlicedListWord;

#define SLICED_LIST_STRIDE	32		/* one word in this many is an end */
#define SLICED_LIST_BITS	0x0FFFFFFF	/* a word's length, or end */
#define SLICED_LIST_END		0x80000000	/* set if it is an end */

typedef struct SlicedList
{
	uint32		end;			/* where the value before the first word ended */
	uint32		delta;			/* modulo 2^28 */
	uint32		phase;
} SlicedList;

static inline SlicedListWord
sliced_list_word(const char *bytes)
{
	SlicedListWord word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* Returns where the value of a word ends; that of the word before ended at 'end'. */
static inline uint32
sliced_list_next_end(uint32 end, SlicedListWord word)
{
	return word & SLICED_LIST_END ? word & SLICED_LIST_BITS :
		(end + (word & SLICED_LIST_BITS)) & SLICED_LIST_BITS;
}

/*
 * Turn the old words, 'len' bytes at 'bytes', a multiple of four, into the present
 * ones. Returns where the value of the last word ended before.
 */
extern uint32 sliced_list_move(char *bytes, uint32 len, const SlicedList *list);

/*
 * Reads bytes of the old list, counted from its beginning.  Returns false if that is
 * not possible.
 */
typedef bool (*SlicedListReader) (void *arg, uint32 start, uint32 len, char *dst);

/*
 * Find where the value before byte 'at', a multiple of four, ended, from the words
 * before it.
 */
extern bool sliced_list_find_end(const SlicedList *list, uint32 at, SlicedListReader read,
								 void *arg, uint32 *end);

/* The part of the list from byte 'at' on, where the value before ended at 'end'. */
static inline SlicedList
sliced_list_rest(const SlicedList *list, uint32 at, uint32 end)
{
	return (SlicedList) {
		end, list->delta, (list->phase + at / sizeof(SlicedListWord)) % SLICED_LIST_STRIDE
	};
}

/* Read bytes [start, start + len) of the present list. */
extern bool sliced_list_read(const SlicedList *list, uint32 start, uint32 len, char *dst,
							 SlicedListReader read, void *arg);

#endif
