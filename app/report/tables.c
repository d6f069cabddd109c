/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c - tables below a ranking. */
#include "app/report/tables.h"

#include "app/report/figures.h"
#include "app/report/put.h"
#include "bench/report/systems_report.h"
#include "draw/html/frame.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void open_table(PmHtml *h, const char *class_, const char *title)
{
	pm_frame_table(h, "wide", "%s", title);
	pm_html_at(h, PM_AT_class, class_);
}

static void put_row_head(PmHtml *h, const char *text)
{
	pm_html_el(h, PM_EL_th);
	pm_html_at(h, PM_AT_scope, "row");
	pm_html_text(h, text);
	pm_html_end(h, PM_EL_th);
}

static void put_about(const PmBoard *b, PmSysClock c, PmHtml *h)
{
	PmStr about = PM_STR_INIT;

	pm_put_about_board(b, &about);
	pm_html_putf(h, PM_EL_p, "soft", "%s. Clock: %s.", about.s, pm_sys_clock_title(c));
	pm_str_release(&about);
}

/* ---- categories and element types ---- */

typedef struct Group {
	const char *category, *dtype; /* NULL = any */
	size_t n;                     /* graphs */
} Group;

static void put_group(const PmBoard *b, const cJSON *bench, const Group *g, PmHtml *h)
{
	PmSysClock clock = pm_systems_main_clock(&b->table);
	size_t best = b->table.n;
	double as = NAN;

	for (size_t k = 0; k < b->table.n; k++) {
		const cJSON *f = pm_figures_group(bench, g->category, g->dtype, b->table.name[k], clock);
		double x = pm_json_num(f, "as", NAN);

		if (!(pm_json_num(f, "timed", 0) > 0) || !isfinite(x) || (best < b->table.n && x <= as))
			continue;
		best = k;
		as = x;
	}
	pm_html_el(h, PM_EL_td);
	if (best < b->table.n) {
		pm_html_atf(h, PM_AT_title, "%zu graphs", g->n);
		pm_html_put(h, PM_EL_strong, NULL, b->table.name[best]);
		pm_html_textf(h, " %.3f", as);
	} else if (g->n) {
		pm_html_textf(h, "no times of %zu", g->n);
	}
	pm_html_end(h, PM_EL_td);
}

/* "all" (PM_N_CATEGORIES) last. */
static void put_category(const PmBoard *b, const cJSON *bench, PmCategory i, PmHtml *h)
{
	const PmSystems *s = &b->table;
	const char *name = i == PM_N_CATEGORIES ? NULL : pm_category_name(i);

	pm_html_el(h, PM_EL_tr);
	put_row_head(h, name ? name : "all");
	put_group(b, bench, &(Group){ name, NULL, pm_systems_count_group(s, &(PmSysGroup){ i, -1 }) }, h);
	for (int d = 0; d < PM_N_DTYPES; d++)
		if (pm_systems_count_group(s, &(PmSysGroup){ PM_N_CATEGORIES, d }))
			put_group(b, bench,
				  &(Group){ name, pm_dtype_name(d),
					    pm_systems_count_group(s, &(PmSysGroup){ i, d }) },
				  h);
	pm_html_end(h, PM_EL_tr);
}

void pm_put_groups(const PmBoard *b, const cJSON *bench, PmHtml *h)
{
	pm_html_put(h, PM_EL_h4, NULL, "Best system by category and element type");
	open_table(h, "groups", "Best system by category and element type");
	pm_html_el(h, PM_EL_thead);
	pm_html_el(h, PM_EL_tr);
	pm_put_head(h, "", "Category", "");
	pm_put_head(h, "", "all types", "");
	for (int d = 0; d < PM_N_DTYPES; d++)
		if (pm_systems_count_group(&b->table, &(PmSysGroup){ PM_N_CATEGORIES, d }))
			pm_put_head(h, "", pm_dtype_name(d), "");
	pm_html_end(h, PM_EL_tr);
	pm_html_end(h, PM_EL_thead);
	pm_html_el(h, PM_EL_tbody);
	for (PmCategory i = 0; i <= PM_N_CATEGORIES; i++)
		if (pm_systems_count_group(&b->table, &(PmSysGroup){ i, -1 }))
			put_category(b, bench, i, h);
	pm_frame_table_end(h);
	put_about(b, pm_systems_main_clock(&b->table), h);
}

/* ---- pairs ---- */

/* Row a is so many times as fast as column c, of systems in their order; the other way round it is one over
 * that. */
typedef struct Pairs {
	PmInterval x[PM_MAX_SYSTEMS][PM_MAX_SYSTEMS];
} Pairs;

static void find_pairs(const PmSystems *s, const size_t *order, PmSysClock clock, Pairs *p)
{
	for (size_t a = 0; a < s->n; a++)
		for (size_t c = a + 1; c < s->n; c++) {
			PmInterval x = pm_systems_times_as_fast(s, order[a], order[c], clock);

			p->x[a][c] = x;
			p->x[c][a] = (PmInterval){ 1 / x.point, 1 / x.hi, 1 / x.lo };
		}
}

static void put_pair(const PmInterval *x, int is_same, PmHtml *h)
{
	pm_html_el(h, PM_EL_td);
	if (is_same || !isfinite(x->point)) {
		pm_html_text(h, is_same ? "" : "-");
	} else {
		pm_html_at(h, PM_AT_class, x->lo > 1 ? "good" : x->hi < 1 ? "bad" : "same");
		pm_html_textf(h, "%.2f [%.2f, %.2f]", x->point, x->lo, x->hi);
	}
	pm_html_end(h, PM_EL_td);
}

static void put_clock_pairs(const PmBoard *b, const size_t *order, PmSysClock clock, PmHtml *h)
{
	const PmSystems *s = &b->table;
	Pairs p = { 0 };

	find_pairs(s, order, clock, &p);
	pm_html_el(h, PM_EL_div);
	pm_html_at(h, PM_AT_data_show, pm_sys_clock_name(clock));
	open_table(h, "pairs", "How many times as fast a system is as another");
	pm_html_el(h, PM_EL_thead);
	pm_html_el(h, PM_EL_tr);
	pm_put_head(h, "", "times as fast as", "");
	for (size_t i = 0; i < s->n; i++)
		pm_put_head(h, "", s->name[order[i]], "");
	pm_html_end(h, PM_EL_tr);
	pm_html_end(h, PM_EL_thead);
	pm_html_el(h, PM_EL_tbody);
	for (size_t i = 0; i < s->n; i++) {
		pm_html_el(h, PM_EL_tr);
		put_row_head(h, s->name[order[i]]);
		for (size_t k = 0; k < s->n; k++)
			put_pair(&p.x[i][k], i == k, h);
		pm_html_end(h, PM_EL_tr);
	}
	pm_frame_table_end(h);
	put_about(b, clock, h);
	pm_html_end(h, PM_EL_div);
}

void pm_put_pairs(const PmBoard *b, const size_t *order, PmHtml *h)
{
	pm_html_put(h, PM_EL_h4, NULL, "Do two systems differ beyond noise?");
	pm_html_put(h, PM_EL_p, NULL,
		    "A row's system is so many times as fast as a column's, where both are right: the "
		    "geometric mean "
		    "over tasks, and its 95 % interval. Where the interval holds 1, these tasks do not tell "
		    "the two "
		    "apart.");
	for (PmSysClock c = 0; c < PM_N_SYS_CLOCKS; c++)
		if (pm_systems_has_clock(&b->table, c))
			put_clock_pairs(b, order, c, h);
}

/* ---- the ladder ---- */

static const char *share_class(double share)
{
	static const char *const names[] = { "r0", "r1", "r2", "r3", "r4", "r5" };

	return share >= 1 ? names[5] : names[(int)(share * 5)];
}

static void put_steps(const cJSON *f, PmHtml *h)
{
	double n = pm_json_num(f, "graphs", 0);

	for (int t = PM_T_MIN; t <= PM_SCORE_T_MAX; t++) {
		double share = n > 0 ? pm_figures_level(f, "correct", t) / n : 0;

		pm_html_el(h, PM_EL_td);
		pm_html_at(h, PM_AT_class, share_class(share));
		pm_html_textf(h, "%.0f", floor(100 * share));
		pm_html_end(h, PM_EL_td);
	}
}

void pm_put_ladder(const PmBoard *b, const cJSON *bench, const size_t *order, PmHtml *h)
{
	PmSysClock clock = pm_systems_main_clock(&b->table);

	pm_html_put(h, PM_EL_h4, NULL, "Correctness ladder");
	pm_html_put(h, PM_EL_p, NULL,
		    "Per cent of the graphs that are right at each level, strict on the left and loose on "
		    "the right.");
	open_table(h, "ladder", "Correctness ladder");
	pm_html_el(h, PM_EL_thead);
	pm_html_el(h, PM_EL_tr);
	pm_put_head(h, "", "System", "");
	for (int t = PM_T_MIN; t <= PM_SCORE_T_MAX; t++) {
		char text[16];

		snprintf(text, sizeof text, "%d", t);
		pm_put_head(h, "", text, "");
	}
	pm_html_end(h, PM_EL_tr);
	pm_html_end(h, PM_EL_thead);
	pm_html_el(h, PM_EL_tbody);
	for (size_t i = 0; i < b->table.n; i++) {
		pm_html_el(h, PM_EL_tr);
		put_row_head(h, b->table.name[order[i]]);
		put_steps(pm_figures_all(bench, b->table.name[order[i]], clock), h);
		pm_html_end(h, PM_EL_tr);
	}
	pm_frame_table_end(h);
	put_about(b, clock, h);
}
