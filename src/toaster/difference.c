/*
 * difference.c
 *	  Finds what a new value has in common with the one it replaces.
 *
 * For some types that is their beginning, their end, and what their structure tells.
 * The bytes of others are compared in all places (value/common_runs.c).  Comparing
 * means reading the old value, which is several times cheaper than writing the new
 * one, and it stops where little is the same.  But if the values always differ, even
 * that work is wasted.  So we try a column less and less often while its values have
 * nothing in common.
 */
#include "postgres.h"

#include "access/table.h"
#include "base/counters.h"
#include "base/limits.h"
#include "format/pointer.h"
#include "miscadmin.h"
#include "store/change.h"
#include "store/reader.h"
#include "store/rope.h"
#include "toaster/difference.h"
#include "value/common_runs.h"
#include "value/document.h"

/* How often comparing has paid for a column.  Columns share entries if they must. */
typedef struct Experience
{
	Oid			relid;
	int			attno;
	int			failures;		/* in a row */
	uint32		skip;			/* values to skip before the next try */
} Experience;

#define N_EXPERIENCES	64

static Experience *
experience_of(Oid relid, int attno)
{
	static Experience experiences[N_EXPERIENCES];
	Experience *e = &experiences[(relid * 31 + attno) % N_EXPERIENCES];

	if (e->relid != relid || e->attno != attno)
		*e = (Experience) {.relid = relid, .attno = attno};
	return e;
}

static void
remember_outcome(Experience *e, bool found)
{
	e->failures = found ? 0 : Min(e->failures + 1, SLICED_COMPARE_BACKOFF);
	e->skip = e->failures > 2 ? (1 << e->failures) - 1 : 0;
}

typedef struct OldValue
{
	Relation	toastrel;
	Oid			valueid;
} OldValue;

/*
 * Returns false if the bytes cannot be read: a damaged value can be replaced like any
 * other.
 */
static bool
read_old_bytes(void *arg, uint32 start, uint32 end, char *dest)
{
	OldValue   *old = arg;
	instr_time	began = sliced_reading_begin();
	bool		ok = sliced_value_try_read(old->toastrel, SLICED_SEE_READABLE, old->valueid, start,
										   end - start, dest) == SLICED_SOUND;

	CHECK_FOR_INTERRUPTS();
	if (ok)
		sliced_reading_end(RelationGetRelid(old->toastrel), began, false);
	return ok;
}

static SlicedRope *
rope_of_runs(const struct varatt_external *old, const SlicedCommonRuns *found, const char *raw,
			 uint32 len)
{
	SlicedRope *rope = sliced_rope_make(old);
	uint32		done = 0;

	for (int i = 0; i < found->nruns; i++)
	{
		const SlicedCommonRun *run = &found->runs[i];

		sliced_rope_add_bytes(rope, raw + done, run->new_start - done);
		sliced_rope_add_base(rope, run->old_start, run->len);
		done = run->new_start + run->len;
	}
	sliced_rope_add_bytes(rope, raw + done, len - done);
	return rope;
}

/*
 * Compare bytes without knowing their structure.  NULL if less than a quarter is the
 * same, which is not worth sharing: see store/change.c.  '*new' is how many are not
 * the same.
 */
static SlicedRope *
compare_bytes(const SlicedToaster *toaster, const struct varatt_external *old, const char *raw,
			  uint32 len, uint32 *new)
{
	OldValue	value = {.valueid = old->va_valueid};
	SlicedOldBytes bytes = {
		.len = sliced_pointer_size(old),
		.read = read_old_bytes,
		.arg = &value
	};
	SlicedCommonRuns found;
	SlicedRope *rope = NULL;
	char	   *whole = NULL;

	value.toastrel = table_open(old->va_toastrelid, AccessShareLock);
	/* a value of one slice, which we look at from both ends, is decompressed at once */
	if (toaster->difference == NULL && bytes.len <= SLICED_COMPARE_STEP)
	{
		whole = palloc(bytes.len);
		if (read_old_bytes(&value, 0, bytes.len, whole))
			bytes.bytes = whole;
	}
	/* a document, since the structure is looked at next and finds it in memory */
	else if (bytes.len <= SLICED_COMPARE_WHOLE)
		bytes.bytes = sliced_document_try_read(old);
	sliced_common_runs_find(&found, &bytes, raw, len, toaster->difference == NULL);
	if (whole != NULL)
		pfree(whole);
	table_close(value.toastrel, NoLock);

	*new = len - found.shared;
	if (found.shared >= len / 4 + 1)
		rope = rope_of_runs(old, &found, raw, len);
	if (found.runs != NULL)
		pfree(found.runs);
	return rope;
}

/*
 * The rope that writes less.  The structural one must read all of the old value, so
 * it is not worth it if it writes more than half of the value.
 */
static SlicedRope *
better_rope(SlicedRope *rope, SlicedRope *structural)
{
	uint32		new;

	if (structural == NULL)
		return rope;
	new = sliced_rope_unshared(structural);
	if (new > structural->len / 2 || (rope != NULL && sliced_rope_new_bytes(rope) < new))
		return rope;
	return structural;
}

/* True if the list of the old value, moved, gives these bytes. */
static bool
list_is_right(const SlicedRun *run, SlicedDocument *doc)
{
	char	   *words = MemoryContextAllocHuge(CurrentMemoryContext, run->len);
	bool		result;

	memcpy(words, sliced_document_need(doc, run->start, run->len), run->len);
	sliced_list_move(words, run->len, &run->list);
	result = memcmp(words, run->bytes, run->len) == 0;
	pfree(words);
	return result;
}

/*
 * The rope comes from a toaster, perhaps of another extension.  What we store must
 * not depend on that being right, and all of the old value has been read, so checking
 * is cheap.
 */
static void
check_structural(const SlicedRope *rope, SlicedDocument *doc, const char *raw, uint32 len)
{
	uint32		at = 0;
	bool		sound = rope->len == len &&
		memcmp(&rope->base, &doc->ptr, sizeof(rope->base)) == 0;

	for (int i = 0; sound && i < rope->nruns; at += rope->runs[i++].len)
	{
		const SlicedRun *run = &rope->runs[i];
		const char *bytes = run->bytes != NULL ? run->bytes :
			sliced_document_need(doc, run->start, run->len);

		sound = (bytes == raw + at || memcmp(bytes, raw + at, run->len) == 0) &&
			(!run->is_list || list_is_right(run, doc));
	}
	if (!sound)
		ereport(ERROR,
				errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				errmsg("a difference between two values does not lead to the new value"));
}

/* The difference that the type's structure tells; NULL if the old value is damaged. */
static SlicedRope *
structural_difference(const SlicedToaster *toaster, const struct varatt_external *old,
					  const char *raw, uint32 len)
{
	SlicedDocument *doc;
	SlicedRope *rope;

	if (sliced_document_try_read(old) == NULL)
		return NULL;
	doc = sliced_document_at(old, NULL);
	rope = toaster->difference(doc, raw, len);
	if (rope != NULL)
		check_structural(rope, sliced_document_at(old, NULL), raw, len);
	return rope;
}

static bool
is_worth_it(const SlicedRope *rope)
{
	Relation	toastrel = table_open(rope->base.va_toastrelid, AccessShareLock);
	bool		result = sliced_change_is_worth_it(toastrel, rope);

	table_close(toastrel, NoLock);
	return result;
}

SlicedRope *
sliced_difference(Relation rel, int attno, const SlicedToaster *toaster,
				  const struct varatt_external *old, const char *raw, uint32 len)
{
	Experience *e = experience_of(RelationGetRelid(rel), attno);
	SlicedRope *rope;
	uint32		new;

	if (e->skip > 0)
	{
		e->skip--;
		return NULL;
	}

	rope = compare_bytes(toaster, old, raw, len, &new);
	if (toaster->difference != NULL && new > SLICED_COMPARE_CLOSER)
		rope = better_rope(rope, structural_difference(toaster, old, raw, len));
	if (rope != NULL && !is_worth_it(rope))
		rope = NULL;
	remember_outcome(e, rope != NULL);
	return rope;
}
