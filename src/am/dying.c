/*
 * dying.c
 *	  Row versions that are dead for new snapshots, and their values.
 *
 * Reading a value prunes its pages, so a test whether all values of a version are
 * there says nothing about a later read.  We read all of them into memory before we
 * do anything with the first.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "am/dying.h"
#include "base/stop.h"
#include "format/pointer.h"
#include "optimizer/optimizer.h"
#include "store/reader.h"

static inline int
member(int attno)
{
	return attno - FirstLowInvalidHeapAttributeNumber;
}

Bitmapset *
sliced_index_columns(Relation rel, IndexInfo *info)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Bitmapset  *read = NULL;
	Bitmapset  *result = NULL;

	for (int i = 0; i < info->ii_NumIndexAttrs; i++)
		if (info->ii_IndexAttrNumbers[i] != 0)
			read = bms_add_member(read, member(info->ii_IndexAttrNumbers[i]));
	pull_varattnos((Node *) info->ii_Expressions, 1, &read);
	pull_varattnos((Node *) info->ii_Predicate, 1, &read);
	for (int attno = 1; attno <= desc->natts; attno++)
		if (TupleDescAttr(desc, attno - 1)->attlen == -1 &&
			(bms_is_member(member(attno), read) || bms_is_member(member(0), read)))
			result = bms_add_member(result, member(attno));
	bms_free(read);
	return result;
}

/* The value that the pointer leads to, as detoast_external_attr() would return it. */
static struct varlena *
fetch_value(Relation toastrel, const struct varatt_external *ptr, SlicedDamage *damage)
{
	uint32		size = VARATT_EXTERNAL_GET_EXTSIZE(*ptr);
	struct varlena *result = palloc(VARHDRSZ + size);

	if (sliced_pointer_is_ours(ptr))
		*damage = sliced_value_try_read(toastrel, SLICED_SEE_READABLE, ptr->va_valueid, 0, size, VARDATA(result));
	else
		*damage = sliced_chunks_read(toastrel, ptr->va_valueid, size, VARDATA(result)) ?
			SLICED_SOUND : SLICED_VALUE_MISSING;
	if (VARATT_EXTERNAL_IS_COMPRESSED(*ptr))
		SET_VARSIZE_COMPRESSED(result, VARHDRSZ + size);
	else
		SET_VARSIZE(result, VARHDRSZ + size);
	return result;
}

bool
sliced_row_fetch_values(Relation rel, Datum *values, bool *isnull, const Bitmapset *columns)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Relation	toastrel = NULL;
	SlicedDamage damage = SLICED_SOUND;

	for (int i = 0; i < desc->natts && !sliced_is_missing(damage); i++)
	{
		struct varlena *value = (struct varlena *) DatumGetPointer(values[i]);
		struct varatt_external ptr;

		if (isnull[i] || TupleDescAttr(desc, i)->attlen != -1 ||
			(columns != NULL && !bms_is_member(member(i + 1), columns)) ||
			!VARATT_IS_EXTERNAL_ONDISK(value))
			continue;
		VARATT_EXTERNAL_GET_POINTER(ptr, value);
		if (toastrel == NULL)
			toastrel = table_open(ptr.va_toastrelid, AccessShareLock);
		value = fetch_value(toastrel, &ptr, &damage);
		SLICED_STOP("dying.value-fetched");
		if (damage == SLICED_SOUND)
			values[i] = PointerGetDatum(value);
	}
	if (toastrel != NULL)
		table_close(toastrel, NoLock);
	return !sliced_is_missing(damage);
}
