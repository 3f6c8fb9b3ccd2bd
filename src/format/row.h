/*
 * row.h
 *	  What one row of the toast relation holds.
 *
 * The row's columns are (chunk_id, chunk_seq, chunk_data); chunk_data is
 *
 *	 byte 0          4      5       6               8        12          16          20
 *		  | checksum | kind | codec | continuations | rawlen | storedlen | followers | payload ...
 *
 *	checksum	over chunk_id, chunk_seq and all bytes from 4 on (checksum.h), so
 *				that neither damaged nor misplaced bytes pass for good ones
 *	kind		format version (high 4 bits) and SlicedRowKind (low 4 bits)
 *	codec		how the slice is compressed, and SLICED_ROW_HAS_DICTIONARY
 *	continuations
 *				head, slice: how many more rows the slice continues in;
 *				continuation: which of these it is, from 1
 *	rawlen		bytes of the slice before compression
 *	storedlen	bytes of the slice as stored, in all its rows together
 *	followers	raw bytes that continue a character of UTF-8: the slice has
 *				rawlen - followers characters.  SLICED_NOT_COUNTED if the writer did
 *				not decompress the slice to count them
 *
 * A head has its own header between byte 20 and the payload:
 *
 *	 byte 20     22          24      28    32
 *		   | flags | root size | ascii | own | root ... | payload ...
 *
 *	flags		0
 *	root size	bytes of the root, 0 if there is none
 *	ascii		leading bytes of the value known to be characters of one byte
 *	own			where the object of its own id goes on, in a value with a root, behind
 *				what the root names
 *
 * The root is a node (node.h): what the value consists of.  A value that was written
 * at once, in the order of its bytes, has none; the payload of its head belongs to the
 * slice at offset 0.  A head with a root has no payload.
 *
 * A tail is a slice that grows: the last of a value to which little is added at a
 * time.  It is updated in place, and heap logs only what lies between the first
 * and the last byte that differ; so an addition changes nothing in front of the
 * new data.
 *
 *	 byte 0   4      5   8
 *		  | 0 | kind | 0 | data ... | checksum | 0x01 | zeros ...
 *
 * Other nodes than the root are rows of their own.  Their codec is none, and their
 * payload is the node.
 *
 * If a slice was compressed with a dictionary (entry.h), its stored bytes begin with
 * the dictionary's id and checksum.  A row of the directory of dictionaries belongs
 * to object 0, and its payload is an entry.
 *
 * chunk_seq is -1 for the head, the raw offset of the slice's first byte for a
 * slice or a tail, and that offset plus its number for a continuation: a
 * slice of n rows has at least n raw bytes, so the numbers are free.  Nodes have -2, -3
 * and so on.
 *
 * All integers are in the machine's byte order, like everything in a heap page.
 * Functions here read memory that they do not trust: they check every length, and
 * return the damage instead of raising an error.
 */
#ifndef SLICED_FORMAT_ROW_H
#define SLICED_FORMAT_ROW_H

#include "postgres.h"

#include "format/damage.h"

#define SLICED_FORMAT_VERSION	1

#define SLICED_HEAD_SEQ			(-1)

/* No row of an object has a lower chunk_seq. */
#define SLICED_FIRST_SEQ		PG_INT32_MIN

/*
 * The object of a value with a root begins at this offset, so that a row with
 * chunk_seq 0 is always one of core's: our first rows are heads.
 */
#define SLICED_OWN_START		1

#define SLICED_NOT_COUNTED		PG_UINT32_MAX

typedef enum SlicedRowKind
{
	SLICED_ROW_HEAD = 1,
	SLICED_ROW_SLICE = 2,
	SLICED_ROW_CONTINUATION = 3,
	SLICED_ROW_TAIL = 4,
	SLICED_ROW_NODE = 5,
	SLICED_ROW_ENTRY = 6
} SlicedRowKind;

/* The bytes before the payload. */
typedef struct SlicedRowHeader
{
	uint32		checksum;
	uint8		kind;
	uint8		codec;
	uint16		continuations;
	uint32		rawlen;
	uint32		storedlen;
	uint32		followers;
} SlicedRowHeader;

typedef struct SlicedHeadHeader
{
	uint16		flags;
	uint16		root_size;
	uint32		ascii;
	uint32		own;
} SlicedHeadHeader;

StaticAssertDecl(sizeof(SlicedRowHeader) == 20, "row header has holes");
StaticAssertDecl(sizeof(SlicedHeadHeader) == 12, "head header has holes");

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
	uint16		continuations;
	uint32		rawlen;
	uint32		storedlen;
	uint32		followers;
	const char *payload;
	uint32		payload_len;
	/* tail only */
	uint32		capacity;		/* data that there is room for */
	/* head only */
	uint16		root_size;
	const char *root;			/* NULL if it has none */
	uint32		ascii;
	uint32		own;
} SlicedRow;

/* Bytes that 'row' takes when encoded. */
extern uint32 sliced_row_size(const SlicedRow *row);

/* Write 'row' to 'dst', which has room for sliced_row_size() bytes. */
extern void sliced_row_encode(char *dst, uint32 objid, int32 seq, const SlicedRow *row);

/* Take apart the 'len' bytes at 'src'. */
extern SlicedDamage sliced_row_decode(SlicedRow *row, const char *src, uint32 len,
									  uint32 objid, int32 seq);

/*
 * Returns how many of 'left' stored bytes the next row takes.  'overhead' is the size
 * of the row's headers.  '*quarters' is false before the first row.  It becomes true
 * when a row of a quarter of a page is cut off; then all others are as well.
 */
extern uint32 sliced_row_cut(uint32 left, uint32 overhead, bool *quarters);

#endif
