/* SPDX-License-Identifier: Apache-2.0 */
/* outfile.c - streaming into a temporary file that takes its name at the end. */
#include "base/sys/outfile.h"

#include "base/core/arena.h"
#include "base/core/str.h"
#include "base/sys/io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct PmOutFile {
	FILE *f;
	char *path, *tmp; /* tmp NULL: written to directly */
	int64_t size;
};

static PmStatus fail(const PmOutFile *f, PmErr *err)
{
	return pm_path_error("write", f->path, 1, err);
}

static void release(PmOutFile *f)
{
	free(f->path);
	free(f->tmp);
	free(f);
}

PmStatus pm_out_open(const char *path, PmOutFile **out, PmErr *err)
{
	static unsigned serial;
	PmOutFile *f = pm_xcalloc(1, sizeof *f);
	PmStr tmp = PM_STR_INIT;
	struct stat sb;
	PmStatus st = PM_OK;

	f->path = pm_xstrdup(path);
	if (lstat(path, &sb) != 0 || S_ISREG(sb.st_mode)) {
		pm_str_addf(&tmp, "%s.%ld-%u.part", path, (long)getpid(), serial++);
		f->tmp = pm_xstrdup(tmp.s);
	}
	f->f = fopen(f->tmp ? f->tmp : path, f->tmp ? "wbx" : "wb");
	if (f->f) {
		*out = f;
	} else {
		st = fail(f, err);
		release(f);
	}
	pm_str_release(&tmp);
	return st;
}

PmStatus pm_out_write(PmOutFile *f, const void *p, size_t n, PmErr *err)
{
	if (n && fwrite(p, 1, n, f->f) != n)
		return fail(f, err);
	f->size += (int64_t)n;
	return PM_OK;
}

int64_t pm_out_size(const PmOutFile *f)
{
	return f->size;
}

PmStatus pm_out_patch(PmOutFile *f, int64_t offset, const void *p, size_t n, PmErr *err)
{
	if (fseeko(f->f, (off_t)offset, SEEK_SET) || (n && fwrite(p, 1, n, f->f) != n) ||
	    fseeko(f->f, (off_t)f->size, SEEK_SET))
		return fail(f, err);
	return PM_OK;
}

PmStatus pm_out_sync(PmOutFile *f, PmErr *err)
{
	if (fflush(f->f) || (fsync(fileno(f->f)) && errno != EINVAL)) /* a pipe cannot be synchronised */
		return fail(f, err);
	return PM_OK;
}

PmStatus pm_out_commit(PmOutFile *f, PmErr *err)
{
	PmStatus st = PM_OK;

	if (fclose(f->f) != 0 || (f->tmp && rename(f->tmp, f->path) != 0)) {
		st = fail(f, err);
		if (f->tmp)
			unlink(f->tmp);
	}
	release(f);
	return st;
}

void pm_out_abort(PmOutFile *f)
{
	if (!f)
		return;
	fclose(f->f);
	if (f->tmp)
		unlink(f->tmp);
	release(f);
}
