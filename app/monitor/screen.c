/* SPDX-License-Identifier: Apache-2.0 */
/* screen.c - a board as lines of text. */
#include "app/monitor/screen.h"

#include "app/monitor/text.h"
#include "base/core/clean.h"
#include "base/sys/io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PLAIN, BOLD, DIM, GREEN, YELLOW, RED };

/* A line in the making: what is added behind the right edge is not there. */
typedef struct Line {
	const PmScreenOpts *o;
	PmStr s;
	int used; /* columns */
} Line;

static Line line_begin(const PmScreenOpts *o)
{
	Line l = { .o = o };

	pm_str_init(&l.s);
	return l;
}

/* `s` in so many columns, or fewer where the line ends. */
static void add(Line *l, int style, const char *s, int columns, int right)
{
	static const char *const attributes[] = {
		"", "\033[1m", "\033[2m", "\033[32m", "\033[33m", "\033[31m"
	};
	int room = l->o->width - l->used;
	int styled = l->o->colour && style != PLAIN;

	columns = columns < room ? columns : room;
	if (columns <= 0)
		return;
	if (styled)
		pm_str_add(&l->s, attributes[style]);
	pm_text_fit(s, columns, right, &l->s);
	if (styled)
		pm_str_add(&l->s, "\033[0m");
	l->used += columns;
}

/* As many columns as it needs. */
static void say(Line *l, int style, const char *s)
{
	add(l, style, s, pm_text_columns(s, l->o->width), 0);
}

/* Blanks at the end say nothing. */
static void line_end(Line *l, PmLines *out)
{
	while (l->s.len && l->s.s[l->s.len - 1] == ' ')
		l->s.s[--l->s.len] = '\0';
	PM_VEC_PUSH(out, pm_str_detach(&l->s, NULL));
}

static void put(const PmScreenOpts *o, int style, const char *s, PmLines *out)
{
	Line l = line_begin(o);

	say(&l, style, s);
	line_end(&l, out);
}

static void span(double seconds, char *out, size_t size)
{
	long s = seconds < 8640000 ? lround(seconds) : 8640000;

	if (s < 60)
		snprintf(out, size, "%lds", s);
	else if (s < 3600)
		snprintf(out, size, "%ldm%02lds", s / 60, s % 60);
	else if (s < 86400)
		snprintf(out, size, "%ldh%02ldm", s / 3600, s / 60 % 60);
	else
		snprintf(out, size, "%ldd%02ldh", s / 86400, s / 3600 % 24);
}

/* A sentence in as many lines as it needs; a word that is longer than a line is cut. */
static void put_sentence(const PmScreenOpts *o, int style, const char *s, PmLines *out)
{
	PmStr line = PM_STR_INIT, word = PM_STR_INIT;
	size_t n;

	for (; *s; s += n + strspn(s + n, " ")) {
		n = strcspn(s, " ");
		pm_str_clear(&word);
		pm_str_addn(&word, s, n);
		if (line.len &&
		    pm_text_columns(line.s, o->width) + 1 + pm_text_columns(word.s, o->width) > o->width) {
			put(o, style, line.s, out);
			pm_str_clear(&line);
		}
		pm_str_addf(&line, "%s%s", line.len ? " " : "", word.s);
	}
	put(o, style, line.s, out);
	pm_str_release(&line);
	pm_str_release(&word);
}

/* ---- head ---- */

static void add_head(const PmMonitor *b, const PmScreenOpts *o, PmLines *out)
{
	size_t running = pm_monitor_n_running(b), silent = 0;
	Line l = line_begin(o);
	char text[64] = "", clock[40] = "";
	time_t t = (time_t)o->wall;
	struct tm tm;
	int room;

	for (size_t i = 0; i < b->work.n; i++)
		silent += (size_t)pm_monitor_is_silent(&b->work.v[i]);
	if (!o->timeless && gmtime_r(&t, &tm))
		strftime(clock, sizeof clock, "%Y-%m-%d %H:%M:%S UTC", &tm);
	snprintf(text, sizeof text, "  %zu running", running);
	if (silent)
		snprintf(text + strlen(text), sizeof text - strlen(text), ", %zu silent", silent);
	room = o->width - (int)strlen(text) - (int)strlen(clock) - 2;
	room = room < 12 ? o->width : room;
	say(&l, BOLD, pm_path_base(o->path));
	if (pm_text_columns(pm_path_base(o->path), o->width) > room) { /* the name gives way */
		pm_str_clear(&l.s);
		l.used = 0;
		add(&l, BOLD, pm_path_base(o->path), room, 0);
	}
	say(&l, PLAIN, text);
	if (l.used + 2 + (int)strlen(clock) <= o->width)
		add(&l, DIM, clock, o->width - l.used, 1);
	line_end(&l, out);
	if (o->notice)
		put_sentence(o, YELLOW, o->notice, out);
	put(o, PLAIN, "", out);
}

/* ---- work ---- */

enum { HOST = 10, COUNT = 20, BAR = 12, TIMES = 14 };

static void name_work(const PmMonitorWork *w, PmStr *out)
{
	const char *pass = pm_path_base(w->pass_path);
	int n = (int)strlen(pass) - (pm_str_ends(pass, ".so") ? 3 : 0);

	if (w->parent)
		pm_str_add(out, "  ");
	if (!*w->pass_path) {
		pm_str_addf(out, "all %s (%s)", w->stage, w->device);
		return;
	}
	pm_str_addf(out, "%.*s%s%s", n, pass, *w->task_name ? " on " : "", w->task_name);
	if (!w->parent)
		pm_str_addf(out, " (%s)", w->device);
}

static void add_bar(Line *l, const PmMonitorWork *w, int style)
{
	char bar[BAR];
	int inner = BAR - 4, full = 0;

	if (w->total > 0)
		full = (int)((double)(w->done < w->total ? w->done : w->total) / (double)w->total * inner);
	bar[0] = '[';
	for (int i = 0; i < inner; i++)
		bar[1 + i] = i < full ? '#' : '.';
	bar[1 + inner] = ']';
	bar[2 + inner] = '\0';
	add(l, style, bar, BAR, 0);
}

static void add_work(const PmMonitorWork *w, const PmScreenOpts *o, PmLines *out)
{
	int silent = pm_monitor_is_silent(w), style = silent ? YELLOW : PLAIN;
	int bar = o->width >= 80 ? BAR : 0, host = o->width >= 52 ? HOST + 2 : 0;
	int times = o->width >= 60 ? TIMES : 0, what = o->width - host - bar - COUNT - times;
	double left = pm_monitor_left(w, o->now);
	Line l = line_begin(o);
	PmStr name = PM_STR_INIT;
	char text[64], age[24];

	name_work(w, &name);
	if (host) {
		add(&l, style, w->parent ? "" : w->host, HOST, 0);
		add(&l, PLAIN, "", 2, 0);
	}
	add(&l, style, name.s, what < 10 ? 10 : what - 1, 0);
	add(&l, PLAIN, "", 1, 0);
	if (bar)
		add_bar(&l, w, silent ? YELLOW : GREEN);
	snprintf(text, sizeof text, "%lld/%lld %s", (long long)w->done, (long long)w->total, w->stage);
	add(&l, style, text, COUNT, 0);
	*text = '\0';
	if (silent && o->timeless) {
		snprintf(text, sizeof text, "silent");
	} else if (silent) {
		span(w->silent, age, sizeof age);
		snprintf(text, sizeof text, "silent %s", age);
	} else if (!o->timeless && isfinite(left)) {
		span(left, age, sizeof age);
		snprintf(text, sizeof text, "%s left", age);
	} else if (!o->timeless) {
		span(fmax(0, o->wall - w->began), age, sizeof age);
		snprintf(text, sizeof text, "for %s", age);
	}
	add(&l, style, text, TIMES, 0);
	line_end(&l, out);
	pm_str_release(&name);
}

/* ---- rankings ---- */

/* A column of figures: where the line is too narrow, those that can be spared first are not there. */
typedef struct Column {
	const char *title;
	int columns, from; /* least width of the screen that has it */
} Column;

enum { PLACE, MOVED, RESULTS, RIGHT, APPLIED, FASTER, SPEEDUP, AS, N_COLUMNS };
static const Column column[N_COLUMNS] = {
	[PLACE] = { "", 4, 0 },
	[MOVED] = { "", 5, 60 },
	[RESULTS] = { "results", 11, 40 },
	[RIGHT] = { "right", 8, 52 },
	[APPLIED] = { "applied", 9, 76 },
	[FASTER] = { "faster", 8, 68 },
	[SPEEDUP] = { "speedup", 9, 46 },
	[AS] = { "AS", 8, 0 },
};

static int columns_of(int c, const PmScreenOpts *o)
{
	return o->width >= column[c].from ? column[c].columns : 0;
}

/* What is left for the name. */
static int name_columns(const PmScreenOpts *o)
{
	enum { MOST = 48, LEAST = 6 };
	int n = o->width;

	for (int c = 0; c < N_COLUMNS; c++)
		n -= columns_of(c, o);
	return n < LEAST ? LEAST : n > MOST ? MOST : n;
}

static void add_title(const PmRanking *g, const PmScreenOpts *o, PmLines *out)
{
	PmStr s = PM_STR_INIT;
	Line l = line_begin(o);

	pm_str_addf(&s, "Ranking on %s by %s: %zu task%s, %zu variants", g->device,
		    g->clock == PM_SYS_MODELLED ? "modelled time" : "GPU time, caches cold", g->n_tasks,
		    g->n_tasks == 1 ? "" : "s", g->n_variants);
	put(o, BOLD, s.s, out);
	pm_str_clear(&s);
	pm_str_addf(&s, "version %s, seed %llu, %s; %s", g->version, (unsigned long long)g->seed, g->options,
		    *g->machine ? g->machine : "machine not known");
	put(o, DIM, s.s, out);
	add(&l, DIM, "", columns_of(PLACE, o) + columns_of(MOVED, o), 0);
	add(&l, DIM, "system", name_columns(o), 0);
	for (int c = RESULTS; c < N_COLUMNS; c++)
		add(&l, DIM, column[c].title, columns_of(c, o), 1);
	line_end(&l, out);
	pm_str_release(&s);
}

static void number(double v, char *out, size_t size)
{
	if (isfinite(v))
		snprintf(out, size, "%.3f", v);
	else
		snprintf(out, size, "-");
}

static void add_ranked(const PmRanking *g, size_t i, const PmScreenOpts *o, PmLines *out)
{
	const PmRanked *s = &g->list.v[i];
	Line l = line_begin(o);
	char text[N_COLUMNS][48];
	int name = name_columns(o), moved = s->rose > 0 ? GREEN : s->rose < 0 ? RED : PLAIN;

	snprintf(text[PLACE], sizeof *text, "%zu ", i + 1);
	snprintf(text[MOVED], sizeof *text, "%s", s->is_new ? "new" : "");
	if (s->rose)
		snprintf(text[MOVED], sizeof *text, "%+d", s->rose);
	snprintf(text[RESULTS], sizeof *text, "%zu/%zu", s->n_results, g->n_variants);
	snprintf(text[RIGHT], sizeof *text, "%zu", s->fig.n_right);
	snprintf(text[APPLIED], sizeof *text, "%zu", s->fig.n_matched);
	snprintf(text[FASTER], sizeof *text, "%zu", s->fig.n_faster);
	number(s->fig.gmean.point, text[SPEEDUP], sizeof *text);
	number(s->fig.score.as, text[AS], sizeof *text);
	add(&l, PLAIN, text[PLACE], columns_of(PLACE, o), 1);
	add(&l, moved, text[MOVED], columns_of(MOVED, o), 0);
	add(&l, PLAIN, s->name, name, 0);
	for (int c = RESULTS; c < N_COLUMNS; c++)
		add(&l, c == AS ? BOLD : PLAIN, text[c], columns_of(c, o), 1);
	line_end(&l, out);
}

void pm_screen_lines(const PmMonitor *b, const PmScreenOpts *options, PmLines *out)
{
	PmScreenOpts o = *options;

	if (o.width < PM_SCREEN_MIN_WIDTH)
		o.width = PM_SCREEN_MIN_WIDTH;
	add_head(b, &o, out);
	for (size_t i = 0; i < b->work.n; i++)
		add_work(&b->work.v[i], &o, out);
	if (!b->work.n)
		put(&o, PLAIN, "Nothing is being evaluated.", out);
	for (size_t i = 0; i < b->rankings.list.n; i++) {
		const PmRanking *g = &b->rankings.list.v[i];

		put(&o, PLAIN, "", out);
		add_title(g, &o, out);
		for (size_t k = 0; k < g->list.n; k++)
			add_ranked(g, k, &o, out);
	}
	if (!b->rankings.list.n) {
		put(&o, PLAIN, "", out);
		put(&o, PLAIN, "No result of a pass is stored.", out);
	}
}

void pm_screen_release(PmLines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->v[i]);
	PM_VEC_RELEASE(lines);
}
