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

	/* bytes that are the same and not in the rope yet */
	const char *same;			/* in the new document */
	uint32		same_at;		/* in the old one */
	uint32		same_len;

	uint64		cost;			/* new bytes in the rope, and what its runs take */
	uint32		most;			/* a rope that costs more is not worth it */
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

/*
 * An entry of an old container, and its data.  Entries are mostly looked at in order:
 * then the next one's data begins where the last one's ended.
 */
typedef struct OldEntry
{
	const SlicedJsonbNode *node;
	uint32		i;
	uint32		begin;
	uint32		end;
} OldEntry;

/* The first entry, if there is one. */
static OldEntry
first_entry(const SlicedJsonbNode *node)
{
	return (OldEntry) {.node = node, .end = node->nentries > 0 ? sliced_node_end(node, 0, 0) : 0};
}

static void
go_to(OldEntry *old, uint32 i)
{
	if (i == old->i)
		return;
	old->begin = i == old->i + 1 ? old->end : sliced_node_begin(old->node, i);
	old->end = sliced_node_end(old->node, i, old->begin);
	old->i = i;
}

static NewContainer
open_new(JsonbContainer *container, uint32 len)
{
	NewContainer new = {.container = container, .len = len};

	new.count = JsonContainerSize(container);
	new.nentries = JsonContainerIsObject(container) ? new.count * 2 : new.count;
	new.data = (const char *) &container->children[new.nentries];
	return new;
}

/*
 * Add the bytes that are the same and not in the rope yet.  A run costs more than a few
 * bytes, so those become new ones.
 */
static void
flush_same(DocumentComparison *c)
{
	if (c->same_len >= SLICED_RUN_WORTH)
	{
		sliced_rope_add_rope(c->rope, c->old, c->same_at, c->same_len);
		c->cost += SLICED_RUN_WORTH;
	}
	else
	{
		sliced_rope_add_bytes(c->rope, c->same, c->same_len);
		c->cost += c->same_len;
	}
	c->same_len = 0;
}

static void
add_new(DocumentComparison *c, const char *bytes, uint32 len)
{
	if (len == 0)
		return;
	flush_same(c);
	sliced_rope_add_bytes(c->rope, bytes, len);
	c->cost += len;
}

/* Add 'len' bytes of the new document that are those at 'at' of the old one. */
static void
add_same(DocumentComparison *c, uint32 at, const char *bytes, uint32 len)
{
	if (c->same_len == 0 || c->same_at + c->same_len != at || c->same + c->same_len != bytes)
	{
		flush_same(c);
		c->same = bytes;
		c->same_at = at;
	}
	c->same_len += len;
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
		add_new(c, bytes, len);
		return;
	}
	old.bytes = sliced_document_need(c->doc, at, old_len);
	sliced_common_runs_find(&found, &old, bytes, len, len >= SLICED_LONG_VALUE);
	for (int i = 0; i < found.nruns; i++)
	{
		const SlicedCommonRun *run = &found.runs[i];

		if (run->len < SLICED_SHORT_VALUE)
			continue;
		add_new(c, bytes + done, run->new_start - done);
		add_same(c, at + run->old_start, bytes + run->new_start, run->len);
		done = run->new_start + run->len;
	}
	add_new(c, bytes + done, len - done);
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
compare_values(DocumentComparison *c, const OldEntry *old, const NewContainer *new, JEntry entry,
			   uint32 begin, uint32 end)
{
	uint32		data = old->node->data;
	uint32		old_len = old->end - old->begin;
	uint32		old_start = INTALIGN(old->begin);
	uint32		start = INTALIGN(begin);

	if (is_same(c, data + old->begin, old_len, new->data + begin, end - begin))
		add_same(c, data + old->begin, new->data + begin, end - begin);
	else if (JBE_ISCONTAINER(entry) && JBE_ISCONTAINER(sliced_node_entry(old->node, old->i)))
	{
		SlicedJsonbNode	old_child = sliced_node_open(c->doc, data + old_start);
		NewContainer child = open_new((JsonbContainer *) (new->data + start), end - start);

		add_new(c, new->data + begin, start - begin);
		compare_containers(c, &old_child, old->end - old_start, &child);
	}
	else
		compare_bytes(c, data + old->begin, old_len, new->data + begin, end - begin);
}

/*
 * Look for a key of the new object from an old key on: both objects are sorted by
 * length and then by bytes.
 */
static bool
find_key(OldEntry *old, const char *key, uint32 len)
{
	for (; old->i < old->node->count; go_to(old, old->i + 1))
	{
		uint32		old_len = old->end - old->begin;
		int			order = old_len != len ? (old_len < len ? -1 : 1) :
			memcmp(sliced_document_need(old->node->doc, old->node->data + old->begin, len), key, len);

		CHECK_FOR_INTERRUPTS();
		if (order >= 0)
			return order == 0;
	}
	return false;
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
		old_end = sliced_node_end(old, old->count - 1, sliced_node_begin(old, old->count - 1));
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

	flush_same(c);
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
		add_new(c, (char *) new->container, sizeof(uint32));
	sliced_entries_add(c->rope,
					   &(SlicedEntries) {(char *) new->container->children, new->nentries},
					   &(SlicedEntries) {sliced_document_need(c->doc, at, old->data - at), old->nentries},
					   c->old, at);
	nkeys = Min(nkeys, old->at + old_len - old->data);
	sliced_rope_add_similar(c->rope, new->data, structure - sizeof(uint32) - entries,
							sliced_document_need(c->doc, old->data, nkeys), nkeys, c->old, old->data);
}

/*
 * Compare two containers.  A rope that costs too much ends early, and so is too short.
 */
static void
compare_containers(DocumentComparison *c, const SlicedJsonbNode *old, uint32 old_len, const NewContainer *new)
{
	uint32		first = new->nentries - new->count;
	bool		is_object = sliced_node_is_object(old);
	OldEntry	old_key;
	OldEntry	old_value;
	uint32		key_begin = 0;
	uint32		begin;
	uint32		from_end = 0;	/* number of an array's elements to count from its end */

	if (is_same(c, old->at, old_len, (char *) new->container, new->len))
	{
		add_same(c, old->at, (char *) new->container, new->len);
		return;
	}
	if (new->len < SLICED_SHORT_CONTAINER || c->level == SLICED_LEVELS || sliced_node_is_scalar(old) ||
		JsonContainerIsScalar(new->container) ||
		is_object != JsonContainerIsObject(new->container) ||
		!sliced_container_is_sound((char *) new->container, new->len) ||
		!sliced_container_is_sound(sliced_document_need(c->doc, old->at, old_len), old_len))
	{
		add_new(c, (char *) new->container, new->len);
		return;
	}
	c->level++;

	old_key = old_value = first_entry(old);
	begin = getJsonbOffset(new->container, first);
	add_structure(c, old, old_len, new, begin);
	if (!is_object && old->count != new->count)
		from_end = common_elements(c, old, new);
	for (uint32 i = 0; i < new->count && c->cost <= c->most; i++)
	{
		JEntry		entry = new->container->children[first + i];
		uint32		end = JBE_HAS_OFF(entry) ? JBE_OFFLENFLD(entry) : begin + JBE_OFFLENFLD(entry);
		uint32		number = i < new->count - from_end ? i : old->count - (new->count - i);
		bool		found = number < old->count;

		CHECK_FOR_INTERRUPTS();
		if (is_object)
		{
			JEntry		key = new->container->children[i];
			uint32		key_end = JBE_HAS_OFF(key) ? JBE_OFFLENFLD(key) : key_begin + JBE_OFFLENFLD(key);

			found = find_key(&old_key, new->data + key_begin, key_end - key_begin);
			number = old->count + old_key.i;
			key_begin = key_end;
		}
		if (found)
		{
			go_to(&old_value, number);
			compare_values(c, &old_value, new, entry, begin, end);
		}
		else
			add_new(c, new->data + begin, end - begin);
		begin = end;
	}
	c->level--;
}

/*
 * Compare a container of the new document with an old one, 'len' bytes of 'doc' whose
 * rope is 'whole'.  NULL if a rope would save less than half.
 */
static SlicedRope *
compare(const SlicedRope *whole, SlicedDocument *doc, const SlicedJsonbNode *old, uint32 old_len,
		const NewContainer *new)
{
	DocumentComparison c = {
		.old = whole,
		.doc = doc,
		.rope = sliced_rope_make(&whole->base),
		.most = new->len / 2
	};

	compare_containers(&c, old, old_len, new);
	flush_same(&c);
	return c.rope->len != new->len || sliced_rope_unshared(c.rope) > c.most ? NULL : c.rope;
}

SlicedRope *
sliced_jsonb_difference(SlicedDocument *old, const char *raw, uint32 len)
{
	const SlicedRope *whole = sliced_document_rope(old);
	SlicedJsonbNode	node;
	NewContainer new;

	if (whole->len < sizeof(uint32) || len < sizeof(uint32))
		return NULL;
	node = sliced_node_open(old, 0);
	new = open_new((JsonbContainer *) raw, len);
	return compare(whole, old, &node, whole->len, &new);
}

SlicedFragment
sliced_fragment_replacing(const SlicedRope *doc, const SlicedJsonbNode *node, uint32 i,
						  const SlicedFragment *new)
{
	SlicedPlace place;
	SlicedJsonbNode	old;
	NewContainer container;
	SlicedRope *rope;

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
	rope = compare(doc, node->doc, &old, place.len, &container);
	return rope == NULL ? *new : sliced_fragment_rope(JENTRY_ISCONTAINER, rope);
}
