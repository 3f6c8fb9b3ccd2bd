/*
 * jsonpath.c
 *	  Reads the bytes that core looks at when it follows a path through a document.
 */
#include "postgres.h"

#include "base/compat.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "toaster/jsonb/jsonpath.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

static void need_for_item(SlicedDocument *doc, JsonPathItem *item);

/* Subscript 'i' as a number, if it is a constant one. */
static bool
constant_subscript(JsonPathItem *item, int i, int32 *index)
{
	JsonPathItem from;
	JsonPathItem to;
	Datum		number;

	if (jspGetArraySubscript(item, &from, &to, i) || from.type != jpiNumeric || jspHasNext(&from))
		return false;
	number = NumericGetDatum(jspGetNumeric(&from));
	/* core rounds other numbers, and raises an error for those beyond four bytes */
	if (!DatumGetBool(DirectFunctionCall2(numeric_eq, number,
										  DirectFunctionCall1(numeric_floor, number))) ||
		!DatumGetBool(DirectFunctionCall2(numeric_lt, number,
										  DirectFunctionCall1(int4_numeric, PG_INT32_MAX))) ||
		DatumGetBool(DirectFunctionCall2(numeric_lt, number,
										 DirectFunctionCall1(int4_numeric, 0))))
		return false;
	*index = DatumGetInt32(DirectFunctionCall1(numeric_int4, number));
	return true;
}

SlicedDestination
sliced_jsonpath_follow(SlicedDocument *doc, JsonPathItem *item, SlicedPlace *place)
{
	JsonPathItem current = *item;
	JsonPathItem next;

	*place = (SlicedPlace) {JENTRY_ISCONTAINER, 0, doc->partial.size};
	while (sliced_place_is_container(place) && jspGetNext(&current, &next))
	{
		SlicedJsonbNode	node = sliced_node_open(doc, place->start);
		int32		index;

		if (next.type == jpiKey && sliced_node_is_object(&node))
		{
			int32		len;
			char	   *name = jspGetString(&next, &len);

			sliced_node_need_structure(&node);
			if (!sliced_node_field(&node, name, len, place))
				return SLICED_NOWHERE;
		}
		else if (next.type == jpiIndexArray && sliced_node_is_array(&node) &&
				 !sliced_node_is_scalar(&node) && next.content.array.nelems == 1 &&
				 constant_subscript(&next, 0, &index))
		{
			sliced_document_need(doc, node.at, node.data - node.at);
			if (!sliced_node_element(&node, index, place))
				return SLICED_NOWHERE;
		}
		else if ((next.type == jpiType || next.type == jpiSize) && !sliced_node_is_scalar(&node))
			return SLICED_BEYOND;	/* these look only at the header, which has been
									 * read */
		else
			break;
		current = next;
	}
	sliced_document_need(doc, place->start, place->len);
	return jspHasNext(&current) ? SLICED_BEYOND : SLICED_PLACE;
}

/*
 * Read the bytes that the arguments of this item, and of the items behind it, look
 * at.
 */
static void
need_for_arguments(SlicedDocument *doc, JsonPathItem *item)
{
	JsonPathItem arg;
	JsonPathItem to;
	SlicedPlace place;

	if (sliced_jsonpath_is_method(item->type))
		return;
	switch (item->type)
	{
		case jpiRoot:
			sliced_jsonpath_follow(doc, item, &place);
			break;
		case jpiNull:
		case jpiString:
		case jpiNumeric:
		case jpiBool:
		case jpiKey:
		case jpiCurrent:
		case jpiVariable:
		case jpiAny:
		case jpiAnyArray:
		case jpiAnyKey:
		case jpiLast:
			break;
		case jpiAnd:
		case jpiOr:
		case jpiEqual:
		case jpiNotEqual:
		case jpiLess:
		case jpiGreater:
		case jpiLessOrEqual:
		case jpiGreaterOrEqual:
		case jpiAdd:
		case jpiSub:
		case jpiMul:
		case jpiDiv:
		case jpiMod:
		case jpiStartsWith:
			jspGetLeftArg(item, &arg);
			need_for_item(doc, &arg);
			jspGetRightArg(item, &arg);
			need_for_item(doc, &arg);
			break;
		case jpiNot:
		case jpiIsUnknown:
		case jpiPlus:
		case jpiMinus:
		case jpiExists:
		case jpiFilter:
			jspGetArg(item, &arg);
			need_for_item(doc, &arg);
			break;
		case jpiLikeRegex:
			jspInitByBuffer(&arg, item->base, item->content.like_regex.expr);
			need_for_item(doc, &arg);
			break;
		case jpiIndexArray:
			for (int i = 0; i < item->content.array.nelems; i++)
			{
				bool		range = jspGetArraySubscript(item, &arg, &to, i);

				need_for_item(doc, &arg);
				if (range)
					need_for_item(doc, &to);
			}
			break;
		default:
			sliced_document_need(doc, 0, doc->partial.size);
			break;
	}
}

static void
need_for_item(SlicedDocument *doc, JsonPathItem *item)
{
	JsonPathItem next;

	check_stack_depth();
	need_for_arguments(doc, item);
	if (jspGetNext(item, &next))
		need_for_item(doc, &next);
}

void
sliced_jsonpath_need(SlicedDocument *doc, JsonPath *path)
{
	JsonPathItem item;

	jspInit(&item, path);
	need_for_item(doc, &item);
}
