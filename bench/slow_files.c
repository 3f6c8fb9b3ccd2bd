/*
 * slow_files.c
 *	  Preloaded into a server: temporary files below a directory named "slow" are read and
 *	  written at 200 MB a second, as on a device that does no more.
 *
 * A backend that reads or writes waits as long as the device would take, in steps of
 * some milliseconds.  It waits for all that it writes.  A kernel would write some of it
 * back later, and then make a backend that writes for long wait for that as well.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define BYTES_PER_SECOND	200e6
#define STEP				0.005	/* seconds */
#define FILES				65536

static char is_slow[FILES];
static double debt;				/* seconds */

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* When what may have to be paid for has begun; nobody asks the clock about other files. */
static double
begin_of(int fd)
{
	return fd >= 0 && fd < FILES && is_slow[fd] ? now() : 0;
}

static ssize_t
pay(double begun, ssize_t bytes)
{
	if (begun == 0 || bytes <= 0)
		return bytes;
	debt += bytes / BYTES_PER_SECOND - (now() - begun);
	while (debt > STEP)
	{
		struct timespec t = {(time_t) debt, (long) ((debt - (time_t) debt) * 1e9)};
		double		begin = now();

		nanosleep(&t, NULL);
		debt -= now() - begin;
	}
	return bytes;
}

static int
opened(int fd, const char *path)
{
	char		link[64];
	char		target[PATH_MAX];
	ssize_t		len;

	if (fd < 0 || fd >= FILES)
		return fd;
	is_slow[fd] = 0;
	if (strstr(path, "pgsql_tmp") == NULL)
		return fd;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, target, sizeof(target) - 1);
	if (len > 0)
	{
		target[len] = '\0';
		is_slow[fd] = strstr(target, "/slow/") != NULL;
	}
	return fd;
}

#define NEXT(name)	static __typeof__(name) *next; if (!next) next = (__typeof__(name) *) dlsym(RTLD_NEXT, #name)

static int
mode_of(int flags, va_list rest)
{
	return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(rest, int) : 0;
}

#define OPEN(name) \
	int name(const char *path, int flags, ...) \
	{ \
		va_list rest; int mode; NEXT(name); \
		va_start(rest, flags); mode = mode_of(flags, rest); va_end(rest); \
		return opened(next(path, flags, mode), path); \
	}

#define TRANSFER(name, bytes, type) \
	ssize_t name(int fd, bytes, size_t n, type at) \
	{ NEXT(name); double begun = begin_of(fd); return pay(begun, next(fd, data, n, at)); }

#define VECTORS(name, type) \
	ssize_t name(int fd, const struct iovec *data, int n, type at) \
	{ NEXT(name); double begun = begin_of(fd); return pay(begun, next(fd, data, n, at)); }

OPEN(open)
OPEN(open64)
TRANSFER(pread, void *data, off_t)
TRANSFER(pread64, void *data, off64_t)
TRANSFER(pwrite, const void *data, off_t)
TRANSFER(pwrite64, const void *data, off64_t)
VECTORS(preadv, off_t)
VECTORS(preadv64, off64_t)
VECTORS(pwritev, off_t)
VECTORS(pwritev64, off64_t)
