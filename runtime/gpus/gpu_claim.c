/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_claim.c - one lock file for each GPU; a command's processes lock the byte that has its number. */
#include "runtime/gpus/gpu_claim.h"

#include "base/core/arena.h"
#include "base/core/rng.h"
#include "base/core/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of the file: a gate that is passed by one at a time; who has it; who waits for it. Owners are numbers
 * from 1 to SPAN - 1. */
#define SPAN ((off_t)1 << 40)
enum { GATE = 0, PATIENCE = 100 };

static const char common[] = "/tmp/passmith-gpus";

/* Shared by the forks of the process that opened it. */
typedef struct Last {
	atomic_int had_it; /* this command was the last that took it, as far as it knows */
	atomic_int let_go; /* how often it let one that waits go first since then */
} Last;

struct PmGpuClaim {
	int fd;
	off_t owner;
	int waits; /* of this process: it is marked */
	Last *last;
};

uint64_t pm_gpu_claim_owner(void)
{
	return pm_rng_secure_seed() % (uint64_t)(SPAN - 1) + 1;
}

/* A folder that anybody can make is one that anybody may have made: its files are locked and nothing else,
 * but a link would be followed to somewhere. */
static PmStatus open_folder(const char *path, int ours, int *fd, PmErr *err)
{
	struct stat s;

	if (ours && !mkdir(path, 01777) && chmod(path, 01777))
		return pm_err(err, PM_E_ENV, "Cannot make the folder %s usable for everybody: %s.", path,
			      strerror(errno));
	*fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0 || fstat(*fd, &s))
		return pm_err(err, PM_E_ENV,
			      "Cannot open %s, the folder of the GPUs' locks: %s; PASSMITH_LOCKS names "
			      "another one, the same for all who use the GPUs.",
			      path, strerror(errno));
	if (!ours || s.st_mode & S_ISVTX || s.st_uid == geteuid())
		return PM_OK;
	close(*fd);
	return pm_err(
		err, PM_E_ENV,
		"%s, the folder of the GPUs' locks, belongs to another user and is not sticky, so that locks "
		"could be exchanged there; have it removed, or set PASSMITH_LOCKS.",
		path);
}

/* Systems refuse O_CREAT for a file of somebody else in a folder for all, so that it comes second. */
static int open_file(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_CREAT | O_EXCL, 0666);
	if (fd >= 0 && fchmod(fd, 0666)) { /* whatever the mask is */
		close(fd);
		return -1;
	}
	return fd < 0 && errno == EEXIST ? openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : fd;
}

static int is_plain(int fd)
{
	struct stat s;

	return !fstat(fd, &s) && S_ISREG(s.st_mode) && s.st_nlink == 1;
}

PmStatus pm_gpu_claim_open(const char *folder, const char *uuid, uint64_t owner, PmGpuClaim **out, PmErr *err)
{
	const char *dir = folder ? folder : common;
	PmStr name = PM_STR_INIT;
	int at = -1, fd = -1;
	PmStatus st = open_folder(dir, !folder, &at, err);
	void *last = NULL;

	*out = NULL;
	pm_str_addf(&name, "%s.lock", uuid);
	if (!st)
		fd = open_file(at, name.s);
	if (!st && (fd < 0 || !is_plain(fd)))
		st = pm_err(err, PM_E_ENV, "Cannot use the lock file %s/%s: %s.", dir, name.s,
			    fd < 0 ? strerror(errno) : "it is no plain file");
	if (!st)
		last = mmap(NULL, sizeof(Last), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!st && last == MAP_FAILED)
		st = pm_err(err, PM_E_ENV, "Cannot share memory between processes: %s.", strerror(errno));
	if (at >= 0)
		close(at);
	pm_str_release(&name);
	if (st) {
		if (fd >= 0)
			close(fd);
		return st;
	}
	*out = pm_xcalloc(1, sizeof **out);
	**out = (PmGpuClaim){ .fd = fd, .owner = (off_t)owner, .last = last };
	return PM_OK;
}

void pm_gpu_claim_free(PmGpuClaim *c)
{
	if (!c)
		return;
	close(c->fd);
	munmap(c->last, sizeof *c->last);
	free(c);
}

static int lock(const PmGpuClaim *c, short type, off_t at)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1 };

	return fcntl(c->fd, F_SETLK, &l);
}

/* Whether a process has locked one of these bytes; it may be one of this command when they include its own.
 */
static int is_locked(const PmGpuClaim *c, off_t from, off_t n, int *pid)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = from, .l_len = n };

	if (n <= 0 || fcntl(c->fd, F_GETLK, &l) || l.l_type == F_UNLCK)
		return 0;
	*pid = l.l_pid > 0 ? l.l_pid : 0;
	return 1;
}

/* Of another command; `base`: of those who have it, or of those who wait. */
static int is_of_others(const PmGpuClaim *c, off_t base, int *pid)
{
	return is_locked(c, base + 1, c->owner - 1, pid) ||
	       is_locked(c, base + c->owner + 1, SPAN - c->owner - 1, pid);
}

static int try(PmGpuClaim *c, int *pid)
{
	if (is_of_others(c, 0, pid)) {
		atomic_store(&c->last->had_it, 0);
		return 0;
	}
	/* One that waits asks many times a second. That it may be stopped must not stop this command. */
	if (atomic_load(&c->last->had_it) && is_of_others(c, SPAN, pid) &&
	    atomic_fetch_add(&c->last->let_go, 1) < PATIENCE)
		return 0;
	if (lock(c, F_RDLCK, c->owner))
		return 0;
	atomic_store(&c->last->had_it, 1);
	atomic_store(&c->last->let_go, 0);
	return 1;
}

int pm_gpu_claim_take(PmGpuClaim *c, int *pid)
{
	int got;

	*pid = 0;
	if (lock(c, F_WRLCK, GATE)) {
		is_locked(c, GATE, 1, pid);
		return 0;
	}
	got = try(c, pid);
	if (got != !c->waits) {
		lock(c, got ? F_UNLCK : F_RDLCK, SPAN + c->owner);
		c->waits = !got;
	}
	lock(c, F_UNLCK, GATE);
	return got;
}

void pm_gpu_claim_leave(PmGpuClaim *c)
{
	lock(c, F_UNLCK, c->owner);
}
