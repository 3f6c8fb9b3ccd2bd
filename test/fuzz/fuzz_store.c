/*
 * fuzz_store.c
 *	  Takes any bytes for rows of a toast relation: reads values from them, whole
 *	  and in parts, counts their characters, and verifies them.
 *
 * Links: tree/walk tree/names store/layout store/object store/kept store/slice store/cursor store/reader store/partial store/chars store/walk store/loaded store/dictionary
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "base/invalidation.h"
#include "base/limits.h"
#include "format/pointer.h"
#include "server.h"
#include "store/chars.h"
#include "store/cursor.h"
#include "store/dictionary.h"
#include "store/partial.h"
#include "store/reader.h"
#include "store/toast_file.h"
#include "store/walk.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/timestamp.h"

int			LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

#define MAX_ROWS	64
#define MAX_SIZE	(1024 * 1024)

typedef struct Row
{
	uint32		objid;
	int32		seq;
	int			writer;
	char	   *data;
	uint32		len;
} Row;

static Row	rows[MAX_ROWS];
static int	nrows;

typedef struct Input
{
	int			what;
	uint32		size;
	uint32		offset;
	uint32		len;
} Input;

static struct RelationData relation;

/* ---- a toast relation in memory ---- */

typedef struct Place
{
	int32		first;
	int32		last;
	int			at;				/* the row before the next, in either direction */
	bool		begun;
} Place;

void
sliced_scan_open(ToastScan *ts, Relation toastrel, Snapshot snapshot, LOCKMODE lockmode)
{
	memset(ts, 0, sizeof(*ts));
	ts->toastrel = toastrel;
	ts->snapshot = snapshot;
	ts->scan = palloc0(sizeof(Place));
}

void
sliced_scan_close(ToastScan *ts, LOCKMODE lockmode)
{
}

void
sliced_scan_seek_within(ToastScan *ts, Oid objid, int32 first, int32 last)
{
	*(Place *) ts->scan = (Place) {first, last};
	ts->objid = objid;
}

void
sliced_scan_seek(ToastScan *ts, Oid objid, int32 seq, ScanDirection dir)
{
	if (ScanDirectionIsForward(dir))
		sliced_scan_seek_within(ts, objid, seq, PG_INT32_MAX);
	else
		sliced_scan_seek_within(ts, objid, SLICED_HEAD_SEQ, seq);
}

bool
sliced_scan_next(ToastScan *ts, ScanDirection dir)
{
	Place	   *place = (Place *) ts->scan;

	if (!place->begun)
		place->at = ScanDirectionIsForward(dir) ? -1 : nrows;
	place->begun = true;
	for (place->at += dir; place->at >= 0 && place->at < nrows; place->at += dir)
	{
		Row		   *row = &rows[place->at];

		if (row->objid != ts->objid || row->seq < place->first || row->seq > place->last)
			continue;
		ts->seq = row->seq;
		ts->data = row->data;
		ts->len = row->len;
		return true;
	}
	/* stay there */
	place->at = place->at < 0 ? -1 : nrows;
	return false;
}

bool
sliced_scan_is_at(ToastScan *ts, const ItemPointerData *tid, Oid objid, int32 seq)
{
	uint32		at = ItemPointerGetBlockNumberNoCheck(tid);

	if (!ItemPointerIsValid(tid) || at >= nrows || rows[at].objid != objid || rows[at].seq != seq)
		return false;
	ts->seq = seq;
	ts->data = rows[at].data;
	ts->len = rows[at].len;
	return true;
}

TransactionId
sliced_scan_inserter(ToastScan *ts)
{
	int			at = ((Place *) ts->scan)->at;

	return at >= 0 && at < nrows ? 3 + rows[at].writer : 3;
}

void
sliced_report_corruption(Relation toastrel, Oid valueid, uint32 offset, SlicedDamage damage)
{
	if (sliced_damage_text(damage) == NULL)
		abort();
	ereport(ERROR, errmsg("damaged"));
	abort();
}

Relation
table_open(Oid relid, LOCKMODE lockmode)
{
	return &relation;
}

void
table_close(Relation rel, LOCKMODE lockmode)
{
}

Relation
sliced_toast_open(Oid toastrelid)
{
	return &relation;
}

void
sliced_toast_close(Relation toastrel)
{
}

/* ---- a hash table is a list ---- */

struct HTAB
{
	Size		keysize;
	Size		entrysize;
	char	   *entries;
	int			n;
};

HTAB *
hash_create(const char *tabname, long nelem, const HASHCTL *info, int flags)
{
	HTAB	   *table = palloc0(sizeof(HTAB));

	table->keysize = info->keysize;
	table->entrysize = info->entrysize;
	/* each node has one entry */
	table->entries = palloc0(MAX_ROWS * table->entrysize);
	return table;
}

void *
hash_search(HTAB *table, const void *key, HASHACTION action, bool *found)
{
	for (int i = 0; i < table->n; i++)
		if (memcmp(table->entries + i * table->entrysize, key, table->keysize) == 0)
			return table->entries + i * table->entrysize;
	if (action == HASH_FIND)
		return NULL;
	if (action != HASH_ENTER || table->n == MAX_ROWS)
		abort();
	return memcpy(table->entries + table->n++ * table->entrysize, key, table->keysize);
}

/* ---- there are no other sessions ---- */

Oid			MyDatabaseId;

VirtualTransactionId *
GetLockConflicts(const LOCKTAG *locktag, LOCKMODE lockmode, int *countp)
{
	return palloc0(sizeof(VirtualTransactionId));
}

TimestampTz
GetCurrentTimestamp(void)
{
	return 0;
}

TransactionId
GetTopTransactionIdIfAny(void)
{
	return InvalidTransactionId;
}

bool
TransactionIdIsCurrentTransactionId(TransactionId xid)
{
	return false;
}

int			old_snapshot_threshold = -1;

/* ---- the operations ---- */

static struct varatt_external
pointer_of(uint32 size)
{
	char		bytes[TOAST_POINTER_SIZE];
	struct varatt_external ptr;

	sliced_pointer_set(bytes, 1, 1, size);
	sliced_pointer_get(&ptr, (struct varlena *) bytes);
	return ptr;
}

static void
on_slice(void *arg, int i, Oid objid, const SlicedSlice *slice)
{
	if (slice->rawlen > SLICED_SLICE_MAX)
		abort();
}

static void
on_node(void *arg, Oid objid, int32 seq, uint32 size)
{
	if (seq >= 0 || size == 0)
		abort();
}

static void
on_problem(void *arg, SlicedProblemKind kind, Oid objid, int64 offset, const char *message)
{
	if (message == NULL)
		abort();
}

static void
try_store(void *arg)
{
	static const SlicedVisitor visitor = {
		.slice = on_slice, .node = on_node, .problem = on_problem
	};
	Input	   *in = arg;
	struct varatt_external ptr = pointer_of(in->size);
	uint32		len = Min(in->len, in->size - in->offset);
	SlicedPartial partial;
	ToastScan	ts;
	uint32		n;

	switch (in->what)
	{
		case 0:
			sliced_value_read(&relation, 1, 0, in->size, palloc(in->size));
			break;
		case 1:
			if (len > 0)
				sliced_value_read(&relation, 1, in->offset, len, palloc(len));
			break;
		case 2:
			/* here and there, then all; after that nothing may be missing */
			sliced_partial_init(&partial, CurrentMemoryContext, in->size);
			sliced_partial_try_read(&partial, &ptr, in->offset, in->offset + len);
			sliced_partial_try_read(&partial, &ptr, 0, Min(in->size, 10));
			sliced_partial_read(&partial, &ptr, 0, in->size);
			if (sliced_partial_missing(&partial, 0, in->size).from != in->size)
				abort();
			break;
		case 3:
			sliced_chars_seek(&ptr, in->offset, &n, NULL);
			sliced_chars_seek(&ptr, PG_UINT32_MAX, &n, NULL);
			break;
		case 4:
			for (int as_reader = 0; as_reader < 2; as_reader++)
			{
				sliced_scan_open(&ts, &relation, as_reader ? NULL : (Snapshot) &relation, NoLock);
				sliced_value_walk(&ts, &ptr, &visitor);
			}
			break;
		case 5:
			{
				SlicedRow	last;
				uint32		storedlen;

				sliced_scan_open(&ts, &relation, NULL, NoLock);
				sliced_object_end(&ts, 1, in->offset, &last);
				sliced_slice_seq(&ts, 1, in->offset);
				sliced_value_is_complete(&relation, 1, in->size);
				for (int codec = 0; codec < 4; codec++)
					sliced_value_compressed(&relation, 1, in->size, codec, 4, &storedlen);
				break;
			}
	}
}

/* The stored bytes of a row, '*len' of them, and its codec; NULL if it has none. */
static char *
stored_bytes(Row *row, uint8 *codec, uint32 *len)
{
	uint32		before = sizeof(SlicedRowHeader);
	int			kind;

	if (row->len < before)
		return NULL;
	kind = row->data[offsetof(SlicedRowHeader, kind)] & 0x0F;
	*codec = row->data[offsetof(SlicedRowHeader, codec)];
	if (kind == SLICED_ROW_HEAD)
	{
		uint16		root_size;

		if (row->len < before + sizeof(SlicedHeadHeader))
			return NULL;
		memcpy(&root_size, row->data + before + offsetof(SlicedHeadHeader, root_size), sizeof(root_size));
		before += sizeof(SlicedHeadHeader) + root_size;
	}
	else if (kind != SLICED_ROW_SLICE)
		return NULL;
	if (row->len < before)
		return NULL;
	*len = row->len - before;
	return row->data + before;
}

/* Make a slice that names a dictionary name one that exists. */
static void
correct_name(Row *row)
{
	uint8		codec;
	uint32		len;
	char	   *stored = stored_bytes(row, &codec, &len);
	uint32		id;

	if (stored == NULL || (codec & SLICED_ROW_HAS_DICTIONARY) == 0 || len < SLICED_DICTIONARY_NAME)
		return;
	id = stored[0] & 7;
	memcpy(stored, &id, sizeof(id));
	for (int i = 0; i < nrows; i++)
	{
		uint32		nbytes;
		char	   *bytes = stored_bytes(&rows[i], &codec, &nbytes);

		if (rows[i].objid == id && bytes != NULL && codec == SLICED_CODEC_NONE)
		{
			uint32		checksum = sliced_dictionary_checksum(bytes, nbytes);

			memcpy(stored + sizeof(id), &checksum, sizeof(checksum));
			break;
		}
	}
}

static int
by_place(const void *a, const void *b)
{
	const Row  *x = a;
	const Row  *y = b;

	if (x->objid != y->objid)
		return x->objid < y->objid ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq ? 1 : 0;
}

/* Relations change only between inputs. */
void
sliced_at_relation_change(SlicedRelationChanged changed)
{
}

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	Input		in;

	if (size < 13)
		return 0;
	sliced_dictionary_init();
	in.what = data[0] % 6;
	memcpy(&in.size, data + 1, 4);
	memcpy(&in.offset, data + 5, 4);
	memcpy(&in.len, data + 9, 4);
	in.size = in.size % MAX_SIZE + 1;
	in.offset %= in.size;
	data += 13;
	size -= 13;
	for (nrows = 0; nrows < MAX_ROWS && size >= 7; nrows++)
	{
		Row		   *row = &rows[nrows];
		uint16		len;

		row->objid = data[0] & 15;
		row->writer = data[0] >> 7;
		memcpy(&row->seq, data + 1, 4);
		memcpy(&len, data + 5, 2);
		row->len = Min(len, size - 7);
		row->data = memcpy(malloc(row->len + 1), data + 7, row->len);
		data += 7 + row->len;
		size -= 7 + row->len;
	}
	for (int i = 0; i < nrows; i++)
	{
		correct_name(&rows[i]);
		correct_checksum(rows[i].data, rows[i].len, rows[i].objid, rows[i].seq);
	}
	qsort(rows, nrows, sizeof(Row), by_place);
	server_run(try_store, &in);
	for (int i = 0; i < nrows; i++)
		free(rows[i].data);
	return 0;
}
