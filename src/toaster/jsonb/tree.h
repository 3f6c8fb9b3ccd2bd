/*
 * tree.h
 *	  Finds values in a jsonb document, reading only what is on the way.
 *
 * A container is a header, with the number of its elements or pairs; an entry for
 * each element, or for each key and then for each value; and their data, in the same
 * order.  An entry has a type and a length; every JB_OFFSET_STRIDE-th one says where
 * the data ends instead of the length.  Numbers and containers begin at multiples of
 * four; their padding counts as part of them.
 */
#ifndef SLICED_JSONB_TREE_H
#define SLICED_JSONB_TREE_H

#include "postgres.h"

#include "utils/jsonb.h"
#include "value/document.h"

/* A container in a document. */
typedef struct SlicedJsonbNode
{
	SlicedDocument *doc;
	uint32		at;				/* where it begins */
	uint32		header;
	uint32		count;			/* elements, or pairs */
	uint32		nentries;
	uint32		data;			/* where its data begins */
} SlicedJsonbNode;

/* A value in a document, or a key: its type, and its bytes without padding. */
typedef struct SlicedPlace
{
	uint32		type;			/* JENTRY_IS... */
	uint32		start;
	uint32		len;
} SlicedPlace;

static inline bool
sliced_node_is_object(const SlicedJsonbNode *node)
{
	return (node->header & JB_FOBJECT) != 0;
}

/* True for the root of a scalar document; false for all other nodes. */
static inline bool
sliced_node_is_scalar(const SlicedJsonbNode *node)
{
	return (node->header & JB_FSCALAR) != 0;
}

static inline bool
sliced_node_is_array(const SlicedJsonbNode *node)
{
	return (node->header & JB_FARRAY) != 0;
}

/*
 * True if a container's entries stay within its 'len' bytes, and each value follows
 * the one before.  We must check no more of a container in memory before we follow
 * its offsets; core trusts them.
 */
extern bool sliced_container_is_sound(const char *container, uint32 len);

/*
 * The same for everything in a document's root.  Core's functions can work on a sound
 * one.
 */
extern bool sliced_jsonb_is_sound(const Jsonb *jsonb);

/*
 * A numeric has a length of its own, which core trusts.  True if that is possible,
 * and at most 'len'.
 */
extern bool sliced_numeric_is_sound(const char *numeric, uint32 len);

/* The container that begins at 'at'. */
extern SlicedJsonbNode sliced_node_open(SlicedDocument *doc, uint32 at);

/* Read everything in front of the node's values: entries and keys. */
extern void sliced_node_need_structure(const SlicedJsonbNode *node);

static inline JEntry
sliced_node_entry(const SlicedJsonbNode *node, uint32 i)
{
	JEntry		entry;

	memcpy(&entry, sliced_document_need(node->doc, node->at + sizeof(uint32) * (i + 1),
										sizeof(JEntry)), sizeof(JEntry));
	return entry;
}

/*
 * Where the data of entry 'i' begins, and ends, counted from the beginning of the
 * node's data.
 */
extern uint32 sliced_node_begin(const SlicedJsonbNode *node, uint32 i);
extern uint32 sliced_node_end(const SlicedJsonbNode *node, uint32 i, uint32 begin);

/* The place of entry 'i'. */
extern SlicedPlace sliced_node_place(const SlicedJsonbNode *node, uint32 i);

/* Look for a key.  '*i' is set to its number, or to that of the first key behind it. */
extern bool sliced_node_find_key(const SlicedJsonbNode *node, const char *key, uint32 len, uint32 *i);

/* The place of a key's value, or of an element; returns false if there is none. */
extern bool sliced_node_field(const SlicedJsonbNode *node, const char *key, uint32 len,
							  SlicedPlace *place);
extern bool sliced_node_element(const SlicedJsonbNode *node, int64 index, SlicedPlace *place);

static inline bool
sliced_place_is_container(const SlicedPlace *place)
{
	return place->type == JENTRY_ISCONTAINER;
}

/* Read the value at a place; its bytes stay those of the document. */
extern void sliced_place_value(SlicedDocument *doc, const SlicedPlace *place, JsonbValue *value);

#endif
