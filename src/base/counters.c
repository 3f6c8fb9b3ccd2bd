/*
 * counters.c
 *	  Counts what is done to values: statistics for users.
 *
 * Booking is a search in a small hash table.  Once a transaction, a session adds what
 * it has booked to the shared table, under a shared lock.  Both take a few dozen
 * nanoseconds for each table and column that the transaction touched.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "base/counters.h"
#include "base/shared_counters.h"
#include "base/transaction.h"
#include "storage/bufmgr.h"

/*
 * How many tables and columns are booked separately.  When they are used up, a
 * session adds them to the shared table at once.
 */
#define BOOKED_MAX	256
#define BUCKETS		512

uint64		sliced_counts[SLICED_N_COUNTERS];
uint64		sliced_session_reads[SLICED_N_READ_COUNTERS];

static SlicedBooked booked[BOOKED_MAX];
static int	nbooked = 0;
static int16 buckets[BUCKETS];	/* number + 1 in booked[], 0 if empty */

static void
forget_booked(void)
{
	memset(booked, 0, nbooked * sizeof(SlicedBooked));
	memset(buckets, 0, sizeof(buckets));
	nbooked = 0;
}

void
sliced_counters_flush(void)
{
	if (nbooked == 0 || !sliced_shared_add(booked, nbooked))
		return;
	forget_booked();
	if (IsParallelWorker())
	{
		sliced_shared_report(sliced_session_reads);
		memset(sliced_session_reads, 0, sizeof(sliced_session_reads));
	}
}

/*
 * Where to book.  If all entries are in use and cannot be shared, the last one is for
 * everything else.
 */
static SlicedBooked *
booked_for(Oid toastrelid, int attno)
{
	static int	last = 0;
	int			bucket = (toastrelid * 0x9E3779B1u + attno) % BUCKETS;
	SlicedBooked *result;

	if (last < nbooked && booked[last].toastrelid == toastrelid && booked[last].attno == attno)
		return &booked[last];
	sliced_shared_attach();
	if (nbooked == BOOKED_MAX)
		sliced_counters_flush();
	for (; buckets[bucket] != 0; bucket = (bucket + 1) % BUCKETS)
	{
		last = buckets[bucket] - 1;
		if (booked[last].toastrelid == toastrelid && booked[last].attno == attno)
			return &booked[last];
	}
	if (nbooked == BOOKED_MAX)
	{
		/* there is no shared table */
		result = &booked[BOOKED_MAX - 1];
		toastrelid = InvalidOid;
		attno = 0;
	}
	else
	{
		last = nbooked;
		result = &booked[nbooked++];
		buckets[bucket] = nbooked;
	}
	result->toastrelid = toastrelid;
	result->attno = attno;
	return result;
}

instr_time
sliced_reading_begin(void)
{
	instr_time	began;

	memset(sliced_counts, 0, SLICED_N_READ_COUNTERS * sizeof(uint64));
	if (track_io_timing)
		INSTR_TIME_SET_CURRENT(began);
	else
		INSTR_TIME_SET_ZERO(began);
	return began;
}

void
sliced_reading_end(Oid toastrelid, instr_time began, bool core)
{
	SlicedBooked *b = booked_for(toastrelid, 0);

	sliced_counts[SLICED_READS] = 1;
	sliced_counts[SLICED_CORE_READS] = core;
	if (!INSTR_TIME_IS_ZERO(began))
	{
		instr_time	now;

		INSTR_TIME_SET_CURRENT(now);
		INSTR_TIME_SUBTRACT(now, began);
		sliced_counts[SLICED_READ_TIME] = INSTR_TIME_GET_MICROSEC(now);
	}
	for (int i = 0; i < SLICED_N_READ_COUNTERS; i++)
	{
		b->counts[i] += sliced_counts[i];
		sliced_session_reads[i] += sliced_counts[i];
	}
}

void
sliced_storing_begin(void)
{
	memset(sliced_counts + SLICED_N_READ_COUNTERS, 0,
		   (SLICED_N_COUNTERS - SLICED_N_READ_COUNTERS) * sizeof(uint64));
}

void
sliced_storing_end(Oid toastrelid, int attno, int codec)
{
	SlicedBooked *b = booked_for(toastrelid, attno);
	uint64		compressed = 0;

	for (int i = 0; i < SLICED_N_CODECS; i++)
		if (i != SLICED_CODEC_NONE)
			compressed += sliced_counts[SLICED_RAW_WRITTEN + i];
	if (sliced_counts[SLICED_STORED] > 0 && codec != SLICED_CODEC_NONE && compressed == 0)
		sliced_count(SLICED_STORED_AS_IS, 1);
	for (int i = SLICED_N_READ_COUNTERS; i < SLICED_N_COUNTERS; i++)
		b->counts[i] += sliced_counts[i];
}

void
sliced_count_column(Oid toastrelid, int attno, SlicedCounter counter)
{
	booked_for(toastrelid, attno)->counts[counter]++;
}

SlicedBooked *
sliced_counters_own(int *n)
{
	*n = nbooked;
	return booked;
}

void
sliced_counters_forget(void)
{
	forget_booked();
}

static void
at_end_of_subtransaction(bool committed, SubTransactionId mine, SubTransactionId parent)
{
	/* work counts even if it is rolled back */
}

void
sliced_counters_init(void)
{
	sliced_shared_before_detaching(sliced_counters_flush);
	sliced_transaction_at_end(sliced_counters_flush, at_end_of_subtransaction);
}
