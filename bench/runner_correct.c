/* runner_correct.c - the stage that judges a candidate's results. */
#include "base/io.h"
#include "base/str.h"
#include "bench/runner_priv.h"
#include "runtime/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REF_FLOPS = 400000000 }; /* operations of the reference on one set of inputs that are quick */

static PmStatus run_candidate(Eval *e, const PmTensor *in, int alt, uint32_t poison, uint64_t layout,
			      PmRunResult *out, PmErr *err)
{
	PmRunOpts o = { .device = e->o->device,
			.deadline = e->o->device_deadline,
			.poison = poison,
			.layout = layout,
			.profile = e->o->profile,
			.worker = e->worker };
	PmErr run_err;
	int *alts = pm__choose_alternatives(e->probe.g, alt, &o.n_alts);
	PmStatus st;

	pm_err_init(&run_err);
	o.alts = alts;
	st = pm_run_graph(e->probe.g, in, pm_graph_n_inputs(e->probe.g), &o, out, &run_err);
	free(alts);
	return pm__device_said(e, st, &run_err, err);
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

/* Where the buffers of a run lie: half as those of timed calls do, half at gaps (PmDeviceOps.layout). */
static uint64_t next_layout(Eval *e)
{
	return pm_rng_u64(&e->poison) | 2;
}

/* Two runs on the same inputs made other bits. With the second one's poison and the first one's layout: as
 * the first, and it is where buffers lie that matters; else something was not written. */
static PmStatus say_difference(Eval *e, const PmTensor *in, const PmRunResult *first, int alt,
			       uint32_t poison, uint64_t layout, size_t output, PmErr *err)
{
	const char *name = pm_value_name(e->probe.g, pm_graph_output(e->probe.g, output));
	PmRunResult third = { 0 };
	char text[256];
	PmStatus st = run_candidate(e, in, alt, poison, layout, &third, err);

	if (!st && e->rec->verdict == PM_VERDICT_OK && same_bits(first, &third, &output)) {
		snprintf(text, sizeof text,
			 "Part of output '%.80s' changes with where the buffers lie, which a kernel must not "
			 "depend on.",
			 name);
		pm__say(e, PM_VERDICT_NONDET, text);
	} else if (!st && e->rec->verdict == PM_VERDICT_OK) {
		snprintf(text, sizeof text,
			 "Part of output '%.80s' was never written: it changes with what its buffer held "
			 "before the launch.",
			 name);
		pm__say(e, PM_VERDICT_UNWRITTEN, text);
	}
	pm_run_result_release(&third);
	return st;
}

/* The same inputs over other poison must give the same bits: what differs was not written, or is not
 * determined. Every buffer lies where it did not lie in the first run, whose layout is given. */
static PmStatus check_poison(Eval *e, const PmTensor *in, const PmRunResult *first, int alt, uint64_t layout,
			     PmErr *err)
{
	uint32_t poison = next_poison(e, 1);
	PmRunResult second = { 0 };
	size_t output = 0;
	PmStatus st = run_candidate(e, in, alt, poison, layout ^ 1, &second, err);

	if (!st && e->rec->verdict == PM_VERDICT_OK && !same_bits(first, &second, &output))
		st = say_difference(e, in, first, alt, poison, layout, output, err);
	pm_run_result_release(&second);
	return st;
}

/* Eight elements of the first floating-point input that were drawn by a secret replace those of the known
 * seed: a kernel that knows its inputs by some of their elements does not see it. */
static void edit(PmTensor *in, size_t n, PmRng *r)
{
	for (size_t i = 0; i < n; i++) {
		int64_t numel = pm_tensor_numel(&in[i]);

		if (!pm_dtype_is_float(in[i].type.dtype) || !numel)
			continue;
		for (int k = 0; k < 8; k++)
			pm_tensor_set(&in[i], pm_rng_range(r, 0, numel - 1), pm_rng_normal(r));
		return;
	}
}

/* `secret`: 0, or the seed of inputs that are drawn by it (`edited`: of which a few are). */
static PmStatus check_class(Eval *e, PmInputClass cls, int alt, uint64_t secret, int edited, PmErr *err)
{
	size_t n = pm_graph_n_inputs(e->m->g);
	PmTensor *in = pm_xcalloc(n + 1, sizeof *in);
	PmRunResult got = { 0 };
	uint64_t layout = next_layout(e);
	char where[96];
	PmStatus st = pm_inputs_make(e->m->g, secret && !edited ? secret : e->o->seed, cls, in, err);
	PmRng rng;

	pm_rng_init_named(&rng, secret, "edit");
	if (!st && edited)
		edit(in, n, &rng);
	snprintf(where, sizeof where, "inputs %s, alternative %d", pm_input_class_name(cls), alt);
	if (secret)
		snprintf(where, sizeof where, "inputs %s %s --secret %llu", pm_input_class_name(cls),
			 edited ? "with eight elements of" : "of", (unsigned long long)secret);
	if (!st)
		st = run_candidate(e, in, alt, next_poison(e, 0), layout, &got, err);
	if (!st && e->rec->verdict == PM_VERDICT_OK && cls == PM_INPUTS_NORMAL && !secret)
		st = check_poison(e, in, &got, alt, layout, err);
	if (!st && e->rec->verdict == PM_VERDICT_OK && cls == PM_INPUTS_NORMAL &&
	    e->o->preset == PM_PRESET_SOUND)
		pm__check_races(e, in, alt, next_poison(e, 0));
	if (!st && e->rec->verdict == PM_VERDICT_OK)
		st = pm__judge(e, in, &got, cls, where, err);
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

/* One run on inputs of a seed that nobody knew when the pass was built, and one on the known ones with a few
 * elements changed. They decide about the verdict and leave no other trace in the record, so that evaluating
 * again gives the same report; the sentence says the seed. */
static PmStatus check_secret(Eval *e, int n_classes, PmErr *err)
{
	PmEvalRecord *r = e->rec, kept = *r;
	uint64_t secret = e->o->secret ? e->o->secret : pm_rng_secure_seed() >> 2;
	size_t bytes = (r->n_outputs + 1) * sizeof *r->outputs;
	PmStatus st = PM_OK;

	kept.outputs = memcpy(pm_xcalloc(1, bytes), r->outputs, bytes);
	for (int edited = 0; edited < 2 && !st && r->verdict == PM_VERDICT_OK; edited++) {
		PmInputClass cls = edited ? PM_INPUTS_NORMAL : (PmInputClass)(secret % (uint64_t)n_classes);

		st = check_class(e, cls, 0, secret, edited, err);
	}
	if (!st && r->verdict == PM_VERDICT_OK)
		pm__judge_end(e);
	if (!st && r->verdict == PM_VERDICT_OK) {
		free(r->outputs);
		*r = kept;
	} else {
		free(kept.outputs);
	}
	return st;
}

/* The published protocol has five classes; ours all, unless the reference takes long. */
static int count_classes(const Eval *e)
{
	int64_t flops = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(e->m->g); i++)
		flops += pm_op_flops(e->m->g, pm_graph_node_at(e->m->g, i));
	return e->o->preset == PM_PRESET_PASSNET || flops > REF_FLOPS ? PM_N_INPUT_CLASSES : PM_N_ALL_CLASSES;
}

PmStatus pm__stage_correctness(Eval *e, PmErr *err)
{
	PmEvalRecord *r = e->rec;
	int n_classes = count_classes(e);
	PmStatus st = pm_probe_init(&e->probe, e->cand.g, err);

	if (st)
		return st;
	pm__judge_begin(e);
	pm_rng_init_named(&e->poison, e->o->seed, "poison");
	e->n_alts = count_alternatives(e->cand.g);
	for (int alt = 0; alt < e->n_alts && !st && r->verdict == PM_VERDICT_OK; alt++)
		for (int cls = 0; cls < n_classes && !st && r->verdict == PM_VERDICT_OK; cls++)
			st = check_class(e, (PmInputClass)cls, alt, 0, 0, err);
	if (!st && r->verdict == PM_VERDICT_OK)
		pm__judge_end(e);
	if (!st && r->verdict == PM_VERDICT_OK && e->o->preset == PM_PRESET_SOUND)
		st = check_secret(e, n_classes, err);
	return st;
}
