/*
 * edit.h
 *	  Changes entries of a jsonb container, and shares all else with the old one.
 */
#ifndef SLICED_JSONB_EDIT_H
#define SLICED_JSONB_EDIT_H

#include "postgres.h"

#include "store/rope.h"
#include "toaster/jsonb/tree.h"

/* A value, or a key: what its entry says, and its bytes without padding. */
typedef struct SlicedFragment
{
	uint32		type;			/* JENTRY_IS... */
	const char *bytes;
	const SlicedRope *rope;		/* its bytes, if not NULL */
	uint32		len;
} SlicedFragment;

typedef struct SlicedFragments
{
	uint32		n;
	SlicedFragment *fragments;
} SlicedFragments;

/* A change: insert something before entry 'at', or remove entry 'at', or both. */
typedef struct SlicedEdit
{
	uint32		at;
	bool		insert;
	bool		remove;
	SlicedFragment new;
} SlicedEdit;

extern SlicedFragment sliced_fragment_bytes(uint32 type, const char *bytes, uint32 len);
extern SlicedFragment sliced_fragment_rope(uint32 type, const SlicedRope *rope);

/*
 * The entries of a container in memory, of 'len' bytes: elements, or keys and then
 * values.  Returns false if it is damaged; does not look into containers in it.
 */
extern bool sliced_fragments_get(const JsonbContainer *container, uint32 len, SlicedFragments *result);

/* True if these are the keys of an object, in order, each once.  None is a rope. */
extern bool sliced_fragments_are_sorted(const SlicedFragment *keys, uint32 n);

/*
 * Make these changes, in the order of their 'at', to the container at a place.  An
 * error if bytes that we must look at there are damaged.  Returns the result as a
 * rope of the base of 'doc', which is the rope of the document.  The bytes of the
 * changes have to last as long as the result.  NULL if that would be too large; core
 * raises the error.
 */
extern SlicedRope *sliced_node_edit(const SlicedRope *doc, const SlicedJsonbNode *node, uint32 len,
									const SlicedEdit *edits, int nedits);

/*
 * A container of these entries, as a rope.  Bytes and NULL are as in
 * sliced_node_edit().
 */
extern SlicedRope *sliced_container_make(const struct varatt_external *base, uint32 header,
										 const SlicedFragment *fragments, uint32 n);

#endif
