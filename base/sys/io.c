/* SPDX-License-Identifier: Apache-2.0 */
/* io.c - whole files: reads, atomic writes, read-only maps. */
#include "base/sys/io.h"

#include "base/core/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens a regular file for reading; never blocks on a pipe that somebody named. */
static PmStatus open_regular(const char *path, int *fd, struct stat *st, PmErr *err)
{
	PmStatus rc;

	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*fd < 0)
		return pm_path_error("open", path, 0, err);
	if (fstat(*fd, st) != 0) {
		rc = pm_path_error("examine", path, 0, err);
	} else if (!S_ISREG(st->st_mode)) {
		rc = pm_err(err, PM_E_INVALID, "\"%s\" is not a regular file; give the path of a file.",
			    path);
	} else {
		return PM_OK;
	}
	close(*fd);
	*fd = -1;
	return rc;
}

static PmStatus too_big(const char *path, size_t max, PmErr *err)
{
	return pm_err(err, PM_E_LIMIT, "\"%s\" is larger than the limit of %zu bytes.", path, max);
}

PmStatus pm_read_file(const char *path, size_t max, PmStr *out, PmErr *err)
{
	size_t start = out->len;
	char chunk[32 * 1024];
	struct stat st;
	PmStatus rc;
	int fd;

	rc = open_regular(path, &fd, &st, err);
	if (rc)
		return rc;
	if (max && (uintmax_t)st.st_size > max) {
		rc = too_big(path, max, err);
		goto out;
	}
	for (;;) { /* until the end, not st_size: a file may grow, and those in /proc say 0 */
		ssize_t n = read(fd, chunk, sizeof chunk);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			rc = pm_path_error("read", path, 0, err);
			break;
		}
		if (n == 0)
			break;
		if (max && (size_t)n > max - (out->len - start)) {
			rc = too_big(path, max, err);
			break;
		}
		pm_str_addn(out, chunk, (size_t)n);
	}
out:
	close(fd);
	if (rc && out->len > start) { /* what the caller had stays, our half does not */
		out->len = start;
		out->s[start] = '\0';
	}
	return rc;
}

static int write_all(int fd, const void *p, size_t n)
{
	const char *at = p;

	while (n) {
		ssize_t w = write(fd, at, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -1;
		at += w;
		n -= (size_t)w;
	}
	return 0;
}

static PmStatus write_to(int fd, const char *path, const void *p, size_t n, PmErr *err)
{
	int bad = write_all(fd, p, n) != 0, saved = errno;

	if (close(fd) != 0 && !bad) {
		bad = 1;
		saved = errno;
	}
	errno = saved;
	return bad ? pm_path_error("write", path, 1, err) : PM_OK;
}

PmStatus pm_write_file(const char *path, const void *p, size_t n, PmErr *err)
{
	static unsigned serial;
	PmStr tmp = PM_STR_INIT;
	struct stat st;
	PmStatus rc;
	int fd;

	/* Renaming over a device, a pipe or a link (-o /dev/stdout) would replace it: write through those. */
	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		return fd < 0 ? pm_path_error("write", path, 1, err) : write_to(fd, path, p, n, err);
	}
	pm_str_addf(&tmp, "%s.%ld-%u.tmp", path, (long)getpid(), serial++);
	fd = open(tmp.s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		rc = pm_path_error("write", path, 1, err);
		goto out;
	}
	rc = write_to(fd, path, p, n, err);
	if (!rc && rename(tmp.s, path) != 0)
		rc = pm_path_error("write", path, 1, err);
	if (rc)
		unlink(tmp.s);
out:
	pm_str_release(&tmp);
	return rc;
}

/* Copies a file of that size, or what is left of it when it has been cut since. */
static PmStatus copy_file(int fd, size_t size, const char *path, PmMap *out, PmErr *err)
{
	char *p = pm_xmalloc(size);
	ssize_t n = 1;

	while (out->n < size && n) {
		n = read(fd, p + out->n, size - out->n);
		if (n < 0 && errno != EINTR) {
			free(p);
			out->n = 0;
			return pm_path_error("read", path, 0, err);
		}
		out->n += n < 0 ? 0 : (size_t)n;
	}
	out->p = out->n ? p : NULL;
	out->copied = out->n != 0;
	if (!out->n)
		free(p);
	return PM_OK;
}

PmStatus pm_map_file(const char *path, PmMap *out, PmErr *err)
{
	struct stat st;
	PmStatus rc;
	void *p;
	int fd;

	rc = open_regular(path, &fd, &st, err);
	if (rc)
		return rc;
	memset(out, 0, sizeof *out);
	if (st.st_size == 0)
		goto out;
	if ((uintmax_t)st.st_size > SIZE_MAX) {
		rc = too_big(path, SIZE_MAX, err);
		goto out;
	}
	if (st.st_size < PM_MAP_LEAST) {
		rc = copy_file(fd, (size_t)st.st_size, path, out, err);
		goto out;
	}
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED) {
		rc = pm_path_error("map", path, 0, err);
		goto out;
	}
	out->p = p;
	out->n = (size_t)st.st_size;
out:
	close(fd);
	return rc;
}

void pm_unmap(PmMap *m)
{
	void *p = (void *)(uintptr_t)m->p;

	if (p && m->copied)
		free(p);
	else if (p)
		munmap(p, m->n);
	m->p = NULL;
	m->n = 0;
}
