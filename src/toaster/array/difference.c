/*
 * difference.c
 *	  Finds what an array has in common with the one it replaces.
 *
 * An array that got longer has other dimensions at its beginning, and every element
 * behind a new one has moved.  So we compare dimensions, bitmap and elements on their
 * own.  Where elements differ we look for blocks of the old ones among the new ones.
 * The old blocks follow each other; the new ones may begin at any element.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "base/limits.h"
#include "common/hashfn.h"
#include "format/pointer.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "toaster/array/difference.h"
#include "toaster/array/elements.h"
#include "utils/lsyscache.h"
#include "value/same_bytes.h"

/* Where the parts of an array are: header and bitmap, then elements. */
typedef struct Layout
{
	uint32		data;
	uint32		len;
} Layout;

typedef struct Comparison
{
	SlicedRope *rope;
	const char *old;
	uint32		old_from;		/* elements that differ */
	uint32		old_to;
	const char *new;
	uint32		new_from;
	uint32		new_to;
	uint32		step;			/* elements begin at multiples of this */
	uint32		block;
	uint32		mask;			/* of the table's size */
	uint32	   *table;			/* offsets of old blocks; 0: none */
} Comparison;

static bool
get_layout(const char *bytes, uint32 len, Layout *layout)
{
	const ArrayType *array = (const ArrayType *) (bytes - SLICED_ARRAY_START);

	if (len < SLICED_ARRAY_HEADER || array->ndim < 1 || array->ndim > MAXDIM)
		return false;
	layout->len = len;
	layout->data = ARR_DATA_OFFSET(array) - SLICED_ARRAY_START;
	return layout->data >= sliced_array_bitmap_start(array->ndim) && layout->data <= len;
}

/*
 * The distance between elements of one length; for other elements the least distance.
 */
static uint32
step_of(const char *bytes)
{
	int16		typlen;
	bool		typbyval;
	char		typalign;

	get_typlenbyvalalign(((const ArrayType *) (bytes - SLICED_ARRAY_START))->elemtype,
						 &typlen, &typbyval, &typalign);
	return att_align_nominal(typlen > 0 ? typlen : 1, typalign);
}

/* ---- elements that have moved ---- */

static uint32
slot_of(const Comparison *c, const char *bytes)
{
	return hash_bytes((const unsigned char *) bytes, c->block) & c->mask;
}

static void
remember_old_blocks(Comparison *c)
{
	uint32		n = (c->old_to - c->old_from) / c->block;

	c->mask = pg_nextpower2_32(Max(2 * n, 16)) - 1;
	c->table = MemoryContextAllocExtended(CurrentMemoryContext, ((Size) c->mask + 1) * sizeof(uint32),
										  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 i = 0; i < n; i++)
	{
		uint32		at = c->old_from + i * c->block;
		uint32		slot = slot_of(c, c->old + at);

		CHECK_FOR_INTERRUPTS();

		/* of blocks that are the same, the first: more of them are likely to follow */
		if (c->table[slot] == 0)
			c->table[slot] = at;
	}
}

/*
 * A run of old elements that begin in the new array at 'at', or before it but not
 * before 'from'.  Returns its length, 0 if none is worth it; 'at' moves to its
 * beginning.
 */
static uint32
find_run(const Comparison *c, uint32 from, uint32 *at, uint32 *old_at)
{
	uint32		place = c->table[slot_of(c, c->new + *at)];
	uint32		before;
	uint32		len;

	if (place == 0 || memcmp(c->old + place, c->new + *at, c->block) != 0)
		return 0;
	before = sliced_common_suffix(c->old + place, c->new + *at,
								  Min(place - c->old_from, *at - from));
	len = before + sliced_common_prefix(c->old + place, c->new + *at,
										Min(c->old_to - place, c->new_to - *at));
	if (len < SLICED_SIMILAR)
		return 0;
	*at -= before;
	*old_at = place - before;
	return len;
}

static void
compare_moved(Comparison *c)
{
	uint32		done = c->new_from;
	uint32		at = done;

	remember_old_blocks(c);
	while (c->new_to - at >= c->block && at < c->new_to)
	{
		uint32		begin = at;
		uint32		old_at;
		uint32		len = find_run(c, done, &begin, &old_at);

		/* without a match, a hundred million elements take many seconds */
		CHECK_FOR_INTERRUPTS();
		if (len == 0)
		{
			at += c->step;
			continue;
		}
		sliced_rope_add_bytes(c->rope, c->new + done, begin - done);
		sliced_rope_add_base(c->rope, old_at, len);
		done = begin + len;
		/* the next element at which a run may begin */
		at = done + (c->step - (done - c->new_from) % c->step) % c->step;
	}
	sliced_rope_add_bytes(c->rope, c->new + done, c->new_to - done);
	pfree(c->table);
}

/* ---- whole arrays ---- */

/* The number of these bytes that are whole elements. */
static uint32
whole(const Comparison *c, uint32 bytes)
{
	return bytes - bytes % c->step;
}

static void
compare_elements(Comparison *c, const Layout *old, const Layout *new)
{
	uint32		limit = Min(old->len - old->data, new->len - new->data);
	uint32		prefix = whole(c, sliced_common_prefix(c->old + old->data, c->new + new->data, limit));
	uint32		suffix = whole(c, sliced_common_suffix(c->old + old->len, c->new + new->len,
													   limit - prefix));

	c->old_from = old->data + prefix;
	c->old_to = old->len - suffix;
	c->new_from = new->data + prefix;
	c->new_to = new->len - suffix;
	sliced_rope_add_base(c->rope, old->data, prefix);
	compare_moved(c);
	sliced_rope_add_base(c->rope, c->old_to, suffix);
}

SlicedRope *
sliced_array_difference(SlicedDocument *doc, const char *raw, uint32 len)
{
	SlicedRope *base = sliced_rope_make(&doc->ptr);
	Comparison	c = {.rope = sliced_rope_make(&doc->ptr), .old = doc->partial.bytes, .new = raw};
	Layout		old;
	Layout		new;

	if (!get_layout(c.old, doc->partial.size, &old) || !get_layout(raw, len, &new))
		return NULL;
	c.step = step_of(raw);
	c.block = (SLICED_ARRAY_BLOCK + c.step - 1) / c.step * c.step;
	sliced_rope_add_base(base, 0, old.len);
	sliced_rope_add_similar(c.rope, raw, new.data, c.old, Min(old.data, new.data), base, 0);
	compare_elements(&c, &old, &new);
	return c.rope->len == len ? c.rope : NULL;
}
