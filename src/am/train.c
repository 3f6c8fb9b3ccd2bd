/*
 * train.c
 *	  Where dictionaries come from.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/relation.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "am/am.h"
#include "am/row_toast.h"
#include "am/train.h"
#include "base/identity.h"
#include "base/limits.h"
#include "base/settings.h"
#include "base/stop.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "common/pg_prng.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "store/dictionary.h"
#include "store/slice.h"
#include "toaster/column.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/sampling.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

/* ---- samples ---- */

/* Values, one behind the other: the even ones to train on, the odd ones to try. */
typedef struct Samples
{
	char	   *bytes[2];
	uint32		used[2];
	size_t	   *lengths[2];
	int			n[2];
	int			most;			/* of each */

	/* Longer values within a row would be outside, were they written now. */
	Size		inline_max;
	bool		any_inline;

	/* what values that are too long for dictionaries would be the same with and without */
	uint64		long_bytes;
	uint64		short_bytes;
} Samples;

static void
samples_init(Samples *samples, Relation rel)
{
	memset(samples, 0, sizeof(*samples));
	samples->most = SLICED_TRAIN_VALUES / 2;
	samples->inline_max = sliced_row_inline_limit(rel);
	for (int half = 0; half < 2; half++)
	{
		samples->bytes[half] = palloc(SLICED_TRAIN_BYTES / 2);
		samples->lengths[half] = palloc(samples->most * sizeof(size_t));
	}
}

/* Add a value, if it is outside its row, or would be; false if it is not, or there is no room. */
static bool
samples_add(Samples *samples, struct varlena *value)
{
	int			half = samples->n[0] > samples->n[1] ? 1 : 0;
	Size		size;
	struct varlena *raw;

	if (!VARATT_IS_EXTERNAL_ONDISK(value))
	{
		if (VARSIZE_ANY(value) <= samples->inline_max)
			return false;
		samples->any_inline = true;
	}
	size = toast_raw_datum_size(PointerGetDatum(value)) - VARHDRSZ;
	if (size > SLICED_DICTIONARY_RAW)
	{
		samples->long_bytes += size;
		return true;
	}
	if (samples->n[half] == samples->most || size > SLICED_TRAIN_BYTES / 2 - samples->used[half])
		return false;
	samples->short_bytes += size;
	raw = detoast_attr(value);
	memcpy(samples->bytes[half] + samples->used[half], VARDATA_ANY(raw), size);
	samples->lengths[half][samples->n[half]++] = size;
	samples->used[half] += size;
	return true;
}

/* Add values of one page, as many as are its share. */
static void
sample_page(Samples *samples, TableScanDesc scan, TupleTableSlot *slot, int attno, BlockNumber block,
			int share)
{
	ItemPointerData first;
	ItemPointerData last;
	int			n = 0;

	ItemPointerSet(&first, block, FirstOffsetNumber);
	ItemPointerSet(&last, block, MaxOffsetNumber);
	table_rescan_tidrange(scan, &first, &last);
	while (n < share && table_scan_getnextslot_tidrange(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, attno, &isnull);

		CHECK_FOR_INTERRUPTS();
		if (!isnull && samples_add(samples, (struct varlena *) DatumGetPointer(value)))
			n++;
	}
}

/* Take samples of a column from pages all over the table. */
static void
take_samples(Samples *samples, Relation rel, int attno)
{
	MemoryContext page_mcxt = AllocSetContextCreate(CurrentMemoryContext, "sliced samples",
													ALLOCSET_DEFAULT_SIZES);
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	BlockNumber npages = Min(nblocks, SLICED_TRAIN_PAGES);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	ItemPointerData none;
	TableScanDesc scan;
	BlockSamplerData sampler;
	MemoryContext old;

	samples_init(samples, rel);
	ItemPointerSet(&none, 0, FirstOffsetNumber);
	scan = table_beginscan_tidrange(rel, snapshot, &none, &none);
	BlockSampler_Init(&sampler, nblocks, npages, pg_prng_uint32(&pg_global_prng_state));
	old = MemoryContextSwitchTo(page_mcxt);
	while (BlockSampler_HasMore(&sampler))
	{
		sample_page(samples, scan, slot, attno, BlockSampler_Next(&sampler),
					SLICED_TRAIN_VALUES / npages);
		ExecClearTuple(slot);
		MemoryContextReset(page_mcxt);
	}
	MemoryContextSwitchTo(old);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
	ExecDropSingleTupleTableSlot(slot);
	MemoryContextDelete(page_mcxt);
	SLICED_STOP("train.samples-taken");
}

/* ---- training ---- */

/* How many bytes does it take to store the sample? */
static uint32
stored_bytes(uint32 compressed, uint32 len)
{
	return compressed > 0 ? compressed : len;
}

/* Compress the odd samples as now, and with the dictionary. */
static void
try_dictionary(SlicedEntry *entry, const Samples *samples, const SlicedCompression *compression,
			   const char *bytes)
{
	SlicedDictionary *dictionary = sliced_dictionary_make(bytes, entry->len);
	char	   *work = palloc(SLICED_SLICE_ROOM(SLICED_DICTIONARY_RAW));
	const char *sample = samples->bytes[1];

	if (dictionary == NULL)
		ereport(ERROR,
				errcode(ERRCODE_OUT_OF_MEMORY),
				errmsg("out of memory"));
	for (int i = 0; i < samples->n[1]; sample += samples->lengths[1][i], i++)
	{
		uint32		len = samples->lengths[1][i];
		bool		has_dictionary;
		uint32		n;

		entry->raw += len;
		entry->before += stored_bytes(sliced_slice_compress(compression, sample, len, work,
															&has_dictionary), len);
		n = sliced_codec_try(compression->codec, sample, len, work, compression->level, dictionary);
		entry->after += stored_bytes(n > 0 && n + SLICED_DICTIONARY_NAME < len ?
									 n + SLICED_DICTIONARY_NAME : 0, len);
	}
	sliced_dictionary_free(dictionary);
	pfree(work);
}

/*
 * Is the dictionary worth it?  It must save a twentieth of all values of the column,
 * most of which take as much as they did if they are long, and more than it takes.
 */
static bool
is_worth_it(const SlicedEntry *entry, const Samples *samples, BlockNumber pages)
{
	double		share = (double) samples->short_bytes /
		(samples->short_bytes + samples->long_bytes);
	double		saved = entry->before == 0 ? 0 :
		share * ((double) entry->before - entry->after) / entry->before;

	return saved >= 1.0 / SLICED_TRAIN_GAIN && saved * pages * BLCKSZ > entry->len;
}

/*
 * Train a dictionary for a column; its bytes, or NULL if none is worth it.  '*entry'
 * is what the directory is to say.
 */
static char *
train_column(Relation rel, int attno, const SlicedColumn *column, SlicedEntry *entry)
{
	Relation	toastrel = relation_open(rel->rd_rel->reltoastrelid, AccessShareLock);
	BlockNumber pages = RelationGetNumberOfBlocks(toastrel);
	char	   *bytes = palloc(SLICED_DICTIONARY_MAX);
	Samples		samples;

	relation_close(toastrel, NoLock);
	memset(entry, 0, sizeof(*entry));
	take_samples(&samples, rel, attno);
	entry->pages = pages;
	entry->trained_at = GetCurrentTimestamp();
	entry->samples = samples.n[0] + samples.n[1];
	entry->len = sliced_dictionary_train(bytes,
										 Min(SLICED_DICTIONARY_MAX,
											 samples.used[0] / SLICED_TRAIN_FOR_EACH),
										 samples.bytes[0], samples.lengths[0], samples.n[0]);
	CHECK_FOR_INTERRUPTS();
	if (entry->len > 0)
		try_dictionary(entry, &samples, &column->compression, bytes);
	if (samples.any_inline)
		pages += RelationGetNumberOfBlocks(rel);
	if (entry->len == 0 || !is_worth_it(entry, &samples, pages))
	{
		entry->len = 0;
		pfree(bytes);
		bytes = NULL;
	}
	for (int half = 0; half < 2; half++)
	{
		pfree(samples.bytes[half]);
		pfree(samples.lengths[half]);
	}
	SLICED_STOP("train.trained");
	return bytes;
}

/* Can new values of this column look back at a dictionary? */
static bool
wants_dictionary(Relation rel, int attno, SlicedColumn *column)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);

	if (att->attisdropped || att->attlen != -1)
		return false;
	*column = sliced_column(rel, attno);
	return column->dictionary != SLICED_DICTIONARY_OFF &&
		sliced_codec_get(column->compression.codec)->has_dictionaries;
}

/* Can the table have dictionaries?  Not if core writes its values. */
static bool
can_have_dictionaries(Relation rel)
{
	return sliced_is_ours(rel) && OidIsValid(rel->rd_rel->reltoastrelid) &&
		!sliced_toast_is_foreign(rel);
}

/*
 * Those who decode never see dictionaries, but the values themselves.
 */
static SlicedWriter *
open_writer(Relation rel)
{
	return sliced_writer_open(rel->rd_rel->reltoastrelid, 0, RelationIsLogicallyLogged(rel));
}

/* ---- by themselves ---- */

/* Are there enough values, and many more than the last time? */
static bool
is_due(const SlicedEntry *last, BlockNumber pages)
{
	return pages >= SLICED_TRAIN_PAGES_MIN &&
		(last == NULL || pages / SLICED_TRAIN_AGAIN >= last->pages);
}

static void
train_due_columns(Relation rel)
{
	Relation	toastrel = relation_open(rel->rd_rel->reltoastrelid, AccessShareLock);
	BlockNumber pages = RelationGetNumberOfBlocks(toastrel);
	SlicedWriter *writer = NULL;
	SlicedDamage damage;
	List	   *entries = sliced_dictionary_list(toastrel, &damage);

	relation_close(toastrel, NoLock);
	for (int attno = 1; attno <= RelationGetDescr(rel)->natts; attno++)
	{
		SlicedColumn column;
		SlicedEntry entry;
		char	   *bytes;

		if (!is_due(sliced_dictionary_last(entries, attno), pages) ||
			!wants_dictionary(rel, attno, &column) || column.dictionary != SLICED_DICTIONARY_AUTO)
			continue;
		bytes = train_column(rel, attno, &column, &entry);
		/* that it is not worth it is worth knowing, or the next ANALYZE would try again */
		if (writer == NULL)
			writer = open_writer(rel);
		sliced_dictionary_add(writer, attno, &entry, bytes);
	}
	if (writer != NULL)
		sliced_writer_close(writer);
}

void
sliced_train_if_due(Relation rel)
{
	MemoryContext old = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	if (RecoveryInProgress() || !can_have_dictionaries(rel))
		return;
	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		train_due_columns(rel);
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(old);
		CurrentResourceOwner = owner;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(old);
		error = CopyErrorData();
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED || error->sqlerrcode == ERRCODE_ADMIN_SHUTDOWN)
			PG_RE_THROW();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(old);
		CurrentResourceOwner = owner;
		ereport(WARNING,
				errcode(error->sqlerrcode),
				errmsg("no dictionary was made for table \"%s\": %s",
					   RelationGetRelationName(rel), error->message));
	}
	PG_END_TRY();
}

/* ---- where a table is written anew ---- */

/* The entry of the dictionary in use; NULL if there is none. */
static const SlicedEntry *
entry_in_use(List *entries, int attno)
{
	const SlicedEntry *result = NULL;
	ListCell   *lc;

	foreach(lc, entries)
	{
		const SlicedListedEntry *listed = lfirst(lc);

		if (listed->attno == attno && listed->entry.id != 0)
			result = &listed->entry;
	}
	return result;
}

static List *
entries_of(Relation rel)
{
	Relation	toastrel = relation_open(rel->rd_rel->reltoastrelid, AccessShareLock);
	SlicedDamage damage;
	List	   *entries = sliced_dictionary_list(toastrel, &damage);

	relation_close(toastrel, NoLock);
	return entries;
}

/* Write the dictionary that a column has to where the table is written to. */
static void
carry(Relation rel, SlicedWriter *writer, int attno, const SlicedEntry *in_use)
{
	SlicedDictionaryName name = {rel->rd_rel->reltoastrelid, in_use->id, in_use->checksum};
	SlicedDictionary *dictionary;
	SlicedEntry entry = *in_use;
	const char *bytes;
	char	   *copy;

	/* if it is damaged, so are the values that name it, and they say so */
	if (sliced_dictionary_find(&name, &dictionary) != SLICED_SOUND)
		return;
	bytes = sliced_dictionary_bytes(dictionary, &entry.len);
	copy = memcpy(palloc(entry.len), bytes, entry.len);
	entry.id = InvalidOid;
	sliced_dictionary_add(writer, attno, &entry, copy);
	pfree(copy);
}

/* 'rel' is written anew, to 'writer'.  Train, or take along what there is. */
static void
prepare_rewrite(Relation rel, SlicedWriter *writer, bool train)
{
	List	   *entries = can_have_dictionaries(rel) ? entries_of(rel) : NIL;

	for (int attno = 1; attno <= RelationGetDescr(rel)->natts; attno++)
	{
		const SlicedEntry *in_use = entry_in_use(entries, attno);
		SlicedColumn column;
		SlicedEntry entry;
		char	   *bytes = NULL;

		if (!wants_dictionary(rel, attno, &column))
			continue;
		if (train && can_have_dictionaries(rel) &&
			(in_use != NULL || column.dictionary == SLICED_DICTIONARY_AUTO))
			bytes = train_column(rel, attno, &column, &entry);
		if (bytes != NULL)
			sliced_dictionary_add(writer, attno, &entry, bytes);
		else if (in_use != NULL)
			carry(rel, writer, attno, in_use);
	}
}

void
sliced_train_for_rewrite(Relation rel, SlicedWriter *writer)
{
	prepare_rewrite(rel, writer, true);
}

void
sliced_dictionaries_arrive(Relation rel)
{
	/* a table that takes another's place has its OID until the transaction ends */
	static Oid	last;
	static TransactionId last_xid = InvalidTransactionId;
	Oid			relid = RelationGetRelid(rel);
	Relation	old;

	if (last == relid && TransactionIdEquals(last_xid, GetTopTransactionId()))
		return;
	last = relid;
	last_xid = GetTopTransactionId();
	old = RelationIdGetRelation(rel->rd_rel->relrewrite);
	if (RelationIsValid(old))
	{
		if (OidIsValid(rel->rd_rel->reltoastrelid) && can_have_dictionaries(old) &&
			entries_of(old) != NIL)
		{
			SlicedWriter *writer = open_writer(rel);

			prepare_rewrite(old, writer, false);
			sliced_writer_close(writer);
		}
		RelationClose(old);
	}
}

/* ---- at the user's wish ---- */

/* Train for a column and show what came of it. */
static void
train_and_show(ReturnSetInfo *rsinfo, Relation rel, int attno, const SlicedColumn *column)
{
	SlicedWriter *writer;
	SlicedEntry entry;
	char	   *bytes = train_column(rel, attno, column, &entry);
	Datum		values[8];
	bool		nulls[8] = {false};

	if (bytes != NULL)
	{
		writer = open_writer(rel);
		sliced_dictionary_add(writer, attno, &entry, bytes);
		sliced_writer_close(writer);
	}
	values[0] = ObjectIdGetDatum(RelationGetRelid(rel));
	values[1] = NameGetDatum(&TupleDescAttr(RelationGetDescr(rel), attno - 1)->attname);
	values[2] = ObjectIdGetDatum(entry.id);
	values[3] = Int32GetDatum(entry.samples);
	values[4] = Int32GetDatum(entry.len);
	values[5] = Int64GetDatum(entry.raw);
	values[6] = Int64GetDatum(entry.before);
	values[7] = Int64GetDatum(entry.after);
	nulls[2] = nulls[4] = bytes == NULL;
	nulls[5] = nulls[6] = nulls[7] = entry.raw == 0;
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* The column is named: why can it have no dictionary? */
static void
complain_of_column(Relation rel, int attno)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
	SlicedColumn column;

	if (att->attlen != -1)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("column \"%s\" cannot have a dictionary", NameStr(att->attname)),
				errdetail("Values of type %s are short and always stay in their row.",
						  format_type_be(att->atttypid)));
	column = sliced_column(rel, attno);
	if (column.dictionary == SLICED_DICTIONARY_OFF)
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("dictionaries are off for column \"%s\"", NameStr(att->attname)),
				errhint("Option \"dictionary\" and setting sliced.dictionary decide that; sliced.columns shows what holds."));
	ereport(ERROR,
			errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("column \"%s\" cannot have a dictionary with compression %s",
				   NameStr(att->attname), sliced_codec_get(column.compression.codec)->name),
			errhint("Use compression lz4 or zstd."));
}

/* 'column' may be NULL: all that can have one. */
static void
train_table(ReturnSetInfo *rsinfo, Relation rel, const char *column_name)
{
	int			only = column_name == NULL ? 0 : get_attnum(RelationGetRelid(rel), column_name);

	if (column_name != NULL && only <= 0)
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("column \"%s\" of relation \"%s\" does not exist", column_name,
					   RelationGetRelationName(rel)));
	for (int attno = 1; attno <= RelationGetDescr(rel)->natts; attno++)
	{
		SlicedColumn column;

		if (only != 0 && only != attno)
			continue;
		if (wants_dictionary(rel, attno, &column))
			train_and_show(rsinfo, rel, attno, &column);
		else if (only != 0)
			complain_of_column(rel, attno);
	}
}

/* Can the table have dictionaries?  Reports why not; false if it is one of many. */
static bool
check_table(Relation rel, bool is_partition)
{
	const char *name = RelationGetRelationName(rel);

	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		return false;
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("\"%s\" is a temporary table of another session", name));
	if (sliced_is_ours(rel) && rel->rd_rel->relkind != RELKIND_TOASTVALUE)
	{
		if (OidIsValid(rel->rd_rel->reltoastrelid) && sliced_toast_is_foreign(rel))
			ereport(ERROR,
					errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("toast relation of \"%s\" does not have access method \"sliced\"", name),
					errhint("VACUUM FULL repairs that."));
		return OidIsValid(rel->rd_rel->reltoastrelid);
	}
	if (!is_partition)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a sliced table", name),
				errhint("sliced.adopt() makes it one."));
	return false;
}

PG_FUNCTION_INFO_V1(sliced_train);

Datum
sliced_train(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			relid;
	ListCell   *lc;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("table must not be null"));
	relid = PG_GETARG_OID(0);
	PreventCommandDuringRecovery("sliced.train()");
	InitMaterializedSRF(fcinfo, 0);
	/* before we wait for a lock, and after: it may be another's then */
	for (int i = 0; i < 2; i++)
	{
		if (get_rel_name(relid) == NULL)
			ereport(ERROR,
					errcode(ERRCODE_UNDEFINED_TABLE),
					errmsg("relation with OID %u does not exist", relid));
		if (!object_ownercheck(RelationRelationId, relid, GetUserId()))
			aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relid)),
						   get_rel_name(relid));
		LockRelationOid(relid, ShareUpdateExclusiveLock);
	}
	foreach(lc, find_all_inheritors(relid, ShareUpdateExclusiveLock, NULL))
	{
		Relation	rel = relation_open(lfirst_oid(lc), NoLock);

		if (check_table(rel, lfirst_oid(lc) != relid))
			train_table(rsinfo, rel, PG_ARGISNULL(1) ? NULL : NameStr(*PG_GETARG_NAME(1)));
		relation_close(rel, NoLock);
	}
	return (Datum) 0;
}
