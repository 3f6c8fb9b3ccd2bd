/*
 * hostile.c
 *	  Toasters that do what no toaster may: each is made by a function of its name.
 *
 * They are for json, which has no other toaster, and for subscripts of
 * hstore.
 */
#include "postgres.h"

#include "access/table.h"
#include "base/toaster.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"

PG_MODULE_MAGIC;

/* ---- functions that make toasters ---- */

#define HANDLER(name, result) \
	PG_FUNCTION_INFO_V1(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		result; \
	}

#define TOASTER(name, ...) \
	static const SlicedToaster name##_toaster = {.api = SLICED_TOASTER_API, __VA_ARGS__}; \
	HANDLER(name, PG_RETURN_POINTER(&name##_toaster))

static const SlicedToaster from_the_future = {.api = SLICED_TOASTER_API + 98};

HANDLER(fails, ereport(ERROR, errmsg("out of luck")))
HANDLER(is_null, PG_RETURN_NULL())
HANDLER(is_nothing, PG_RETURN_POINTER(NULL))
HANDLER(other_api, PG_RETURN_POINTER(&from_the_future))
TOASTER(no_swaps, .nswaps = 3)
TOASTER(fewer_than_no_swaps, .swaps = (const SlicedSwap *) &from_the_future, .nswaps = -1)

static const SlicedSwap no_kind[] = {{77, "json_text", F_JSON_OBJECT_FIELD_TEXT}};
static const SlicedSwap no_name[] = {{SLICED_SWAP_READ, NULL, F_JSON_OBJECT_FIELD_TEXT}};
static const SlicedSwap no_function[] = {{SLICED_SWAP_READ, "json_text", InvalidOid, NULL}};

TOASTER(swap_of_no_kind, .swaps = no_kind, .nswaps = 1)
TOASTER(swap_without_name, .swaps = no_name, .nswaps = 1)
TOASTER(swap_of_nothing, .swaps = no_function, .nswaps = 1)

/* all that is remembered of toasters is looked up anew while this one is being called */
HANDLER(changes_all,
		static const SlicedToaster toaster = {.api = SLICED_TOASTER_API};

		InvalidateSystemCaches();
		sliced_api()->toaster_of_type(TEXTOID);
		PG_RETURN_POINTER(&toaster))

static void
refuse_external(Oid type, char storage)
{
	if (storage == TYPSTORAGE_EXTERNAL)
		ereport(ERROR, errmsg("%s with this storage is not for me", format_type_be(type)));
}

TOASTER(validates, .validate = refuse_external)

/* ---- cuts ---- */

static int
give_cuts(SlicedCut **cuts, int *ncuts, SlicedCut a, SlicedCut b, int nregions)
{
	*cuts = palloc(2 * sizeof(SlicedCut));
	(*cuts)[0] = a;
	(*cuts)[1] = b;
	*ncuts = 2;
	return nregions;
}

#define CUTTER(name, a_start, a_len, a_region, b_start, b_len, b_region, nregions) \
	static int \
	name##_cut(const char *raw, uint32 len, SlicedCut **cuts, int *ncuts) \
	{ \
		return give_cuts(cuts, ncuts, (SlicedCut) {a_start, a_len, a_region}, \
						 (SlicedCut) {b_start, b_len, b_region}, nregions); \
	} \
	TOASTER(name, .policy = {.cut = name##_cut, .cut_min = 4000})

CUTTER(cuts_overlap, 0, 2000, 0, 1000, len - 1000, 1, 2)
CUTTER(cuts_leave_a_gap, 0, 2000, 0, 2001, len - 2001, 1, 2)
CUTTER(cuts_end_early, 0, 2000, 0, 2000, len - 2001, 1, 2)
CUTTER(cuts_go_beyond, 0, 2000, 0, 2000, len - 1999, 1, 2)
CUTTER(cuts_go_round, 0, 2000, 0, 2000, (uint32) -2000, 1, 2)
CUTTER(cuts_of_no_region, 0, 2000, 0, 2000, len - 2000, 2, 2)
CUTTER(cuts_of_less_than_no_region, 0, 2000, -1, 2000, len - 2000, 1, 2)
CUTTER(cuts_of_a_billion_regions, 0, 2000, 0, 2000, len - 2000, 1, 1000000000)
CUTTER(cuts_of_negative_regions, 0, 2000, 0, 2000, len - 2000, 1, -1)
CUTTER(cuts_skip_a_region, 0, 2000, 0, 2000, len - 2000, 0, 2)
CUTTER(cuts_of_nothing, 0, 0, 0, 0, len, 1, 2)
/* this one is all right */
CUTTER(cuts_are_sound, 0, 2000, 1, 2000, len - 2000, 0, 2)

static int
no_cuts(const char *raw, uint32 len, SlicedCut **cuts, int *ncuts)
{
	*ncuts = 1;
	return 1;
}

static int
fewer_than_no_cuts(const char *raw, uint32 len, SlicedCut **cuts, int *ncuts)
{
	*ncuts = -1;
	*cuts = palloc(sizeof(SlicedCut));
	return -5;
}

static int
many_cuts(const char *raw, uint32 len, SlicedCut **cuts, int *ncuts)
{
	*ncuts = SLICED_MAX_CUTS + 1;
	*cuts = palloc(*ncuts * sizeof(SlicedCut));
	for (int i = 0; i < *ncuts; i++)
		(*cuts)[i] = (SlicedCut) {i, i == SLICED_MAX_CUTS ? len - i : 1, i % 2};
	return 2;
}

/* regions 0 and 1 by turns: 'cuts' of them */
static int
cut_by_turns(const char *raw, uint32 len, SlicedCut **cuts, int *ncuts, int n)
{
	*ncuts = n;
	*cuts = palloc(n * sizeof(SlicedCut));
	for (int i = 0; i < n; i++)
		(*cuts)[i] = (SlicedCut) {i * 50, i == n - 1 ? len - i * 50 : 50, i % 2};
	return 2;
}

static int
cross(const char *raw, uint32 len, SlicedCut **cuts, int *ncuts)
{
	return cut_by_turns(raw, len, cuts, ncuts, 4);
}

static int
enclose(const char *raw, uint32 len, SlicedCut **cuts, int *ncuts)
{
	return cut_by_turns(raw, len, cuts, ncuts, 3);
}

static int
fail_to_cut(const char *raw, uint32 len, SlicedCut **cuts, int *ncuts)
{
	ereport(ERROR, errmsg("out of luck"));
}

TOASTER(cuts_cross, .policy = {.cut = cross, .cut_min = 4000})
TOASTER(cuts_enclose, .policy = {.cut = enclose, .cut_min = 4000})
TOASTER(cuts_are_nowhere, .policy = {.cut = no_cuts, .cut_min = 4000})
TOASTER(cuts_are_fewer_than_none, .policy = {.cut = fewer_than_no_cuts, .cut_min = 4000})
TOASTER(cuts_are_many, .policy = {.cut = many_cuts, .cut_min = 4000})
TOASTER(cut_fails, .policy = {.cut = fail_to_cut, .cut_min = 4000})

/* ---- differences ---- */

static SlicedRope *
whole(SlicedDocument *old, const char *raw, uint32 len)
{
	return sliced_api()->rope_of_document(old);
}

/* the bytes of the first new value, as a change of the old one at that time */
static SlicedRope *
of_another_value(SlicedDocument *old, const char *raw, uint32 len)
{
	static SlicedRope *first = NULL;

	if (first == NULL)
	{
		MemoryContext mcxt = MemoryContextSwitchTo(TopMemoryContext);

		first = sliced_api()->rope_begin(sliced_api()->rope_of_document(old));
		sliced_api()->rope_add_rope(first, sliced_api()->rope_of_document(old), 0, 20000);
		sliced_api()->rope_add_bytes(first, memcpy(palloc(len - 20000), raw + 20000, len - 20000), len - 20000);
		MemoryContextSwitchTo(mcxt);
	}
	return first;
}

static SlicedRope *
of_same_length(SlicedDocument *old, const char *raw, uint32 len)
{
	const SlicedRope *rope = sliced_api()->rope_of_document(old);
	SlicedRope *result = sliced_api()->rope_begin(rope);

	sliced_api()->rope_add_rope(result, rope, 0, len - 5);
	sliced_api()->rope_add_bytes(result, "wrong", 5);
	return result;
}

static SlicedRope *
beyond(SlicedDocument *old, const char *raw, uint32 len)
{
	const SlicedRope *rope = sliced_api()->rope_of_document(old);
	SlicedRope *result = sliced_api()->rope_begin(rope);

	sliced_api()->rope_add_rope(result, rope, sliced_api()->document_size(old) - 5, 6);
	return result;
}

static SlicedRope *
look_beyond(SlicedDocument *old, const char *raw, uint32 len)
{
	sliced_api()->document_need(old, 10, PG_UINT32_MAX);
	return NULL;
}

static SlicedRope *
fail_to_compare(SlicedDocument *old, const char *raw, uint32 len)
{
	ereport(ERROR, errmsg("out of luck"));
}

TOASTER(difference_is_none, .difference = whole)
TOASTER(difference_is_wrong, .difference = of_same_length)
TOASTER(difference_of_another, .difference = of_another_value)
TOASTER(difference_goes_beyond, .difference = beyond)
TOASTER(difference_looks_beyond, .difference = look_beyond)
TOASTER(difference_fails, .difference = fail_to_compare)

/* ---- functions that take the place of others ---- */

static const SlicedSwap swaps[] = {
	{SLICED_SWAP_READ, "json_text", F_JSON_OBJECT_FIELD_TEXT},
	{SLICED_SWAP_READ, "json_kind", F_JSON_TYPEOF},
	{SLICED_SWAP_READ, "json_count", F_JSON_ARRAY_LENGTH},
	{SLICED_SWAP_EDIT, "json_change", F_JSON_STRIP_NULLS},
};

TOASTER(swaps_functions, .swaps = swaps, .nswaps = lengthof(swaps))

static const SlicedSwap swaps_of_all_kinds[] = {
	{SLICED_SWAP_READ, "no_such", F_JSON_OBJECT_FIELD_TEXT},
	{SLICED_SWAP_READ, "json_text", F_JSON_OBJECT_FIELD_TEXT},
	{SLICED_SWAP_READ, "json_text", F_JSON_OBJECT_FIELD_TEXT},
	{SLICED_SWAP_READ, "json_text", InvalidOid, "no_such"},
	{SLICED_SWAP_READ, "json_text", PG_UINT32_MAX},
	{SLICED_SWAP_READ, "json_text", F_COUNT_ANY},
};

TOASTER(swaps_twice, .swaps = swaps_of_all_kinds, .nswaps = lengthof(swaps_of_all_kinds))

/* results that are wrong */
HANDLER(read_nothing, PG_RETURN_NULL())
HANDLER(read_something, PG_RETURN_TEXT_P(cstring_to_text("something")))
HANDLER(read_beginning, PG_RETURN_TEXT_P(cstring_to_text("obj")))
HANDLER(read_longer, PG_RETURN_TEXT_P(cstring_to_text("objects")))
HANDLER(read_one, PG_RETURN_INT32(1))
HANDLER(edit_nothing, return sliced_api()->result_unchanged(fcinfo))

HANDLER(edit_first_byte,
		const SlicedRope *rope = sliced_api()->rope_of_document(sliced_api()->document(fcinfo, 0));
		SlicedRope *result = sliced_api()->rope_begin(rope);

		sliced_api()->rope_add_bytes(result, "!", 1);
		sliced_api()->rope_add_rope(result, rope, 1, sliced_api()->document_size(sliced_api()->document(fcinfo, 0)) - 1);
		return sliced_api()->result_rope(fcinfo, result))

HANDLER(edit_twice,
		const SlicedRope *rope = sliced_api()->rope_of_document(sliced_api()->document(fcinfo, 0));
		SlicedRope *result = sliced_api()->rope_begin(rope);

		sliced_api()->rope_add_rope(result, rope, 0, sliced_api()->document_size(sliced_api()->document(fcinfo, 0)));
		sliced_api()->rope_add_rope(result, rope, 0, sliced_api()->document_size(sliced_api()->document(fcinfo, 0)));
		return sliced_api()->result_rope(fcinfo, result))

HANDLER(read_beyond,
		SlicedDocument *doc = sliced_api()->document(fcinfo, 0);

		sliced_api()->document_need(doc, sliced_api()->document_size(doc), 1);
		PG_RETURN_NULL())

HANDLER(read_argument_before,
		sliced_api()->document(fcinfo, -1);
		PG_RETURN_NULL())

/* true if the argument is a value of ours */
HANDLER(has_document, PG_RETURN_BOOL(sliced_api()->document(fcinfo, 0) != NULL))

/* the toaster of the table's second column is that of its type */
HANDLER(finds_toasters,
		Relation rel = table_open(PG_GETARG_OID(0), AccessShareLock);
		Oid type = TupleDescAttr(RelationGetDescr(rel), 1)->atttypid;
		bool same = sliced_api()->toaster_of_column(rel, 2) == sliced_api()->toaster_of_type(type);

		table_close(rel, AccessShareLock);
		PG_RETURN_BOOL(same))

/* what core says of a whole document */
HANDLER(read_by_core,
		SlicedDocument *doc = sliced_api()->document(fcinfo, 0);

		if (doc != NULL)
		{
			sliced_api()->document_need(doc, 0, sliced_api()->document_size(doc));
			fcinfo->args[0].value = sliced_api()->document_datum(doc);
		}
		return json_object_field_text(fcinfo))

HANDLER(read_no_argument,
		sliced_api()->document(fcinfo, 5);
		PG_RETURN_NULL())

HANDLER(edit_beyond,
		const SlicedRope *rope = sliced_api()->rope_of_document(sliced_api()->document(fcinfo, 0));
		SlicedRope *result = sliced_api()->rope_begin(rope);

		sliced_api()->rope_add_rope(result, rope, 1000000000, 1);
		return sliced_api()->result_rope(fcinfo, result))

HANDLER(edit_huge,
		SlicedRope *rope = sliced_api()->rope_of_document(sliced_api()->document(fcinfo, 0));

		sliced_api()->rope_add_bytes(rope, "", 1 << 30);
		return sliced_api()->result_rope(fcinfo, rope))

/* the rope of another value, of the row before */
HANDLER(edit_of_another,
		static SlicedRope *last = NULL;
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
		SlicedRope *rope = sliced_api()->rope_of_document(sliced_api()->document(fcinfo, 0));

		MemoryContextSwitchTo(old);
		if (last != NULL)
			sliced_api()->rope_add_rope(rope, last, 0, 1);
		last = rope;
		return sliced_api()->result_rope(fcinfo, rope))

/* ---- subscripts ---- */

static FuncExpr *
fail_to_swap(SubscriptingRef *ref, SlicedSwapKind kind, SlicedSwapWork *work)
{
	ereport(ERROR, errmsg("out of luck"));
}

/* a function of another type that no toaster offers */
static FuncExpr *
call_anything(SubscriptingRef *ref, SlicedSwapKind kind, SlicedSwapWork *work)
{
	return makeFuncExpr(F_NOW, ref->refrestype, NIL, InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

static FuncExpr *
call_nothing(SubscriptingRef *ref, SlicedSwapKind kind, SlicedSwapWork *work)
{
	return (FuncExpr *) makeNullConst(ref->refrestype, -1, InvalidOid);
}

static FuncExpr *
call_of_another_type(SubscriptingRef *ref, SlicedSwapKind kind, SlicedSwapWork *work)
{
	return makeFuncExpr(F_NOW, TIMESTAMPTZOID, NIL, InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

TOASTER(subscript_is_no_call, .swap_subscript = call_nothing)
TOASTER(subscript_is_of_another_type, .swap_subscript = call_of_another_type)
TOASTER(subscript_fails, .swap_subscript = fail_to_swap)
TOASTER(subscript_is_anything, .swap_subscript = call_anything)

/* ---- documents ---- */

static FuncExpr *
call_with_document(Node *document, Node *path, SlicedSwapWork *work)
{
	return makeFuncExpr(F_NOW, exprType(document), NIL, InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

TOASTER(document_is_anything, .swap_document = call_with_document)
