/* SPDX-License-Identifier: Apache-2.0 */
/* systems.c - figures over a table of systems and graphs. */
#include "bench/report/systems.h"

#include "base/core/str.h"
#include "runtime/exec/exec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const clock_names[PM_N_SYS_CLOCKS] = { "replay", "cold", "wall", "modelled" };

const char *pm_sys_clock_name(PmSysClock clock)
{
	return (unsigned)clock < PM_N_SYS_CLOCKS ? clock_names[clock] : "?";
}

void pm_sys_cell_init(PmSysCell *c)
{
	memset(c, 0, sizeof *c);
	c->smallest_t = PM_T_NEVER;
	for (int k = 0; k < PM_N_SYS_CLOCKS; k++)
		c->seconds[k] = NAN;
}

PmSysGraph *pm_systems_add(PmSystems *s)
{
	PmSysGraph *g;

	PM_VEC_RESERVE(&s->graphs, s->graphs.n + 1);
	g = &s->graphs.v[s->graphs.n++];
	memset(g, 0, sizeof *g);
	g->roofline = NAN;
	for (size_t k = 0; k < PM_MAX_SYSTEMS; k++)
		pm_sys_cell_init(&g->cell[k]);
	return g;
}

void pm_systems_release(PmSystems *s)
{
	PM_VEC_RELEASE(&s->graphs);
	s->n = 0;
}

/* ---- roofline ---- */

static double bytes_of(const PmGraph *g, PmValue v)
{
	int64_t b = 0;

	return pm_type_bytes(pm_value_type(g, v), &b, NULL) ? 0 : (double)b;
}

/* What has to be read and written whatever the launches are: inputs, constants that operators use, outputs.
 */
static double bytes_across(const PmGraph *g)
{
	double bytes = 0;

	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		bytes += bytes_of(g, pm_graph_input(g, i));
	for (uint32_t id = 1; id < pm_graph_value_limit(g); id++) {
		PmValue v = { id };

		if (pm_value_is_const(g, v) && pm_value_n_uses(g, v) > 0)
			bytes += bytes_of(g, v);
	}
	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		bytes += bytes_of(g, pm_graph_output(g, i));
	return bytes;
}

static PmStatus one_machine(const PmSystems *s, const PmSysGraph *g, PmErr *err)
{
	size_t known = s->n;

	for (size_t k = 0; k < s->n; k++) {
		if (!*g->cell[k].machine)
			continue;
		if (known < s->n && strcmp(g->cell[k].machine, g->cell[known].machine) != 0)
			return pm_err(err, PM_E_INVALID,
				      "Graph %s was timed on %s by %s and on %s by %s; time both on one "
				      "machine, or "
				      "leave one of them out.",
				      g->label, g->cell[known].machine, s->name[known], g->cell[k].machine,
				      s->name[k]);
		known = k;
	}
	return PM_OK;
}

PmStatus pm_systems_one_machine(const PmSystems *s, size_t first, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = first; i < s->graphs.n && !st; i++)
		st = one_machine(s, &s->graphs.v[i], err);
	return st;
}

PmStatus pm_sys_roofline(const PmGraph *g, const char *profile, double *seconds, PmErr *err)
{
	const PmProfile *named = pm_profile(profile);
	PmPlanStats s;
	double bytes;
	PmStatus st;

	if (!named)
		return pm_err(err, PM_E_NOT_FOUND, "There is no device profile '%.40s'; there are%s.",
			      profile, pm_target_names());
	st = pm_graph_plan_stats(g, NULL, 0, named, &s, err);
	if (st)
		return st;
	/* A gather need not read its whole table: the plan knows what its launches touch. */
	bytes = fmin(bytes_across(g), (double)s.bytes);
	*seconds = fmax(bytes / named->bytes_per_second, s.arithmetic_seconds);
	return PM_OK;
}

/* ---- figures ---- */

typedef struct Rows { /* the rows of one question, as the metrics want them */
	PM_VEC(PmItem) item;
	PM_VEC(PmScoreRecord) rec, strict;
	PM_VEC(PmScoreOutput) out;
	PM_VEC(double) speedup, share;
} Rows;

static void rows_release(Rows *r)
{
	PM_VEC_RELEASE(&r->item);
	PM_VEC_RELEASE(&r->rec);
	PM_VEC_RELEASE(&r->strict);
	PM_VEC_RELEASE(&r->out);
	PM_VEC_RELEASE(&r->speedup);
	PM_VEC_RELEASE(&r->share);
}

static int is_right(const PmSysCell *c)
{
	return !strcmp(c->status, "correct") && c->smallest_t <= -5;
}

static double speedup(const PmSystems *s, const PmSysGraph *g, size_t system, PmSysClock clock)
{
	double a = g->cell[s->reference].seconds[clock], b = g->cell[system].seconds[clock];

	return a > 0 && b > 0 ? a / b : NAN;
}

static PmScoreRecord record_of(const PmSysCell *c, double x, PmScoreOutput *o, int dtype)
{
	*o = (PmScoreOutput){ .dtype = dtype, .equal = c->smallest_t <= PM_T_MIN };
	for (int t = 0; t < PM_T_COUNT; t++)
		o->close[t] = t + PM_T_MIN >= c->smallest_t;
	return (PmScoreRecord){
		.status = *c->status ? c->status : "missing", .speedup = x, .n_outputs = 1, .outputs = o
	};
}

static void add_row(const PmSystems *s, const PmSysGraph *g, size_t system, PmSysClock clock, Rows *r,
		    PmSysFigures *out)
{
	const PmSysCell *c = &g->cell[system];
	double x = speedup(s, g, system, clock);
	int right = is_right(c);
	PmItem item = { right, c->matched, x };
	PmScoreRecord rec = record_of(c, x, &r->out.v[r->out.n++], g->dtype);
	int untimed = !strcmp(rec.status, "correct") && !(x > 0);

	out->n++;
	out->n_timed += x > 0;
	out->n_matched += c->matched;
	out->n_right += right;
	out->n_faster += right && x > 1;
	if (untimed) /* right, but worth nothing here: the published score has no figure for it */
		rec.status = "missing";
	PM_VEC_PUSH(&r->item, item);
	PM_VEC_PUSH(&r->rec, rec);
	if (!c->matched && !strcmp(rec.status, "correct"))
		rec.status = "no_match";
	PM_VEC_PUSH(&r->strict, rec);
	if (x > 0 && g->roofline > 0)
		PM_VEC_PUSH(&r->share, g->roofline / c->seconds[clock]);
	if (x > 0 && right) {
		out->worst = x < out->worst || !(out->worst > 0) ? x : out->worst;
		PM_VEC_PUSH(&r->speedup, x);
	}
}

static int is_in(const PmSysGraph *g, PmSysPart part)
{
	return part == PM_SYS_ALL || g->algebraic == (part == PM_SYS_ALGEBRAIC);
}

size_t pm_systems_count(const PmSystems *s, PmSysPart part)
{
	size_t n = 0;

	for (size_t i = 0; i < s->graphs.n; i++)
		n += (size_t)is_in(&s->graphs.v[i], part);
	return n;
}

static int is_of_group(const PmSysGraph *g, const PmSysGroup *group)
{
	return (group->category == PM_N_CATEGORIES || g->category == group->category) &&
	       (group->dtype < 0 || g->dtype == group->dtype);
}

size_t pm_systems_count_group(const PmSystems *s, const PmSysGroup *group)
{
	size_t n = 0;

	for (size_t i = 0; i < s->graphs.n; i++)
		n += (size_t)is_of_group(&s->graphs.v[i], group);
	return n;
}

/* Which rows; task 0 is any task. */
typedef struct Which {
	int64_t task;
	PmSysPart part;
	PmSysGroup group;
} Which;

static const PmSysGroup any_group = { PM_N_CATEGORIES, -1 };

static int is_asked(const PmSysGraph *g, const Which *w)
{
	return (!w->task || g->task == w->task) && is_in(g, w->part) && is_of_group(g, &w->group);
}

static PmStatus figures(const PmSystems *s, size_t system, PmSysClock clock, const Which *which,
			PmPreset preset, PmSysFigures *out, PmErr *err)
{
	PmScoreRule rule = pm_score_rule(preset);
	Rows r = { 0 };
	PmRng rng;
	PmStatus st;

	memset(out, 0, sizeof *out);
	out->worst = NAN;
	PM_VEC_RESERVE(&r.out, s->graphs.n + 1); /* records point into it: it must not move */
	for (size_t i = 0; i < s->graphs.n; i++)
		if (is_asked(&s->graphs.v[i], which))
			add_row(s, &s->graphs.v[i], system, clock, &r, out);
	pm_rng_init(&rng, s->graphs.n);
	out->gmean = pm_bootstrap_gmean(r.speedup.v, r.speedup.n, 1000, 0.95, &rng);
	out->roofline = pm_median(r.share.v, r.share.n);
	for (int k = 0; k < PM_N_FAST_P; k++)
		out->fast_p[k] = pm_fast_p(r.item.v, r.item.n, pm_fast_p_levels[k]);
	st = pm_score(&rule, r.rec.v, r.rec.n, &out->score, err);
	if (!st)
		st = pm_score(&rule, r.strict.v, r.strict.n, &out->strict, err);
	rows_release(&r);
	return st;
}

PmStatus pm_systems_figures(const PmSystems *s, size_t system, PmSysClock clock, int64_t task, PmSysPart part,
			    PmPreset preset, PmSysFigures *out, PmErr *err)
{
	return figures(s, system, clock, &(Which){ task, part, any_group }, preset, out, err);
}

PmStatus pm_systems_of_group(const PmSystems *s, size_t system, PmSysClock clock, const PmSysGroup *group,
			     PmPreset preset, PmSysFigures *out, PmErr *err)
{
	return figures(s, system, clock, &(Which){ 0, PM_SYS_ALL, *group }, preset, out, err);
}

/* Both are right on the row, and timed. */
static int is_compared(const PmSysCell *x, const PmSysCell *y, PmSysClock clock)
{
	return is_right(x) && is_right(y) && x->seconds[clock] > 0 && y->seconds[clock] > 0;
}

PmInterval pm_systems_times_as_fast(const PmSystems *s, size_t a, size_t b, PmSysClock clock)
{
	PM_VEC(double) rows = { 0 }, tasks = { 0 };
	PmInterval found;
	double logs = 0;
	size_t n = 0;
	PmRng rng;

	for (size_t i = 0; i < s->graphs.n; i++) { /* rows of a task stand together */
		const PmSysGraph *g = &s->graphs.v[i];

		if (is_compared(&g->cell[a], &g->cell[b], clock)) {
			double ratio = g->cell[b].seconds[clock] / g->cell[a].seconds[clock];

			PM_VEC_PUSH(&rows, ratio);
			logs += log(ratio);
			n++;
		}
		if (n && (i + 1 == s->graphs.n || g[1].task != g->task)) {
			PM_VEC_PUSH(&tasks, exp(logs / (double)n));
			logs = 0;
			n = 0;
		}
	}
	pm_rng_init(&rng, s->graphs.n);
	found = tasks.n > 1 ? pm_bootstrap_gmean(tasks.v, tasks.n, 1000, 0.95, &rng)
			    : pm_bootstrap_gmean(rows.v, rows.n, 1000, 0.95, &rng);
	PM_VEC_RELEASE(&rows);
	PM_VEC_RELEASE(&tasks);
	return found;
}

double pm_systems_share_faster(const PmSystems *s, size_t a, size_t b, PmSysClock clock, size_t *n)
{
	size_t faster = 0, both = 0;

	for (size_t i = 0; i < s->graphs.n; i++) {
		const PmSysCell *x = &s->graphs.v[i].cell[a], *y = &s->graphs.v[i].cell[b];

		if (!is_compared(x, y, clock))
			continue;
		both++;
		faster += x->seconds[clock] < y->seconds[clock];
	}
	*n = both;
	return both ? (double)faster / (double)both : NAN;
}
