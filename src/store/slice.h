/*
 * slice.h
 *	  A slice: the rows it takes, and its bytes.
 */
#ifndef SLICED_STORE_SLICE_H
#define SLICED_STORE_SLICE_H

#include "postgres.h"

#include "codec/codec.h"
#include "format/entry.h"
#include "store/toast_scan.h"

/* A slice whose rows have been gathered, still compressed. */
typedef struct SlicedSlice
{
	uint32		start;			/* raw offset in its object */
	uint32		rawlen;
	uint8		codec;
	bool		has_dictionary;
	Oid			toastrelid;		/* the toast relation of that object */
	uint16		nrows;
	uint32		storedlen;
	const char *stored;
	char	   *buffer;			/* where 'stored' is if it took several rows, else
								 * NULL and 'stored' is gone when the scan moves */
} SlicedSlice;

/*
 * Gather the rows of a slice, which one transaction has written together.  The scan
 * has just returned the first of them: 'row', at raw offset 'start'.  If the scan
 * moves forward, 'reseek_to' is 0.  If not, the scan is turned to move forward up to
 * row 'reseek_to'.  A buffer, if one was needed, is palloc'd.
 */
extern SlicedDamage sliced_slice_gather(ToastScan *ts, const SlicedRow *row, uint32 start,
										int32 reseek_to, SlicedSlice *slice);

/*
 * Compress 'len' bytes to 'dst', which has room for SLICED_SLICE_ROOM(len).  Returns
 * how many bytes to store, or 0 to store the raw bytes.  '*has_dictionary' is set to
 * true if the bytes to store name a dictionary.
 */
extern uint32 sliced_slice_compress(const SlicedCompression *compression, const char *raw, uint32 len,
									char *dst, bool *has_dictionary);

#define SLICED_SLICE_ROOM(len)	(SLICED_COMPRESS_ROOM(len) + SLICED_DICTIONARY_NAME)

/* The dictionary that a slice names, if it has one. */
extern SlicedDictionaryName sliced_slice_dictionary(const SlicedSlice *slice);

/* Decompress raw bytes [from, to) of the slice, counted from its first. */
extern SlicedDamage sliced_slice_decompress(const SlicedSlice *slice, uint32 from,
											uint32 to, char *dest);

#endif
