/*
 * size.c
 *	  Computes how long a row is, and may be.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "format/pointer.h"
#include "row/size.h"
#include "utils/memutils.h"
#include "value/promise.h"

/*
 * Some minor versions of heap_compute_data_size() refuse a row longer than
 * MaxAllocSize, because heap cannot form such a tuple, and only some of these
 * versions have a way around that.  But we are called before long values leave the
 * row, when they have been fetched one by one.
 */
Size
sliced_row_data_size(TupleDesc desc, Datum *values, bool *isnull)
{
	Size		total = 0;

	for (int i = 0; i < desc->natts; i++)
		if (!isnull[i] && TupleDescAttr(desc, i)->attlen == -1)
			total += VARSIZE_ANY(DatumGetPointer(values[i]));
	/* the other columns, and padding, take far less than the other half */
	return total > MaxAllocSize / 2 ? total : heap_compute_data_size(desc, values, isnull);
}

/* The length of the row if column 'i' is a value of 'size' bytes, header included. */
static Size
size_with_value(TupleDesc desc, Datum *values, bool *isnull, Size hoff, int i, Size size)
{
	Datum		column = values[i];
	varattrib_4b header;
	Size		result;

	/* only the header is read */
	SET_VARSIZE(&header, size);
	values[i] = PointerGetDatum(&header);
	result = HEAPTUPLESIZE + hoff + heap_compute_data_size(desc, values, isnull);
	values[i] = column;
	return result;
}

void
sliced_row_check_promises(TupleDesc desc, Datum *values, bool *isnull, Size hoff)
{
	for (int i = 0; i < desc->natts; i++)
	{
		struct varatt_external ptr;
		Size		size;

		if (isnull[i] || TupleDescAttr(desc, i)->attlen != -1 ||
			!sliced_pointer_get(&ptr, (struct varlena *) DatumGetPointer(values[i])) ||
			ptr.va_rawsize < MaxAllocSize / 2 ||
			sliced_stored_pointer(&ptr, (struct varlena *) DatumGetPointer(values[i])))
			continue;
		size = size_with_value(desc, values, isnull, hoff, i, ptr.va_rawsize);
		if (!AllocSizeIsValid(size))
			ereport(ERROR,
					errcode(ERRCODE_INTERNAL_ERROR),
					errmsg_internal("invalid memory alloc request size %zu", size));
	}
}
