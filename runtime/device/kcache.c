/* SPDX-License-Identifier: Apache-2.0 */
/* kcache.c - what the compilers of both kernel devices share. */
#include "runtime/device/kcache.h"

#include "base/core/hash.h"
#include "base/sys/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_JOBS = 64, MAX_HEADER = 16 << 20 };      /* processes at once; bytes of a header */
enum { NAP_NS = 5 * 1000 * 1000, NAPS = 30 * 200 }; /* between looks at a lock; of half a minute */

PmStatus pm_kcache_dir(const char *name, PmStr *out, PmErr *err)
{
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT;
	PmStatus rc = pm_cache_dir(&dir, err);

	if (!rc) {
		pm_path_join(dir.s, name, &path);
		rc = pm_mkdirs(path.s, err);
	}
	if (!rc)
		pm_str_add(out, path.s);
	pm_str_release(&dir);
	pm_str_release(&path);
	return rc;
}

PmStatus pm_kcache_add_headers(const char *dir, const char *sub, PmStr *text, PmErr *err)
{
	PmStr path = PM_STR_INIT, file = PM_STR_INIT;
	PmNames names = { 0 };
	PmStatus rc;
	size_t i;

	pm_path_join(dir, sub, &path);
	rc = pm_list_dir(path.s, &names, err);
	for (i = 0; !rc && i < names.n; i++) {
		if (!pm_str_ends(names.v[i], ".h") && !pm_str_ends(names.v[i], ".cuh") &&
		    !pm_str_ends(names.v[i], ".inc") && !pm_str_ends(names.v[i], ".ld"))
			continue;
		pm_str_clear(&file);
		pm_path_join(path.s, names.v[i], &file);
		pm_str_addf(text, "\n== %s\n", names.v[i]);
		rc = pm_read_file(file.s, MAX_HEADER, text, err);
	}
	pm_names_release(&names);
	pm_str_release(&path);
	pm_str_release(&file);
	return rc;
}

int pm_kcache_lock(const char *name)
{
	const struct timespec nap = { 0, NAP_NS };
	PmStr path = PM_STR_INIT;
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	int fd = -1;

	/* A byte of one file for each name: nothing has to be tidied up. */
	l.l_start = (off_t)(pm_hash64(name, strlen(name), 0) >> 8);
	if (!pm_kcache_dir("locks", &path, NULL)) {
		pm_str_add(&path, "/bytes");
		fd = open(path.s, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	}
	pm_str_release(&path);
	for (int i = 0; fd >= 0 && fcntl(fd, F_OFD_SETLK, &l); i++) {
		if ((errno == EAGAIN || errno == EACCES || errno == EINTR) && i < NAPS) {
			nanosleep(&nap, NULL);
			continue;
		}
		close(fd);
		fd = -1;
	}
	return fd;
}

void pm_kcache_unlock(int lock)
{
	if (lock >= 0)
		close(lock);
}

/* --- several processes ---------------------------------------------------------------------------------- */

/* What one of them does: the next item, until there is none. */
static void serve(atomic_size_t *next, size_t n, void (*fn)(void *arg, size_t i), void *arg)
{
	size_t i;

	while ((i = atomic_fetch_add(next, 1)) < n)
		fn(arg, i);
}

void pm_kcache_ahead(int jobs, size_t n, void (*fn)(void *arg, size_t i), void *arg)
{
	atomic_size_t *next = mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
				   0);
	pid_t child[MAX_JOBS], parent = getpid();
	size_t before;
	int i, started;

	if (next == MAP_FAILED)
		return;
	if (jobs > MAX_JOBS)
		jobs = MAX_JOBS;
	if ((size_t)jobs > n)
		jobs = (int)n;
	do { /* once, unless all of them die */
		before = atomic_load(next);
		for (started = 0; started < jobs && (child[started] = fork()) >= 0; started++) {
			if (child[started])
				continue;
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() == parent)
				serve(next, n, fn, arg);
			_exit(0);
		}
		for (i = 0; i < started; i++)
			while (waitpid(child[i], NULL, 0) < 0 && errno == EINTR)
				;
	} while (atomic_load(next) > before && atomic_load(next) < n);
	munmap(next, sizeof *next);
}

/* What the clock of this process showed at the last look, and what it may show. */
static struct {
	double last, end, least;
	int idle; /* looks in a row at which it had hardly moved */
} watched;

static double cpu_seconds_of_process(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void look(int signal)
{
	double now = cpu_seconds_of_process();

	(void)signal;
	watched.idle = now - watched.last < watched.least ? watched.idle + 1 : 0;
	watched.last = now;
	if (watched.idle == 2 || now > watched.end)
		_exit(1);
}

void pm_kcache_watch(int tick_seconds, int cpu_seconds)
{
	const struct itimerval none = { 0 }, every = { { tick_seconds, 0 }, { tick_seconds, 0 } };
	struct sigaction act = { .sa_handler = look, .sa_flags = SA_RESTART };

	setitimer(ITIMER_REAL, &none, NULL); /* nobody looks while this changes */
	watched.last = cpu_seconds_of_process();
	watched.end = watched.last + cpu_seconds;
	watched.least = tick_seconds * 0.01;
	watched.idle = 0;
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}
