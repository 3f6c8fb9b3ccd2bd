/*
 * pieces.h
 *	  The piece table: which bytes, and of what, a value consists of.
 *
 * A value written at once, in the order of its bytes, has no table: it is the
 * object of its own id, from offset 0.  Others list their pieces in order.
 */
#ifndef SLICED_FORMAT_PIECES_H
#define SLICED_FORMAT_PIECES_H

#include "postgres.h"

/*
 * Bytes [start, start + len) of object 'objid', or of the head's own inline
 * bytes if 'objid' is 0.
 */
typedef struct SlicedPiece
{
	uint32		objid;
	uint32		start;
	uint32		len;
} SlicedPiece;

StaticAssertDecl(sizeof(SlicedPiece) == 12, "piece has holes");

#endif
