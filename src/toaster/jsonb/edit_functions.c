/*
 * edit_functions.c
 *	  Functions of core that change a part of a jsonb document, as promises.
 *
 * As in toaster/text/edit_functions.c.  A change that changes nothing returns its
 * argument, and the row keeps its pointer.  We leave errors and rare cases to core.
 */
#include "postgres.h"

#include "base/limits.h"
#include "catalog/pg_type.h"
#include "common/string.h"
#include "fmgr.h"
#include "format/pointer.h"
#include "miscadmin.h"
#include "toaster/jsonb/arguments.h"
#include "toaster/jsonb/difference.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "value/promise.h"
#include "value/result.h"

/* A container to change. */
typedef struct Target
{
	SlicedJsonbNode	root;
	const SlicedRope *rope;		/* of the document that contains it */
	uint32		len;
} Target;

/* The argument as a target; returns false if it is a scalar. */
static bool
get_target(FunctionCallInfo fcinfo, const SlicedArgument *ours, Target *target)
{
	target->root = sliced_argument_open(fcinfo, ours);
	target->rope = ours->rope;
	target->len = ours->part.len;
	return !sliced_node_is_scalar(&target->root);
}

/* The function's first argument as a target, if it is ours and no scalar. */
static bool
get_first(FunctionCallInfo fcinfo, Target *target)
{
	SlicedArgument ours;

	return sliced_argument_get(fcinfo, 0, &ours) && get_target(fcinfo, &ours, target);
}

/* ---- results ---- */

/* The outcome of a change. */
typedef enum Outcome
{
	UNCHANGED,
	CHANGED,
	LEAVE_TO_CORE
} Outcome;

static Outcome
outcome_of(SlicedRope *rope, SlicedRope **result)
{
	*result = rope;
	return rope == NULL ? LEAVE_TO_CORE : CHANGED;
}

/*
 * The result of the function, whose arguments are the document and, unless -1, a new
 * value as argument 'new'.
 */
static Datum
result_of(FunctionCallInfo fcinfo, PGFunction core, int new, Outcome outcome, SlicedRope *rope)
{
	switch (outcome)
	{
		case UNCHANGED:
			return sliced_argument_return(fcinfo, 0);
		case CHANGED:
			return sliced_result_of_rope(fcinfo, rope);
		default:
			return sliced_arguments_leave(fcinfo, core, 0, new);
	}
}

/* ---- removals from the root ---- */

/* Remove 'n' keys from an object. */
static Outcome
remove_keys(const Target *target, Datum *keys, bool *isnull, int n, SlicedRope **result)
{
	const SlicedJsonbNode *root = &target->root;
	bool	   *removed = NULL;
	SlicedEdit *edits;
	int			nremoved = 0;
	int			nedits = 0;

	if (!sliced_node_is_object(root))
		return LEAVE_TO_CORE;
	for (int k = 0; k < n; k++)
	{
		text	   *key = (text *) DatumGetPointer(keys[k]);
		uint32		i;

		if (isnull[k] ||
			!sliced_node_find_key(root, VARDATA_ANY(key), VARSIZE_ANY_EXHDR(key), &i))
			continue;
		if (removed == NULL)
			removed = palloc0(root->count * sizeof(bool));
		nremoved += !removed[i];
		removed[i] = true;
	}
	if (nremoved == 0)
		return UNCHANGED;

	edits = palloc(nremoved * 2 * sizeof(SlicedEdit));
	for (uint32 i = 0; i < root->nentries; i++)
		if (removed[i % root->count])
			edits[nedits++] = (SlicedEdit) {.at = i, .remove = true};
	return outcome_of(sliced_node_edit(target->rope, root, target->len, edits, nedits), result);
}

PG_FUNCTION_INFO_V1(sliced_edit_jsonb_delete);

Datum
sliced_edit_jsonb_delete(PG_FUNCTION_ARGS)
{
	Datum		key = PointerGetDatum(PG_GETARG_TEXT_PP(1));
	bool		isnull = false;
	Target		target;
	SlicedRope *rope = NULL;
	Outcome		outcome;

	if (!get_first(fcinfo, &target))
		return sliced_arguments_leave(fcinfo, jsonb_delete, 0, -1);
	outcome = remove_keys(&target, &key, &isnull, 1, &rope);
	return result_of(fcinfo, jsonb_delete, -1, outcome, rope);
}

PG_FUNCTION_INFO_V1(sliced_edit_jsonb_delete_array);

Datum
sliced_edit_jsonb_delete_array(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	Target		target;
	Datum	   *keys;
	bool	   *isnull;
	int			n;
	SlicedRope *rope = NULL;
	Outcome		outcome;

	if (ARR_NDIM(array) > 1 || !get_first(fcinfo, &target))
		return sliced_arguments_leave(fcinfo, jsonb_delete_array, 0, -1);
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &keys, &isnull, &n);
	outcome = remove_keys(&target, keys, isnull, n, &rope);
	return result_of(fcinfo, jsonb_delete_array, -1, outcome, rope);
}

PG_FUNCTION_INFO_V1(sliced_edit_jsonb_delete_idx);

Datum
sliced_edit_jsonb_delete_idx(PG_FUNCTION_ARGS)
{
	int64		i = PG_GETARG_INT32(1);
	Target		target;
	SlicedEdit	edit = {.remove = true};
	SlicedRope *rope = NULL;
	Outcome		outcome = UNCHANGED;

	if (!get_first(fcinfo, &target) || sliced_node_is_object(&target.root))
		return sliced_arguments_leave(fcinfo, jsonb_delete_idx, 0, -1);
	if (i < 0)
		i += target.root.count;
	if (i >= 0 && i < target.root.count)
	{
		edit.at = i;
		outcome = outcome_of(sliced_node_edit(target.rope, &target.root, target.len, &edit, 1),
							 &rope);
	}
	return result_of(fcinfo, jsonb_delete_idx, -1, outcome, rope);
}

/* ---- changes along a path ---- */

typedef enum Operation
{
	SET,						/* jsonb_set() */
	REPLACE,					/* jsonb_set() without create_if_missing */
	INSERT_BEFORE,				/* jsonb_insert() */
	INSERT_AFTER,
	ASSIGN,						/* assignment to a subscript */
	DELETE						/* #- */
} Operation;

typedef struct PathWalk
{
	const SlicedRope *doc;
	Operation	operation;
	int			nnames;
	Datum	   *names;
	bool	   *isnull;
	SlicedFragment new;
} PathWalk;

static Outcome walk_path(const PathWalk *w, const SlicedJsonbNode *node, uint32 len, int level,
						 SlicedRope **result);

/* Make these changes of one node. */
static Outcome
edit_document(const PathWalk *w, const SlicedJsonbNode *node, uint32 len, const SlicedEdit *edits, int nedits,
			  SlicedRope **result)
{
	return outcome_of(sliced_node_edit(w->doc, node, len, edits, nedits), result);
}

/* Follow the path through the value of entry 'i'. */
static Outcome
go_on(const PathWalk *w, const SlicedJsonbNode *node, uint32 len, int level, uint32 i,
	  SlicedRope **result)
{
	SlicedPlace place = sliced_node_place(node, i);
	SlicedEdit	change = {.at = i, .insert = true, .remove = true};
	SlicedJsonbNode	child;
	SlicedRope *rope;
	Outcome		outcome;

	if (w->isnull[level + 1])
		return LEAVE_TO_CORE;	/* an error */
	if (!sliced_place_is_container(&place))
		return w->operation == ASSIGN ? LEAVE_TO_CORE : UNCHANGED;
	child = sliced_node_open(node->doc, place.start);
	outcome = walk_path(w, &child, place.len, level + 1, &rope);
	if (outcome != CHANGED)
		return outcome;
	change.new = sliced_fragment_rope(JENTRY_ISCONTAINER, rope);
	return edit_document(w, node, len, &change, 1, result);
}

static Outcome
walk_object(const PathWalk *w, const SlicedJsonbNode *node, uint32 len, int level, SlicedRope **result)
{
	text	   *name = (text *) DatumGetPointer(w->names[level]);
	bool		last = level == w->nnames - 1;
	SlicedEdit	edits[2] = {{0}};
	uint32		i;

	if (sliced_node_find_key(node, VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name), &i))
	{
		if (!last)
			return go_on(w, node, len, level, node->count + i, result);
		edits[0] = (SlicedEdit) {.at = i, .remove = true};
		edits[1] = (SlicedEdit) {.at = node->count + i, .remove = true};
		if (w->operation == DELETE)
			return edit_document(w, node, len, edits, 2, result);
		if (w->operation == INSERT_BEFORE || w->operation == INSERT_AFTER)
			return LEAVE_TO_CORE;	/* an error */
		edits[1].insert = true;
		edits[1].new = sliced_fragment_replacing(w->doc, node, edits[1].at, &w->new);
		return edit_document(w, node, len, &edits[1], 1, result);
	}
	if (w->operation == ASSIGN && !last)
		return LEAVE_TO_CORE;	/* core makes the missing part of the path */
	if (!last || w->operation == DELETE || w->operation == REPLACE)
		return UNCHANGED;
	edits[0] = (SlicedEdit) {i, true, false,
							 sliced_fragment_bytes(JENTRY_ISSTRING, VARDATA_ANY(name),
												   VARSIZE_ANY_EXHDR(name))};
	edits[1] = (SlicedEdit) {node->count + i, true, false, w->new};
	return edit_document(w, node, len, edits, 2, result);
}

/* An element of a path as an index. */
static bool
parse_index(Datum name, int *index)
{
	char	   *digits = TextDatumGetCString(name);
	char	   *end;

	errno = 0;
	*index = strtoint(digits, &end, 10);
	return end != digits && *end == '\0' && errno == 0;
}

static Outcome
walk_array(const PathWalk *w, const SlicedJsonbNode *node, uint32 len, int level, SlicedRope **result)
{
	bool		last = level == w->nnames - 1;
	SlicedEdit	change = {.insert = w->operation != DELETE, .new = w->new};
	int			index;
	int64		i;

	if (!parse_index(w->names[level], &index))
		return LEAVE_TO_CORE;	/* an error */
	i = index < 0 ? (int64) node->count + index : index;
	if (i >= 0 && i < node->count)
	{
		if (!last)
			return go_on(w, node, len, level, i, result);
		change.at = w->operation == INSERT_AFTER ? i + 1 : i;
		change.remove = w->operation != INSERT_BEFORE && w->operation != INSERT_AFTER;
		if (change.insert && change.remove)
			change.new = sliced_fragment_replacing(w->doc, node, i, &w->new);
		return edit_document(w, node, len, &change, 1, result);
	}
	/* an error, or core must make elements before this one, or the path to it */
	if (w->operation == ASSIGN && (!last || i < 0 || i > node->count))
		return LEAVE_TO_CORE;
	if (!last || w->operation == DELETE || w->operation == REPLACE)
		return UNCHANGED;
	change.at = i < 0 ? 0 : node->count;
	return edit_document(w, node, len, &change, 1, result);
}

/* Follow the path from 'level' on. */
static Outcome
walk_path(const PathWalk *w, const SlicedJsonbNode *node, uint32 len, int level, SlicedRope **result)
{
	return sliced_node_is_object(node) ? walk_object(w, node, len, level, result) :
		walk_array(w, node, len, level, result);
}

/*
 * Apply the operation at the end of 'path' in the function's first argument.  'new'
 * is the number of the argument with the new value, or -1.  SQL's NULL there is
 * JSON's null.
 */
static Datum
change_at_path(FunctionCallInfo fcinfo, PGFunction core, Operation operation, ArrayType *path,
			   int new)
{
	PathWalk	w = {.operation = operation};
	SlicedArgument ours;
	Target		target;
	SlicedRope *rope = NULL;
	Outcome		outcome;

	if (ARR_NDIM(path) > 1 || !sliced_argument_get(fcinfo, 0, &ours))
		return sliced_arguments_leave(fcinfo, core, 0, new);
	if (new >= 0)
		w.new = sliced_argument_fragment(fcinfo, new, &ours);
	if (!get_target(fcinfo, &ours, &target))
		return sliced_arguments_leave(fcinfo, core, 0, new);
	deconstruct_array(path, TEXTOID, -1, false, TYPALIGN_INT, &w.names, &w.isnull, &w.nnames);
	if (w.nnames == 0)
		return result_of(fcinfo, core, new, UNCHANGED, NULL);

	/*
	 * A NULL name is an error.  We leave longer paths to core: every level copies
	 * what the ones below it have made, and takes stack that core's functions do not.
	 */
	if (w.isnull[0] || w.nnames > SLICED_LEVELS)
		return sliced_arguments_leave(fcinfo, core, 0, new);
	w.doc = target.rope;
	outcome = walk_path(&w, &target.root, target.len, 0, &rope);
	return result_of(fcinfo, core, new, outcome, rope);
}

PG_FUNCTION_INFO_V1(sliced_edit_jsonb_set);

Datum
sliced_edit_jsonb_set(PG_FUNCTION_ARGS)
{
	return change_at_path(fcinfo, jsonb_set, PG_GETARG_BOOL(3) ? SET : REPLACE,
						  PG_GETARG_ARRAYTYPE_P(1), 2);
}

PG_FUNCTION_INFO_V1(sliced_edit_jsonb_insert);

Datum
sliced_edit_jsonb_insert(PG_FUNCTION_ARGS)
{
	return change_at_path(fcinfo, jsonb_insert, PG_GETARG_BOOL(3) ? INSERT_AFTER : INSERT_BEFORE,
						  PG_GETARG_ARRAYTYPE_P(1), 2);
}

PG_FUNCTION_INFO_V1(sliced_edit_jsonb_delete_path);

Datum
sliced_edit_jsonb_delete_path(PG_FUNCTION_ARGS)
{
	return change_at_path(fcinfo, jsonb_delete_path, DELETE, PG_GETARG_ARRAYTYPE_P(1), -1);
}

PG_FUNCTION_INFO_V1(sliced_edit_jsonb_set_lax);

Datum
sliced_edit_jsonb_set_lax(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(3) || PG_ARGISNULL(4))
		return jsonb_set_lax(fcinfo);
	if (!PG_ARGISNULL(2))
		return sliced_edit_jsonb_set(fcinfo);
	else
	{
		char	   *treatment = text_to_cstring(PG_GETARG_TEXT_PP(4));

		if (strcmp(treatment, "return_target") == 0)
			return sliced_argument_return(fcinfo, 0);
		if (strcmp(treatment, "delete_key") == 0)
			return change_at_path(fcinfo, jsonb_set_lax, DELETE, PG_GETARG_ARRAYTYPE_P(1), -1);
		if (strcmp(treatment, "use_json_null") == 0)
			return change_at_path(fcinfo, jsonb_set_lax, PG_GETARG_BOOL(3) ? SET : REPLACE,
								  PG_GETARG_ARRAYTYPE_P(1), 2);
		return jsonb_set_lax(fcinfo);
	}
}

/* ---- assignments to subscripts ---- */

/* Assign as core does, to the document at the path, the new value. */
static Datum
assign_subscript(FunctionCallInfo fcinfo)
{
	Jsonb	   *source;
	JsonbValue	new;
	Datum	   *names;
	bool	   *isnull;
	int			n;

	if (PG_ARGISNULL(0))
		source = DatumGetJsonbP(DirectFunctionCall1(jsonb_in,
													CStringGetDatum(PG_GETARG_BOOL(2) ? "[]" : "{}")));
	else
		source = PG_GETARG_JSONB_P(0);
	if (PG_ARGISNULL(1))
		new.type = jbvNull;
	else
		JsonbToJsonbValue(PG_GETARG_JSONB_P(1), &new);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(3), TEXTOID, -1, false, TYPALIGN_INT, &names, &isnull, &n);
	return jsonb_set_element(source, names, n, &new);
}

PG_FUNCTION_INFO_V1(sliced_edit_jsonb_subscript);

/* (document, new value, whether the first subscript is a number, subscripts...) */
Datum
sliced_edit_jsonb_subscript(PG_FUNCTION_ARGS)
{
	ArrayType  *path = PG_ARGISNULL(3) ? construct_empty_array(TEXTOID) : PG_GETARG_ARRAYTYPE_P(3);

	/* plans have at least one subscript, but a user may call us without */
	if (ARR_NDIM(path) != 1 || PG_ARGISNULL(2))
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("there are no subscripts"));
	if (array_contains_nulls(path))
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("jsonb subscript in assignment must not be null"));
	if (PG_ARGISNULL(0))
		return assign_subscript(fcinfo);
	return change_at_path(fcinfo, assign_subscript, ASSIGN, path, 1);
}
