/* runner.c - evaluates one pass on the members of a task. */
#include "bench/runner.h"

#include "base/hash.h"
#include "base/io.h"
#include "base/proc.h"
#include "base/str.h"
#include "bench/agree.h"
#include "bench/probe.h"
#include "integrity/compile_gate.h"
#include "ir/kernel.h"
#include "runtime/ref.h"
#include "runtime/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NEED_T = -5,              /* the level at which a record is called OK */
	CHECK_FLOPS = 1000000000, /* operations that the reference may take over timed calls */
};

/* What one member's evaluation carries from stage to stage. */
typedef struct Eval {
	const PmEvalMember *m;
	const PmEvalOpts *o;
	PmEvalRecord *rec;
	PmCandidate cand;
	PmWorker *worker; /* the candidate's own */
	PmProbe probe;    /* the candidate with every kernel's operands and results as outputs */
	int n_alts;       /* most alternatives of any kernel */
} Eval;

static PmStatus say(Eval *e, PmVerdict v, const char *text)
{
	e->rec->verdict = v;
	snprintf(e->rec->why, sizeof e->rec->why, "%s", text);
	return PM_OK;
}

/* ---- match ---- */

static PmStatus stage_match(Eval *e, const char *so_path, PmErr *err)
{
	PmEvalRecord *r = e->rec;
	PmStatus st = pm_referee_rewrite(so_path, e->o->only_rule, e->m->g, e->o->pass_deadline, &e->cand,
					 err);

	if (st)
		return st;
	r->n_applied = e->cand.n_applied;
	r->n_kernels = e->cand.n_kernels;
	r->near_miss = e->cand.near_miss;
	e->cand.near_miss = NULL;
	return say(e, e->cand.verdict, e->cand.why);
}

/* ---- compile ---- */

/* Compiled in a closed process and judged by their PTX, for whichever device: what the pass could not do on a
 * GPU it may not do here. The device finds the judged code in the cache. */
static PmStatus stage_compile(Eval *e, PmErr *err)
{
	PmCompileJudgement j;
	PmDeviceInfo info;
	PmStatus st = pm_worker_info(e->worker, &info, err);

	if (!st)
		st = pm_compile_gate(e->cand.g, info.cc, &j, err);
	return st ? st : say(e, j.verdict, j.why);
}

static int count_alternatives(const PmGraph *g)
{
	int most = 1;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		int n = (int)pm_node_i(g, pm_graph_node_at(g, i), "alts", 1);

		if (pm_node_op(g, pm_graph_node_at(g, i)) == PM_OP_Kernel && n > most)
			most = n;
	}
	return most;
}

/* Alternative `k` for every kernel that has one, its last otherwise. */
static int *choose_alternatives(const PmGraph *g, int k, size_t *n)
{
	int *alts = pm_xcalloc(pm_graph_n_nodes(g) + 1, sizeof *alts);

	*n = 0;
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode node = pm_graph_node_at(g, i);
		int have;

		if (pm_node_op(g, node) != PM_OP_Kernel)
			continue;
		have = (int)pm_node_i(g, node, "alts", 1);
		alts[(*n)++] = k < have ? k : have - 1;
	}
	return alts;
}

/* ---- correctness ---- */

/* The verdict of a failed device run. */
static PmVerdict device_verdict(PmStatus st)
{
	switch (st) {
	case PM_E_INVALID:
		return PM_VERDICT_COMPILE_FAIL;
	case PM_E_TIMEOUT:
		return PM_VERDICT_DEVICE_TIMEOUT;
	case PM_E_OOB:
		return PM_VERDICT_OOB;
	case PM_E_MUTATED:
		return PM_VERDICT_INPUT_MUTATED;
	case PM_E_LIMIT:
		return PM_VERDICT_LAUNCH_FAIL;
	default:
		return PM_VERDICT_DEVICE_FAULT;
	}
}

/* Failures that are the machine's, not the pass's. */
static int is_our_fault(PmStatus st)
{
	return st == PM_E_ENV || st == PM_E_INTERNAL || st == PM_E_IO || st == PM_E_NOT_FOUND;
}

static PmStatus run_candidate(Eval *e, const PmTensor *in, int alt, uint32_t poison, PmRunResult *out,
			      PmErr *err)
{
	PmRunOpts o = { .device = e->o->device,
			.deadline = e->o->device_deadline,
			.poison = poison,
			.profile = e->o->profile,
			.worker = e->worker };
	PmErr run_err;
	int *alts = choose_alternatives(e->probe.g, alt, &o.n_alts);
	PmStatus st;

	pm_err_init(&run_err);
	o.alts = alts;
	st = pm_run_graph(e->probe.g, in, pm_graph_n_inputs(e->probe.g), &o, out, &run_err);
	free(alts);
	if (!st)
		return PM_OK;
	if (is_our_fault(st))
		return pm_err(err, st, "%s", run_err.text);
	return say(e, device_verdict(st), run_err.text);
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
			snprintf(r->worst_where, sizeof r->worst_where, "output '%.60s', %s", name, where);
		}
	}
}

static int same_bits(const PmRunResult *a, const PmRunResult *b, size_t *output)
{
	for (size_t i = 0; i < a->n_out; i++)
		if (a->out[i].bytes != b->out[i].bytes ||
		    (a->out[i].bytes && memcmp(a->out[i].data, b->out[i].data, a->out[i].bytes))) {
			*output = i;
			return 0;
		}
	return 1;
}

/* The same inputs over other poison must give the same bits: what differs was not written, or is not
 * determined. */
static PmStatus check_poison(Eval *e, const PmTensor *in, const PmRunResult *first, int alt, PmErr *err)
{
	PmRunResult second = { 0 };
	size_t output = 0;
	char text[256];
	PmStatus st = run_candidate(e, in, alt, 0x40490fdb, &second, err);

	if (!st && e->rec->verdict == PM_VERDICT_OK && !same_bits(first, &second, &output)) {
		snprintf(text, sizeof text,
			 "Part of output '%.80s' was never written: it changes with what its buffer held "
			 "before the launch.",
			 pm_value_name(e->probe.g, pm_graph_output(e->probe.g, output)));
		say(e, PM_VERDICT_UNWRITTEN, text);
	}
	pm_run_result_release(&second);
	return st;
}

/* Every kernel against its body: the oracle in double precision, on the very operands the kernel was given.
 * It exists only from here on. What surrounds the kernels runs the same code on both sides and is not judged.
 */
static PmStatus compare_kernels(Eval *e, const PmTensor *in, const PmRunResult *got, const char *where,
				PmErr *err)
{
	PmCloseRule rule = pm_close_rule(e->o->preset);
	PmStatus st = PM_OK;
	size_t slot = 0;

	for (size_t k = 0; k < e->probe.n_kernels && !st; k++) {
		PmTensor *want = NULL;
		size_t n = 0;

		st = pm_probe_expected(&e->probe, k, in, got->out, &want, &n, err);
		for (size_t i = 0; i < n && !st; i++) {
			const PmTensor *y = pm_probe_result(&e->probe, k, i, got->out);
			PmTensorView w = pm_view_of(&want[i]), g = pm_view_of(y);
			PmComparison c;

			pm_compare(&w, &g, &rule, &c);
			note(e, &c, slot++, pm_probe_name(&e->probe, k, i), where);
		}
		pm_tensors_release(want, n);
		free(want);
	}
	return st;
}

/* The published protocol: the graph's outputs against the eager baseline's on the same device. */
static PmStatus compare_eager(Eval *e, const PmTensor *in, const PmRunResult *got, const char *where,
			      PmErr *err)
{
	PmRunOpts o = { .device = e->o->device, .deadline = e->o->device_deadline, .poison = 0x7fc1d00d };
	PmCloseRule rule = pm_close_rule(e->o->preset);
	PmRunResult want;
	PmStatus st = pm_run_graph(e->m->g, in, pm_graph_n_inputs(e->m->g), &o, &want, err);

	for (size_t i = 0; !st && i < want.n_out; i++) {
		PmTensorView w = pm_view_of(&want.out[i]), g = pm_view_of(&got->out[i]);
		PmComparison c;

		pm_compare(&w, &g, &rule, &c);
		note(e, &c, i, pm_value_name(e->m->g, pm_graph_output(e->m->g, i)), where);
	}
	if (!st)
		pm_run_result_release(&want);
	return st;
}

static PmStatus check_class(Eval *e, PmInputClass cls, int alt, PmErr *err)
{
	size_t n = pm_graph_n_inputs(e->m->g);
	PmTensor *in = pm_xcalloc(n + 1, sizeof *in);
	PmRunResult got = { 0 };
	char where[96];
	PmStatus st = pm_inputs_make(e->m->g, e->o->seed, cls, in, err);

	snprintf(where, sizeof where, "inputs %s, alternative %d", pm_input_class_name(cls), alt);
	if (!st)
		st = run_candidate(e, in, alt, 0x7fc1d00d, &got, err);
	if (!st && e->rec->verdict == PM_VERDICT_OK && cls == PM_INPUTS_NORMAL)
		st = check_poison(e, in, &got, alt, err);
	if (!st && e->rec->verdict == PM_VERDICT_OK)
		st = (e->o->preset == PM_PRESET_PASSNET ? compare_eager : compare_kernels)(e, in, &got, where,
											   err);
	pm_run_result_release(&got);
	pm_tensors_release(in, n);
	free(in);
	return st;
}

static PmStatus stage_correctness(Eval *e, PmErr *err)
{
	PmEvalRecord *r = e->rec;
	PmStatus st = PM_OK;

	st = pm_probe_init(&e->probe, e->cand.g, err);
	if (st)
		return st;
	r->n_outputs = e->o->preset == PM_PRESET_PASSNET ? pm_graph_n_outputs(e->m->g) : e->probe.n_results;
	r->outputs = pm_xcalloc(r->n_outputs + 1, sizeof *r->outputs);
	for (size_t i = 0; i < r->n_outputs; i++) {
		r->outputs[i].dtype = e->o->preset == PM_PRESET_PASSNET
					      ? pm_value_type(e->m->g, pm_graph_output(e->m->g, i))->dtype
					      : pm_probe_dtype(&e->probe, i);
		r->outputs[i].equal = 1;
		memset(r->outputs[i].close, 1, sizeof r->outputs[i].close);
	}
	r->smallest_t = PM_T_MIN;
	e->n_alts = count_alternatives(e->cand.g);
	for (int alt = 0; alt < e->n_alts && !st && r->verdict == PM_VERDICT_OK; alt++)
		for (int cls = 0; cls < PM_N_INPUT_CLASSES && !st && r->verdict == PM_VERDICT_OK; cls++)
			st = check_class(e, (PmInputClass)cls, alt, err);
	if (!st && r->verdict == PM_VERDICT_OK && r->smallest_t > NEED_T) {
		char text[400];

		snprintf(text, sizeof text,
			 "Wrong at t = %d: %s, element %lld is %.9g where the reference has %.9g (%.3g ulp).",
			 NEED_T, r->worst_where, (long long)r->worst.index, r->worst.got, r->worst.expected,
			 r->worst.ulp);
		say(e, PM_VERDICT_INCORRECT, text);
	}
	return st;
}

/* ---- speed ---- */

static PmStatus plan_stats(const PmGraph *g, const int *alts, size_t n_alts, const PmProfile *prof,
			   PmPlanStats *out, PmErr *err)
{
	PmPlan *p = NULL;
	PmStatus st = pm_plan_new(g, alts, n_alts, &p, err);

	if (!st)
		pm_plan_stats(p, prof, out);
	pm_plan_free(p);
	return st;
}

/* ---- measured time ---- */

/* Bytes that have to reach memory: the outputs, less what the L2 cache may hold back. */
static int64_t compulsory(const PmGraph *g, const PmDeviceInfo *info)
{
	int64_t sum = 0, b = 0;

	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		if (!pm_type_bytes(pm_value_type(g, pm_graph_output(g, i)), &b, NULL))
			sum += b;
	return sum > info->l2 ? sum - info->l2 : 0;
}

/* How many timed calls the reference can be asked about in a few seconds: at least one. */
static size_t affordable(const PmGraph *g, size_t n)
{
	int64_t flops = 1;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		flops += pm_op_flops(g, pm_graph_node_at(g, i));
	while (n > 1 && (int64_t)n * flops > CHECK_FLOPS)
		n--;
	return n;
}

/* What the candidate made in timed calls, against the reference, which is computed only now. */
static PmStatus check_timed(Eval *e, const PmClockResult *c, PmErr *err)
{
	size_t n = affordable(e->m->g, c->n_checked);
	PmStatus st = PM_OK;

	for (size_t i = 0; i < n && !st && e->rec->verdict == PM_VERDICT_OK; i++) {
		PmTensor *want = pm_xcalloc(c->n_out + 1, sizeof *want);
		PmAgreement a = { 0 };

		st = pm_ref_run(e->m->g, c->checked[i].in, c->n_in, want, c->n_out, err);
		if (!st)
			st = pm_agree(e->m->g, c->checked[i].in, c->checked[i].out, want, c->n_out,
				      e->o->seed, &a, err);
		if (!st && !a.agrees && !a.ill_conditioned) {
			char text[256];

			snprintf(text, sizeof text,
				 "Wrong in a timed call: element %lld is %.9g where the reference has %.9g; "
				 "untimed calls were right.",
				 (long long)a.c.worst.index, a.c.worst.got, a.c.worst.expected);
			say(e, PM_VERDICT_INCORRECT, text);
		}
		e->rec->timing.checked++;
		pm_tensors_release(want, c->n_out);
		free(want);
	}
	return st;
}

static void keep_times(PmEvalRecord *r, const PmTiming *t)
{
	const PmTimes *cold = &t->kind[PM_TIME_COLD], *replay = &t->kind[PM_TIME_REPLAY],
		      *wall = &t->kind[PM_TIME_WALL];

	r->measured = 1;
	r->baseline_seconds = cold->side[PM_SIDE_BASELINE].median;
	r->candidate_seconds = cold->side[PM_SIDE_CANDIDATE].median;
	r->speedup = cold->ratio[PM_SIDE_CANDIDATE].point;
	r->timing.blocks = cold->blocks;
	r->timing.lo = cold->ratio[PM_SIDE_CANDIDATE].lo;
	r->timing.hi = cold->ratio[PM_SIDE_CANDIDATE].hi;
	r->timing.control = cold->ratio[PM_SIDE_CONTROL].point;
	for (int i = 0; i < 2; i++) {
		r->timing.replay[i] = replay->side[i].median;
		r->timing.wall[i] = wall->side[i].median;
	}
	r->timing.replay_speedup = replay->ratio[PM_SIDE_CANDIDATE].point;
	r->timing.wall_speedup = wall->ratio[PM_SIDE_CANDIDATE].point;
}

/* One comparison with alternative `alt`; *c is filled when the verdict stays OK. */
static PmStatus time_one(Eval *e, int alt, const PmClockOpts *opts, PmClockResult *c, PmErr *err)
{
	PmWork base = { .g = e->m->g }, cand = { .g = e->cand.g };
	int *alts = choose_alternatives(e->cand.g, alt, &cand.n_alts);
	PmErr run_err;
	PmStatus st;

	pm_err_init(&run_err);
	cand.alts = alts;
	st = pm_clock_compare(e->worker, &base, &cand, opts, c, &run_err);
	free(alts);
	if (!st)
		return PM_OK;
	if (is_our_fault(st))
		return pm_err(err, st, "%s", run_err.text);
	return say(e, device_verdict(st), run_err.text);
}

/* The alternative with the least measured time, found by short comparisons that are not scored. */
static PmStatus tune(Eval *e, const PmClockOpts *opts, int *alt, PmErr *err)
{
	PmClockOpts quick = *opts;
	double least = INFINITY;
	PmStatus st = PM_OK;

	quick.blocks = 8;
	quick.seconds = 2;
	for (int k = 0; k < e->n_alts && e->n_alts > 1 && !st && e->rec->verdict == PM_VERDICT_OK; k++) {
		PmClockResult c;

		st = time_one(e, k, &quick, &c, err);
		if (st || e->rec->verdict != PM_VERDICT_OK)
			break;
		if (c.t.kind[PM_TIME_COLD].side[PM_SIDE_CANDIDATE].median < least) {
			least = c.t.kind[PM_TIME_COLD].side[PM_SIDE_CANDIDATE].median;
			*alt = k;
		}
		pm_clock_release(&c);
	}
	return st;
}

static PmStatus time_and_judge(Eval *e, int alt, const PmClockOpts *opts, PmErr *err)
{
	PmClockResult c;
	PmStatus st = time_one(e, alt, opts, &c, err);

	if (st || e->rec->verdict != PM_VERDICT_OK)
		return st;
	keep_times(e->rec, &c.t);
	pm_worker_renew(e->worker); /* the candidate's process ends before there are references */
	st = check_timed(e, &c, err);
	if (!st && e->rec->verdict == PM_VERDICT_OK && c.t.state != PM_TIMING_OK)
		say(e,
		    c.t.state == PM_TIMING_UNSTABLE ? PM_VERDICT_TIMING_UNSTABLE
						    : PM_VERDICT_TIMING_QUARANTINE,
		    c.t.why);
	pm_clock_release(&c);
	return st;
}

static PmStatus measure(Eval *e, int alt, const PmPlanStats *base, const PmPlanStats *cand,
			const PmDeviceInfo *info, PmErr *err)
{
	PmClockOpts o = { .seed = e->o->seed,
			  .deadline = e->o->device_deadline,
			  .graphs = e->o->graphs,
			  .seconds = e->o->clock_seconds };
	PmStatus st;

	o.bytes[0] = o.bytes[1] = compulsory(e->m->g, info);
	o.bytes_per_second = pm_profile(e->o->profile)->bytes_per_second;
	if (cand->n_launches > 0)
		o.max_speedup = fmax(10, 3.0 * base->n_launches / cand->n_launches);
	st = tune(e, &o, &alt, err);
	return st || e->rec->verdict != PM_VERDICT_OK ? st : time_and_judge(e, alt, &o, err);
}

/* Measures where the device can. A candidate that is wrong at the level asked for is measured as well, since
 * it may be right at a coarser one: measured and modelled times must not meet in one score. It stays
 * INCORRECT, unless it fails on the device. */
static PmStatus stage_clock(Eval *e, int alt, const PmPlanStats *base, const PmPlanStats *cand, PmErr *err)
{
	PmEvalRecord *r = e->rec;
	int wrong = r->verdict == PM_VERDICT_INCORRECT;
	char why[PM_ERR_MAX];
	PmDeviceInfo info;
	PmStatus st = pm_worker_info(e->worker, &info, err);

	if (st || !info.measured)
		return st;
	memcpy(why, r->why, sizeof why);
	say(e, PM_VERDICT_OK, "");
	st = measure(e, alt, base, cand, &info, err);
	if (wrong && r->measured)
		say(e, PM_VERDICT_INCORRECT, why);
	return st;
}

/* ---- modelled time, and both ---- */

/* The tuning step: the alternative with the least modelled time, reported, not scored. */
static PmStatus model(Eval *e, PmPlanStats *base, PmPlanStats *best, int *alt, PmErr *err)
{
	const PmProfile *prof = pm_profile(e->o->profile);
	PmStatus st = plan_stats(e->m->g, NULL, 0, prof, base, err);

	for (int k = 0; k < e->n_alts && !st; k++) {
		size_t n;
		int *alts = choose_alternatives(e->cand.g, k, &n);
		PmPlanStats s;

		st = plan_stats(e->cand.g, alts, n, prof, &s, err);
		if (!st && (k == 0 || s.modelled_seconds < best->modelled_seconds)) {
			*best = s;
			*alt = k;
		}
		free(alts);
	}
	return st;
}

/* What was replaced: the bodies of the kernels, timed as the baseline would run them. */
static PmStatus coverage(Eval *e, const PmPlanStats *base, PmErr *err)
{
	double kernels = 0;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < pm_graph_n_nodes(e->cand.g) && !st; i++) {
		const PmAttr *body = pm_node_attr(e->cand.g, pm_graph_node_at(e->cand.g, i), "body");
		PmPlanStats s;

		if (!body || body->kind != PM_ATTR_GRAPH)
			continue;
		st = plan_stats(body->graph, NULL, 0, pm_profile(e->o->profile), &s, err);
		if (!st)
			kernels += s.modelled_seconds;
	}
	e->rec->coverage = base->modelled_seconds > 0 ? fmin(1, kernels / base->modelled_seconds) : 0;
	return st;
}

static PmStatus stage_speed(Eval *e, PmErr *err)
{
	PmEvalRecord *r = e->rec;
	PmPlanStats base, best = { 0 };
	int alt = 0;
	PmStatus st = model(e, &base, &best, &alt, err);

	if (st)
		return st;
	r->baseline_seconds = base.modelled_seconds;
	r->candidate_seconds = best.modelled_seconds;
	r->baseline_launches = base.n_launches;
	r->candidate_launches = best.n_launches;
	r->baseline_bytes = base.bytes;
	r->candidate_bytes = best.bytes;
	if (best.modelled_seconds > 0 && base.modelled_seconds > 0)
		r->speedup = base.modelled_seconds / best.modelled_seconds;
	st = coverage(e, &base, err);
	return st ? st : stage_clock(e, alt, &base, &best, err);
}

/* ---- all stages ---- */

PmStatus pm_eval_member(const char *so_path, const PmEvalMember *m, const PmEvalOpts *opts, PmEvalRecord *out,
			PmErr *err)
{
	Eval e = { .m = m, .o = opts, .rec = out };
	double t0 = pm_now();
	PmStatus st;

	memset(out, 0, sizeof *out);
	snprintf(out->label, sizeof out->label, "%s", m->label);
	out->speedup = NAN;
	out->smallest_t = PM_T_NEVER;
	out->worst.index = -1;
	e.worker = pm_worker_new(opts->device);
	st = stage_match(&e, so_path, err);
	if (!st && out->verdict == PM_VERDICT_OK)
		st = stage_compile(&e, err);
	if (!st && out->verdict == PM_VERDICT_OK)
		st = stage_correctness(&e, err);
	if (!st && (out->verdict == PM_VERDICT_OK || out->verdict == PM_VERDICT_INCORRECT))
		st = stage_speed(&e, err);
	if (out->verdict != PM_VERDICT_OK && out->verdict != PM_VERDICT_INCORRECT && !out->measured)
		out->smallest_t = PM_T_NEVER;
	pm_worker_free(e.worker);
	pm_probe_release(&e.probe);
	pm_candidate_release(&e.cand);
	out->wall_seconds = pm_now() - t0;
	if (st) {
		pm_eval_record_release(out);
		return pm_err_ctx(err, "%s on %s", pm_path_base(so_path), m->label);
	}
	return PM_OK;
}

void pm_eval_record_release(PmEvalRecord *r)
{
	free(r->outputs);
	free(r->near_miss);
	r->outputs = NULL;
	r->near_miss = NULL;
	r->n_outputs = 0;
}

PmStatus pm_eval_score(PmEvalReport *r, PmErr *err)
{
	PmScoreRule rule = pm_score_rule(r->opts.preset);
	PmScoreRecord *s = pm_xcalloc(r->n + 1, sizeof *s);
	size_t fast = 0;
	PmStatus st;

	for (size_t i = 0; i < r->n; i++) {
		const PmEvalRecord *e = &r->rec[i];

		s[i].status = pm_verdict_score_status(e->verdict);
		/* Times that cannot be ranked never count as faster. */
		s[i].speedup = e->verdict == PM_VERDICT_TIMING_UNSTABLE ? fmin(1, e->speedup) : e->speedup;
		s[i].n_outputs = e->n_outputs;
		s[i].outputs = e->outputs;
		fast += e->verdict == PM_VERDICT_OK && e->speedup > 1;
	}
	st = pm_score(&rule, s, r->n, &r->score, err);
	r->fast1 = r->n ? (double)fast / (double)r->n : 0;
	free(s);
	return st;
}

static PmStatus hash_pass(const char *path, char hex[PM_SHA256_HEX], PmErr *err)
{
	PmMap map;
	PmStatus st = pm_map_file(path, &map, err);

	if (!st) {
		pm_sha256_hex(map.p, map.n, hex);
		pm_unmap(&map);
	}
	return st;
}

PmStatus pm_eval_report_begin(PmEvalReport *r, const char *so_path, size_t n, const PmEvalOpts *opts,
			      PmErr *err)
{
	PmStatus st;

	memset(r, 0, sizeof *r);
	r->opts = *opts;
	snprintf(r->pass, sizeof r->pass, "%s", so_path);
	st = hash_pass(so_path, r->sha256, err);
	if (!st) {
		r->rec = pm_xcalloc(n + 1, sizeof *r->rec);
		r->n = n;
	}
	return st;
}

PmStatus pm_eval_pass(const char *so_path, const PmEvalMember *m, size_t n, const PmEvalOpts *opts,
		      PmEvalReport *out, PmErr *err)
{
	PmStatus st = pm_eval_report_begin(out, so_path, n, opts, err);

	for (size_t i = 0; i < n && !st; i++) {
		st = pm_eval_member(so_path, &m[i], opts, &out->rec[i], err);
		if (!st && opts->step)
			opts->step(opts->step_arg, m[i].label);
	}
	if (!st)
		st = pm_eval_score(out, err);
	if (st)
		pm_eval_report_release(out);
	return st;
}

void pm_eval_report_release(PmEvalReport *r)
{
	for (size_t i = 0; i < r->n; i++)
		pm_eval_record_release(&r->rec[i]);
	free(r->rec);
	r->rec = NULL;
	r->n = 0;
}
