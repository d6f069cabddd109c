/* SPDX-License-Identifier: Apache-2.0 */
/* runner_correct.c - the stage that judges a candidate's results. */
#include "base/core/rng.h"
#include "base/core/str.h"
#include "base/sys/proc.h"
#include "bench/eval/runner_priv.h"
#include "runtime/device/poison.h"
#include "runtime/worker/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static PmStatus run_candidate(Eval *e, const PmTensor *in, int alt, uint32_t poison, uint64_t layout,
			      PmRunResult *out, PmErr *err)
{
	PmRunOpts o = { .device = pm__eval_device(e),
			.deadline = e->deadline,
			.poison = poison,
			.layout = layout,
			.sampled = e->sample.run,
			.profile = e->o->profile,
			.worker = e->worker };
	PmErr run_err;
	int *alts = pm__choose_alternatives(e->probe.g, alt, &o.n_alts);
	PmStage was;
	PmStatus st;

	pm_err_init(&run_err);
	if (e->o->print)
		pm_print_about(e->o->print, "--- %s, inputs %s%s, alternative %d:", e->m->label,
			       e->run.inputs, e->run.edited ? " (edited)" : "", alt);
	o.alts = alts;
	was = pm_stage_enter(&e->stages, PM_STAGE_LAUNCH);
	st = pm_run_graph(e->probe.g, in, pm_graph_n_inputs(e->probe.g), &o, out, &run_err);
	pm_stage_enter(&e->stages, was);
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

/* The bits of what outputs and scratch hold before a run (runtime/device/poison.h). */
static uint64_t next_poison(Eval *e)
{
	return pm__draw(e, "poison", e->n_poison++);
}

/* Where the buffers of a run lie: half as those of timed calls do, half at gaps (PmDeviceOps.layout). */
static uint64_t next_layout(Eval *e)
{
	return pm__draw(e, "layout", (uint64_t)e->n_poison) | 2;
}

/* Where two runs over other poison differ. */
typedef struct Difference {
	size_t output;
	int64_t first; /* element that differs */
	int64_t hole;  /* element that holds what its buffer held before each run, or before the second where
			* that is so for all that differ; -1 when there is none. (A NaN of the first run may
			* as well have been computed from one that was read.) */
	int64_t n;     /* elements that differ */
} Difference;

/* The bytes of element i of a buffer that is filled with a pattern of 4 bytes. */
static void poison_of(uint32_t pattern, int64_t i, size_t size, unsigned char *out)
{
	for (size_t k = 0; k < size; k++)
		out[k] = ((const unsigned char *)&pattern)[((size_t)i * size + k) % sizeof pattern];
}

/* Looks at an output; `p` and `q` are the poisons of the two runs, the first NaNs, the second a plain number.
 */
static void find_difference(const PmTensor *a, const PmTensor *b, uint32_t p, uint32_t q, Difference *d)
{
	size_t size = pm_dtype_size(a->type.dtype);
	int64_t n_held = 0, held = -1;
	int64_t n = a->bytes == b->bytes ? pm_tensor_numel(a) : 0;

	d->first = d->hole = -1;
	d->n = 0;
	for (int64_t i = 0; i < n; i++) {
		const unsigned char *x = (const unsigned char *)a->data + (size_t)i * size;
		const unsigned char *y = (const unsigned char *)b->data + (size_t)i * size;
		unsigned char before[2][16];
		int in_second;

		if (!memcmp(x, y, size))
			continue;
		d->n++;
		if (d->first < 0)
			d->first = i;
		poison_of(p, i, size, before[0]);
		poison_of(q, i, size, before[1]);
		in_second = !memcmp(y, before[1], size);
		n_held += in_second;
		if (held < 0 && in_second)
			held = i;
		if (d->hole < 0 && in_second && !memcmp(x, before[0], size))
			d->hole = i;
	}
	if (d->hole < 0 && d->n && n_held == d->n)
		d->hole = held;
}

/* Not written, by where buffers lie, by what they held, or by nothing that is known: `again` has the second
 * run's poison and the first one's layout. */
static void say_difference(Eval *e, const Difference *d, const PmRunResult *first, const PmRunResult *second,
			   const PmRunResult *again)
{
	const char *name = pm_value_name(e->probe.g, pm_graph_output(e->probe.g, d->output));
	const PmTensor *a = &first->out[d->output], *b = &second->out[d->output];
	char text[PM_ERR_MAX];
	size_t other;

	if (d->hole >= 0) {
		snprintf(text, sizeof text,
			 "Element %lld of output '%.80s' was never written: it holds what its buffer held "
			 "before the launch (%lld elements differ between two runs).",
			 (long long)d->hole, name, (long long)d->n);
		pm__say(e, PM_VERDICT_UNWRITTEN, text);
	} else if (same_bits(first, again, &other)) {
		snprintf(text, sizeof text,
			 "Element %lld of output '%.80s' changes with where the buffers lie (%.9g, %.9g), "
			 "which a kernel must not depend on.",
			 (long long)d->first, name, pm_tensor_get(a, d->first), pm_tensor_get(b, d->first));
		pm__say(e, PM_VERDICT_NONDET, text);
	} else {
		snprintf(text, sizeof text,
			 "Element %lld of output '%.80s' is written, but not determined: two runs on the "
			 "same inputs gave %.9g and %.9g. A __syncthreads() is missing between a write to "
			 "shared memory and a read, or the kernel reads what nobody has written (shared "
			 "memory, scratch, its output), or its atomics meet in any order.",
			 (long long)d->first, name, pm_tensor_get(a, d->first), pm_tensor_get(b, d->first));
		pm__say(e, PM_VERDICT_NONDET, text);
	}
}

/* Two runs on the same inputs made other bits. What was not written shows by itself; else races are looked
 * for, which says where; else a third run tells whether it is where buffers lie. */
static PmStatus explain_difference(Eval *e, const PmTensor *in, const PmRunResult *first,
				   const PmRunResult *second, int alt, uint64_t bits, uint64_t layout,
				   size_t output, PmErr *err)
{
	const uint32_t poison[2] = { pm_poison(bits), pm_poison_other(bits) };
	Difference d = { .output = output };
	PmRunResult third = { 0 };
	PmStatus st = PM_OK;

	if (pm_poison_kind(bits) == PM_POISON_NAN)
		find_difference(&first->out[output], &second->out[output], poison[0], poison[1], &d);
	else
		find_difference(&second->out[output], &first->out[output], poison[1], poison[0], &d);
	if (d.hole < 0 && e->o->preset == PM_PRESET_SOUND)
		pm__check_races(e, in, alt, poison[0]);
	if (e->rec->verdict == PM_VERDICT_OK)
		st = run_candidate(e, in, alt, poison[1], layout, &third, err);
	if (!st && e->rec->verdict == PM_VERDICT_OK)
		say_difference(e, &d, first, second, &third);
	pm_run_result_release(&third);
	return st;
}

/* The same inputs over other poison must give the same bits: what differs was not written, or is not
 * determined. Every buffer lies where it did not lie in the first run, whose layout is given. */
static PmStatus check_poison(Eval *e, const PmTensor *in, const PmRunResult *first, int alt, uint64_t bits,
			     uint64_t layout, PmErr *err)
{
	PmRunResult second = { 0 };
	size_t output = 0;
	PmStatus st = run_candidate(e, in, alt, pm_poison_other(bits), layout ^ 1, &second, err);

	if (!st && e->rec->verdict == PM_VERDICT_OK && !same_bits(first, &second, &output))
		st = explain_difference(e, in, first, &second, alt, bits, layout, output, err);
	pm_run_result_release(&second);
	return st;
}

/* The same where some blocks run: the same ones. */
static PmStatus check_sampled_poison(Eval *e, const PmTensor *in, const PmRunResult *first, int alt,
				     uint64_t bits, uint64_t layout, PmErr *err)
{
	uint32_t poison = pm_poison(bits), other = pm_poison_other(bits);
	PmRunResult second = { 0 };
	int64_t element = 0;
	size_t output = 0;
	char text[PM_ERR_MAX];
	PmStatus st = run_candidate(e, in, alt, other, layout ^ 1, &second, err);

	if (!st && e->rec->verdict == PM_VERDICT_OK &&
	    !pm__sample_same(first, &second, poison, other, &output, &element)) {
		pm__check_races(e, in, alt, poison);
		snprintf(
			text, sizeof text,
			"Element %lld of output '%.80s' is written, but not determined: two runs of the same "
			"blocks on the same inputs gave %.9g and %.9g.",
			(long long)element, pm_value_name(e->probe.g, pm_graph_output(e->probe.g, output)),
			pm_tensor_get(&first->out[output], element),
			pm_tensor_get(&second.out[output], element));
		if (e->rec->verdict == PM_VERDICT_OK)
			pm__say(e, PM_VERDICT_NONDET, text);
	}
	pm_run_result_release(&second);
	return st;
}

static PmStatus check_class_once(Eval *e, PmInputClass cls, int alt, int edited, PmErr *err)
{
	size_t n = pm_graph_n_inputs(e->m->g);
	PmTensor *in = pm_xcalloc(n + 1, sizeof *in);
	PmRunResult got = { 0 };
	uint64_t layout = next_layout(e);
	uint64_t bits;
	int first = cls == PM_INPUTS_NORMAL && !edited;
	char where[96];
	int use = 0;
	PmStatus st = pm__draw_inputs(e, cls, alt, edited, in, &use, err);

	if (st || !use) {
		free(in);
		return st;
	}
	first = first && !e->again;
	snprintf(where, sizeof where, "inputs %s%s, alternative %d", pm_input_class_name(cls),
		 edited ? " with eight elements changed" : "", alt);
	e->unwritten = in;
	e->run = (PmFailure){ .edited = edited, .alternative = alt };
	snprintf(e->run.inputs, sizeof e->run.inputs, "%s", pm_input_class_name(cls));
	bits = next_poison(e);
	pm__sample_next(e);
	st = run_candidate(e, in, alt, pm_poison(bits), layout, &got, err);
	if (!st && e->rec->verdict == PM_VERDICT_OK && first)
		st = (e->sample.on ? check_sampled_poison : check_poison)(e, in, &got, alt, bits, layout,
									  err);
	if (!st && e->rec->verdict == PM_VERDICT_OK && first && e->o->preset == PM_PRESET_SOUND &&
	    !e->o->first_answer)
		pm__check_races(e, in, alt, pm_poison(next_poison(e)));
	if (!st && e->rec->verdict == PM_VERDICT_OK && e->sample.on)
		pm__sample_look(e, &got, pm_poison(bits), alt);
	if (!st && e->rec->verdict == PM_VERDICT_OK)
		st = pm__judge(e, in, &got, cls, where, err);
	else if (!st)
		e->rec->failure = e->run;
	if (!st && e->rec->verdict == PM_VERDICT_OK && !edited && !e->again)
		e->rec->first[e->n_right++] = cls;
	pm_run_result_release(&got);
	pm__write_down_now(e);
	pm_tensors_release(in, n);
	free(in);
	return st;
}

/* One that would not end before the deadline is left out. */
static PmStatus check_class(Eval *e, PmInputClass cls, int alt, int edited, PmErr *err)
{
	double t0 = pm_now(), took;
	char what[64];
	PmStatus st;

	if (!pm__may_go_on(e)) {
		snprintf(what, sizeof what, "inputs %s%s, alternative %d", pm_input_class_name(cls),
			 edited ? " (edited)" : "", alt);
		pm__leave_out(e, what);
		return PM_OK;
	}
	st = check_class_once(e, cls, alt, edited, err);
	took = pm_now() - t0;
	e->rec->stages.class_seconds[cls] += took;
	if (took > e->longest)
		e->longest = took;
	return st;
}

/* The published protocol has five classes; ours all, in an order that is drawn, unless the reference takes
 * long: then the first, for what is looked for there alone, and four that are drawn. */
static int choose_classes(Eval *e, int alt, PmInputClass cls[PM_N_ALL_CLASSES])
{
	int passnet = e->o->preset == PM_PRESET_PASSNET, first = 0;
	int n = passnet ? PM_N_INPUT_CLASSES : PM_N_ALL_CLASSES;
	PmRng rng;

	for (int i = 0; i < n; i++)
		cls[i] = (PmInputClass)i;
	if (!e->quick && !passnet)
		first = 1;
	if (e->o->first_answer)
		first = 1;
	pm_rng_init(&rng, pm__draw(e, "classes", (uint64_t)alt));
	for (int i = n - 1; i > first; i--) {
		int k = (int)pm_rng_range(&rng, first, i);
		PmInputClass t = cls[i];

		cls[i] = cls[k];
		cls[k] = t;
	}
	return first && !e->o->first_answer ? PM_N_INPUT_CLASSES : n;
}

/* A first answer has enough of them, once what was compared tells anything. */
static int enough(Eval *e)
{
	return e->o->first_answer && e->n_right >= pm__first_classes(e) && !pm__judge_open(e, NULL);
}

/* Where a condition has gone one way only, the classes that reach corners are drawn again. */
static PmStatus try_other_ways(Eval *e, int alt, PmErr *err)
{
	static const PmInputClass corners[] = { PM_INPUTS_TAIL, PM_INPUTS_EQUAL, PM_INPUTS_SPECIAL };
	enum { TRIES = 2 * sizeof corners / sizeof *corners };
	char text[PM_BRANCH];
	PmStatus st = PM_OK;

	for (e->again = 1; e->again <= TRIES && !st && e->rec->verdict == PM_VERDICT_OK && pm__may_go_on(e) &&
			   pm_branch_not_taken(&e->taken, e->m->g, 0, text, sizeof text);
	     e->again++)
		st = check_class(e, corners[e->again % 3], alt, 0, err);
	e->again = 0;
	return st;
}

/* Everything that is looked for is looked for in every alternative, since any may be what runs. */
static PmStatus check_alternative(Eval *e, int alt, PmErr *err)
{
	PmInputClass cls[PM_N_ALL_CLASSES];
	PmEvalRecord *r = e->rec;
	int n = choose_classes(e, alt, cls);
	PmStatus st = PM_OK;

	e->n_right = 0;
	for (int i = 0; i < n && !st && r->verdict == PM_VERDICT_OK && !enough(e); i++) {
		st = check_class(e, cls[i], alt, 0, err);
		if (!st)
			pm__first_tell(e, alt);
	}
	if (e->o->first_answer)
		return st;
	if (!st && r->verdict == PM_VERDICT_OK && e->quick && n == PM_N_ALL_CLASSES)
		st = try_other_ways(e, alt, err);
	if (!st && r->verdict == PM_VERDICT_OK && e->o->preset == PM_PRESET_SOUND)
		st = check_class(e, PM_INPUTS_NORMAL, alt, 1, err);
	return st;
}

PmStatus pm__stage_correctness(Eval *e, PmErr *err)
{
	PmEvalRecord *r = e->rec;
	PmStatus st = pm_probe_init(&e->probe, e->cand.g, err);

	if (st)
		return st;
	pm__judge_begin(e);
	e->n_alts = pm__count_alternatives(e->cand.g);
	pm__sample_begin(e);
	if (e->o->first_answer)
		st = check_alternative(e, e->first_alt, err);
	for (int alt = 0; alt < e->n_alts && !st && r->verdict == PM_VERDICT_OK && !e->o->first_answer; alt++)
		st = check_alternative(e, alt, err);
	if (r->verdict == PM_VERDICT_OK && !e->o->first_answer)
		pm__note_branches(e);
	if (!st && r->verdict == PM_VERDICT_OK)
		pm__judge_end(e);
	e->right = !st && r->verdict == PM_VERDICT_OK;
	r->n_first = e->o->first_answer ? e->n_right : 0;
	pm__sample_release(e);
	free(e->silence);
	e->silence = NULL;
	return st;
}
