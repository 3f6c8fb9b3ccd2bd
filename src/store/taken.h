/*
 * taken.h
 *	  Takes slices as they are stored in another table.
 *
 * If a value comes from another table, or an older file of the same, and would be cut
 * and compressed just as it is there, its compressed slices are copied.  Copies get
 * new rows, with checksums of their own.
 */
#ifndef SLICED_STORE_TAKEN_H
#define SLICED_STORE_TAKEN_H

#include "postgres.h"

#include "store/layout.h"
#include "utils/rel.h"

typedef struct SlicedTakenSlice
{
	uint32		rawlen;
	uint32		storedlen;
	uint32		followers;		/* SLICED_NOT_COUNTED if not known */
	int			codec;
	const char *stored;
	void	   *memory;			/* where that is, or NULL: in the caller's memory */
} SlicedTakenSlice;

typedef struct SlicedTaken
{
	int			nslices;		/* 0: nothing was taken */
	SlicedTakenSlice *slices;	/* in the order of the value's bytes, or of its own object's */
	uint32		ascii;			/* leading bytes known to be ASCII */

	/* If the value was cut into regions, what its head says; otherwise not set. */
	SlicedLayout layout;
} SlicedTaken;

/*
 * Take the slices of a value of 'size' bytes into memory.  Returns false unless a
 * writer with this codec, which has no levels, would make them so, and they take more
 * than 'more_than' bytes.  Damage is left for a reader of the value to report.
 *
 * 'cut' is true if such a value may be cut into regions.  Then only a value that has
 * been cut is taken.
 */
extern bool sliced_taken_load(SlicedTaken *taken, Relation toastrel, Oid valueid, uint32 size,
							  int codec, bool cut, uint32 more_than);

/* Take a value that is one slice: 'stored', which must stay. */
extern void sliced_taken_set(SlicedTaken *taken, uint32 len, int codec, const char *stored,
							 uint32 storedlen);

/* Decompress a value that was not cut to 'dest'; false if that is not possible. */
extern bool sliced_taken_read(const SlicedTaken *taken, char *dest);

extern void sliced_taken_free(SlicedTaken *taken);

#endif
