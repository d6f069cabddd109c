/* SPDX-License-Identifier: Apache-2.0 */
/* child.c - a child process that nobody waits for. */
#include "base/sys/child.h"

#include "base/core/arena.h"
#include "base/sys/proc_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	DEFAULT_OUTPUT = 64 << 20,
	KEEP_ERRORS = 64 << 10,
	TICK_MS = 50, /* how often to look for the end where the kernel has no pidfd */
};

struct PmChild {
	pid_t pid; /* 0: reaped */
	int pidfd, out, err;
	double began, seconds;
	int64_t left; /* bytes that stdout may still have */
	PmProcResult r;
};

typedef struct Ends {
	int in, out[2], err[2], channel[2];
} Ends;

static void close_ends(Ends *e)
{
	pm__close_fd(&e->in);
	for (int i = 0; i < 2; i++) {
		pm__close_fd(&e->out[i]);
		pm__close_fd(&e->err[i]);
		pm__close_fd(&e->channel[i]);
	}
}

static PmStatus open_ends(Ends *e, PmErr *err)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), why;

	*e = (Ends){ -1, { -1, -1 }, { -1, -1 }, { -1, -1 } };
	if (null >= 0) /* clear of what the child's dup2 calls overwrite */
		e->in = fcntl(null, F_DUPFD_CLOEXEC, PM__CHANNEL + 1);
	pm__close_fd(&null);
	if (e->in >= 0 && !pm__make_pipe(e->out) && !pm__make_pipe(e->err) && !pm__make_pipe(e->channel))
		return PM_OK;
	why = errno;
	close_ends(e);
	return pm_err(err, PM_E_ENV, "Cannot make the pipes for a child process: %s.", strerror(why));
}

/* In the child: never comes back. */
static void become(const char *const *argv, const char *dir, const Ends *e, pid_t parent)
{
	PmLimits none = { .file_size = -1 };
	int why;

	pm__become_child(e->in, e->out[1], e->err[1], e->channel[1], parent);
	fcntl(PM__CHANNEL, F_SETFD, FD_CLOEXEC);
	pm__apply_limits(&none);
	if (!dir || chdir(dir) == 0)
		execvp(argv[0], (char *const *)(uintptr_t)argv);
	why = errno;
	_exit(write(PM__CHANNEL, &why, sizeof why) == (ssize_t)sizeof why ? PM__EXEC_FAILED
									  : PM__EXEC_FAILED + 1);
}

static void reap(PmChild *c)
{
	int status = 0;

	if (!c->pid)
		return;
	kill(-c->pid, SIGKILL);
	kill(c->pid, SIGKILL);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
	pm__close_fd(&c->pidfd);
	pm__close_fd(&c->out);
	pm__close_fd(&c->err);
	c->r.seconds = pm_now() - c->began;
	if (c->r.end == PM_PROC_TIMEOUT || c->r.end == PM_PROC_TOO_MUCH)
		return;
	c->r.end = WIFSIGNALED(status) ? PM_PROC_SIGNALED : PM_PROC_EXITED;
	c->r.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

PmStatus pm_child_start(const char *const *argv, const PmChildOpts *opts, PmChild **out, PmErr *err)
{
	PmChild *c;
	pid_t parent = getpid(), pid;
	int why = 0;
	ssize_t n;
	Ends e;
	PmStatus st = open_ends(&e, err);

	*out = NULL;
	if (st)
		return st;
	fflush(stdout);
	fflush(stderr);
	pid = fork();
	if (pid == 0)
		become(argv, opts->dir, &e, parent);
	if (pid < 0) {
		st = pm_err(err, PM_E_ENV, "Cannot start a child process: %s.", strerror(errno));
		close_ends(&e);
		return st;
	}
	setpgid(pid, pid); /* fails harmlessly when the child was quicker */
	c = pm_xcalloc(1, sizeof *c);
	c->pid = pid;
	c->pidfd = -1;
#ifdef SYS_pidfd_open
	c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
#endif
	c->began = pm_now();
	c->seconds = opts->seconds;
	c->left = opts->max_output > 0 ? opts->max_output : DEFAULT_OUTPUT;
	pm_str_init(&c->r.out);
	pm_str_init(&c->r.errtext);
	c->out = e.out[0];
	c->err = e.err[0];
	e.out[0] = e.err[0] = -1;
	fcntl(c->out, F_SETFL, O_NONBLOCK);
	fcntl(c->err, F_SETFL, O_NONBLOCK);
	pm__close_fd(&e.channel[1]);
	do /* comes to an end with exec, at once */
		n = read(e.channel[0], &why, sizeof why);
	while (n < 0 && errno == EINTR);
	close_ends(&e);
	if (n == (ssize_t)sizeof why) {
		pm_child_free(c);
		return pm_err(err, PM_E_ENV, "Cannot run \"%s\": %s.", argv[0], strerror(why));
	}
	*out = c;
	return PM_OK;
}

int pm_child_fds(const PmChild *c, struct pollfd fds[3])
{
	const int all[] = { c->out, c->err, c->pidfd };
	int n = 0;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i] >= 0)
			fds[n++] = (struct pollfd){ all[i], POLLIN, 0 };
	return n;
}

double pm_child_wait(const PmChild *c)
{
	double rest = c->seconds > 0 ? c->began + c->seconds - pm_now() : -1, tick = TICK_MS / 1000.0;

	if (!c->pid)
		return 0;
	if (c->seconds > 0 && rest < 0)
		rest = 0;
	return c->pidfd < 0 && (rest < 0 || rest > tick) ? tick : rest;
}

/* 1 when stdout is over its limit. */
static int take_out(PmChild *c)
{
	char chunk[16 * 1024];

	while (c->out >= 0) {
		ssize_t n = read(c->out, chunk, sizeof chunk);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0) {
			pm__close_fd(&c->out);
			return 0;
		}
		if (n > c->left)
			return 1;
		c->left -= n;
		pm_str_addn(&c->r.out, chunk, (size_t)n);
	}
	return 0;
}

/* What is too long loses its beginning. */
static void take_errors(PmChild *c)
{
	PmStr *t = &c->r.errtext;
	char chunk[4096];
	/* A child that writes without end is not read without end in one step. */
	for (int i = 0; i < 64 && c->err >= 0; i++) {
		ssize_t n = read(c->err, chunk, sizeof chunk);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			pm__close_fd(&c->err);
			return;
		}
		pm_str_addn(t, chunk, (size_t)n);
		if (t->len > 2 * (size_t)KEEP_ERRORS) {
			memmove(t->s, t->s + t->len - KEEP_ERRORS, KEEP_ERRORS + 1);
			t->len = KEEP_ERRORS;
		}
	}
}

int pm_child_step(PmChild *c)
{
	siginfo_t info = { 0 };
	int ended;

	if (!c->pid)
		return 1;
	ended = !waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == c->pid;
	/* After its end one more look takes what it left in the pipes. */
	if (take_out(c)) {
		c->r.end = PM_PROC_TOO_MUCH;
		ended = 1;
	}
	take_errors(c);
	if (!ended && c->seconds > 0 && pm_now() >= c->began + c->seconds) {
		c->r.end = PM_PROC_TIMEOUT;
		ended = 1;
	}
	if (ended)
		reap(c);
	return ended;
}

void pm_child_kill(PmChild *c)
{
	reap(c);
}

PmProcResult *pm_child_result(PmChild *c)
{
	return &c->r;
}

void pm_child_free(PmChild *c)
{
	if (!c)
		return;
	reap(c);
	pm_proc_result_release(&c->r);
	free(c);
}
