/* SPDX-License-Identifier: Apache-2.0 */
/* test_watch.c - passmith watch on a pseudo-terminal: whatever ends it, the terminal is as it was before. */
#include "base/core/str.h"
#include "base/sys/io.h"
#include "dataset/store/results.h"
#include "dataset/store/running.h"
#include "dataset/store/tasks.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/plugin/paths.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATIENCE_MS = 120000 }; /* until a test gives up; nothing is decided by it that works */

#define OPEN_SCREEN  "\033[?1049h\033[?25l\033[?7l"
#define CLOSE_SCREEN "\033[0m\033[?7h\033[?25h\033[?1049l"

typedef struct Box {
	PmStr dir, path;
	pid_t pid;
	int fd, slave; /* the terminal: our side, and the program's, kept open to ask for its modes */
	PmStr out;     /* what came so far */
	struct termios before;
	char first_key; /* typed before the program begins; 0 = none */
} Box;

static int set_up(void **state)
{
	static Box b;
	PmDb *db;

	memset(&b, 0, sizeof b);
	pm_str_init(&b.dir);
	pm_str_init(&b.path);
	pm_str_init(&b.out);
	assert_int_equal(pm_temp_dir("watch", &b.dir, NULL), PM_OK);
	pm_path_join(b.dir.s, "set.db", &b.path);
	assert_int_equal(pm_db_open(b.path.s, 0, &db, NULL), PM_OK);
	pm_db_close(db);
	*state = &b;
	return 0;
}

static int tear_down(void **state)
{
	Box *b = *state;

	assert_int_equal(pm_remove_tree(b->dir.s, NULL), PM_OK);
	pm_str_release(&b->dir);
	pm_str_release(&b->path);
	pm_str_release(&b->out);
	return 0;
}

static void start(Box *b, const char *term, const char *no_color)
{
	struct winsize size = { .ws_row = 10, .ws_col = 60 };

	assert_int_equal(openpty(&b->fd, &b->slave, NULL, NULL, &size), 0);
	assert_int_equal(tcgetattr(b->slave, &b->before), 0);
	if (b->first_key)
		assert_int_equal(write(b->fd, &b->first_key, 1), 1);
	b->pid = fork();
	assert_true(b->pid >= 0);
	if (!b->pid) {
		setsid();
		ioctl(b->slave, TIOCSCTTY, 0);
		for (int i = 0; i < 3; i++)
			dup2(b->slave, i);
		close(b->fd);
		setenv("TERM", term, 1);
		setenv("NO_COLOR", no_color, 1);
		execl(built("passmith"), "passmith", "watch", "--db", b->path.s, "--interval", "0.1",
		      (char *)NULL);
		_exit(127);
	}
}

/* Reads until `text` has come, from byte `from` on. */
static void await(Box *b, size_t from, const char *text)
{
	char buffer[4096];

	while (b->out.len < from || !strstr(b->out.s + from, text)) {
		struct pollfd p = { .fd = b->fd, .events = POLLIN };
		ssize_t n;

		if (poll(&p, 1, PATIENCE_MS) <= 0)
			fail_msg("'%s' did not come; what came: %s", text, b->out.s);
		n = read(b->fd, buffer, sizeof buffer);
		assert_true(n > 0);
		pm_str_addn(&b->out, buffer, (size_t)n);
	}
}

static void type(Box *b, const char *keys)
{
	assert_int_equal(write(b->fd, keys, strlen(keys)), (ssize_t)strlen(keys));
}

/* It ends by itself with this status; the screen and the modes are as they were. */
static void ends(Box *b, int wanted)
{
	struct termios after;
	int status;

	await(b, 0, CLOSE_SCREEN);
	assert_int_equal(waitpid(b->pid, &status, 0), b->pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), wanted);
	assert_int_equal(tcgetattr(b->slave, &after), 0);
	assert_int_equal(after.c_lflag, b->before.c_lflag);
	assert_int_equal(after.c_iflag, b->before.c_iflag);
	assert_memory_equal(after.c_cc, b->before.c_cc, sizeof after.c_cc);
	close(b->fd);
	close(b->slave);
}

static void is_in_raw_mode(const Box *b)
{
	struct termios now;

	assert_int_equal(tcgetattr(b->slave, &now), 0);
	assert_false(now.c_lflag & (ICANON | ECHO));
}

static void a_key_ends_it(void **state)
{
	Box *b = *state;

	start(b, "xterm", "");
	await(b, 0, OPEN_SCREEN);
	await(b, 0, "q quits");
	is_in_raw_mode(b);
	type(b, "xyz\033[A\033[B");
	type(b, "q");
	ends(b, 0);
}

static void ctrl_c_ends_it(void **state)
{
	Box *b = *state;

	start(b, "xterm", "");
	await(b, 0, "q quits");
	type(b, "\003");
	ends(b, 0);
}

static void signals_end_it(void **state)
{
	static const int list[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };

	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		Box *b = *state;

		pm_str_clear(&b->out);
		start(b, "xterm", "");
		await(b, 0, "q quits");
		assert_int_equal(kill(b->pid, list[i]), 0);
		ends(b, 0);
	}
}

/* Ctrl-Z gives the screen and the modes back, and fg takes them again. */
static void it_can_be_stopped(void **state)
{
	Box *b = *state;
	struct termios now;
	size_t from;
	int status;

	start(b, "xterm", "");
	await(b, 0, "q quits");
	assert_int_equal(kill(b->pid, SIGTSTP), 0);
	await(b, 0, CLOSE_SCREEN);
	assert_int_equal(waitpid(b->pid, &status, WUNTRACED), b->pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(tcgetattr(b->slave, &now), 0);
	assert_int_equal(now.c_lflag, b->before.c_lflag);
	from = b->out.len;
	assert_int_equal(kill(b->pid, SIGCONT), 0);
	await(b, from, OPEN_SCREEN);
	await(b, from, "q quits");
	is_in_raw_mode(b);
	pm_str_clear(&b->out);
	type(b, "q");
	ends(b, 0);
}

static void it_follows_the_size(void **state)
{
	struct winsize size = { .ws_row = 6, .ws_col = 24 };
	Box *b = *state;

	start(b, "xterm", "");
	await(b, 0, "Nothing is being evaluated.");
	assert_int_equal(ioctl(b->fd, TIOCSWINSZ, &size), 0);
	await(b, 0, "Nothing is being evalu..");
	type(b, "q");
	ends(b, 0);
}

static void it_shows_what_changes(void **state)
{
	Box *b = *state;
	PmDb *db;
	PmRunningRow r = { .host = "other",
			   .pid = 7,
			   .began = 1,
			   .pass_path = "x/silu.so",
			   .device = "emu",
			   .stage = "variants",
			   .done = 3,
			   .total = 8,
			   .heartbeat = 4e9 };

	start(b, "xterm", "1");
	await(b, 0, "Nothing is being evaluated.");
	assert_int_equal(pm_db_open(b->path.s, 0, &db, NULL), PM_OK);
	assert_int_equal(pm_running_put(db, &r, NULL), PM_OK);
	await(b, 0, "3/8 variants");
	r.done = 4;
	assert_int_equal(pm_running_put(db, &r, NULL), PM_OK);
	await(b, 0, "4/8 variants");
	assert_int_equal(pm_running_drop(db, &r, NULL), PM_OK);
	pm_db_close(db);
	await(b, strlen(b->out.s), "Nothing is being evaluated.");
	assert_null(strstr(b->out.s, "\033[1m")); /* NO_COLOR */
	type(b, "q");
	ends(b, 0);
}

/* A database in which there is something to rank. */
static void store_a_result(const char *path)
{
	PmGraph *g = pm_test_graph("m (float[4] x) => (float[4] y) { y = Exp (x) }");
	PmTaskBuilder *t = pm_task_begin("one", "fusible");
	PmRunRow run = { .pass_path = "x/silu.so",
			 .pass_sha256 = "0",
			 .device = "emu",
			 .version = "0",
			 .options = "",
			 .started = 1 };
	PmResultRow row = { .verdict = "OK", .stage = "speed", .json = "{\"verdict\":\"OK\"}" };
	PmDb *db;

	assert_int_equal(pm_db_open(path, 0, &db, NULL), PM_OK);
	assert_int_equal(pm_task_add(t, g, "shape 0, float", 0, PM_F32, NULL), PM_OK);
	assert_int_equal(pm_task_end(t, db, &run.task, NULL, NULL), PM_OK);
	assert_int_equal(pm_run_put(db, &run, &row.run, NULL, NULL), PM_OK);
	row.task = run.task;
	assert_int_equal(pm_result_put(db, &row, NULL, NULL), PM_OK);
	pm_db_close(db);
	pm_graph_free(g);
}

/* A key that is there before the first run is read ends it without a board. */
static void it_can_be_ended_while_it_reads(void **state)
{
	Box *b = *state;

	store_a_result(b->path.s);
	start(b, "xterm", "");
	await(b, 0, "q quits");
	type(b, "q");
	ends(b, 0);
	pm_str_clear(&b->out);
	b->first_key = 'q';
	start(b, "xterm", "");
	ends(b, 0);
	assert_null(strstr(b->out.s, "q quits"));
}

static void it_is_coloured(void **state)
{
	Box *b = *state;

	start(b, "xterm", "");
	await(b, 0, "q quits");
	assert_non_null(strstr(b->out.s, "\033[1m"));
	type(b, "q");
	ends(b, 0);
}

/* The file goes, and another one comes: it says so, and goes on. */
static void the_file_may_come_again(void **state)
{
	Box *b = *state;
	PmDb *db;
	PmRunningRow r = { .host = "other",
			   .pid = 7,
			   .began = 1,
			   .pass_path = "x/silu.so",
			   .device = "emu",
			   .stage = "variants",
			   .done = 5,
			   .total = 8,
			   .heartbeat = 4e9 };

	start(b, "xterm", "");
	await(b, 0, "Nothing is being evaluated.");
	assert_int_equal(unlink(b->path.s), 0);
	await(b, 0, "exist;");
	assert_int_equal(pm_db_open(b->path.s, 0, &db, NULL), PM_OK);
	assert_int_equal(pm_running_put(db, &r, NULL), PM_OK);
	pm_db_close(db);
	await(b, 0, "5/8 variants");
	type(b, "q");
	ends(b, 0);
}

/* A terminal that cannot move its cursor gets lines, without a single escape. */
static void a_dumb_terminal_gets_lines(void **state)
{
	Box *b = *state;
	int status;

	start(b, "dumb", "");
	await(b, 0, "No result of a pass is stored.");
	type(b, "\003");
	assert_int_equal(waitpid(b->pid, &status, 0), b->pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_null(strchr(b->out.s, '\033'));
	close(b->fd);
	close(b->slave);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_key_ends_it),
		CASE(ctrl_c_ends_it),
		CASE(signals_end_it),
		CASE(it_can_be_stopped),
		CASE(it_follows_the_size),
		CASE(it_shows_what_changes),
		CASE(it_is_coloured),
		CASE(the_file_may_come_again),
		CASE(a_dumb_terminal_gets_lines),
		CASE(it_can_be_ended_while_it_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
