/*
 * limbs.h
 *	  The nodes of a tree that a change has loaded or made.
 *
 * A *limb* is a node in memory, a *branch* one of its children.  Branches are never
 * freed before the change ends.  The change drops those that are in no limb any more.
 */
#ifndef SLICED_TREE_LIMBS_H
#define SLICED_TREE_LIMBS_H

#include "postgres.h"

#include "tree/tree.h"

/* About the bytes that they take when encoded. */
#define COST_RUN		4
#define COST_LIST		8
#define COST_LITERAL	2
#define COST_CHILD		9
#define COST_HINT		4

typedef struct Limb Limb;

typedef struct Branch
{
	SlicedChildKind kind;
	uint32		height;
	uint32		objid;
	int32		seq;
	uint32		len;
	ItemPointerData hint;		/* where its first row may be, if that is worth knowing */
	bool		is_new;			/* has no rows yet */
	const char *bytes;			/* extent: of its slices, if it is new */
	Limb	   *limb;			/* node: if it was loaded, or is new */
	int			depth;			/* node: levels above it, when it was loaded */
	struct Branch *lends;		/* node: the slice that its parent has edits of */
	SlicedTreeSlice info;		/* extent: its first slice; len 0: not known */
	bool		trimmed;		/* extent: runs of it have gone */
	bool		divided;		/* extent: others have taken its place */
	bool		reached;		/* at the end: the new value needs it */
	int			first;			/* limb_find_spans(): its items in a limb */
	int			last;
	int			mark;
	struct Branch *next;		/* of all */
} Branch;

typedef struct Branches
{
	int			n;
	Branch	  **list;
} Branches;

typedef struct LimbItem
{
	Branch	   *branch;			/* NULL: literal bytes */
	const char *bytes;			/* those; or what a list is now, if that is at hand */
	uint32		start;
	uint32		len;
	bool		is_list;		/* of the branch: it has moved */
	SlicedList	list;
} LimbItem;

struct Limb
{
	Branch	   *slice;			/* that it has edits of: its own, or borrowed */
	bool		owns;
	uint32		len;
	int			nitems;
	int			maxitems;
	LimbItem   *items;
};

typedef struct Tree
{
	const SlicedTreeStore *store;
	const SlicedTreeLimits *limits;
	Branch	   *branches;		/* all, in the order in which they came to be */
	Branch	   *newest;
	int			marks;			/* how often spans have been found */
} Tree;

static inline uint32
item_cost(const LimbItem *item)
{
	return item->branch == NULL ? COST_LITERAL + item->len :
		COST_RUN + (item->is_list ? COST_LIST : 0);
}

/*
 * True if its place is worth knowing.  Nodes above leaves change too often, and
 * longer extents have several rows.
 */
static inline bool
branch_is_hinted(const Tree *t, const Branch *b)
{
	return b->kind == SLICED_CHILD_NODE ? b->height == 0 : b->len < t->limits->small;
}

static inline uint32
child_cost(const Tree *t, const Branch *b)
{
	return COST_CHILD + (branch_is_hinted(t, b) ? COST_HINT : 0);
}

/* ---- branches ---- */

/* A branch for the caller to fill in. */
extern Branch *branch_new(Tree *t, SlicedChildKind kind);

extern Branch *branch_new_extent(Tree *t, const char *bytes, uint32 len);

/* A node without items.  'slice' is the slice that it has edits of, or NULL. */
extern Branch *branch_new_node(Tree *t, Branch *slice);

extern void branches_add(Branches *branches, Branch *b);

/* Find out which slice an extent begins with. */
extern void branch_look(Tree *t, Branch *b);

/* ---- limbs ---- */

/* The branch's node; loads it. */
extern Limb *limb_of(Tree *t, Branch *b);

/* Take apart the node of a branch. */
extern Limb *limb_decode(Tree *t, const Branch *b, const char *bytes, uint32 size);

/* Take all items away.  The caller has the array, and frees it. */
extern void limb_clear(Limb *limb);

/* Add an item.  If it continues the last one, the two are joined. */
extern void limb_add(Limb *limb, const LimbItem *item);

/* Find the first and the last item of each branch. */
extern void limb_find_spans(Tree *t, Limb *limb);

/* The number of its children, and of the nodes among them. */
extern uint32 limb_children(Tree *t, Limb *limb);
extern uint32 limb_nodes(Tree *t, Limb *limb);

/* The bytes that it takes, and that its edits take: all but one run of each child. */
extern uint32 limb_cost(Tree *t, Limb *limb);
extern uint32 limb_edits_cost(Tree *t, Limb *limb);

/* ---- the end ---- */

/* Name the new rows, and find those that the change drops. */
extern void tree_finish(Tree *t, Limb *root, SlicedTreeChange *change);

#endif
