/*
 * train.c
 *	  Trains dictionaries.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "base/identity.h"
#include "base/limits.h"
#include "base/locks.h"
#include "base/settings.h"
#include "base/stop.h"
#include "base/try.h"
#include "catalog/catalog.h"
#include "learn/samples.h"
#include "learn/train.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "store/slice.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/* ---- training ---- */

/* Bytes that it takes to store the sample. */
static uint32
stored_bytes(uint32 compressed, uint32 len)
{
	return compressed > 0 ? compressed : len;
}

/* Compress the odd samples as now, and with the dictionary. */
static void
try_dictionary(SlicedEntry *entry, const SlicedSamples *samples, const SlicedCompression *compression,
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
 * True if the dictionary is worth it.  It must save 5 % of the column's bytes, though
 * long values stay the same, and more bytes than it takes itself.
 */
static bool
is_worth_it(const SlicedEntry *entry, const SlicedSamples *samples, BlockNumber pages)
{
	double		share = (double) samples->short_bytes /
		(samples->short_bytes + samples->long_bytes);
	double		saved = entry->before == 0 ? 0 :
		share * ((double) entry->before - entry->after) / entry->before;

	return saved >= 1.0 / SLICED_TRAIN_GAIN && saved * pages * BLCKSZ > entry->len;
}

char *
sliced_train_column(Relation rel, Snapshot snapshot, int attno, const SlicedColumn *column,
					SlicedEntry *entry)
{
	Relation	toastrel = relation_open(rel->rd_rel->reltoastrelid, AccessShareLock);
	BlockNumber pages = RelationGetNumberOfBlocks(toastrel);
	char	   *bytes = palloc(SLICED_DICTIONARY_MAX);
	SlicedSamples samples;

	relation_close(toastrel, NoLock);
	memset(entry, 0, sizeof(*entry));
	sliced_samples_take(&samples, rel, snapshot, attno);
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
	sliced_samples_free(&samples);
	SLICED_STOP("train.trained");
	return bytes;
}

bool
sliced_wants_dictionary(Relation rel, int attno, SlicedColumn *column)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);

	if (att->attisdropped || att->attlen != -1)
		return false;
	*column = sliced_column(rel, attno);
	return column->dictionary != SLICED_DICTIONARY_OFF &&
		sliced_codec_get(column->compression.codec)->has_dictionaries;
}

/* True if the table can have dictionaries: not if core writes its values. */
static bool
can_have_dictionaries(Relation rel)
{
	return sliced_is_ours(rel) && OidIsValid(rel->rd_rel->reltoastrelid) &&
		!sliced_toast_is_foreign(rel);
}

SlicedWriter *
sliced_dictionary_writer(Relation rel)
{
	return sliced_writer_open(rel->rd_rel->reltoastrelid, 0, RelationIsLogicallyLogged(rel));
}

/* ---- automatic training ---- */

/* True if there are enough values, and many more than the last time. */
static bool
is_due(const SlicedEntry *last, BlockNumber pages)
{
	return pages >= SLICED_TRAIN_PAGES_MIN &&
		(last == NULL || pages / SLICED_TRAIN_AGAIN >= last->pages);
}

static void
train_due_columns(void *arg)
{
	Relation	rel = arg;
	Relation	toastrel;
	BlockNumber pages;
	SlicedWriter *writer = NULL;
	SlicedDamage damage;
	List	   *entries;

	/* the dictionary that another session is adding will do */
	if (!sliced_own_lock_take(SLICED_LOCK_DIRECTORY, rel->rd_rel->reltoastrelid, false))
		return;
	toastrel = relation_open(rel->rd_rel->reltoastrelid, AccessShareLock);
	pages = RelationGetNumberOfBlocks(toastrel);
	entries = sliced_dictionary_list(toastrel, &damage);
	relation_close(toastrel, NoLock);
	for (int attno = 1; attno <= RelationGetDescr(rel)->natts; attno++)
	{
		SlicedColumn column;
		SlicedEntry entry;
		char	   *bytes;

		if (!is_due(sliced_dictionary_last(entries, attno), pages) ||
			!sliced_wants_dictionary(rel, attno, &column) || column.dictionary != SLICED_DICTIONARY_AUTO)
			continue;
		bytes = sliced_train_column(rel, GetLatestSnapshot(), attno, &column, &entry);
		/* note that it was not worth it, or the next ANALYZE would try again */
		if (writer == NULL)
			writer = sliced_dictionary_writer(rel);
		sliced_dictionary_add(writer, attno, &entry, bytes);
	}
	if (writer != NULL)
		sliced_writer_close(writer);
}

void
sliced_train_if_due(Relation rel)
{
	ErrorData  *error;

	if (RecoveryInProgress() || XactReadOnly || !can_have_dictionaries(rel))
		return;
	/* send the command's invalidations: a subtransaction cannot begin before */
	CommandCounterIncrement();
	error = sliced_try(train_due_columns, rel);
	if (error != NULL)
		ereport(WARNING,
				errcode(error->sqlerrcode),
				errmsg("no dictionary was made for table \"%s\": %s",
					   RelationGetRelationName(rel), error->message));
}

/* ---- rewrites of a table ---- */

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

/*
 * A new file gets dictionaries made of its own rows.  The old file's would carry
 * bytes of rows that have been deleted.  With 'note_none', an entry records for which
 * columns none was worth it.
 */
static void
train_new_file(Relation from, Snapshot snapshot, List *old_entries, bool note_none,
			   SlicedWriter *writer)
{
	for (int attno = 1; attno <= RelationGetDescr(from)->natts; attno++)
	{
		SlicedColumn column;
		SlicedEntry entry;
		char	   *bytes;

		if (!sliced_wants_dictionary(from, attno, &column) ||
			(column.dictionary != SLICED_DICTIONARY_AUTO && entry_in_use(old_entries, attno) == NULL))
			continue;
		/* the new file does not have the old dictionary, so do not compare with it */
		column.compression.dictionary = (SlicedDictionaryName) {0};
		bytes = sliced_train_column(from, snapshot, attno, &column, &entry);
		if (bytes != NULL || note_none)
			sliced_dictionary_add(writer, attno, &entry, bytes);
	}
}

void
sliced_train_for_rewrite(Relation rel, SlicedWriter *writer)
{
	if (can_have_dictionaries(rel))
		train_new_file(rel, GetLatestSnapshot(), entries_of(rel), false, writer);
}

void
sliced_train_arrived(Relation rel)
{
	/* a table that takes another's place has its OID until the transaction ends */
	static Oid	last;
	static TransactionId last_xid = InvalidTransactionId;
	Oid			relid = RelationGetRelid(rel);
	Relation	toastrel;
	BlockNumber pages;
	Relation	old;

	if ((last == relid && TransactionIdEquals(last_xid, GetTopTransactionId())) ||
		!can_have_dictionaries(rel))
		return;
	toastrel = relation_open(rel->rd_rel->reltoastrelid, AccessShareLock);
	pages = RelationGetNumberOfBlocks(toastrel) + RelationGetNumberOfBlocks(rel);
	relation_close(toastrel, NoLock);
	if (pages < SLICED_TRAIN_PAGES_MIN)
		return;
	last = relid;
	last_xid = GetTopTransactionId();
	/* inserts into two tables may alternate, if a row of one writes the other */
	if (entries_of(rel) != NIL)
		return;
	old = RelationIdGetRelation(rel->rd_rel->relrewrite);
	if (RelationIsValid(old))
	{
		SlicedWriter *writer = sliced_dictionary_writer(rel);

		/* rows of the command that is inserting them are too new for other snapshots */
		train_new_file(rel, SnapshotSelf, can_have_dictionaries(old) ? entries_of(old) : NIL,
					   true, writer);
		sliced_writer_close(writer);
		RelationClose(old);
	}
}
