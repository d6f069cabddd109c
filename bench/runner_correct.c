/* runner_correct.c - the stage that judges a candidate's results. */
#include "base/rng.h"
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
	if (!st)
		return pm__same_plan(e, alt, pm_worker_digest(e->worker, 0), err);
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
	uint32_t r = (uint32_t)pm__draw(e, "poison", e->n_poison++);

	return finite ? 0x3f003c00u | (r & 0x80ff83ffu) : 0x7fc17fc1u | (r & 0x803e803eu);
}

/* Where the buffers of a run lie: half as those of timed calls do, half at gaps (PmDeviceOps.layout). */
static uint64_t next_layout(Eval *e)
{
	return pm__draw(e, "layout", (uint64_t)e->n_poison) | 2;
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

/* Eight elements of the first floating-point input are replaced: a kernel that knows inputs again by some of
 * their elements does not see it. */
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

/* Inputs of a class for one alternative, as far as the graph defines a result for them: no two runs get the
 * same, but that an edited one differs from its class's by eight elements. *use = 0 when the class has to be
 * left out. What a class reaches is noted the first time; all is, where the reference is quick. */
static PmStatus draw_inputs(Eval *e, PmInputClass cls, int alt, int edited, PmTensor *in, int *use,
			    PmErr *err)
{
	uint64_t number = (uint64_t)alt * PM_N_ALL_CLASSES + (uint64_t)cls;
	PmReached r, *kept = &e->rec->reached.of[cls];
	int quick = e->quick && !kept->drawn;
	PmStatus st = pm_inputs_defined(e->m->g, pm__draw(e, "inputs", number), cls, quick, in, &r,
					edited ? NULL : &e->taken, err);
	PmRng rng;

	*use = !st && r.drawn == 1;
	if (!st && !kept->drawn)
		*kept = r;
	if (!*use || !edited)
		return st;
	pm_rng_init(&rng, pm__draw(e, "edit", number));
	edit(in, pm_graph_n_inputs(e->m->g), &rng);
	return PM_OK;
}

static void write_down(Eval *e, const PmTensor *in, size_t n)
{
	for (size_t i = 0; i < n; i++)
		pm_chain_hex(e->rec->inputs, in[i].data, in[i].bytes);
}

static PmStatus check_class(Eval *e, PmInputClass cls, int alt, int edited, PmErr *err)
{
	size_t n = pm_graph_n_inputs(e->m->g);
	PmTensor *in = pm_xcalloc(n + 1, sizeof *in);
	PmRunResult got = { 0 };
	uint64_t layout = next_layout(e);
	int first = cls == PM_INPUTS_NORMAL && !edited;
	char where[96];
	int use = 0;
	PmStatus st = draw_inputs(e, cls, alt, edited, in, &use, err);

	if (st || !use) {
		free(in);
		return st;
	}
	snprintf(where, sizeof where, "inputs %s%s, alternative %d", pm_input_class_name(cls),
		 edited ? " with eight elements changed" : "", alt);
	write_down(e, in, n);
	st = run_candidate(e, in, alt, next_poison(e, 0), layout, &got, err);
	if (!st && e->rec->verdict == PM_VERDICT_OK && first)
		st = check_poison(e, in, &got, alt, layout, err);
	if (!st && e->rec->verdict == PM_VERDICT_OK && first && e->o->preset == PM_PRESET_SOUND)
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

/* The published protocol has five classes; ours all, in an order that is drawn, unless the reference takes
 * long: then the first, for what is looked for there alone, and four that are drawn. */
static int choose_classes(Eval *e, int alt, PmInputClass cls[PM_N_ALL_CLASSES])
{
	int passnet = e->o->preset == PM_PRESET_PASSNET, first = 0;
	int n = passnet ? PM_N_INPUT_CLASSES : PM_N_ALL_CLASSES;
	int64_t flops = 0;
	PmRng rng;

	for (int i = 0; i < n; i++)
		cls[i] = (PmInputClass)i;
	for (size_t i = 0; i < pm_graph_n_nodes(e->m->g); i++)
		flops += pm_op_flops(e->m->g, pm_graph_node_at(e->m->g, i));
	e->quick = flops <= REF_FLOPS && !passnet;
	if (flops > REF_FLOPS && !passnet)
		first = 1;
	pm_rng_init(&rng, pm__draw(e, "classes", (uint64_t)alt));
	for (int i = n - 1; i > first; i--) {
		int k = (int)pm_rng_range(&rng, first, i);
		PmInputClass t = cls[i];

		cls[i] = cls[k];
		cls[k] = t;
	}
	return first ? PM_N_INPUT_CLASSES : n;
}

/* Everything that is looked for is looked for in every alternative, since any may be what runs. */
static PmStatus check_alternative(Eval *e, int alt, PmErr *err)
{
	PmInputClass cls[PM_N_ALL_CLASSES];
	PmEvalRecord *r = e->rec;
	int n = choose_classes(e, alt, cls);
	PmStatus st = PM_OK;

	for (int i = 0; i < n && !st && r->verdict == PM_VERDICT_OK; i++)
		st = check_class(e, cls[i], alt, 0, err);
	if (!st && r->verdict == PM_VERDICT_OK && e->o->preset == PM_PRESET_SOUND)
		st = check_class(e, PM_INPUTS_NORMAL, alt, 1, err);
	return st;
}

/* The ways of conditions that no inputs went, where all classes have been drawn and the reference run. */
static void note_branches(Eval *e)
{
	PmEvalReached *r = &e->rec->reached;
	char text[PM_BRANCH];

	for (r->n_not_taken = 0;
	     pm_branch_not_taken(&e->taken, e->m->g, (size_t)r->n_not_taken, text, sizeof text);
	     r->n_not_taken++)
		if (r->n_not_taken < PM_EVAL_BRANCHES)
			snprintf(r->not_taken[r->n_not_taken], sizeof text, "%s", text);
}

PmStatus pm__stage_correctness(Eval *e, PmErr *err)
{
	PmEvalRecord *r = e->rec;
	PmStatus st = pm_probe_init(&e->probe, e->cand.g, err);

	if (st)
		return st;
	pm__judge_begin(e);
	e->n_alts = count_alternatives(e->cand.g);
	pm_branches_init(&e->taken, e->m->g);
	for (int alt = 0; alt < e->n_alts && !st && r->verdict == PM_VERDICT_OK; alt++)
		st = check_alternative(e, alt, err);
	if (e->quick && r->verdict == PM_VERDICT_OK)
		note_branches(e);
	pm_branches_release(&e->taken);
	if (!st && r->verdict == PM_VERDICT_OK)
		pm__judge_end(e);
	free(e->silence);
	e->silence = NULL;
	return st;
}
