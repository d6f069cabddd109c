/* SPDX-License-Identifier: Apache-2.0 */
/* runner.c - evaluates one pass on one variant of a task: the order of the stages, and the first two. */
#include "bench/eval/runner.h"

#include "base/sandbox/sandbox.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "bench/eval/baseline_ahead.h"
#include "bench/eval/memory.h"
#include "bench/eval/rewritten.h"
#include "bench/eval/runner_priv.h"
#include "bench/timing/replay_verify.h"
#include "integrity/cubin/cubin_gate.h"
#include "runtime/device/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- match ---- */

static PmStatus pm__stage_match(Eval *e, const char *so_path, PmErr *err)
{
	PmEvalRecord *r = e->rec;
	PmStage was = pm_stage_enter(&e->stages, PM_STAGE_PASS);
	PmStatus st = e->o->object ? pm_referee_rewrite_object(e->o->object, e->o->only_rule, e->m->g,
							       e->o->pass_deadline, &e->cand, err)
				   : pm_referee_rewrite(so_path, e->o->only_rule, e->m->g,
							e->o->pass_deadline, &e->cand, err);

	pm_stage_enter(&e->stages, was);
	if (st)
		return st;
	r->n_applied = e->cand.n_applied;
	r->n_kernels = e->cand.n_kernels;
	r->near_miss = e->cand.near_miss;
	r->explained = e->cand.explained;
	e->cand.near_miss = e->cand.explained = NULL;
	return pm__say(e, e->cand.verdict, e->cand.why);
}

/* ---- memory ---- */

/* Said before anything is taken. It follows from the graph, so that no pass can bring it about. */
static PmStatus machine_is_large_enough(const Eval *e, PmErr *err)
{
	PmMemoryNeed n;

	pm_memory_need(e->m->g, &n);
	return pm_memory_check(pm_memory_of_host(&n, pm_device_kind(e->o->device) == PM_DEVICE_EMU),
			       pm_memory_available(), "this machine", &n, err);
}

static PmStatus device_is_large_enough(const Eval *e, const PmDeviceInfo *info, PmErr *err)
{
	PmMemoryNeed n;

	pm_memory_need(e->m->g, &n);
	return pm_memory_check(pm_memory_of_device(&n), info->memory, info->name, &n, err);
}

/* ---- compile ---- */

/* What the device has to have; *cc becomes its compute capability, and has to be the one that was said
 * before.
 */
static PmStatus ask_device(Eval *e, int *cc, PmErr *err)
{
	PmDeviceInfo info;
	PmStatus st = pm__follow_clock(e, err);
	PmErr why;

	pm_err_init(&why);
	if (!st)
		st = pm_worker_info(e->worker, &info, err);
	if (!st && *cc && info.cc != *cc)
		st = pm_err(err, PM_E_ENV,
			    "The GPU has compute capability %d.%d now, and had %d.%d when this command "
			    "began; evaluate again.",
			    info.cc / 10, info.cc % 10, *cc / 10, *cc % 10);
	if (!st && pm_device_kind(e->o->device) == PM_DEVICE_CUDA && info.memory > 0)
		st = device_is_large_enough(e, &info, err);
	if (!st)
		*cc = info.cc;
	if (!st && pm_limit_scratch(e->cand.g, info.max_scratch, &why))
		pm__say(e, PM_VERDICT_LAUNCH_FAIL, why.text);
	return st;
}

/* Compiled in a closed process and judged by their PTX, for whichever device: what the pass could not do on a
 * GPU it may not do here. The device finds the judged code in the cache. */
static PmStatus pm__stage_compile(Eval *e, PmErr *err)
{
	PmCompileAsk ask = {
		.cc = e->o->cc, .prints = e->o->print != NULL, .one = e->o->first_answer, .alt = e->first_alt
	};
	PmCompileJudgement j;
	PmErr why;
	PmStatus st = ask.cc ? PM_OK : ask_device(e, &ask.cc, err);

	pm_err_init(&why);
	if (!st && pm_limit_sources(e->cand.g, &why))
		return pm__say(e, PM_VERDICT_COMPILE_LIMIT, why.text);
	if (!st && e->rec->verdict == PM_VERDICT_OK) {
		pm__ahead_begin(e);
		st = pm_compile_gate(e->cand.g, &ask, &j, err);
		if (!st)
			e->rec->code = j.code;
		if (!st)
			pm__say(e, j.verdict, j.why);
	}
	/* A GPU opens while the compiler works. */
	if (!st && e->o->cc && e->rec->verdict == PM_VERDICT_OK)
		st = ask_device(e, &ask.cc, err);
	/* Those that make timed calls again: behind the first, since a GPU opens for one after the other. */
	if (!st && e->rec->verdict == PM_VERDICT_OK && !e->o->check_only && !e->o->first_answer &&
	    pm_device_kind(e->o->device) == PM_DEVICE_CUDA)
		pm_worker_prepare(e->worker, PM_REPLAY_PROCESSES);
	if (!st && ask.cc && !pm_cubin_reads_code(ask.cc))
		e->rec->unread_cc = ask.cc;
	return st;
}

/* ---- all stages ---- */

static PmStatus in_stage(Eval *e, PmStage stage, PmStatus (*run)(Eval *e, PmErr *err), PmErr *err)
{
	PmStage was = pm_stage_enter(&e->stages, stage);
	PmStatus st = run(e, err);

	pm_stage_enter(&e->stages, was);
	return st;
}

/* What is right, or near enough for its times to be wanted. */
static int is_timed(const Eval *e)
{
	return !e->o->check_only &&
	       (e->rec->verdict == PM_VERDICT_OK || (pm__is_inexact(e->rec->verdict) && !e->o->first_answer));
}

/* NULL where it is not known yet for which GPU, and where no time is measured. */
static PmBaselineAhead *begin_baseline_ahead(const Eval *e)
{
	return e->o->cc && !e->o->check_only ? pm_baseline_ahead_begin(e->o->cc, e->m->g) : NULL;
}

/* Before anything is timed; a candidate that is not timed does not wait for it. */
static void end_baseline_ahead(Eval *e, PmBaselineAhead *compiling, int judged)
{
	PmStage was = pm_stage_enter(&e->stages, PM_STAGE_COMPILE);

	pm_baseline_ahead_end(compiling, judged && is_timed(e));
	pm_stage_enter(&e->stages, was);
}

/* The variant's own: of an earlier record, or of the session. NULL when the former is no secret. */
static PmSecret *variant_secret(const PmEvalVariant *m, const PmEvalOpts *opts)
{
	if (m->replay)
		return pm_secret_parse(m->replay);
	return opts->secret ? pm_secret_derive(opts->secret, "member", m->label, (uint64_t)m->number)
			    : pm_secret_draw();
}

/* An error of the harness that says something of this graph alone. A machine that lacks a device or a file
 * lacks it for all of them. */
static int is_of_this_variant(PmStatus st)
{
	return st && st != PM_E_ENV && st != PM_E_IO && st != PM_E_NOT_FOUND;
}

/* The others go on: the record says what happened, and counts for nothing. */
static PmStatus not_judged(Eval *e, PmErr *err)
{
	char text[PM_ERR_MAX];

	snprintf(text, sizeof text, "No fault of the pass, which is not judged here: %.*s",
		 (int)sizeof text - 64, err->text);
	pm_err_init(err);
	return pm__say(e, PM_VERDICT_HARNESS_FAIL, text);
}

static void begin_record(const PmEvalVariant *m, PmEvalRecord *out)
{
	memset(out, 0, sizeof *out);
	snprintf(out->label, sizeof out->label, "%s", m->label);
	out->speedup = NAN;
	out->smallest_t = PM_T_NEVER;
	out->worst.index = -1;
}

void pm_eval_ended(const PmEvalVariant *m, const PmEvalOpts *opts, PmVerdict v, const char *why,
		   PmEvalRecord *out)
{
	PmSecret *secret = variant_secret(m, opts);

	begin_record(m, out);
	out->verdict = v;
	if (v == PM_VERDICT_NOT_CHECKED) {
		out->unchecked.n = 1;
		snprintf(out->unchecked.what[0], sizeof out->unchecked.what[0], "everything");
	}
	snprintf(out->why, sizeof out->why, "%s", why);
	if (secret)
		pm_secret_hex(secret, out->secret);
	pm_secret_free(secret);
}

PmStatus pm_eval_variant(const char *so_path, const PmEvalVariant *m, const PmEvalOpts *opts,
			 PmEvalRecord *out, PmErr *err)
{
	Eval e = { .m = m, .o = opts, .rec = out, .secret = variant_secret(m, opts) };
	PmBaselineAhead *compiling = NULL;
	double start;
	PmStatus st;

	begin_record(m, out);
	if (!e.secret)
		return pm_err(err, PM_E_INVALID,
			      "What is to be replayed on %s has no secret of 64 hexadecimal digits.",
			      m->label);
	pm_stages_begin(&e.stages, &out->stages);
	start = e.start = e.stages.since;
	e.waited = pm_eval_waited(opts);
	e.worker = pm_worker_new(pm__eval_device(&e));
	pm_worker_print_to(e.worker, opts->print);
	st = pm__share_device(&e, err);
	if (!st && pm_device_kind(opts->device) == PM_DEVICE_CUDA && !pm__follows(&e))
		pm_worker_begin(e.worker);
	if (!st)
		st = machine_is_large_enough(&e, err);
	pm__products_begin(&e);
	if (!st)
		st = in_stage(&e, PM_STAGE_INPUTS, pm__stage_inputs, err);
	if (!st && out->verdict == PM_VERDICT_OK)
		st = pm__stage_match(&e, so_path, err);
	if (!st && out->verdict == PM_VERDICT_OK && opts->first_answer)
		st = in_stage(&e, PM_STAGE_MODEL, pm__first_choose, err);
	if (!st && out->verdict == PM_VERDICT_OK)
		compiling = begin_baseline_ahead(&e);
	if (!st && out->verdict == PM_VERDICT_OK)
		st = in_stage(&e, PM_STAGE_COMPILE, pm__stage_compile, err);
	if (!st && out->verdict == PM_VERDICT_OK)
		st = pm__stage_correctness(&e, err);
	if (!st && !opts->check_only && out->verdict == PM_VERDICT_OK && !pm__may_go_on(&e)) {
		pm__leave_out(&e, "times");
		pm__say_unchecked(&e);
	}
	end_baseline_ahead(&e, compiling, !st);
	if (!st && is_timed(&e))
		st = in_stage(&e, PM_STAGE_MODEL, pm__stage_speed, err);
	if (!st && opts->first_answer && out->verdict == PM_VERDICT_OK)
		pm__first_leave_out(&e);
	if (is_of_this_variant(st))
		st = not_judged(&e, err);
	if (!st && *out->why && pm_is_failing(out->verdict))
		pm__tell(&e, out->why);
	if (out->verdict != PM_VERDICT_OK && !pm__is_inexact(out->verdict) && !out->measured)
		out->smallest_t = PM_T_NEVER;
	if (!st && opts->keep_rewritten && e.cand.g)
		st = pm_rewritten_json(e.cand.g, out->alternative, &out->rewritten, err);
	pm__ahead_end(&e);
	pm__products_end(&e);
	pm_worker_free(e.worker);
	pm__leave_device(&e);
	pm_probe_release(&e.probe);
	pm_candidate_release(&e.cand);
	pm__inputs_release(&e);
	pm_stages_end(&e.stages);
	out->wall_seconds = e.stages.since - start;
	pm_secret_hex(e.secret, out->secret);
	pm_secret_free(e.secret);
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
	free(r->explained);
	free(r->rewritten);
	r->outputs = NULL;
	r->near_miss = r->explained = r->rewritten = NULL;
	r->n_outputs = 0;
}

/* Times that cannot be ranked never count as faster, nor does what the precision tier does not allow. */
static int never_faster(const PmEvalReport *r, const PmEvalRecord *e)
{
	return e->verdict == PM_VERDICT_TIMING_UNSTABLE ||
	       (r->opts.preset == PM_PRESET_SOUND && pm__is_inexact(e->verdict));
}

const char *pm_eval_score_status(const PmEvalReport *r, size_t i)
{
	const PmEvalRecord *e = &r->rec[i];
	const char *status = pm_verdict_score_status(e->verdict);

	/* A clock that failed altogether is a failure, not a speedup of 1. */
	if (e->verdict == PM_VERDICT_TIMING_UNSTABLE && !isfinite(e->speedup))
		status = pm_verdict_name(e->verdict);
	if (r->hidden.verdict == PM_VERDICT_OK || strcmp(status, "correct") != 0)
		return status;
	return pm__is_inexact(r->hidden.verdict) ? "accuracy" : pm_verdict_score_status(r->hidden.verdict);
}

/* Of a time of which little is known nothing counts that it may not be, also where a preset takes no account
 * of intervals. */
static double sure_speedup(const PmEvalRecord *e)
{
	const PmEvalTiming *t = &e->timing;

	if (!e->measured || !(t->hi - t->lo > 2 * PM_TIMER_UNCERTAIN * e->speedup))
		return e->speedup;
	return t->lo > 1 ? t->lo : fmin(1, e->speedup);
}

static PmScoreRecord score_record(const PmEvalReport *r, size_t i)
{
	const PmEvalRecord *e = &r->rec[i];
	PmScoreRecord s = { .status = pm_eval_score_status(r, i),
			    .speedup = sure_speedup(e),
			    .n_outputs = e->n_outputs,
			    .outputs = e->outputs };

	if (never_faster(r, e)) {
		s.speedup = fmin(1, e->speedup);
	} else if (e->measured && e->timing.lo > 0 && isfinite(e->timing.hi)) {
		s.speedup_lo = e->timing.lo;
		s.speedup_hi = e->timing.hi;
	}
	return s;
}

/* A device whose machine code nobody reads has one layer less, and its results say so. */
static void note_unread(PmEvalReport *r)
{
	for (size_t i = 0; i < r->n; i++) {
		size_t len = strlen(r->sandbox_lacks);
		char what[64];

		snprintf(what, sizeof what, "machine code is not read on sm_%d", r->rec[i].unread_cc);
		if (r->rec[i].unread_cc && !strstr(r->sandbox_lacks, what))
			snprintf(r->sandbox_lacks + len, sizeof r->sandbox_lacks - len, "%s%s",
				 len ? ", " : "", what);
	}
}

PmStatus pm_eval_score(PmEvalReport *r, PmErr *err)
{
	PmScoreRule rule = pm_score_rule(r->opts.preset);
	PmScoreRecord *s = pm_xcalloc(r->n + 1, sizeof *s);
	size_t fast = 0, n = 0;
	PmStatus st;

	for (size_t i = 0; i < r->n; i++) {
		if (r->rec[i].verdict == PM_VERDICT_HARNESS_FAIL)
			continue;
		s[n] = score_record(r, i);
		fast += r->rec[i].verdict == PM_VERDICT_OK && !r->hidden.verdict &&
			pm_score_speedup(&rule, &s[n]) > 1;
		n++;
	}
	note_unread(r);
	st = pm_score(&rule, s, n, &r->score, err);
	r->n_not_judged = r->n - n;
	for (int t = 0; t < r->score.n_t && r->n && !n; t++)
		r->score.es[t] = r->score.s[t] = NAN;
	if (r->n && !n)
		r->score.as = NAN;
	r->fast1 = n ? (double)fast / (double)n : 0;
	free(s);
	return st;
}

/* Results from a machine that lacks a layer carry its name. */
static PmStatus note_sandbox(PmEvalReport *r, PmErr *err)
{
	int emu = pm_device_kind(r->opts.device) == PM_DEVICE_EMU;
	unsigned passes = 0, kernels = PM_BOX_ALL;
	PmStatus st = PM_OK;
	PmStr lacks = PM_STR_INIT;

	if (pm_sandbox_probe(&passes, NULL))
		passes = 0;
	if (emu && pm_sandbox_probe_kernels(&kernels, NULL))
		kernels = 0;
	if ((passes & kernels) != PM_BOX_ALL)
		pm_sandbox_names(PM_BOX_ALL & ~(passes & kernels), &lacks);
	snprintf(r->sandbox_lacks, sizeof r->sandbox_lacks, "%s", lacks.s);
	pm_sandbox_require(passes, emu ? kernels : 0);
	if (r->opts.require_sandbox && lacks.len)
		st = pm_err(
			err, PM_E_ENV,
			"The sandbox of this machine lacks %s (passmith doctor), and results that are kept "
			"need all of it; --weak-sandbox evaluates all the same, and the result says so.",
			lacks.s);
	pm_str_release(&lacks);
	return st;
}

/* The file's name stands in tables beside others' results: with an escape or a line break in it, it could
 * write there what it likes. */
static PmStatus check_name(const char *so_path, PmErr *err)
{
	char shown[64];
	size_t n = 0;
	int plain = 1;

	for (const char *p = pm_path_base(so_path); *p; p++) {
		int ok = *p >= ' ' && *p <= '~';

		plain &= ok;
		if (n + 1 < sizeof shown)
			shown[n++] = (char)(ok ? *p : '?');
	}
	shown[n] = 0;
	if (plain)
		return PM_OK;
	return pm_err(err, PM_E_INVALID,
		      "The file name of the pass '%s' has other characters than printable ASCII; rename it.",
		      shown);
}

PmStatus pm_eval_report_begin(PmEvalReport *r, const char *so_path, size_t n, const PmEvalOpts *opts,
			      PmErr *err)
{
	PmStatus st;

	memset(r, 0, sizeof *r);
	r->opts = *opts;
	if (opts->debug_print) {
		r->printed = r->opts.print = pm_xcalloc(1, sizeof *r->printed);
		r->opts.check_only = 1;
	}
	r->object = pm_xcalloc(1, sizeof *r->object);
	pm_str_init(&r->object->bytes);
	snprintf(r->pass, sizeof r->pass, "%s", so_path);
	st = check_name(so_path, err);
	if (!st)
		st = pm_object_read(so_path, r->object, err);
	if (!st) {
		r->opts.object = r->object;
		memcpy(r->sha256, r->object->sha256, sizeof r->sha256);
		r->rec = pm_xcalloc(n + 1, sizeof *r->rec);
		r->n = n;
		st = note_sandbox(r, err);
	}
	return st;
}

PmStatus pm_eval_pass(const char *so_path, const PmEvalVariant *m, size_t n, const PmEvalOpts *opts,
		      PmEvalReport *out, PmErr *err)
{
	PmStatus st = pm_eval_report_begin(out, so_path, n, opts, err);

	for (size_t i = 0; i < n && !st; i++) {
		st = pm_eval_variant(so_path, &m[i], &out->opts, &out->rec[i], err);
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
	if (r->object)
		pm_object_release(r->object);
	free(r->object);
	free(r->printed);
	r->printed = r->opts.print = NULL;
	r->object = NULL;
	r->opts.object = NULL;
	r->rec = NULL;
	r->n = 0;
}
