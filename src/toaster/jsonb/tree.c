/*
 * tree.c
 *	  Finds values in a jsonb document, reading only what is on the way.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "toaster/jsonb/tree.h"

bool
sliced_container_is_sound(const char *container, uint32 len)
{
	const JsonbContainer *c = (const JsonbContainer *) container;
	uint32		nentries;
	uint32		size;			/* of the data */
	uint32		begin = 0;

	if (len < sizeof(uint32))
		return false;
	nentries = (c->header & JB_CMASK) * ((c->header & JB_FOBJECT) ? 2 : 1);
	if (nentries > len / sizeof(JEntry) - 1)
		return false;
	size = len - sizeof(uint32) - nentries * sizeof(JEntry);
	for (uint32 i = 0; i < nentries; i++)
	{
		JEntry		entry = c->children[i];
		uint32		end = JBE_HAS_OFF(entry) ? JBE_OFFLENFLD(entry) : begin + JBE_OFFLENFLD(entry);

		/* core takes a value of unknown type for a container */
		if (end < begin || end > size || (entry & JENTRY_TYPEMASK) > JENTRY_ISCONTAINER ||
			(JBE_ISCONTAINER(entry) && INTALIGN(begin) + sizeof(uint32) > end))
			return false;
		begin = end;
	}
	return true;
}

/* In the first two bytes of a numeric: they hold its scale and its weight as well. */
#define NUMERIC_IS_SHORT	0x8000

/*
 * Core takes the number of digits from the length.  A length below that of the headers
 * would make it negative.  No document has numbers that are compressed, or elsewhere.
 */
bool
sliced_numeric_is_sound(const char *numeric, uint32 len)
{
	uint32		size;
	uint32		headers;
	uint16		first;

	if (len < VARHDRSZ + sizeof(first) || VARATT_IS_EXTERNAL(numeric) || VARATT_IS_COMPRESSED(numeric))
		return false;
	size = VARSIZE_ANY(numeric);
	headers = VARATT_IS_SHORT(numeric) ? VARHDRSZ_SHORT : VARHDRSZ;
	memcpy(&first, numeric + headers, sizeof(first));
	headers += (first & NUMERIC_IS_SHORT) != 0 ? sizeof(uint16) : sizeof(uint16) + sizeof(int16);
	return size >= headers && size <= len;
}

static bool
is_all_sound(const JsonbContainer *container, uint32 len)
{
	uint32		nkeys;
	uint32		nentries;
	const char *data;
	uint32		begin = 0;

	check_stack_depth();
	if (!sliced_container_is_sound((const char *) container, len))
		return false;
	nkeys = JsonContainerIsObject(container) ? JsonContainerSize(container) : 0;
	nentries = nkeys + JsonContainerSize(container);
	data = (const char *) &container->children[nentries];
	for (uint32 i = 0; i < nentries; i++)
	{
		JEntry		entry = container->children[i];
		uint32		end = JBE_HAS_OFF(entry) ? JBE_OFFLENFLD(entry) : begin + JBE_OFFLENFLD(entry);
		uint32		start = INTALIGN(begin);
		const JsonbContainer *inner = (const JsonbContainer *) (data + start);

		if (i < nkeys && !JBE_ISSTRING(entry))
			return false;
		if (JBE_ISNUMERIC(entry) && (start > end || !sliced_numeric_is_sound(data + start, end - start)))
			return false;
		/* only a root is a scalar's */
		if (JBE_ISCONTAINER(entry) && (JsonContainerIsScalar(inner) || !is_all_sound(inner, end - start)))
			return false;
		begin = end;
	}
	return !JsonContainerIsScalar(container) || nentries == 1;
}

bool
sliced_jsonb_is_sound(const Jsonb *jsonb)
{
	return is_all_sound(&jsonb->root, VARSIZE(jsonb) - VARHDRSZ);
}

SlicedJsonbNode
sliced_node_open(SlicedDocument *doc, uint32 at)
{
	SlicedJsonbNode	node = {.doc = doc, .at = at};

	memcpy(&node.header, sliced_document_need(doc, at, sizeof(uint32)), sizeof(uint32));
	node.count = node.header & JB_CMASK;
	node.nentries = sliced_node_is_object(&node) ? node.count * 2 : node.count;
	node.data = at + sizeof(uint32) * (node.nentries + 1);
	return node;
}

uint32
sliced_node_begin(const SlicedJsonbNode *node, uint32 i)
{
	/* one entry of JB_OFFSET_STRIDE says where its data ends */
	uint32		n = Min(i, JB_OFFSET_STRIDE);
	const char *entries = sliced_document_need(node->doc, node->at + sizeof(uint32) * (1 + i - n),
											   n * sizeof(JEntry));
	uint32		begin = 0;

	while (n > 0)
	{
		JEntry		entry;

		memcpy(&entry, entries + --n * sizeof(JEntry), sizeof(JEntry));
		begin += JBE_OFFLENFLD(entry);
		if (JBE_HAS_OFF(entry))
			break;
	}
	return begin;
}

uint32
sliced_node_end(const SlicedJsonbNode *node, uint32 i, uint32 begin)
{
	JEntry		entry = sliced_node_entry(node, i);

	return JBE_HAS_OFF(entry) ? JBE_OFFLENFLD(entry) : begin + JBE_OFFLENFLD(entry);
}

void
sliced_node_need_structure(const SlicedJsonbNode *node)
{
	uint32		len = node->data - node->at;

	sliced_document_need(node->doc, node->at, len);
	if (sliced_node_is_object(node))
		sliced_document_need(node->doc, node->at, len + sliced_node_begin(node, node->count));
	/* a caller that needs all of it walks through it without further checks */
	if (!sliced_container_is_sound(node->doc->partial.bytes + node->at,
								   node->doc->partial.size - node->at))
		sliced_document_complain(node->doc);
}

SlicedPlace
sliced_node_place(const SlicedJsonbNode *node, uint32 i)
{
	uint32		begin = sliced_node_begin(node, i);
	uint32		end = sliced_node_end(node, i, begin);
	SlicedPlace place = {.type = sliced_node_entry(node, i) & JENTRY_TYPEMASK};

	if (place.type == JENTRY_ISNUMERIC || place.type == JENTRY_ISCONTAINER)
		begin = INTALIGN(begin);
	place.start = node->data + begin;
	place.len = end - begin;
	if ((uint64) place.start + place.len > node->doc->partial.size)
		sliced_document_complain(node->doc);
	return place;
}

bool
sliced_node_find_key(const SlicedJsonbNode *node, const char *key, uint32 len, uint32 *i)
{
	uint32		low = 0;
	uint32		high = node->count;

	/* keys are sorted by length first */
	while (low < high)
	{
		uint32		middle = low + (high - low) / 2;
		JEntry		entry = sliced_node_entry(node, middle);
		uint32		length = JBE_OFFLENFLD(entry);
		uint32		begin = 0;
		int			order;

		if (JBE_HAS_OFF(entry) || length == len)
			begin = sliced_node_begin(node, middle);
		if (JBE_HAS_OFF(entry))
			length -= begin;
		order = length != len ? (length < len ? -1 : 1) :
			memcmp(sliced_document_need(node->doc, node->data + begin, len), key, len);
		if (order == 0)
		{
			*i = middle;
			return true;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*i = low;
	return false;
}

bool
sliced_node_field(const SlicedJsonbNode *node, const char *key, uint32 len, SlicedPlace *place)
{
	uint32		i;

	if (!sliced_node_is_object(node) || !sliced_node_find_key(node, key, len, &i))
		return false;
	*place = sliced_node_place(node, node->count + i);
	return true;
}

bool
sliced_node_element(const SlicedJsonbNode *node, int64 index, SlicedPlace *place)
{
	if (index < 0)
		index += node->count;
	if (!sliced_node_is_array(node) || index < 0 || index >= node->count)
		return false;
	*place = sliced_node_place(node, index);
	return true;
}

void
sliced_place_value(SlicedDocument *doc, const SlicedPlace *place, JsonbValue *value)
{
	char	   *bytes = unconstify(char *, sliced_document_need(doc, place->start, place->len));

	switch (place->type)
	{
		case JENTRY_ISSTRING:
			value->type = jbvString;
			value->val.string.val = bytes;
			value->val.string.len = place->len;
			break;
		case JENTRY_ISNUMERIC:
			if (!sliced_numeric_is_sound(bytes, place->len))
				sliced_document_complain(doc);
			value->type = jbvNumeric;
			value->val.numeric = (Numeric) bytes;
			break;
		case JENTRY_ISBOOL_FALSE:
		case JENTRY_ISBOOL_TRUE:
			value->type = jbvBool;
			value->val.boolean = place->type == JENTRY_ISBOOL_TRUE;
			break;
		case JENTRY_ISCONTAINER:
			value->type = jbvBinary;
			value->val.binary.data = (JsonbContainer *) bytes;
			value->val.binary.len = place->len;
			break;
		default:
			value->type = jbvNull;
			break;
	}
}
