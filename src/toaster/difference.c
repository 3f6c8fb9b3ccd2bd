/*
 * difference.c
 *	  Finds what a new value has in common with the one it replaces.
 *
 * That is their beginning and their end and, for some types, whatever their
 * structure tells.  Comparing means reading the old value, which is several times
 * cheaper than writing the new one, and it stops where the two differ.  But if
 * they always differ, even that is wasted.  So we try a column less and less
 * often while its values have nothing in common.
 */
#include "postgres.h"

#include "access/table.h"
#include "base/counters.h"
#include "base/limits.h"
#include "format/pointer.h"
#include "store/change.h"
#include "store/reader.h"
#include "toaster/difference.h"
#include "value/document.h"

/* How a column has done.  Columns share entries if they must. */
typedef struct Experience
{
	Oid			relid;
	int			attno;
	int			failures;		/* in a row */
	uint32		skip;			/* so many values */
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

uint32
sliced_common_prefix(const char *a, const char *b, uint32 n)
{
	uint32		i = 0;

	while (i + sizeof(uint64) <= n && memcmp(a + i, b + i, sizeof(uint64)) == 0)
		i += sizeof(uint64);
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

uint32
sliced_common_suffix(const char *a, const char *b, uint32 n)
{
	uint32		i = 0;

	while (i + sizeof(uint64) <= n &&
		   memcmp(a - i - sizeof(uint64), b - i - sizeof(uint64), sizeof(uint64)) == 0)
		i += sizeof(uint64);
	while (i < n && a[-1 - (int64) i] == b[-1 - (int64) i])
		i++;
	return i;
}

typedef struct Comparison
{
	Relation	toastrel;
	Oid			oldid;
	uint32		oldlen;
	const char *old;			/* all of it, if it is short */
	const char *raw;
	uint32		len;
	char	   *work;			/* for SLICED_COMPARE_STEP bytes, or all */
} Comparison;

/*
 * Bytes [start, end) of the old value, at most SLICED_COMPARE_STEP; NULL if they
 * cannot be read: a damaged value can be replaced like any other.
 */
static const char *
old_bytes(Comparison *c, uint32 start, uint32 end)
{
	instr_time	began;
	bool		ok;

	if (c->old != NULL)
		return c->old + start;
	began = sliced_reading_begin();
	ok = sliced_value_try_read(c->toastrel, SLICED_SEE_READABLE, c->oldid, start, end - start,
							   c->work) == SLICED_SOUND;
	if (ok)
		sliced_reading_end(RelationGetRelid(c->toastrel), began, false);
	return ok ? c->work : NULL;
}

static uint32
find_prefix(Comparison *c)
{
	uint32		limit = Min(c->oldlen, c->len);
	uint32		done = 0;

	while (done < limit)
	{
		uint32		end = Min(limit, done == 0 ? SLICED_COMPARE_FIRST : done - done % SLICED_COMPARE_STEP + SLICED_COMPARE_STEP);
		const char *old = old_bytes(c, done, end);
		uint32		n;

		if (old == NULL)
			break;
		n = sliced_common_prefix(old, c->raw + done, end - done);
		done += n;
		if (done < end)
			break;
	}
	return done;
}

static uint32
find_suffix(Comparison *c, uint32 prefix)
{
	uint32		limit = Min(c->oldlen, c->len) - prefix;
	uint32		done = 0;

	while (done < limit)
	{
		uint32		end = c->oldlen - done;
		uint32		start = done == 0 ? end - Min(end, SLICED_COMPARE_FIRST) : (end - 1) - (end - 1) % SLICED_COMPARE_STEP;
		const char *old;
		uint32		n;

		start = Max(start, c->oldlen - limit);
		old = old_bytes(c, start, end);
		if (old == NULL)
			break;
		n = sliced_common_suffix(old + (end - start), c->raw + c->len - done, end - start);
		done += n;
		if (n < end - start)
			break;
	}
	return done;
}

/*
 * The rope that writes less.  The structural one is worth nothing if it writes
 * more than half of the value, since it needs all of the old value read.
 */
static SlicedRope *
better_rope(SlicedRope *rope, SlicedRope *structural, const SlicedPolicy *policy)
{
	uint32		new;

	if (structural == NULL)
		return rope;
	new = sliced_change_new_bytes(structural, policy);
	if (new > structural->len / 2 || (rope != NULL && sliced_rope_new_bytes(rope) < new))
		return rope;
	return structural;
}

/*
 * The rope comes from whoever knows the type.  What is stored must not depend on
 * its being right, and all of the old value has been read.
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

		sound = bytes == raw + at || memcmp(bytes, raw + at, run->len) == 0;
	}
	if (!sound)
		ereport(ERROR,
				errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				errmsg("a difference between two values does not lead to the new value"));
}

/* What the type's structure tells; NULL if the old value is damaged. */
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

SlicedRope *
sliced_difference(Relation rel, int attno, const SlicedToaster *toaster,
				  const struct varatt_external *old, const char *raw, uint32 len)
{
	Experience *e = experience_of(RelationGetRelid(rel), attno);
	Comparison	c = {
		.oldid = old->va_valueid,
		.oldlen = sliced_pointer_size(old),
		.raw = raw,
		.len = len
	};
	uint32		prefix;
	uint32		suffix;
	SlicedRope *rope = NULL;

	if (e->skip > 0)
	{
		e->skip--;
		return NULL;
	}

	c.toastrel = table_open(old->va_toastrelid, AccessShareLock);
	c.work = palloc(Min(SLICED_COMPARE_STEP, c.oldlen));
	if (c.oldlen <= SLICED_COMPARE_WHOLE)
		/* where the structure is looked at next, in a document it is at hand */
		c.old = toaster->difference != NULL ? sliced_document_try_read(old) : old_bytes(&c, 0, c.oldlen);
	prefix = find_prefix(&c);
	suffix = find_suffix(&c, prefix);
	pfree(c.work);
	table_close(c.toastrel, NoLock);

	/* less than a quarter is not worth being shared: see store/change.c */
	if (prefix + suffix >= len / 4 + 1)
	{
		rope = sliced_rope_make(old);
		sliced_rope_add_base(rope, 0, prefix);
		sliced_rope_add_bytes(rope, raw + prefix, len - prefix - suffix);
		sliced_rope_add_base(rope, c.oldlen - suffix, suffix);
	}
	if (toaster->difference != NULL && len - prefix - suffix > SLICED_COMPARE_CLOSER)
		rope = better_rope(rope, structural_difference(toaster, old, raw, len), &toaster->policy);
	remember_outcome(e, rope != NULL);
	return rope;
}
