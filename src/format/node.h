/*
 * node.h
 *	  Nodes: what a changed value consists of, in the order of its bytes.
 *
 * A node is a list of items.  An item is literal bytes, or a run of a child.  A
 * child is an extent or another node.  An extent is one or more consecutive slices
 * of one object.  The items' bytes, one after the other, are the node's content.
 *
 *		| nchildren << 1 | owns | children ... | items ... |
 *
 * Numbers are varints: seven bits in a byte, the lowest first, and a high bit of 1
 * in all but the last.  Signed numbers are folded: 0, -1, 1, -2, 2 ... are stored as
 * 0, 1, 2, 3, 4 ...
 *
 *	child	| height << 2 | kind | id, folded: the node's object minus the child's | seq, folded | length |
 *			and of a node of height 0 a hint where its row may be, | offset | block |, or | 0 |.
 *			An extent that has a hint, of its first row, is of kind 3: | offset | block |.
 *			A borrowed child is | kind | alone.  A node that has nodes among its children is
 *			higher than these; other nodes mostly have height 0
 *	item	| length << 2 | kind | ...
 *
 *	BYTES	length bytes follow
 *	NEXT	a run of the child of the last run.  Follows: the bytes that are left out
 *			between the two
 *	RUN		a run of another child.  Follows: the child's number; the bytes that are left
 *			out since the last run of that child, or since its beginning
 *	LIST	a run that is a moved list (format/list.h), of whole words.  Follows: what
 *			follows for RUN; end; phase; delta, folded, of 28 bits
 *
 * So runs of a child ascend and do not overlap.  Each child has at least one run.
 *
 * Nodes with edits of one slice: the first of them *owns* the slice, as its child 0.
 * Its child nodes may have runs of the slice as well; for them it is a *borrowed*
 * child, whose name and length the owner has.  If they have all runs, the owner need
 * not have any.
 *
 * Like everything in 'format' this reads memory that it does not trust.
 */
#ifndef SLICED_FORMAT_NODE_H
#define SLICED_FORMAT_NODE_H

#include "postgres.h"

#include "format/damage.h"
#include "format/list.h"
#include "storage/itemptr.h"

typedef enum SlicedChildKind
{
	SLICED_CHILD_EXTENT,
	SLICED_CHILD_NODE,
	SLICED_CHILD_BORROWED
} SlicedChildKind;

typedef struct SlicedChild
{
	SlicedChildKind kind;
	uint32		height;			/* nodes: see above */
	uint32		objid;
	int32		seq;			/* extent: where its first slice begins; node: chunk_seq */
	uint32		len;			/* of its content */
	ItemPointerData hint;		/* extent, node of height 0: where its first row may be */
} SlicedChild;

#define SLICED_NODE_HEIGHT_MAX	16

typedef struct SlicedItem
{
	const char *bytes;			/* NULL: a run */
	uint32		child;			/* its number */
	uint32		start;			/* where in the child the run begins */
	uint32		len;
	bool		is_list;
	SlicedList	list;			/* if so: what becomes of the run's words */
} SlicedItem;

typedef struct SlicedNode
{
	bool		owns;			/* child 0 is one slice, which child nodes may borrow */
	uint32		nchildren;
	uint32		nitems;
	uint32		len;			/* of its content */
	bool		has_lists;
	SlicedChild *children;
	SlicedItem *items;			/* literal bytes are where they were decoded */
} SlicedNode;

/* No node is longer: it has to fit in a row. */
#define SLICED_NODE_MAX		7900

/*
 * Take apart the 'size' bytes at 'src', a node of object 'objid'.  'borrowed' is the
 * length of the slice that it may borrow, or 0.  The arrays are palloc'd, unless the
 * node is damaged.
 */
extern SlicedDamage sliced_node_decode(SlicedNode *node, const char *src, uint32 size,
									   uint32 objid, uint32 borrowed);

extern void sliced_node_free(SlicedNode *node);

/* Bytes that a node of object 'objid' takes. */
extern uint32 sliced_node_size(const SlicedNode *node, uint32 objid);

/* Write it to 'dst', which has room for that. */
extern void sliced_node_encode(char *dst, const SlicedNode *node, uint32 objid);

#endif
