/* SPDX-License-Identifier: Apache-2.0 */
/* dataset.c - what extraction found: counts, how places are spread over structures, and what a pass is worth
 * writing for. */
#include "app/report/put.h"
#include "app/report/section.h"
#include "app/store/db_counts.h"
#include "base/sys/io.h"
#include "bench/report/plot.h"
#include "draw/html/frame.h"
#include "runtime/exec/exec.h"

#include <math.h>

enum { MOST_MINED = 20 };

/* ---- counts ---- */

static void put_count(size_t k, const PmDbCounts *c, PmHtml *h)
{
	PmStr svg = PM_STR_INIT;
	size_t more = pm_db_counts_svg(pm_db_counts_title(k), c, &svg);

	pm_html_el(h, PM_EL_div);
	pm_html_put(h, PM_EL_h4, NULL, pm_db_counts_title(k));
	pm_html_el(h, PM_EL_figure);
	pm_html_svg(h, &svg);
	if (more)
		pm_html_putf(h, PM_EL_figcaption, NULL, "%zu more rows are not drawn.", more);
	pm_html_end(h, PM_EL_figure);
	pm_html_end(h, PM_EL_div);
	pm_str_release(&svg);
}

static PmStatus put_counts(const PmReportInput *in, PmHtml *h, PmErr *err)
{
	PmStatus st = PM_OK;

	pm_html_put(h, PM_EL_h3, NULL, "What was found");
	pm_html_el(h, PM_EL_div);
	pm_html_at(h, PM_AT_class, "figures");
	for (size_t k = 0; k < pm_db_counts_n() && !st; k++) {
		PmDbCounts c = { 0 };

		st = pm_db_counts_read(in->db, k, &c, err);
		if (!st && c.list.n)
			put_count(k, &c, h);
		pm_db_counts_release(&c);
	}
	if (!st)
		pm_html_end(h, PM_EL_div);
	return st;
}

/* ---- the long tail ---- */

static void put_tail_figure(const PmDbPlaces *p, PmHtml *h)
{
	PmPlot plot = { .title = "Places in models that the most frequent structures hold",
			.x_label = "structures, most frequent first",
			.y_label = "% of places",
			.log_x = 1,
			.guide_x = NAN,
			.in_page = 1,
			.n = 1 };
	double *x = pm_xcalloc(p->structure.n, sizeof *x), *y = pm_xcalloc(p->structure.n, sizeof *y);
	PmStr svg = PM_STR_INIT;
	int64_t sum = 0;

	for (size_t i = 0; i < p->structure.n; i++) {
		sum += p->structure.v[i];
		x[i] = (double)(i + 1);
		y[i] = 100 * (double)sum / (double)p->n;
	}
	plot.line[0] = (PmPlotLine){ "all structures", p->structure.n, x, y, 0 };
	pm_plot_svg(&plot, &svg);
	pm_html_el(h, PM_EL_figure);
	pm_html_svg(h, &svg);
	pm_html_end(h, PM_EL_figure);
	pm_str_release(&svg);
	free(x);
	free(y);
}

static PmStatus put_tail(const PmReportInput *in, PmHtml *h, PmErr *err)
{
	PmDbPlaces p = { 0 };
	PmStatus st = pm_db_places_read(in->db, &p, err);

	if (!st && p.n) {
		pm_html_put(h, PM_EL_h3, NULL, "The long tail, and what tasks stand for");
		pm_html_putf(h, PM_EL_p, NULL,
			     "%zu structures have %lld places in models. %zu of them have half of the "
			     "places, %zu have 90 %%.",
			     p.structure.n, (long long)p.n, pm_db_places_reach(&p, 0.5),
			     pm_db_places_reach(&p, 0.9));
		pm_html_putf(
			h, PM_EL_p, NULL,
			"Structures that a task was made of: %zu. They have %lld of the places (%.1f %%).",
			p.structures_in_tasks, (long long)p.n_in_tasks,
			100 * (double)p.n_in_tasks / (double)p.n);
		if (p.structure.n > 1)
			put_tail_figure(&p, h);
	}
	pm_db_places_release(&p);
	return st;
}

/* ---- mining ---- */

static void put_mined_heads(PmHtml *h)
{
	pm_html_el(h, PM_EL_thead);
	pm_html_el(h, PM_EL_tr);
	pm_put_head(h, "", "Operators", "of the graph of the structure that occurs most");
	pm_put_head(h, "", "At stake %", "share of all eager time that one kernel would save");
	pm_put_head(h, "", "Of time %", "share of all eager time");
	pm_put_head(h, "", "Places", "in all models");
	pm_put_head(h, "", "Models", "that hold it");
	pm_put_head(h, "", "Support", "models that hold it, without copies of a model");
	pm_put_head(h, "", "Times", "where they are from");
	pm_put_head(h, "", "Best pass", "of those that were right on it");
	pm_put_head(h, "", "Speedup", "of the best pass, geometric mean");
	pm_html_end(h, PM_EL_tr);
	pm_html_end(h, PM_EL_thead);
}

static void put_cell(PmHtml *h, const char *text)
{
	pm_html_el(h, PM_EL_td);
	pm_html_text_cut(h, text, 60);
	pm_html_end(h, PM_EL_td);
}

static void put_mined(const PmMined *x, double seconds, PmHtml *h)
{
	pm_html_el(h, PM_EL_tr);
	pm_html_el(h, PM_EL_th);
	pm_html_at(h, PM_AT_scope, "row");
	pm_html_text_cut(h, x->ops ? x->ops : "", 70);
	pm_html_end(h, PM_EL_th);
	pm_put_num(h, "", 2, 100 * x->at_stake / seconds);
	pm_put_num(h, "", 2, 100 * x->seconds / seconds);
	pm_put_num(h, "", 0, (double)x->occurrences);
	pm_put_num(h, "", 0, (double)x->models);
	pm_put_num(h, "", 0, (double)x->support);
	put_cell(h, x->measured ? "measured" : "modelled");
	put_cell(h, *x->best_pass ? pm_path_base(x->best_pass) : "-");
	pm_put_num(h, "", 2, *x->best_pass ? x->best_speedup : NAN);
	pm_html_end(h, PM_EL_tr);
}

static void put_mine(const PmMine *m, PmHtml *h)
{
	size_t n = m->n < MOST_MINED ? m->n : MOST_MINED;

	pm_html_put(h, PM_EL_h3, NULL, "What is worth a pass");
	pm_html_putf(
		h, PM_EL_p, NULL,
		"Structures of fusible subgraphs, by the time that one kernel in their place would save. "
		"%lld models, %lld without copies. Times that nobody measured are modelled for %s.",
		(long long)m->models, (long long)m->distinct_models, pm_profile(NULL)->full_name);
	pm_frame_table(h, "wide", "What is worth a pass");
	pm_html_at(h, PM_AT_id, "mined");
	put_mined_heads(h);
	pm_html_el(h, PM_EL_tbody);
	for (size_t i = 0; i < n; i++)
		put_mined(&m->v[i], m->seconds, h);
	pm_frame_table_end(h);
	if (m->n > n)
		pm_html_putf(h, PM_EL_p, "soft", "%zu more structures: passmith mine --top %zu.", m->n - n,
			     m->n);
	if (m->unplanned)
		pm_html_putf(h, PM_EL_p, "soft", "%lld graphs have no modelled time and count as none.",
			     (long long)m->unplanned);
}

/* ---- the section ---- */

int pm_report_has_dataset(const PmReportInput *in)
{
	return in->n_places > 0;
}

PmStatus pm_report_put_dataset(const PmReportInput *in, PmHtml *h, PmErr *err)
{
	PmStatus st = put_counts(in, h, err);

	if (!st)
		st = put_tail(in, h, err);
	if (!st && in->mine->n)
		put_mine(in->mine, h);
	return st;
}
