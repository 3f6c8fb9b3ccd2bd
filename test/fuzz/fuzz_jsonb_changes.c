/*
 * fuzz_jsonb_changes.c
 *	  Takes any bytes for jsonb, and calls all functions that change jsonb.
 *
 * Ropes describe the results, and their bytes must be there.  If document and new
 * value are as core makes them, the result must be so too.
 *
 * Links: toaster/jsonb/tree toaster/jsonb/edit toaster/jsonb/entries toaster/jsonb/difference toaster/jsonb/arguments toaster/jsonb/part toaster/jsonb/combine_functions toaster/jsonb/edit_functions store/rope value/common_runs value/anchors value/same_bytes
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "document.h"
#include "fmgr.h"
#include "format/pointer.h"
#include "server.h"
#include "toaster/jsonb/part.h"
#include "utils/builtins.h"
#include "utils/expandeddatum.h"
#include "utils/fmgrprotos.h"
#include "value/promise.h"
#include "value/result.h"

#define MAX_NAMES	4

int			LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

typedef struct Input
{
	int			what;
	uint8		steps[MAX_NAMES];	/* the entry to go into, on each level */
	const char *old;
	uint32		old_len;
	const char *new;
	uint32		new_len;
	bool		is_canonical;
} Input;

/* The path of the call; the array that it gets stands for it. */
static Datum names[MAX_NAMES];
static bool nulls[MAX_NAMES];
static int	nnames;

static SlicedDocument *doc;
static Input *input;

/* ---- stand-ins for core ---- */

#define CORE(function) \
	Datum \
	function(PG_FUNCTION_ARGS) \
	{ \
		ereport(ERROR, errmsg("it is core's")); \
	}

CORE(jsonb_concat)
CORE(jsonb_delete)
CORE(jsonb_delete_array)
CORE(jsonb_delete_idx)
CORE(jsonb_delete_path)
CORE(jsonb_insert)
CORE(jsonb_set)
CORE(jsonb_set_lax)

/* {"a": null, "b": null} */
Datum
jsonb_build_object(PG_FUNCTION_ARGS)
{
	Jsonb	   *result = palloc(VARHDRSZ + 5 * sizeof(uint32) + 2);

	SET_VARSIZE(result, VARHDRSZ + 5 * sizeof(uint32) + 2);
	result->root.header = JB_FOBJECT | 2;
	result->root.children[0] = JENTRY_HAS_OFF | 1;
	result->root.children[1] = 1;
	result->root.children[2] = JENTRY_ISNULL;
	result->root.children[3] = JENTRY_ISNULL;
	memcpy(&result->root.children[4], "ab", 2);
	PG_RETURN_JSONB_P(result);
}

void
JsonbToJsonbValue(Jsonb *jsonb, JsonbValue *value)
{
	ereport(ERROR, errmsg("it is core's"));
}

void
EOH_init_header(ExpandedObjectHeader *header, const ExpandedObjectMethods *methods, MemoryContext context)
{
	varatt_expanded pointer = {header};

	header->eoh_methods = methods;
	SET_VARTAG_EXTERNAL(header->eoh_ro_ptr, VARTAG_EXPANDED_RO);
	memcpy(VARDATA_EXTERNAL(header->eoh_ro_ptr), &pointer, sizeof(pointer));
}

ExpandedObjectHeader *
DatumGetEOHP(Datum datum)
{
	varatt_expanded pointer;

	memcpy(&pointer, VARDATA_EXTERNAL(DatumGetPointer(datum)), sizeof(pointer));
	return pointer.eohptr;
}

/* Fetch a value of ours into memory of exactly its length. */
struct varlena *
pg_detoast_datum(struct varlena *datum)
{
	SlicedPart	part;
	struct varlena *result;

	if (!sliced_part_of(PointerGetDatum(datum), &part))
		return datum;
	result = palloc(part.len + VARHDRSZ);
	SET_VARSIZE(result, part.len + VARHDRSZ);
	memcpy(VARDATA(result), input->old + part.start, part.len);
	return result;
}

struct varlena *
pg_detoast_datum_packed(struct varlena *datum)
{
	return datum;
}

char *
text_to_cstring(const text *t)
{
	char	   *result = palloc0(VARSIZE_ANY_EXHDR(t) + 1);

	return memcpy(result, VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t));
}

/* The first argument of core's functions is const in some majors only. */
extern void deconstruct(void *array, Oid type, int len, bool byval, char align, Datum **values, bool **isnull,
						int *n) __asm__("deconstruct_array");
extern bool contains_nulls(void *array) __asm__("array_contains_nulls");

void
deconstruct(void *array, Oid type, int len, bool byval, char align, Datum **values, bool **isnull, int *n)
{
	*values = names;
	*isnull = nulls;
	*n = nnames;
}

bool
contains_nulls(void *array)
{
	return false;
}

Oid
get_fn_expr_argtype(FmgrInfo *flinfo, int argnum)
{
	return argnum % 2 == 0 ? TEXTOID : JSONBOID;
}

bool
get_fn_expr_variadic(FmgrInfo *flinfo)
{
	return false;
}

bool
get_fn_expr_arg_stable(FmgrInfo *flinfo, int argnum)
{
	return true;
}

/* ---- results ---- */

SlicedRope *
sliced_rope_at(const struct varatt_external *ptr)
{
	return sliced_document_rope(doc);
}

Datum
sliced_result_unchanged(FunctionCallInfo fcinfo)
{
	return PG_GETARG_DATUM(0);
}

/* True if this is as core makes it. */
static bool
is_canonical(const char *container, uint32 len, int level)
{
	const JsonbContainer *c = (const JsonbContainer *) container;
	uint32		nentries;
	const char *data;
	uint32		begin = 0;

	if (level == 0 || !sliced_container_is_sound(container, len))
		return false;
	nentries = JsonContainerSize(c) * (JsonContainerIsObject(c) ? 2 : 1);
	data = (const char *) &c->children[nentries];
	for (uint32 i = 0; i < nentries; i++)
	{
		JEntry		entry = c->children[i];
		uint32		end = JBE_HAS_OFF(entry) ? JBE_OFFLENFLD(entry) : begin + JBE_OFFLENFLD(entry);
		uint32		start = JBE_ISCONTAINER(entry) || JBE_ISNUMERIC(entry) ? INTALIGN(begin) : begin;

		if ((JBE_HAS_OFF(entry) != 0) != (i % JB_OFFSET_STRIDE == 0) || start > end ||
			(JBE_ISCONTAINER(entry) && !is_canonical(data + start, end - start, level - 1)))
			return false;
		begin = end;
	}
	return true;
}

Datum
sliced_result_of_rope(FunctionCallInfo fcinfo, const SlicedRope *rope)
{
	char	   *bytes = palloc(rope->len);
	uint32		at = 0;

	document_check_rope(rope, NULL, 0);
	for (int i = 0; i < rope->nruns; at += rope->runs[i++].len)
		memcpy(bytes + at, rope->runs[i].bytes != NULL ? rope->runs[i].bytes : input->old + rope->runs[i].start,
			   rope->runs[i].len);
	if (input->is_canonical && !is_canonical(bytes, rope->len, 100))
		abort();
	return (Datum) 0;
}

/* ---- changes ---- */

extern Datum sliced_edit_jsonb_build_object(PG_FUNCTION_ARGS);
extern Datum sliced_edit_jsonb_concat(PG_FUNCTION_ARGS);
extern Datum sliced_edit_jsonb_delete(PG_FUNCTION_ARGS);
extern Datum sliced_edit_jsonb_delete_array(PG_FUNCTION_ARGS);
extern Datum sliced_edit_jsonb_delete_idx(PG_FUNCTION_ARGS);
extern Datum sliced_edit_jsonb_delete_path(PG_FUNCTION_ARGS);
extern Datum sliced_edit_jsonb_insert(PG_FUNCTION_ARGS);
extern Datum sliced_edit_jsonb_set(PG_FUNCTION_ARGS);
extern Datum sliced_edit_jsonb_subscript(PG_FUNCTION_ARGS);

static Datum
make_text(const char *bytes, uint32 len)
{
	text	   *result = palloc(len + VARHDRSZ);

	SET_VARSIZE(result, len + VARHDRSZ);
	memcpy(VARDATA(result), bytes, len);
	return PointerGetDatum(result);
}

/*
 * Find a path by the input's steps.  Each step is an entry of its container, or one
 * that is missing.  Returns what is at the path's end if that is a container.
 */
static SlicedPlace
find_path(const Input *in)
{
	SlicedPlace result = {JENTRY_ISCONTAINER, 0, in->old_len};

	for (nnames = 0; nnames < 1 + (in->what >> 4 & 3); nnames++)
	{
		SlicedJsonbNode	node = sliced_node_open(doc, result.start);
		uint32		step = in->steps[nnames];
		uint32		i = node.count == 0 ? 0 : step % node.count;
		SlicedPlace key;
		SlicedPlace value;

		if (node.count == 0 || step >= 250)
		{
			names[nnames++] = sliced_node_is_object(&node) ? make_text("none", 4) :
				make_text("-99999", step % 2 == 0 ? 6 : 2);
			break;
		}
		if (sliced_node_is_object(&node))
		{
			key = sliced_node_place(&node, i);
			names[nnames] = make_text(sliced_document_need(doc, key.start, key.len), key.len);
		}
		else
		{
			char		digits[12];
			int			n = snprintf(digits, sizeof(digits), "%d", step % 3 == 0 ? (int) i - (int) node.count : (int) i);

			names[nnames] = make_text(digits, n);
		}
		value = sliced_node_place(&node, node.nentries - node.count + i);
		if (!sliced_place_is_container(&value))
		{
			nnames++;
			break;
		}
		result = value;
	}
	return result;
}

static void
try_change(void *arg)
{
	static FmgrInfo flinfo;
	LOCAL_FCINFO(fcinfo, 4);
	Input	   *in = arg;
	char		pointer[TOAST_POINTER_SIZE];
	Datum		old = PointerGetDatum(pointer);
	Datum		new = make_text(in->new, in->new_len);
	ArrayType  *path = palloc0(sizeof(ArrayType));
	SlicedPlace part;

	doc = document_make(in->old, in->old_len);
	sliced_pointer_set(pointer, 1, 2, in->old_len);
	part = find_path(in);
	/* none of it has been read */
	doc = document_make(in->old, in->old_len);
	if (in->what & 64)
		new = sliced_part_make(doc, &part);
	in->is_canonical = is_canonical(in->old, in->old_len, 100) &&
		((in->what & 64) != 0 || is_canonical(in->new, in->new_len, 100));

	path->ndim = 1;
	SET_VARSIZE(path, sizeof(ArrayType));
	memset(&flinfo, 0, sizeof(flinfo));
	InitFunctionCallInfoData(*fcinfo, &flinfo, 4, InvalidOid, NULL, NULL);
	fcinfo->args[0] = (NullableDatum) {old};
	fcinfo->args[1] = (NullableDatum) {PointerGetDatum(path)};
	fcinfo->args[2] = (NullableDatum) {new};
	fcinfo->args[3] = (NullableDatum) {BoolGetDatum(in->what >> 7)};
	switch (in->what % 16)
	{
		case 0:
		case 1:
			sliced_edit_jsonb_set(fcinfo);
			break;
		case 2:
			sliced_edit_jsonb_insert(fcinfo);
			break;
		case 3:
			sliced_edit_jsonb_delete_path(fcinfo);
			break;
		case 4:
			fcinfo->args[1] = (NullableDatum) {new};
			fcinfo->args[2] = (NullableDatum) {BoolGetDatum(true)};
			fcinfo->args[3] = (NullableDatum) {PointerGetDatum(path)};
			sliced_edit_jsonb_subscript(fcinfo);
			break;
		case 5:
			fcinfo->args[1] = (NullableDatum) {names[0]};
			sliced_edit_jsonb_delete(fcinfo);
			break;
		case 6:
			sliced_edit_jsonb_delete_array(fcinfo);
			break;
		case 7:
			fcinfo->args[1] = (NullableDatum) {Int32GetDatum((int8) in->steps[0])};
			sliced_edit_jsonb_delete_idx(fcinfo);
			break;
		case 8:
			fcinfo->args[0] = (NullableDatum) {make_text("a", 1)};
			fcinfo->args[1] = (NullableDatum) {sliced_part_make(doc, &part)};
			fcinfo->args[2] = (NullableDatum) {make_text("b", 1)};
			fcinfo->args[3] = (NullableDatum) {in->what & 128 ? old : new};
			sliced_edit_jsonb_build_object(fcinfo);
			break;
		default:
			fcinfo->args[in->what % 2] = (NullableDatum) {old};
			fcinfo->args[1 - in->what % 2] = (NullableDatum) {new};
			sliced_edit_jsonb_concat(fcinfo);
			break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	static const int header = 3 + MAX_NAMES;
	Input		in = {0};
	char	   *old;
	char	   *new;

	/* what to do, where the old one ends, and where to go */
	if (size < header)
		return 0;
	in.what = data[0];
	in.old_len = Min((data[1] << 8 | data[2]) * 4, size - header);
	in.new_len = size - header - in.old_len;
	memcpy(in.steps, data + 3, MAX_NAMES);
	in.old = old = memcpy(malloc(in.old_len + 1), data + header, in.old_len);
	in.new = new = memcpy(malloc(in.new_len + 1), data + header + in.old_len, in.new_len);
	input = &in;
	server_run(try_change, &in);
	free(old);
	free(new);
	return 0;
}
