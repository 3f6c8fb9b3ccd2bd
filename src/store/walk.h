/*
 * walk.h
 *	  Visits all slices of a value, and reports their problems.
 */
#ifndef SLICED_STORE_WALK_H
#define SLICED_STORE_WALK_H

#include "postgres.h"

#include "store/slice.h"

typedef enum SlicedProblemKind
{
	SLICED_PROBLEM_POINTER,		/* the pointer cannot be right */
	SLICED_PROBLEM_MISSING,		/* something that should be there is not */
	SLICED_PROBLEM_CORRUPTED,	/* something is there, but damaged */
	SLICED_PROBLEM_OVERLAP,		/* something is there twice */
	SLICED_PROBLEM_EXCESS		/* something is there that no pointer covers */
} SlicedProblemKind;

typedef struct SlicedVisitor
{
	void	   *arg;

	/* A slice of an object, of extent number 'i' of the value. */
	void		(*slice) (void *arg, int i, Oid objid, const SlicedSlice *slice);
	/* A node; for the root, 'seq' is that of the head. */
	void		(*node) (void *arg, Oid objid, int32 seq, uint32 size);
	/* 'offset' is in the object, -1 if the problem has no place. */
	void		(*problem) (void *arg, SlicedProblemKind kind, Oid objid,
							int64 offset, const char *message);
	/* The value has rows of this object; perhaps more than once. */
	void		(*object) (void *arg, Oid objid);
} SlicedVisitor;

/*
 * Walk over the value of 'ptr'.  With a snapshot in 'ts', every row must have its
 * place. Without one, the value's bytes must be there, as readers find them.  Slices
 * are decompressed to see if that works.  Never raises an error for a problem that it
 * finds.  The visitor's node and object may be NULL.
 */
extern void sliced_value_walk(ToastScan *ts, const struct varatt_external *ptr,
							  const SlicedVisitor *visitor);

#endif
