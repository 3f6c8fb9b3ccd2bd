/*
 * limits.h
 *	  The lengths and numbers that decide how values are stored, read and changed.
 *
 * Each length is given twice: the real one, and the one for builds with
 * -DSLICED_TINY_LIMITS.  In these, values of a few dozen bytes are treated like
 * values of many megabytes, so that any test reaches all code ("./dev test --tiny").
 * Either build can read the other's bytes on disk.
 *
 * Limits of the format, or of a page, are in format/row.h and store/layout.h.
 */
#ifndef SLICED_BASE_LIMITS_H
#define SLICED_BASE_LIMITS_H

#ifdef SLICED_TINY_LIMITS
#define SLICED_LIMIT(real, tiny)	(tiny)
#else
#define SLICED_LIMIT(real, tiny)	(real)
#endif

/* ---- rows ---- */

/* Longer rows are shrunk: core's limit, a quarter of a page. */
#define SLICED_ROW_OVERSIZED		SLICED_LIMIT(TOAST_TUPLE_THRESHOLD, 64)

/* They are shrunk to this, unless the table says otherwise (toast_tuple_target). */
#define SLICED_ROW_TARGET			SLICED_LIMIT(TOAST_TUPLE_TARGET, 64)

/*
 * The longest row that stays in one piece, unless the table says otherwise.  If
 * compression leaves a row between core's limit and this one, a third of a page, it
 * is better read with its neighbours than through the toast relation.
 */
#define SLICED_ROW_INLINE_MAX		SLICED_LIMIT(2704, 96)

/* How much of a document to compress to guess how it will compress. */
#define SLICED_PROBE				SLICED_LIMIT(4096, 64)

/* ---- slices ---- */

/*
 * Raw bytes of a slice, by codec.  Longer slices compress better, shorter ones are
 * read faster: lz4 and zstd look far back, pglz 4 kB; without compression longer
 * slices gain nothing.
 */
#define SLICED_SLICE_NONE			SLICED_LIMIT(64 * 1024, 256)
#define SLICED_SLICE_PGLZ			SLICED_LIMIT(32 * 1024, 128)
#define SLICED_SLICE_LZ4			SLICED_LIMIT(128 * 1024, 512)
#define SLICED_SLICE_ZSTD			SLICED_LIMIT(128 * 1024, 512)

/*
 * The longest of them.  A reader needs a second look to find longer slices.  A value
 * that heap has compressed, by any codec, is taken as one slice up to this length.
 */
#define SLICED_SLICE_USUAL			SLICED_LIMIT(128 * 1024, 512)

/* Readers accept slices up to this length, with any codec: part of the format. */
#define SLICED_SLICE_MAX			(1024 * 1024)

/*
 * Slices up to this length look back at a dictionary, if there is one.  Longer ones
 * look back at themselves.
 */
#define SLICED_DICTIONARY_RAW		SLICED_LIMIT(64 * 1024, 256)

/*
 * What dictionaries are made of: at most this many pages, values, and bytes in all.
 */
#define SLICED_TRAIN_PAGES			1000
#define SLICED_TRAIN_VALUES			SLICED_LIMIT(8000, 2000)
#define SLICED_TRAIN_BYTES			SLICED_LIMIT(8 * 1024 * 1024, 512 * 1024)

/* Bytes to train on for each byte of a dictionary. */
#define SLICED_TRAIN_FOR_EACH		SLICED_LIMIT(8, 8)

/* A dictionary must save one byte in this many. */
#define SLICED_TRAIN_GAIN			20

/*
 * ANALYZE makes the first dictionary when the toast relation has this many pages, and
 * another one when it has this many times as many pages as at the last.
 */
#define SLICED_TRAIN_PAGES_MIN		SLICED_LIMIT(128, 8)
#define SLICED_TRAIN_AGAIN			4

/*
 * The level that dictionaries themselves are compressed with: they are written once
 * and read once a session.
 */
#define SLICED_DICTIONARY_LEVEL		SLICED_LIMIT(9, 9)

/* The longest dictionary, and how many a session keeps in memory. */
#define SLICED_DICTIONARY_MAX		SLICED_LIMIT(64 * 1024, 1024)
#define SLICED_DICTIONARIES			SLICED_LIMIT(16, 2)

/*
 * Compression is kept if it saves at least one byte in this many, by codec.  pglz
 * takes so long to read that a small gain is not worth it.
 */
#define SLICED_GAIN_PGLZ			8
#define SLICED_GAIN_LZ4				50
#define SLICED_GAIN_ZSTD			50

/*
 * Bytes, headers included, that compression must save in a value that stays in its
 * row: as in core.
 */
#define SLICED_GAIN_INLINE			2

/* The same where nothing else can use the room that it saves: see store/draft.c. */
#define SLICED_GAIN_OF_PAGE			8

/*
 * Short matches of LZ4 must save one byte in this many where long ones save too
 * little, otherwise one raw byte in this many beyond what long ones save ...
 */
#define SLICED_GAIN_LZ4_SHORT		20
#define SLICED_GAIN_LZ4_SHORTER		16

/* ... and are tried only if long ones save less than one byte in this many. */
#define SLICED_GAIN_LZ4_LONG		8

/*
 * Shorter blocks are compressed with both of LZ4's hash tables if need be: see
 * codec/lz4.c.
 */
#define SLICED_LZ4_SHORT_BLOCK		SLICED_LIMIT(64 * 1024, 256)

/* Rows that are inserted together: they fill at most four pages. */
#define SLICED_BATCH_ROWS			SLICED_LIMIT(16, 3)

/*
 * Rows that take no more than this together go to the page of the rows that they
 * replace.
 */
#define SLICED_SMALL_ROWS			SLICED_LIMIT(2048, 2048)

/* Slices that a reader keeps for later pieces: enough for containers nested four deep. */
#define SLICED_KEPT_SLICES			SLICED_LIMIT(4, 2)

/* Bytes that a reader reads ahead in a value with nodes, at first and at most. */
#define SLICED_READ_AHEAD			SLICED_LIMIT(1024, 16)
#define SLICED_READ_AHEAD_MAX		SLICED_LIMIT(128 * 1024, 512)

/* How much of a slice to decompress at least if only a part of it is needed. */
#define SLICED_FIRST_PART			SLICED_LIMIT(32 * 1024, 64)

/* Bytes of a changed value whose pieces are looked up at once, to find a character. */
#define SLICED_CHARS_STEP			SLICED_LIMIT(1024 * 1024, 1024)

/* Sequential scans of fewer pages do not ask whether the toast relation is empty. */
#define SLICED_SCAN_WORTH_A_LOOK	SLICED_LIMIT(16, 1)

/* ---- estimates ---- */

/* Pages to look at, and bytes of values to try: of all pages, and of one page. */
#define SLICED_ESTIMATE_PAGES		SLICED_LIMIT(3000, 300)
#define SLICED_ESTIMATE_BYTES		SLICED_LIMIT(16 * 1024 * 1024, 1024 * 1024)
#define SLICED_ESTIMATE_PAGE_BYTES	SLICED_LIMIT(256 * 1024, 16 * 1024)

/* How much of a longer value to try. */
#define SLICED_ESTIMATE_PART		SLICED_LIMIT(4 * 1024 * 1024, 16 * 1024)

/* The toast_tuple_target to try where many rows are short. */
#define SLICED_ESTIMATE_TARGET		128

/* ---- conversion ---- */

/* The work of one transaction: bytes of values, and milliseconds. */
#define SLICED_CONVERT_BYTES		SLICED_LIMIT(8 * 1024 * 1024, 2048)
#define SLICED_CONVERT_MS			SLICED_LIMIT(200, 200)

/* ---- growth ---- */

/* Small slices are merged when the value grows past a multiple of this: a row or a few. */
#define SLICED_MERGE_BYTES			SLICED_LIMIT(8 * 1024, 256)

/*
 * All slices since the last multiple of this are merged when the value grows past the
 * next multiple: into a whole slice.
 */
#define SLICED_SEAL_BYTES			SLICED_LIMIT(128 * 1024, 1024)

/*
 * Longest tail: every update leaves a dead version of it, and pages need room for
 * that.
 */
#define SLICED_TAIL_MAX				SLICED_LIMIT(640, 48)

/*
 * Shortest tail with room to grow, and the number of additions like the first that it
 * has room for.
 */
#define SLICED_TAIL_MIN				SLICED_LIMIT(128, 16)
#define SLICED_TAIL_ADDITIONS		SLICED_LIMIT(16, 4)

/* ---- changes ---- */

/* Bytes that stay in the head: every change writes them again. */
#define SLICED_INLINE_REGION		SLICED_LIMIT(320, 32)

/*
 * A change with more runs is compared with what the old value takes, by the slices at
 * some places of it.  What compresses well may be cheaper to write anew.
 */
#define SLICED_MANY_RUNS			SLICED_LIMIT(256, 8)
#define SLICED_STORED_SAMPLES		4

/* Shorter values are written anew: they fit in two rows. */
#define SLICED_WORTH_SHARING		SLICED_LIMIT(3000, 48)

/* ---- trees: see tree/tree.h ---- */

/* Bytes of edits in a node that has children to take them. */
#define SLICED_NODE_LITERALS		SLICED_LIMIT(200, 16)

/* Bytes of a node with edits of one slice. */
#define SLICED_NODE_LEAF			SLICED_LIMIT(1000, 80)

/* Children of a node. */
#define SLICED_NODE_CHILDREN		SLICED_LIMIT(16, 3)

/* Bytes in a row that stay in a node; more become slices. */
#define SLICED_NODE_LITERAL			SLICED_LIMIT(256, 32)

/* A slice is written anew when it has a leaf for fewer stored bytes. */
#define SLICED_STORED_PER_LEAF		SLICED_LIMIT(4096, 64)

/* Neighbours of fewer bytes are joined, if there are this many. */
#define SLICED_SMALL_EXTENT			SLICED_LIMIT(8 * 1024, 64)
#define SLICED_SMALL_EXTENTS		SLICED_LIMIT(6, 3)

/*
 * All items of a node with more than this go down at once: child by child, that takes
 * the square of their number.
 */
#define SLICED_NODE_MANY			SLICED_LIMIT(512, 12)

/* ---- promises and ropes ---- */

/* Shorter results are built: they are likely to stay in the row. */
#define SLICED_PROMISE_MIN			SLICED_LIMIT(3000, 48)

/* Memory that all promises may take. */
#define SLICED_PROMISE_MEMORY		SLICED_LIMIT(64 * 1024 * 1024, 64 * 1024)

/* More places of the base than this are not read one by one ... */
#define SLICED_MANY_PLACES			SLICED_LIMIT(8, 2)

/*
 * ... but all from the first to the last, if that is at most this many times as much.
 */
#define SLICED_SPARSE				SLICED_LIMIT(4, 4)

/* Bytes of a rope that are made at once, which limits how much of the base is read. */
#define SLICED_ROPE_STEP			SLICED_LIMIT(16 * 1024 * 1024, 1024)

/*
 * The shortest run that is worth its entry in a node, and one for the bytes behind it.
 */
#define SLICED_RUN_WORTH			SLICED_LIMIT(24, 8)

/*
 * A list that has moved is stored as such if it has this many bytes.  Of a shorter
 * one we store the few words that are different: a moved list has to be read from its
 * beginning, or from an end on.
 */
#define SLICED_LIST_WORTH			SLICED_LIMIT(2048, 32)

/* Bytes in a row that are worth a look, where two values are compared. */
#define SLICED_SIMILAR				SLICED_LIMIT(256, 16)

/* ---- comparing whole values ---- */

/* Bytes to compare first, and then at a time: whole slices, mostly. */
#define SLICED_COMPARE_FIRST		SLICED_LIMIT(8 * 1024, 32)
#define SLICED_COMPARE_STEP			SLICED_LIMIT(128 * 1024, 512)

/* Values up to this length are read at once. */
#define SLICED_COMPARE_WHOLE		SLICED_LIMIT(32 * 1024, 128)

/*
 * Shorter runs that two values have in common are not worth an entry, except at both
 * ends.
 */
#define SLICED_COMMON_RUN			SLICED_LIMIT(128, 16)

/* Bytes of each sample of the old value, where the two differ for long. */
#define SLICED_COMMON_SAMPLE		SLICED_LIMIT(16 * 1024, 256)

/* If more bytes than this differ, it is worth looking closer, into a document. */
#define SLICED_COMPARE_CLOSER		SLICED_LIMIT(1024, 16)

/* After failures in a row, only one in 2^this values is compared. */
#define SLICED_COMPARE_BACKOFF		SLICED_LIMIT(8, 0)

/* Shorter containers are compared as a whole; shorter values share nothing. */
#define SLICED_SHORT_CONTAINER		SLICED_LIMIT(256, 16)
#define SLICED_SHORT_VALUE			SLICED_LIMIT(256, 16)

/* ---- documents ---- */

/*
 * Shorter documents are stored as they are; shorter values do not get slices of
 * their own.
 */
#define SLICED_CUT_MIN		SLICED_LIMIT(16 * 1024, 128)
#define SLICED_LONG_VALUE		SLICED_LIMIT(4096, 32)

/*
 * How many long values of a document get regions: this many, and one more for each so
 * many bytes, up to a maximum.  Each takes two pieces in the head.
 */
#define SLICED_REGIONS		SLICED_LIMIT(4, 2)
#define SLICED_REGIONS_EACH	SLICED_LIMIT(1024 * 1024, 1024)
#define SLICED_REGIONS_MAX	SLICED_LIMIT(32, 32)

/* Levels of a path, or of nested containers, that we look into. */
#define SLICED_LEVELS			SLICED_LIMIT(64, 4)

/* A container with more entries is not taken apart to be merged into another one. */
#define SLICED_FEW_ENTRIES		SLICED_LIMIT(64, 4)

/*
 * A container with more entries is not edited, since we make its new entries in
 * memory.
 */
#define SLICED_MAX_ENTRIES	SLICED_LIMIT(16 * 1024 * 1024, 1024)

/*
 * Arrays remember the place of one element in this many, if elements have different
 * lengths.
 */
#define SLICED_ARRAY_HINT_EACH		SLICED_LIMIT(128, 4)

/* Documents in memory: how many, and how long together if there is more than one. */
#define SLICED_DOCUMENTS			SLICED_LIMIT(8, 2)
#define SLICED_DOCUMENTS_TOGETHER	SLICED_LIMIT(64 * 1024 * 1024, 4096)

/*
 * Expressions that have documents at a time: those of a query, and of functions that
 * it calls.
 */
#define SLICED_DOCUMENT_OWNERS		SLICED_LIMIT(16, 2)

/* Bytes of a promise that are copied at a time into a document. */
#define SLICED_DOCUMENT_STEP		SLICED_LIMIT(4096, 64)

#if SLICED_COMPARE_FIRST > SLICED_COMPARE_STEP || SLICED_COMPARE_WHOLE > SLICED_COMPARE_STEP || \
	SLICED_COMMON_SAMPLE > SLICED_COMPARE_STEP
#error "what is compared at once must fit in one step"
#endif

#endif
