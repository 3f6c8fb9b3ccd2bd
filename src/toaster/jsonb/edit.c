/*
 * edit.c
 *	  Changes entries of a jsonb container, and shares all else with the old one.
 *
 * The result is, byte for byte, what core would make of the same values.  A change
 * moves everything behind it.  We do not write that anew, but moving has
 * consequences: entries at multiples of JB_OFFSET_STRIDE say where their data ends,
 * and the first number or container behind the change may need more or less padding
 * than before.  Everything after that one moves by a multiple of four and keeps its
 * padding.
 */
#include "postgres.h"

#include "base/limits.h"
#include "miscadmin.h"
#include "toaster/jsonb/edit.h"
#include "toaster/jsonb/entries.h"

static const char zeros[sizeof(uint32)];

static inline bool
is_aligned(uint32 type)
{
	return type == JENTRY_ISNUMERIC || type == JENTRY_ISCONTAINER;
}

SlicedFragment
sliced_fragment_bytes(uint32 type, const char *bytes, uint32 len)
{
	SlicedFragment fragment = {.type = type, .bytes = bytes, .len = len};

	return fragment;
}

SlicedFragment
sliced_fragment_rope(uint32 type, const SlicedRope *rope)
{
	SlicedFragment fragment = {.type = type, .rope = rope, .len = rope->len};

	return fragment;
}

bool
sliced_fragments_get(const JsonbContainer *container, uint32 len, SlicedFragments *result)
{
	uint32		nkeys;
	const char *data;
	uint32		begin = 0;

	if (!sliced_container_is_sound((const char *) container, len))
		return false;
	nkeys = JsonContainerIsObject(container) ? JsonContainerSize(container) : 0;
	result->n = nkeys + JsonContainerSize(container);
	result->fragments = palloc((result->n + 1) * sizeof(SlicedFragment));
	data = (const char *) &container->children[result->n];
	for (uint32 i = 0; i < result->n; i++)
	{
		JEntry		entry = container->children[i];
		uint32		type = entry & JENTRY_TYPEMASK;
		uint32		end = JBE_HAS_OFF(entry) ? JBE_OFFLENFLD(entry) : begin + JBE_OFFLENFLD(entry);
		uint32		start = is_aligned(type) ? INTALIGN(begin) : begin;

		if (start > end || (i < nkeys && type != JENTRY_ISSTRING))
			return false;
		result->fragments[i] = sliced_fragment_bytes(type, data + start, end - start);
		if (type == JENTRY_ISNUMERIC)
		{
			if (!sliced_numeric_is_sound(data + start, end - start))
				return false;
			result->fragments[i].len = VARSIZE_ANY(data + start);
		}
		begin = end;
	}
	return true;
}

bool
sliced_fragments_are_sorted(const SlicedFragment *keys, uint32 n)
{
	for (uint32 k = 1; k < n; k++)
	{
		const SlicedFragment *a = &keys[k - 1];
		const SlicedFragment *b = &keys[k];

		if (a->len > b->len || (a->len == b->len && memcmp(a->bytes, b->bytes, a->len) >= 0))
			return false;
	}
	return true;
}

/* The container that is being made. */
typedef struct Making
{
	const SlicedRope *doc;
	const SlicedJsonbNode *old;
	uint32		old_size;		/* of its data */
	uint32		first;			/* entries before this one are unchanged */
	uint32		nentries;		/* in all */
	JEntry	   *entries;		/* from 'first' on */
	SlicedRope *data;
	uint64		end;			/* of the data made so far */
	uint32		pending_start;	/* old data to add next, as offsets into the old */
	uint32		pending_end;	/* container's data */
} Making;

static void
flush_pending(Making *m)
{
	if (m->pending_start == m->pending_end)
		return;
	sliced_rope_add_rope(m->data, m->doc, m->old->data + m->pending_start,
						 m->pending_end - m->pending_start);
	m->pending_start = m->pending_end;
}

static void
add_padding(Making *m, uint32 len)
{
	flush_pending(m);
	sliced_rope_add_bytes(m->data, zeros, len);
}

/* Add old data [start, end). */
static void
add_old_data(Making *m, uint32 start, uint32 end)
{
	if (m->pending_end != start)
	{
		flush_pending(m);
		m->pending_start = start;
	}
	m->pending_end = end;
}

static void
add_new_data(Making *m, const SlicedFragment *new)
{
	flush_pending(m);
	if (new->rope != NULL)
		sliced_rope_add_rope(m->data, new->rope, 0, new->rope->len);
	else
		sliced_rope_add_bytes(m->data, new->bytes, new->len);
}

/* The padding that a value of this type needs at 'pos'. */
static inline uint32
padding_of(uint32 type, uint64 pos)
{
	return is_aligned(type) ? INTALIGN(pos) - pos : 0;
}

/* Add an entry for data that has been added, of 'len' bytes with its padding. */
static void
add_entry(Making *m, uint32 type, uint32 len)
{
	m->end += len;
	m->entries[m->nentries - m->first] = type |
		(m->nentries % JB_OFFSET_STRIDE == 0 ? JENTRY_HAS_OFF | (m->end & JENTRY_OFFLENMASK) :
		 len);
	m->nentries++;
}

static void
add_new(Making *m, const SlicedFragment *new)
{
	uint32		pad = padding_of(new->type, m->end);

	add_padding(m, pad);
	add_new_data(m, new);
	add_entry(m, new->type, pad + new->len);
}

/* Add an old entry, of data [begin, end). */
static void
add_old(Making *m, uint32 type, uint32 begin, uint32 end)
{
	uint32		old_pad = padding_of(type, begin);
	uint32		pad = padding_of(type, m->end);

	if (old_pad > end - begin)
		sliced_document_complain(m->old->doc);
	if (pad == old_pad)
		add_old_data(m, begin, end);
	else
	{
		add_padding(m, pad);
		add_old_data(m, begin + old_pad, end);
	}
	add_entry(m, type, pad + (end - begin - old_pad));
}

/*
 * Make entries from the first that changes up to the point from which nothing
 * changes.  Returns the number of the first entry behind, and sets '*rest' to where
 * its data begins.
 */
static uint32
make_entries(Making *m, const SlicedEdit *edits, int nedits, uint32 *rest)
{
	const SlicedJsonbNode *old = m->old;
	uint32		begin = m->end;

	for (uint32 i = m->first;; i++)
	{
		bool		removed = false;
		uint32		end;

		for (; nedits > 0 && edits->at == i; edits++, nedits--)
		{
			if (edits->insert)
				add_new(m, &edits->new);
			removed |= edits->remove;
		}
		if (i == old->nentries || (nedits == 0 && !removed && begin == m->end &&
								   i == m->nentries))
		{
			Assert(nedits == 0);
			*rest = begin;
			return i;
		}
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		end = sliced_node_end(old, i, begin);
		if (end < begin || end > m->old_size)
			sliced_document_complain(old->doc);
		if (!removed)
			add_old(m, sliced_node_entry(old, i) & JENTRY_TYPEMASK, begin, end);
		begin = end;
	}
}

SlicedRope *
sliced_node_edit(const SlicedRope *doc, const SlicedJsonbNode *node, uint32 len,
				 const SlicedEdit *edits, int nedits)
{
	Making		m = {.doc = doc, .old = node, .first = edits[0].at, .nentries = edits[0].at};
	SlicedRope *result = sliced_rope_make(&doc->base);
	uint32	   *header = palloc(sizeof(uint32));
	uint32		structure = node->data - node->at;
	uint32		nentries = node->nentries;
	uint32		next;
	uint32		rest;
	uint32		begin;			/* of the changes, in the data */
	uint32		entries_at;
	const char *old_entries;

	if (structure > len)
		sliced_document_complain(node->doc);
	m.old_size = len - structure;
	for (int i = 0; i < nedits; i++)
		nentries += edits[i].insert - edits[i].remove;
	if (nentries > SLICED_MAX_ENTRIES)
		return NULL;

	m.entries = MemoryContextAllocHuge(CurrentMemoryContext,
									   (nentries - m.first + 1) * sizeof(JEntry));
	m.data = sliced_rope_make(&doc->base);
	m.end = begin = sliced_node_begin(node, m.first);
	if (m.end > m.old_size)
		sliced_document_complain(node->doc);
	add_old_data(&m, 0, m.end);
	next = make_entries(&m, edits, nedits, &rest);
	if (m.end + (m.old_size - rest) > JENTRY_OFFLENMASK)
		return NULL;
	add_old_data(&m, rest, m.old_size);
	flush_pending(&m);

	entries_at = node->at + sizeof(uint32) * (1 + m.first);
	old_entries = sliced_document_need(node->doc, entries_at, (next - m.first) * sizeof(JEntry));

	*header = (node->header & ~JB_CMASK) | (sliced_node_is_object(node) ? nentries / 2 : nentries);
	if (nentries == node->nentries)
		sliced_rope_add_rope(result, doc, node->at, sizeof(uint32));
	else
		sliced_rope_add_bytes(result, (char *) header, sizeof(uint32));
	sliced_rope_add_rope(result, doc, node->at + sizeof(uint32), m.first * sizeof(JEntry));
	sliced_entries_add(result,
					   &(SlicedEntries) {(char *) m.entries, m.nentries - m.first, m.first, begin},
					   &(SlicedEntries) {old_entries, next - m.first, m.first, begin}, doc, entries_at);
	sliced_rope_add_rope(result, doc, node->at + sizeof(uint32) * (1 + next),
						 (node->nentries - next) * sizeof(JEntry));
	sliced_rope_add_rope(result, m.data, 0, m.data->len);
	return result;
}

SlicedRope *
sliced_container_make(const struct varatt_external *base, uint32 header,
					  const SlicedFragment *fragments, uint32 n)
{
	Making		m = {.entries = palloc((n + 1) * sizeof(JEntry)), .data = sliced_rope_make(base)};
	SlicedRope *result = sliced_rope_make(base);
	char	   *first = palloc(sizeof(header));

	for (uint32 i = 0; i < n; i++)
		add_new(&m, &fragments[i]);
	if (m.end > JENTRY_OFFLENMASK)
		return NULL;
	sliced_rope_add_bytes(result, memcpy(first, &header, sizeof(header)), sizeof(header));
	sliced_rope_add_bytes(result, (char *) m.entries, n * sizeof(JEntry));
	sliced_rope_add_rope(result, m.data, 0, m.data->len);
	return result;
}
