/* runner_correct.c - the stage that judges a candidate's results. */
#include "base/io.h"
#include "base/str.h"
#include "bench/agree.h"
#include "bench/runner_priv.h"
#include "runtime/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEED_T = -5 }; /* the level at which a record is called OK */

static PmStatus run_candidate(Eval *e, const PmTensor *in, int alt, uint32_t poison, PmRunResult *out,
			      PmErr *err)
{
	PmRunOpts o = { .device = e->o->device,
			.deadline = e->o->device_deadline,
			.poison = poison,
			.profile = e->o->profile,
			.worker = e->worker };
	PmErr run_err;
	int *alts = pm__choose_alternatives(e->probe.g, alt, &o.n_alts);
	PmStatus st;

	pm_err_init(&run_err);
	o.alts = alts;
	st = pm_run_graph(e->probe.g, in, pm_graph_n_inputs(e->probe.g), &o, out, &run_err);
	free(alts);
	if (!st)
		return PM_OK;
	if (pm__is_our_fault(st))
		return pm_err(err, st, "%s", run_err.text);
	return pm__say(e, pm__device_verdict(st), run_err.text);
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

/* What outputs and scratch hold before a run: NaN in every floating type, or a number that could be a result.
 */
static uint32_t next_poison(Eval *e, int finite)
{
	uint32_t r = (uint32_t)pm_rng_u64(&e->poison);

	return finite ? 0x3f003c00u | (r & 0x80ff83ffu) : 0x7fc17fc1u | (r & 0x803e803eu);
}

/* The same inputs over other poison must give the same bits: what differs was not written, or is not
 * determined. */
static PmStatus check_poison(Eval *e, const PmTensor *in, const PmRunResult *first, int alt, PmErr *err)
{
	PmRunResult second = { 0 };
	size_t output = 0;
	char text[256];
	PmStatus st = run_candidate(e, in, alt, next_poison(e, 1), &second, err);

	if (!st && e->rec->verdict == PM_VERDICT_OK && !same_bits(first, &second, &output)) {
		snprintf(text, sizeof text,
			 "Part of output '%.80s' was never written: it changes with what its buffer held "
			 "before the launch.",
			 pm_value_name(e->probe.g, pm_graph_output(e->probe.g, output)));
		pm__say(e, PM_VERDICT_UNWRITTEN, text);
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
		st = run_candidate(e, in, alt, next_poison(e, 0), &got, err);
	if (!st && e->rec->verdict == PM_VERDICT_OK && cls == PM_INPUTS_NORMAL)
		st = check_poison(e, in, &got, alt, err);
	if (!st && e->rec->verdict == PM_VERDICT_OK && cls == PM_INPUTS_NORMAL &&
	    e->o->preset == PM_PRESET_SOUND)
		pm__check_races(e, in, alt, next_poison(e, 0));
	if (!st && e->rec->verdict == PM_VERDICT_OK)
		st = (e->o->preset == PM_PRESET_PASSNET ? compare_eager : compare_kernels)(e, in, &got, where,
											   err);
	pm_run_result_release(&got);
	pm_tensors_release(in, n);
	free(in);
	return st;
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

PmStatus pm__stage_correctness(Eval *e, PmErr *err)
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
	pm_rng_init_named(&e->poison, e->o->seed, "poison");
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
		pm__say(e, PM_VERDICT_INCORRECT, text);
	}
	return st;
}
