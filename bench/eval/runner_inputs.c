/* SPDX-License-Identifier: Apache-2.0 */
/* runner_inputs.c - the inputs of an evaluation: nothing reaches a pass that the reference has not run. */
#include "base/core/rng.h"
#include "base/core/str.h"
#include "base/sys/chain.h"
#include "base/sys/proc.h"
#include "bench/eval/runner_priv.h"
#include "runtime/ref/ref.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds of a run on the device: a few for starting, and so many times what the reference took. */
enum { DEADLINE_LEAST = 10, DEADLINE_MOST = 60, DEADLINE_TIMES = 100 };
enum { REF_FLOPS = 400000000 }; /* operations of the reference on one set of inputs that are quick */

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

static int ways_taken(const PmBranches *b)
{
	int n = 0;

	for (size_t i = 0; i < b->n; i++)
		n += b->seen[i] ? (b->seen[i] == 3) + 1 : 0;
	return n;
}

/* Draws a class, and runs the reference on it where that is quick; *r says what became of it. */
static PmStatus draw(Eval *e, PmInputClass cls, int alt, int edited, PmTensor *in, PmReached *r, PmErr *err)
{
	uint64_t number = (uint64_t)alt * PM_N_ALL_CLASSES + (uint64_t)cls + ((uint64_t)e->again << 32);
	size_t n = pm_graph_n_inputs(e->m->g);
	PmStatus st = pm_inputs_defined(e->m->g, pm__draw(e, "inputs", number), cls, e->quick, in, r,
					edited ? NULL : &e->taken, err);
	PmReached again = { 0 };
	PmRng rng;

	if (st || r->drawn != 1 || !edited)
		return st;
	pm_rng_init(&rng, pm__draw(e, "edit", number));
	edit(in, n, &rng);
	if (!e->quick)
		return PM_OK;
	st = pm_reach(e->m->g, in, 0, &again, NULL, err);
	if (st) {
		pm_tensors_release(in, n);
		r->drawn = 2;
	}
	return st == PM_DECLINED ? PM_OK : st;
}

PmStatus pm__draw_inputs(Eval *e, PmInputClass cls, int alt, int edited, PmTensor *in, int *use, PmErr *err)
{
	PmReached r, *kept = &e->rec->reached.of[cls];
	PmStage was = pm_stage_enter(&e->stages, PM_STAGE_INPUTS);
	int before = ways_taken(&e->taken);
	PmStatus st = PM_OK;

	if (e->first && cls == PM_INPUTS_NORMAL && !alt && !edited) {
		memcpy(in, e->first, pm_graph_n_inputs(e->m->g) * sizeof *in);
		r = e->first_reached;
		free(e->first);
		e->first = NULL;
	} else {
		st = draw(e, cls, alt, edited, in, &r, err);
	}
	*use = !st && r.drawn == 1;
	if (*use && e->again && ways_taken(&e->taken) == before) { /* no new way: nothing to look at */
		pm_tensors_release(in, pm_graph_n_inputs(e->m->g));
		*use = 0;
	}
	if (!st && !kept->drawn)
		*kept = r;
	pm_stage_enter(&e->stages, was);
	return st;
}

void pm__write_down_now(Eval *e)
{
	for (size_t i = 0; e->unwritten && i < pm_graph_n_inputs(e->m->g); i++)
		pm_chain_pieces(e->rec->inputs, e->unwritten[i].data, e->unwritten[i].bytes);
	e->unwritten = NULL;
}

/* The ways of conditions that no inputs went, where all classes have been drawn and the reference run. */
void pm__note_branches(Eval *e)
{
	PmEvalReached *r = &e->rec->reached;
	char text[PM_BRANCH];

	for (r->n_not_taken = 0;
	     pm_branch_not_taken(&e->taken, e->m->g, (size_t)r->n_not_taken, text, sizeof text);
	     r->n_not_taken++)
		if (r->n_not_taken < PM_EVAL_BRANCHES)
			snprintf(r->not_taken[r->n_not_taken], sizeof text, "%s", text);
}

static double deadline(const Eval *e, double reference)
{
	double s = ceil(DEADLINE_LEAST + DEADLINE_TIMES * reference);

	if (e->o->device_deadline > 0)
		return e->o->device_deadline;
	return e->quick && s < DEADLINE_MOST ? s : DEADLINE_MOST;
}

PmStatus pm__stage_inputs(Eval *e, PmErr *err)
{
	double t0 = pm_now();
	size_t n = pm_graph_n_inputs(e->m->g);
	int64_t flops = 0;
	char text[PM_ERR_MAX];
	PmStatus st;

	for (size_t i = 0; i < pm_graph_n_nodes(e->m->g); i++)
		flops += pm_op_flops(e->m->g, pm_graph_node_at(e->m->g, i));
	e->quick = flops <= REF_FLOPS;
	pm_branches_init(&e->taken, e->m->g);
	e->first = pm_xcalloc(n + 1, sizeof *e->first);
	st = draw(e, PM_INPUTS_NORMAL, 0, 0, e->first, &e->first_reached, err);
	e->deadline = deadline(e, pm_now() - t0);
	if (!st && e->first_reached.drawn == 1)
		return PM_OK;
	free(e->first);
	e->first = NULL;
	if (st)
		return st;
	snprintf(text, sizeof text,
		 "The reference refuses inputs that the harness drew, so that no pass is judged here: %s",
		 e->first_reached.why);
	return pm__say(e, PM_VERDICT_HARNESS_FAIL, text);
}

void pm__inputs_release(Eval *e)
{
	if (e->first)
		pm_tensors_release(e->first, pm_graph_n_inputs(e->m->g));
	free(e->first);
	e->first = NULL;
	pm_branches_release(&e->taken);
}
