/*
 * shared_counters.c
 *	  What all sessions of a server have counted.
 *
 * Rows of the table are found by hash, under one lock.  A session takes it shared to
 * add to the numbers of a row, which are atomic, and exclusive to add and remove
 * rows.
 *
 * A row belongs to an OID, which another relation may get some day, after a crash for
 * example.  So a session that makes a toast relation removes the rows of its OID.
 * The file of numbers may also be older than the database, if the database was
 * restored.
 *
 * The file is in pg_stat_tmp, which base backups and pg_rewind leave out: a standby
 * counts its own work.
 *
 * A session attaches when it first counts something, which may be in the middle of any
 * command.  Some commands register a before_shmem_exit callback and expect it to be the
 * latest one when they cancel it (PG_ENSURE_ERROR_CLEANUP), so we register none.
 * Instead, we notice the end of the session when it detaches from our memory.  By
 * then its last transaction has ended, and it can still take locks and write files.
 */
#include "postgres.h"

#include <unistd.h>

#include "access/parallel.h"
#include "base/compat.h"
#include "base/shared_counters.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "storage/dsm.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#define TABLE_NAME		"pg_sliced statistics"
#define FILE_NAME		PG_STAT_TMP_DIR "/pg_sliced.stat"
#define FILE_MAGIC		0x534C4301	/* stands for this release's counters */

/* Two megabytes: about 4,000 tables of one column each, with their reads. */
#define ROWS			8192
#define RESERVED		64

/* How often the file is written, at most, if it is more than a few rows. */
#define FEW_ROWS		256
#define WRITE_MS		1000

/* How often to look for rows of relations that are gone, at most. */
#define SWEEP_MS		60000

typedef struct Row
{
	Oid			database;		/* InvalidOid: a free row */
	Oid			toastrelid;
	int32		attno;
	int32		next;			/* in the bucket or the free list; -1: none */
	TimestampTz since;
	pg_atomic_uint64 counts[SLICED_N_COUNTERS];
} Row;

/* Sessions that can collect at a time what their parallel workers have read. */
#define LEADERS			32

typedef struct Leader
{
	pg_atomic_uint32 pid;		/* 0: not in use */
	pg_atomic_uint64 reads[SLICED_N_READ_COUNTERS];
} Leader;

typedef struct Table
{
	LWLock		lock;
	int			tranche;
	bool		loaded;			/* the file has been looked for */
	pg_atomic_uint32 changed;	/* not 0: since the file was written */
	TimestampTz written;
	TimestampTz swept;
	int			nsessions;		/* attached, parallel workers too */
	int			nrows;			/* in use, in all */
	int			high;			/* rows in use are below this number */
	int32		free;
	Leader		leaders[LEADERS];
	int32		buckets[ROWS];
	Row			rows[ROWS];
} Table;

static Table *table = NULL;
static Leader *leading = NULL;	/* our own, while we collect */

/* The magic number stands for the counters that the release has. */
typedef struct FileHeader
{
	uint32		magic;
	uint32		row_size;
	uint32		nrows;
} FileHeader;

static void
table_init(Table *t)
{
	memset(t, 0, offsetof(Table, rows));
	t->tranche = LWLockNewTrancheId(TABLE_NAME);
	LWLockInitialize(&t->lock, t->tranche);
	pg_atomic_init_u32(&t->changed, 0);
	for (int i = 0; i < LEADERS; i++)
	{
		pg_atomic_init_u32(&t->leaders[i].pid, 0);
		for (int c = 0; c < SLICED_N_READ_COUNTERS; c++)
			pg_atomic_init_u64(&t->leaders[i].reads[c], 0);
	}
	for (int i = 0; i < ROWS; i++)
	{
		t->buckets[i] = -1;
		t->rows[i].database = InvalidOid;
		t->rows[i].next = i + 1 < ROWS ? i + 1 : -1;
		for (int c = 0; c < SLICED_N_COUNTERS; c++)
			pg_atomic_init_u64(&t->rows[i].counts[c], 0);
	}
}

/* All rows of a relation are in one bucket. */
static int32 *
bucket_of(Oid database, Oid toastrelid)
{
	return &table->buckets[hash_combine(murmurhash32(database), murmurhash32(toastrelid)) % ROWS];
}

static Row *
row_find(Oid database, Oid toastrelid, int32 attno)
{
	for (int32 i = *bucket_of(database, toastrelid); i >= 0; i = table->rows[i].next)
	{
		Row		   *row = &table->rows[i];

		if (row->database == database && row->toastrelid == toastrelid && row->attno == attno)
			return row;
	}
	return NULL;
}

/*
 * True if there is room for another row.  The last rows are for whole databases: for
 * what finds no other row.
 */
static bool
has_room(Oid toastrelid)
{
	return table->free >= 0 && (table->nrows < ROWS - RESERVED || !OidIsValid(toastrelid));
}

/* The row to add to.  NULL if there is none: row_make() makes it. */
static Row *
row_for(const SlicedBooked *booked)
{
	Row		   *row = row_find(MyDatabaseId, booked->toastrelid, booked->attno);

	return row != NULL || has_room(booked->toastrelid) ? row :
		row_find(MyDatabaseId, InvalidOid, 0);
}

/*
 * Find or make a row.  Without room, returns the database's row for the rest, or
 * NULL.
 */
static Row *
row_make(Oid database, Oid toastrelid, int32 attno)
{
	Row		   *row = row_find(database, toastrelid, attno);
	int32	   *bucket;

	if (row != NULL)
		return row;
	if (!has_room(toastrelid))
		return OidIsValid(toastrelid) ? row_make(database, InvalidOid, 0) : NULL;
	row = &table->rows[table->free];
	table->free = row->next;
	table->nrows++;
	table->high = Max(table->high, row - table->rows + 1);
	row->database = database;
	row->toastrelid = toastrelid;
	row->attno = attno;
	row->since = GetCurrentTimestamp();
	for (int c = 0; c < SLICED_N_COUNTERS; c++)
		pg_atomic_write_u64(&row->counts[c], 0);
	bucket = bucket_of(database, toastrelid);
	row->next = *bucket;
	*bucket = row - table->rows;
	return row;
}

static void
row_remove(Row *row)
{
	int32		number = row - table->rows;
	int32	   *link = bucket_of(row->database, row->toastrelid);

	while (*link != number)
		link = &table->rows[*link].next;
	*link = row->next;
	row->database = InvalidOid;
	row->next = table->free;
	table->free = number;
	table->nrows--;
}

static void
row_add(Row *row, const uint64 *counts)
{
	for (int c = 0; c < SLICED_N_COUNTERS; c++)
		if (counts[c] > 0)
			pg_atomic_fetch_add_u64(&row->counts[c], counts[c]);
}

bool
sliced_shared_add(const SlicedBooked *booked, int n)
{
	bool		missing = false;

	/* a row without a database is free */
	if (table == NULL || !OidIsValid(MyDatabaseId))
		return false;
	LWLockAcquire(&table->lock, LW_SHARED);
	for (int i = 0; i < n && !missing; i++)
		missing = row_for(&booked[i]) == NULL;
	if (missing)
	{
		LWLockRelease(&table->lock);
		LWLockAcquire(&table->lock, LW_EXCLUSIVE);
	}
	for (int i = 0; i < n; i++)
	{
		Row		   *row = missing ?
			row_make(MyDatabaseId, booked[i].toastrelid, booked[i].attno) :
			row_for(&booked[i]);

		if (row != NULL)
			row_add(row, booked[i].counts);
	}
	LWLockRelease(&table->lock);
	if (pg_atomic_read_u32(&table->changed) == 0)
		pg_atomic_write_u32(&table->changed, 1);
	return true;
}

static void
row_copy(SlicedSharedRow *to, Row *from)
{
	to->database = from->database;
	to->since = from->since;
	to->booked.toastrelid = from->toastrelid;
	to->booked.attno = from->attno;
	for (int c = 0; c < SLICED_N_COUNTERS; c++)
		to->booked.counts[c] = pg_atomic_read_u64(&from->counts[c]);
}

SlicedSharedRow *
sliced_shared_list(int *n)
{
	SlicedSharedRow *result;

	if (table == NULL)
		return NULL;
	result = palloc(ROWS * sizeof(SlicedSharedRow));
	*n = 0;
	LWLockAcquire(&table->lock, LW_SHARED);
	for (int i = 0; i < table->high; i++)
		if (OidIsValid(table->rows[i].database))
			row_copy(&result[(*n)++], &table->rows[i]);
	LWLockRelease(&table->lock);
	return result;
}

void
sliced_shared_remove(Oid database, Oid toastrelid)
{
	int32		next;

	if (table == NULL)
		return;
	LWLockAcquire(&table->lock, LW_EXCLUSIVE);
	for (int32 i = *bucket_of(database, toastrelid); i >= 0; i = next)
	{
		next = table->rows[i].next;
		if (table->rows[i].database == database && table->rows[i].toastrelid == toastrelid)
			row_remove(&table->rows[i]);
	}
	LWLockRelease(&table->lock);
	pg_atomic_write_u32(&table->changed, 1);
}

void
sliced_shared_remove_all(Oid database)
{
	if (table == NULL)
		return;
	LWLockAcquire(&table->lock, LW_EXCLUSIVE);
	for (int i = 0; i < table->high; i++)
		if (table->rows[i].database == database)
			row_remove(&table->rows[i]);
	LWLockRelease(&table->lock);
	pg_atomic_write_u32(&table->changed, 1);
}

bool
sliced_shared_is_crowded(void)
{
	TimestampTz now;
	bool		result = false;

	if (table == NULL || table->nrows < ROWS / 4 * 3)
		return false;
	now = GetCurrentTimestamp();
	LWLockAcquire(&table->lock, LW_EXCLUSIVE);
	if (TimestampDifferenceExceeds(table->swept, now, SWEEP_MS))
	{
		table->swept = now;
		result = true;
	}
	LWLockRelease(&table->lock);
	return result;
}

/* ---- leaders and workers ---- */

void
sliced_shared_lead(void)
{
	if (table == NULL || leading != NULL)
		return;
	for (int i = 0; i < LEADERS; i++)
	{
		uint32		nobody = 0;

		if (pg_atomic_compare_exchange_u32(&table->leaders[i].pid, &nobody, MyProcPid))
		{
			leading = &table->leaders[i];
			return;
		}
	}
}

void
sliced_shared_collect(uint64 *reads)
{
	for (int c = 0; leading != NULL && c < SLICED_N_READ_COUNTERS; c++)
		reads[c] += pg_atomic_exchange_u64(&leading->reads[c], 0);
}

void
sliced_shared_lead_no_more(void)
{
	if (leading == NULL)
		return;
	for (int c = 0; c < SLICED_N_READ_COUNTERS; c++)
		pg_atomic_write_u64(&leading->reads[c], 0);
	pg_atomic_write_u32(&leading->pid, 0);
	leading = NULL;
}

void
sliced_shared_report(const uint64 *reads)
{
	uint32		pid = MyProc->lockGroupLeader != NULL ? MyProc->lockGroupLeader->pid : 0;

	for (int i = 0; table != NULL && pid != 0 && i < LEADERS; i++)
		if (pg_atomic_read_u32(&table->leaders[i].pid) == pid)
			for (int c = 0; c < SLICED_N_READ_COUNTERS; c++)
				pg_atomic_fetch_add_u64(&table->leaders[i].reads[c], reads[c]);
}

/* ---- the file ---- */

static void
file_read(void)
{
	FILE	   *file = AllocateFile(FILE_NAME, PG_BINARY_R);
	FileHeader	header;
	SlicedSharedRow from;

	if (file == NULL)
		return;
	if (fread(&header, sizeof(header), 1, file) == 1 && header.magic == FILE_MAGIC &&
		header.row_size == sizeof(from))
		while (header.nrows-- > 0 && fread(&from, sizeof(from), 1, file) == 1)
		{
			Row		   *row;

			if (!OidIsValid(from.database) ||
				(row = row_make(from.database, from.booked.toastrelid, from.booked.attno)) == NULL)
				continue;
			row_add(row, from.booked.counts);
			row->since = from.since;
		}
	FreeFile(file);
}

/*
 * Write the file.  The caller has locked the table.
 *
 * The last session to end always writes it.  While there are others, parallel workers
 * leave it to them.  So do sessions for a while, if the file is long.
 */
static void
file_write(void)
{
	TimestampTz now = GetCurrentTimestamp();
	const char *temporary = FILE_NAME ".tmp";
	FileHeader	header = {FILE_MAGIC, sizeof(SlicedSharedRow), table->nrows};
	SlicedSharedRow to;
	FILE	   *file;
	bool		ok;

	if (table->nsessions > 0 &&
		(IsParallelWorker() ||
		 (table->nrows > FEW_ROWS &&
		  !TimestampDifferenceExceeds(table->written, now, WRITE_MS))))
		return;
	pg_atomic_write_u32(&table->changed, 0);
	table->written = now;
	file = AllocateFile(temporary, PG_BINARY_W);
	ok = file != NULL && fwrite(&header, sizeof(header), 1, file) == 1;
	memset(&to, 0, sizeof(to));
	for (int i = 0; ok && i < table->high; i++)
		if (OidIsValid(table->rows[i].database))
		{
			row_copy(&to, &table->rows[i]);
			ok = fwrite(&to, sizeof(to), 1, file) == 1;
		}
	if (file != NULL && FreeFile(file) != 0)
		ok = false;
	if (!ok || rename(temporary, FILE_NAME) != 0)
	{
		ereport(LOG,
				errcode_for_file_access(),
				errmsg("could not write file \"%s\": %m", FILE_NAME));
		unlink(temporary);
	}
}

/* ---- sessions ---- */

static void (*before_detaching) (void);

void
sliced_shared_before_detaching(void (*flush) (void))
{
	before_detaching = flush;
}

/* The session ends.  It may have failed to attach after it was counted. */
static void
at_detach(dsm_segment *segment, Datum arg)
{
	Table	   *t = dsm_segment_address(segment);

	before_detaching();
	LWLockAcquire(&t->lock, LW_EXCLUSIVE);
	t->nsessions--;
	if (table != NULL && pg_atomic_read_u32(&t->changed) != 0)
		file_write();
	LWLockRelease(&t->lock);
	/* the memory goes before the process does */
	sliced_shared_lead_no_more();
	table = NULL;
}

/*
 * Attach to the table, or make it, for as long as the session lasts.  Named memory
 * has only the table's handle, not the table: core does not say which segment named
 * memory is in.
 */
static dsm_segment *
segment_attach(void)
{
	dsm_segment *segment;
	dsm_handle *handle;
	bool		found;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	handle = sliced_named_bytes(TABLE_NAME, sizeof(dsm_handle), &found);
	if (!found)
		*handle = DSM_HANDLE_INVALID;
	if (*handle == DSM_HANDLE_INVALID)
	{
		segment = dsm_create(sizeof(Table), 0);
		table_init(dsm_segment_address(segment));
		dsm_pin_segment(segment);
		*handle = dsm_segment_handle(segment);
	}
	else if ((segment = dsm_attach(*handle)) == NULL)
		elog(ERROR, "could not map shared memory of \"%s\"", TABLE_NAME);
	dsm_pin_mapping(segment);
	LWLockRelease(AddinShmemInitLock);
	return segment;
}

static void
attach(void)
{
	dsm_segment *segment = segment_attach();

	table = dsm_segment_address(segment);
	LWLockRegisterTranche(table->tranche, TABLE_NAME);
	on_dsm_detach(segment, at_detach, (Datum) 0);
	LWLockAcquire(&table->lock, LW_EXCLUSIVE);
	table->nsessions++;
	if (!table->loaded)
		file_read();
	table->loaded = true;
	LWLockRelease(&table->lock);
}

/*
 * An error is reported to the log, and forgotten.  It may leave locks, which we
 * release, and nothing else: without a resource owner there is no segment to give
 * back.  So the caller must have held no locks.
 */
void
sliced_shared_attach(void)
{
	static bool tried = false;
	MemoryContext mcxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	if (likely(tried) || !IsUnderPostmaster || InterruptHoldoffCount > 0 ||
		QueryCancelHoldoffCount > 0 || CritSectionCount > 0 || proc_exit_inprogress)
		return;
	tried = true;
	PG_TRY();
	{
		HOLD_INTERRUPTS();
		CurrentResourceOwner = NULL;
		attach();
		RESUME_INTERRUPTS();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		LWLockReleaseAll();
		table = NULL;
		MemoryContextSwitchTo(mcxt);
		error = CopyErrorData();
		FlushErrorState();
		ereport(LOG,
				errmsg("statistics of sliced tables stay in this session: %s", error->message));
		FreeErrorData(error);
	}
	PG_END_TRY();
	CurrentResourceOwner = owner;
}
