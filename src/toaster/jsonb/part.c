/*
 * part.c
 *	  A container within a document, as a datum that is not a copy of it.
 */
#include "postgres.h"

#include "format/pointer.h"
#include "toaster/jsonb/part.h"
#include "utils/expandeddatum.h"

typedef struct PartDatum
{
	ExpandedObjectHeader header;
	SlicedPart	part;
} PartDatum;

static Size
get_flat_size(ExpandedObjectHeader *header)
{
	return ((PartDatum *) header)->part.len + VARHDRSZ;
}

static void
flatten_into(ExpandedObjectHeader *header, void *result, Size allocated_size)
{
	const SlicedPart *part = &((PartDatum *) header)->part;
	SlicedDocument *doc = sliced_document_at(&part->doc, NULL);

	Assert(allocated_size == part->len + VARHDRSZ);
	SET_VARSIZE(result, allocated_size);
	memcpy(VARDATA(result), sliced_document_need(doc, part->start, part->len), part->len);
}

static const ExpandedObjectMethods methods = {get_flat_size, flatten_into};

Datum
sliced_part_make(const SlicedDocument *doc, const SlicedPlace *place)
{
	PartDatum  *result = palloc(sizeof(PartDatum));

	/* not to be deleted: it goes with its context */
	EOH_init_header(&result->header, &methods, CurrentMemoryContext);
	result->part = (SlicedPart) {doc->ptr, place->start, place->len};
	return EOHPGetRODatum(&result->header);
}

bool
sliced_part_of(Datum datum, SlicedPart *part)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);

	if (sliced_pointer_get(&part->doc, value))
	{
		part->start = 0;
		part->len = sliced_pointer_size(&part->doc);
	}
	else if (VARATT_IS_EXTERNAL_EXPANDED(value) &&
			 DatumGetEOHP(datum)->eoh_methods == &methods)
		*part = ((PartDatum *) DatumGetEOHP(datum))->part;
	else
		return false;
	return true;
}

bool
sliced_part_get(FunctionCallInfo fcinfo, int arg, SlicedJsonbNode *node)
{
	SlicedPart	part;

	if (!sliced_part_of(fcinfo->args[arg].value, &part))
		return false;
	*node = sliced_node_open(sliced_document_at(&part.doc, fcinfo), part.start);
	return true;
}
