/*
 * difference.c
 *	  Finds what a jsonb document has in common with the one it replaces.
 *
 * A value that got longer moves everything behind it and changes the entries in
 * front, so beginnings and ends have little in common.  But two values with the
 * same key are likely to be the same, and so are two elements with the same
 * number, counted from either end of an array.
 */
#include "postgres.h"

#include "base/limits.h"
#include "miscadmin.h"
#include "toaster/jsonb/difference.h"
#include "toaster/jsonb/entries.h"
#include "toaster/jsonb/tree.h"
#include "value/common_runs.h"
#include "value/document.h"

typedef struct DocumentComparison
{
	const SlicedRope *old;		/* the whole old document */
	SlicedDocument *doc;		/* also the whole old document */
	SlicedRope *rope;
	int			level;			/* depth of containers */
} DocumentComparison;

/* A container of the new document: where its data is, and its entries. */
typedef struct NewContainer
{
	JsonbContainer *container;
	uint32		len;
	uint32		count;
	uint32		nentries;
	const char *data;
} NewContainer;

static NewContainer
open_new(JsonbContainer *container, uint32 len)
{
	NewContainer new = {.container = container, .len = len};

	new.count = JsonContainerSize(container);
	new.nentries = JsonContainerIsObject(container) ? new.count * 2 : new.count;
	new.data = (const char *) &container->children[new.nentries];
	return new;
}

static bool
is_same(DocumentComparison *c, uint32 at, uint32 old_len, const char *bytes, uint32 len)
{
	return old_len == len && memcmp(sliced_document_need(c->doc, at, len), bytes, len) == 0;
}

/* A value that has changed, perhaps only some words in a long text. */
static void
compare_bytes(DocumentComparison *c, uint32 at, uint32 old_len, const char *bytes, uint32 len)
{
	SlicedOldBytes old = {.len = old_len};
	SlicedCommonRuns found;
	uint32		done = 0;

	if (Min(old_len, len) < SLICED_SHORT_VALUE)
	{
		sliced_rope_add_bytes(c->rope, bytes, len);
		return;
	}
	old.bytes = sliced_document_need(c->doc, at, old_len);
	sliced_common_runs_find(&found, &old, bytes, len, len >= SLICED_LONG_VALUE);
	for (int i = 0; i < found.nruns; i++)
	{
		const SlicedCommonRun *run = &found.runs[i];

		if (run->len < SLICED_SHORT_VALUE)
			continue;
		sliced_rope_add_bytes(c->rope, bytes + done, run->new_start - done);
		sliced_rope_add_rope(c->rope, c->old, at + run->old_start, run->len);
		done = run->new_start + run->len;
	}
	sliced_rope_add_bytes(c->rope, bytes + done, len - done);
	if (found.runs != NULL)
		pfree(found.runs);
}

static void compare_containers(DocumentComparison *c, const SlicedJsonbNode *old, uint32 old_len,
							   const NewContainer *new);

/*
 * Compare a value of the new document, whose data is [begin, end), with the old one
 * that may be the same.
 */
static void
compare_values(DocumentComparison *c, const SlicedJsonbNode *old, uint32 i, const NewContainer *new, JEntry entry,
			   uint32 begin, uint32 end)
{
	uint32		old_begin = sliced_node_begin(old, i);
	uint32		old_end = sliced_node_end(old, i, old_begin);
	uint32		old_start = INTALIGN(old_begin);
	uint32		start = INTALIGN(begin);
	JEntry		old_entry = sliced_node_entry(old, i);

	if (is_same(c, old->data + old_begin, old_end - old_begin, new->data + begin, end - begin))
		sliced_rope_add_rope(c->rope, c->old, old->data + old_begin, old_end - old_begin);
	else if (JBE_ISCONTAINER(entry) && JBE_ISCONTAINER(old_entry))
	{
		SlicedJsonbNode	old_child = sliced_node_open(c->doc, old->data + old_start);
		NewContainer child = open_new((JsonbContainer *) (new->data + start), end - start);

		sliced_rope_add_bytes(c->rope, new->data + begin, start - begin);
		compare_containers(c, &old_child, old_end - old_start, &child);
	}
	else
		compare_bytes(c, old->data + old_begin, old_end - old_begin, new->data + begin, end - begin);
}

/* Find the entry of the old container with the same key, or the same number. */
static bool
find_counterpart(const SlicedJsonbNode *old, const NewContainer *new, uint32 i, uint32 key_begin,
				 uint32 key_end, uint32 *number)
{
	if (sliced_node_is_object(old))
	{
		bool		found = sliced_node_find_key(old, new->data + key_begin,
												 key_end - key_begin, number);

		*number += old->count;
		return found;
	}
	*number = i;
	return i < old->count;
}

/* The number of elements that are the same at the ends of two arrays. */
static uint32
common_elements(DocumentComparison *c, const SlicedJsonbNode *old, const NewContainer *new)
{
	uint32		limit = Min(old->count, new->count);
	uint32		n = 0;
	uint32		old_end = 0;
	uint32		end = 0;

	if (limit > 0)
	{
		uint32		begin = sliced_node_begin(old, old->count - 1);

		old_end = sliced_node_end(old, old->count - 1, begin);
		end = getJsonbOffset(new->container, new->count - 1) +
			getJsonbLength(new->container, new->count - 1);
	}
	for (; n < limit; n++)
	{
		uint32		old_begin = sliced_node_begin(old, old->count - 1 - n);
		uint32		begin = getJsonbOffset(new->container, new->count - 1 - n);

		if ((old_begin ^ begin) % sizeof(uint32) != 0 ||
			!is_same(c, old->data + old_begin, old_end - old_begin, new->data + begin, end - begin))
			break;
		old_end = old_begin;
		end = begin;
	}
	return n;
}

/*
 * Add everything in front of the values: the header, the entries, and 'nkeys' bytes
 * of keys.
 */
static void
add_structure(DocumentComparison *c, const SlicedJsonbNode *old, uint32 old_len, const NewContainer *new,
			  uint32 nkeys)
{
	uint32		entries = new->nentries * sizeof(JEntry);
	uint32		structure = sizeof(uint32) + entries + nkeys;
	uint32		at = old->at + sizeof(uint32);

	if (Min(new->nentries, old->nentries) * sizeof(JEntry) < SLICED_LIST_WORTH)
	{
		sliced_rope_add_similar(c->rope, (char *) new->container, structure,
								sliced_document_need(c->doc, old->at, Min(structure, old_len)),
								Min(structure, old_len), c->old, old->at);
		return;
	}
	if (new->container->header == old->header)
		sliced_rope_add_rope(c->rope, c->old, old->at, sizeof(uint32));
	else
		sliced_rope_add_bytes(c->rope, (char *) new->container, sizeof(uint32));
	sliced_entries_add(c->rope,
					   &(SlicedEntries) {(char *) new->container->children, new->nentries},
					   &(SlicedEntries) {sliced_document_need(c->doc, at, old->data - at), old->nentries},
					   c->old, at);
	nkeys = Min(nkeys, old->at + old_len - old->data);
	sliced_rope_add_similar(c->rope, new->data, structure - sizeof(uint32) - entries,
							sliced_document_need(c->doc, old->data, nkeys), nkeys, c->old, old->data);
}

static void
compare_containers(DocumentComparison *c, const SlicedJsonbNode *old, uint32 old_len, const NewContainer *new)
{
	uint32		first = new->nentries - new->count;
	uint32		key_begin = 0;
	uint32		begin;
	uint32		from_end;		/* number of an array's elements to count from its end */

	if (is_same(c, old->at, old_len, (char *) new->container, new->len))
	{
		sliced_rope_add_rope(c->rope, c->old, old->at, old_len);
		return;
	}
	if (new->len < SLICED_SHORT_CONTAINER || c->level == SLICED_LEVELS || sliced_node_is_scalar(old) ||
		JsonContainerIsScalar(new->container) ||
		sliced_node_is_object(old) != JsonContainerIsObject(new->container) ||
		!sliced_container_is_sound((char *) new->container, new->len) ||
		!sliced_container_is_sound(sliced_document_need(c->doc, old->at, old_len), old_len))
	{
		sliced_rope_add_bytes(c->rope, (char *) new->container, new->len);
		return;
	}
	c->level++;

	begin = getJsonbOffset(new->container, first);
	add_structure(c, old, old_len, new, begin);
	from_end = sliced_node_is_object(old) || old->count == new->count ? 0 :
		common_elements(c, old, new);
	for (uint32 i = 0; i < new->count; i++)
	{
		JEntry		entry = new->container->children[first + i];
		uint32		end = JBE_HAS_OFF(entry) ? JBE_OFFLENFLD(entry) : begin + JBE_OFFLENFLD(entry);
		uint32		key_end = key_begin;
		uint32		number;
		bool		found;

		CHECK_FOR_INTERRUPTS();
		if (first > 0)
		{
			JEntry		key = new->container->children[i];

			key_end = JBE_HAS_OFF(key) ? JBE_OFFLENFLD(key) : key_begin + JBE_OFFLENFLD(key);
		}
		if (i >= new->count - from_end)
		{
			number = old->count - (new->count - i);
			found = true;
		}
		else
			found = find_counterpart(old, new, i, key_begin, key_end, &number);
		if (found)
			compare_values(c, old, number, new, entry, begin, end);
		else
			sliced_rope_add_bytes(c->rope, new->data + begin, end - begin);
		begin = end;
		key_begin = key_end;
	}
	c->level--;
}

SlicedRope *
sliced_jsonb_difference(SlicedDocument *old, const char *raw, uint32 len)
{
	const SlicedRope *whole = sliced_document_rope(old);
	DocumentComparison c = {.old = whole, .doc = old, .rope = sliced_rope_make(&whole->base)};
	SlicedJsonbNode	node;
	NewContainer new;

	if (whole->len < sizeof(uint32) || len < sizeof(uint32))
		return NULL;
	node = sliced_node_open(old, 0);
	new = open_new((JsonbContainer *) raw, len);
	compare_containers(&c, &node, whole->len, &new);
	return c.rope->len == len ? c.rope : NULL;
}

SlicedFragment
sliced_fragment_replacing(const SlicedRope *doc, const SlicedJsonbNode *node, uint32 i,
						  const SlicedFragment *new)
{
	DocumentComparison c = {.old = doc, .doc = node->doc};
	SlicedPlace place;
	SlicedJsonbNode	old;
	NewContainer container;

	if (new->type != JENTRY_ISCONTAINER || new->rope != NULL || new->len < SLICED_PROMISE_MIN)
		return *new;
	place = sliced_node_place(node, i);
	/*
	 * a much shorter one shares little, a much longer one is slow to read; a damaged
	 * one can be replaced
	 */
	if (!sliced_place_is_container(&place) || place.len < new->len / 2 || place.len / 2 > new->len ||
		sliced_document_try_need(node->doc, place.start, place.len) == NULL)
		return *new;
	old = sliced_node_open(node->doc, place.start);
	container = open_new((JsonbContainer *) new->bytes, new->len);
	c.rope = sliced_rope_make(&doc->base);
	compare_containers(&c, &old, place.len, &container);
	return c.rope->len != new->len || sliced_rope_unshared(c.rope) > new->len / 2 ? *new :
		sliced_fragment_rope(JENTRY_ISCONTAINER, c.rope);
}
