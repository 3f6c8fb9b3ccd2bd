/*
 * patches.h
 *	  Patches: a few bytes that take the place of as many bytes of an object.
 *
 * An object never changes, but a value may say that some bytes of it are others.
 * Most patches of a value are in layers, which are objects of their own, others in
 * its head; newer ones are laid over older ones.
 *
 * Patches lie at places.  A value gives each object that it patches a range of
 * places, one for each byte: byte 'p' of the object has place base + p.  No place
 * is ever given to a second object as long as a layer lasts.
 *
 * Patches are in the order of their places and do not overlap:
 *
 *		| gap, 1 to 5 bytes | length 1 | bytes ... |
 *
 *	gap		places between the end of the last patch (or where the first one may
 *			begin) and this one: seven bits in each byte, the lowest first, and a
 *			high bit of 1 in all but the last
 *	length	1 to 255
 *
 * In a head they stand behind a table:
 *
 *	 byte 0        2          3         4     8
 *		  | length | nobjects | nlayers | end | nobjects * SlicedPatchedObject |
 *													nlayers * SlicedLayer | patches ... |
 *
 *	length		of all of this
 *	end			the first place that no object has had yet
 *
 * Layers are listed from the newest to the oldest.
 */
#ifndef SLICED_FORMAT_PATCHES_H
#define SLICED_FORMAT_PATCHES_H

#include "postgres.h"

#include "format/damage.h"

#define SLICED_PATCH_LONGEST	255

typedef struct SlicedPatch
{
	uint32		place;
	uint32		len;
	const char *bytes;
} SlicedPatch;

/* Goes through encoded patches. */
typedef struct SlicedPatchReader
{
	const char *next;
	const char *end;
	uint32		place;			/* where the last patch ended */
	SlicedPatch patch;
} SlicedPatchReader;

/* The 'len' bytes at 'src' are patches, the first of which may begin at 'place'. */
static inline SlicedPatchReader
sliced_patch_reader(const char *src, uint32 len, uint32 place)
{
	SlicedPatchReader r = {.next = src, .end = src + len, .place = place};

	return r;
}

/*
 * Read the next patch.  False if there is none: all have been read if 'next' is at
 * 'end', if not the bytes are damaged.
 */
extern bool sliced_patch_next(SlicedPatchReader *r);

/* Bytes that a patch takes, if the last one ended at 'place'. */
extern uint32 sliced_patch_size(const SlicedPatch *patch, uint32 place);

/* Write it to 'dst'; returns its size. */
extern uint32 sliced_patch_encode(char *dst, const SlicedPatch *patch, uint32 place);

/* An object that has patches. */
typedef struct SlicedPatchedObject
{
	uint32		objid;
	uint32		base;			/* place of its byte 0 */
} SlicedPatchedObject;

/* Patches that are stored as an object. */
typedef struct SlicedLayer
{
	uint32		objid;
	uint32		bytes;			/* that its patches take */
} SlicedLayer;

#define SLICED_PATCHED_OBJECTS	8
#define SLICED_LAYERS			4

typedef struct SlicedPatchTable
{
	uint32		end;
	int			nobjects;
	int			nlayers;
	SlicedPatchedObject objects[SLICED_PATCHED_OBJECTS];
	SlicedLayer layers[SLICED_LAYERS];
	const char *own;			/* patches in the head */
	uint32		own_len;
} SlicedPatchTable;

/* Bytes that the table takes, with the patches behind it. */
extern uint32 sliced_patch_table_size(const SlicedPatchTable *table);

extern void sliced_patch_table_encode(char *dst, const SlicedPatchTable *table);

/*
 * Take apart a table, of which 'len' bytes at 'src' are there, or more bytes than it
 * has.  '*size' is what it takes.
 */
extern SlicedDamage sliced_patch_table_decode(SlicedPatchTable *table, const char *src,
											  uint32 len, uint32 *size);

StaticAssertDecl(sizeof(SlicedPatchedObject) == 8, "patched object has holes");
StaticAssertDecl(sizeof(SlicedLayer) == 8, "layer has holes");

#endif
