/*
 * anchors.h
 *	  Places that two values have in common, however far they have moved.
 *
 * Samples of the old value are looked up in bursts of the new one.  So a part of each
 * is enough to tell if they have much in common, and where.
 */
#ifndef SLICED_VALUE_ANCHORS_H
#define SLICED_VALUE_ANCHORS_H

#include "postgres.h"

#include "base/limits.h"

typedef struct SlicedOldBytes
{
	uint32		len;
	const char *bytes;			/* all of them; NULL: read() gets them */

	/*
	 * Read bytes [start, end), at most SLICED_COMPARE_STEP, to 'dest'.  Returns false
	 * if they cannot be read, which ends the search.
	 */
	bool		(*read) (void *arg, uint32 start, uint32 end, char *dest);
	void	   *arg;
} SlicedOldBytes;

/* Bytes that are the same in both. */
typedef struct SlicedCommonRun
{
	uint32		old_start;
	uint32		new_start;
	uint32		len;
} SlicedCommonRun;

/*
 * Work is counted in the time that it takes to decompress a byte: reading a range, a
 * window put into a table or looked up in it, and comparing so many bytes.
 */
#define SLICED_WORK_READ		(SLICED_COMPARE_STEP / 32)
#define SLICED_WORK_WINDOW		4
#define SLICED_WORK_COMPARE		16

#define SLICED_ANCHORS_MAX	192

typedef struct SlicedAnchors
{
	/* where to look */
	const SlicedOldBytes *old;
	uint32		old_start;
	uint32		old_end;
	const char *new;
	uint32		new_start;
	uint32		new_end;
	uint64		budget;			/* for work, approximately */

	/* found anchors: in the order of both values, some bytes of longer runs */
	int			n;
	SlicedCommonRun anchors[SLICED_ANCHORS_MAX];
	uint64		work;
} SlicedAnchors;

/*
 * Fill in the anchors: none, if they are so few that they may be chance.  Returns
 * false if the old value cannot be read.
 */
extern bool sliced_anchors_find(SlicedAnchors *a);

#endif
