/*
 * slow_files.c
 *	  Preloaded into a server: temporary files below a directory named "slow" are read and
 *	  written at 200 MB a second, as on a device that does no more, for all processes together.
 *
 * A backend that reads or writes waits until the device would be done, in steps of some
 * milliseconds.  It waits for all that it writes.  A kernel would write some of it
 * back later, and then make a backend that writes for long wait for that as well.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_BYTE			5		/* 200 MB/s */
#define STEP				5000000 /* ns */
#define FILES				65536

static char is_slow[FILES];

/* When the device will be done with all that it was asked for, in ns.  Processes inherit it. */
static int64_t *done;

__attribute__((constructor)) static void
make_device(void)
{
	done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static int64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* When what may have to be paid for has begun; nobody asks the clock about other files. */
static int64_t
begin_of(int fd)
{
	return fd >= 0 && fd < FILES && is_slow[fd] ? now() : 0;
}

static ssize_t
pay(int64_t begun, ssize_t bytes)
{
	int64_t		before;
	int64_t		mine;

	if (begun == 0 || bytes <= 0)
		return bytes;
	before = __atomic_load_n(done, __ATOMIC_RELAXED);
	do
		mine = (before > begun ? before : begun) + bytes * NS_PER_BYTE;
	while (!__atomic_compare_exchange_n(done, &before, mine, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	for (int64_t left = mine - now(); left > STEP; left = mine - now())
		nanosleep(&(struct timespec) {left / 1000000000, left % 1000000000}, NULL);
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
	{ NEXT(name); int64_t begun = begin_of(fd); return pay(begun, next(fd, data, n, at)); }

#define VECTORS(name, type) \
	ssize_t name(int fd, const struct iovec *data, int n, type at) \
	{ NEXT(name); int64_t begun = begin_of(fd); return pay(begun, next(fd, data, n, at)); }

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
