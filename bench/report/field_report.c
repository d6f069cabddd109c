/* SPDX-License-Identifier: Apache-2.0 */
/* field_report.c - the tables of published benchmarks, of our attempts, as text and JSON. */
#include "bench/report/field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- groups of problems ---- */

typedef PM_VEC(const char *) Groups;

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Levels or categories that problems have, in order; then NULL for all problems. */
static Groups groups_of(const PmField *f, PmView view)
{
	Groups g = { NULL, 0, 0 };

	for (size_t i = 0; i < f->problems.n; i++) {
		const PmProblem *p = &f->problems.v[i];
		const char *name = view == PM_VIEW_MULTIKERNELBENCH ? p->category : p->level;
		size_t k = 0;

		while (k < g.n && strcmp(g.v[k], name))
			k++;
		if (k == g.n && *name)
			PM_VEC_PUSH(&g, name);
	}
	if (g.n)
		qsort(g.v, g.n, sizeof *g.v, by_name);
	PM_VEC_PUSH(&g, NULL);
	return g;
}

static size_t n_candidates(const PmField *f)
{
	size_t n = 0;

	for (size_t k = 0; k < f->systems.n; k++)
		n += !f->systems.v[k].baseline;
	return n;
}

/* Systems, and behind them all candidates together where there are several. */
static size_t n_rows(const PmField *f)
{
	return f->systems.n + (n_candidates(f) > 1);
}

static size_t row_system(const PmField *f, size_t row)
{
	return row < f->systems.n ? row : PM_FIELD_ALL;
}

static const char *row_name(const PmField *f, size_t row)
{
	return row < f->systems.n ? f->systems.v[row].name : "all attempts";
}

/* ---- text ---- */

static void put_num(PmStr *out, int width, int digits, double v)
{
	if (isfinite(v))
		pm_str_addf(out, " %*.*f", width, digits, v);
	else
		pm_str_addf(out, " %*s", width, "-");
}

static void put_share(PmStr *out, const PmInterval *share)
{
	put_num(out, 8, 1, 100 * share->point);
}

/* "33.3 [ 6.1, 79.2]" */
static void put_interval(PmStr *out, const PmInterval *v, double unit, int digits)
{
	put_num(out, 8, digits, unit * v->point);
	pm_str_addc(out, '[');
	put_num(out, 5, digits, unit * v->lo);
	pm_str_addc(out, ',');
	put_num(out, 5, digits, unit * v->hi);
	pm_str_addc(out, ']');
}

static void put_heading(const PmField *f, PmView view, double p, PmStr *out)
{
	static const char *const heads[PM_N_VIEWS] = {
		"Level           problems tried   fast_0 fast_0.5 fast_0.8   fast_1[    95 %    ] fast_1.5   "
		"fast_2  "
		"GMSR_correct  AMSR_correct",
		"Category        problems tried   Comp@k   Pass@k SpeedUp_1@k",
		"Level           problems tried  average[    95 %    ]  over 1.02  over 1.05     over 2   "
		"over 6.5  over the "
		"best baseline",
		"",
	};

	pm_str_addf(out, "%s, of our attempts: speedups over %s, by %s; k = %lld\n  %-20s %s",
		    pm_view_name(view), f->reference, pm_sys_clock_name(f->clock), (long long)f->k, "system",
		    heads[view]);
	if (isfinite(p) && view != PM_VIEW_MULTIKERNELBENCH)
		pm_str_addf(out, "  fast_%-7.4g[    95 %%    ]", p);
	pm_str_addc(out, '\n');
}

static void put_figures(const PmFieldFigures *x, PmView view, double p, PmStr *out)
{
	if (view == PM_VIEW_KERNELBENCH) {
		for (int k = 0; k < PM_N_FAST_P; k++) {
			if (k == 3)
				put_interval(out, &x->fast[k], 100, 1);
			else
				put_share(out, &x->fast[k]);
		}
		put_num(out, 13, 3, x->means.gm_correct);
		put_num(out, 13, 3, x->means.am_correct);
	} else if (view == PM_VIEW_MULTIKERNELBENCH) {
		put_num(out, 8, 1, 100 * x->compile_at_k);
		put_num(out, 8, 1, 100 * x->pass_at_k);
		put_num(out, 11, 1, 100 * x->fast_at_k);
	} else {
		put_interval(out, &x->average, 1, 3);
		for (int k = 0; k < PM_N_OVER; k++)
			put_num(out, 10, 1, 100 * x->over[k].point);
		put_num(out, 23, 3, x->average_over_best);
	}
	if (isfinite(p) && view != PM_VIEW_MULTIKERNELBENCH) {
		pm_str_add(out, "   ");
		put_interval(out, &x->asked, 100, 1);
	}
	pm_str_addc(out, '\n');
}

static void put_rows(const PmField *f, PmView view, double p, PmStr *out)
{
	Groups g = groups_of(f, view);

	put_heading(f, view, p, out);
	for (size_t r = 0; r < n_rows(f); r++)
		for (size_t k = 0; k < g.n; k++) {
			PmFieldFigures x;

			pm_field_figures(f, row_system(f, r), view, g.v[k], p, &x);
			pm_str_addf(out, "  %-20.20s %-15.15s %8zu %5zu", row_name(f, r),
				    g.v[k] ? g.v[k] : "all", x.n, x.n_tried);
			put_figures(&x, view, p, out);
		}
	PM_VEC_RELEASE(&g);
}

/* PassNet counts graphs; Samp. CR alone counts problems. */
static PmStatus put_passnet(const PmField *f, const PmSystems *s, PmPreset preset, PmStr *out, PmErr *err)
{
	PmStatus st = PM_OK;

	pm_str_addf(out,
		    "passnet, of our attempts: speedups over %s, by %s; shares in %%\n"
		    "  %-20s  fast_1 Samp. CR Sub. CR  G-Mean      AS  ES(t), t = -10 .. 4\n",
		    f->reference, pm_sys_clock_name(f->clock), "system");
	for (size_t k = 0; k < s->n && !st; k++) {
		PmFieldFigures x;
		PmSysFigures y;

		st = pm_systems_figures(s, k, f->clock, 0, PM_SYS_ALL, preset, &y, err);
		if (st)
			break;
		pm_field_figures(f, k, PM_VIEW_PASSNET, NULL, NAN, &x);
		pm_str_addf(out, "  %-20.20s", s->name[k]);
		put_num(out, 7, 1, 100 * y.fast_p[3]);
		put_num(out, 8, 1, 100 * x.fast[0].point);
		put_num(out, 7, 1, 100 * (double)y.n_right / (double)y.n);
		put_num(out, 7, 3, y.gmean.point);
		put_num(out, 7, 3, y.score.as);
		pm_str_addc(out, ' ');
		for (int t = PM_T_MIN; t < 5; t++)
			put_num(out, 5, 3, y.score.es[t - PM_T_MIN]);
		pm_str_addc(out, '\n');
	}
	return st;
}

PmStatus pm_field_text(const PmField *f, PmView view, double p, const PmSystems *s, PmPreset preset,
		       PmStr *out, PmErr *err)
{
	PmStatus st = PM_OK;

	if (view == PM_VIEW_PASSNET)
		st = put_passnet(f, s, preset, out, err);
	else
		put_rows(f, view, p, out);
	if (f->n_left_out)
		pm_str_addf(out,
			    "left out: %zu stored attempts, whose speedups are over eager by cold or "
			    "modelled times\n",
			    f->n_left_out);
	pm_published_text(view, out);
	return st;
}

/* ---- JSON ---- */

static cJSON *interval_json(const PmInterval *v)
{
	cJSON *j = cJSON_CreateObject();

	pm_json_add_num(j, "value", v->point);
	pm_json_add_num(j, "lo", v->lo);
	pm_json_add_num(j, "hi", v->hi);
	return j;
}

static void add_shares(cJSON *list, const double *p, const PmInterval *share, int n)
{
	for (int k = 0; k < n; k++) {
		cJSON *one = interval_json(&share[k]);

		cJSON_AddNumberToObject(one, "p", p[k]);
		cJSON_AddItemToArray(list, one);
	}
}

static cJSON *row_json(const PmField *f, size_t row, const char *group, const PmFieldFigures *x, double p)
{
	cJSON *j = cJSON_CreateObject(), *list;

	cJSON_AddStringToObject(j, "system", row_name(f, row));
	cJSON_AddBoolToObject(j, "baseline", row < f->systems.n && f->systems.v[row].baseline);
	cJSON_AddStringToObject(j, "group", group ? group : "all");
	cJSON_AddNumberToObject(j, "problems", (double)x->n);
	cJSON_AddNumberToObject(j, "tried", (double)x->n_tried);
	cJSON_AddNumberToObject(j, "attempts", (double)x->n_attempts);
	list = cJSON_AddArrayToObject(j, "fast_p");
	add_shares(list, pm_fast_p_levels, x->fast, PM_N_FAST_P);
	add_shares(list, pm_field_over, x->over, PM_N_OVER);
	if (isfinite(p))
		add_shares(list, &p, &x->asked, 1);
	pm_json_add_num(j, "gm_correct", x->means.gm_correct);
	pm_json_add_num(j, "am_correct", x->means.am_correct);
	pm_json_add_num(j, "compile_at_k", x->compile_at_k);
	pm_json_add_num(j, "pass_at_k", x->pass_at_k);
	pm_json_add_num(j, "fast_1_at_k", x->fast_at_k);
	cJSON_AddItemToObject(j, "average_speedup", interval_json(&x->average));
	pm_json_add_num(j, "average_over_best_baseline", x->average_over_best);
	return j;
}

static PmStatus add_passnet(const PmField *f, const PmSystems *s, PmPreset preset, cJSON *list, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t k = 0; k < s->n && !st; k++) {
		PmFieldFigures x;
		PmSysFigures y;
		cJSON *j = cJSON_CreateObject(), *es;

		cJSON_AddItemToArray(list, j);
		st = pm_systems_figures(s, k, f->clock, 0, PM_SYS_ALL, preset, &y, err);
		if (st)
			break;
		pm_field_figures(f, k, PM_VIEW_PASSNET, NULL, NAN, &x);
		cJSON_AddStringToObject(j, "system", s->name[k]);
		pm_json_add_num(j, "fast_1", y.fast_p[3]);
		pm_json_add_num(j, "sample_correct", x.fast[0].point);
		pm_json_add_num(j, "subgraph_correct", (double)y.n_right / (double)y.n);
		pm_json_add_num(j, "gmean", y.gmean.point);
		pm_json_add_num(j, "as", y.score.as);
		es = cJSON_AddArrayToObject(j, "es");
		for (int t = PM_T_MIN; t < 5; t++)
			cJSON_AddItemToArray(es, cJSON_CreateNumber(y.score.es[t - PM_T_MIN]));
	}
	return st;
}

PmStatus pm_field_json(const PmField *f, PmView view, double p, const PmSystems *s, PmPreset preset,
		       cJSON **out, PmErr *err)
{
	cJSON *j = cJSON_CreateObject(), *list;
	Groups g = groups_of(f, view);
	PmStatus st;

	cJSON_AddStringToObject(j, "view", pm_view_name(view));
	cJSON_AddStringToObject(j, "against", f->reference);
	cJSON_AddStringToObject(j, "clock", pm_sys_clock_name(f->clock));
	cJSON_AddNumberToObject(j, "k", (double)f->k);
	pm_json_add_num(j, "p", p);
	cJSON_AddNumberToObject(j, "left_out", (double)f->n_left_out);
	list = cJSON_AddArrayToObject(j, "rows");
	for (size_t r = 0; r < n_rows(f); r++)
		for (size_t k = 0; k < g.n; k++) {
			PmFieldFigures x;

			pm_field_figures(f, row_system(f, r), view, g.v[k], p, &x);
			cJSON_AddItemToArray(list, row_json(f, r, g.v[k], &x, p));
		}
	PM_VEC_RELEASE(&g);
	st = add_passnet(f, s, preset, cJSON_AddArrayToObject(j, "passnet"), err);
	cJSON_AddItemToObject(j, "published", pm_published_json(view));
	if (st)
		cJSON_Delete(j);
	else
		*out = j;
	return st;
}
