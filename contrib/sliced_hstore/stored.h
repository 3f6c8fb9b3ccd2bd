/*
 * stored.h
 *	  An hstore that is stored in slices: where its pairs are.
 *
 * Its bytes, behind the varlena header, are a word with the number of pairs, two
 * entries for each pair, which say where its key and its value end, and then keys
 * and values, one after the other.  Pairs are sorted by the length of the key, then
 * by its bytes, so a key is found in log(n) steps.  hstore.h has the details.
 */
#ifndef SLICED_HSTORE_STORED_H
#define SLICED_HSTORE_STORED_H

#include "postgres.h"

#include "extension/hstore/hstore.h"
#include "extension/pg_sliced/toaster.h"

typedef struct StoredHstore
{
	SlicedDocument *doc;
	uint32		size;			/* bytes in all */
	uint32		count;			/* pairs */
	uint32		strings;		/* where keys and values begin */
} StoredHstore;

/* Bytes [key, value) of the strings are a key, [value, end) its value. */
typedef struct StoredPair
{
	uint32		key;
	uint32		value;
	uint32		end;
	bool		isnull;
} StoredPair;

/*
 * The hstore at a function's argument, if that is a value in slices.  False if it is
 * anything else, or of an old format: hstore's own functions know what to do.
 */
extern bool stored_hstore_argument(FunctionCallInfo fcinfo, int arg, StoredHstore *h);

/* The same of a document. */
extern bool stored_hstore_open(SlicedDocument *doc, StoredHstore *h);

/* Where the strings of pairs before number 'i' end. */
extern uint32 stored_hstore_end(const StoredHstore *h, uint32 i);

/* Entry 'i', of 2 * count, and those behind it up to number 'upto'. */
extern const HEntry *stored_hstore_entries(const StoredHstore *h, uint32 i, uint32 upto);

extern StoredPair stored_hstore_pair(const StoredHstore *h, uint32 i);

/* Bytes [start, end) of the strings. */
extern const char *stored_hstore_bytes(const StoredHstore *h, uint32 start, uint32 end);

/*
 * Which pair has this key?  If none has, '*i' is the first one with a greater key.
 * '*i' says where to begin, so keys that come in order are found one after another.
 */
extern bool stored_hstore_find(const StoredHstore *h, const char *key, uint32 len, uint32 *i);

/* Pair 'i' has the value of 'pair', which is in memory. */
extern bool stored_hstore_has_value(const StoredHstore *h, uint32 i, const Pairs *pair);

/* ---- for the toaster (toaster.c) ---- */

/* How to cut these bytes: see layout.c. */
extern int	stored_hstore_cut(const char *raw, uint32 len, SlicedCut **cuts, int *ncuts);

#define CUT_MIN		(16 * 1024)	/* shorter hstores are not cut */

/* ---- hstores in memory ---- */

/* A function of hstore's library, which is looked up when '*place' is still NULL. */
extern void *hstore_symbol(void **place, const char *name);

extern HStore *hstore_in_memory(Datum datum);

/*
 * These bytes, behind a varlena header, are an hstore of the present format; NULL if
 * they are not.  Nobody else has looked at them.
 */
extern HStore *hstore_of_bytes(const char *raw, uint32 len);

extern HStore *hstore_of_pairs(Pairs *pairs, int npairs);

/* Their pairs, sorted; of an array of keys, without NULLs and what is there twice. */
extern Pairs *pairs_of_hstore(HStore *hstore, int *npairs);
extern Pairs *pairs_of_keys(ArrayType *keys, int *npairs);

#endif
