/* SPDX-License-Identifier: Apache-2.0 */
/* weights.c - the bytes of constants: in the package, or in files of the model that it names. */
#include "rt/rt_priv.h"

#include "base/core/arena.h"
#include "base/core/str.h"
#include "rt/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files of weights lie beside the package unless their path is a whole one. */
static void path_of(const PmRtModel *m, size_t file, PmStr *out)
{
	const char *name = pm_package_text(&m->pk, m->pk.file[file].path), *slash = strrchr(m->path, '/');

	if (*name != '/' && slash)
		pm_str_addn(out, m->path, (size_t)(slash - m->path) + 1);
	pm_str_add(out, name);
}

static PmStatus map_file(PmRtModel *m, size_t i, PmErr *err)
{
	uint64_t want = m->pk.file[i].bytes;
	PmStr path = PM_STR_INIT;
	PmStatus st = PM_OK;
	struct stat sb;
	void *p;
	int fd;

	path_of(m, i, &path);
	fd = open(path.s, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &sb))
		st = pm_err(
			err, PM_E_NOT_FOUND,
			"%s has its weights in \"%s\", which cannot be opened: %s; put that file beside the "
			"package, or compile without --external-weights.",
			m->path, path.s, strerror(errno));
	else if (!S_ISREG(sb.st_mode) || (uint64_t)sb.st_size != want)
		st = pm_err(err, PM_E_INVALID,
			    "%s has its weights in \"%s\", which has %lld bytes and had %llu when the "
			    "package was "
			    "made; compile the model again.",
			    m->path, path.s, (long long)sb.st_size, (unsigned long long)want);
	if (!st && want) {
		p = mmap(NULL, (size_t)want, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p == MAP_FAILED)
			st = pm_err(err, PM_E_LIMIT, "\"%s\" cannot be mapped: %s; free some memory.", path.s,
				    strerror(errno));
		else
			m->files[i] = (PmRtFileMap){ p, (size_t)want };
	}
	if (fd >= 0)
		close(fd);
	pm_str_release(&path);
	return st;
}

const void *pm_rt_constant(const PmRtModel *m, size_t i)
{
	const PmRtfConst *c = &m->pk.constant[i];

	if (c->file == PM_RTF_NONE)
		return m->pk.weights + c->offset;
	return m->files[c->file].p ? m->files[c->file].p + c->offset : m->pk.bytes;
}

PmStatus pm_rt_weights_open(PmRtModel *m, PmErr *err)
{
	PmStatus st = PM_OK;

	m->files = pm_xcalloc(m->pk.n_file + 1, sizeof *m->files);
	for (size_t i = 0; i < m->pk.n_file && !st; i++)
		st = map_file(m, i, err);
	return st;
}

void pm_rt_weights_close(PmRtModel *m)
{
	for (size_t i = 0; m->files && i < m->pk.n_file; i++)
		if (m->files[i].n)
			munmap((void *)(uintptr_t)m->files[i].p, m->files[i].n);
	free(m->files);
	m->files = NULL;
}

PmStatus pm_rt_weights_check(const PmRtModel *m, PmErr *err)
{
	unsigned char digest[PM_RTF_DIGEST];
	PmStatus st = pm_package_check_weights(&m->pk, m->path, err);

	for (size_t i = 0; i < m->pk.n_file && !st; i++) {
		pm_sha256_of(m->files[i].p, m->files[i].n, digest);
		if (memcmp(digest, m->pk.file[i].sha256, sizeof digest) != 0)
			st = pm_err(err, PM_E_INVALID,
				    "%s: the weights in \"%s\" are not those of which the package was made; "
				    "compile "
				    "the model again.",
				    m->path, pm_package_text(&m->pk, m->pk.file[i].path));
	}
	return st;
}
