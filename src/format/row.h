/*
 * row.h
 *	  What one row of the toast relation holds.
 *
 * The row's columns are (chunk_id, chunk_seq, chunk_data); chunk_data is
 *
 *	 byte 0          4      5       6       8        12          16          20
 *		  | checksum | kind | codec | parts | rawlen | storedlen | followers | payload ...
 *
 *	checksum	over chunk_id, chunk_seq and all bytes from 4 on (checksum.h), so
 *				that neither damaged nor misplaced bytes pass for good ones
 *	kind		format version (high 4 bits) and SlicedRowKind (low 4 bits)
 *	codec		how the slice is compressed, and SLICED_ROW_HAS_DICTIONARY
 *	parts		head, slice: how many more rows the slice continues in;
 *				continuation: which of these it is, from 1
 *	rawlen		bytes of the slice before compression
 *	storedlen	bytes of the slice as stored, in all its rows together
 *	followers	raw bytes that continue a character of UTF-8: the slice has
 *				rawlen - followers characters.  SLICED_NOT_COUNTED where nobody has
 *				decompressed the slice to count them
 *
 * A head has its own header between byte 20 and the payload:
 *
 *	 byte 20     21         22        24      28        32
 *		   | flags | reserved | npieces | ascii | garbage | npieces * SlicedPiece | patches | payload ...
 *
 *	ascii		leading bytes of the value known to be characters of one byte
 *	garbage		raw bytes in slices that the pieces share, but no piece covers
 *
 * Patches (patches.h) are there only if the flags say so.
 *
 * Its payload belongs to the slice at offset 0 of the value, if npieces is 0,
 * otherwise to the value's inline bytes.
 *
 * A tail is a slice that grows: the last of a value to which little is added at a
 * time.  It is updated in place, and heap logs only what lies between the first
 * and the last byte that differ; so an addition changes nothing in front of the
 * new data.
 *
 *	 byte 0   4      5   8
 *		  | 0 | kind | 0 | data ... | checksum | 0x01 | zeros ...
 *
 * A row of patches (patches.h) belongs to a layer, an object of its own that holds
 * nothing else.  Its codec is none, and its payload
 *
 *	 byte 20     24
 *		   | until | patches ...
 *
 *	until		the row has all patches of its layer from its first place to this one
 *
 * If it was compressed with a dictionary (entry.h), the stored bytes begin with that
 * one's id and checksum.  A row of the directory of dictionaries is of object 0 and
 * has an entry for its payload.
 *
 * chunk_seq is -1 for the head, the raw offset of the slice's first byte for a
 * slice or a tail, and that offset plus the part's number for a continuation: a
 * slice of n rows has at least n raw bytes, so the numbers are free.  Of a row of
 * patches it is 1 + its first place.
 *
 * All integers are in the machine's byte order, like everything in a heap page.
 * Functions here read memory they do not trust: they check every length, and
 * say what is wrong instead of raising an error.
 */
#ifndef SLICED_FORMAT_ROW_H
#define SLICED_FORMAT_ROW_H

#include "postgres.h"

#include "format/damage.h"
#include "format/patches.h"
#include "format/pieces.h"

#define SLICED_FORMAT_VERSION	1

#define SLICED_HEAD_SEQ			(-1)

#define SLICED_NOT_COUNTED		PG_UINT32_MAX

typedef enum SlicedRowKind
{
	SLICED_ROW_HEAD = 1,
	SLICED_ROW_SLICE = 2,
	SLICED_ROW_CONTINUATION = 3,
	SLICED_ROW_TAIL = 4,
	SLICED_ROW_PATCHES = 5,
	SLICED_ROW_ENTRY = 6
} SlicedRowKind;

/* The bytes before the payload. */
typedef struct SlicedRowHeader
{
	uint32		checksum;
	uint8		kind;
	uint8		codec;
	uint16		parts;
	uint32		rawlen;
	uint32		storedlen;
	uint32		followers;
} SlicedRowHeader;

typedef struct SlicedHeadHeader
{
	uint8		flags;
	uint8		reserved;
	uint16		npieces;
	uint32		ascii;
	uint32		garbage;
} SlicedHeadHeader;

StaticAssertDecl(sizeof(SlicedRowHeader) == 20, "row header has holes");
StaticAssertDecl(sizeof(SlicedHeadHeader) == 12, "head header has holes");

/* Flags of a head: it has patches. */
#define SLICED_HEAD_PATCHED		1

/* Flag of a codec. */
#define SLICED_ROW_HAS_DICTIONARY	0x80

/* Bytes of a tail besides data and padding. */
#define SLICED_TAIL_HEADER		8
#define SLICED_TAIL_OVERHEAD	(SLICED_TAIL_HEADER + 4 + 1)

/* A row taken apart; pointers point into the memory that was decoded. */
typedef struct SlicedRow
{
	SlicedRowKind kind;
	uint8		codec;
	bool		has_dictionary;
	uint16		parts;
	uint32		rawlen;
	uint32		storedlen;
	uint32		followers;
	const char *payload;
	uint32		payload_len;
	/* tail only */
	uint32		capacity;		/* data that there is room for */
	/* head only */
	uint16		npieces;
	const char *pieces;			/* unaligned: use sliced_row_piece() */
	uint32		ascii;
	uint32		garbage;
	const char *patches;		/* a table (patches.h); NULL if it has none */
	uint32		patches_len;
	/* row of patches only: from where to where it has all of its layer */
	uint32		from;
	uint32		until;
} SlicedRow;

/* The first byte of a row of patches behind 'until'. */
static inline const char *
sliced_row_patches(const SlicedRow *row)
{
	return row->payload + sizeof(uint32);
}

/* Bytes that 'row' takes when encoded. */
extern uint32 sliced_row_size(const SlicedRow *row);

/* Write 'row' to 'dst', which has room for sliced_row_size() bytes. */
extern void sliced_row_encode(char *dst, uint32 objid, int32 seq, const SlicedRow *row);

/* Take apart the 'len' bytes at 'src'. */
extern SlicedDamage sliced_row_decode(SlicedRow *row, const char *src, uint32 len,
									  uint32 objid, int32 seq);

/* Copy piece 'i' of a head. */
extern SlicedPiece sliced_row_piece(const SlicedRow *row, int i);

/*
 * How many of 'left' stored bytes the next row takes.  'overhead' is what the
 * row needs besides: its headers.  '*quarters', false before the first of them,
 * becomes true when a quarter of a page was cut off: then all others are as well.
 */
extern uint32 sliced_row_cut(uint32 left, uint32 overhead, bool *quarters);

#endif
