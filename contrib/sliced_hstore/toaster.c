/*
 * toaster.c
 *	  The toaster of hstore, for pg_sliced.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "stored.h"

PG_MODULE_MAGIC;

/* Our functions, and those they replace, found by name in hstore's schema. */
static const SlicedSwap swaps[] = {
	{SLICED_SWAP_READ, "sliced_hstore_fetchval", InvalidOid, "fetchval"},
	{SLICED_SWAP_READ, "sliced_hstore_slice_array", InvalidOid, "slice_array"},
	{SLICED_SWAP_READ, "sliced_hstore_slice", InvalidOid, "slice"},
	{SLICED_SWAP_READ, "sliced_hstore_exist", InvalidOid, "exist"},
	{SLICED_SWAP_READ, "sliced_hstore_exist", InvalidOid, "isexists"},
	{SLICED_SWAP_READ, "sliced_hstore_defined", InvalidOid, "defined"},
	{SLICED_SWAP_READ, "sliced_hstore_defined", InvalidOid, "isdefined"},
	{SLICED_SWAP_READ, "sliced_hstore_exists_any", InvalidOid, "exists_any"},
	{SLICED_SWAP_READ, "sliced_hstore_exists_all", InvalidOid, "exists_all"},
	{SLICED_SWAP_READ, "sliced_hstore_contains", InvalidOid, "hs_contains"},
	{SLICED_SWAP_READ, "sliced_hstore_contained", InvalidOid, "hs_contained"},
	{SLICED_SWAP_EDIT, "sliced_hstore_concat", InvalidOid, "hs_concat"},
	{SLICED_SWAP_EDIT, "sliced_hstore_delete", InvalidOid, "delete"},
};

/* Replace h[key], and h[key] as the target of an UPDATE's assignment. */
static FuncExpr *
swap_subscript(SubscriptingRef *ref, SlicedSwapKind kind, SlicedSwapWork *work)
{
	Oid			args[] = {ref->refcontainertype, TEXTOID, TEXTOID};
	Oid			function;
	Expr	   *key;

	/* hstore has no others */
	Assert(list_length(ref->refupperindexpr) == 1 && ref->reflowerindexpr == NIL);
	if (!sliced_api()->subscripts_are_harmless(ref))
		return NULL;
	function = kind == SLICED_SWAP_EDIT ?
		work->function(work, "sliced_hstore_assign", 3, args) :
		work->function(work, "sliced_hstore_fetchval", 2, args);
	if (!OidIsValid(function))
		return NULL;
	key = linitial(ref->refupperindexpr);
	return makeFuncExpr(function, ref->refrestype,
						kind == SLICED_SWAP_EDIT ? list_make3(ref->refexpr, key, ref->refassgnexpr) :
						list_make2(ref->refexpr, key),
						ref->refcollid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/* ---- an UPDATE that brings the whole new value ---- */

typedef struct Comparison
{
	const StoredHstore *old;
	const SlicedRope *whole;	/* the same as a rope */
	SlicedRope *rope;
} Comparison;

/* Add bytes of the new hstore that take the place of old bytes [start, end). */
static void
add_changed(Comparison *c, uint32 start, uint32 end, const char *bytes, uint32 len)
{
	sliced_api()->rope_add_changed(c->rope, bytes, len, c->old->doc, c->whole, start, end - start);
}

/*
 * Pairs of the same key are likely to have the same value.  The entries come before
 * them, and are the same up to the first pair that has moved.
 */
static SlicedRope *
difference(SlicedDocument *doc, const char *raw, uint32 len)
{
	HStore	   *new = hstore_of_bytes(raw, len);
	StoredHstore old;
	Comparison	c = {.old = &old};
	Pairs	   *pairs;
	int			npairs;
	uint32		at = 0;

	if (new == NULL || !stored_hstore_open(doc, &old))
		return NULL;
	c.whole = sliced_api()->rope_of_document(doc);
	c.rope = sliced_api()->rope_begin(c.whole);
	add_changed(&c, 0, old.strings, raw, STRPTR(new) - raw);
	pairs = pairs_of_hstore(new, &npairs);
	for (int i = 0; i < npairs; i++)
	{
		Pairs	   *pair = &pairs[i];
		StoredPair	was = {.key = 0};

		/* a key and its value are neighbours */
		if (stored_hstore_find(&old, pair->key, pair->keylen, &at))
			was = stored_hstore_pair(&old, at);
		add_changed(&c, old.strings + was.key, old.strings + was.end, pair->key,
					pair->keylen + pair->vallen);
	}
	return c.rope;
}

static const SlicedToaster toaster = {
	.api = SLICED_TOASTER_API,
	.policy = {
		.cut = stored_hstore_cut,
		.cut_min = CUT_MIN
	},
	.difference = difference,
	.swaps = swaps,
	.nswaps = lengthof(swaps),
	.swap_subscript = swap_subscript
};

PG_FUNCTION_INFO_V1(hstore_toaster);

Datum
hstore_toaster(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&toaster);
}
