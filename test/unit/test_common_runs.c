/*
 * test_common_runs.c
 *	  Tests of the runs that two values have in common: whether they are right, how
 *	  much is found, and what that costs at most.
 */
#include "postgres.h"

#include <stdlib.h>

#include "base/limits.h"
#include "unit.h"
#include "value/common_runs.h"

#define MB	(1024 * 1024)

static char *old_value;
static uint32 old_len;
static char *new_value;
static uint32 new_len;
static uint32 unchanged;		/* bytes of the new value that were copied in long runs */
static uint32 run_len;			/* of the last one */
static uint32 reads;
static uint32 readable;			/* so many reads succeed */

static uint64 random_state;

static uint32
random_number(uint32 n)
{
	random_state = random_state * UINT64CONST(6364136223846793005) + 1442695040888963407;
	return (random_state >> 33) % n;
}

/* ---- contents ---- */

static void
fill_noise(char *to, uint32 len)
{
	for (uint32 i = 0; i < len; i++)
		to[i] = random_number(256);
}

/* Lines that have much in common with each other. */
static void
fill_log(char *to, uint32 len)
{
	uint32		done = 0;
	uint32		number = 0;

	while (done < len)
	{
		char		line[200];
		int			n = snprintf(line, sizeof(line),
								 "2026-03-%02u 12:%02u:%02u.%03u INFO  request %u served from cache in %u ms for user %u\n",
								 number / 5000 % 28 + 1, number / 60 % 60, number % 60, random_number(1000),
								 number, random_number(100), random_number(5000));

		memcpy(to + done, line, Min(n, len - done));
		done += Min(n, len - done);
		number++;
	}
}

static void
make_old(void (*fill) (char *to, uint32 len), uint32 len)
{
	old_value = realloc(old_value, len + 1);
	new_value = realloc(new_value, 4 * len + 100000);
	old_len = len;
	new_len = unchanged = run_len = 0;
	readable = PG_UINT32_MAX;
	fill(old_value, len);
}

/* End a run of copied bytes: it counts if it is long enough. */
static void
end_run(void)
{
	if (run_len >= SLICED_COMMON_RUN)
		unchanged += run_len;
	run_len = 0;
}

static void
copy(uint32 start, uint32 len)
{
	memcpy(new_value + new_len, old_value + start, len);
	new_len += len;
	run_len += len;
}

static void
add(void (*fill) (char *to, uint32 len), uint32 len)
{
	end_run();
	fill(new_value + new_len, len);
	new_len += len;
}

/* ---- looking, and what must hold of any result ---- */

static bool
read_old(void *arg, uint32 start, uint32 end, char *dest)
{
	check(start < end && end <= old_len && end - start <= SLICED_COMPARE_STEP);
	if (reads++ == readable)
		return false;
	memcpy(dest, old_value + start, end - start);
	return true;
}

static uint32
look(bool in_memory)
{
	SlicedOldBytes old = {.len = old_len, .bytes = in_memory ? old_value : NULL, .read = read_old};
	/* a copy, so that looking beyond its end is seen */
	char	   *new = memcpy(malloc(new_len + (new_len == 0)), new_value, new_len);
	SlicedCommonRuns found;
	uint32		old_at = 0;
	uint32		new_at = 0;
	uint32		shared = 0;
	uint64		budget;

	reads = 0;
	sliced_common_runs_find(&found, &old, new, new_len, true);
	for (int i = 0; i < found.nruns; i++)
	{
		SlicedCommonRun *run = &found.runs[i];

		check(run->len > 0 && run->old_start >= old_at && run->new_start >= new_at);
		check(run->old_start + run->len <= old_len && run->new_start + run->len <= new_len);
		check(memcmp(old_value + run->old_start, new_value + run->new_start, run->len) == 0);
		check(i == 0 || i == found.nruns - 1 || run->len >= SLICED_COMMON_RUN);
		old_at = run->old_start + run->len;
		new_at = run->new_start + run->len;
		shared += run->len;
	}
	check(shared == found.shared);
	/* half of the budget more may be used: a step that was begun is finished */
	budget = 16384 + new_len / 8 + 3 * (uint64) shared + 3 * Min(256 * 1024, new_len);
	check(found.work <= budget + budget / 2 + 2 * SLICED_COMPARE_STEP);
	if (found.runs != NULL)
		pfree(found.runs);
	free(new);
	return shared;
}

/* Almost all copied bytes must be found; 'lost' is in thousandths of the value. */
static void
expect(const char *what, uint32 lost)
{
	end_run();
	for (int in_memory = 0; in_memory <= 1; in_memory++)
	{
		uint32		shared = look(in_memory);

		if (getenv("VERBOSE"))
			printf("# %s, %u bytes: %u unchanged, %u found\n", what, new_len, unchanged, shared);
		if (shared + (uint64) new_len * lost / 1000 + SLICED_COMMON_RUN < unchanged)
		{
			printf("# %s, %u bytes: %u unchanged, %u found\n", what, new_len, unchanged, shared);
			check(!"enough is found");
		}
	}
}

/* 'n' edits, each 'removed' bytes replaced by 'added'. */
static void
edit(uint32 n, uint32 removed, uint32 added)
{
	uint32		done = 0;

	new_len = unchanged = run_len = 0;
	for (uint32 i = 0; i < n; i++)
	{
		uint32		at = (uint64) old_len * (2 * i + 1) / (2 * n) + random_number(20);

		copy(done, at - done);
		add(fill_noise, added);
		done = at + removed;
	}
	copy(done, old_len - done);
}

static void (*const contents[]) (char *to, uint32 len) = {fill_noise, fill_log};
static const uint32 lengths[] = {3000, 30000, 100000, 300000, MB, 10 * MB};

static void
some_edits(void)
{
	for (int c = 0; c < lengthof(contents); c++)
		for (int l = 0; l < lengthof(lengths); l++)
			for (uint32 n = 1; n <= 100; n = n == 1 ? 2 : n * 50)
			{
				/* with an edit every 150 bytes, or more, there is little to share */
				if (lengths[l] / n < 150)
					continue;
				make_old(contents[c], lengths[l]);
				edit(n, 10, 10);
				expect("replaced", 5);
				edit(n, 0, 10);
				expect("added", 5);
				edit(n, 11, 0);
				expect("removed", 5);
				if (lengths[l] / n < 1000)
					continue;
				edit(n, 3, 600);
				expect("much added", 20);
			}
}

/* One line in ten has another number in it, which may be longer or shorter. */
static void
some_lines(void)
{
	for (int l = 0; l < lengthof(lengths); l++)
	{
		uint32		done = 0;
		uint32		number = 0;

		make_old(fill_log, lengths[l]);
		while (done < old_len)
		{
			char	   *end = memchr(old_value + done, '\n', old_len - done);
			uint32		len = end == NULL ? old_len - done : end + 1 - (old_value + done);

			if (number++ % 10 == 7 && len > 60)
			{
				copy(done, 50);
				add(fill_noise, number % 30);
				copy(done + 60, len - 60);
			}
			else
				copy(done, len);
			done += len;
		}
		expect("one line in ten", 10);
	}
}

/* Samples find what is far off, unless they are tiny. */
static void
large_changes(void)
{
	uint32		lost = SLICED_LIMIT(10, 1000);

	for (int c = 0; c < lengthof(contents); c++)
		for (uint32 len = 300000; len <= 10 * MB; len *= 5)
		{
			/* one place has twice as much, with an edit on either side */
			make_old(contents[c], len);
			copy(0, 5000);
			add(fill_noise, 3);
			copy(5010, len / 4 - 5010);
			add(contents[c], len / 5);
			copy(len / 4, len / 2);
			add(fill_noise, 70);
			copy(len / 4 * 3, len - len / 4 * 3);
			expect("much in one place", lost);

			/* a beginning that is new, and another edit */
			make_old(contents[c], len);
			add(fill_noise, 50000);
			copy(40000, len - 100000);
			add(fill_noise, 1);
			copy(len - 59000, 59000);
			expect("another beginning", lost);

			/* a quarter is left out */
			make_old(contents[c], len);
			add(fill_noise, 1);
			copy(1, len / 4);
			copy(len / 2, len - len / 2 - 1000);
			add(fill_noise, 1000);
			expect("a quarter left out", lost);
		}
}

/* ---- the ends ---- */

static void
ends(void)
{
	make_old(fill_noise, 0);
	check(look(false) == 0 && look(true) == 0);
	add(fill_noise, 1000);
	check(look(false) == 0 && look(true) == 0);
	make_old(fill_noise, 5000);
	check(look(false) == 0 && look(true) == 0);
	for (int l = 0; l < lengthof(lengths); l++)
	{
		make_old(fill_log, lengths[l]);
		copy(0, old_len);
		check(look(false) == old_len && look(true) == old_len);
		copy(0, 10);
		check(look(false) == old_len);
		new_len = 0;
		copy(0, old_len - 7);
		check(look(false) == new_len && look(true) == new_len);
		new_len = 0;
		copy(7, old_len - 7);
		check(look(false) == new_len && look(true) == new_len);
	}
}

/* The runs found before a read failed are right, whichever read it was. */
static void
fail_each_read(void)
{
	uint32		n;

	look(false);
	n = reads;
	for (readable = 0; readable < n; readable++)
		look(false);
	readable = PG_UINT32_MAX;
}

static void
damage(void)
{
	const uint32 len = 600000;

	for (int c = 0; c < lengthof(contents); c++)
	{
		make_old(contents[c], len);
		edit(10, 5, 7);
		fail_each_read();

		/* far away: only samples find these */
		make_old(contents[c], len);
		add(fill_noise, 50000);
		copy(len / 2, len / 4);
		add(fill_noise, 1000);
		copy(len / 4 * 3 + 5000, 100000);
		add(fill_noise, 1000);
		fail_each_read();
	}
}

/* ---- contents that are meant to take long ---- */

static uint32 period = 1;

static void
fill_period(char *to, uint32 len)
{
	for (uint32 i = 0; i < len; i++)
		to[i] = 'a' + i % period;
}

static void
adversaries(void)
{
	static const uint32 periods[] = {1, 2, 7, 16, 64, 100, 1000};
	static const uint32 distances[] = {9, 17, 33, 65, 127, 129, 200};

	/* nothing in common: the search looks at little */
	for (int l = 0; l < lengthof(lengths); l++)
	{
		make_old(fill_noise, lengths[l]);
		add(fill_noise, lengths[l]);
		check(look(false) < lengths[l] / 100 && look(true) < lengths[l] / 100);
		make_old(fill_log, lengths[l]);
		fill_log(new_value, new_len = lengths[l]);
		look(false);
	}
	for (int p = 0; p < lengthof(periods); p++)
		for (int d = 0; d < lengthof(distances); d++)
		{
			period = Min(periods[p], 100);
			make_old(fill_period, MB);
			copy(0, MB);
			for (uint32 i = 0; i < MB; i += distances[d])
				new_value[i] = 'Z';
			look(false);
			look(true);
			/* the same, shifted; and the other way round */
			memmove(new_value, new_value + 5, new_len -= 5);
			look(false);
			for (uint32 i = 0; i < MB; i += distances[d])
				old_value[i] = '#';
			look(false);
			look(true);

			make_old(fill_noise, MB);
			copy(0, MB);
			for (uint32 i = 0; i < MB; i += distances[d])
				new_value[i] ^= 1;
			look(false);
			look(true);
		}

	/* windows that are the same everywhere, in values that differ */
	make_old(fill_noise, MB);
	add(fill_noise, MB);
	for (uint32 i = 0; i + 16 <= MB; i += 32)
	{
		memset(old_value + i, 'x', 16);
		memset(new_value + i, 'x', 16);
	}
	look(false);
	for (uint32 i = 0; i + 300 <= MB; i += 600)
	{
		memset(old_value + i, 'y', 300);
		memset(new_value + i, 'y', 300 - i / 600 % 10);
	}
	look(false);
	look(true);

	/* blocks in another order */
	make_old(fill_noise, MB);
	for (uint32 i = 0; i < MB; i += 4096)
		copy((i * 37) % MB, 4096);
	look(false);
	look(true);
}

/* Copies and new bytes of random lengths, from anywhere. */
static void
random_values(void)
{
	for (int turn = 0; turn < 2000; turn++)
	{
		uint32		len = 1 + random_number(1 << (1 + random_number(18)));

		make_old(contents[random_number(2)], len);
		for (uint32 pos = 0; pos < len && new_len < len + 50000;)
		{
			uint32		n = 1 + random_number(1 << random_number(17));

			n = Min(n, len - pos);
			if (random_number(4) > 0)
				copy(pos, n);
			else
				add(contents[random_number(2)], n % 500 + 1);
			if (random_number(10) == 0)
				pos = random_number(len);
			else
				pos += n;
		}
		look(turn % 2);
	}
}

int
main(void)
{
	random_state = 42;
	run_test(ends);
	run_test(some_edits);
	run_test(some_lines);
	run_test(large_changes);
	run_test(damage);
	run_test(adversaries);
	run_test(random_values);
	free(old_value);
	free(new_value);
	return unit_failures > 0;
}
