/*
 * dictionary.c
 *	  Dictionaries, and the choice of one for new slices of a column.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "base/invalidation.h"
#include "base/limits.h"
#include "base/locks.h"
#include "base/stop.h"
#include "store/cursor.h"
#include "store/dictionary.h"
#include "store/draft.h"
#include "store/loaded.h"
#include "store/reader.h"
#include "store/toast_file.h"
#include "store/toast_scan.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"

/* ---- reading ---- */

/* Read a dictionary's bytes, if they are visible. */
static SlicedDamage
read_visible(Relation toastrel, SlicedVisibility visibility, const SlicedDictionaryName *name,
			 char **bytes, uint32 *len)
{
	ToastScan	ts;
	SlicedRow	last;
	SlicedDamage damage;

	sliced_scan_open(&ts, toastrel, NULL, AccessShareLock);
	ts.visibility = visibility;
	*len = sliced_object_end(&ts, name->id, SLICED_DICTIONARY_MAX, &last);
	sliced_scan_close(&ts, AccessShareLock);
	if (*len == 0)
		return SLICED_DICTIONARY_MISSING;
	if (*len > SLICED_SLICE_MAX)
		return SLICED_DICTIONARY_DAMAGED;
	*bytes = palloc(*len);
	damage = sliced_value_try_read(toastrel, visibility, name->id, 0, *len, *bytes);
	if (damage != SLICED_SOUND)
		return sliced_is_missing(damage) ? SLICED_DICTIONARY_MISSING : SLICED_DICTIONARY_DAMAGED;
	return sliced_dictionary_checksum(*bytes, *len) == name->checksum ? SLICED_SOUND :
		SLICED_DICTIONARY_DAMAGED;
}

/*
 * Read a dictionary's bytes, even if they were rolled back.  The slice was rolled
 * back with them, so a reader that has come to the slice's bytes may read the
 * dictionary.
 */
static SlicedDamage
read_bytes(Relation toastrel, const SlicedDictionaryName *name, char **bytes, uint32 *len)
{
	SlicedDamage damage = read_visible(toastrel, SLICED_SEE_READABLE, name, bytes, len);

	return damage != SLICED_DICTIONARY_MISSING ? damage :
		read_visible(toastrel, SLICED_SEE_ABORTED, name, bytes, len);
}

/* For those that are not in memory. */
static SlicedDamage
load(const SlicedDictionaryName *name, char **bytes, uint32 *len)
{
	Relation	toastrel = sliced_toast_open(name->relid);
	SlicedDamage damage = read_bytes(toastrel, name, bytes, len);

	sliced_toast_close(toastrel);
	SLICED_STOP("dictionary.read");
	return damage;
}

SlicedDamage
sliced_dictionary_check(const SlicedDictionaryName *name)
{
	Relation	toastrel = table_open(name->relid, AccessShareLock);
	char	   *bytes = NULL;
	uint32		len;
	SlicedDamage damage = read_visible(toastrel, SLICED_SEE_READABLE, name, &bytes, &len);

	if (bytes != NULL)
		pfree(bytes);
	table_close(toastrel, AccessShareLock);
	return damage;
}

/* ---- the directory ---- */

List *
sliced_dictionary_list(Relation toastrel, SlicedDamage *damage)
{
	List	   *result = NIL;
	ToastScan	ts;

	*damage = SLICED_SOUND;
	sliced_scan_open(&ts, toastrel, NULL, AccessShareLock);
	ts.visibility = SLICED_SEE_CURRENT;
	sliced_scan_seek(&ts, InvalidOid, 0, ForwardScanDirection);
	while (sliced_scan_next(&ts, ForwardScanDirection))
	{
		SlicedListedEntry *listed;
		SlicedRow	row;
		SlicedEntry entry;
		SlicedDamage here = sliced_row_decode(&row, ts.data, ts.len, ts.objid, ts.seq);

		if (here == SLICED_SOUND)
			here = row.kind != SLICED_ROW_ENTRY ? SLICED_ENTRY_IMPOSSIBLE :
				sliced_entry_decode(&entry, row.payload, row.payload_len);
		if (here != SLICED_SOUND)
		{
			*damage = here;
			continue;
		}
		listed = palloc(sizeof(*listed));
		listed->attno = ts.seq / SLICED_ENTRIES;
		listed->n = ts.seq % SLICED_ENTRIES;
		listed->entry = entry;
		result = lappend(result, listed);
	}
	sliced_scan_close(&ts, AccessShareLock);
	return result;
}

const SlicedEntry *
sliced_dictionary_last(List *entries, int attno)
{
	const SlicedEntry *result = NULL;
	ListCell   *lc;

	foreach(lc, entries)
	{
		const SlicedListedEntry *listed = lfirst(lc);

		if (listed->attno == attno)
			result = &listed->entry;
	}
	return result;
}

/* ---- the directory in memory ---- */

typedef struct Current
{
	int			attno;
	SlicedDictionaryName name;
} Current;

/* Of one toast relation. */
typedef struct Directory
{
	Oid			relid;
	int			n;
	Current    *current;
} Directory;

static HTAB *directories;
static uint64 changes = 0;		/* of any relation */

static void
forget(Directory *directory)
{
	if (directory->current != NULL)
		pfree(directory->current);
	hash_search(directories, &directory->relid, HASH_REMOVE, NULL);
}

static void
forget_relation(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS status;
	Directory  *directory;

	changes++;
	if (directories == NULL)
		return;
	if (OidIsValid(relid))
	{
		if ((directory = hash_search(directories, &relid, HASH_FIND, NULL)) != NULL)
			forget(directory);
		return;
	}
	hash_seq_init(&status, directories);
	while ((directory = hash_seq_search(&status)) != NULL)
		forget(directory);
}

/* The dictionaries to use, the last of each column: at most as many as entries. */
static int
find_current(Oid toastrelid, List *entries, Current *current)
{
	int			n = 0;
	ListCell   *lc;

	foreach(lc, entries)
	{
		const SlicedListedEntry *listed = lfirst(lc);

		if (n == 0 || current[n - 1].attno != listed->attno)
			current[n++] = (Current) {listed->attno, {toastrelid}};
		/* a dictionary that was not worth it does not replace an older one */
		if (listed->entry.id != 0)
			current[n - 1].name = (SlicedDictionaryName) {
				toastrelid, listed->entry.id, listed->entry.checksum
			};
	}
	return n;
}

static void
remember(Oid toastrelid, const Current *current, int n)
{
	Directory  *directory;
	Current    *copy = NULL;

	if (directories == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(Oid), .entrysize = sizeof(Directory)};

		ctl.hcxt = AllocSetContextCreate(TopMemoryContext, "sliced dictionaries",
										 ALLOCSET_SMALL_SIZES);
		directories = hash_create("sliced dictionaries", 32, &ctl,
								  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	if (n > 0)
	{
		copy = MemoryContextAlloc(TopMemoryContext, n * sizeof(Current));
		memcpy(copy, current, n * sizeof(Current));
	}
	directory = hash_search(directories, &toastrelid, HASH_ENTER, NULL);
	directory->n = n;
	directory->current = copy;
}

/* Read the directory.  If something changes meanwhile, we do not remember it. */
static SlicedDictionaryName
look_up(Oid toastrelid, int attno)
{
	SlicedDictionaryName result = {toastrelid};
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "sliced directory",
											   ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	Relation	toastrel = table_open(toastrelid, AccessShareLock);
	uint64		before = changes;
	SlicedDamage damage;
	List	   *entries = sliced_dictionary_list(toastrel, &damage);
	Current    *current = palloc((list_length(entries) + 1) * sizeof(Current));
	int			n = find_current(toastrelid, entries, current);

	table_close(toastrel, AccessShareLock);
	if (before == changes)
		remember(toastrelid, current, n);
	for (int i = 0; i < n; i++)
		if (current[i].attno == attno)
			result = current[i].name;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
	return result;
}

SlicedDictionaryName
sliced_dictionary_current(Oid toastrelid, int attno)
{
	Directory  *directory = directories == NULL ? NULL :
		hash_search(directories, &toastrelid, HASH_FIND, NULL);

	if (directory == NULL)
		return look_up(toastrelid, attno);
	for (int i = 0; i < directory->n; i++)
		if (directory->current[i].attno == attno)
			return directory->current[i].name;
	return (SlicedDictionaryName) {toastrelid};
}

/* ---- new ones ---- */

static int
next_number(Relation toastrel, int attno)
{
	SlicedDamage damage;
	List	   *entries = sliced_dictionary_list(toastrel, &damage);
	int			n = 0;
	ListCell   *lc;

	foreach(lc, entries)
	{
		const SlicedListedEntry *listed = lfirst(lc);

		if (listed->attno == attno)
			n = listed->n;
	}
	list_free_deep(entries);
	if (damage != SLICED_SOUND)
		ereport(ERROR,
				errcode(ERRCODE_DATA_CORRUPTED),
				errmsg("directory of dictionaries in \"%s\" is corrupted: %s",
					   RelationGetRelationName(toastrel), sliced_damage_text(damage)),
				errhint("VACUUM FULL makes a new one."));
	if (n + 1 >= SLICED_ENTRIES)
		ereport(ERROR,
				errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("column %d of the table has had too many dictionaries", attno),
				errhint("VACUUM FULL removes those that are not used."));
	return n + 1;
}

void
sliced_dictionary_add(SlicedWriter *writer, int attno, SlicedEntry *entry, const char *bytes)
{
	Relation	toastrel = sliced_writer_relation(writer);

	sliced_own_lock_take(SLICED_LOCK_DIRECTORY, RelationGetRelid(toastrel), true);
	if (entry->len > 0)
	{
		SlicedDraft draft;

		entry->id = sliced_writer_new_id(writer);
		entry->checksum = sliced_dictionary_checksum(bytes, entry->len);
		sliced_draft_init(&draft, bytes, entry->len,
						  (SlicedCompression) {SLICED_CODEC_ZSTD, SLICED_DICTIONARY_LEVEL});
		sliced_writer_add(writer, entry->id, &draft);
		sliced_draft_free(&draft);
		SLICED_STOP("dictionary.added");
	}
	sliced_writer_add_entry(writer, sliced_entry_seq(attno, next_number(toastrel, attno)), entry);
	sliced_writer_flush(writer);
	SLICED_STOP("dictionary.entered");
	/*
	 * A rollback takes back only what is not of the current command.  A parallel plan
	 * cannot end its command.  The table that it fills is new, so its creation is
	 * taken back instead, and other sessions do not see it yet.
	 */
	CacheInvalidateRelcache(toastrel);
	if (IsInParallelMode())
		forget_relation((Datum) 0, RelationGetRelid(toastrel));
	else
		CommandCounterIncrement();
	SLICED_STOP("dictionary.announced");
}

void
sliced_dictionary_init(void)
{
	sliced_at_relation_change(forget_relation);
	sliced_loaded_init(load);
}
