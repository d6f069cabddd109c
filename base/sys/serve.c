/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - a child process that answers requests until it is stopped, hangs or dies.
 *
 * Both directions are pipes. A request is its length, that of the data behind it (eight bytes each), and the
 * bytes of both; a reply its length, its bytes, the length of the data and those. The child's stderr (its
 * stdout joins it) is drained while a call waits, and its last words explain a crash.
 */
#include "base/sys/serve.h"

#include "base/core/arena.h"
#include "base/core/vec.h"
#include "base/sys/proc_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAST_WORDS = 400, STOP_MS = 500, DIE_MS = 5000, PIPE_BYTES = 1 << 18 };

struct PmServer {
	pid_t pid; /* 0 = ended and reaped */
	int to, from, err;
	int killed;  /* from outside */
	int gave_up; /* it was still there when we killed it */
	PmStr words; /* end of what it wrote to stderr */
};

/* --- in the child ------------------------------------------------------------------------------- */

static int read_all(int fd, void *p, size_t n)
{
	char *c = p;

	while (n) {
		ssize_t k = read(fd, c, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return -1;
		c += k;
		n -= (size_t)k;
	}
	return 0;
}

static int write_all(int fd, const void *p, size_t n)
{
	const char *c = p;

	while (n) {
		ssize_t k = write(fd, c, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -1;
		c += k;
		n -= (size_t)k;
	}
	return 0;
}

/* Lengths of a message, and of the data behind it. */
typedef struct Frame {
	uint64_t n, data;
} Frame;

/* Of this process, which is a server and nothing else: data that has not been read, and what is to be sent.
 */
static struct {
	uint64_t left;
	PM_VEC(PmServeRoom) give;
} child;

size_t pm_serve_left(void)
{
	return (size_t)child.left;
}

int pm_serve_take(void *to, size_t n)
{
	if (n > child.left)
		return 0;
	if (read_all(0, to, n) != 0)
		_exit(0);
	child.left -= n;
	return 1;
}

void pm_serve_give(void *owned, size_t n)
{
	PM_VEC_PUSH(&child.give, ((PmServeRoom){ owned, n }));
}

static void pass_over(void)
{
	char piece[4096];

	while (child.left)
		pm_serve_take(piece, child.left < sizeof piece ? (size_t)child.left : sizeof piece);
}

static void send_reply(const PmStr *reply)
{
	Frame f = { .n = reply->len };

	for (size_t i = 0; i < child.give.n; i++)
		f.data += child.give.v[i].n;
	if (write_all(PM__CHANNEL, &f.n, sizeof f.n) != 0 ||
	    write_all(PM__CHANNEL, reply->s, reply->len) != 0 ||
	    write_all(PM__CHANNEL, &f.data, sizeof f.data) != 0)
		_exit(0);
	for (size_t i = 0; i < child.give.n; i++) {
		if (write_all(PM__CHANNEL, child.give.v[i].p, child.give.v[i].n) != 0)
			_exit(0);
		free(child.give.v[i].p);
	}
	child.give.n = 0;
}

static _Noreturn void serve(PmServeFn fn, void *arg)
{
	PmStr reply = PM_STR_INIT;
	Frame f;
	int end = 0;

	fn(arg, NULL, 0, &reply);
	while (!end && read_all(0, &f, sizeof f) == 0) {
		char *request = pm_xcalloc((size_t)f.n + 1, 1);

		if (read_all(0, request, (size_t)f.n) != 0)
			_exit(0);
		child.left = f.data;
		pm_str_clear(&reply);
		end = fn(arg, request, (size_t)f.n, &reply);
		free(request);
		pass_over();
		fflush(stdout);
		fflush(stderr);
		send_reply(&reply);
	}
	_exit(0);
}

/* --- in the parent ------------------------------------------------------------------------------ */

static PmStatus start(PmServer *s, PmServeFn fn, void *arg, const PmLimits *lim, PmErr *err)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, e[2] = { -1, -1 };
	pid_t parent = getpid();
	int why;

	if (pm__make_pipe(in) || pm__make_pipe(out) || pm__make_pipe(e)) {
		why = errno;
		for (int i = 0; i < 2; i++) {
			pm__close_fd(&in[i]);
			pm__close_fd(&out[i]);
			pm__close_fd(&e[i]);
		}
		return pm_err(err, PM_E_IO, "Cannot make the pipes for a child process: %s.", strerror(why));
	}
	fflush(stdout); /* or the child would print our buffered text again */
	fflush(stderr);
	s->pid = fork();
	why = errno;
	if (s->pid == 0) {
		pm__become_child(in[0], e[1], e[1], out[1], parent);
		pm__apply_limits(lim);
		serve(fn, arg);
	}
	pm__close_fd(&in[0]);
	pm__close_fd(&out[1]);
	pm__close_fd(&e[1]);
	s->to = in[1];
	s->from = out[0];
	s->err = e[0];
	if (s->pid < 0) {
		s->pid = 0;
		return pm_err(err, PM_E_ENV, "Cannot start a child process: %s.", strerror(why));
	}
	setpgid(s->pid, s->pid);                /* fails harmlessly when the child was quicker */
	fcntl(s->to, F_SETPIPE_SZ, PIPE_BYTES); /* only makes it quicker */
	fcntl(s->from, F_SETPIPE_SZ, PIPE_BYTES);
	fcntl(s->to, F_SETFL, O_NONBLOCK);
	fcntl(s->from, F_SETFL, O_NONBLOCK);
	fcntl(s->err, F_SETFL, O_NONBLOCK);
	return PM_OK;
}

PmStatus pm_server_start(PmServeFn fn, void *arg, const PmLimits *lim, PmServer **out, PmErr *err)
{
	PmServer *s = pm_xcalloc(1, sizeof *s);
	PmStatus st;

	s->to = s->from = s->err = -1;
	pm_str_init(&s->words);
	st = start(s, fn, arg, lim, err);
	if (st) {
		pm_server_stop(s);
		return st;
	}
	*out = s;
	return PM_OK;
}

/* Keeps the end of what the child says on stderr. */
static void hear(PmServer *s)
{
	char chunk[4096];
	ssize_t n;

	while (s->err >= 0 && (n = read(s->err, chunk, sizeof chunk)) > 0) {
		pm_str_addn(&s->words, chunk, (size_t)n);
		if (s->words.len > (1 << 16)) {
			PmStr tail = PM_STR_INIT;

			pm_str_addn(&tail, s->words.s + s->words.len - LAST_WORDS, LAST_WORDS);
			pm_str_release(&s->words);
			s->words = tail;
		}
	}
}

/* Kills what is left and takes its status; with `wait_ms`, gives it that long to end by itself. */
static void reap(PmServer *s, int wait_ms, PmProcResult *r)
{
	siginfo_t info;
	int status = 0;

	pm__close_fd(&s->to);
	for (int i = 0; i < wait_ms; i += 5) {
		info.si_pid = 0;
		if (waitid(P_PID, (id_t)s->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid)
			break;
		hear(s);
		poll(NULL, 0, 5);
	}
	info.si_pid = 0;
	s->gave_up = waitid(P_PID, (id_t)s->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !info.si_pid;
	kill(-s->pid, SIGKILL);
	kill(s->pid, SIGKILL);
	while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
		;
	hear(s);
	s->pid = 0;
	pm__close_fd(&s->from);
	pm__close_fd(&s->err);
	r->end = WIFSIGNALED(status) ? PM_PROC_SIGNALED : PM_PROC_EXITED;
	r->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static PmStatus died(PmServer *s, const char *what, PmErr *err)
{
	PmProcResult r = { 0 };
	PmStr how = PM_STR_INIT;
	const char *words;

	reap(s, DIE_MS,
	     &r); /* a closed pipe comes before the end: by much, where memory is large or time short */
	s->killed = r.end == PM_PROC_SIGNALED && r.code == SIGKILL && !s->gave_up;
	pm_proc_describe(&r, &how);
	while (s->words.len && s->words.s[s->words.len - 1] == '\n')
		s->words.s[--s->words.len] = '\0';
	words = s->words.len > LAST_WORDS ? s->words.s + s->words.len - LAST_WORDS : s->words.s;
	pm_err(err, PM_E_CRASH, "The %s %s%s%s.", what, how.s, *words ? "; its last words: " : "", words);
	pm_str_release(&how);
	return PM_E_CRASH;
}

typedef struct Call {
	PmServer *s;
	const char *what;
	PmDeadline deadline;
} Call;

/* Waits until `fd` may be used. PM_E_TIMEOUT has killed the child. */
static PmStatus wait_for(Call *c, int fd, short events, PmErr *err)
{
	for (;;) {
		struct pollfd p[2] = { { fd, events, 0 }, { c->s->err, POLLIN, 0 } };
		double rest = pm__deadline_rest(&c->deadline);
		PmProcResult r = { 0 };

		if (rest == 0) {
			reap(c->s, 0, &r);
			return pm_err(err, PM_E_TIMEOUT,
				      "The %s did not finish within %g seconds and was killed.", c->what,
				      c->deadline.seconds);
		}
		poll(p, 2, rest < 0 || rest > 1e5 ? 100000000 : (int)(rest * 1000) + 1);
		hear(c->s);
		if (p[1].revents && !(p[1].revents & POLLIN))
			pm__close_fd(&c->s->err); /* or its end would keep this loop awake */
		if (p[0].revents)
			return PM_OK;
	}
}

static PmStatus send_all(Call *c, const void *p, size_t n, PmErr *err)
{
	const char *at = p;

	while (n) {
		ssize_t k = write(c->s->to, at, n);
		PmStatus st = PM_OK;

		if (k > 0) {
			at += k;
			n -= (size_t)k;
		} else if (errno == EAGAIN) {
			st = wait_for(c, c->s->to, POLLOUT, err);
		} else if (errno != EINTR) {
			st = died(c->s, c->what, err);
		}
		if (st)
			return st;
	}
	return PM_OK;
}

static PmStatus take_all(Call *c, void *p, size_t n, PmErr *err)
{
	char *at = p;

	while (n) {
		ssize_t k = read(c->s->from, at, n);
		PmStatus st = PM_OK;

		if (k > 0) {
			at += k;
			n -= (size_t)k;
		} else if (k < 0 && errno == EAGAIN) {
			st = wait_for(c, c->s->from, POLLIN, err);
		} else if (k == 0 || errno != EINTR) {
			st = died(c->s, c->what, err);
		}
		if (st)
			return st;
	}
	return PM_OK;
}

/* The `n` bytes that the child has announced, into *reply. The number is the child's word: memory is asked
 * for only where it is allowed, and what cannot be had is an error like any other. */
static PmStatus take_reply(Call *c, uint64_t n, uint64_t most, PmStr *reply, PmErr *err)
{
	PmProcResult r = { 0 };
	PmStatus st;
	char *bytes;

	if (n > most) {
		reap(c->s, 0, &r);
		return pm_err(
			err, PM_E_CRASH,
			"The %s was killed because it sent %llu bytes, where at most %llu were expected.",
			c->what, (unsigned long long)n, (unsigned long long)most);
	}
	bytes = n < SIZE_MAX ? malloc((size_t)n + 1) : NULL;
	if (!bytes) {
		reap(c->s, 0, &r);
		return pm_err(
			err, PM_E_ENV,
			"There is no memory for the %llu bytes that the %s sends; use smaller shapes or "
			"more memory.",
			(unsigned long long)n, c->what);
	}
	st = take_all(c, bytes, (size_t)n, err);
	bytes[st ? 0 : (size_t)n] = '\0';
	if (st)
		free(bytes);
	else
		pm_str_adopt(reply, bytes, (size_t)n);
	return st;
}

/* The data behind a reply, which has another length than was expected: not at all is the child's right. */
static PmStatus take_data(Call *c, uint64_t n, PmServeData *data, PmErr *err)
{
	PmProcResult r = { 0 };
	uint64_t room = 0;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < data->n_take; i++)
		room += data->take[i].n;
	if (n && n != room) {
		reap(c->s, 0, &r);
		return pm_err(
			err, PM_E_CRASH,
			"The %s was killed because it sent %llu bytes of data, where %llu were expected.",
			c->what, (unsigned long long)n, (unsigned long long)room);
	}
	for (size_t i = 0; i < data->n_take && n && !st; i++)
		st = take_all(c, data->take[i].p, data->take[i].n, err);
	data->taken = !st && n;
	return st;
}

PmStatus pm_server_call(PmServer *s, const char *what, const void *request, size_t n, double seconds,
			uint64_t most, PmStr *reply, PmErr *err)
{
	PmServeData none = { 0 };

	return pm_server_call_with(s, what, request, n, &none, seconds, most, reply, err);
}

PmStatus pm_server_call_with(PmServer *s, const char *what, const void *request, size_t n, PmServeData *data,
			     double seconds, uint64_t most, PmStr *reply, PmErr *err)
{
	Call c = { .s = s, .what = what };
	Frame f = { .n = n };
	struct sigaction old, ignore = { .sa_handler = SIG_IGN };
	PmStatus st;

	data->taken = 0;
	for (size_t i = 0; i < data->n_send; i++)
		f.data += data->send[i].n;

	if (!s->pid)
		return pm_err(err, PM_E_CRASH, "The %s has ended; start another.", what);
	pm__deadline_begin(&c.deadline, s->pid, seconds);
	sigaction(SIGPIPE, &ignore, &old);
	st = send_all(&c, &f, sizeof f, err);
	if (!st)
		st = send_all(&c, request, n, err);
	for (size_t i = 0; i < data->n_send && !st; i++)
		st = send_all(&c, data->send[i].p, data->send[i].n, err);
	sigaction(SIGPIPE, &old, NULL);
	if (!st)
		st = take_all(&c, &f.n, sizeof f.n, err);
	if (!st)
		st = take_reply(&c, f.n, most, reply, err);
	if (!st)
		st = take_all(&c, &f.data, sizeof f.data, err);
	return st ? st : take_data(&c, f.data, data, err);
}

int pm_server_killed(const PmServer *s)
{
	return s && s->killed;
}

int pm_server_alive(const PmServer *s)
{
	return s && s->pid;
}

static void release(PmServer *s)
{
	pm__close_fd(&s->to);
	pm__close_fd(&s->from);
	pm__close_fd(&s->err);
	pm_str_release(&s->words);
	free(s);
}

static void stop(PmServer *s, int wait_ms)
{
	PmProcResult r = { 0 };

	if (!s)
		return;
	if (s->pid)
		reap(s, wait_ms, &r);
	release(s);
}

void pm_server_stop(PmServer *s)
{
	stop(s, STOP_MS);
}

void pm_server_kill(PmServer *s)
{
	stop(s, 0);
}

void pm_server_dismiss(PmServer *s)
{
	if (!s || !s->pid)
		return;
	kill(-s->pid, SIGKILL);
	kill(s->pid, SIGKILL);
	pm__close_fd(&s->to);
}

void pm_server_abandon(PmServer *s)
{
	if (!s)
		return;
	pm_server_dismiss(s);
	release(s);
}
