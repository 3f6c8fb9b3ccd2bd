/*
 * read_functions.c
 *	  Functions of core that look at a part of a jsonb document, without reading
 *	  the rest.
 *
 * As in toaster/text/read_functions.c, each does what core's function does, and
 * leaves to core all calls that it cannot do better.  Where core's code does well
 * once it has the bytes, we call it with the document, in which just the bytes are
 * present that it looks at.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/string.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "toaster/jsonb/jsonpath.h"
#include "toaster/jsonb/part.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

/* A function that consists of a call. */
#define JSONB_FUNCTION(name, result) \
	PG_FUNCTION_INFO_V1(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		return result; \
	}

/* ---- results ---- */

/* Makes the result of a function from the place it has found. */
typedef Datum (*MakeResult) (FunctionCallInfo fcinfo, SlicedDocument *doc, const SlicedPlace *place);

static Datum
as_jsonb(FunctionCallInfo fcinfo, SlicedDocument *doc, const SlicedPlace *place)
{
	JsonbValue	value;

	sliced_place_value(doc, place, &value);
	PG_RETURN_JSONB_P(JsonbValueToJsonb(&value));
}

/* The result for another function of ours, which can work on a part. */
static Datum
as_part(FunctionCallInfo fcinfo, SlicedDocument *doc, const SlicedPlace *place)
{
	return sliced_place_is_container(place) ? sliced_part_make(doc, place) :
		as_jsonb(fcinfo, doc, place);
}

static Datum
as_text(FunctionCallInfo fcinfo, SlicedDocument *doc, const SlicedPlace *place)
{
	JsonbValue	value;

	sliced_place_value(doc, place, &value);
	switch (value.type)
	{
		case jbvNull:
			PG_RETURN_NULL();
		case jbvString:
			PG_RETURN_TEXT_P(cstring_to_text_with_len(value.val.string.val,
													  value.val.string.len));
		case jbvBool:
			PG_RETURN_TEXT_P(cstring_to_text(value.val.boolean ? "true" : "false"));
		case jbvNumeric:
			PG_RETURN_TEXT_P(cstring_to_text(DatumGetCString(
				DirectFunctionCall1(numeric_out, NumericGetDatum(value.val.numeric)))));
		default:
			PG_RETURN_TEXT_P(cstring_to_text(JsonbToCString(NULL, value.val.binary.data,
															value.val.binary.len)));
	}
}

/* ---- one step: -> and ->> ---- */

static Datum
jsonb_field(FunctionCallInfo fcinfo, PGFunction core, MakeResult result)
{
	SlicedJsonbNode	node;
	SlicedPlace place;
	text	   *key;

	if (!sliced_part_get(fcinfo, 0, &node))
		return core(fcinfo);
	key = PG_GETARG_TEXT_PP(1);
	if (!sliced_node_field(&node, VARDATA_ANY(key), VARSIZE_ANY_EXHDR(key), &place))
		PG_RETURN_NULL();
	return result(fcinfo, node.doc, &place);
}

static Datum
jsonb_element(FunctionCallInfo fcinfo, PGFunction core, MakeResult result)
{
	SlicedJsonbNode	node;
	SlicedPlace place;

	if (!sliced_part_get(fcinfo, 0, &node))
		return core(fcinfo);
	if (!sliced_node_element(&node, PG_GETARG_INT32(1), &place))
		PG_RETURN_NULL();
	return result(fcinfo, node.doc, &place);
}

JSONB_FUNCTION(sliced_jsonb_field, jsonb_field(fcinfo, jsonb_object_field, as_jsonb))
JSONB_FUNCTION(sliced_jsonb_field_part, jsonb_field(fcinfo, jsonb_object_field, as_part))
JSONB_FUNCTION(sliced_jsonb_field_text, jsonb_field(fcinfo, jsonb_object_field_text, as_text))
JSONB_FUNCTION(sliced_jsonb_element, jsonb_element(fcinfo, jsonb_array_element, as_jsonb))
JSONB_FUNCTION(sliced_jsonb_element_part, jsonb_element(fcinfo, jsonb_array_element, as_part))
JSONB_FUNCTION(sliced_jsonb_element_text, jsonb_element(fcinfo, jsonb_array_element_text, as_text))

/* ---- several steps: #>, #>>, jsonb_extract_path(), subscripts ---- */

/* Go one step of a path. */
static bool
step_into(const SlicedJsonbNode *node, text *name, SlicedPlace *place)
{
	char	   *digits;
	char	   *end;
	int			index;

	if (sliced_node_is_object(node))
		return sliced_node_field(node, VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name), place);
	if (sliced_node_is_scalar(node))
		return false;
	digits = text_to_cstring(name);
	errno = 0;
	index = strtoint(digits, &end, 10);
	return end != digits && *end == '\0' && errno == 0 &&
		sliced_node_element(node, index, place);
}

static Datum
jsonb_at_path(FunctionCallInfo fcinfo, PGFunction core, MakeResult result)
{
	SlicedJsonbNode	node;
	SlicedPlace place;
	ArrayType  *names = PG_GETARG_ARRAYTYPE_P(1);
	ArrayIterator iterator;
	Datum		name;
	bool		isnull;

	/* without steps core returns its argument, so that must not be a part of ours */
	if (ArrayGetNItems(ARR_NDIM(names), ARR_DIMS(names)) == 0 || array_contains_nulls(names) ||
		!sliced_part_get(fcinfo, 0, &node))
		return core(fcinfo);

	iterator = array_create_iterator(names, 0, NULL);
	for (bool first = true; array_iterate(iterator, &name, &isnull); first = false)
	{
		if (!first && !sliced_place_is_container(&place))
			PG_RETURN_NULL();
		if (!first)
			node = sliced_node_open(node.doc, place.start);
		if (!step_into(&node, DatumGetTextPP(name), &place))
			PG_RETURN_NULL();
	}
	return result(fcinfo, node.doc, &place);
}

JSONB_FUNCTION(sliced_jsonb_extract_path, jsonb_at_path(fcinfo, jsonb_extract_path, as_jsonb))
JSONB_FUNCTION(sliced_jsonb_extract_path_part, jsonb_at_path(fcinfo, jsonb_extract_path, as_part))
JSONB_FUNCTION(sliced_jsonb_extract_path_text, jsonb_at_path(fcinfo, jsonb_extract_path_text, as_text))

/* ---- questions: ?, ?|, ?&, jsonb_typeof() and the like ---- */

static bool
has_key(const SlicedJsonbNode *node, Datum key)
{
	text	   *name = DatumGetTextPP(key);
	uint32		i;

	return sliced_node_find_key(node, VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name), &i);
}

PG_FUNCTION_INFO_V1(sliced_jsonb_exists);

Datum
sliced_jsonb_exists(PG_FUNCTION_ARGS)
{
	SlicedJsonbNode	node;

	/* core compares an array's strings one by one */
	if (!sliced_part_get(fcinfo, 0, &node) || !sliced_node_is_object(&node))
		return jsonb_exists(fcinfo);
	PG_RETURN_BOOL(has_key(&node, PG_GETARG_DATUM(1)));
}

/* True if an object has some of these keys, or all of them. */
static Datum
exists_some_or_all(FunctionCallInfo fcinfo, PGFunction core, bool some)
{
	SlicedJsonbNode	node;
	ArrayIterator iterator;
	Datum		name;
	bool		isnull;

	if (!sliced_part_get(fcinfo, 0, &node) || !sliced_node_is_object(&node))
		return core(fcinfo);
	iterator = array_create_iterator(PG_GETARG_ARRAYTYPE_P(1), 0, NULL);
	while (array_iterate(iterator, &name, &isnull))
		if (!isnull && has_key(&node, name) == some)
			PG_RETURN_BOOL(some);
	PG_RETURN_BOOL(!some);
}

JSONB_FUNCTION(sliced_jsonb_exists_any, exists_some_or_all(fcinfo, jsonb_exists_any, true))
JSONB_FUNCTION(sliced_jsonb_exists_all, exists_some_or_all(fcinfo, jsonb_exists_all, false))

PG_FUNCTION_INFO_V1(sliced_jsonb_typeof);

Datum
sliced_jsonb_typeof(PG_FUNCTION_ARGS)
{
	SlicedJsonbNode	node;

	if (!sliced_part_get(fcinfo, 0, &node) || sliced_node_is_scalar(&node))
		return jsonb_typeof(fcinfo);
	PG_RETURN_TEXT_P(cstring_to_text(sliced_node_is_object(&node) ? "object" : "array"));
}

PG_FUNCTION_INFO_V1(sliced_jsonb_array_length);

Datum
sliced_jsonb_array_length(PG_FUNCTION_ARGS)
{
	SlicedJsonbNode	node;

	if (!sliced_part_get(fcinfo, 0, &node) || sliced_node_is_scalar(&node) ||
		!sliced_node_is_array(&node))
		return jsonb_array_length(fcinfo);
	PG_RETURN_INT32(node.count);
}

/* ---- core's functions, on the bytes they need ---- */

/*
 * Let core's function work on the document, in which all bytes are present that it
 * will look at.  They stay there meanwhile, whichever other documents core fetches.
 */
static Datum
run_on_document(FunctionCallInfo fcinfo, PGFunction core, int arg, SlicedDocument *doc)
{
	Datum		original = fcinfo->args[arg].value;
	Datum		result;

	doc->pins++;
	PG_TRY();
	{
		fcinfo->args[arg].value = PointerGetDatum(doc->partial.varlena);
		result = core(fcinfo);
	}
	PG_FINALLY();
	{
		/* constant arguments are evaluated only once, so put them back */
		fcinfo->args[arg].value = original;
		doc->pins--;
	}
	PG_END_TRY();
	return result;
}

PG_FUNCTION_INFO_V1(sliced_jsonb_object_keys);

Datum
sliced_jsonb_object_keys(PG_FUNCTION_ARGS)
{
	SlicedJsonbNode	node;

	/* the first call copies the keys */
	if (fcinfo->flinfo->fn_extra != NULL || !sliced_part_get(fcinfo, 0, &node) ||
		node.at != 0 || !sliced_node_is_object(&node))
		return jsonb_object_keys(fcinfo);
	sliced_node_need_structure(&node);
	return run_on_document(fcinfo, jsonb_object_keys, 0, node.doc);
}

static void
need_place(SlicedDocument *doc, const SlicedPlace *place)
{
	sliced_document_need(doc, place->start, place->len);
}

/*
 * Read the bytes that tell whether this container, of 'len' bytes, contains 'other':
 * of an object the values of the other's keys, of an array everything.
 */
static void
need_for_containment(const SlicedJsonbNode *node, uint32 len, JsonbContainer *other)
{
	JsonbIterator *iterator;
	JsonbValue	key;
	JsonbValue	value;

	if (!sliced_node_is_object(node) || !JsonContainerIsObject(other))
	{
		sliced_document_need(node->doc, node->at, len);
		return;
	}
	sliced_node_need_structure(node);
	iterator = JsonbIteratorInit(other);
	JsonbIteratorNext(&iterator, &key, true);
	while (JsonbIteratorNext(&iterator, &key, true) == WJB_KEY)
	{
		SlicedPlace place;
		SlicedJsonbNode	child;

		JsonbIteratorNext(&iterator, &value, true);
		if (!sliced_node_field(node, key.val.string.val, key.val.string.len, &place))
			continue;
		if (!sliced_place_is_container(&place) || value.type != jbvBinary)
		{
			need_place(node->doc, &place);
			continue;
		}
		check_stack_depth();
		child = sliced_node_open(node->doc, place.start);
		need_for_containment(&child, place.len, value.val.binary.data);
	}
}

/* Tell whether argument 'arg' contains the other one. */
static Datum
jsonb_contains_part(FunctionCallInfo fcinfo, PGFunction core, int arg)
{
	Jsonb	   *other = PG_GETARG_JSONB_P(1 - arg);
	SlicedJsonbNode	node;

	if (!sliced_part_get(fcinfo, arg, &node) || node.at != 0)
		return core(fcinfo);
	need_for_containment(&node, node.doc->partial.size, &other->root);
	return run_on_document(fcinfo, core, arg, node.doc);
}

JSONB_FUNCTION(sliced_jsonb_contains, jsonb_contains_part(fcinfo, jsonb_contains, 0))
JSONB_FUNCTION(sliced_jsonb_contained, jsonb_contains_part(fcinfo, jsonb_contained, 1))

/* ---- jsonpath ---- */

static Datum
query_path(FunctionCallInfo fcinfo, PGFunction core)
{
	SlicedJsonbNode	node;

	if (!sliced_part_get(fcinfo, 0, &node) || node.at != 0)
		return core(fcinfo);
	sliced_jsonpath_need(node.doc, PG_GETARG_JSONPATH_P(1));
	return run_on_document(fcinfo, core, 0, node.doc);
}

JSONB_FUNCTION(sliced_jsonb_path_exists, query_path(fcinfo, jsonb_path_exists))
JSONB_FUNCTION(sliced_jsonb_path_exists_tz, query_path(fcinfo, jsonb_path_exists_tz))
JSONB_FUNCTION(sliced_jsonb_path_exists_opr, query_path(fcinfo, jsonb_path_exists_opr))
JSONB_FUNCTION(sliced_jsonb_path_match, query_path(fcinfo, jsonb_path_match))
JSONB_FUNCTION(sliced_jsonb_path_match_tz, query_path(fcinfo, jsonb_path_match_tz))
JSONB_FUNCTION(sliced_jsonb_path_match_opr, query_path(fcinfo, jsonb_path_match_opr))
JSONB_FUNCTION(sliced_jsonb_path_query_array, query_path(fcinfo, jsonb_path_query_array))
JSONB_FUNCTION(sliced_jsonb_path_query_array_tz, query_path(fcinfo, jsonb_path_query_array_tz))
JSONB_FUNCTION(sliced_jsonb_path_query_first, query_path(fcinfo, jsonb_path_query_first))
JSONB_FUNCTION(sliced_jsonb_path_query_first_tz, query_path(fcinfo, jsonb_path_query_first_tz))

/* Follow the path.  If it leads to one place, or to none, core is not needed. */
static SlicedDestination
path_destination(FunctionCallInfo fcinfo, SlicedDocument **doc, SlicedPlace *place)
{
	JsonPath   *jsonpath = PG_GETARG_JSONPATH_P(1);
	Jsonb	   *vars = PG_GETARG_JSONB_P(2);
	SlicedJsonbNode	node;
	JsonPathItem item;
	SlicedDestination result;

	if (!JB_ROOT_IS_OBJECT(vars))
		return SLICED_BEYOND;			/* an error */
	if (!sliced_part_get(fcinfo, 0, &node) || node.at != 0 || sliced_node_is_scalar(&node))
		return SLICED_BEYOND;
	*doc = node.doc;
	jspInit(&item, jsonpath);
	if (item.type != jpiRoot)
		return SLICED_BEYOND;
	result = sliced_jsonpath_follow(node.doc, &item, place);
	/* an error if the path is strict */
	return result == SLICED_NOWHERE && (jsonpath->header & JSONPATH_LAX) == 0 ? SLICED_BEYOND : result;
}

static Datum
query_set(FunctionCallInfo fcinfo, PGFunction core)
{
	static char ours;			/* marks a set that is not core's */
	FuncCallContext *context = fcinfo->flinfo->fn_extra;
	SlicedDestination where;
	SlicedDocument *doc;
	SlicedPlace place;

	if (context != NULL && context->user_fctx != &ours)
		return core(fcinfo);
	if (context == NULL)
	{
		where = path_destination(fcinfo, &doc, &place);
		if (where == SLICED_BEYOND)
			return core(fcinfo);
		context = SRF_FIRSTCALL_INIT();
		context->user_fctx = &ours;
		if (where == SLICED_PLACE)
			SRF_RETURN_NEXT(context, as_jsonb(fcinfo, doc, &place));
	}
	SRF_RETURN_DONE(context);
}

JSONB_FUNCTION(sliced_jsonb_path_query, query_set(fcinfo, jsonb_path_query))
JSONB_FUNCTION(sliced_jsonb_path_query_tz, query_set(fcinfo, jsonb_path_query_tz))

/* ---- SQL/JSON ---- */

/* The last result, at which core may still be looking. */
typedef struct Kept
{
	SlicedDocument *doc;
	MemoryContextCallback callback;
} Kept;

static void
release_kept(void *arg)
{
	Kept	   *kept = arg;

	if (kept->doc != NULL)
		sliced_document_release(kept->doc);
	kept->doc = NULL;
}

static void
keep_until_next_call(FunctionCallInfo fcinfo, SlicedDocument *doc)
{
	Kept	   *kept = fcinfo->flinfo->fn_extra;

	if (kept == NULL)
	{
		kept = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(Kept));
		kept->callback.func = release_kept;
		kept->callback.arg = kept;
		MemoryContextRegisterResetCallback(fcinfo->flinfo->fn_mcxt, &kept->callback);
		fcinfo->flinfo->fn_extra = kept;
	}
	release_kept(kept);
	sliced_document_keep(doc);
	kept->doc = doc;
}

PG_FUNCTION_INFO_V1(sliced_jsonb_for_query);

/*
 * The document for JSON_VALUE and the like, which look into it by a path; only its
 * root is read if there is none.  They copy what they find before we are called
 * again, or our context ends; JSON_TABLE does so row by row.
 */
Datum
sliced_jsonb_for_query(PG_FUNCTION_ARGS)
{
	SlicedJsonbNode	node;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (!sliced_part_get(fcinfo, 0, &node) || node.at != 0)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	keep_until_next_call(fcinfo, node.doc);
	if (!PG_ARGISNULL(1))
		sliced_jsonpath_need(node.doc, PG_GETARG_JSONPATH_P(1));
	PG_RETURN_POINTER(node.doc->partial.varlena);
}
