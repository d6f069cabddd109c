/* SPDX-License-Identifier: Apache-2.0 */
/* runner_judge.c - what a candidate's results are worth: the error bound, and the ladder of tolerances. */
#include "base/sys/threads.h"
#include "bench/compare/agree.h"
#include "bench/compare/by_rows.h"
#include "bench/compare/constant.h"
#include "bench/compare/either.h"
#include "bench/eval/runner_priv.h"
#include "runtime/ref/ref.h"
#include "runtime/worker/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEED_T = -5 }; /* the level of the ladder that decides where there is no bound */

void pm__judge_begin(Eval *e)
{
	PmEvalRecord *r = e->rec;
	int passnet = e->o->preset == PM_PRESET_PASSNET;

	r->n_outputs = passnet ? pm_graph_n_outputs(e->m->g) : e->probe.n_results;
	r->outputs = pm_xcalloc(r->n_outputs + 1, sizeof *r->outputs);
	for (size_t i = 0; i < r->n_outputs; i++) {
		r->outputs[i].dtype = passnet ? pm_value_type(e->m->g, pm_graph_output(e->m->g, i))->dtype
					      : pm_probe_dtype(&e->probe, i);
		r->outputs[i].equal = 1;
		memset(r->outputs[i].close, 1, sizeof r->outputs[i].close);
	}
	r->smallest_t = PM_T_MIN;
	e->silence = pm_xcalloc(r->n_outputs + 1, sizeof *e->silence);
}

/* Folds one comparison into the record: a level passes only if it passes everywhere. */
static void note(Eval *e, const PmComparison *c, size_t i, const char *name, const char *where)
{
	PmEvalRecord *r = e->rec;
	PmScoreOutput *o = &r->outputs[i];

	o->equal = o->equal && c->equal;
	for (int t = 0; t < PM_T_COUNT; t++)
		o->close[t] = (signed char)(o->close[t] && c->close[t] == 1);
	if (c->smallest_t > r->smallest_t || (c->smallest_t == r->smallest_t && r->worst.index < 0)) {
		r->smallest_t = c->smallest_t;
		if (c->worst.index >= 0) {
			r->worst = c->worst;
			r->worst.index = pm__sample_element(e, i, c->worst.index);
			snprintf(r->worst_where, sizeof r->worst_where, "output '%.60s', %s", name, where);
		}
	}
}

/* Notes that the ladder refuses a result. */
static void refuse(Eval *e, const PmComparison *c, size_t i, const PmType *type, const char *name)
{
	int t = c->smallest_t - PM_T_MIN;

	if (c->smallest_t <= NEED_T)
		return;
	e->by_ladder = 1;
	if (t <= e->not_close_t)
		return;
	e->not_close_t = t;
	e->not_close = e->run;
	pm_failure_of_comparison(&e->not_close, c, type, name);
	pm__sample_place(e, i, &e->not_close);
}

/* ---- the bound ---- */

/* One kernel's operands and what it should have made of them. */
typedef struct Expected {
	const PmGraph *body;
	PmTensor *lent;   /* of the probe: the operands */
	PmGraph *of_rows; /* owned, where some rows are judged, as the next: the body for these; else NULL */
	PmTensor *taken;  /* these rows of the operands, and then of the results */
	const PmTensor *ops;  /* what is judged: what is lent, or these rows */
	const PmTensor **got; /* owned: the results, the kernel's or these rows of them */
	PmTensor *want;       /* owned */
	PmBound *bound;       /* owned; y alone means something where there is no bound */
	PmRows rows;          /* where it is judged by rows: neither of the two is there then, */
	PmByRows *by_rows;    /* but what was found (owned); NULL = it is judged whole */
	size_t n_in, n_out;
} Expected;

static void release(Eval *e, size_t k, Expected *x)
{
	if (x->lent)
		pm_probe_operands_release(&e->probe, k, &x->lent);
	pm_tensors_release(x->want, x->n_out);
	pm_bounds_release(x->bound, x->n_out);
	pm_tensors_release(x->taken, x->n_in + x->n_out);
	pm_graph_free(x->of_rows);
	pm_rows_release(&x->rows);
	free(x->taken);
	free(x->by_rows);
	free(x->got);
	free(x->want);
	free(x->bound);
}

static PmStatus round_all(Expected *x, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < x->n_out && !st; i++)
		st = pm_ref_store(&x->want[i], &x->bound[i].y, err);
	return st;
}

/* What is open by more than one element in a hundred is left to the ladder. */
static int is_bounded(const PmBoundFit *f, const PmTensor *y)
{
	return f->n_class || f->open * 100 <= pm_tensor_numel(y);
}

/* The further classes go to the limits of types, which no tolerance knows: where there is no bound, what they
 * show decides nothing. */
static int decides_without_bound(PmInputClass cls)
{
	return cls < PM_N_INPUT_CLASSES;
}

/* Judges all results by rows; without what that finds where the whole has to be looked at. */
static PmStatus expect_by_rows(Eval *e, Expected *x, PmInputClass cls, PmErr *err)
{
	PmCloseRule rule = pm_close_rule(e->o->preset);
	int told = 1;
	PmStatus st;

	for (size_t i = 0; i < x->n_out; i++)
		if (!pm_type_equal(pm_value_type(x->body, pm_graph_output(x->body, i)), &x->got[i]->type))
			return PM_OK;
	if (!pm_is_by_rows(x->body, &x->rows))
		return PM_OK;
	x->by_rows = pm_xcalloc(x->n_out + 1, sizeof *x->by_rows);
	st = pm_by_rows(x->body, &x->rows, x->ops, x->n_in, x->got, x->n_out, PM_TIER_STRICT, &rule,
			x->by_rows, err);
	for (size_t i = 0; i < x->n_out && !st; i++) {
		const PmByRows *r = &x->by_rows[i];

		told = told && pm_by_rows_suffices(r, r->known && is_bounded(&r->fit, x->got[i]),
						   decides_without_bound(cls), NEED_T);
	}
	if (!st && told)
		return PM_OK;
	free(x->by_rows);
	x->by_rows = NULL;
	return st;
}

/* The judged rows take the place of all: body, operands and results. */
static PmStatus take_rows(const Eval *e, Expected *x, PmErr *err)
{
	const PmSampling *s = &e->sample;
	PmStatus st = pm_rows_graph(x->body, &s->rows, s->n_row, &x->of_rows, err);

	x->taken = pm_xcalloc(x->n_in + x->n_out + 1, sizeof *x->taken);
	for (size_t i = 0; i < x->n_in && !st; i++)
		st = pm_rows_take(&s->rows, pm_graph_input(x->body, i), &x->lent[i], s->row, s->n_row,
				  &x->taken[i], err);
	for (size_t i = 0; i < x->n_out && !st; i++) {
		PmTensor *to = &x->taken[x->n_in + i];

		st = pm_rows_take(&s->rows, pm_graph_output(x->body, i), x->got[i], s->row, s->n_row, to,
				  err);
		x->got[i] = to;
	}
	if (st)
		return st;
	x->body = x->of_rows;
	x->ops = x->taken;
	return st;
}

static PmStatus expect(Eval *e, size_t k, const PmTensor *in, const PmRunResult *got, PmInputClass cls,
		       Expected *x, PmErr *err)
{
	PmErr no_bound;
	PmStatus st;

	memset(x, 0, sizeof *x);
	pm_err_init(&no_bound);
	st = pm_probe_operands(&e->probe, k, in, got->out, &x->body, &x->lent, &x->n_in, err);
	if (st)
		return st;
	x->ops = x->lent;
	x->n_out = pm_graph_n_outputs(x->body);
	x->got = pm_xcalloc(x->n_out + 1, sizeof(void *));
	for (size_t i = 0; i < x->n_out; i++)
		x->got[i] = pm_probe_result(&e->probe, k, i, got->out);
	if (e->sample.on)
		st = take_rows(e, x, err);
	if (!st)
		st = expect_by_rows(e, x, cls, err);
	if (st || x->by_rows)
		return st;
	x->want = pm_xcalloc(x->n_out + 1, sizeof *x->want);
	x->bound = pm_xcalloc(x->n_out + 1, sizeof *x->bound);
	st = pm_bound_run(x->body, x->ops, x->n_in, PM_TIER_STRICT, x->bound, x->n_out, &no_bound);
	if (!st)
		return round_all(x, err);
	if (st != PM_E_UNSUPPORTED)
		return pm_err(err, st, "%s", no_bound.text);
	return pm_ref_run(x->body, x->ops, x->n_in, x->want, x->n_out, err);
}

/* How result i fits a tier. */
static PmStatus fit_tier(const Expected *x, size_t i, PmPrecisionTier tier, PmBoundFit *f, PmErr *err)
{
	PmCloseRule rule = pm_close_rule(PM_PRESET_SOUND);
	PmByRows *by = x->by_rows ? pm_xcalloc(x->n_out + 1, sizeof *by) : NULL;
	PmBound *b = pm_xcalloc(x->n_out + 1, sizeof *b);
	PmStatus st = by ? pm_by_rows(x->body, &x->rows, x->ops, x->n_in, x->got, x->n_out, tier, &rule, by,
				      err)
			 : pm_bound_run(x->body, x->ops, x->n_in, tier, b, x->n_out, err);

	if (!st && by)
		*f = by[i].fit;
	else if (!st)
		pm_bound_fit(&b[i], x->got[i], f);
	pm_bounds_release(b, x->n_out);
	free(b);
	free(by);
	return st;
}

/* The narrowest tier from `tier` on in which result i is. */
static PmStatus find_tier(const Expected *x, size_t i, PmPrecisionTier *tier, PmErr *err)
{
	PmStatus st = PM_OK;

	for (; *tier < PM_TIER_NONE && !st; (*tier)++) {
		PmBoundFit f;

		st = fit_tier(x, i, *tier, &f, err);
		if (st || f.within)
			break;
	}
	return st;
}

enum { FAR = 10000 }; /* what is over so many times its limit is not worth a number */

static const char *times_limit(double x, char out[16])
{
	if (x < FAR)
		snprintf(out, 16, "%.3g", x);
	else
		snprintf(out, 16, "far beyond");
	return out;
}

/* Says the worst that was found, as far as the strict bound goes: 1 when it is this. */
static int keep_fit(PmEvalRecord *r, const PmBoundFit *f, PmPrecisionTier tier, int dtype, const char *name,
		    const char *where)
{
	PmEvalBound *b = &r->bound;
	char t[4][16];

	b->n++;
	b->rms = fmax(b->rms, f->rms);
	b->max = fmax(b->max, f->n_class ? INFINITY : f->max);
	b->bias = fmax(b->bias, f->bias);
	b->slope = fmax(b->slope, f->slope);
	if (tier <= b->tier && tier != PM_TIER_STRICT)
		return 0;
	b->tier = tier > b->tier ? tier : b->tier;
	if (tier == PM_TIER_STRICT)
		return 0;
	pm_failure_worst(dtype, &(PmElement){ f->index, f->expected, f->got }, &b->worst);
	snprintf(b->where, sizeof b->where, "output '%.48s', %.64s", name, where);
	snprintf(b->why, sizeof b->why,
		 "Too far off: %s: element %lld is %.9g where the reference has %.9g; of what rounding "
		 "explains the error is %s there, %s in root mean square, %s in the mean, and %s as a share "
		 "of "
		 "the result (1 is the limit).",
		 b->where, (long long)f->index, f->got, f->expected,
		 times_limit(f->n_class ? INFINITY : f->max, t[0]), times_limit(f->rms, t[1]),
		 times_limit(f->bias, t[2]), times_limit(f->slope, t[3]));
	return 1;
}

/* Judges result i by the bound. *bounded: whether there is one. */
static PmStatus judge_result(Eval *e, const Expected *x, size_t i, const PmTensor *y, const char *name,
			     const char *where, int *bounded, PmPrecisionTier *tier, int *tells, PmErr *err)
{
	const PmBound *b = x->by_rows ? NULL : &x->bound[i];
	PmStage was;
	PmBoundFit f, shown;
	PmStatus st = PM_OK;

	*tells = 1;
	*tier = PM_TIER_STRICT;
	*bounded = b ? b->y.numel && b->known && pm_type_equal(&b->y.type, &y->type) : x->by_rows[i].known;
	if (!*bounded)
		return PM_OK;
	if (b)
		pm_bound_fit(b, y, &f);
	else
		f = x->by_rows[i].fit;
	*bounded = is_bounded(&f, y);
	if (!*bounded)
		return PM_OK;
	if (!f.within) {
		*tier = PM_TIER_TF32;
		was = pm_stage_enter(&e->stages, PM_STAGE_REFERENCE);
		st = find_tier(x, i, tier, err);
		pm_stage_enter(&e->stages, was);
	}
	shown = f;
	shown.index = pm__sample_element(e, i, f.index);
	if (!st && keep_fit(e->rec, &shown, *tier, y->type.dtype, name, where)) {
		e->beyond = e->run;
		pm_failure_of_fit(&e->beyond, &f, y, name);
		pm__sample_place(e, i, &e->beyond);
	}
	*tells = f.tells;
	return st;
}

/* Compares y with what a reference gives, rounded to y's type. With above_constant, also whether y is closer
 * to it than a constant. */
static PmStatus compare_with(const PmCloseRule *rule, const PmRefTensor *ref, const PmTensor *y,
			     int *above_constant, PmComparison *c, PmErr *err)
{
	PmTensor want;
	PmStatus st = pm_ref_store(&want, ref, err);

	if (!st) {
		PmTensorView w = pm_view_of(&want), g = pm_view_of(y);

		pm_compare(&w, &g, rule, c);
		if (above_constant) {
			PmSpread spread = { 0 };

			pm_spread_add(&spread, &want, y);
			*above_constant = pm_beats_constant(&spread);
		}
	}
	pm_tensor_release(&want);
	return st;
}

/* Is y close to what a reference gives, and better than a constant? */
static PmStatus is_near(const PmCloseRule *rule, const PmRefTensor *ref, const PmTensor *y, int ladder,
			int *near, PmComparison *c, PmErr *err)
{
	int above_constant = 0;
	PmStatus st = compare_with(rule, ref, y, &above_constant, c, err);

	if (!st)
		*near |= above_constant && (!ladder || c->smallest_t <= NEED_T);
	return st;
}

/* Notes that the bound leaves room for another answer than result i here, and whether this one needs it. */
static PmStatus keep_silence(Eval *e, size_t slot, const Expected *x, size_t i, const PmTensor *y, int ladder,
			     const char *name, const char *where, PmErr *err)
{
	const PmBound *b = x->by_rows ? NULL : &x->bound[i];
	PmCloseRule rule = pm_close_rule(e->o->preset);
	PmSilence *s = &e->silence[slot];
	PmComparison c, as_eager;
	int near = !b; /* what is judged by rows is told by them */
	PmStatus st = b ? is_near(&rule, &b->y, y, ladder, &near, &c, err) : PM_OK;

	if (!st && !near && b->eager.numel)
		st = is_near(&rule, &b->eager, y, ladder, &near, &as_eager, err);
	if (!st && !near && !s->doubtful)
		st = pm_near_either(x->body, x->ops, x->n_in, i, b, y, &rule, NEED_T, &near, err);
	s->silent++;
	e->rec->bound.n_silent++;
	if (st || s->doubtful || near)
		return st;
	s->doubtful = 1;
	s->failure = e->run;
	pm_failure_of_comparison(&s->failure, &c, &y->type, name);
	pm__sample_place(e, slot, &s->failure);
	snprintf(s->why, sizeof s->why,
		 "Not proven right: rounding may change output '%.60s' by as much as its values differ on "
		 "every class of inputs, so it has to be close at t = %d and better than a constant; %s it "
		 "is not.",
		 name, NEED_T, where);
	return PM_OK;
}

/* Where there is no bound: what rounds its intermediate values as the eager run does is as right as what
 * keeps them. *c becomes the comparison with that reference where it is the closer one. */
static PmStatus compare_as_eager(const PmCloseRule *rule, const PmRefTensor *eager, const PmTensor *y,
				 PmComparison *c, PmErr *err)
{
	PmComparison d;
	PmStatus st = compare_with(rule, eager, y, NULL, &d, err);

	if (!st && d.smallest_t < c->smallest_t)
		*c = d;
	return st;
}

/* Within the tier asked for is close from the level on that decides. */
static void admit(PmComparison *c)
{
	for (int t = NEED_T; t <= PM_T_MAX; t++)
		c->close[t - PM_T_MIN] = 1;
	c->smallest_t = c->smallest_t < NEED_T ? c->smallest_t : NEED_T;
}

/* Where there is no bound: what the references allow together. */
static PmStatus compare_without(const Expected *x, size_t i, const PmTensor *y, const PmCloseRule *rule,
				PmComparison *c, PmErr *err)
{
	const PmBound *b = &x->bound[i];
	int near = 0;
	PmStatus st = PM_OK;

	if (c->smallest_t > NEED_T && b->eager.numel)
		st = compare_as_eager(rule, &b->eager, y, c, err);
	if (!st && c->smallest_t > NEED_T && b->known)
		st = pm_near_either(x->body, x->ops, x->n_in, i, b, y, rule, NEED_T, &near, err);
	if (near)
		admit(c);
	return st;
}

static void compare_result(const Expected *x, size_t i, const PmCloseRule *rule, PmComparison *c)
{
	if (x->by_rows) {
		*c = x->by_rows[i].c;
	} else {
		PmTensorView w = pm_view_of(&x->want[i]), g = pm_view_of(x->got[i]);

		pm_compare(&w, &g, rule, c);
	}
}

/* Every kernel against its body: the oracle in double precision, on the very operands the kernel was given.
 * It exists only from here on. What surrounds the kernels runs the same code on both sides and is not judged.
 */
static PmStatus judge_kernels(Eval *e, const PmTensor *in, const PmRunResult *got, PmInputClass cls,
			      const char *where, PmErr *err)
{
	PmCloseRule rule = pm_close_rule(e->o->preset);
	PmStatus st = PM_OK;
	size_t slot = 0;

	for (size_t k = 0; k < e->probe.n_kernels && !st; k++) {
		Expected x;
		PmStage was = pm_stage_enter(&e->stages, PM_STAGE_REFERENCE);
		st = expect(e, k, in, got, cls, &x, err);
		pm_stage_enter(&e->stages, was);
		for (size_t i = 0; i < x.n_out && !st; i++, slot++) {
			const char *name = pm_probe_name(&e->probe, k, i);
			const PmTensor *y = x.got[i];
			PmComparison c;
			PmPrecisionTier tier;
			int bounded, tells;

			st = judge_result(e, &x, i, y, name, where, &bounded, &tier, &tells, err);
			if (st)
				break;
			compare_result(&x, i, &rule, &c);
			if (!bounded && decides_without_bound(cls) && !x.by_rows)
				st = compare_without(&x, i, y, &rule, &c, err);
			e->silence[slot].telling += bounded && tells;
			if (!st && bounded && !tells)
				st = keep_silence(e, slot, &x, i, y, cls < PM_N_INPUT_CLASSES, name, where,
						  err);
			if (bounded && tier <= e->o->tier)
				admit(&c);
			if (bounded || decides_without_bound(cls))
				note(e, &c, slot, name, where);
			e->rec->bound.n_without += !bounded && decides_without_bound(cls);
			if (!bounded && decides_without_bound(cls))
				refuse(e, &c, slot, x.by_rows ? &y->type : &x.want[i].type, name);
		}
		release(e, k, &x);
	}
	return st;
}

/* The published protocol draws one class of inputs. Ours may show more, but where the reference is not finite
 * on them they decide nothing: those elements become 0 on both sides. */
static void leave_open(PmTensor *want, PmTensor *got)
{
	if (!pm_dtype_is_float(want->type.dtype) || !pm_type_equal(&want->type, &got->type))
		return;
	for (int64_t k = 0; k < pm_tensor_numel(want); k++)
		if (!isfinite(pm_tensor_get(want, k))) {
			pm_tensor_set(want, k, 0);
			pm_tensor_set(got, k, 0);
		}
}

/* The published protocol: the graph's outputs against the eager baseline's on the same device. */
static PmStatus compare_eager(Eval *e, const PmTensor *in, PmRunResult *got, PmInputClass cls,
			      const char *where, PmErr *err)
{
	PmRunOpts o = { .device = e->o->device, .deadline = e->o->device_deadline, .poison = 0x7fc1d00d };
	PmCloseRule rule = pm_close_rule(e->o->preset);
	PmRunResult want;
	PmStage was = pm_stage_enter(&e->stages, PM_STAGE_REFERENCE);
	PmStatus st = pm_run_graph(e->m->g, in, pm_graph_n_inputs(e->m->g), &o, &want, err);

	pm_stage_enter(&e->stages, was);
	for (size_t i = 0; !st && i < want.n_out; i++) {
		PmTensorView w, g;
		PmComparison c;

		if (cls != PM_INPUTS_NORMAL)
			leave_open(&want.out[i], &got->out[i]);
		w = pm_view_of(&want.out[i]);
		g = pm_view_of(&got->out[i]);
		pm_compare(&w, &g, &rule, &c);
		note(e, &c, i, pm_value_name(e->m->g, pm_graph_output(e->m->g, i)), where);
		refuse(e, &c, i, &want.out[i].type, pm_value_name(e->m->g, pm_graph_output(e->m->g, i)));
	}
	if (!st)
		pm_run_result_release(&want);
	return st;
}

static void say_by_ladder(const Eval *e, char *text, size_t room)
{
	const PmWorst *w = &e->rec->worst;

	snprintf(text, room,
		 "Wrong at t = %d: %s, element %lld is %.9g where the reference has %.9g (%.3g ulp).", NEED_T,
		 e->rec->worst_where, (long long)w->index, w->got, w->expected, w->ulp);
}

static void tell_by_ladder(Eval *e)
{
	char text[PM_ERR_MAX];

	say_by_ladder(e, text, sizeof text);
	pm__tell(e, text);
}

PmStatus pm__judge(Eval *e, const PmTensor *in, PmRunResult *got, PmInputClass cls, const char *where,
		   PmErr *err)
{
	PmStage was = pm_stage_enter(&e->stages, PM_STAGE_COMPARE);
	PmStatus st = e->o->preset == PM_PRESET_PASSNET ? compare_eager(e, in, got, cls, where, err)
							: judge_kernels(e, in, got, cls, where, err);

	if (!st && e->rec->bound.tier > e->o->tier)
		pm__tell(e, e->rec->bound.why);
	else if (!st && e->by_ladder)
		tell_by_ladder(e);
	pm_stage_enter(&e->stages, was);
	return st;
}

/* A result of which no comparison tells anything, and that is not near enough without. */
static const PmSilence *unproven(Eval *e)
{
	const PmSilence *first = NULL;

	e->rec->bound.n_undecided = 0;
	for (size_t i = 0; i < e->rec->n_outputs; i++) {
		const PmSilence *s = &e->silence[i];
		int undecided = s->silent && !s->telling;

		e->rec->bound.n_undecided += undecided;
		if (undecided && s->doubtful && !first)
			first = s;
	}
	return first;
}

int pm__judge_open(Eval *e, const PmSilence **s)
{
	const PmSilence *first = unproven(e);

	if (s)
		*s = first;
	return first != NULL;
}

int pm__judge_right(Eval *e)
{
	return e->rec->verdict == PM_VERDICT_OK && e->rec->bound.tier <= e->o->tier && !e->by_ladder &&
	       !pm__judge_open(e, NULL);
}

/* Further inputs might tell it. */
static PmStatus say_open(Eval *e, const PmSilence *s)
{
	char text[PM_ERR_MAX];

	snprintf(text, sizeof text,
		 "The inputs of a first answer do not tell whether it is right (leave out --quick): %.700s",
		 s->why);
	return pm__say(e, PM_VERDICT_NOT_CHECKED, text);
}

void pm__judge_end(Eval *e)
{
	PmEvalRecord *r = e->rec;
	const PmSilence *silent = unproven(e);
	char text[PM_ERR_MAX];

	if (r->bound.tier > e->o->tier) {
		if (r->bound.worst.index >= 0) { /* the element of the sentence */
			r->worst = r->bound.worst;
			snprintf(r->worst_where, sizeof r->worst_where, "%s", r->bound.where);
		}
		snprintf(text, sizeof text, "%s%s%s%s", r->bound.why,
			 r->bound.tier < PM_TIER_NONE ? " It would do with --precision " : "",
			 r->bound.tier < PM_TIER_NONE ? pm_tier_name(r->bound.tier) : "",
			 r->bound.tier < PM_TIER_NONE ? "." : "");
		pm__say(e, r->bound.tier < PM_TIER_NONE ? PM_VERDICT_PRECISION : PM_VERDICT_INCORRECT, text);
		r->failure = e->beyond;
	} else if (e->by_ladder) {
		say_by_ladder(e, text, sizeof text);
		pm__say(e, PM_VERDICT_INCORRECT, text);
		r->failure = e->not_close;
	} else if (r->unchecked.n) { /* comparisons that might tell what is silent are missing */
		pm__say_unchecked(e);
	} else if (silent && e->o->first_answer) {
		say_open(e, silent);
	} else if (silent) {
		pm__say(e, PM_VERDICT_INCORRECT, silent->why);
		r->failure = silent->failure;
	}
}
