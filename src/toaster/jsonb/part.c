/*
 * part.c
 *	  A container within a document, as a datum that is not a copy of it.
 */
#include "postgres.h"

#include "format/pointer.h"
#include "toaster/jsonb/part.h"
#include "utils/expandeddatum.h"

typedef struct Part
{
	ExpandedObjectHeader header;
	struct varatt_external doc;
	uint32		start;
	uint32		len;
} Part;

static Size
get_flat_size(ExpandedObjectHeader *header)
{
	return ((Part *) header)->len + VARHDRSZ;
}

static void
flatten_into(ExpandedObjectHeader *header, void *result, Size allocated_size)
{
	Part	   *part = (Part *) header;
	SlicedDocument *doc = sliced_document_at(&part->doc, NULL);

	Assert(allocated_size == part->len + VARHDRSZ);
	SET_VARSIZE(result, allocated_size);
	memcpy(VARDATA(result), sliced_document_need(doc, part->start, part->len), part->len);
}

static const ExpandedObjectMethods methods = {get_flat_size, flatten_into};

Datum
sliced_part_make(const SlicedDocument *doc, const SlicedPlace *place)
{
	Part	   *part = palloc(sizeof(Part));

	/* nobody may delete it: it goes with its context */
	EOH_init_header(&part->header, &methods, CurrentMemoryContext);
	part->doc = doc->ptr;
	part->start = place->start;
	part->len = place->len;
	return EOHPGetRODatum(&part->header);
}

bool
sliced_part_get(FunctionCallInfo fcinfo, int arg, SlicedNode *node)
{
	Datum		datum = fcinfo->args[arg].value;
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);
	struct varatt_external ptr;

	if (sliced_pointer_get(&ptr, value))
		*node = sliced_node_open(sliced_document_at(&ptr, fcinfo), 0);
	else if (VARATT_IS_EXTERNAL_EXPANDED(value) &&
			 DatumGetEOHP(datum)->eoh_methods == &methods)
	{
		Part	   *part = (Part *) DatumGetEOHP(datum);

		*node = sliced_node_open(sliced_document_at(&part->doc, fcinfo), part->start);
	}
	else
		return false;
	return true;
}
