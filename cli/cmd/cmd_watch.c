/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_watch.c - passmith watch: evaluations that go on and how passes rank, as it changes. */
#include "app/monitor/screen.h"
#include "base/sys/proc.h"
#include "cli/cmds.h"
#include "cli/term.h"
#include "dataset/store/db.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Watch {
	const char *path;
	double interval;
	PmDb *db;
	dev_t dev; /* of the file that is open: another one may take its name */
	ino_t ino;
	PmMonitor board;
	PmErr notice; /* why the last reading failed; "" = it did not */
	PmStr last;   /* what was printed last, without times */
	int top;      /* first line that is shown */
	PmTerm *term; /* asked for keys and signals while it reads; NULL = none */
	int quits;    /* one of them asked to end */
} Watch;

/* ---- reading ---- */

static void close_db(Watch *w)
{
	pm_db_close(w->db);
	w->db = NULL;
	w->board.is_read = 0; /* versions of data are those of a connection */
}

static PmStatus open_db(Watch *w, unsigned flags, PmErr *err)
{
	struct stat s;
	PmStatus st = pm_db_open(w->path, PM_DB_READ_ONLY | flags, &w->db, err);

	if (!st && !stat(w->path, &s)) {
		w->dev = s.st_dev;
		w->ino = s.st_ino;
	}
	return st;
}

/* Whether the name still stands for the file that is open. */
static int is_open(const Watch *w)
{
	struct stat s;

	return w->db && !stat(w->path, &s) && s.st_dev == w->dev && s.st_ino == w->ino;
}

/* Reads what is new. What cannot be read now is tried again by the next call: the board stays, and says so.
 */
static void refresh(Watch *w)
{
	PmStatus st = PM_OK;

	pm_err_init(&w->notice);
	if (!is_open(w)) {
		close_db(w);
		st = open_db(w, PM_DB_IMPATIENT, &w->notice);
	}
	if (!st)
		st = pm_monitor_read(&w->board, w->db, pm_now(), pm_wall_clock(), &w->notice);
	if (st) {
		pm_monitor_age(&w->board, pm_now(), pm_wall_clock());
		close_db(w);
	}
}

static void draw(const Watch *w, int width, int colour, int timeless, PmLines *out)
{
	PmScreenOpts o = { .path = w->path,
			   .notice = *w->notice.text ? w->notice.text : NULL,
			   .width = width,
			   .colour = colour,
			   .timeless = timeless,
			   .now = pm_now(),
			   .wall = pm_wall_clock() };

	pm_screen_lines(&w->board, &o, out);
}

/* ---- a screen ---- */

/* The whole frame is one write. Each line is emptied before it is written, so that nothing flickers. */
static int paint(Watch *w)
{
	int width, height, most;
	PmLines lines = { 0 };
	PmStr out = PM_STR_INIT;
	int ok;

	pm_term_size(&width, &height);
	draw(w, width, pm_term_has_colour(), 0, &lines);
	most = (int)lines.n - (height - 1);
	w->top = w->top > most ? most : w->top;
	w->top = w->top < 0 ? 0 : w->top;
	pm_str_add(&out, "\033[H");
	for (int i = 0; i < height - 1; i++) {
		size_t k = (size_t)(w->top + i);

		pm_str_addf(&out, "\033[2K%s\r\n", k < lines.n ? lines.v[k] : "");
	}
	pm_str_add(&out, "\033[2K");
	if (most > 0)
		pm_str_addf(&out, "%.*s", width, "q quits; up and down: more lines");
	else
		pm_str_addf(&out, "%.*s", width, "q quits");
	ok = pm_term_write(out.s, out.len);
	pm_str_release(&out);
	pm_screen_release(&lines);
	return ok;
}

/* A reading may take seconds: it ends when somebody wants to. */
static int wants_to_quit(void *arg)
{
	Watch *w = arg;

	w->quits |= pm_term_wait(w->term, 0) == PM_TERM_QUIT;
	return w->quits;
}

static void on_screen(Watch *w, PmTerm *t)
{
	static const char first[] =
		"\033[H\033[2KReading the database."; /* of a large one it takes seconds */
	PmTermEvent e = PM_TERM_TIME;
	double next = pm_now();

	pm_term_write(first, sizeof first - 1);
	while (e != PM_TERM_QUIT) {
		if (pm_now() >= next) {
			refresh(w);
			next = pm_now() + w->interval;
		}
		if (w->quits || !paint(w))
			return;
		e = pm_term_wait(t, fmax(0, next - pm_now()));
		w->top += e == PM_TERM_DOWN ? 1 : e == PM_TERM_UP ? -1 : 0;
	}
}

/* ---- lines ---- */

static void join(const PmLines *lines, PmStr *out)
{
	for (size_t i = 0; i < lines->n; i++)
		pm_str_addf(out, "%s\n", lines->v[i]);
}

static void add_text(const Watch *w, int timeless, PmStr *out)
{
	PmLines lines = { 0 };
	int width, height;

	pm_term_size(&width, &height);
	draw(w, width, 0, timeless, &lines);
	join(&lines, out);
	pm_screen_release(&lines);
}

/* A snapshot when it says something new. */
static int print_change(Watch *w)
{
	PmStr now = PM_STR_INIT, text = PM_STR_INIT;
	int ok = 1, changed;

	add_text(w, 1, &now);
	changed = strcmp(now.s, w->last.s) != 0;
	if (changed) {
		add_text(w, 0, &text);
		pm_str_addc(&text, '\n');
		ok = pm_term_write(text.s, text.len);
	}
	pm_str_release(&text);
	pm_str_release(&w->last);
	w->last = now;
	return ok;
}

static void as_lines(Watch *w, PmTerm *t)
{
	do
		refresh(w);
	while (!w->quits && print_change(w) && pm_term_wait(t, w->interval) != PM_TERM_QUIT);
}

/* ---- the command ---- */

static PmStatus once(Watch *w, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	cJSON *j;
	PmStatus st = open_db(w, 0, err);

	if (!st)
		st = pm_monitor_read(&w->board, w->db, pm_now(), pm_wall_clock(), err);
	if (st)
		return st;
	if (pm_cli_json) {
		j = pm_monitor_json(&w->board);
		cJSON_AddStringToObject(j, "database", w->path);
		cJSON_AddNumberToObject(j, "at", pm_wall_clock());
		pm_cli_put_json(j);
	} else {
		add_text(w, 0, &text);
		fputs(text.s, stdout);
	}
	pm_str_release(&text);
	return PM_OK;
}

/* Until somebody ends it. A database that is locked just now is waited for; one that cannot be read at all is
 * said at once. */
static PmStatus go_on(Watch *w, PmErr *err)
{
	PmTerm t;
	PmStatus st = open_db(w, PM_DB_IMPATIENT, err);

	if (st && st != PM_E_TIMEOUT)
		return st;
	pm_term_enter(&t, pm_term_has_screen());
	w->term = &t;
	w->board.rankings.stop = wants_to_quit;
	w->board.rankings.stop_arg = w;
	if (t.is_screen)
		on_screen(w, &t);
	else
		as_lines(w, &t);
	pm_term_leave(&t);
	return PM_OK;
}

int pm_cmd_watch(const PmCmd *cmd, int argc, char **argv)
{
	Watch w = { .interval = 1 };
	int just_once = 0, code = 0;
	const PmOpt opts[] = {
		{ "--db", PM_OPT_STR, &w.path, "the database" },
		{ "--once", PM_OPT_FLAG, &just_once, "print what it says now, and end" },
		{ "--interval", PM_OPT_NUM, &w.interval, "seconds between two readings (default 1)" },
		{ 0 },
	};
	PmStrList args = { 0 };
	PmErr err;

	pm_err_init(&err);
	pm_str_init(&w.last);
	if (pm_args_parse(cmd, opts, argc, argv, &args, &code)) {
		if (!w.path || args.list.n)
			code = pm_cli_usage(cmd, "Say which database with --db FILE, and nothing else.");
		else if (w.interval < 0.1 || w.interval > 3600)
			code = pm_cli_usage(cmd, "--interval takes seconds from 0.1 to 3600.");
		else if ((just_once || pm_cli_json ? once : go_on)(&w, &err))
			code = pm_cli_fail(&err);
	}
	pm_monitor_release(&w.board);
	pm_db_close(w.db);
	pm_str_release(&w.last);
	PM_VEC_RELEASE(&args.list);
	return code;
}
