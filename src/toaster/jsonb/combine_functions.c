/*
 * combine_functions.c
 *	  Functions of core that put jsonb values together, as promises: || and
 *	  jsonb_build_object().
 *
 * The result shares bytes with documents of ours: of one operand all except where the
 * other one's entries go, of the other one its long values.
 */
#include "postgres.h"

#include "base/limits.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "toaster/jsonb/arguments.h"
#include "toaster/jsonb/difference.h"
#include "utils/fmgrprotos.h"
#include "value/result.h"

/* ---- entries ---- */

/* The entries of a container of ours.  Long values are shared with it. */
static SlicedFragments
entries_of_ours(FunctionCallInfo fcinfo, const SlicedArgument *ours)
{
	SlicedJsonbNode	node = sliced_argument_open(fcinfo, ours);
	SlicedFragments entries = {node.nentries, palloc((node.nentries + 1) * sizeof(SlicedFragment))};

	for (uint32 i = 0; i < node.nentries; i++)
	{
		SlicedPlace place = sliced_node_place(&node, i);
		bool		is_key = i + node.count < node.nentries;

		if (!is_key && place.len >= SLICED_SIMILAR)
			entries.fragments[i] = sliced_fragment_rope(place.type, sliced_argument_range(ours, place.start, place.len));
		else
		{
			/* the document may go before they are used */
			char	   *bytes = palloc(place.len + 1);

			memcpy(bytes, sliced_document_need(node.doc, place.start, place.len), place.len);
			entries.fragments[i] = sliced_fragment_bytes(place.type, bytes, place.len);
		}
	}
	return entries;
}

/* ---- || ---- */

/* One side of it. */
typedef struct Operand
{
	bool		is_ours;
	SlicedArgument ours;		/* if 'is_ours' */
	Jsonb	   *jsonb;			/* its bytes, if not */
	uint32		header;
} Operand;

static inline bool
is_object(const Operand *operand)
{
	return (operand->header & JB_FOBJECT) != 0;
}

static inline bool
is_empty(const Operand *operand)
{
	return (operand->header & (JB_FSCALAR | JB_CMASK)) == 0;
}

/*
 * True if the operand is worth splitting into entries, so that its long values are
 * shared.
 */
static inline bool
has_few_entries(const Operand *operand)
{
	return (operand->header & JB_CMASK) <= SLICED_FEW_ENTRIES;
}

static void
read_operand(FunctionCallInfo fcinfo, int arg, Operand *operand)
{
	operand->is_ours = false;
	operand->jsonb = sliced_argument_fetch(fcinfo, arg);
	operand->header = operand->jsonb->root.header;
}

/*
 * Returns the number of the operand that gets the entries of the other one.  The
 * other one is read if it is not ours or cannot be shared.
 */
static int
choose_target(FunctionCallInfo fcinfo, Operand *operands)
{
	int			target = operands[0].is_ours ? 0 : 1;

	for (int i = 0; i < 2; i++)
		if (operands[i].is_ours)
			operands[i].header = sliced_argument_open(fcinfo, &operands[i].ours).header;
	if (operands[0].is_ours && operands[1].is_ours && sliced_arguments_share(&operands[0].ours, &operands[1].ours))
	{
		target = operands[1].ours.part.len > operands[0].ours.part.len ? 1 : 0;
		if (!has_few_entries(&operands[1 - target]) && has_few_entries(&operands[target]))
			target = 1 - target;
		if (has_few_entries(&operands[1 - target]))
			return target;
	}
	read_operand(fcinfo, 1 - target, &operands[1 - target]);
	return target;
}

/*
 * Merge an object into the target, also an object.  If both have a key, the second
 * operand's value counts.
 */
static SlicedRope *
merge_object(const SlicedArgument *target, const SlicedJsonbNode *root, const SlicedFragments *entries, bool target_first)
{
	uint32		count = entries->n / 2;
	SlicedEdit *edits = palloc(entries->n * sizeof(SlicedEdit));
	SlicedEdit *values = palloc(count * sizeof(SlicedEdit));
	int			nedits = 0;
	int			nvalues = 0;

	for (uint32 k = 0; k < count; k++)
	{
		const SlicedFragment *key = &entries->fragments[k];
		uint32		i;
		bool		found = sliced_node_find_key(root, key->bytes, key->len, &i);

		if (found && !target_first)
			continue;
		if (!found)
			edits[nedits++] = (SlicedEdit) {i, true, false, *key};
		values[nvalues++] = (SlicedEdit) {root->count + i, true, found, !found ? entries->fragments[count + k] :
			sliced_fragment_replacing(target->rope, root, root->count + i, &entries->fragments[count + k])};
	}
	if (nvalues == 0)
		return sliced_argument_rope(target);
	memcpy(edits + nedits, values, nvalues * sizeof(SlicedEdit));
	return sliced_node_edit(target->rope, root, target->part.len, edits, nedits + nvalues);
}

/* Add elements at the end of the target, or at its beginning. */
static SlicedRope *
add_elements(const SlicedArgument *target, const SlicedJsonbNode *root, const SlicedFragments *entries, bool target_first)
{
	SlicedEdit *edits = palloc(entries->n * sizeof(SlicedEdit));
	uint32		at = target_first ? root->nentries : 0;

	for (uint32 i = 0; i < entries->n; i++)
		edits[i] = (SlicedEdit) {at, true, false, entries->fragments[i]};
	return sliced_node_edit(target->rope, root, target->part.len, edits, entries->n);
}

PG_FUNCTION_INFO_V1(sliced_edit_jsonb_concat);

Datum
sliced_edit_jsonb_concat(PG_FUNCTION_ARGS)
{
	Operand		operands[2] = {{0}};
	int			i;
	const SlicedArgument *target;
	const Operand *other;
	SlicedJsonbNode	root;
	SlicedFragments entries;
	SlicedRope *rope;

	operands[0].is_ours = sliced_argument_get(fcinfo, 0, &operands[0].ours);
	operands[1].is_ours = sliced_argument_get(fcinfo, 1, &operands[1].ours);
	if (!operands[0].is_ours && !operands[1].is_ours)
		return sliced_arguments_leave(fcinfo, jsonb_concat, 0, 1);
	i = choose_target(fcinfo, operands);
	target = &operands[i].ours;
	other = &operands[1 - i];
	if (is_empty(&operands[i]) || (operands[i].header & JB_FSCALAR) != 0 ||
		(is_object(&operands[i]) && !is_object(other)))
		return sliced_arguments_leave(fcinfo, jsonb_concat, 0, 1);
	if (is_empty(other) && is_object(&operands[i]) == is_object(other))
		return sliced_argument_return(fcinfo, i);

	if (is_object(other) && !is_object(&operands[i]))
	{
		/* a single value becomes an element */
		entries = (SlicedFragments) {1, palloc(sizeof(SlicedFragment))};
		entries.fragments[0] = other->is_ours ?
			sliced_fragment_rope(JENTRY_ISCONTAINER, sliced_argument_rope(&other->ours)) :
			sliced_fragment_bytes(JENTRY_ISCONTAINER, (char *) &other->jsonb->root,
								  VARSIZE(other->jsonb) - VARHDRSZ);
	}
	else
		entries = other->is_ours ? entries_of_ours(fcinfo, &other->ours) :
			sliced_argument_entries(fcinfo, 1 - i, other->jsonb);
	/* changes must be in order, and there must be some */
	if (entries.n == 0 ||
		(is_object(&operands[i]) && !sliced_fragments_are_sorted(entries.fragments, entries.n / 2)))
		sliced_argument_complain(fcinfo, 1 - i);
	root = sliced_argument_open(fcinfo, target);
	rope = is_object(&operands[i]) ? merge_object(target, &root, &entries, i == 0) :
		add_elements(target, &root, &entries, i == 0);
	return rope == NULL ? sliced_arguments_leave(fcinfo, jsonb_concat, 0, 1) : sliced_result_of_rope(fcinfo, rope);
}

/* ---- jsonb_build_object() ---- */

/* The name of pair 'i', if it is a text. */
static bool
get_name(FunctionCallInfo fcinfo, int i, const char **name, uint32 *len)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 2 * i);
	text	   *value;

	if (PG_ARGISNULL(2 * i) || (type != TEXTOID && type != UNKNOWNOID))
		return false;
	if (type == UNKNOWNOID)
	{
		*name = PG_GETARG_CSTRING(2 * i);
		*len = strlen(*name);
		return get_fn_expr_arg_stable(fcinfo->flinfo, 2 * i);
	}
	value = PG_GETARG_TEXT_PP(2 * i);
	*name = VARDATA_ANY(value);
	*len = VARSIZE_ANY_EXHDR(value);
	return true;
}

/*
 * Core's result for the arguments, with JSON's null for the values of the 'omitted'
 * pairs.  Core gets arguments of ours fetched; damage in them is an error.
 */
static Datum
build_without(FunctionCallInfo fcinfo, const bool *omitted)
{
	FunctionCallInfo call = palloc(SizeForFunctionCallInfo(fcinfo->nargs));
	SlicedPart	part;

	memcpy(call, fcinfo, SizeForFunctionCallInfo(fcinfo->nargs));
	for (int arg = 1; arg < fcinfo->nargs; arg += 2)
	{
		call->args[arg].isnull |= omitted[arg / 2];
		if (!call->args[arg].isnull && get_fn_expr_argtype(fcinfo->flinfo, arg) == JSONBOID &&
			sliced_part_of(PG_GETARG_DATUM(arg), &part))
			call->args[arg].value = JsonbPGetDatum(sliced_argument_fetch_sound(fcinfo, arg));
	}
	return jsonb_build_object(call);
}

/* Look for a key among the first entries. */
static int
find_entry(const SlicedFragments *entries, const char *name, uint32 len)
{
	for (uint32 k = 0; k < entries->n / 2; k++)
		if (entries->fragments[k].len == len && memcmp(entries->fragments[k].bytes, name, len) == 0)
			return k;
	elog(ERROR, "an object lacks the key it was made with");
}

PG_FUNCTION_INFO_V1(sliced_edit_jsonb_build_object);

/*
 * The result shares values that are ours and have one base, as in doc ||
 * jsonb_build_object('items', (doc->'items') || ...).
 */
Datum
sliced_edit_jsonb_build_object(PG_FUNCTION_ARGS)
{
	int			npairs = fcinfo->nargs / 2;
	bool	   *is_shared = palloc0((npairs + 1) * sizeof(bool));
	SlicedArgument *shared = palloc((npairs + 1) * sizeof(SlicedArgument));
	int			first = -1;
	const char *name;
	uint32		len;
	Jsonb	   *rest;
	SlicedFragments entries;
	SlicedFragment *fragments;
	SlicedRope *rope;

	if (get_fn_expr_variadic(fcinfo->flinfo) || fcinfo->nargs % 2 != 0)
		return jsonb_build_object(fcinfo);
	for (int i = 0; i < npairs; i++)
	{
		if (!get_name(fcinfo, i, &name, &len))
			return build_without(fcinfo, is_shared);
		if (get_fn_expr_argtype(fcinfo->flinfo, 2 * i + 1) != JSONBOID ||
			!sliced_argument_get(fcinfo, 2 * i + 1, &shared[i]))
			continue;
		is_shared[i] = sliced_argument_get_shared(fcinfo, 2 * i + 1, &shared[first < 0 ? i : first], &shared[i]);
		if (first < 0 && is_shared[i])
			first = i;
	}
	if (first < 0)
		return build_without(fcinfo, is_shared);

	rest = DatumGetJsonbP(build_without(fcinfo, is_shared));
	if (!sliced_fragments_get(&rest->root, VARSIZE(rest) - VARHDRSZ, &entries))
		ereport(ERROR,
				errcode(ERRCODE_DATA_CORRUPTED),
				errmsg("value does not have the structure of its type"));
	fragments = memcpy(palloc(entries.n * sizeof(SlicedFragment)), entries.fragments,
					   entries.n * sizeof(SlicedFragment));
	/* if a name has several values, the last one counts */
	for (int i = 0; i < npairs; i++)
	{
		int			value;

		get_name(fcinfo, i, &name, &len);
		value = entries.n / 2 + find_entry(&entries, name, len);
		fragments[value] = is_shared[i] ?
			sliced_fragment_rope(JENTRY_ISCONTAINER, sliced_argument_rope(&shared[i])) : entries.fragments[value];
	}
	rope = sliced_container_make(&shared[first].rope->base, rest->root.header, fragments, entries.n);
	if (rope != NULL)
		return sliced_result_of_rope(fcinfo, rope);
	memset(is_shared, false, npairs * sizeof(bool));
	return build_without(fcinfo, is_shared);
}
