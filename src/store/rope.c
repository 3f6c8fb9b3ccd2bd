/*
 * rope.c
 *	  A value described as runs of another value, and new bytes.
 */
#include "postgres.h"

#include "base/limits.h"
#include "format/pointer.h"
#include "store/reader.h"
#include "store/rope.h"

SlicedRope *
sliced_rope_make(const struct varatt_external *base)
{
	SlicedRope *rope = palloc(sizeof(SlicedRope));

	rope->base = *base;
	rope->len = 0;
	rope->nruns = 0;
	rope->recent = 0;
	rope->recent_at = 0;
	rope->maxruns = 4;
	rope->runs = palloc(rope->maxruns * sizeof(SlicedRun));
	rope->maker = InvalidOid;
	return rope;
}

/* True if the two runs are one. */
static bool
runs_join(const SlicedRun *last, const SlicedRun *run)
{
	if (last->is_list || run->is_list)
		return false;
	return run->bytes == NULL ? last->bytes == NULL && last->start + last->len == run->start :
		last->bytes != NULL && last->bytes + last->len == run->bytes;
}

static void
rope_add(SlicedRope *rope, SlicedRun run)
{
	if (run.len == 0)
		return;
	rope->len += run.len;
	if (rope->nruns > 0 && runs_join(&rope->runs[rope->nruns - 1], &run))
	{
		rope->runs[rope->nruns - 1].len += run.len;
		return;
	}
	if (rope->nruns == rope->maxruns)
	{
		rope->maxruns *= 2;
		rope->runs = repalloc_huge(rope->runs, rope->maxruns * sizeof(SlicedRun));
	}
	rope->runs[rope->nruns++] = run;
}

void
sliced_rope_add_base(SlicedRope *rope, uint32 start, uint32 len)
{
	Assert((uint64) start + len <= sliced_pointer_size(&rope->base));
	rope_add(rope, (SlicedRun) {.start = start, .len = len});
}

void
sliced_rope_add_bytes(SlicedRope *rope, const char *bytes, uint32 len)
{
	rope_add(rope, (SlicedRun) {.bytes = bytes, .len = len});
}

/* Bytes [skip, skip + len) of a run. */
static SlicedRun
run_part(const SlicedRun *run, uint32 skip, uint32 len)
{
	SlicedRun	part = *run;
	uint32		end = run->list.end + run->list.delta;

	part.len = len;
	if (run->bytes == NULL || run->is_list)
		part.start += skip;
	if (run->bytes != NULL)
		part.bytes += skip;
	part.is_list &= skip % sizeof(SlicedListWord) == 0 && len % sizeof(SlicedListWord) == 0;
	if (!part.is_list || skip == 0)
		return part;
	for (uint32 i = 0; i < skip; i += sizeof(SlicedListWord))
		end = sliced_list_next_end(end, sliced_list_word(run->bytes + i));
	part.list = sliced_list_rest(&run->list, skip, (end - run->list.delta) & SLICED_LIST_BITS);
	return part;
}

/*
 * Returns the run that has byte 'start' of the rope, and where it begins.  Who goes
 * through a rope asks for one byte after the other: the search begins where the last
 * one ended.
 */
static int
find_run(const SlicedRope *rope, uint32 start, uint32 *at)
{
	SlicedRope *found = unconstify(SlicedRope *, rope);

	if (start < found->recent_at)
		found->recent = found->recent_at = 0;
	while (found->recent < rope->nruns && start - found->recent_at >= rope->runs[found->recent].len)
		found->recent_at += rope->runs[found->recent++].len;
	*at = found->recent_at;
	return found->recent;
}

void
sliced_rope_add_rope(SlicedRope *rope, const SlicedRope *other, uint32 start, uint32 len)
{
	uint32		at;

	Assert((uint64) start + len <= other->len);
	if (len == 0)
		return;
	for (int i = find_run(other, start, &at); i < other->nruns && len > 0; i++)
	{
		const SlicedRun *run = &other->runs[i];

		if (start - at < run->len)
		{
			uint32		skip = start - at;
			uint32		n = Min(len, run->len - skip);

			rope_add(rope, run_part(run, skip, n));
			start += n;
			len -= n;
		}
		at += run->len;
	}
}

/* Returns how many of 'n' bytes are the same from 'i' on.  Counts words of four. */
static uint32
same_bytes(const char *a, const char *b, uint32 i, uint32 n)
{
	uint32		start = i;

	while (i + sizeof(uint32) <= n && memcmp(a + i, b + i, sizeof(uint32)) == 0)
		i += sizeof(uint32);
	return i - start;
}

/* Add 'n' bytes in the caller's memory, or those of 'other' if they are as good. */
static void
add_same_or_new(SlicedRope *rope, const char *bytes, const char *old, uint32 n,
				const SlicedRope *other, uint32 start)
{
	uint32		done = 0;

	for (uint32 i = 0; i < n;)
	{
		uint32		same = same_bytes(bytes, old, i, n);

		if (same >= SLICED_RUN_WORTH)
		{
			sliced_rope_add_bytes(rope, bytes + done, i - done);
			sliced_rope_add_rope(rope, other, start + i, same);
			done = i + same;
		}
		i += same + sizeof(uint32);
	}
	sliced_rope_add_bytes(rope, bytes + done, n - done);
}

/*
 * Bytes before a change stay where they were; bytes behind it keep their distance
 * from the end.
 */
void
sliced_rope_add_similar(SlicedRope *rope, const char *bytes, uint32 len, const char *old,
						uint32 old_len, const SlicedRope *other, uint32 start)
{
	uint32		first = len == old_len ? 0 : same_bytes(bytes, old, 0, Min(len, old_len));
	uint32		n = Min(len, old_len) - first;

	sliced_rope_add_rope(rope, other, start, first);
	sliced_rope_add_bytes(rope, bytes + first, len - first - n);
	add_same_or_new(rope, bytes + (len - n), old + (old_len - n), n, other, start + (old_len - n));
}

/* True if the value before a list that has moved ends there now. */
static bool
list_ends_at(const SlicedList *list, uint32 end)
{
	return ((list->end + list->delta - end) & SLICED_LIST_BITS) == 0;
}

void
sliced_rope_add_list(SlicedRope *rope, const char *bytes, uint32 len, const char *old,
					 const SlicedList *list, const SlicedRope *other, uint32 start)
{
	uint32		at;				/* of a run in 'other' */
	uint32		done = 0;		/* of the list */
	uint32		end = list->end;
	uint32		known = 0;		/* the word that 'end' is before */

	for (int i = find_run(other, start, &at); i < other->nruns && done < len; at += other->runs[i++].len)
	{
		const SlicedRun *run = &other->runs[i];
		uint32		skip = start + done - at;
		SlicedRun	part;

		if (skip >= run->len)
			continue;
		part = run_part(run, skip, Min(len - done, run->len - skip));
		for (; known + sizeof(SlicedListWord) <= done; known += sizeof(SlicedListWord))
			end = sliced_list_next_end(end, sliced_list_word(old + known));
		/*
		 * a list that has moved before moves once; but see add_list() in tree/edits.c
		 */
		if ((part.bytes == NULL || (part.is_list && list_ends_at(&part.list, end))) &&
			part.len >= SLICED_LIST_WORTH &&
			done % sizeof(SlicedListWord) == 0 && part.len % sizeof(SlicedListWord) == 0)
		{
			SlicedList	rest = sliced_list_rest(list, done, end);

			if (part.is_list)
			{
				rest.end = part.list.end;
				rest.delta = (rest.delta + part.list.delta) & SLICED_LIST_BITS;
			}
			part.is_list = true;
			part.list = rest;
			part.bytes = bytes + done;
			rope_add(rope, part);
		}
		else
			add_same_or_new(rope, bytes + done, old + done, part.len, other, start + done);
		done += part.len;
	}
}

SlicedRope *
sliced_rope_copy(const SlicedRope *rope, MemoryContext mcxt)
{
	SlicedRope *copy = MemoryContextAllocHuge(mcxt, sizeof(SlicedRope) +
											  rope->nruns * sizeof(SlicedRun) +
											  sliced_rope_new_bytes(rope));
	char	   *bytes;

	*copy = *rope;
	copy->recent = 0;
	copy->recent_at = 0;
	copy->len = 0;
	copy->nruns = 0;
	copy->maxruns = rope->nruns;
	copy->runs = (SlicedRun *) (copy + 1);
	bytes = (char *) (copy->runs + rope->nruns);
	for (int i = 0; i < rope->nruns; i++)
	{
		const SlicedRun *run = &rope->runs[i];

		SlicedRun	new = *run;

		if (run->bytes != NULL)
		{
			new.bytes = memcpy(bytes, run->bytes, run->len);
			bytes += run->len;
		}
		rope_add(copy, new);
	}
	return copy;
}

uint32
sliced_rope_new_bytes(const SlicedRope *rope)
{
	uint32		result = 0;

	for (int i = 0; i < rope->nruns; i++)
		if (rope->runs[i].bytes != NULL)
			result += rope->runs[i].len;
	return result;
}

uint32
sliced_rope_unshared(const SlicedRope *rope)
{
	uint64		new = 0;
	uint32		done = 0;

	for (int i = 0; i < rope->nruns; i++)
	{
		const SlicedRun *run = &rope->runs[i];

		/* runs that go back, or come twice, are copied */
		if ((run->bytes != NULL && !run->is_list) || run->start < done)
			new += run->len;
		else
			done = run->start + run->len;
	}
	return Min(new, rope->len);
}

/* True if run 'i' is the whole base. */
static bool
run_is_base(const SlicedRope *rope, int i)
{
	return rope->runs[i].bytes == NULL && rope->runs[i].start == 0 &&
		rope->runs[i].len == sliced_pointer_size(&rope->base);
}

bool
sliced_rope_is_base(const SlicedRope *rope)
{
	return rope->nruns == 1 && run_is_base(rope, 0);
}

bool
sliced_rope_grows(const SlicedRope *rope)
{
	return rope->nruns == 2 && run_is_base(rope, 0) && rope->runs[1].bytes != NULL;
}

static void
rope_read_base(const SlicedRope *rope, Relation toastrel, uint32 start, uint32 len, char *dest)
{
	if (!sliced_value_read(toastrel, rope->base.va_valueid, start, len, dest))
		sliced_report_corruption(toastrel, rope->base.va_valueid, start, SLICED_NOT_SLICES);
}

/*
 * If bytes [offset, offset + len) come from many places of the base that are close to
 * each other, read these in one go, so that slices are not decompressed for each of
 * them.  The result begins at '*start' of the base; NULL if there is nothing to gain.
 */
static char *
rope_read_base_at_once(const SlicedRope *rope, Relation toastrel, uint32 offset, uint32 len,
					   uint32 *start)
{
	uint32		at;
	uint32		end = 0;
	uint64		needed = 0;
	int			places = 0;
	char	   *bytes;

	*start = PG_UINT32_MAX;
	for (int i = find_run(rope, offset, &at); i < rope->nruns && at < offset + len; at += rope->runs[i++].len)
	{
		const SlicedRun *run = &rope->runs[i];
		uint32		from = Max(at, offset) - at;
		uint32		to = Min(run->len, offset + len - at);

		if (run->bytes != NULL || from >= to)
			continue;
		places++;
		needed += to - from;
		*start = Min(*start, run->start + from);
		end = Max(end, run->start + to);
	}
	if (places <= SLICED_MANY_PLACES || end - *start > SLICED_SPARSE * needed)
		return NULL;
	bytes = MemoryContextAllocHuge(CurrentMemoryContext, end - *start);
	rope_read_base(rope, toastrel, *start, end - *start, bytes);
	return bytes;
}

static void
rope_read_runs(const SlicedRope *rope, Relation toastrel, uint32 offset, uint32 len, char *dest)
{
	uint32		at;
	uint32		base_start;
	char	   *base = rope_read_base_at_once(rope, toastrel, offset, len, &base_start);

	for (int i = find_run(rope, offset, &at); i < rope->nruns && len > 0; i++)
	{
		const SlicedRun *run = &rope->runs[i];

		if (offset - at < run->len)
		{
			uint32		skip = offset - at;
			uint32		n = Min(len, run->len - skip);

			if (run->bytes != NULL)
				memcpy(dest, run->bytes + skip, n);
			else if (base != NULL)
				memcpy(dest, base + (run->start + skip - base_start), n);
			else
				rope_read_base(rope, toastrel, run->start + skip, n, dest);
			dest += n;
			offset += n;
			len -= n;
		}
		at += run->len;
	}
	if (base != NULL)
		pfree(base);
}

void
sliced_rope_read(const SlicedRope *rope, Relation toastrel, uint32 offset, uint32 len,
				 char *dest)
{
	for (uint32 done = 0; done < len; done += SLICED_ROPE_STEP)
		rope_read_runs(rope, toastrel, offset + done, Min(len - done, SLICED_ROPE_STEP), dest + done);
}
