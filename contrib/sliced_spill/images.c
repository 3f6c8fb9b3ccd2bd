/*
 * images.c
 *	  Grouping keys by their bytes.
 *
 * The hash function of a type is slow for long keys, and core calls it for each row
 * that it groups.  Ours is for rows that core does not see in this pass.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "catalog/pg_type.h"
#include "format/checksum.h"
#include "images.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/*
 * Types for which we do not rely on core's promise, even if this release gives it:
 * "char(n)", where blanks at the end do not count; "name", where bytes behind the end
 * do not; "interval", which 15.0 to 15.4 and 16.0 promise, although one month is
 * equal to 30 days.  Nor do we for types that contain values of other types.
 */
static bool
is_refused(Oid base)
{
	return base == BPCHAROID || base == NAMEOID || base == INTERVALOID || OidIsValid(get_element_type(base)) ||
		type_is_rowtype(base) || type_is_range(base) || type_is_multirange(base);
}

static bool
equal_images_of(Oid type, Oid equality, Oid collation)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_BTREE_OPFAMILY);
	Oid			promise;

	if (is_refused(getBaseType(type)))
		return false;
	if (entry->eq_opr != equality || !OidIsValid(entry->btree_opf))
		return false;
	promise = get_opfamily_proc(entry->btree_opf, entry->btree_opintype, entry->btree_opintype, BTEQUALIMAGE_PROC);
	return OidIsValid(promise) &&
		DatumGetBool(OidFunctionCall1Coll(promise, collation, ObjectIdGetDatum(entry->btree_opintype)));
}

bool
sliced_equal_images(const Agg *agg, TupleDesc input)
{
	for (int i = 0; i < agg->numCols; i++)
		if (!equal_images_of(TupleDescAttr(input, agg->grpColIdx[i] - 1)->atttypid, agg->grpOperators[i],
							 agg->grpCollations[i]))
			return false;
	return true;
}

/* Clear the bits above a value's own bytes, which may be anything. */
static uint64
own_bytes(Datum value, int len)
{
	return len == sizeof(Datum) ? value : value & ((UINT64CONST(1) << (8 * len)) - 1);
}

static uint32
value_hash(uint32 hash, const FormData_pg_attribute *att, Datum value)
{
	if (att->attbyval)
	{
		uint64		bytes = own_bytes(value, att->attlen);

		return sliced_checksum((char *) &bytes, sizeof(bytes), hash);
	}
	if (att->attlen == -1)
	{
		struct varlena *packed = PG_DETOAST_DATUM_PACKED(value);

		return sliced_checksum(VARDATA_ANY(packed), VARSIZE_ANY_EXHDR(packed), hash);
	}
	return sliced_checksum(DatumGetPointer(value),
						   att->attlen > 0 ? att->attlen : strlen(DatumGetPointer(value)), hash);
}

uint32
sliced_image_hash(TupleTableSlot *row, const AttrNumber *columns, int n)
{
	uint32		hash = 0;

	for (int i = 0; i < n; i++)
	{
		int			column = columns[i] - 1;

		if (row->tts_isnull[column])
			hash = sliced_checksum("", 1, hash);
		else
			hash = value_hash(hash, TupleDescAttr(row->tts_tupleDescriptor, column), row->tts_values[column]);
	}
	return hash;
}
