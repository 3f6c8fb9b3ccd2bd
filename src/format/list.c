/*
 * list.c
 *	  Lists of jsonb's entries that have moved.
 */
#include "postgres.h"

#include "format/list.h"

#define WORD	sizeof(SlicedListWord)

uint32
sliced_list_move(char *bytes, uint32 len, const SlicedList *list)
{
	uint32		end = list->end;
	uint32		phase = list->phase;

	for (uint32 i = 0; i + WORD <= len; i += WORD)
	{
		SlicedListWord word = sliced_list_word(bytes + i);
		uint32		next = sliced_list_next_end(end, word);

		word &= ~(SLICED_LIST_END | SLICED_LIST_BITS);
		word |= phase == 0 ? SLICED_LIST_END | ((next + list->delta) & SLICED_LIST_BITS) :
			(next - end) & SLICED_LIST_BITS;
		memcpy(bytes + i, &word, WORD);
		end = next;
		phase = (phase + 1) % SLICED_LIST_STRIDE;
	}
	return end;
}

/*
 * Find where the value before the word at 'bytes' ended.  'n' words before that word
 * are at hand.
 */
static bool
find_end_at_hand(const char *bytes, uint32 n, uint32 *end)
{
	for (; n > 0; n--)
	{
		SlicedListWord word = sliced_list_word(bytes -= WORD);

		*end = (*end + (word & SLICED_LIST_BITS)) & SLICED_LIST_BITS;
		if (word & SLICED_LIST_END)
			return true;
	}
	return false;
}

bool
sliced_list_find_end(const SlicedList *list, uint32 at, SlicedListReader read, void *arg,
					 uint32 *end)
{
	char		words[SLICED_LIST_STRIDE * WORD];

	*end = 0;
	while (at > 0)
	{
		uint32		n = Min(at, sizeof(words));

		at -= n;
		if (!read(arg, at, n, words))
			return false;
		if (find_end_at_hand(words + n, n / WORD, end))
			return true;
	}
	*end = (list->end + *end) & SLICED_LIST_BITS;
	return true;
}

/*
 * Reads the words before the first one together with it, so that lists of lists are
 * read once, not twice a level.
 */
bool
sliced_list_read(const SlicedList *list, uint32 start, uint32 len, char *dst,
				 SlicedListReader read, void *arg)
{
	uint32		first = start - start % WORD;
	uint32		last = TYPEALIGN(WORD, start + len);
	uint32		before = Min(first, SLICED_LIST_STRIDE * WORD);
	char	   *words = palloc(before + (last - first));
	uint32		end = 0;
	bool		ok = read(arg, first - before, before + (last - first), words);

	if (ok && !find_end_at_hand(words + before, before / WORD, &end))
		ok = sliced_list_find_end(list, first, read, arg, &end);
	if (ok)
	{
		SlicedList	rest = sliced_list_rest(list, first, end);

		sliced_list_move(words + before, last - first, &rest);
		memcpy(dst, words + before + (start - first), len);
	}
	pfree(words);
	return ok;
}
