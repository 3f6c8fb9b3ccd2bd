/*
 * arguments.c
 *	  Arguments of functions that change a jsonb, as ropes.
 */
#include "postgres.h"

#include "base/limits.h"
#include "fmgr.h"
#include "toaster/jsonb/arguments.h"
#include "value/promise.h"
#include "value/result.h"

bool
sliced_argument_get(FunctionCallInfo fcinfo, int arg, SlicedArgument *argument)
{
	if (PG_ARGISNULL(arg) || !sliced_part_of(PG_GETARG_DATUM(arg), &argument->part) ||
		(argument->part.start > 0 && argument->part.len < SLICED_PROMISE_MIN))
		return false;
	argument->rope = sliced_rope_at(&argument->part.doc);
	return true;
}

bool
sliced_arguments_share(const SlicedArgument *a, const SlicedArgument *b)
{
	return memcmp(&a->rope->base, &b->rope->base, sizeof(a->rope->base)) == 0;
}

SlicedJsonbNode
sliced_argument_open(FunctionCallInfo fcinfo, const SlicedArgument *argument)
{
	return sliced_node_open(sliced_document_at(&argument->part.doc, fcinfo), argument->part.start);
}

bool
sliced_argument_get_shared(FunctionCallInfo fcinfo, int arg, const SlicedArgument *other,
						   SlicedArgument *argument)
{
	SlicedJsonbNode	root;

	if (!sliced_argument_get(fcinfo, arg, argument) || !sliced_arguments_share(other, argument))
		return false;
	root = sliced_argument_open(fcinfo, argument);
	return !sliced_node_is_scalar(&root);
}

SlicedRope *
sliced_argument_range(const SlicedArgument *argument, uint32 start, uint32 len)
{
	SlicedRope *result = sliced_rope_make(&argument->rope->base);

	sliced_rope_add_rope(result, argument->rope, start, len);
	return result;
}

SlicedRope *
sliced_argument_rope(const SlicedArgument *argument)
{
	return sliced_argument_range(argument, argument->part.start, argument->part.len);
}

void
sliced_argument_complain(FunctionCallInfo fcinfo, int arg)
{
	SlicedPart	part;

	if (sliced_part_of(PG_GETARG_DATUM(arg), &part))
		sliced_document_complain(sliced_document_at(&part.doc, fcinfo));
	ereport(ERROR,
			errcode(ERRCODE_DATA_CORRUPTED),
			errmsg("value does not have the structure of its type"));
}

Jsonb *
sliced_argument_fetch(FunctionCallInfo fcinfo, int arg)
{
	Jsonb	   *jsonb = PG_GETARG_JSONB_P(arg);

	if (!sliced_container_is_sound((char *) &jsonb->root, VARSIZE(jsonb) - VARHDRSZ))
		sliced_argument_complain(fcinfo, arg);
	return jsonb;
}

Jsonb *
sliced_argument_fetch_sound(FunctionCallInfo fcinfo, int arg)
{
	Jsonb	   *jsonb = PG_GETARG_JSONB_P(arg);

	if (!sliced_jsonb_is_sound(jsonb))
		sliced_argument_complain(fcinfo, arg);
	return jsonb;
}

Datum
sliced_arguments_leave(FunctionCallInfo fcinfo, PGFunction core, int a, int b)
{
	int			args[] = {a, b};
	Datum		originals[lengthof(args)];
	SlicedPart	part;
	Datum		result;

	for (int i = 0; i < lengthof(args); i++)
		if (args[i] >= 0 && !PG_ARGISNULL(args[i]))
		{
			originals[i] = fcinfo->args[args[i]].value;
			/* core need not fetch it again */
			if (sliced_part_of(originals[i], &part))
				fcinfo->args[args[i]].value = JsonbPGetDatum(sliced_argument_fetch_sound(fcinfo, args[i]));
		}
	result = core(fcinfo);
	/* constant arguments are evaluated only once, so put them back */
	for (int i = 0; i < lengthof(args); i++)
		if (args[i] >= 0 && !PG_ARGISNULL(args[i]))
			fcinfo->args[args[i]].value = originals[i];
	return result;
}

SlicedFragments
sliced_argument_entries(FunctionCallInfo fcinfo, int arg, const Jsonb *jsonb)
{
	SlicedFragments entries;

	if (!sliced_fragments_get(&jsonb->root, VARSIZE(jsonb) - VARHDRSZ, &entries))
		sliced_argument_complain(fcinfo, arg);
	return entries;
}

/* A fetched argument as a fragment. */
static SlicedFragment
fetched_fragment(FunctionCallInfo fcinfo, int arg)
{
	Jsonb	   *jsonb = sliced_argument_fetch(fcinfo, arg);
	SlicedFragments entries;

	if (!JB_ROOT_IS_SCALAR(jsonb))
		return sliced_fragment_bytes(JENTRY_ISCONTAINER, (char *) &jsonb->root, VARSIZE(jsonb) - VARHDRSZ);
	entries = sliced_argument_entries(fcinfo, arg, jsonb);
	if (entries.n != 1)
		sliced_argument_complain(fcinfo, arg);
	return entries.fragments[0];
}

SlicedFragment
sliced_argument_fragment(FunctionCallInfo fcinfo, int arg, const SlicedArgument *target)
{
	SlicedArgument shared;

	if (PG_ARGISNULL(arg))
		return sliced_fragment_bytes(JENTRY_ISNULL, NULL, 0);
	if (sliced_argument_get_shared(fcinfo, arg, target, &shared))
		return sliced_fragment_rope(JENTRY_ISCONTAINER, sliced_argument_rope(&shared));
	return fetched_fragment(fcinfo, arg);
}

Datum
sliced_argument_return(FunctionCallInfo fcinfo, int arg)
{
	SlicedArgument argument;

	if (arg == 0 && !VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(PG_GETARG_DATUM(0))))
		return sliced_result_unchanged(fcinfo);
	if (!sliced_argument_get(fcinfo, arg, &argument))
		PG_RETURN_JSONB_P(PG_GETARG_JSONB_P(arg));
	return sliced_result_of_rope(fcinfo, sliced_argument_rope(&argument));
}
