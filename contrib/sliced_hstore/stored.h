/*
 * stored.h
 *	  The pairs of an hstore that is stored in slices, and where they are.
 *
 * After the varlena header come a word with the number of pairs, two entries for each
 * pair, which say where its key and its value end, and then keys and values, one
 * after the other.  Pairs are sorted by the length of the key, then by its bytes, so
 * a key is found in log(n) steps. hstore.h has the details.
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
 * Open the hstore at a function's argument if it is a value in slices.  False if it
 * is anything else, or has an old format: then the caller uses hstore's own
 * functions.
 */
extern bool stored_hstore_argument(FunctionCallInfo fcinfo, int arg, StoredHstore *h);

/* The same for a document. */
extern bool stored_hstore_open(SlicedDocument *doc, StoredHstore *h);

/* The end of the strings of pairs before number 'i'. */
extern uint32 stored_hstore_end(const StoredHstore *h, uint32 i);

/* Entry 'i', of 2 * count, and those after it up to number 'upto'. */
extern const HEntry *stored_hstore_entries(const StoredHstore *h, uint32 i, uint32 upto);

extern StoredPair stored_hstore_pair(const StoredHstore *h, uint32 i);

/* Bytes [start, end) of the strings. */
extern const char *stored_hstore_bytes(const StoredHstore *h, uint32 start, uint32 end);

/*
 * Set '*i' to the pair that has this key.  If none has, returns false, and '*i' is
 * the first pair with a greater key.  The search begins at '*i', so keys in order are
 * found one after another.
 */
extern bool stored_hstore_find(const StoredHstore *h, const char *key, uint32 len, uint32 *i);

/* True if pair 'i' has the value of 'pair', which is in memory. */
extern bool stored_hstore_has_value(const StoredHstore *h, uint32 i, const Pairs *pair);

/* ---- for the toaster (toaster.c) ---- */

/* How to cut these bytes: see layout.c. */
extern int	stored_hstore_cut(const char *raw, uint32 len, SlicedCut **cuts, int *ncuts);

#define CUT_MIN		(16 * 1024)	/* shorter hstores are not cut */

/* ---- hstores in memory ---- */

/* A function of hstore's library.  It is looked up while '*place' is NULL. */
extern void *hstore_symbol(void **place, const char *name);

extern HStore *hstore_in_memory(Datum datum);

/*
 * These bytes, after room for a varlena header, as an hstore of the present format;
 * NULL if they are not one.  Checks the bytes, because no other function has.
 */
extern HStore *hstore_of_bytes(const char *raw, uint32 len);

extern HStore *hstore_of_pairs(Pairs *pairs, int npairs);

/* Their pairs, sorted.  Of an array of keys, without NULLs and duplicates. */
extern Pairs *pairs_of_hstore(HStore *hstore, int *npairs);
extern Pairs *pairs_of_keys(ArrayType *keys, int *npairs);

#endif
