/* SPDX-License-Identifier: Apache-2.0 */
/* faults.c - preloaded, counts what a process does to files of one folder, and lets something happen at one
 * of these steps.
 *
 * FAULT_DIR is a part of the files' paths. Steps are: making a file, a write, an fsync, a rename. Before step
 * FAULT_AT the process kills itself (FAULT=kill; a write is half done then), stops itself (FAULT=stop), or,
 * from that step on, finds that the disk is full (FAULT=full). With FAULT_FIRST=1 steps of the process that
 * was started count alone, else those of its children too, each on its own, beginning with the count of its
 * parent.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { MAX_FD = 1024 };

static char ours[MAX_FD]; /* descriptors of files of the folder */
static pid_t first;
static long count;

/* The functions behind ours. Looked up at the start: a look-up takes memory, which the process of a kernel
 * may not ask the system for. */
static int (*real_open)(const char *, int, ...);
static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_fsync)(int);
static int (*real_close)(int);
static int (*real_rename)(const char *, const char *);

__attribute__((constructor)) static void begin(void)
{
	*(void **)&real_open = dlsym(RTLD_NEXT, "open");
	*(void **)&real_write = dlsym(RTLD_NEXT, "write");
	*(void **)&real_fsync = dlsym(RTLD_NEXT, "fsync");
	*(void **)&real_close = dlsym(RTLD_NEXT, "close");
	*(void **)&real_rename = dlsym(RTLD_NEXT, "rename");
	first = getpid();
	unsetenv("LD_PRELOAD"); /* programs that it starts are as ever, and so is the sandbox */
}

static int is_ours(const char *path)
{
	const char *dir = getenv("FAULT_DIR");

	return dir && path && strstr(path, dir) && (!getenv("FAULT_FIRST") || getpid() == first);
}

/* -1 with errno when the step fails. */
static int step(int fd, const void *p, size_t n)
{
	const char *at = getenv("FAULT_AT"), *what = getenv("FAULT");

	count++;
	if (!at || !what || count < atol(at))
		return 0;
	if (!strcmp(what, "full")) {
		errno = ENOSPC;
		return -1;
	}
	if (count > atol(at))
		return 0;
	if (!strcmp(what, "kill")) {
		if (n)
			(void)!real_write(fd, p, n / 2);
		raise(SIGKILL);
	}
	raise(SIGSTOP);
	return 0;
}

int open(const char *path, int flags, ...)
{
	int fd, mode = 0;
	va_list ap;

	if (flags & O_CREAT) {
		va_start(ap, flags);
		mode = va_arg(ap, int);
		va_end(ap);
	}
	if ((flags & O_CREAT) && is_ours(path) && step(-1, NULL, 0))
		return -1;
	fd = real_open(path, flags, mode);
	if (fd >= 0 && fd < MAX_FD)
		ours[fd] = (flags & O_CREAT) && is_ours(path);
	return fd;
}

ssize_t write(int fd, const void *p, size_t n)
{
	if (fd >= 0 && fd < MAX_FD && ours[fd] && step(fd, p, n))
		return -1;
	return real_write(fd, p, n);
}

int fsync(int fd)
{
	if (fd >= 0 && fd < MAX_FD && ours[fd] && step(-1, NULL, 0))
		return -1;
	return real_fsync(fd);
}

int close(int fd)
{
	if (fd >= 0 && fd < MAX_FD)
		ours[fd] = 0;
	return real_close(fd);
}

int rename(const char *from, const char *to)
{
	const char *what = getenv("FAULT");

	/* A full disk has room for another name. */
	if (is_ours(to) && (!what || strcmp(what, "full")) && step(-1, NULL, 0))
		return -1;
	return real_rename(from, to);
}
