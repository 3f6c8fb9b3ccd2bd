/*
 * tree.h
 *	  Values as trees of edits over slices that stay.
 *
 * A value that was changed is a tree of nodes (format/node.h).  Its leaves are
 * slices, which never change, and the literal bytes in nodes.  A change of the value
 * writes a new root, and now and then a few other nodes; it never copies a slice,
 * except when the edits of one have come to take more than it is worth.
 *
 * This folder knows no rows, only their names.  It reads through a store (below), and
 * says what to write and what to delete.
 *
 * Invariants, by their numbers in src/README.md:
 * 5.	A name, (object, seq), is given once: a change names all that it writes by a
 *		new object.
 * 23.	In the newest version of a value each row has exactly one owner: the node that
 *		has the extent or the node among its children (the borrowed slice does not
 *		count).  So a change that drops the last run of a child deletes its rows, and
 *		looks nowhere else.  An extent begins and ends where slices do.
 */
#ifndef SLICED_TREE_TREE_H
#define SLICED_TREE_TREE_H

#include "postgres.h"

#include "format/node.h"

/*
 * Deeper trees are damaged: with every node half full 1 GB takes seven levels.  A change
 * cannot make one: each node is higher than those below it, and a value whose nodes would
 * be higher than SLICED_NODE_HEIGHT_MAX is stored anew.
 */
#define SLICED_TREE_DEPTH	24

/* Limits that decide the shape of a tree.  Reading a tree needs none of them. */
typedef struct SlicedTreeLimits
{
	uint32		literals;		/* bytes of edits in a node that has children to take them */
	uint32		leaf;			/* bytes of a node with edits of one slice */
	uint32		children;		/* of a node */
	uint32		longest;		/* bytes of a literal; longer ones become slices */
	uint32		stored_per_leaf;	/* a slice is written anew if it has a leaf for less */
	uint32		small;			/* extents of fewer bytes have hints; neighbours are joined, ... */
	uint32		nsmall;			/* ... if there are this many */
	uint32		many;			/* if a node has more edits, all go down at once */
} SlicedTreeLimits;

/* A slice, as its rows have it. */
typedef struct SlicedTreeSlice
{
	uint32		start;			/* where in its object it begins */
	uint32		len;
	uint32		stored;			/* bytes when compressed */
} SlicedTreeSlice;

/* Where a tree's rows are.  Only changes call the functions that raise errors. */
typedef struct SlicedTreeStore
{
	void	   *arg;
	/*
	 * The bytes of a node: palloc'd, or the store's if it keeps them.  Its row may be
	 * where the hint says; the store corrects the hint.
	 */
	SlicedDamage (*node) (void *arg, uint32 objid, int32 seq, ItemPointer hint, char **bytes,
						  uint32 *size);
	bool		keeps;
	/*
	 * Find the row of a node, or the first one of an extent, if there is one.  For
	 * changes only.
	 */
	void		(*locate) (void *arg, uint32 objid, int32 seq, ItemPointer hint);
	/* Find the slice that has a byte of an object.  Raises errors. */
	SlicedTreeSlice (*slice) (void *arg, uint32 objid, uint32 pos);
	/* Read bytes of an object. */
	SlicedDamage (*read) (void *arg, uint32 objid, uint32 start, uint32 len, char *dst);
	/* Raise an error: something is wrong with a node, or an extent. */
	void		(*damaged) (void *arg, uint32 objid, int32 seq, SlicedDamage damage);
} SlicedTreeStore;

/* ---- reading: walk.c ---- */

/* Bytes of an object, or literal ones. */
typedef struct SlicedTreePiece
{
	const char *bytes;			/* good until the walk goes on; NULL: of an object */
	uint32		objid;
	uint32		start;
	uint32		len;
	bool		in_slice;		/* all in one slice, which begins at 'slice' */
	uint32		slice;
	ItemPointerData hint;		/* where the row that begins there may be */
} SlicedTreePiece;

typedef struct SlicedTreeLevel
{
	SlicedNode	node;
	char	   *bytes;			/* of the encoded node; NULL: the root's */
	uint32		objid;			/* its name */
	int32		seq;
	uint32		next;			/* item */
	uint32		skip;			/* bytes of its content to pass over */
	uint32		left;			/* bytes wanted behind those */
	SlicedChild slice;			/* owned or borrowed; len 0: none */
} SlicedTreeLevel;

typedef struct SlicedTreeWalk
{
	const SlicedTreeStore *store;
	SlicedDamage damage;		/* the damage that ended the walk */
	char	   *words;			/* of a list: the piece is */
	int			above;			/* levels above the first */
	int			depth;			/* levels that it is in */
	int			nlevels;		/* levels that have nodes */
	SlicedTreeLevel levels[SLICED_TREE_DEPTH];
	struct SlicedTreeWalk *within;	/* through lists: kept for the next one */
} SlicedTreeWalk;

/* Begin to go through bytes [start, start + len) of the node at 'bytes'. */
extern void sliced_tree_walk(SlicedTreeWalk *walk, const SlicedTreeStore *store,
							 const char *bytes, uint32 size, uint32 objid, int32 seq,
							 uint32 start, uint32 len);

/*
 * The next piece, in the order of the value's bytes; false at the end, or if there is
 * damage.
 */
extern bool sliced_tree_next(SlicedTreeWalk *walk, SlicedTreePiece *piece);

/* End before there is no next piece.  The piece that was returned last goes with it. */
extern void sliced_tree_end(SlicedTreeWalk *walk);

/* ---- its rows: names.c ---- */

/* A node's row, or the rows of consecutive slices. */
typedef struct SlicedTreeName
{
	SlicedChildKind kind;
	uint32		objid;
	int32		seq;
	uint32		len;			/* of its content */
	ItemPointerData hint;		/* where its first row may be */
	uint32		size;			/* node: bytes */
	SlicedDamage damage;		/* node: why nothing below it is named */
} SlicedTreeName;

/* Show all rows of a tree except the root's: a node before the rows below it. */
extern void sliced_tree_names(const SlicedTreeStore *store, const SlicedNode *root,
							  void (*show) (void *arg, const SlicedTreeName *name), void *arg);

/* ---- changing: change.c ---- */

/*
 * A run of the new value: of the old one (bytes is NULL), or new bytes, which may be a
 * list of the old value that has moved.
 */
typedef struct SlicedTreeRun
{
	const char *bytes;
	uint32		start;
	uint32		len;
	bool		is_list;
	SlicedList	list;
} SlicedTreeRun;

/* Something to write: the bytes of a node, or bytes to make slices of. */
typedef struct SlicedTreeWrite
{
	SlicedTreeName name;
	const char *bytes;
	uint32		size;
} SlicedTreeWrite;

typedef struct SlicedTreeChange
{
	/* in */
	const SlicedTreeStore *store;
	const SlicedTreeLimits *limits;
	uint32		objid;			/* the object of everything that is written */
	uint32		own;			/* where in that object slices may begin */
	/* out: write these in this order, children first */
	int			nwrites;
	SlicedTreeWrite *writes;
	/* the root, which has no name: it is the head's */
	const char *root;
	uint32		root_size;
	uint32		own_end;		/* behind the slices that are written */
	bool		too_long;		/* a node is too long, or too high: no part of this can
								 * be used */
	/* delete these */
	int			ndrops;
	SlicedTreeName *drops;
} SlicedTreeChange;

/*
 * Change the value whose root is at 'root' (of object 'objid') to one that consists
 * of 'runs'.  Results are in the current memory context.
 */
extern void sliced_tree_change(SlicedTreeChange *change, const char *root, uint32 size,
							   uint32 objid, const SlicedTreeRun *runs, int nruns);

#endif
