/*
 * fuzz_array.c
 *	  Takes any bytes for an array: finds, fetches and replaces elements.
 *
 * Links: toaster/array/elements toaster/array/splice store/rope
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "document.h"
#include "fmgr.h"
#include "format/pointer.h"
#include "server.h"
#include "toaster/array/elements.h"
#include "toaster/array/splice.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

int			LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

typedef struct Input
{
	int			what;
	int			item;
	int			remove;
	const char *old;
	uint32		old_len;
} Input;

/* Types of some lengths and alignments. */
void
get_typlenbyvalalign(Oid type, int16 *typlen, bool *typbyval, char *typalign)
{
	static const struct
	{
		int16		len;
		bool		byval;
		char		align;
	}			types[] = {{4, true, 'i'}, {8, true, 'd'}, {2, true, 's'}, {1, true, 'c'}, {16, false, 'c'}, {-1, false, 'i'}, {-1, false, 'd'}, {-2, false, 'c'}};
	int			n = type % lengthof(types);

	*typlen = types[n].len;
	*typbyval = types[n].byval;
	*typalign = types[n].align;
}

bool
SearchSysCacheExists(int cache, Datum key1, Datum key2, Datum key3, Datum key4)
{
	return DatumGetObjectId(key1) % 16 != 0;
}

/* What the caller expects: any type, or one of some that may be another than the array's. */
static Oid	expected;

Oid
get_fn_expr_argtype(FmgrInfo *flinfo, int argnum)
{
	return expected;
}

Oid
get_base_element_type(Oid typid)
{
	return typid;
}

int
ArrayGetNItems(int ndim, const int *dims)
{
	int64		n = ndim > 0;

	for (int i = 0; i < ndim; i++)
	{
		if (dims[i] < 0 || (n *= dims[i]) > (int64) MaxArraySize)
			ereport(ERROR, errmsg("too many"));
	}
	return n;
}

void
array_bitmap_copy(uint8 *dest, int to, const uint8 *src, int from, int n)
{
	for (int i = 0; i < n; i++, to++, from++)
		if (src == NULL || (src[from / 8] & (1 << from % 8)) != 0)
			dest[to / 8] |= 1 << to % 8;
		else
			dest[to / 8] &= ~(1 << to % 8);
}

static bool
get(Input *in, SlicedArray *array)
{
	static FmgrInfo flinfo;
	LOCAL_FCINFO(fcinfo, 1);
	SlicedDocument *doc = document_make(in->old, in->old_len);
	char		pointer[TOAST_POINTER_SIZE];

	memset(&flinfo, 0, sizeof(flinfo));
	expected = in->what >> 6 & 1 ? in->item % 16 : InvalidOid;
	fcinfo->flinfo = &flinfo;
	sliced_pointer_set(pointer, 1, 2, doc->partial.size);
	fcinfo->args[0].value = PointerGetDatum(pointer);
	return sliced_array_get(fcinfo, 0, array);
}

static void
try_elements(void *arg)
{
	Input	   *in = arg;
	SlicedArray array;
	int			item;

	if (!get(in, &array))
		return;
	item = in->item % array.nitems;
	if (!sliced_array_is_null(&array, item))
		sliced_array_fetch(&array, item);
	for (int i = item; i < array.nitems && i < item + 2000; i++)
	{
		uint32		at = sliced_array_place(&array, i);

		if (at > array.size)
			abort();
		if (!sliced_array_is_null(&array, i))
			sliced_array_fetch(&array, i);
	}
}

static void
try_splice(void *arg)
{
	Input	   *in = arg;
	SlicedArray array;
	SlicedSplice s = {.gap_before = in->what >> 4 & 1, .needs_bitmap = in->what >> 4 & 1};
	SlicedRope *whole;
	SlicedRope *rope;
	static const char bytes[8] = "\x20\0\0\0text";

	if (!get(in, &array) || array.ndim != 1)
		return;
	s.at = in->item % (array.nitems + 1);
	s.remove = Min(in->remove, array.nitems - s.at);
	s.items = (SlicedItems) {.n = in->what >> 5 & 1, .data = bytes};
	if (s.items.n > 0)
		s.items.len = array.typlen > 0 ? array.stride : sizeof(bytes);
	if (s.items.len > sizeof(bytes))
		return;
	s.dims[0] = array.nitems - s.remove + s.items.n + s.gap_before;
	s.lbs[0] = array.lbs[0];
	whole = sliced_document_rope(array.doc);
	rope = sliced_splice(&array, whole, &s);
	if (rope != NULL)
		document_check_rope(rope, NULL, 0);
}

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	Input		in;
	char	   *old;

	/* what to do, with which items, and how long the array is */
	if (size < 6)
		return 0;
	in.what = data[0];
	in.item = data[1] << 8 | data[2];
	in.remove = data[3];
	in.old_len = Min((data[4] << 8 | data[5]) * 4, size - 6);
	/* ArrayType's first field is the datum's length, which documents do not have */
	old = (char *) malloc(in.old_len + 9) + 4;
	in.old = memcpy(old, data + 6, in.old_len);
	server_run(in.what % 2 == 0 ? try_elements : try_splice, &in);
	free(old - 4);
	return 0;
}
