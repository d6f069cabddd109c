/* SPDX-License-Identifier: Apache-2.0 */
/* proc.c - child processes with resource limits and a deadline.
 *
 * Every child leads a process group of its own and is watched from one poll loop: its two output pipes
 * and, through a pidfd, its end. The group is killed before the child is reaped, so its number cannot
 * have passed to somebody else and nothing it started in that group outlives it.
 */
#include "base/sys/proc.h"

#include "base/sys/proc_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* AddressSanitizer reserves terabytes of address space, so RLIMIT_AS would kill every child at once:
 * builds with it leave that one limit out. */
#if defined(__SANITIZE_ADDRESS__)
#define LIMIT_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LIMIT_MEMORY 0
#endif
#endif
#ifndef LIMIT_MEMORY
#define LIMIT_MEMORY 1
#endif

enum {
	TICK_MS = 20, /* how often to look for the child's end where there is no pidfd */
	DEFAULT_OUTPUT = 64 << 20,
};

typedef struct Child {
	pid_t pid;
	int pidfd;     /* readable once the child has ended; -1 where the kernel has none */
	int out, err;  /* our ends of its pipes; -1 = closed */
	int exec_fail; /* pm_run: gets errno when exec failed, closes itself when it worked; else -1 */
} Child;

void pm_proc_result_release(PmProcResult *r)
{
	pm_str_release(&r->out);
	pm_str_release(&r->errtext);
}

void pm__close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int pm__make_pipe(int fd[2])
{
	int raw[2], i;

	fd[0] = fd[1] = -1;
	if (pipe2(raw, O_CLOEXEC) != 0)
		return -1;
	for (i = 0; i < 2; i++) {
		fd[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, PM__CHANNEL + 1);
		close(raw[i]);
	}
	if (fd[0] >= 0 && fd[1] >= 0)
		return 0;
	pm__close_fd(&fd[0]);
	pm__close_fd(&fd[1]);
	return -1;
}

/* The child's stdin: a memory file holding all of `in`, so that nothing has to be fed to it later. */
static int make_input(const void *in, size_t n)
{
	int fd, high;
	const char *p = in;

	fd = n ? memfd_create("stdin", MFD_CLOEXEC) : open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	high = fcntl(fd, F_DUPFD_CLOEXEC, PM__CHANNEL + 1);
	close(fd);
	if (high < 0)
		return -1;
	while (n) {
		ssize_t w = write(high, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0) {
			close(high);
			return -1;
		}
		p += w;
		n -= (size_t)w;
	}
	if (p != (const char *)in)
		lseek(high, 0, SEEK_SET);
	return high;
}

/* --- in the child ------------------------------------------------------------------------------- */

static void set_limit(int what, rlim_t soft, rlim_t hard)
{
	struct rlimit old, r = { soft, hard };

	/* Never above what we were given ourselves: raising fails, and would then leave no limit at all. */
	if (getrlimit(what, &old) == 0 && old.rlim_max != RLIM_INFINITY) {
		if (r.rlim_max > old.rlim_max)
			r.rlim_max = old.rlim_max;
		if (r.rlim_cur > r.rlim_max)
			r.rlim_cur = r.rlim_max;
	}
	if (setrlimit(what, &r) != 0)
		_exit(PM__EXEC_FAILED);
}

void pm__apply_limits(const PmLimits *lim)
{
	set_limit(RLIMIT_CORE, 0, 0);
	if (!lim)
		return;
	if (lim->cpu_seconds > 0) /* SIGXCPU first, SIGKILL a second later for those that ignore it */
		set_limit(RLIMIT_CPU, (rlim_t)lim->cpu_seconds, (rlim_t)lim->cpu_seconds + 1);
	if (lim->memory > 0 && LIMIT_MEMORY)
		set_limit(RLIMIT_AS, (rlim_t)lim->memory, (rlim_t)lim->memory);
	if (lim->file_size >= 0)
		set_limit(RLIMIT_FSIZE, (rlim_t)lim->file_size, (rlim_t)lim->file_size);
	if (lim->max_files > 0)
		set_limit(RLIMIT_NOFILE, (rlim_t)lim->max_files, (rlim_t)lim->max_files);
}

static void close_from(int first)
{
	long fd, last;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0u, 0) == 0)
		return;
#endif
	last = sysconf(_SC_OPEN_MAX);
	for (fd = first; fd < (last > 0 && last < 1 << 20 ? last : 1 << 20); fd++)
		close((int)fd);
}

void pm__become_child(int in, int out, int errfd, int channel, pid_t parent)
{
	sigset_t none;
	int s;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it died before the line above */
		_exit(PM__EXEC_FAILED);
	for (s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(errfd, 2) < 0 || dup2(channel, PM__CHANNEL) < 0)
		_exit(PM__EXEC_FAILED);
	close_from(PM__CHANNEL + 1);
}

/* --- in the parent ------------------------------------------------------------------------------ */

/* Takes what can be read now. Returns 1 when the child has sent too much. */
static int take(int *fd, PmStr *into, int64_t *left)
{
	char chunk[16 * 1024];

	while (*fd >= 0) {
		ssize_t n = read(*fd, chunk, sizeof chunk);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0) {
			pm__close_fd(fd);
			return 0;
		}
		if (n > *left) {
			pm_str_addn(into, chunk, (size_t)*left);
			*left = 0;
			return 1;
		}
		pm_str_addn(into, chunk, (size_t)n);
		*left -= n;
	}
	return 0;
}

/* Waits until there is something to do. Returns 1 once the child has ended (it is not reaped yet). */
static int wait_for(const Child *c, double seconds_left)
{
	struct pollfd p[3] = { { c->out, POLLIN, 0 }, { c->err, POLLIN, 0 }, { c->pidfd, POLLIN, 0 } };
	int ms = -1;
	siginfo_t info;

	if (seconds_left >= 0)
		ms = seconds_left > 1e6 ? 1000000000 : (int)(seconds_left * 1000) + 1;
	if (c->pidfd < 0 && (ms < 0 || ms > TICK_MS))
		ms = TICK_MS;
	poll(p, 3, ms);
	info.si_pid = 0;
	return waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == c->pid;
}

/* Kills whatever is left of the child's group, reaps the child and says how it ended. */
static void reap(Child *c, const PmLimits *lim, PmProcResult *r)
{
	struct rusage use;
	int status = 0;

	kill(-c->pid, SIGKILL);
	kill(c->pid, SIGKILL); /* if it was killed before its setpgid and ours failed */
	while (wait4(c->pid, &status, 0, &use) < 0 && errno == EINTR)
		;
	pm__close_fd(&c->out);
	pm__close_fd(&c->err);
	pm__close_fd(&c->exec_fail);
	pm__close_fd(&c->pidfd);
	if (r->end == PM_PROC_TIMEOUT || r->end == PM_PROC_TOO_MUCH)
		return;
	r->end = WIFSIGNALED(status) ? PM_PROC_SIGNALED : PM_PROC_EXITED;
	r->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	if (r->end == PM_PROC_SIGNALED && lim && lim->cpu_seconds > 0 &&
	    (r->code == SIGXCPU ||
	     (r->code == SIGKILL && use.ru_utime.tv_sec + use.ru_stime.tv_sec >= lim->cpu_seconds)))
		r->end = PM_PROC_TIMEOUT;
}

/* The poll loop: from a started child to a filled result. */
static void watch(Child *c, const PmLimits *lim, double started, PmProcResult *r)
{
	int64_t left = lim && lim->max_output > 0 ? lim->max_output : DEFAULT_OUTPUT;
	PmDeadline deadline;
	int ended = 0;

	fcntl(c->out, F_SETFL, O_NONBLOCK);
	fcntl(c->err, F_SETFL, O_NONBLOCK);
	r->end = PM_PROC_EXITED;
	pm__deadline_begin(&deadline, c->pid, lim ? lim->seconds : 0);
	while (!ended) {
		double rest = pm__deadline_rest(&deadline);

		if (rest == 0) {
			r->end = PM_PROC_TIMEOUT;
			break;
		}
		ended = wait_for(c, rest);
		/* After its end one more look takes what it left in the pipes; what a process that moved to
		 * another group still writes is not waited for. */
		if (take(&c->out, &r->out, &left) || take(&c->err, &r->errtext, &left)) {
			r->end = PM_PROC_TOO_MUCH;
			break;
		}
	}
	reap(c, lim, r);
	r->seconds = pm_now() - started;
}

typedef struct Pipes {
	int in, out[2], err[2], channel[2];
} Pipes;

static void close_pipes(Pipes *p)
{
	int i;

	pm__close_fd(&p->in);
	for (i = 0; i < 2; i++) {
		pm__close_fd(&p->out[i]);
		pm__close_fd(&p->err[i]);
		pm__close_fd(&p->channel[i]);
	}
}

static PmStatus open_pipes(Pipes *p, const void *in, size_t in_len, PmErr *err)
{
	static const Pipes closed = { -1, { -1, -1 }, { -1, -1 }, { -1, -1 } };
	int e;

	*p = closed;
	p->in = make_input(in, in_len);
	if (p->in >= 0 && pm__make_pipe(p->out) == 0 && pm__make_pipe(p->err) == 0 &&
	    pm__make_pipe(p->channel) == 0)
		return PM_OK;
	e = errno;
	close_pipes(p);
	return pm_err(err, PM_E_IO, "Cannot make the pipes for a child process: %s.", strerror(e));
}

/* fork(), with what both sides must do at once. Returns 0 in the child, else the status in *rc. */
static pid_t start(Child *c, Pipes *p, PmStatus *rc, PmErr *err)
{
	pid_t parent = getpid();
	struct sigaction chld;

	/* Some launchers leave SIGCHLD ignored; the kernel would then reap the child and lose its status. */
	if (sigaction(SIGCHLD, NULL, &chld) == 0 && chld.sa_handler == SIG_IGN)
		signal(SIGCHLD, SIG_DFL);
	fflush(stdout); /* or the child would print our buffered text again */
	fflush(stderr);
	c->pid = fork();
	if (c->pid == 0) {
		pm__become_child(p->in, p->out[1], p->err[1], p->channel[1], parent);
		return 0;
	}
	if (c->pid < 0) {
		*rc = pm_err(err, PM_E_ENV, "Cannot start a child process: %s.", strerror(errno));
		close_pipes(p);
		return -1;
	}
	setpgid(c->pid, c->pid); /* fails harmlessly when the child was quicker */
	c->pidfd = -1;
#ifdef SYS_pidfd_open
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
#endif
	*rc = PM_OK;
	return c->pid;
}

static void result_init(PmProcResult *r)
{
	memset(r, 0, sizeof *r);
	pm_str_init(&r->out);
	pm_str_init(&r->errtext);
}

/* 1 when the child was killed from outside and may be tried again; *n counts. */
static int again(const PmLimits *lim, PmProcResult *r, int *n)
{
	if (!lim || r->end != PM_PROC_SIGNALED || r->code != SIGKILL || ++*n >= lim->tries)
		return 0;
	pm_proc_result_release(r);
	return 1;
}

static PmStatus run_once(const char *const *argv, const void *in, size_t in_len, const PmLimits *lim,
			 PmProcResult *r, PmErr *err)
{
	double started = pm_now();
	int exec_errno = 0;
	PmStatus rc;
	Pipes p;
	Child c;
	ssize_t n;

	result_init(r);
	rc = open_pipes(&p, in, in_len, err);
	if (rc)
		return rc;
	if (start(&c, &p, &rc, err) == 0) {
		fcntl(PM__CHANNEL, F_SETFD, FD_CLOEXEC);
		pm__apply_limits(lim);
		if (lim && lim->bare && (clearenv() != 0 || chdir("/") != 0))
			_exit(PM__EXEC_FAILED);
		if (lim && lim->enter)
			lim->enter(lim->enter_arg);
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		exec_errno = errno;
		n = write(PM__CHANNEL, &exec_errno, sizeof exec_errno);
		_exit(n == sizeof exec_errno ? PM__EXEC_FAILED : PM__EXEC_FAILED + 1);
	}
	if (rc)
		return rc;
	c.out = p.out[0];
	c.err = p.err[0];
	c.exec_fail = p.channel[0];
	p.out[0] = p.err[0] = p.channel[0] = -1;
	close_pipes(&p);
	do
		n = read(c.exec_fail, &exec_errno, sizeof exec_errno);
	while (n < 0 && errno == EINTR);
	if (n == sizeof exec_errno) {
		reap(&c, lim, r);
		pm_proc_result_release(r);
		return pm_err(err, PM_E_ENV, "Cannot run \"%s\": %s.", argv[0],
			      exec_errno == ENOENT ? "no such program; install it or put it on PATH"
						   : strerror(exec_errno));
	}
	watch(&c, lim, started, r);
	return PM_OK;
}

PmStatus pm_run(const char *const *argv, const void *in, size_t in_len, const PmLimits *lim, PmProcResult *r,
		PmErr *err)
{
	PmStatus rc;
	int n = 0;

	do
		rc = run_once(argv, in, in_len, lim, r, err);
	while (!rc && again(lim, r, &n));
	return rc;
}

static PmStatus fork_once(PmForkFn fn, void *arg, const PmLimits *lim, PmProcResult *r, PmErr *err)
{
	double started = pm_now();
	PmStatus rc;
	Pipes p;
	Child c;

	result_init(r);
	rc = open_pipes(&p, NULL, 0, err);
	if (rc)
		return rc;
	/* The pipe on descriptor 1 is not used here: stdout joins stderr and the channel brings the result.
	 */
	if (start(&c, &p, &rc, err) == 0) {
		PmStr out = PM_STR_INIT;
		size_t sent = 0;
		int code;

		if (dup2(2, 1) < 0)
			_exit(PM__EXEC_FAILED);
		pm__apply_limits(lim);
		code = fn(arg, &out);
		fflush(stdout);
		fflush(stderr);
		while (sent < out.len) {
			ssize_t w = write(PM__CHANNEL, out.s + sent, out.len - sent);

			if (w < 0 && errno == EINTR)
				continue;
			if (w < 0)
				_exit(PM__EXEC_FAILED);
			sent += (size_t)w;
		}
		_exit(code & 0xff);
	}
	if (rc)
		return rc;
	c.out = p.channel[0];
	c.err = p.err[0];
	c.exec_fail = -1;
	p.channel[0] = p.err[0] = -1;
	close_pipes(&p);
	watch(&c, lim, started, r);
	return PM_OK;
}

PmStatus pm_fork_call(PmForkFn fn, void *arg, const PmLimits *lim, PmProcResult *r, PmErr *err)
{
	PmStatus rc;
	int n = 0;

	do
		rc = fork_once(fn, arg, lim, r, err);
	while (!rc && again(lim, r, &n));
	return rc;
}

void pm_proc_describe(const PmProcResult *r, PmStr *out)
{
	switch (r->end) {
	case PM_PROC_EXITED:
		pm_str_addf(out, "exited with status %d", r->code);
		break;
	case PM_PROC_SIGNALED:
		pm_str_addf(out, "was killed by signal %d (%s)", r->code, strsignal(r->code));
		break;
	case PM_PROC_TIMEOUT:
		pm_str_addf(out, "was killed after %.1f s, at its time limit", r->seconds);
		break;
	case PM_PROC_TOO_MUCH:
		pm_str_addf(out, "was killed because it wrote more than %zu bytes",
			    r->out.len + r->errtext.len);
		break;
	}
}
