/* SPDX-License-Identifier: Apache-2.0 */
/* rwlock.c - many share, or one is alone: record locks of the system on a file without a name. */
#include "base/sys/rwlock.h"

#include "base/core/arena.h"
#include "base/sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes of the file. Whoever comes passes the door, which one who wants to be alone keeps shut: else those
 * who share could take turns for ever. */
enum { DOOR, ROOM };

struct PmRwlock {
	int fd;
	volatile double waited, since; /* seconds; since = 0: does not wait */
};

PmStatus pm_rwlock_new(PmRwlock **out, PmErr *err)
{
	PmRwlock *l = pm_xcalloc(1, sizeof *l);

	l->fd = memfd_create("lock", MFD_CLOEXEC);
	if (l->fd < 0) {
		free(l);
		return pm_err(err, PM_E_ENV, "Cannot make a lock between processes: %s.", strerror(errno));
	}
	*out = l;
	return PM_OK;
}

void pm_rwlock_free(PmRwlock *l)
{
	if (!l)
		return;
	close(l->fd);
	free(l);
}

/* Record locks are those of the process, so that forks do not hold them. */
static int set(PmRwlock *l, short type, off_t byte)
{
	struct flock f = { .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
	int failed;

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

void pm_rwlock_leave(PmRwlock *l)
{
	if (!l)
		return;
	set(l, F_UNLCK, ROOM);
	set(l, F_UNLCK, DOOR);
}

double pm_rwlock_waited(const PmRwlock *l)
{
	double since = l ? l->since : 0;

	return !l ? 0 : l->waited + (since > 0 ? pm_now() - since : 0);
}
