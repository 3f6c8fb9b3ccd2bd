/*
 * fuzz_jsonb.c
 *	  Takes any bytes for jsonb: looks into it, cuts it, and compares it with
 *	  another.
 *
 * Links: toaster/jsonb/tree toaster/jsonb/layout toaster/jsonb/difference toaster/jsonb/entries store/rope value/common_runs value/anchors value/same_bytes
 */
#include "postgres.h"

#include "document.h"
#include "server.h"
#include "toaster/jsonb/difference.h"
#include "toaster/jsonb/layout.h"
#include "toaster/jsonb/tree.h"

int			LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

typedef struct Input
{
	int			what;
	const char *old;
	uint32		old_len;
	const char *new;
	uint32		new_len;
} Input;

/* Look at everything, or at as much as the budget allows. */
static void
look(SlicedDocument *doc, uint32 at, int level, int *budget)
{
	SlicedJsonbNode	node = sliced_node_open(doc, at);
	SlicedPlace place;

	if (sliced_node_field(&node, "name", 4, &place) && !sliced_place_is_container(&place))
	{
		JsonbValue	value;

		sliced_place_value(doc, &place, &value);
		if (value.type == jbvNumeric && VARSIZE_ANY(value.val.numeric) > place.len)
			abort();
	}
	sliced_node_element(&node, -1, &place);
	sliced_node_need_structure(&node);
	for (uint32 i = 0; i < node.nentries && --*budget > 0; i++)
	{
		JsonbValue	value;

		place = sliced_node_place(&node, i);
		if (sliced_place_is_container(&place) && level > 0)
			look(doc, place.start, level - 1, budget);
		sliced_place_value(doc, &place, &value);
		if (value.type == jbvString && value.val.string.len > 0)
			*budget -= value.val.string.val[value.val.string.len - 1] == 'x';
	}
}

static void
try_tree(void *arg)
{
	Input	   *in = arg;
	int			budget = 2000;
	SlicedDocument *doc = document_make(in->old, in->old_len);

	if (in->what & 4)
		sliced_document_read(doc, 0, in->old_len);
	look(doc, 0, 8, &budget);
}

static void
try_cut(void *arg)
{
	Input	   *in = arg;
	SlicedCut  *cuts;
	int			ncuts;
	uint32		at = 0;

	if (sliced_jsonb_cut(in->new, in->new_len, &cuts, &ncuts) == 0)
		return;
	for (int i = 0; i < ncuts; i++)
	{
		if (cuts[i].start != at || cuts[i].len > in->new_len - at)
			abort();
		at += cuts[i].len;
	}
	if (at != in->new_len)
		abort();
}

static void
try_difference(void *arg)
{
	Input	   *in = arg;
	SlicedDocument *doc = document_make(in->old, in->old_len);
	SlicedRope *rope;

	/* the caller of a comparison has read all of the old one */
	sliced_document_read(doc, 0, in->old_len);
	rope = sliced_jsonb_difference(doc, in->new, in->new_len);
	if (rope != NULL)
		document_check_rope(rope, in->new, in->new_len);
}

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	Input		in = {.what = size > 0 ? data[0] : 0};
	char	   *old;
	char	   *new;

	/* what to do, and where the old one ends */
	if (size < 3)
		return 0;
	in.old_len = Min((data[1] << 8 | data[2]) * 4, size - 3);
	in.new_len = size - 3 - in.old_len;
	in.old = old = memcpy(malloc(in.old_len + 1), data + 3, in.old_len);
	in.new = new = memcpy(malloc(in.new_len + 1), data + 3 + in.old_len, in.new_len);
	server_run(in.what % 4 == 0 ? try_tree : in.what % 4 == 1 ? try_cut : try_difference, &in);
	free(old);
	free(new);
	return 0;
}
