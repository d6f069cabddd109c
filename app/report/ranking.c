/* SPDX-License-Identifier: Apache-2.0 */
/* ranking.c - a board as a section of a report: who is best, by how much, and where. */
#include "app/report/figures.h"
#include "app/report/put.h"
#include "app/report/section.h"
#include "app/report/tables.h"
#include "bench/report/systems_report.h"
#include "draw/html/frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_T = -5 }; /* the level that is shown at first, as page.js has it */

/* ---- filters ---- */

static void open_choice(PmHtml *h, size_t board, const char *kind, const char *label)
{
	pm_html_el(h, PM_EL_label);
	pm_html_textf(h, "%s ", label);
	pm_html_el(h, PM_EL_select);
	pm_html_atf(h, PM_AT_id, "b%zu-%s", board, kind);
	pm_html_at(h, PM_AT_data_filter, kind);
}

static void close_choice(PmHtml *h)
{
	pm_html_end(h, PM_EL_select);
	pm_html_end(h, PM_EL_label);
	pm_html_text(h, "\n");
}

static void put_option(PmHtml *h, const char *value, const char *text)
{
	pm_html_el(h, PM_EL_option);
	pm_html_at(h, PM_AT_value, value);
	pm_html_text(h, text);
	pm_html_end(h, PM_EL_option);
}

static void put_clocks(const PmBoard *b, size_t board, PmHtml *h)
{
	open_choice(h, board, "clock", "Clock");
	for (PmSysClock c = 0; c < PM_N_SYS_CLOCKS; c++)
		if (pm_systems_has_clock(&b->table, c))
			put_option(h, pm_sys_clock_name(c), pm_sys_clock_title(c));
	close_choice(h);
}

static void put_groups(const PmBoard *b, size_t board, PmHtml *h)
{
	open_choice(h, board, "category", "Category");
	put_option(h, "", "all");
	for (PmCategory c = 0; c < PM_N_CATEGORIES; c++)
		if (pm_systems_count_group(&b->table, &(PmSysGroup){ c, -1 }))
			put_option(h, pm_category_name(c), pm_category_name(c));
	close_choice(h);
	open_choice(h, board, "dtype", "Element type");
	put_option(h, "", "all");
	for (int d = 0; d < PM_N_DTYPES; d++)
		if (pm_systems_count_group(&b->table, &(PmSysGroup){ PM_N_CATEGORIES, d }))
			put_option(h, pm_dtype_name(d), pm_dtype_name(d));
	close_choice(h);
}

static void put_level(size_t board, PmHtml *h)
{
	pm_html_el(h, PM_EL_label);
	pm_html_text(h, "Level t ");
	pm_html_el(h, PM_EL_input);
	pm_html_atf(h, PM_AT_id, "b%zu-t", board);
	pm_html_at(h, PM_AT_data_filter, "t");
	pm_html_at(h, PM_AT_type, "range");
	pm_html_atf(h, PM_AT_min, "%d", PM_T_MIN);
	pm_html_atf(h, PM_AT_max, "%d", PM_SCORE_T_MAX);
	pm_html_at(h, PM_AT_step, "1");
	pm_html_atf(h, PM_AT_value, "%d", FIRST_T);
	pm_html_at(h, PM_AT_autocomplete, "off");
	pm_html_putf(h, PM_EL_output, NULL, "%d", FIRST_T);
	pm_html_end(h, PM_EL_label);
	pm_html_text(h, "\n");
}

/* Without a script they would do nothing: it shows them. */
static void put_filters(const PmBoard *b, size_t board, PmHtml *h)
{
	pm_html_el(h, PM_EL_div);
	pm_html_at(h, PM_AT_class, "filters");
	pm_html_at(h, PM_AT_hidden, "");
	pm_html_el(h, PM_EL_label);
	pm_html_text(h, "Search ");
	pm_html_el(h, PM_EL_input);
	pm_html_atf(h, PM_AT_id, "b%zu-q", board);
	pm_html_at(h, PM_AT_data_filter, "q");
	pm_html_at(h, PM_AT_type, "search");
	pm_html_at(h, PM_AT_autocomplete, "off");
	pm_html_end(h, PM_EL_label);
	pm_html_text(h, "\n");
	put_groups(b, board, h);
	put_clocks(b, board, h);
	put_level(board, h);
	pm_html_el(h, PM_EL_p);
	pm_html_at(h, PM_AT_class, "count");
	pm_html_at(h, PM_AT_role, "status");
	pm_html_end(h, PM_EL_p);
	pm_html_end(h, PM_EL_div);
}

/* ---- the table ---- */

static void put_heads(const PmBoard *b, PmHtml *h)
{
	pm_html_el(h, PM_EL_thead);
	pm_html_el(h, PM_EL_tr);
	pm_put_head(h, "name", "System", "");
	pm_put_head(h, "as", "AS", "the score: speedup that counts errors, over all levels");
	pm_put_head(h, "es", "ES(-5)", "speedup that counts the errors not tolerated at level t");
	for (PmSysClock c = 0; c < PM_N_SYS_CLOCKS; c++)
		if (pm_systems_has_clock(&b->table, c)) {
			char key[32], text[48];

			snprintf(key, sizeof key, "gmean %s", pm_sys_clock_name(c));
			snprintf(text, sizeof text, "Speedup, %s", pm_sys_clock_name(c));
			pm_put_head(h, key, text, "geometric mean over what is right, and its 95 % interval");
		}
	pm_put_head(h, "fast", "fast_1", "share of graphs that are right and faster");
	pm_put_head(h, "right", "Right", "graphs that are right at level -5 or stricter");
	pm_put_head(h, "changed", "Changed", "graphs on which it replaced something");
	pm_put_head(h, "worst", "Worst", "the least speedup of what is right");
	pm_put_head(h, "roofline", "Roofline %", "median share of what the hardware allows");
	pm_put_head(h, "", "Verdicts", "");
	pm_html_end(h, PM_EL_tr);
	pm_html_end(h, PM_EL_thead);
}

static void put_verdicts(const PmBoard *b, size_t k, PmHtml *h)
{
	size_t n[PM_N_VERDICTS] = { 0 }, hidden = 0;

	for (size_t i = 0; i < b->table.graphs.n; i++) {
		const PmBoardCell *c = pm_board_cell(b, i, k);

		if (c->has)
			n[c->verdict]++;
		hidden += c->hidden != 0;
	}
	pm_html_el(h, PM_EL_td);
	pm_html_at(h, PM_AT_class, "badges");
	for (PmVerdict v = 0; v < PM_N_VERDICTS; v++)
		if (n[v])
			pm_put_verdict(h, v, n[v]);
	if (hidden) {
		pm_html_el(h, PM_EL_span);
		pm_html_at(h, PM_AT_class, "badge bad");
		pm_html_at(h, PM_AT_title,
			   "right on the variants, and wrong on a shape that was drawn after the pass was "
			   "there");
		pm_html_textf(h, "hidden shapes %zu", hidden);
		pm_html_end(h, PM_EL_span);
	}
	pm_html_end(h, PM_EL_td);
}

static void put_name(const PmBoard *b, size_t k, PmHtml *h)
{
	const PmBoardSystem *s = &b->system[k];

	pm_html_el(h, PM_EL_th);
	pm_html_at(h, PM_AT_scope, "row");
	pm_html_at(h, PM_AT_data_key, "name");
	pm_html_at(h, PM_AT_title, s->path);
	pm_html_text(h, b->table.name[k]);
	if (*s->build) {
		pm_html_text(h, " ");
		pm_html_el(h, PM_EL_span);
		pm_html_at(h, PM_AT_class, "soft");
		pm_html_atf(h, PM_AT_title, "SHA-256 of its file, the last build of %zu", s->n_builds);
		pm_html_textf(h, "%.8s%s", s->build, s->n_builds > 1 ? "+" : "");
		pm_html_end(h, PM_EL_span);
	}
	if (k == b->table.reference)
		pm_html_put(h, PM_EL_span, "soft", " (reference)");
	pm_html_end(h, PM_EL_th);
}

static void put_figures(const PmBoard *b, const cJSON *bench, size_t k, PmHtml *h)
{
	const char *name = b->table.name[k];
	const cJSON *f = pm_figures_all(bench, name, pm_systems_main_clock(&b->table));

	pm_put_num(h, "as", 3, pm_json_num(f, "as", NAN));
	pm_put_num(h, "es", 3, pm_figures_level(f, "es", FIRST_T));
	for (PmSysClock c = 0; c < PM_N_SYS_CLOCKS; c++)
		if (pm_systems_has_clock(&b->table, c)) {
			const cJSON *of = pm_figures_all(bench, name, c);
			char key[32];

			snprintf(key, sizeof key, "gmean %s", pm_sys_clock_name(c));
			pm_put_interval(h, key, pm_json_num(of, "gmean", NAN),
					pm_json_num(of, "gmean_lo", NAN), pm_json_num(of, "gmean_hi", NAN));
		}
	pm_put_num(h, "fast", 2,
		   cJSON_GetNumberValue(cJSON_GetArrayItem(cJSON_GetObjectItem(f, "fast_p"), 3)));
	pm_put_num(h, "right", 0, pm_json_num(f, "right", NAN));
	pm_put_num(h, "changed", 0, pm_json_num(f, "changed", NAN));
	pm_put_num(h, "worst", 3, pm_json_num(f, "worst", NAN));
	pm_put_num(h, "roofline", 1, 100 * pm_json_num(f, "roofline_share", NAN));
}

static void put_row(const PmBoard *b, const cJSON *bench, size_t k, PmHtml *h)
{
	pm_html_el(h, PM_EL_tr);
	pm_html_at(h, PM_AT_data_system, b->table.name[k]);
	put_name(b, k, h);
	put_figures(b, bench, k, h);
	put_verdicts(b, k, h);
	pm_html_end(h, PM_EL_tr);
}

static void put_table(const PmBoard *b, const cJSON *bench, size_t board, const size_t *order, PmHtml *h)
{
	pm_frame_table(h, "wide", "Ranking %zu", board);
	pm_html_at(h, PM_AT_class, "ranking sorts");
	pm_html_atf(h, PM_AT_id, "b%zu-table", board);
	put_heads(b, h);
	pm_html_el(h, PM_EL_tbody);
	for (size_t i = 0; i < b->table.n; i++)
		put_row(b, bench, order[i], h);
	pm_frame_table_end(h);
}

/* ---- figures ---- */

static void close_figure(const PmBoard *b, PmSysClock c, PmHtml *h)
{
	PmStr about = PM_STR_INIT;

	pm_put_about_board(b, &about);
	pm_html_putf(h, PM_EL_figcaption, NULL, "%s. Clock: %s; %zu graphs.", about.s, pm_sys_clock_title(c),
		     b->table.graphs.n);
	pm_html_end(h, PM_EL_figure);
	pm_str_release(&about);
}

static void open_figure(PmSysClock c, const char *kind, PmHtml *h)
{
	pm_html_el(h, PM_EL_figure);
	pm_html_at(h, PM_AT_data_show, pm_sys_clock_name(c));
	pm_html_at(h, PM_AT_data_kind, kind);
}

static PmStatus put_plots(const PmBoard *b, PmHtml *h, PmErr *err)
{
	PmStatus st = PM_OK;

	pm_html_el(h, PM_EL_div);
	pm_html_at(h, PM_AT_class, "figures");
	for (PmSysClock c = 0; c < PM_N_SYS_CLOCKS && !st; c++) {
		PmStr es = PM_STR_INIT, speed = PM_STR_INIT;

		if (!pm_systems_has_clock(&b->table, c))
			continue;
		st = pm_systems_plot_es(&b->table, c, b->preset, 1, &es, err);
		if (!st) {
			pm_systems_plot_speedups(&b->table, c, 1, &speed);
			open_figure(c, "es", h);
			pm_html_svg(h, &es);
			close_figure(b, c, h);
			open_figure(c, "speedups", h);
			pm_html_svg(h, &speed);
			close_figure(b, c, h);
		}
		pm_str_release(&es);
		pm_str_release(&speed);
	}
	pm_html_end(h, PM_EL_div);
	return st;
}

/* ---- a board ---- */

static void put_about(const PmBoard *b, PmHtml *h)
{
	PmStr about = PM_STR_INIT;

	pm_put_about_board(b, &about);
	pm_html_putf(h, PM_EL_p, NULL, "%s. %zu graphs. Speedups are over %s.", about.s, b->table.graphs.n,
		     b->table.name[b->table.reference]);
	if (*b->options || b->machines) {
		pm_html_el(h, PM_EL_details);
		pm_html_put(h, PM_EL_summary, NULL, "Options and software");
		pm_html_putf(h, PM_EL_p, "soft", "Options: %s.", *b->options ? b->options : "none");
		if (b->machines)
			pm_html_putf(h, PM_EL_p, "soft", "Software: %s.", b->machines);
		pm_html_end(h, PM_EL_details);
	}
	if (b->n_left_out)
		pm_html_putf(h, PM_EL_p, "note",
			     "%zu systems with the fewest tasks are left out: a ranking has at most %d.",
			     b->n_left_out, PM_MAX_SYSTEMS);
	pm_str_release(&about);
}

typedef struct Place {
	size_t system;
	double as;
} Place;

static int best_first(const void *x, const void *y)
{
	const Place *a = x, *b = y;

	if (a->as != b->as)
		return a->as < b->as ? 1 : -1;
	return a->system > b->system ? 1 : -1;
}

static void find_order(const PmBoard *b, const cJSON *bench, size_t *order)
{
	Place place[PM_MAX_SYSTEMS];

	for (size_t k = 0; k < b->table.n; k++) {
		const cJSON *f = pm_figures_all(bench, b->table.name[k], pm_systems_main_clock(&b->table));

		place[k] = (Place){ k, pm_json_num(f, "as", -1) };
	}
	qsort(place, b->table.n, sizeof *place, best_first);
	for (size_t k = 0; k < b->table.n; k++)
		order[k] = place[k].system;
}

static PmStatus put_board(const PmBoard *b, const cJSON *bench, size_t board, PmHtml *h, PmErr *err)
{
	size_t order[PM_MAX_SYSTEMS];
	char name[128];
	PmStatus st;

	find_order(b, bench, order);
	pm_board_name(b, name, sizeof name);
	pm_html_el(h, PM_EL_section);
	pm_html_at(h, PM_AT_class, "board");
	pm_html_atf(h, PM_AT_id, "b%zu", board);
	pm_html_atf(h, PM_AT_data_board, "%zu", board - 1);
	pm_html_putf(h, PM_EL_h3, NULL, "%s%s%s", name, *b->version ? ", version " : "", b->version);
	put_about(b, h);
	put_filters(b, board, h);
	put_table(b, bench, board, order, h);
	st = put_plots(b, h, err);
	pm_put_groups(b, bench, h);
	pm_put_pairs(b, order, h);
	pm_put_ladder(b, bench, order, h);
	pm_html_end(h, PM_EL_section);
	return st;
}

int pm_report_has_boards(const PmReportInput *in)
{
	return in->boards->v.n > 0;
}

PmStatus pm_report_put_boards(const PmReportInput *in, PmHtml *h, PmErr *err)
{
	PmStatus st = PM_OK;

	pm_html_put(h, PM_EL_p, NULL,
		    "Each ranking is of one GPU, one version of the program and one set of options. Results "
		    "of different "
		    "rankings are not compared.");
	for (size_t k = 0; k < in->boards->v.n && !st; k++)
		st = put_board(&in->boards->v.v[k], pm_figures_bench(in->data, k), k + 1, h, err);
	return st;
}
