/*
 * failing.c
 *	  A disk, or memory, that fails when it is told to: loaded before the C library.
 *
 * $FAILING names a file of 128 bytes that all processes of a server map.  It begins
 * with one of these lines:
 *
 *		write|read|sync  full|once  N  PATTERN
 *		memory once N PID
 *
 * Calls of that kind on files whose name contains PATTERN, or by the process PID, are
 * counted from byte 64 on.  From the Nth on, or only then, they fail: with ENOSPC if the
 * disk is full, otherwise with EIO or ENOMEM.  Without such a line nothing fails.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

typedef struct Orders
{
	char		text[64];
	int			calls;
	int			failed;
} Orders;

static Orders *orders;

__attribute__((constructor)) static void
start(void)
{
	const char *name = getenv("FAILING");
	int			fd = name == NULL ? -1 : open(name, O_RDWR);
	void	   *map = fd < 0 ? MAP_FAILED : mmap(NULL, 128, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	if (map != MAP_FAILED)
		orders = map;
}

/* True if this call, of a file or of no file, has to fail; sets errno. */
static int
fails(const char *kind, int fd)
{
	char		text[65] = {0};
	char		ordered[8];
	char		how[8];
	char		pattern[48];
	char		name[4096];
	int			nth;
	int			call;

	if (orders == NULL || orders->text[0] != kind[0])
		return 0;
	memcpy(text, orders->text, 64);
	if (sscanf(text, "%7s %7s %d %47s", ordered, how, &nth, pattern) != 4 || strcmp(ordered, kind) != 0)
		return 0;
	if (fd >= 0)
	{
		char		link[64];
		ssize_t		len;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		len = readlink(link, name, sizeof(name) - 1);
		name[len < 0 ? 0 : len] = '\0';
	}
	if (fd >= 0 ? strstr(name, pattern) == NULL : atoi(pattern) != getpid())
		return 0;
	call = __atomic_add_fetch(&orders->calls, 1, __ATOMIC_SEQ_CST);
	if (strcmp(how, "full") == 0 ? call < nth : call != nth)
		return 0;
	__atomic_add_fetch(&orders->failed, 1, __ATOMIC_SEQ_CST);
	errno = fd < 0 ? ENOMEM : strcmp(how, "full") == 0 ? ENOSPC : EIO;
	return 1;
}

#define NEXT(name)	((__typeof__(&name)) dlsym(RTLD_NEXT, #name))

#define WRAP(kind, failure, result, name, declared, ...) \
	result name declared \
	{ \
		static __typeof__(&name) next; \
		if (next == NULL) \
			next = NEXT(name); \
		return fails(kind, fd) ? failure : next(__VA_ARGS__); \
	}

WRAP("write", -1, ssize_t, write, (int fd, const void *bytes, size_t n), fd, bytes, n)
WRAP("write", -1, ssize_t, pwrite, (int fd, const void *bytes, size_t n, off_t at), fd, bytes, n, at)
WRAP("write", -1, ssize_t, pwrite64, (int fd, const void *bytes, size_t n, off64_t at), fd, bytes, n, at)
WRAP("write", -1, ssize_t, pwritev, (int fd, const struct iovec *v, int n, off_t at), fd, v, n, at)
WRAP("write", -1, ssize_t, pwritev64, (int fd, const struct iovec *v, int n, off64_t at), fd, v, n, at)
WRAP("write", errno, int, posix_fallocate, (int fd, off_t at, off_t n), fd, at, n)
WRAP("write", errno, int, posix_fallocate64, (int fd, off64_t at, off64_t n), fd, at, n)
WRAP("read", -1, ssize_t, pread, (int fd, void *bytes, size_t n, off_t at), fd, bytes, n, at)
WRAP("read", -1, ssize_t, pread64, (int fd, void *bytes, size_t n, off64_t at), fd, bytes, n, at)
WRAP("read", -1, ssize_t, preadv, (int fd, const struct iovec *v, int n, off_t at), fd, v, n, at)
WRAP("read", -1, ssize_t, preadv64, (int fd, const struct iovec *v, int n, off64_t at), fd, v, n, at)
WRAP("sync", -1, int, fsync, (int fd), fd)
WRAP("sync", -1, int, fdatasync, (int fd), fd)

/* the C library's own: dlsym() may allocate memory */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t n);

void *
malloc(size_t n)
{
	return fails("memory", -1) ? NULL : __libc_malloc(n);
}

void *
calloc(size_t n, size_t size)
{
	return fails("memory", -1) ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *old, size_t n)
{
	return fails("memory", -1) ? NULL : __libc_realloc(old, n);
}
