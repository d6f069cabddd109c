/* SPDX-License-Identifier: Apache-2.0 */
/* rwlock.c - many share, or one is alone: record locks of the system on a file. */
#include "base/sys/rwlock.h"

#include "base/core/arena.h"
#include "base/sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of the file. Whoever comes passes the door, which one who wants to be alone keeps shut: else those
 * who share could take turns for ever. Who leads has the turn. Who leaves something behind has a place, whose
 * lock says that it lives; how many it has stands in the file. */
enum { DOOR, ROOM, TURN, PLACES = 64, N_PLACES = 256, NUMBERS = 512 };

struct PmRwlock {
	int fd;
	volatile double waited, since; /* seconds; since = 0: does not wait */
	pid_t maker;
	pid_t placed; /* the process that has the place; its forks do not */
	int place;
	void (*waits)(void *arg, int pid);
	void *waits_arg;
	atomic_int *told; /* shared by the forks of the process that made it */
};

static PmStatus make(int fd, PmRwlock **out, PmErr *err)
{
	void *told = mmap(NULL, sizeof(atomic_int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			  0);
	PmRwlock *l;

	if (told == MAP_FAILED) {
		close(fd);
		return pm_err(err, PM_E_ENV, "Cannot share memory between processes: %s.", strerror(errno));
	}
	l = pm_xcalloc(1, sizeof *l);
	l->fd = fd;
	l->maker = getpid();
	l->told = told;
	*out = l;
	return PM_OK;
}

PmStatus pm_rwlock_new(PmRwlock **out, PmErr *err)
{
	int fd = memfd_create("lock", MFD_CLOEXEC);

	*out = NULL;
	if (fd < 0)
		return pm_err(err, PM_E_ENV, "Cannot make a lock between processes: %s.", strerror(errno));
	return make(fd, out, err);
}

/* Systems refuse O_CREAT for a file of somebody else in a folder for all, so that it comes second. */
static int open_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_CREAT | O_EXCL, 0666);
	if (fd >= 0 && fchmod(fd, 0666)) { /* whatever the mask is */
		close(fd);
		return -1;
	}
	return fd < 0 && errno == EEXIST ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : fd;
}

PmStatus pm_rwlock_open(const char *path, PmRwlock **out, PmErr *err)
{
	int fd = open_file(path);

	*out = NULL;
	if (fd < 0)
		return pm_err(err, PM_E_ENV, "Cannot open the lock file %s: %s.", path, strerror(errno));
	return make(fd, out, err);
}

void pm_rwlock_free(PmRwlock *l)
{
	if (!l)
		return;
	close(l->fd);
	munmap(l->told, sizeof *l->told);
	free(l);
}

void pm_rwlock_on_wait(PmRwlock *l, void (*waits)(void *arg, int pid), void *arg)
{
	l->waits = waits;
	l->waits_arg = arg;
}

/* 0 where nobody says. */
static pid_t parent_of(pid_t pid)
{
	char path[64], line[512] = "";
	const char *end;
	FILE *f;
	int parent;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f && !fgets(line, sizeof line, f))
		line[0] = 0;
	if (f)
		fclose(f);
	end = strrchr(line, ')'); /* of its name, which may have any characters */
	return end && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

static int is_ours(const PmRwlock *l, pid_t pid)
{
	while (pid > 1 && pid != l->maker)
		pid = parent_of(pid);
	return pid == l->maker;
}

/* Who keeps this process from it. */
static void tell(const PmRwlock *l, struct flock f)
{
	int none = 0;

	if (!l->waits || atomic_load(l->told) || fcntl(l->fd, F_GETLK, &f) || f.l_type == F_UNLCK ||
	    is_ours(l, f.l_pid))
		return;
	if (atomic_compare_exchange_strong(l->told, &none, 1))
		l->waits(l->waits_arg, f.l_pid > 0 ? (int)f.l_pid : 0);
}

/* Record locks are those of the process, so that forks do not hold them. */
static int set(PmRwlock *l, short type, off_t byte)
{
	struct flock f = { .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
	int failed = fcntl(l->fd, F_SETLK, &f) != 0;

	if (!failed || (errno != EAGAIN && errno != EACCES))
		return failed;
	tell(l, f);
	do
		failed = fcntl(l->fd, F_SETLKW, &f) != 0;
	while (failed && errno == EINTR);
	return failed;
}

static PmStatus done(PmRwlock *l, int failed, PmErr *err)
{
	l->waited += pm_now() - l->since;
	l->since = 0;
	if (!failed)
		return PM_OK;
	return pm_err(err, PM_E_ENV, "Cannot lock what processes of this command share: %s.",
		      strerror(errno));
}

PmStatus pm_rwlock_share(PmRwlock *l, PmErr *err)
{
	int failed;

	if (!l)
		return PM_OK;
	l->since = pm_now();
	failed = set(l, F_RDLCK, DOOR) || set(l, F_RDLCK, ROOM) || set(l, F_UNLCK, DOOR);
	return done(l, failed, err);
}

PmStatus pm_rwlock_alone(PmRwlock *l, PmErr *err)
{
	int failed;

	if (!l)
		return PM_OK;
	l->since = pm_now();
	failed = set(l, F_UNLCK, ROOM) || set(l, F_WRLCK, DOOR) || set(l, F_WRLCK, ROOM);
	return done(l, failed, err);
}

PmStatus pm_rwlock_lead(PmRwlock *l, PmErr *err)
{
	if (!l)
		return PM_OK;
	l->since = pm_now();
	return done(l, set(l, F_WRLCK, TURN), err);
}

PmStatus pm_rwlock_follow(PmRwlock *l, PmErr *err)
{
	int failed;

	if (!l)
		return PM_OK;
	l->since = pm_now();
	failed = set(l, F_RDLCK, TURN) || set(l, F_UNLCK, TURN);
	return done(l, failed, err);
}

void pm_rwlock_leave(PmRwlock *l)
{
	if (!l)
		return;
	set(l, F_UNLCK, TURN);
	set(l, F_UNLCK, ROOM);
	set(l, F_UNLCK, DOOR);
}

/* ---- what is left behind ---- */

static struct flock place(int i, short type)
{
	return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = PLACES + i, .l_len = 1 };
}

static int take_place(PmRwlock *l)
{
	if (l->placed == getpid())
		return 1;
	for (int i = 0; i < N_PLACES; i++) {
		struct flock f = place(i, F_WRLCK);

		if (!fcntl(l->fd, F_SETLK, &f)) {
			l->placed = getpid();
			l->place = i;
			return 1;
		}
	}
	return 0;
}

PmStatus pm_rwlock_leave_behind(PmRwlock *l, int n, PmErr *err)
{
	int32_t number = n;

	if (!l || (!n && l->placed != getpid()))
		return PM_OK;
	if (!take_place(l))
		return pm_err(err, PM_E_ENV,
			      "More than %d processes wait for the same device; end some of them.", N_PLACES);
	if (pwrite(l->fd, &number, sizeof number, NUMBERS + l->place * (off_t)sizeof number) !=
	    (ssize_t)sizeof number)
		return pm_err(err, PM_E_ENV, "Cannot write to a lock file: %s.", strerror(errno));
	if (!n) {
		struct flock f = place(l->place, F_UNLCK);

		fcntl(l->fd, F_SETLK, &f);
		l->placed = 0;
	}
	return PM_OK;
}

int pm_rwlock_left_behind(const PmRwlock *l)
{
	int sum = 0;

	for (int i = 0; l && i < N_PLACES; i++) {
		struct flock f = place(i, F_WRLCK);
		int32_t number = 0;

		/* What this process itself has does not stand in its way. */
		if (!fcntl(l->fd, F_GETLK, &f) && f.l_type != F_UNLCK &&
		    pread(l->fd, &number, sizeof number, NUMBERS + i * (off_t)sizeof number) ==
			    (ssize_t)sizeof number &&
		    number > 0)
			sum += number;
	}
	return sum;
}

double pm_rwlock_waited(const PmRwlock *l)
{
	double since = l ? l->since : 0;

	return !l ? 0 : l->waited + (since > 0 ? pm_now() - since : 0);
}
