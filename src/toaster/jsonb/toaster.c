/*
 * toaster.c
 *	  The toaster of jsonb.
 */
#include "postgres.h"

#include "base/limits.h"
#include "base/toaster.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "toaster/jsonb/difference.h"
#include "toaster/jsonb/layout.h"
#include "toaster/subscript.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"

static const SlicedSwap swaps[] = {
	{SLICED_SWAP_READ, "jsonb_field", F_JSONB_OBJECT_FIELD},
	{SLICED_SWAP_READ, "jsonb_field_text", F_JSONB_OBJECT_FIELD_TEXT},
	{SLICED_SWAP_READ, "jsonb_element", F_JSONB_ARRAY_ELEMENT},
	{SLICED_SWAP_READ, "jsonb_element_text", F_JSONB_ARRAY_ELEMENT_TEXT},
	{SLICED_SWAP_READ, "jsonb_extract_path", F_JSONB_EXTRACT_PATH},
	{SLICED_SWAP_READ, "jsonb_extract_path_text", F_JSONB_EXTRACT_PATH_TEXT},
	{SLICED_SWAP_READ, "jsonb_exists", F_JSONB_EXISTS},
	{SLICED_SWAP_READ, "jsonb_exists_any", F_JSONB_EXISTS_ANY},
	{SLICED_SWAP_READ, "jsonb_exists_all", F_JSONB_EXISTS_ALL},
	{SLICED_SWAP_READ, "jsonb_typeof", F_JSONB_TYPEOF},
	{SLICED_SWAP_READ, "jsonb_array_length", F_JSONB_ARRAY_LENGTH},
	{SLICED_SWAP_READ, "jsonb_object_keys", F_JSONB_OBJECT_KEYS},
	{SLICED_SWAP_READ, "jsonb_contains", F_JSONB_CONTAINS},
	{SLICED_SWAP_READ, "jsonb_contained", F_JSONB_CONTAINED},
	{SLICED_SWAP_READ, "jsonb_path_exists", F_JSONB_PATH_EXISTS},
	{SLICED_SWAP_READ, "jsonb_path_exists_tz", F_JSONB_PATH_EXISTS_TZ},
	{SLICED_SWAP_READ, "jsonb_path_exists_opr", F_JSONB_PATH_EXISTS_OPR},
	{SLICED_SWAP_READ, "jsonb_path_match", F_JSONB_PATH_MATCH},
	{SLICED_SWAP_READ, "jsonb_path_match_tz", F_JSONB_PATH_MATCH_TZ},
	{SLICED_SWAP_READ, "jsonb_path_match_opr", F_JSONB_PATH_MATCH_OPR},
	{SLICED_SWAP_READ, "jsonb_path_query", F_JSONB_PATH_QUERY},
	{SLICED_SWAP_READ, "jsonb_path_query_tz", F_JSONB_PATH_QUERY_TZ},
	{SLICED_SWAP_READ, "jsonb_path_query_array", F_JSONB_PATH_QUERY_ARRAY},
	{SLICED_SWAP_READ, "jsonb_path_query_array_tz", F_JSONB_PATH_QUERY_ARRAY_TZ},
	{SLICED_SWAP_READ, "jsonb_path_query_first", F_JSONB_PATH_QUERY_FIRST},
	{SLICED_SWAP_READ, "jsonb_path_query_first_tz", F_JSONB_PATH_QUERY_FIRST_TZ},

	/* these return the place of the part; the next function needs no more */
	{SLICED_SWAP_PART, "jsonb_field_part", F_JSONB_OBJECT_FIELD},
	{SLICED_SWAP_PART, "jsonb_element_part", F_JSONB_ARRAY_ELEMENT},
	{SLICED_SWAP_PART, "jsonb_extract_path_part", F_JSONB_EXTRACT_PATH},

	{SLICED_SWAP_EDIT, "edit_jsonb_set", F_JSONB_SET},
	{SLICED_SWAP_EDIT, "edit_jsonb_set_lax", F_JSONB_SET_LAX},
	{SLICED_SWAP_EDIT, "edit_jsonb_insert", F_JSONB_INSERT},
	{SLICED_SWAP_EDIT, "edit_jsonb_concat", F_JSONB_CONCAT},
	{SLICED_SWAP_EDIT, "edit_jsonb_delete", F_JSONB_DELETE_JSONB_TEXT},
	{SLICED_SWAP_EDIT, "edit_jsonb_delete", F_JSONB_DELETE_JSONB_INT4},
	{SLICED_SWAP_EDIT, "edit_jsonb_delete", F_JSONB_DELETE_JSONB__TEXT},
	{SLICED_SWAP_EDIT, "edit_jsonb_delete_path", F_JSONB_DELETE_PATH},
	{SLICED_SWAP_EDIT, "edit_jsonb_build_object", F_JSONB_BUILD_OBJECT_ANY},
};

static Node *
subscript_as_text(Node *subscript)
{
	CoerceViaIO *coerce;
	Const	   *number = (Const *) subscript;

	if (exprType(subscript) != INT4OID)
		return subscript;
	if (IsA(subscript, Const))
		return (Node *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, number->constisnull ? 0 :
								  CStringGetTextDatum(psprintf("%d", DatumGetInt32(number->constvalue))),
								  number->constisnull, false);
	coerce = makeNode(CoerceViaIO);
	coerce->arg = (Expr *) subscript;
	coerce->resulttype = TEXTOID;
	coerce->resultcollid = DEFAULT_COLLATION_OID;
	coerce->coerceformat = COERCE_EXPLICIT_CAST;
	coerce->location = -1;
	return (Node *) coerce;
}

static Node *
subscripts_as_path(List *subscripts)
{
	ArrayExpr  *path = makeNode(ArrayExpr);
	ListCell   *lc;

	path->array_typeid = TEXTARRAYOID;
	path->array_collid = DEFAULT_COLLATION_OID;
	path->element_typeid = TEXTOID;
	path->location = -1;
	foreach(lc, subscripts)
		path->elements = lappend(path->elements, subscript_as_text(lfirst(lc)));
	return (Node *) path;
}

/* doc['a']['b'], and assignments of an UPDATE to it. */
static FuncExpr *
swap_subscript(SubscriptingRef *ref, SlicedSwapKind kind, SlicedSwapWork *work)
{
	Oid			args[] = {JSONBOID, JSONBOID, BOOLOID, TEXTARRAYOID};
	Oid			path_args[] = {JSONBOID, TEXTARRAYOID};
	Oid			function;
	FuncExpr   *call;

	if (ref->refcontainertype != JSONBOID || !sliced_subscripts_are_harmless(ref))
		return NULL;
	function = kind == SLICED_SWAP_EDIT ?
		work->function(work, "edit_jsonb_subscript", lengthof(args), args) :
		work->function(work, kind == SLICED_SWAP_PART ? "jsonb_extract_path_part" : "jsonb_extract_path",
					   lengthof(path_args), path_args);
	if (!OidIsValid(function))
		return NULL;
	call = sliced_subscript_call(function, JSONBOID, kind != SLICED_SWAP_EDIT ?
								 list_make2(ref->refexpr, subscripts_as_path(ref->refupperindexpr)) :
								 list_make4(ref->refexpr, ref->refassgnexpr,
											makeBoolConst(exprType(linitial(ref->refupperindexpr)) == INT4OID, false),
											subscripts_as_path(ref->refupperindexpr)));
	call->funcvariadic = true;
	return call;
}

/*
 * The document argument of JSON_VALUE and the like.  The result has bytes that were
 * never read, so the function has an argument of type internal: users cannot call it.
 * It looks like an implicit cast, so EXPLAIN shows only the document.
 */
static FuncExpr *
swap_document(Node *document, Node *path, SlicedSwapWork *work)
{
	Oid			args[] = {JSONBOID, JSONPATHOID, INTERNALOID};
	Oid			function;
	FuncExpr   *call;

	if (exprType(document) != JSONBOID || (path != NULL && exprType(path) != JSONPATHOID))
		return NULL;
	function = work->function(work, "jsonb_for_query", lengthof(args), args);
	if (!OidIsValid(function))
		return NULL;
	call = sliced_subscript_call(function, JSONBOID,
								 list_make3(document, path != NULL ? copyObject(path) :
											(Node *) makeNullConst(JSONPATHOID, -1, InvalidOid),
											makeNullConst(INTERNALOID, -1, InvalidOid)));
	call->funcformat = COERCE_IMPLICIT_CAST;
	return call;
}

static const SlicedToaster toaster = {
	.api = SLICED_TOASTER_API,
	.policy = {
		.cut = sliced_jsonb_cut,
		.cut_min = SLICED_CUT_MIN
	},
	.difference = sliced_jsonb_difference,
	.swaps = swaps,
	.nswaps = lengthof(swaps),
	.swap_subscript = swap_subscript,
	.swap_document = swap_document
};

PG_FUNCTION_INFO_V1(sliced_jsonb_toaster);

Datum
sliced_jsonb_toaster(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&toaster);
}
