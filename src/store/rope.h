/*
 * rope.h
 *	  A value described as runs of another value, and new bytes.
 *
 * A rope is a row of runs: bytes of the base, a value that is stored, and bytes in
 * memory. Some of the latter may be known to be a list of the base that has moved
 * (format/list.h). Edits of a value make ropes; ropes of ropes are ropes of the base.
 */
#ifndef SLICED_STORE_ROPE_H
#define SLICED_STORE_ROPE_H

#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "base/toaster.h"
#include "format/list.h"
#include "utils/rel.h"

typedef struct SlicedRun
{
	const char *bytes;			/* NULL: of the base */
	uint32		start;			/* in the base */
	uint32		len;
	bool		is_list;		/* 'bytes' are what that list of the base becomes,
								 * ... */
	SlicedList	list;			/* ... this way */
} SlicedRun;

struct SlicedRope
{
	struct varatt_external base;
	uint32		len;
	int			nruns;
	int			maxruns;
	SlicedRun  *runs;
	int			recent;			/* the run that was looked for last, ... */
	uint32		recent_at;		/* ... and where it begins */
	Oid			maker;			/* the function that makes it, for error messages */
};

/* An empty rope, palloc'd. */
extern SlicedRope *sliced_rope_make(const struct varatt_external *base);

/* Add bytes [start, start + len) of the base. */
extern void sliced_rope_add_base(SlicedRope *rope, uint32 start, uint32 len);

/* Add bytes in the caller's memory, which has to last as long as the rope. */
extern void sliced_rope_add_bytes(SlicedRope *rope, const char *bytes, uint32 len);

/* Add bytes [start, start + len) of another rope of the same base. */
extern void sliced_rope_add_rope(SlicedRope *rope, const SlicedRope *other,
								 uint32 start, uint32 len);

/*
 * Add bytes in the caller's memory.  'old' is bytes [start, start + old_len) of
 * 'other', a rope of the same base: where both are the same for a long stretch,
 * add those bytes of 'other' instead.
 */
extern void sliced_rope_add_similar(SlicedRope *rope, const char *bytes, uint32 len,
									const char *old, uint32 old_len,
									const SlicedRope *other, uint32 start);

/*
 * Add words in the caller's memory that differ from those at 'old' in their ends
 * only; 'list' says how they have moved.  The old words are those of 'other' from
 * byte 'start' on.
 */
extern void sliced_rope_add_list(SlicedRope *rope, const char *bytes, uint32 len,
								 const char *old, const SlicedList *list,
								 const SlicedRope *other, uint32 start);

/* A copy in one piece of memory, bytes included. */
extern SlicedRope *sliced_rope_copy(const SlicedRope *rope, MemoryContext mcxt);

/* Bytes in memory. */
extern uint32 sliced_rope_new_bytes(const SlicedRope *rope);

/* Returns how many bytes of its content are new, or must be copied. */
extern uint32 sliced_rope_unshared(const SlicedRope *rope);

/* True if it is just the base. */
extern bool sliced_rope_is_base(const SlicedRope *rope);

/* True if it is the whole base with more bytes behind it. */
extern bool sliced_rope_grows(const SlicedRope *rope);

/* Read bytes [offset, offset + len) of what the rope describes. */
extern void sliced_rope_read(const SlicedRope *rope, Relation toastrel, uint32 offset,
							 uint32 len, char *dest);

#endif
