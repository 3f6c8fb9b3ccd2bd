/*
 * entries.c
 *	  Compares the entries of a changed container with its old entries.
 *
 * Most values are as long as they were.  But one entry of 32 says where its value
 * ends.  That offset changes, or belongs to another entry, when something in front
 * changes.  So we compare lengths; entries with the same lengths are a list that has
 * moved.
 */
#include "postgres.h"

#include "base/limits.h"
#include "toaster/jsonb/entries.h"

StaticAssertDecl(SLICED_LIST_STRIDE == JB_OFFSET_STRIDE && SLICED_LIST_BITS == JENTRY_OFFLENMASK &&
				 SLICED_LIST_END == JENTRY_HAS_OFF && sizeof(SlicedListWord) == sizeof(JEntry),
				 "lists that have moved are not made of jsonb's entries");

typedef struct Comparison
{
	SlicedRope *rope;
	const SlicedRope *other;
	uint32		start;			/* offset of the old entries in it */
	const SlicedEntries *new;
	const SlicedEntries *old;
	uint32	   *new_ends;		/* for each entry, the end of the data before it */
	uint32	   *old_ends;
} Comparison;

static uint32 *
find_ends(const SlicedEntries *entries)
{
	uint32	   *ends = MemoryContextAllocHuge(CurrentMemoryContext,
											  ((Size) entries->n + 1) * sizeof(uint32));

	ends[0] = entries->end;
	for (uint32 i = 0; i < entries->n; i++)
		ends[i + 1] = sliced_list_next_end(ends[i], sliced_list_word(entries->words + i * sizeof(JEntry)));
	return ends;
}

/* True if a new entry has the type and the length of an old one. */
static inline bool
is_same(const Comparison *c, uint32 i, uint32 k)
{
	JEntry		new = sliced_list_word(c->new->words + i * sizeof(JEntry));
	JEntry		old = sliced_list_word(c->old->words + k * sizeof(JEntry));

	return (new & JENTRY_TYPEMASK) == (old & JENTRY_TYPEMASK) &&
		c->new_ends[i + 1] - c->new_ends[i] == c->old_ends[k + 1] - c->old_ends[k];
}

static void
add_similar(Comparison *c, uint32 i, uint32 n, uint32 k, uint32 nold)
{
	sliced_rope_add_similar(c->rope, c->new->words + i * sizeof(JEntry), n * sizeof(JEntry),
							c->old->words + k * sizeof(JEntry), nold * sizeof(JEntry), c->other,
							c->start + k * sizeof(JEntry));
}

/* Add 'n' new entries that have the types and the lengths of old ones. */
static void
add_same(Comparison *c, uint32 i, uint32 k, uint32 n)
{
	const char *new = c->new->words + i * sizeof(JEntry);
	const char *old = c->old->words + k * sizeof(JEntry);
	uint32		len = n * sizeof(JEntry);
	SlicedList	list = {
		.end = c->old_ends[k],
		.delta = (c->new_ends[i] - c->old_ends[k]) & SLICED_LIST_BITS,
		.phase = (c->new->first + i) % SLICED_LIST_STRIDE
	};
	char	   *moved;

	if (len < SLICED_LIST_WORTH || memcmp(new, old, len) == 0)
	{
		add_similar(c, i, n, k, n);
		return;
	}
	/* it is a moved list only if moving the old entries gives the new ones */
	moved = MemoryContextAllocHuge(CurrentMemoryContext, len);
	memcpy(moved, old, len);
	sliced_list_move(moved, len, &list);
	if (memcmp(moved, new, len) == 0)
		sliced_rope_add_list(c->rope, new, len, old, &list, c->other, c->start + k * sizeof(JEntry));
	else
		add_similar(c, i, n, k, n);
	pfree(moved);
}

/* Compare entries with those of the same number. */
static void
add_by_number(Comparison *c, uint32 i, uint32 n)
{
	uint32		end = i + n;
	uint32		done = i;		/* all entries before it have been added */

	while (i < end)
	{
		uint32		same = 0;

		while (i + same < end && is_same(c, i + same, i + same))
			same++;
		if (same * sizeof(JEntry) >= SLICED_LIST_WORTH)
		{
			add_similar(c, done, i - done, done, i - done);
			add_same(c, i, i, same);
			done = i + same;
		}
		i += same + 1;
	}
	add_similar(c, done, end - done, done, end - done);
}

void
sliced_entries_add(SlicedRope *rope, const SlicedEntries *new, const SlicedEntries *old,
				   const SlicedRope *other, uint32 start)
{
	Comparison	c = {rope, other, start, new, old};
	uint32		limit = Min(new->n, old->n);
	uint32		before = 0;
	uint32		behind = 0;

	if (limit * sizeof(JEntry) < SLICED_LIST_WORTH)
	{
		add_similar(&c, 0, new->n, 0, old->n);
		return;
	}
	c.new_ends = find_ends(new);
	c.old_ends = find_ends(old);
	if (new->n == old->n)
		add_by_number(&c, 0, new->n);
	else
	{
		/*
		 * entries before a change keep their number, those behind keep their number
		 * from the end
		 */
		while (before < limit && is_same(&c, before, before))
			before++;
		while (behind < limit - before && is_same(&c, new->n - 1 - behind, old->n - 1 - behind))
			behind++;
		add_same(&c, 0, 0, before);
		add_similar(&c, before, new->n - before - behind, before, old->n - before - behind);
		add_same(&c, new->n - behind, old->n - behind, behind);
	}
	pfree(c.new_ends);
	pfree(c.old_ends);
}
