/* SPDX-License-Identifier: Apache-2.0 */
/* test_monitor.c - what passmith watch shows: text of strangers in columns, ages of heartbeats, lines. */
#include "app/monitor/screen.h"
#include "app/monitor/text.h"
#include "base/core/rng.h"
#include "base/core/str.h"
#include "base/sys/io.h"
#include "dataset/store/running.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>

/* ---- text ---- */

static void fits(const char *s, int columns, int right, const char *wanted)
{
	PmStr out = PM_STR_INIT;

	pm_text_fit(s, columns, right, &out);
	assert_string_equal(out.s, wanted);
	pm_str_release(&out);
}

static void names_fill_their_columns(void **state)
{
	(void)state;
	fits("silu", 6, 0, "silu  ");
	fits("silu", 6, 1, "  silu");
	fits("silu", 4, 0, "silu");
	fits("bias_gelu", 6, 0, "bias..");
	fits("silu", 2, 0, "si");
	fits("silu", 0, 0, "");
	fits("silu", -3, 0, "");
	fits("", 2, 0, "  ");
	fits("\xe6\x97\xa5\xe6\x9c\xac", 5, 0, "\xe6\x97\xa5\xe6\x9c\xac "); /* two columns each */
	fits("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 5, 0, "\xe6\x97\xa5.. ");
	fits("a\xcc\x81z", 4, 0, "a?z "); /* a combining mark */
	fits("\033[2Jx\xe2\x80\xaey\xff", 9, 0, " [2Jx?y? ");
	assert_int_equal(pm_text_columns("\xe6\x97\xa5x", 80), 3);
	assert_int_equal(pm_text_columns("abc", 2), 2);
}

/* What a terminal would show of bytes that are our own (attributes left out), in columns; -1 for anything
 * that moves the cursor or has no columns. */
static int columns_of(const char *s)
{
	int n = 0;

	while (*s) {
		wchar_t c;
		int len, w;

		if (*s == '\033') {
			s += strcspn(s, "m");
			s += *s == 'm';
			continue;
		}
		len = mbtowc(&c, s, MB_CUR_MAX);
		w = len > 0 ? wcwidth(c) : -1;
		if (w < 1)
			return -1;
		n += w;
		s += len;
	}
	return n;
}

static void random_bytes_are_as_wide_as_asked(void **state)
{
	PmRng rng;

	(void)state;
	pm_rng_init(&rng, 22);
	for (int round = 0; round < 3000; round++) {
		char s[48] = "";
		int columns = (int)pm_rng_range(&rng, 1, 40);
		PmStr out = PM_STR_INIT;

		for (size_t i = 0; i + 1 < sizeof s; i++)
			s[i] = (char)pm_rng_range(&rng, 1, 255);
		pm_text_fit(s, columns, round & 1, &out);
		assert_int_equal(columns_of(out.s), columns);
		assert_null(strchr(out.s, '\033'));
		pm_str_release(&out);
	}
}

/* ---- boards ---- */

typedef struct Box {
	PmStr dir, path;
	PmDb *db;
	PmMonitor board;
} Box;

static int set_up(void **state)
{
	static Box b;

	memset(&b, 0, sizeof b);
	pm_str_init(&b.dir);
	pm_str_init(&b.path);
	assert_int_equal(pm_temp_dir("monitor", &b.dir, NULL), PM_OK);
	pm_path_join(b.dir.s, "set.db", &b.path);
	assert_int_equal(pm_db_open(b.path.s, 0, &b.db, NULL), PM_OK);
	*state = &b;
	return 0;
}

static int tear_down(void **state)
{
	Box *b = *state;

	pm_monitor_release(&b->board);
	pm_db_close(b->db);
	assert_int_equal(pm_remove_tree(b->dir.s, NULL), PM_OK);
	pm_str_release(&b->dir);
	pm_str_release(&b->path);
	return 0;
}

static void beat(Box *b, int64_t pid, int64_t done, double heartbeat)
{
	const PmRunningRow r = { .host = "other",
				 .pid = pid,
				 .began = 1000,
				 .pass_path = "/x/silu.so",
				 .device = "emu",
				 .stage = "variants",
				 .done = done,
				 .total = 10,
				 .heartbeat = heartbeat };

	assert_int_equal(pm_running_put(b->db, &r, NULL), PM_OK);
}

static const PmMonitorWork *look(Box *b, double now, double wall)
{
	PmErr err;

	pm_err_init(&err);
	if (pm_monitor_read(&b->board, b->db, now, wall, &err))
		fail_msg("%s", err.text);
	assert_int_equal(b->board.work.n, 1);
	return &b->board.work.v[0];
}

static void silence_is_told_by_the_age_of_the_heartbeat(void **state)
{
	Box *b = *state;
	const PmMonitorWork *w;

	beat(b, 7, 0, 1000);
	w = look(b, 50, 1010);
	assert_float_equal(w->silent, 10, 1e-9);
	assert_false(pm_monitor_is_silent(w));
	assert_int_equal(pm_monitor_n_running(&b->board), 1);
	w = look(b, 70, 1030);
	assert_true(pm_monitor_is_silent(w));
	assert_int_equal(pm_monitor_n_running(&b->board), 0);
	beat(b, 7, 1, 1031);
	w = look(b, 71, 1031);
	assert_false(pm_monitor_is_silent(w));
}

/* The other host's clock is an hour behind, or ahead. */
static void clocks_of_two_hosts_may_differ(void **state)
{
	Box *b = *state;
	const PmMonitorWork *w;

	beat(b, 7, 0, 1000);
	w = look(b, 50, 4600);
	assert_true(pm_monitor_is_silent(w)); /* nothing better is known yet */
	beat(b, 7, 1, 1005);
	w = look(b, 55, 4605);
	assert_false(pm_monitor_is_silent(w));
	assert_float_equal(w->silent, 0, 1e-9);
	w = look(b, 60, 4610);
	assert_float_equal(w->silent, 5, 1e-9);
	w = look(b, 85, 4635);
	assert_true(pm_monitor_is_silent(w));
	beat(b, 7, 2, 9000);
	w = look(b, 86, 4636);
	assert_float_equal(w->silent, 0, 1e-9);
}

static void the_time_left_follows_from_what_was_seen(void **state)
{
	Box *b = *state;
	const PmMonitorWork *w;

	beat(b, 7, 4, 1000); /* 4 were stored before */
	w = look(b, 50, 1000);
	assert_true(isnan(pm_monitor_left(w, 50)));
	beat(b, 7, 6, 1010);
	w = look(b, 60, 1010);
	assert_float_equal(pm_monitor_left(w, 60), 20, 1e-9); /* 2 in 10 seconds, 4 to do */
}

static void lines_of(const Box *b, int width, int colour, int timeless, PmLines *out)
{
	PmScreenOpts o = { .path = "/somewhere/set.db",
			   .notice = "Database 'set.db': cannot read it.",
			   .width = width,
			   .colour = colour,
			   .timeless = timeless,
			   .now = 90,
			   .wall = 1040 };

	pm_screen_lines(&b->board, &o, out);
}

static void no_line_is_wider_than_the_screen(void **state)
{
	static const char bad[] = "\033]0;owned\a\033[2J\xe2\x80\xae"
				  "evil\xe6\x97\xa5<script>\r\n\t\xff";
	Box *b = *state;
	PmStr name = PM_STR_INIT;
	PmRunningRow r = { .host = bad,
			   .pid = 1,
			   .began = 1000,
			   .device = bad,
			   .stage = bad,
			   .total = 3,
			   .heartbeat = 1000 };

	while (name.len < 10000)
		pm_str_add(&name, bad);
	r.pass_path = name.s;
	assert_int_equal(pm_running_put(b->db, &r, NULL), PM_OK);
	look(b, 90, 1040);
	for (int width = 1; width < 200; width++)
		for (int colour = 0; colour < 2; colour++) {
			PmLines lines = { 0 };

			lines_of(b, width, colour, 0, &lines);
			assert_true(lines.n > 3);
			for (size_t i = 0; i < lines.n; i++) {
				int n = columns_of(lines.v[i]);

				assert_true(n >= 0 &&
					    n <= (width < PM_SCREEN_MIN_WIDTH ? PM_SCREEN_MIN_WIDTH : width));
				assert_true(colour || !strchr(lines.v[i], '\033'));
				assert_null(strstr(lines.v[i], "\033["
							       "2J"));
			}
			pm_screen_release(&lines);
		}
	pm_str_release(&name);
}

static char *text_of(const Box *b, int width, int timeless)
{
	PmLines lines = { 0 };
	PmStr s = PM_STR_INIT;

	lines_of(b, width, 0, timeless, &lines);
	for (size_t i = 0; i < lines.n; i++)
		pm_str_addf(&s, "%s\n", lines.v[i]);
	pm_screen_release(&lines);
	return pm_str_detach(&s, NULL);
}

static void a_board_reads_as_it_should(void **state)
{
	Box *b = *state;
	char *s;

	beat(b, 7, 4, 1000);
	look(b, 80, 1030);
	s = text_of(b, 80, 0);
	assert_string_equal(
		s, "set.db  0 running, 1 silent                              1970-01-01 00:17:20 UTC\n"
		   "Database 'set.db': cannot read it.\n"
		   "\n"
		   "other       silu (emu)            [###.....]  4/10 variants       silent 30s\n"
		   "\n"
		   "No result of a pass is stored.\n");
	free(s);
	s = text_of(b, 80, 1);
	assert_null(strstr(s, "30s"));
	assert_null(strstr(s, "UTC"));
	free(s);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_fill_their_columns),
		cmocka_unit_test(random_bytes_are_as_wide_as_asked),
		CASE(silence_is_told_by_the_age_of_the_heartbeat),
		CASE(clocks_of_two_hosts_may_differ),
		CASE(the_time_left_follows_from_what_was_seen),
		CASE(no_line_is_wider_than_the_screen),
		CASE(a_board_reads_as_it_should),
	};

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 99;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
