/*
 * column.c
 *	  The settings of a column: its toaster, its codec, its level, its dictionary.
 *
 * We keep what the labels of a table's columns say until the table changes, or a
 * table that it is a partition of, or any function, which may be a toaster's.
 * Entries go by the table's OID.  A session that changes a label invalidates the
 * table's relcache entry.  When a table from which others inherit is invalidated, we
 * forget all entries.  So a session need not know a table's partitions, and may not
 * see some of them yet.
 *
 * ALTER TABLE, VACUUM FULL and others write rows into a table that later takes the
 * place of another one.  The other table's labels count.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/toast_compression.h"
#include "base/identity.h"
#include "base/invalidation.h"
#include "base/settings.h"
#include "base/stop.h"
#include "catalog/indexing.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_seclabel.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "store/dictionary.h"
#include "toaster/column.h"
#include "toaster/label.h"
#include "toaster/registry.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* The options that labels give a column. */
typedef struct Labelled
{
	NameData	name;			/* of the toaster; empty: no label names one */
	Oid			function;		/* the toaster's; InvalidOid: we cannot use it */
	int			codec;			/* -1: the setting decides */
	int			level;			/* 0: the setting decides */
	int			dictionary;		/* -1: the setting decides */
	SlicedSource toaster_from;
	SlicedSource codec_from;
	SlicedSource level_from;
	SlicedSource dictionary_from;
} Labelled;

typedef struct Entry
{
	Oid			relid;
	bool		complete;
	bool		is_parent;		/* others inherit its labels */
	bool		warned;
	bool		names_toasters;
	uint64		generation;		/* of the registry, when this was filled */
	int			natts;
	const SlicedToaster **toasters; /* of each column, once looked up */
	Labelled   *labelled;		/* NULL: no label says anything */
} Entry;

static HTAB *entries;
static uint64 changes = 0;		/* of any relation, and of entries */

static void
clear_entry(Entry *entry)
{
	changes++;
	if (entry->toasters != NULL)
		pfree(entry->toasters);
	if (entry->labelled != NULL)
		pfree(entry->labelled);
	entry->toasters = NULL;
	entry->labelled = NULL;
	entry->complete = false;
	entry->natts = 0;
}

/* The entry stays if it has warned, so that it does not warn again. */
static void
forget_entry(Entry *entry)
{
	clear_entry(entry);
	if (!entry->warned)
		hash_search(entries, &entry->relid, HASH_REMOVE, NULL);
}

static void
forget_all(void)
{
	HASH_SEQ_STATUS status;
	Entry	   *entry;

	hash_seq_init(&status, entries);
	while ((entry = hash_seq_search(&status)) != NULL)
		forget_entry(entry);
}

/* A relation has changed; InvalidOid: all may have. */
static void
forget_relation(Datum arg, Oid relid)
{
	Entry	   *entry;

	changes++;
	if (entries == NULL)
		return;
	entry = OidIsValid(relid) ? hash_search(entries, &relid, HASH_FIND, NULL) : NULL;
	if (!OidIsValid(relid) || (entry != NULL && entry->is_parent))
		forget_all();
	else if (entry != NULL)
		forget_entry(entry);
}

static Entry *
make_entry(Oid relid)
{
	Entry	   *entry;
	bool		found;

	if (entries == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(Oid), .entrysize = sizeof(Entry)};

		ctl.hcxt = AllocSetContextCreate(TopMemoryContext, "sliced columns", ALLOCSET_SMALL_SIZES);
		entries = hash_create("sliced columns", 32, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	entry = hash_search(entries, &relid, HASH_ENTER, &found);
	if (!found)
	{
		memset(entry, 0, sizeof(*entry));
		entry->relid = relid;
	}
	return entry;
}

/* ---- labels ---- */

/*
 * A table's label names a toaster for columns of the types that it works for.  If no
 * toaster has that name at all, that is a mistake, as in a column's label.
 */
static void
apply_toaster(Labelled *to, const SlicedLabel *label, SlicedSource from, Oid type)
{
	SlicedRegistered *registered = sliced_registered_named(type, label->toaster);

	if (registered == NULL && from.origin == SLICED_FROM_TABLE_LABEL &&
		sliced_registered_named(InvalidOid, label->toaster) != NULL)
		return;
	namestrcpy(&to->name, label->toaster);
	to->function = registered == NULL ? InvalidOid : registered->function;
	to->toaster_from = from;
}

/* What a label nearer to the column says stays. */
static void
apply(Labelled *to, const SlicedLabel *label, SlicedSource from, Oid type)
{
	if (label->toaster[0] != '\0' && NameStr(to->name)[0] == '\0')
		apply_toaster(to, label, from, type);
	if (label->codec >= 0 && to->codec < 0)
	{
		to->codec = label->codec;
		to->codec_from = from;
	}
	if (label->level > 0 && to->level == 0)
	{
		to->level = label->level;
		to->level_from = from;
	}
	if (label->dictionary >= 0 && to->dictionary < 0)
	{
		to->dictionary = label->dictionary;
		to->dictionary_from = from;
	}
}

typedef struct FoundLabel
{
	int			attno;			/* 0: the table's label */
	SlicedLabel label;
} FoundLabel;

/* The labels of a table and its columns. */
static List *
find_labels(Oid relid)
{
	Relation	seclabel = table_open(SecLabelRelationId, AccessShareLock);
	List	   *result = NIL;
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], Anum_pg_seclabel_objoid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	ScanKeyInit(&keys[1], Anum_pg_seclabel_classoid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RelationRelationId));
	scan = systable_beginscan(seclabel, SecLabelObjectIndexId, true, NULL, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		TupleDesc	desc = RelationGetDescr(seclabel);
		bool		isnull;
		Datum		provider = heap_getattr(tuple, Anum_pg_seclabel_provider, desc, &isnull);
		FoundLabel *found;

		if (strcmp(TextDatumGetCString(provider), SLICED_LABEL_PROVIDER) != 0)
			continue;
		found = palloc(sizeof(FoundLabel));
		found->attno = DatumGetInt32(heap_getattr(tuple, Anum_pg_seclabel_objsubid, desc, &isnull));
		sliced_label_read(TextDatumGetCString(heap_getattr(tuple, Anum_pg_seclabel_label, desc,
														   &isnull)),
						  &found->label);
		result = lappend(result, found);
	}
	systable_endscan(scan);
	table_close(seclabel, AccessShareLock);
	return result;
}

static const SlicedLabel *
label_of(List *labels, int attno)
{
	ListCell   *lc;

	foreach(lc, labels)
		if (((FoundLabel *) lfirst(lc))->attno == attno)
			return &((FoundLabel *) lfirst(lc))->label;
	return NULL;
}

/*
 * Add what the labels of 'relid' say: the table itself, or one that it is a
 * partition of, where columns of the same names may have other numbers.
 */
static void
apply_labels(Labelled *labelled, TupleDesc desc, Oid relid, List *labels, bool own)
{
	const SlicedLabel *of_table = label_of(labels, 0);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		const SlicedLabel *of_column;
		AttrNumber	attno;

		if (att->attisdropped || att->attlen != -1)
			continue;
		attno = own ? i + 1 : get_attnum(relid, NameStr(att->attname));
		of_column = attno == InvalidAttrNumber ? NULL : label_of(labels, attno);
		if (of_column != NULL)
			apply(&labelled[i], of_column, (SlicedSource) {SLICED_FROM_COLUMN_LABEL, relid},
				  att->atttypid);
		if (of_table != NULL)
			apply(&labelled[i], of_table, (SlicedSource) {SLICED_FROM_TABLE_LABEL, relid},
				  att->atttypid);
	}
}

/* The labels' options for each of the table's columns; NULL if there are no labels. */
static Labelled *
collect_labels(TupleDesc desc, Oid relid, List *ancestors)
{
	Labelled   *labelled = NULL;
	List	   *tables = lcons_oid(relid, list_copy(ancestors));
	ListCell   *lc;

	foreach(lc, tables)
	{
		List	   *labels = find_labels(lfirst_oid(lc));

		if (labels == NIL)
			continue;
		if (labelled == NULL)
		{
			labelled = palloc0(desc->natts * sizeof(Labelled));
			for (int i = 0; i < desc->natts; i++)
				labelled[i].codec = labelled[i].dictionary = -1;
		}
		apply_labels(labelled, desc, lfirst_oid(lc), labels, lfirst_oid(lc) == relid);
	}
	return labelled;
}

/* ---- entries ---- */

static Oid
relid_with_labels(Relation rel)
{
	return OidIsValid(rel->rd_rel->relrewrite) ? rel->rd_rel->relrewrite : RelationGetRelid(rel);
}

static void
fill_entry(Relation rel, Oid relid, Labelled *labelled, List *ancestors, uint64 generation)
{
	int			natts = RelationGetDescr(rel)->natts;
	Entry	   *entry;
	ListCell   *lc;

	foreach(lc, ancestors)
		make_entry(lfirst_oid(lc))->is_parent = true;
	entry = make_entry(relid);
	entry->toasters = MemoryContextAllocZero(TopMemoryContext, natts * sizeof(SlicedToaster *));
	entry->natts = natts;
	SLICED_STOP("column.entry-begun");
	entry->names_toasters = false;
	if (labelled != NULL)
	{
		entry->labelled = MemoryContextAlloc(TopMemoryContext, natts * sizeof(Labelled));
		memcpy(entry->labelled, labelled, natts * sizeof(Labelled));
		for (int i = 0; i < natts; i++)
			entry->names_toasters |= OidIsValid(labelled[i].function);
	}
	entry->generation = generation;
	entry->complete = true;
}

/*
 * The entry of a table, valid until the next look at a catalog.  It knows column
 * 'attno', if that is not 0:  ALTER TABLE may have added the column after the entry
 * was made.
 */
static Entry *
find_entry(Relation rel, int attno)
{
	Oid			relid = relid_with_labels(rel);

	for (int looks = 1;; looks++)
	{
		Entry	   *entry = entries == NULL ? NULL : hash_search(entries, &relid, HASH_FIND, NULL);
		MemoryContext mcxt;
		MemoryContext old;
		uint64		before;
		uint64		generation;
		List	   *ancestors;
		Labelled   *labelled;

		if (entry != NULL && entry->complete && attno <= entry->natts &&
			(entry->generation == sliced_registry_generation() || looks > SLICED_LOOKS))
			return entry;
		if (entry != NULL)
			clear_entry(entry);

		CHECK_FOR_INTERRUPTS();
		before = changes;
		generation = sliced_registry_generation();
		mcxt = AllocSetContextCreate(CurrentMemoryContext, "sliced labels", ALLOCSET_SMALL_SIZES);
		old = MemoryContextSwitchTo(mcxt);
		ancestors = get_rel_relispartition(relid) ? get_partition_ancestors(relid) : NIL;
		labelled = collect_labels(RelationGetDescr(rel), relid, ancestors);
		/* if something has changed while we looked, look again */
		if ((before == changes && generation == sliced_registry_generation()) ||
			looks >= SLICED_LOOKS)
			fill_entry(rel, relid, labelled, ancestors, generation);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(mcxt);
	}
}

static const SlicedToaster *
entry_toaster(Entry *entry, Relation rel, int attno)
{
	const SlicedToaster *toaster = entry->toasters[attno - 1];
	Oid			function = entry->labelled == NULL ? InvalidOid : entry->labelled[attno - 1].function;
	SlicedRegistered *registered;
	uint64		before = changes;

	if (toaster != NULL)
		return toaster;
	if (OidIsValid(function) && (registered = sliced_registered_of(function)) != NULL)
		toaster = sliced_registered_load(registered);
	else
		toaster = sliced_toaster_of_type(TupleDescAttr(RelationGetDescr(rel), attno - 1)->atttypid);
	/* looking may have removed the entry */
	if (before == changes)
		entry->toasters[attno - 1] = toaster;
	return toaster;
}

const SlicedToaster *
sliced_toaster_of_column(Relation rel, int attno)
{
	if (attno < 1 || attno > RelationGetDescr(rel)->natts)
		elog(ERROR, "table \"%s\" has no column %d", RelationGetRelationName(rel), attno);
	return entry_toaster(find_entry(rel, attno), rel, attno);
}

bool
sliced_columns_name_toasters(Relation rel)
{
	return find_entry(rel, 0)->names_toasters;
}

Oid
sliced_column_toaster_function(Relation rel, int attno)
{
	Entry	   *entry = find_entry(rel, attno);

	return entry->labelled == NULL ? InvalidOid : entry->labelled[attno - 1].function;
}

/* ---- settings of a column ---- */

static int
codec_of(Form_pg_attribute att, const Labelled *labelled, Oid relid, SlicedSource *from)
{
	SlicedSource by_default = {SLICED_FROM_DEFAULT};
	SlicedSource native = {SLICED_FROM_COMPRESSION};
	bool		has_label = labelled != NULL && labelled->codec >= 0;
	bool		own = has_label && labelled->codec_from.origin == SLICED_FROM_COLUMN_LABEL &&
		labelled->codec_from.relid == relid;

	*from = by_default;
	if (att->attstorage == TYPSTORAGE_EXTERNAL || att->attstorage == TYPSTORAGE_PLAIN)
	{
		from->origin = SLICED_FROM_STORAGE;
		return SLICED_CODEC_NONE;
	}
	if (!own && att->attcompression == TOAST_PGLZ_COMPRESSION)
	{
		*from = native;
		return SLICED_CODEC_PGLZ;
	}
	if (!own && att->attcompression == TOAST_LZ4_COMPRESSION)
	{
		*from = native;
		return SLICED_CODEC_LZ4;
	}
	if (has_label)
		*from = labelled->codec_from;
	return has_label ? labelled->codec : sliced_compression;
}

static SlicedCompression
compression_of(Form_pg_attribute att, const Labelled *labelled, Oid relid, SlicedSource *codec_from)
{
	SlicedCompression result = {.codec = codec_of(att, labelled, relid, codec_from)};
	int			max = sliced_codec_get(result.codec)->max_level;

	if (max > 0)
		result.level = Min(labelled != NULL && labelled->level > 0 ? labelled->level :
						   sliced_zstd_level, max);
	return result;
}

/*
 * Set the dictionary for new values of the column.  Looking it up may change what we
 * remember of labels.
 */
static void
add_dictionary(SlicedColumn *column, Relation rel, int attno)
{
	Oid			toastrelid = rel->rd_rel->reltoastrelid;

	if (column->dictionary != SLICED_DICTIONARY_OFF && OidIsValid(toastrelid) &&
		sliced_codec_get(column->compression.codec)->has_dictionaries && sliced_is_ours(rel) &&
		!sliced_toast_is_foreign(rel) && !RELATION_IS_OTHER_TEMP(rel))
		column->compression.dictionary = sliced_dictionary_current(toastrelid, attno);
}

static void
warn(const Entry *entry, Relation rel, int attno)
{
	/* the entry may go while we report */
	char	   *toaster = pstrdup(NameStr(entry->labelled[attno - 1].name));
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
	const char *table = get_rel_name(entry->relid);

	ereport(WARNING,
			errcode(ERRCODE_UNDEFINED_OBJECT),
			errmsg("type %s of column \"%s\" of table \"%s\" has no toaster \"%s\"",
				   format_type_be(att->atttypid), NameStr(att->attname),
				   table != NULL ? table : RelationGetRelationName(rel), toaster),
			errdetail("New values are stored as by default."),
			errhint("Change the label: sliced.columns shows it, sliced.alter_column() and sliced.alter_table() set it."));
}

SlicedColumn
sliced_column(Relation rel, int attno)
{
	Entry	   *entry = find_entry(rel, attno);
	Labelled   *labelled = entry->labelled == NULL ? NULL : &entry->labelled[attno - 1];
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
	SlicedSource codec_from;
	SlicedColumn result;

	result.compression = compression_of(att, labelled, entry->relid, &codec_from);
	result.dictionary = labelled != NULL && labelled->dictionary >= 0 ? labelled->dictionary :
		sliced_dictionary;
	if (labelled != NULL && !entry->warned && NameStr(labelled->name)[0] != '\0' &&
		!OidIsValid(labelled->function))
	{
		entry->warned = true;
		warn(entry, rel, attno);
		entry = find_entry(rel, attno);
	}
	result.toaster = entry_toaster(entry, rel, attno);
	add_dictionary(&result, rel, attno);
	return result;
}

SlicedColumn
sliced_column_explain(Relation rel, int attno, SlicedColumnSources *sources)
{
	Entry	   *entry = find_entry(rel, attno);
	Labelled   *labelled = entry->labelled == NULL ? NULL : &entry->labelled[attno - 1];
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
	SlicedColumn result;

	memset(sources, 0, sizeof(*sources));
	result.compression = compression_of(att, labelled, entry->relid, &sources->codec_from);
	result.dictionary = labelled != NULL && labelled->dictionary >= 0 ? labelled->dictionary :
		sliced_dictionary;
	if (labelled != NULL)
	{
		sources->toaster = labelled->name;
		sources->missing = NameStr(labelled->name)[0] != '\0' && !OidIsValid(labelled->function);
		sources->toaster_from = labelled->toaster_from;
		sources->level_from = labelled->level_from;
		sources->dictionary_from = labelled->dictionary_from;
	}
	result.toaster = entry_toaster(entry, rel, attno);
	add_dictionary(&result, rel, attno);
	return result;
}

void
sliced_column_init(void)
{
	sliced_at_relation_change(forget_relation);
}
