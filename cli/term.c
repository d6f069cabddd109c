/* SPDX-License-Identifier: Apache-2.0 */
/* term.c - a terminal's whole screen, and the keys and signals that come meanwhile. */
#include "cli/term.h"

#include "base/sys/proc.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* Another screen, without a cursor and without lines that go on in the next one; and back. */
static const char open_screen[] = "\033[?1049h\033[?25l\033[?7l";
static const char close_screen[] = "\033[0m\033[?7h\033[?25h\033[?1049l";

static const int asks_to_end[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
enum { N_ENDS = sizeof asks_to_end / sizeof *asks_to_end };

/* What a signal can reach. Signals come while pm_term_wait waits, and at no other time. */
static volatile sig_atomic_t ended, resized, stopped, continued;
static struct termios modes; /* of the terminal, before */

static void note(int signal)
{
	if (signal == SIGWINCH)
		resized = 1;
	else if (signal == SIGTSTP)
		stopped = 1;
	else if (signal == SIGCONT)
		continued = 1;
	else
		ended = 1;
}

int pm_term_has_screen(void)
{
	const char *term = getenv("TERM");

	return isatty(1) && term && *term && strcmp(term, "dumb") != 0;
}

int pm_term_has_colour(void)
{
	const char *no = getenv("NO_COLOR");

	return pm_term_has_screen() && !(no && *no);
}

int pm_term_write(const char *s, size_t n)
{
	while (n) {
		ssize_t k = write(1, s, n);

		if (k < 0 && errno == EAGAIN) { /* somebody made it not wait: so wait */
			struct pollfd p = { .fd = 1, .events = POLLOUT };

			poll(&p, 1, 1000);
			continue;
		}
		if (k < 0 && errno != EINTR)
			return 0;
		if (k > 0) {
			s += k;
			n -= (size_t)k;
		}
	}
	return 1;
}

static void take_screen(PmTerm *t)
{
	if (t->has_keys) {
		struct termios raw = modes;

		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		raw.c_cc[VMIN] = 0;
		raw.c_cc[VTIME] = 0;
		tcsetattr(0, TCSADRAIN, &raw);
	}
	pm_term_write(open_screen, sizeof open_screen - 1);
}

static void give_screen(PmTerm *t)
{
	pm_term_write(close_screen, sizeof close_screen - 1);
	if (t->has_keys)
		tcsetattr(0, TCSAFLUSH, &modes); /* keys that nobody read are not the shell's */
}

void pm_term_enter(PmTerm *t, int screen)
{
	struct sigaction a = { .sa_handler = note };
	sigset_t taken;

	memset(t, 0, sizeof *t);
	ended = resized = stopped = continued = 0;
	sigemptyset(&a.sa_mask);
	sigemptyset(&taken);
	for (int i = 0; i < N_ENDS; i++)
		sigaddset(&taken, asks_to_end[i]);
	if (screen) {
		sigaddset(&taken, SIGWINCH);
		sigaddset(&taken, SIGTSTP);
		sigaddset(&taken, SIGCONT);
	}
	sigprocmask(SIG_BLOCK, &taken, &t->before);
	for (int s = 1; s < NSIG; s++)
		if (sigismember(&taken, s) == 1)
			sigaction(s, &a, NULL);
	t->is_screen = screen;
	t->has_keys = screen && isatty(0) && !tcgetattr(0, &modes);
	if (screen)
		take_screen(t);
}

void pm_term_leave(PmTerm *t)
{
	if (t->is_screen)
		give_screen(t);
	t->is_screen = 0;
	for (int i = 0; i < N_ENDS; i++)
		signal(asks_to_end[i], SIG_DFL);
	signal(SIGWINCH, SIG_DFL);
	signal(SIGTSTP, SIG_DFL);
	signal(SIGCONT, SIG_DFL);
	ended = 0;
	sigprocmask(SIG_SETMASK, &t->before, NULL);
}

static int number_or(const char *s, int otherwise)
{
	int64_t n;

	return s && pm_parse_i64(s, &n) && n > 0 && n < 10000 ? (int)n : otherwise;
}

void pm_term_size(int *width, int *height)
{
	struct winsize w;

	if (!ioctl(1, TIOCGWINSZ, &w) && w.ws_col && w.ws_row) {
		*width = w.ws_col;
		*height = w.ws_row;
		return;
	}
	*width = number_or(getenv("COLUMNS"), 80);
	*height = number_or(getenv("LINES"), 24);
}

/* As if nobody had taken the signal: the shell gets its screen back, and later gives it again. */
static void stop(PmTerm *t)
{
	give_screen(t);
	raise(SIGSTOP);
	take_screen(t);
}

/* Takes n bytes from the front of the keys. */
static void drop_keys(PmTerm *t, size_t n)
{
	t->n_keys -= n;
	memmove(t->keys, t->keys + n, t->n_keys);
}

/* The first key that came, or what an arrow sends: ESC [ A or ESC O A. */
static PmTermEvent key(PmTerm *t)
{
	const char *s = t->keys;
	char c = s[0];

	if (c == '\033' && t->n_keys > 2 && (s[1] == '[' || s[1] == 'O')) {
		c = s[2] == 'A' ? 'k' : s[2] == 'B' ? 'j' : ' ';
		drop_keys(t, 2);
	}
	drop_keys(t, 1);
	if (c == 'q' || c == 'Q' || c == 4) /* 4: Ctrl-D */
		return PM_TERM_QUIT;
	return c == 'k' ? PM_TERM_UP : c == 'j' ? PM_TERM_DOWN : PM_TERM_OTHER;
}

/* 0 when the terminal is gone. */
static int read_keys(PmTerm *t)
{
	ssize_t n = read(0, t->keys + t->n_keys, sizeof t->keys - t->n_keys);

	if (n > 0)
		t->n_keys += (size_t)n;
	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

PmTermEvent pm_term_wait(PmTerm *t, double seconds)
{
	double until = pm_now() + seconds, left = t->n_keys ? 0 : seconds;
	struct pollfd p = { .fd = t->has_keys && t->n_keys < sizeof t->keys ? 0 : -1, .events = POLLIN };
	sigset_t none = t->before;

	for (int i = 0; i < N_ENDS; i++)
		sigdelset(&none, asks_to_end[i]);
	sigdelset(&none, SIGWINCH);
	sigdelset(&none, SIGTSTP);
	sigdelset(&none, SIGCONT);
	do {
		struct timespec ts = { .tv_sec = (time_t)left };
		int n;

		ts.tv_nsec = (long)((left - (double)ts.tv_sec) * 1e9);
		n = ppoll(&p, 1, &ts, &none);
		if (ended)
			return PM_TERM_QUIT;
		if (stopped) {
			stopped = continued = 0;
			stop(t);
			return PM_TERM_REDRAW;
		}
		if (continued) { /* it was stopped by a signal that nobody can take */
			continued = 0;
			if (t->is_screen)
				take_screen(t);
			return PM_TERM_REDRAW;
		}
		if (resized) {
			resized = 0;
			return PM_TERM_REDRAW;
		}
		if (n > 0)
			return read_keys(t) ? (t->n_keys ? key(t) : PM_TERM_OTHER) : PM_TERM_QUIT;
		left = until - pm_now();
	} while (left > 0 && !t->n_keys);
	return t->n_keys ? key(t) : PM_TERM_TIME;
}
