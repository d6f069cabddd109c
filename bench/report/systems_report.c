/* SPDX-License-Identifier: Apache-2.0 */
/* systems_report.c - a table of systems as text, JSON and plots. */
#include "bench/report/systems_report.h"

#include "bench/report/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int pm_systems_has_clock(const PmSystems *s, PmSysClock clock)
{
	for (size_t i = 0; i < s->graphs.n; i++)
		if (s->graphs.v[i].cell[s->reference].seconds[clock] > 0)
			return 1;
	return 0;
}

PmSysClock pm_systems_main_clock(const PmSystems *s)
{
	PmSysClock c = 0;

	while (c < PM_N_SYS_CLOCKS - 1 && !pm_systems_has_clock(s, c))
		c++;
	return c;
}

const char *pm_sys_clock_title(PmSysClock clock)
{
	switch (clock) {
	case PM_SYS_REPLAY:
		return "GPU time, replayed as CUDA graphs";
	case PM_SYS_COLD:
		return "GPU time, caches cold";
	case PM_SYS_WALL:
		return "time on the host's clock";
	default:
		return "modelled time (nothing was measured)";
	}
}

/* ---- text ---- */

static void put_num(PmStr *out, int width, int digits, double v)
{
	if (isfinite(v))
		pm_str_addf(out, " %*.*f", width, digits, v);
	else
		pm_str_addf(out, " %*s", width, "-");
}

static void put_line(const char *name, const PmSysFigures *f, PmStr *out)
{
	pm_str_addf(out, "  %-20.20s %6zu %6zu %7zu %6zu", name, f->n_timed, f->n_right, f->n_matched,
		    f->n_faster);
	put_num(out, 7, 3, f->gmean.point);
	pm_str_addc(out, ' ');
	put_num(out, 6, 3, f->gmean.lo);
	put_num(out, 6, 3, f->gmean.hi);
	put_num(out, 7, 3, f->worst);
	put_num(out, 6, 3, f->score.as);
	put_num(out, 7, 3, f->strict.as);
	put_num(out, 6, 2, f->fast_p[3]);
	put_num(out, 6, 2, f->fast_p[5]);
	put_num(out, 8, 1, 100 * f->roofline);
	pm_str_addc(out, '\n');
}

static void put_faster(const PmSystems *s, PmSysClock clock, PmStr *out)
{
	for (size_t a = 0; a < s->n; a++)
		for (size_t b = 0; b < s->n; b++) {
			size_t n;
			double share = pm_systems_share_faster(s, a, b, clock, &n);

			/* Each pair once, from the side of the faster. */
			if (a != s->reference && b != s->reference && n &&
			    (share > 0.5 || (share == 0.5 && a < b)))
				pm_str_addf(out, "  %s is faster than %s on %.1f %% of %zu graph%s\n",
					    s->name[a], s->name[b], 100 * share, n, pm_plural(n));
		}
}

static PmStatus put_part(const PmSystems *s, PmSysClock clock, PmSysPart part, PmPreset preset, PmStr *out,
			 PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t k = 0; k < s->n && !st; k++) {
		PmSysFigures f;

		st = pm_systems_figures(s, k, clock, 0, part, preset, &f, err);
		if (!st)
			put_line(s->name[k], &f, out);
	}
	return st;
}

/* A line for each system in each category, where there are several. */
static PmStatus put_categories(const PmSystems *s, PmSysClock clock, PmPreset preset, PmStr *out, PmErr *err)
{
	PmStatus st = PM_OK;

	for (PmCategory c = 0; c < PM_N_CATEGORIES && !st; c++) {
		PmSysGroup group = { c, -1 };
		size_t n = pm_systems_count_group(s, &group);

		if (!n || n == s->graphs.n)
			continue;
		pm_str_addf(out, "  category %s: %zu graph%s\n", pm_category_name(c), n, n == 1 ? "" : "s");
		for (size_t k = 0; k < s->n && !st; k++) {
			PmSysFigures f;

			st = pm_systems_of_group(s, k, clock, &group, preset, &f, err);
			if (!st)
				put_line(s->name[k], &f, out);
		}
	}
	return st;
}

PmStatus pm_systems_text(const PmSystems *s, PmPreset preset, PmStr *out, PmErr *err)
{
	int apart = pm_systems_count(s, PM_SYS_ALGEBRAIC) > 0;
	PmStatus st = PM_OK;

	for (PmSysClock c = 0; c < PM_N_SYS_CLOCKS && !st; c++) {
		if (!pm_systems_has_clock(s, c))
			continue;
		pm_str_addf(out, "%s; speedup over %s, %zu graph%s\n", pm_sys_clock_title(c),
			    s->name[s->reference], s->graphs.n, pm_plural(s->graphs.n));
		pm_str_addf(out, "  %-20s %6s %6s %7s %6s %7s  %6s %6s %7s %6s %7s %6s %6s %8s\n", "system",
			    "timed", "right", "changed", "faster", "gmean", "95 %", "", "worst", "AS",
			    "strict", "fast_1", "fast_2", "roofline");
		st = put_part(s, c, PM_SYS_ALL, preset, out, err);
		put_faster(s, c, out);
		for (PmSysPart p = PM_SYS_ALGEBRAIC; p <= PM_SYS_OTHERS && apart && !st; p++) {
			pm_str_addf(out,
				    p == PM_SYS_OTHERS
					    ? "  the other %zu\n"
					    : "  stratum algebraic: %zu graph%s that clean-up alone "
					      "makes faster (passmith simplify)\n",
				    pm_systems_count(s, p), pm_plural(pm_systems_count(s, p)));
			st = put_part(s, c, p, preset, out, err);
		}
		if (!st)
			st = put_categories(s, c, preset, out, err);
		pm_str_addc(out, '\n');
	}
	if (*s->sandbox_lacks)
		pm_str_addf(out, "The sandbox of this machine lacks: %s (passmith doctor).\n",
			    s->sandbox_lacks);
	return st;
}

/* ---- JSON ---- */

static cJSON *figures_json(const PmSysFigures *f)
{
	cJSON *j = cJSON_CreateObject(), *list;

	cJSON_AddNumberToObject(j, "graphs", (double)f->n);
	cJSON_AddNumberToObject(j, "timed", (double)f->n_timed);
	cJSON_AddNumberToObject(j, "right", (double)f->n_right);
	cJSON_AddNumberToObject(j, "changed", (double)f->n_matched);
	cJSON_AddNumberToObject(j, "faster", (double)f->n_faster);
	pm_json_add_num(j, "gmean", f->gmean.point);
	pm_json_add_num(j, "gmean_lo", f->gmean.lo);
	pm_json_add_num(j, "gmean_hi", f->gmean.hi);
	pm_json_add_num(j, "worst", f->worst);
	pm_json_add_num(j, "roofline_share", f->roofline);
	pm_json_add_num(j, "as", f->score.as);
	pm_json_add_num(j, "as_strict", f->strict.as);
	list = cJSON_AddArrayToObject(j, "es");
	for (int t = 0; t <= PM_SCORE_T_MAX - PM_T_MIN; t++)
		cJSON_AddItemToArray(list, cJSON_CreateNumber(f->score.es[t]));
	list = cJSON_AddArrayToObject(j, "correct");
	for (int t = 0; t <= PM_SCORE_T_MAX - PM_T_MIN; t++)
		cJSON_AddItemToArray(list, cJSON_CreateNumber((double)f->score.n_correct[t]));
	list = cJSON_AddArrayToObject(j, "fast_p");
	for (int k = 0; k < PM_N_FAST_P; k++)
		cJSON_AddItemToArray(list, cJSON_CreateNumber(f->fast_p[k]));
	return j;
}

/* {system: {clock: figures}} over one task or all, of a part. */
static PmStatus systems_json(const PmSystems *s, PmPreset preset, int64_t task, PmSysPart part, cJSON *to,
			     PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t k = 0; k < s->n && !st; k++) {
		cJSON *one = cJSON_AddObjectToObject(to, s->name[k]);

		for (PmSysClock c = 0; c < PM_N_SYS_CLOCKS && !st; c++) {
			PmSysFigures f;

			if (!pm_systems_has_clock(s, c))
				continue;
			st = pm_systems_figures(s, k, c, task, part, preset, &f, err);
			if (!st)
				cJSON_AddItemToObject(one, pm_sys_clock_name(c), figures_json(&f));
		}
	}
	return st;
}

/* {system: {clock: figures}} over a group. */
static PmStatus group_json(const PmSystems *s, PmPreset preset, const PmSysGroup *group, cJSON *to,
			   PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t k = 0; k < s->n && !st; k++) {
		cJSON *one = cJSON_AddObjectToObject(to, s->name[k]);

		for (PmSysClock clock = 0; clock < PM_N_SYS_CLOCKS && !st; clock++) {
			PmSysFigures f;

			if (!pm_systems_has_clock(s, clock))
				continue;
			st = pm_systems_of_group(s, k, clock, group, preset, &f, err);
			if (!st)
				cJSON_AddItemToObject(one, pm_sys_clock_name(clock), figures_json(&f));
		}
	}
	return st;
}

/* [{category, graphs, systems: {system: {clock: figures}}}], a row for each category that occurs. */
static PmStatus categories_json(const PmSystems *s, PmPreset preset, cJSON *to, PmErr *err)
{
	PmStatus st = PM_OK;

	for (PmCategory c = 0; c < PM_N_CATEGORIES && !st; c++) {
		PmSysGroup group = { c, -1 };
		size_t n = pm_systems_count_group(s, &group);
		cJSON *j;

		if (!n)
			continue;
		j = cJSON_CreateObject();
		cJSON_AddItemToArray(to, j);
		cJSON_AddStringToObject(j, "category", pm_category_name(c));
		pm_json_add_i64(j, "graphs", (int64_t)n);
		st = group_json(s, preset, &group, cJSON_AddObjectToObject(j, "systems"), err);
	}
	return st;
}

/* [{category, dtype, graphs, systems}], a row for each element type, of which category is null, and for each
 * pair that occurs. */
static PmStatus groups_json(const PmSystems *s, PmPreset preset, cJSON *to, PmErr *err)
{
	PmStatus st = PM_OK;

	for (int i = 0; i <= PM_N_CATEGORIES; i++)
		for (int d = 0; d < PM_N_DTYPES && !st; d++) {
			PmSysGroup group = { i ? (PmCategory)(i - 1) : PM_N_CATEGORIES, d };
			size_t n = pm_systems_count_group(s, &group);
			cJSON *j;

			if (!n)
				continue;
			j = cJSON_CreateObject();
			cJSON_AddItemToArray(to, j);
			cJSON_AddItemToObject(j, "category",
					      i ? cJSON_CreateString(pm_category_name(group.category))
						: cJSON_CreateNull());
			cJSON_AddStringToObject(j, "dtype", pm_dtype_name(d));
			pm_json_add_i64(j, "graphs", (int64_t)n);
			st = group_json(s, preset, &group, cJSON_AddObjectToObject(j, "systems"), err);
		}
	return st;
}

static PmStatus tasks_json(const PmSystems *s, PmPreset preset, cJSON *to, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < s->graphs.n && !st; i++) { /* rows of a task stand together */
		cJSON *j;

		if (i && s->graphs.v[i].task == s->graphs.v[i - 1].task)
			continue;
		j = cJSON_CreateObject();
		pm_json_add_i64(j, "task", s->graphs.v[i].task);
		st = systems_json(s, preset, s->graphs.v[i].task, PM_SYS_ALL,
				  cJSON_AddObjectToObject(j, "systems"), err);
		cJSON_AddItemToArray(to, j);
	}
	return st;
}

static cJSON *graph_json(const PmSystems *s, const PmSysGraph *g)
{
	cJSON *j = cJSON_CreateObject(), *cells;

	pm_json_add_i64(j, "task", g->task);
	pm_json_add_i64(j, "ordinal", g->ordinal);
	cJSON_AddStringToObject(j, "variant", g->label);
	pm_json_add_num(j, "roofline_seconds", g->roofline);
	cJSON_AddBoolToObject(j, "algebraic", g->algebraic);
	cells = cJSON_AddObjectToObject(j, "systems");
	for (size_t k = 0; k < s->n; k++) {
		const PmSysCell *c = &g->cell[k];
		cJSON *one;

		if (!*c->status)
			continue;
		one = cJSON_AddObjectToObject(cells, s->name[k]);
		cJSON_AddStringToObject(one, "status", c->status);
		cJSON_AddBoolToObject(one, "changed", c->matched);
		cJSON_AddNumberToObject(one, "smallest_t", c->smallest_t);
		for (PmSysClock q = 0; q < PM_N_SYS_CLOCKS; q++)
			if (c->seconds[q] > 0)
				cJSON_AddNumberToObject(one, pm_sys_clock_name(q), c->seconds[q]);
	}
	return j;
}

static cJSON *faster_json(const PmSystems *s)
{
	cJSON *list = cJSON_CreateArray();

	for (PmSysClock c = 0; c < PM_N_SYS_CLOCKS; c++)
		for (size_t a = 0; a < s->n; a++)
			for (size_t b = 0; b < s->n; b++) {
				size_t n;
				double share = pm_systems_share_faster(s, a, b, c, &n);
				cJSON *j;

				if (a == b || !n)
					continue;
				j = cJSON_CreateObject();
				cJSON_AddStringToObject(j, "clock", pm_sys_clock_name(c));
				cJSON_AddStringToObject(j, "system", s->name[a]);
				cJSON_AddStringToObject(j, "than", s->name[b]);
				cJSON_AddNumberToObject(j, "share", share);
				cJSON_AddNumberToObject(j, "graphs", (double)n);
				cJSON_AddItemToArray(list, j);
			}
	return list;
}

PmStatus pm_systems_json(const PmSystems *s, PmPreset preset, cJSON **out, PmErr *err)
{
	cJSON *j = cJSON_CreateObject(), *graphs;
	PmStatus st;

	cJSON_AddStringToObject(j, "reference", s->name[s->reference]);
	cJSON_AddStringToObject(j, "sandbox_lacks", s->sandbox_lacks);
	cJSON_AddStringToObject(j, "preset", preset == PM_PRESET_PASSNET ? "passnet" : "sound");
	st = systems_json(s, preset, 0, PM_SYS_ALL, cJSON_AddObjectToObject(j, "systems"), err);
	if (!st && pm_systems_count(s, PM_SYS_ALGEBRAIC)) { /* results by stratum */
		st = systems_json(s, preset, 0, PM_SYS_ALGEBRAIC, cJSON_AddObjectToObject(j, "algebraic"),
				  err);
		if (!st)
			st = systems_json(s, preset, 0, PM_SYS_OTHERS, cJSON_AddObjectToObject(j, "others"),
					  err);
	}
	cJSON_AddItemToObject(j, "faster", faster_json(s));
	if (!st)
		st = categories_json(s, preset, cJSON_AddArrayToObject(j, "categories"), err);
	if (!st)
		st = groups_json(s, preset, cJSON_AddArrayToObject(j, "groups"), err);
	if (!st)
		st = tasks_json(s, preset, cJSON_AddArrayToObject(j, "tasks"), err);
	graphs = cJSON_AddArrayToObject(j, "graphs");
	for (size_t i = 0; i < s->graphs.n; i++)
		cJSON_AddItemToArray(graphs, graph_json(s, &s->graphs.v[i]));
	if (st)
		cJSON_Delete(j);
	else
		*out = j;
	return st;
}

/* ---- plots ---- */

PmStatus pm_systems_plot_es(const PmSystems *s, PmSysClock clock, PmPreset preset, int in_page, PmStr *out,
			    PmErr *err)
{
	enum { N = PM_SCORE_T_MAX - PM_T_MIN + 1 };
	double t[N], es[PM_MAX_SYSTEMS][N];
	PmPlot p = { .title = "ES(t): speedup that counts the errors not tolerated at t",
		     .x_label = "t, strict to loose",
		     .y_label = "ES(t)",
		     .log_y = 1,
		     .guide_x = NAN,
		     .in_page = in_page,
		     .n = s->n };
	PmStatus st = PM_OK;

	for (int i = 0; i < N; i++)
		t[i] = PM_T_MIN + i;
	for (size_t k = 0; k < s->n && !st; k++) {
		PmSysFigures f;

		st = pm_systems_figures(s, k, clock, 0, PM_SYS_ALL, preset, &f, err);
		for (int i = 0; i < N && !st; i++)
			es[k][i] = f.score.es[i];
		p.line[k] = (PmPlotLine){ s->name[k], N, t, es[k], k };
	}
	if (!st)
		pm_plot_svg(&p, out);
	return st;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Ascending speedups in x[], and for each the share of all rows that are at least so fast in y[]. */
static size_t distribution(const PmSystems *s, size_t system, PmSysClock clock, double *x, double *y)
{
	size_t n = 0;

	for (size_t i = 0; i < s->graphs.n; i++) {
		const PmSysCell *r = &s->graphs.v[i].cell[s->reference], *c = &s->graphs.v[i].cell[system];

		if (!strcmp(c->status, "correct") && r->seconds[clock] > 0 && c->seconds[clock] > 0)
			x[n++] = r->seconds[clock] / c->seconds[clock];
	}
	qsort(x, n, sizeof *x, by_value);
	for (size_t i = 0; i < n; i++)
		y[i] = (double)(n - i) / (double)s->graphs.n;
	return n;
}

void pm_systems_plot_speedups(const PmSystems *s, PmSysClock clock, int in_page, PmStr *out)
{
	double *room = pm_xcalloc(2 * PM_MAX_SYSTEMS * (s->graphs.n + 1), sizeof *room);
	PmPlot p = { .title = "Share of graphs at least so many times as fast",
		     .x_label = "speedup over the reference",
		     .y_label = "share of graphs",
		     .log_x = 1,
		     .steps = 1,
		     .guide_x = 1,
		     .in_page = in_page };

	for (size_t k = 0; k < s->n; k++) {
		double *x = room + 2 * k * (s->graphs.n + 1), *y = x + s->graphs.n + 1;

		if (k == s->reference)
			continue;
		p.line[p.n++] = (PmPlotLine){ s->name[k], distribution(s, k, clock, x, y), x, y, k };
	}
	pm_plot_svg(&p, out);
	free(room);
}
