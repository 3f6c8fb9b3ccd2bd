/*
 * fuzz_common_runs.c
 *	  Finds the runs that two values have in common.  The new value is made of
 *	  copies and other bytes, and is made again of the runs that are found.
 *
 * Links: value/common_runs value/anchors value/same_bytes
 */
#include "postgres.h"

#include "base/limits.h"
#include "server.h"
#include "value/common_runs.h"

int			LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

#define LONGEST		60000

typedef struct Input
{
	const uint8 *data;
	size_t		size;
	char	   *old;
	uint32		old_len;
	uint32		readable;		/* of the old value */
	char	   *new;
	uint32		new_len;
} Input;

static uint32
take(Input *in, int bytes)
{
	uint32		result = 0;

	for (; bytes > 0 && in->size > 0; bytes--, in->size--)
		result = result << 8 | *in->data++;
	return result;
}

/* Fill with noise, with bytes that repeat, or with bytes of the input. */
static void
fill(Input *in, char *to, uint32 len, uint32 how)
{
	uint32		state = how;

	for (uint32 i = 0; i < len; i++)
	{
		state = state * 1664525 + 1013904223;
		to[i] = how % 4 == 0 ? state >> 24 : how % 4 == 1 ? 'a' + i % (how / 4 + 1) :
			how % 4 == 2 ? 'a' + (state >> 31) : (char) take(in, 1);
	}
}

static void
make_values(Input *in)
{
	uint32		how = take(in, 1);

	in->old_len = take(in, 2) % LONGEST;
	in->old = palloc(in->old_len + 1);
	in->new = palloc(2 * LONGEST);
	fill(in, in->old, in->old_len, how);
	in->new_len = 0;
	while (in->size > 0 && in->new_len < LONGEST)
	{
		uint32		what = take(in, 1);
		uint32		start = in->old_len == 0 ? 0 : take(in, 2) % in->old_len;
		uint32		len = take(in, what % 2 + 1);

		if (what % 4 < 3)
			memcpy(in->new + in->new_len, in->old + start, len = Min(len, in->old_len - start));
		else
			fill(in, in->new + in->new_len, len = Min(len, LONGEST), what / 4);
		in->new_len += len;
	}
}

static bool
read_old(void *arg, uint32 start, uint32 end, char *dest)
{
	Input	   *in = arg;

	if (start >= end || end > in->old_len || end - start > SLICED_COMPARE_STEP)
		abort();
	if (end > in->readable)
		return false;
	memcpy(dest, in->old + start, end - start);
	return true;
}

static void
check_runs(const Input *in, const SlicedOldBytes *old, bool between)
{
	SlicedCommonRuns found;
	uint32		old_at = 0;
	uint32		new_at = 0;
	uint32		shared = 0;

	sliced_common_runs_find(&found, old, in->new, in->new_len, between);
	for (int i = 0; i < found.nruns; i++)
	{
		const SlicedCommonRun *run = &found.runs[i];

		if (run->len == 0 || run->old_start < old_at || run->new_start < new_at ||
			run->len > in->old_len - run->old_start || run->len > in->new_len - run->new_start ||
			memcmp(in->old + run->old_start, in->new + run->new_start, run->len) != 0)
			abort();
		old_at = run->old_start + run->len;
		new_at = run->new_start + run->len;
		shared += run->len;
	}
	/* equal bytes are found, and no input takes long */
	if (shared != found.shared || found.work > 1000000 + 20 * (uint64) in->new_len ||
		(in->new_len == in->old_len && in->readable == in->old_len && shared < in->new_len &&
		 memcmp(in->old, in->new, in->new_len) == 0))
		abort();
}

static void
try_values(void *arg)
{
	Input	   *in = arg;
	SlicedOldBytes old = {.read = read_old, .arg = in};
	bool		between = take(in, 1) % 8 > 0;
	uint32		readable = take(in, 2);
	char	   *new;

	make_values(in);
	/* the value's memory ends where the value ends */
	new = memcpy(palloc(in->new_len + (in->new_len == 0)), in->new, in->new_len);
	pfree(in->new);
	in->new = new;
	old.len = in->readable = in->old_len;
	check_runs(in, &old, between);
	in->readable = readable;
	check_runs(in, &old, between);
	in->readable = in->old_len;
	old.bytes = in->old;
	check_runs(in, &old, between);
}

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	Input		in = {.data = data, .size = size};

	if (server_run(try_values, &in))
		return 0;
	abort();
}
