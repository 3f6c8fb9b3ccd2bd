/*
 * fuzz_tree.c
 *	  Takes any bytes for the nodes of a tree, which it reads, changes, and reads
 *	  again.
 *
 * Links: tree/limbs tree/edits tree/trim tree/groups tree/isolate tree/change tree/walk
 */
#include "postgres.h"

#include "server.h"
#include "tree/tree.h"

int			LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

#define OLD		7
#define NEW		8
#define SLICE	64
#define MAX_LEN 100000
#define MAX_NODES 32

typedef struct Input
{
	const char *edits;
	uint32		nedits;
	const char *nodes[MAX_NODES];
	uint32		sizes[MAX_NODES];
	int			nnodes;
} Input;

static Input *input;
static const SlicedTreeChange *changed;

static void
damaged(void *arg, uint32 objid, int32 seq, SlicedDamage damage)
{
	ereport(ERROR, errmsg("damaged"));
}

/* A node that the change has written, or a node of the input. */
static SlicedDamage
node(void *arg, uint32 objid, int32 seq, ItemPointer hint, char **copy, uint32 *size)
{
	int			i = -seq - 1;
	const char *bytes = NULL;

	for (int k = 0; changed != NULL && k < changed->nwrites; k++)
	{
		const SlicedTreeWrite *w = &changed->writes[k];

		if (w->name.kind == SLICED_CHILD_NODE && w->name.objid == objid && w->name.seq == seq)
		{
			bytes = w->bytes;
			*size = w->size;
		}
	}
	if (bytes == NULL && objid != NEW && i > 0 && i < input->nnodes)
	{
		bytes = input->nodes[i];
		*size = input->sizes[i];
	}
	if (bytes == NULL)
		return SLICED_NODE_MISSING;
	*copy = memcpy(palloc(*size + 1), bytes, *size);
	return SLICED_SOUND;
}

static void
locate(void *arg, uint32 objid, int32 seq, ItemPointer hint)
{
	ItemPointerSet(hint, objid, 1);
}

static SlicedTreeSlice
slice(void *arg, uint32 objid, uint32 pos)
{
	uint32		start = pos - pos % SLICE;

	/* some slices are not where they should be */
	if (pos % 61 == 7)
		start -= Min(start, 20);
	return (SlicedTreeSlice) {start, SLICE, SLICE / 2};
}

static SlicedDamage
read_extent(void *arg, uint32 objid, uint32 start, uint32 len, char *dst)
{
	/* a change has an id of its own */
	if (changed == NULL && objid == NEW)
		return SLICED_SLICE_MISSING;
	for (int k = 0; changed != NULL && objid == NEW && k < changed->nwrites; k++)
	{
		const SlicedTreeWrite *w = &changed->writes[k];

		if (w->name.kind == SLICED_CHILD_EXTENT && start >= w->name.seq && start + len <= w->name.seq + w->size)
		{
			memcpy(dst, w->bytes + start - w->name.seq, len);
			return SLICED_SOUND;
		}
	}
	for (uint32 i = 0; i < len; i++)
		dst[i] = (objid * 31 + start + i) * 7;
	return SLICED_SOUND;
}

static const SlicedTreeStore store = {
	.node = node, .locate = locate, .slice = slice, .read = read_extent, .damaged = damaged
};

/* All of the value; it is shorter than MAX_LEN. */
static char *
read_all(const char *root, uint32 size, uint32 objid, uint32 *len)
{
	static SlicedTreeWalk walk;
	SlicedTreePiece piece;
	SlicedNode	decoded;
	char	   *result;
	uint32		done = 0;

	if (sliced_node_decode(&decoded, root, size, objid, 0) != SLICED_SOUND || decoded.len > MAX_LEN)
		damaged(NULL, objid, -1, SLICED_NODE_IMPOSSIBLE);
	*len = decoded.len;
	result = palloc(*len);
	sliced_tree_walk(&walk, &store, root, size, objid, -1, 0, *len);
	while (sliced_tree_next(&walk, &piece))
	{
		if (piece.bytes != NULL)
			memcpy(result + done, piece.bytes, piece.len);
		else if (read_extent(NULL, piece.objid, piece.start, piece.len, result + done) != SLICED_SOUND)
			damaged(NULL, objid, -1, SLICED_SLICE_MISSING);
		done += piece.len;
	}
	if (walk.damage != SLICED_SOUND)
		damaged(NULL, objid, -1, walk.damage);
	if (done != *len)
		abort();
	return result;
}

static void
run(void *arg)
{
	static const SlicedTreeLimits limits = {
		.literals = 24, .leaf = 80, .children = 4, .longest = 20, .stored_per_leaf = 16, .small = 30, .nsmall = 4, .many = 20
	};
	Input	   *in = arg;
	uint32		len;
	char	   *old = read_all(in->nodes[0], in->sizes[0], OLD, &len);
	SlicedTreeRun runs[256];
	int			nruns = 0;
	char	   *new = palloc(len + 256 * 64);
	uint32		newlen = 0;
	uint32		at = 0;
	SlicedTreeChange change = {.store = &store, .limits = &limits, .objid = NEW, .own = 1};
	char	   *again;

	for (uint32 i = 0; i + 1 < in->nedits && i < 250 && at < len; i += 2)
	{
		uint32		keep = Min((uint8) in->edits[i], len - at);
		uint32		n = (uint8) in->edits[i + 1] % 32;

		if (keep > 0)
			runs[nruns++] = (SlicedTreeRun) {NULL, at, keep};
		/* describe some of it as a moved list */
		if (keep % 4 == 0 && keep > 0 && n >= 24)
		{
			SlicedTreeRun *run = &runs[nruns - 1];
			char	   *words = memcpy(palloc(keep), old + at, keep);

			run->is_list = true;
			run->list = (SlicedList) {at * 5, keep * 3, (uint8) in->edits[i + 1] % 32};
			sliced_list_move(words, keep, &run->list);
			run->bytes = words;
			n = 0;
		}
		if (n > 0)
			runs[nruns++] = (SlicedTreeRun) {"thirty-two bytes, or some of them", 0, n};
		at = Min(len, at + keep + ((uint8) in->edits[i + 1] >> 5) * 4);
	}
	if (at < len)
		runs[nruns++] = (SlicedTreeRun) {NULL, at, len - at};
	for (int i = 0; i < nruns; i++)
	{
		memcpy(new + newlen, runs[i].bytes != NULL ? runs[i].bytes : old + runs[i].start, runs[i].len);
		newlen += runs[i].len;
	}
	if (newlen == 0)
		return;
	sliced_tree_change(&change, in->nodes[0], in->sizes[0], OLD, runs, nruns);
	changed = &change;
	again = read_all(change.root, change.root_size, NEW, &len);
	if (len != newlen || memcmp(again, new, len) != 0)
		abort();
}

/* | number of edits' bytes | edits | length 2 | node | length 2 | node ... */
int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	Input		in = {0};
	const uint8 *end = data + size;

	if (size < 1 || size < 1 + (size_t) data[0])
		return 0;
	in.edits = (const char *) data + 1;
	in.nedits = data[0];
	data += 1 + data[0];
	while (end - data >= 2 && in.nnodes < MAX_NODES)
	{
		uint32		n = Min((uint32) (data[0] | data[1] << 8), (uint32) (end - data - 2));

		in.nodes[in.nnodes] = (const char *) data + 2;
		in.sizes[in.nnodes++] = n;
		data += 2 + n;
	}
	if (in.nnodes == 0)
		return 0;
	input = &in;
	changed = NULL;
	server_run(run, &in);
	return 0;
}
