/*
 * codec.h
 *	  Compression of one slice, behind one struct of functions.
 *
 * Codecs know nothing of tables or rows: memory in, memory out.  They never
 * raise an error for bad data, since only the caller can say whose data it was.
 */
#ifndef SLICED_CODEC_CODEC_H
#define SLICED_CODEC_CODEC_H

#include "postgres.h"

#include "base/codec_ids.h"
#include "codec/dictionary.h"

/* A dictionary, by where it is stored: see store/dictionary.h.  id 0: none. */
typedef struct SlicedDictionaryName
{
	Oid			relid;
	uint32		id;
	uint32		checksum;
} SlicedDictionaryName;

/*
 * How to compress: the codec, its level if it has levels, and the dictionary that
 * short slices look back at.
 */
typedef struct SlicedCompression
{
	int			codec;
	int			level;
	SlicedDictionaryName dictionary;
	SlicedDictionary *tried;	/* if not NULL, used in place of that one; not
								 * stored */
} SlicedCompression;

typedef struct SlicedCodec
{
	const char *name;

	/* Raw bytes to compress together: SLICED_SLICE_... in base/limits.h. */
	uint32		slice_raw;

	/* Compression is kept if it saves at least 1/min_gain of them: SLICED_GAIN_... */
	uint32		min_gain;

	/* Levels are 1 to this; 0: it has none. */
	int			max_level;

	/* True if it looks back at dictionaries.  Otherwise it is never given one. */
	bool		has_dictionaries;

	/*
	 * Compress 'len' bytes into at most 'cap' bytes at 'dst', which has room for
	 * SLICED_COMPRESS_ROOM(len).  Returns how many were written, or 0 if they do not
	 * fit. 'level' matters to codecs that have levels; 'dictionary' may be NULL.
	 */
	uint32		(*compress) (const char *src, uint32 len,
							 char *dst, uint32 cap, int level,
							 SlicedDictionary *dictionary);

	/*
	 * Decompress the first 'want' of the slice's 'rawlen' bytes; 'dst' has room for
	 * 'want' bytes, not more.  Returns false if this codec could not have written the
	 * input with that dictionary; fails for want of memory.
	 */
	bool		(*decompress) (const char *src, uint32 len,
							   char *dst, uint32 want, uint32 rawlen,
							   SlicedDictionary *dictionary);
} SlicedCodec;

extern const SlicedCodec sliced_codec_none;
extern const SlicedCodec sliced_codec_pglz;
extern const SlicedCodec sliced_codec_lz4;
extern const SlicedCodec sliced_codec_zstd;

/* The codec with this number, or NULL if there is none. */
extern const SlicedCodec *sliced_codec_get(int id);

/* The number of the codec of this name, or -1. */
extern int	sliced_codec_named(const char *name);

/* Room that compressing 'len' bytes needs: pglz overshoots before it gives up. */
#define SLICED_COMPRESS_ROOM(len)	((len) + 8)

/* The most bytes worth storing in place of 'len' raw ones; 0 if none are. */
extern uint32 sliced_codec_limit(int id, uint32 len);

/*
 * Compress if it pays: returns the number of bytes at 'dst', or 0 if the raw
 * bytes are better kept as they are.
 */
extern uint32 sliced_codec_try(int id, const char *src, uint32 len,
							   char *dst, int level, SlicedDictionary *dictionary);

#endif
