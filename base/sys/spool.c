/* SPDX-License-Identifier: Apache-2.0 */
/* spool.c - a file without a name that several processes write to and read from. */
#include "base/sys/spool.h"

#include "base/core/arena.h"
#include "base/core/hash.h"
#include "base/sys/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct PmSpool {
	int fd;
	uint64_t limit;
	atomic_uint_least64_t *end; /* shared by all processes: what lies before it is taken */
};

/* A file in the folder for temporary files that has lost its name. */
static PmStatus nameless(int *fd, PmErr *err)
{
	const char *tmp = getenv("TMPDIR");
	PmStr path = PM_STR_INIT;
	PmStatus st = PM_OK;

	/* Where the file system can, it never has a name: a kill may come at any moment. */
	*fd = open(tmp && *tmp ? tmp : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (*fd >= 0)
		return PM_OK;
	pm_path_join(tmp && *tmp ? tmp : "/tmp", "passmith-spool-XXXXXX", &path);
	*fd = mkstemp(path.s);
	if (*fd < 0 || unlink(path.s))
		st = pm_path_error("make a temporary file", path.s, 1, err);
	if (st && *fd >= 0)
		close(*fd);
	pm_str_release(&path);
	return st;
}

PmStatus pm_spool_open(uint64_t limit, PmSpool **out, PmErr *err)
{
	void *m = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	PmSpool *s;
	PmStatus st;
	int fd;

	if (m == MAP_FAILED)
		return pm_err(err, PM_E_LIMIT, "Cannot share memory between processes: %s.", strerror(errno));
	st = nameless(&fd, err);
	if (st) {
		munmap(m, sizeof(uint64_t));
		return st;
	}
	s = pm_xcalloc(1, sizeof *s);
	s->fd = fd;
	s->limit = limit;
	s->end = m;
	atomic_init(s->end, 0);
	*out = s;
	return PM_OK;
}

void pm_spool_close(PmSpool *s)
{
	if (!s)
		return;
	close(s->fd);
	munmap(s->end, sizeof(uint64_t));
	free(s);
}

void pm_spool_keep(const PmSpool *s)
{
	fcntl(s->fd, F_SETFD, FD_CLOEXEC);
	if (madvise(s->end, sizeof(uint64_t), MADV_DONTFORK))
		PM_BUG("the system gives no page that a child does not inherit");
}

/* Takes n bytes of the file for the caller. */
static int reserve(PmSpool *s, size_t n, uint64_t *at)
{
	*at = atomic_load(s->end);
	do {
		if (n > s->limit - *at)
			return 0;
	} while (!atomic_compare_exchange_weak(s->end, at, *at + n));
	return 1;
}

PmStatus pm_spool_put(PmSpool *s, const void *p, size_t n, PmSpoolPlace *out, PmErr *err)
{
	const char *from = p;
	size_t done = 0;
	uint64_t at;

	if (!reserve(s, n, &at))
		return pm_err(err, PM_E_LIMIT,
			      "What is put aside in the folder for temporary files would take more than "
			      "%llu bytes.",
			      (unsigned long long)s->limit);
	while (done < n) {
		ssize_t w = pwrite(s->fd, from + done, n - done, (off_t)(at + done));

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return pm_err(err, PM_E_IO,
				      "Cannot write to a temporary file: %s; make room in the folder that "
				      "TMPDIR names (/tmp when it is not set).",
				      w < 0 ? strerror(errno) : "nothing was written");
		done += (size_t)w;
	}
	*out = (PmSpoolPlace){ at, n, pm_hash_bytes(p, n) };
	return PM_OK;
}

PmStatus pm_spool_get(const PmSpool *s, const PmSpoolPlace *at, void *out, PmErr *err)
{
	size_t done = 0;

	while (done < at->size) {
		ssize_t r = pread(s->fd, (char *)out + done, at->size - done, (off_t)(at->offset + done));

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			break;
		done += (size_t)r;
	}
	if (done < at->size || pm_hash_bytes(out, at->size) != at->hash)
		return pm_err(
			err, PM_E_IO,
			"%llu bytes of a temporary file cannot be read back as they were written; is the "
			"disk full or damaged?",
			(unsigned long long)at->size);
	return PM_OK;
}
