/*
 * list.h
 *	  Lists of jsonb's entries that have moved.
 *
 * A jsonb container has an entry of four bytes for each of its values.  It says how long
 * the value is; but one of 32 says where the value ends.  So when a value gets longer, or
 * another comes in front of it, all of the list behind it changes a little.  A *moved
 * list* is described by what it was: these words, of which the first is the number 'phase'
 * of 32 now, and whose values end 'delta' bytes further.
 *
 * Entries are in the byte order of the machine, as they are in values.
 */
#ifndef SLICED_FORMAT_LIST_H
#define SLICED_FORMAT_LIST_H

#include "postgres.h"

typedef uint32 SlicedListWord;

#define SLICED_LIST_STRIDE	32		/* one word of so many is an end */
#define SLICED_LIST_BITS	0x0FFFFFFF	/* a word's length, or end */
#define SLICED_LIST_END		0x80000000	/* it is an end */

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

/* Where the value of a word ends; that of the word before ended at 'end'. */
static inline uint32
sliced_list_next_end(uint32 end, SlicedListWord word)
{
	return word & SLICED_LIST_END ? word & SLICED_LIST_BITS :
		(end + (word & SLICED_LIST_BITS)) & SLICED_LIST_BITS;
}

/*
 * Make the words of 'len' bytes at 'bytes', which is a multiple of four, what they are
 * now.  Returns where the value of the last word ended before.
 */
extern uint32 sliced_list_move(char *bytes, uint32 len, const SlicedList *list);

/* Reads bytes of the list as it was, from its beginning on.  False if that is not possible. */
typedef bool (*SlicedListReader) (void *arg, uint32 start, uint32 len, char *dst);

/*
 * Find out where the value before byte 'at', a multiple of four, ended, from the words
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

/* Read bytes [start, start + len) of the list as it is now. */
extern bool sliced_list_read(const SlicedList *list, uint32 start, uint32 len, char *dst,
							 SlicedListReader read, void *arg);

#endif
