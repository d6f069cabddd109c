/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - a server between two descriptors: one loop over the client, the tools' children and signals. */
#include "app/mcp/mcp_priv.h"

#include "base/sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	AT_IN,
	AT_OUT,
	AT_STOP,
	AT_TOOLS,
	MAX_FDS = 1024,
	READ_BYTES = 64 << 10,
	NO_READER = POLLERR | POLLHUP | POLLNVAL,
	WRITE_BYTES = 4096, /* PIPE_BUF: a pipe that poll calls writable takes so many without blocking */
};
#define FLUSH_SECONDS 5.0 /* after the end of the input, for a client that reads nothing */

typedef struct Loop {
	PmMcp *m;
	int in, out, stop;
	PmStr got;     /* read and not yet taken as messages */
	size_t at;     /* where in it the next message begins */
	size_t looked; /* up to where no newline was found */
	int skipping;  /* inside a line that is too long, which was answered */
	int ended;     /* no more input */
	int gone;      /* nobody reads the output */
} Loop;

/* --- signals ------------------------------------------------------------------------------------ */

static int stop_pipe = -1;

static void on_stop(int signal)
{
	int saved = errno;

	(void)signal;
	if (write(stop_pipe, "", 1) < 0) {
	} /* full: it was told already */
	errno = saved;
}

static void on_pipe(int signal)
{
	(void)signal;
}

static const int handled[] = { SIGTERM, SIGINT, SIGHUP, SIGPIPE };
enum { N_HANDLED = sizeof handled / sizeof *handled };

/* Handlers and not SIG_IGN, which children would inherit. */
static PmStatus signals_on(Loop *l, struct sigaction *old, PmErr *err)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC | O_NONBLOCK))
		return pm_err(err, PM_E_ENV, "Cannot make a pipe: %s.", strerror(errno));
	l->stop = p[0];
	stop_pipe = p[1];
	for (int i = 0; i < N_HANDLED; i++) {
		struct sigaction a = { .sa_handler = handled[i] == SIGPIPE ? on_pipe : on_stop };

		sigemptyset(&a.sa_mask);
		a.sa_flags = SA_RESTART;
		sigaction(handled[i], &a, &old[i]);
	}
	return PM_OK;
}

static void signals_off(Loop *l, const struct sigaction *old)
{
	for (int i = 0; i < N_HANDLED; i++)
		sigaction(handled[i], &old[i], NULL);
	close(stop_pipe);
	close(l->stop);
	stop_pipe = -1;
}

/* --- input -------------------------------------------------------------------------------------- */

static int is_full(const Loop *l)
{
	return pm_mcp_out(l->m)->len >= PM_MCP_OUT_FULL;
}

/* What is left of a line that is too long already is passed over up to its newline. */
static void skip(Loop *l)
{
	char *newline = memchr(l->got.s + l->at, '\n', l->got.len - l->at);

	l->skipping = newline == NULL;
	l->at = newline ? (size_t)(newline - l->got.s) + 1 : l->got.len;
	l->looked = l->at;
}

/* Takes the messages that are there, as long as their answers have room. 1 when one may be left. */
static int take_lines(Loop *l)
{
	while (!is_full(l)) {
		size_t left = l->got.len - l->at;
		char *newline;

		if (l->skipping) {
			skip(l);
			if (l->skipping)
				break;
			continue;
		}
		newline = memchr(l->got.s + l->looked, '\n', l->got.len - l->looked);
		l->looked = l->got.len;
		if (newline) {
			pm_mcp_line(l->m, l->got.s + l->at, (size_t)(newline - l->got.s) - l->at);
			l->at = l->looked = (size_t)(newline - l->got.s) + 1;
		} else if (left > PM_MCP_MAX_LINE) {
			pm_mcp_line(l->m, l->got.s + l->at, left);
			l->skipping = 1;
		} else if (l->ended && left) { /* the last line has no newline */
			pm_mcp_line(l->m, l->got.s + l->at, left);
			l->at = l->got.len;
		} else {
			break;
		}
	}
	if (is_full(l))
		return l->at < l->got.len;
	memmove(l->got.s, l->got.s + l->at, l->got.len - l->at);
	l->got.len -= l->at;
	l->looked -= l->at;
	l->at = 0;
	return 0;
}

static PmStatus read_some(Loop *l, PmErr *err)
{
	char bytes[READ_BYTES];
	ssize_t n = read(l->in, bytes, sizeof bytes);

	if (n > 0)
		pm_str_addn(&l->got, bytes, (size_t)n);
	else if (n == 0 || errno == ECONNRESET)
		l->ended = 1;
	else if (errno != EINTR && errno != EAGAIN)
		return pm_err(err, PM_E_IO, "Cannot read the client's messages: %s.", strerror(errno));
	return PM_OK;
}

/* --- output ------------------------------------------------------------------------------------- */

/* Never blocks: a socket is told so, and a pipe takes WRITE_BYTES when poll says that it takes any. */
static PmStatus write_some(Loop *l, PmErr *err)
{
	const PmStr *o = pm_mcp_out(l->m);
	size_t most = o->len < WRITE_BYTES ? o->len : WRITE_BYTES;
	ssize_t n = send(l->out, o->s, o->len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno == ENOTSOCK)
		n = write(l->out, o->s, most);
	if (n >= 0)
		pm_mcp_wrote(l->m, (size_t)n);
	else if (errno == EPIPE || errno == ECONNRESET)
		l->gone = 1;
	else if (errno != EINTR && errno != EAGAIN)
		return pm_err(err, PM_E_IO, "Cannot write to the client: %s.", strerror(errno));
	return PM_OK;
}

/* After the end of the input: what was answered is written, as long as somebody takes it. */
static PmStatus flush(Loop *l, PmErr *err)
{
	double until = pm_now() + FLUSH_SECONDS;
	PmStatus st = PM_OK;

	while (!st && !l->gone && pm_mcp_out(l->m)->len) {
		struct pollfd p = { l->out, POLLOUT, 0 };
		double left = until - pm_now();

		if (left <= 0)
			break;
		if (poll(&p, 1, (int)(left * 1e3) + 1) <= 0)
			continue;
		if (p.revents & NO_READER)
			break;
		st = write_some(l, err);
		until = pm_now() + FLUSH_SECONDS;
	}
	return st;
}

/* --- the loop ----------------------------------------------------------------------------------- */

static PmStatus round_of(Loop *l, int more, int *stopped, PmErr *err)
{
	struct pollfd fds[MAX_FDS];
	int wait = -1, n, full = is_full(l);
	PmStatus st = PM_OK;

	fds[AT_IN] = (struct pollfd){ full || more || l->ended ? -1 : l->in, POLLIN, 0 };
	fds[AT_OUT] = (struct pollfd){ l->out, pm_mcp_out(l->m)->len ? POLLOUT : 0, 0 };
	fds[AT_STOP] = (struct pollfd){ l->stop, POLLIN, 0 };
	n = l->m->o.tools.fds(l->m->o.tools.tools, fds + AT_TOOLS, MAX_FDS - AT_TOOLS, &wait);
	if (poll(fds, (nfds_t)(AT_TOOLS + n), wait) < 0) {
		if (errno == EINTR)
			return PM_OK;
		return pm_err(err, PM_E_ENV, "Cannot wait for the client: %s.", strerror(errno));
	}
	*stopped = fds[AT_STOP].revents != 0;
	l->gone = (fds[AT_OUT].revents & NO_READER) != 0;
	if (!l->gone && (fds[AT_OUT].revents & POLLOUT))
		st = write_some(l, err);
	if (!st && fds[AT_IN].revents)
		st = read_some(l, err);
	return st;
}

PmStatus pm_mcp_serve(PmMcp *m, int in, int out, PmErr *err)
{
	struct sigaction old[N_HANDLED];
	Loop l = { .m = m, .in = in, .out = out };
	int more, stopped = 0;
	PmStatus st;

	pm_str_init(&l.got);
	st = signals_on(&l, old, err);
	if (st)
		return st;
	for (;;) {
		more = take_lines(&l);
		pm_mcp_step(m);
		if (st || stopped || l.gone || (l.ended && !more))
			break;
		st = round_of(&l, more, &stopped, err);
	}
	pm__mcp_calls_end(m);
	if (!st && !l.gone)
		st = flush(&l, err);
	signals_off(&l, old);
	pm_str_release(&l.got);
	return st;
}
