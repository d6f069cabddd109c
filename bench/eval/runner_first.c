/* SPDX-License-Identifier: Apache-2.0 */
/* runner_first.c - the first answer: which alternative it is of, what it leaves out, and when it is told. */
#include "bench/eval/runner_priv.h"

#include <math.h>
#include <stdio.h>

PmStatus pm__first_choose(Eval *e, PmErr *err)
{
	PmPlanStats base, best;

	e->n_alts = pm__count_alternatives(e->cand.g);
	return pm__model(e, &base, &best, &e->first_alt, err);
}

static double elements(const PmGraph *g)
{
	double sum = 0;
	int64_t n;

	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		if (!pm_type_numel(pm_value_type(g, pm_graph_input(g, i)), &n, NULL))
			sum += (double)n;
	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		if (!pm_type_numel(pm_value_type(g, pm_graph_output(g, i)), &n, NULL))
			sum += (double)n;
	return sum;
}

int pm__first_classes(const Eval *e)
{
	return !e->quick || elements(e->m->g) > PM_FIRST_LARGE ? PM_FIRST_LARGE_CLASSES : PM_FIRST_CLASSES;
}

static int was_drawn(const PmEvalRecord *r, PmInputClass cls)
{
	for (int i = 0; i < r->n_first; i++)
		if (r->first[i] == cls)
			return 1;
	return 0;
}

/* Everything that is looked for elsewhere, by the names that an evaluation out of time gives it. A class that
 * the graph has no inputs of (reached.of[].drawn is 2) is no part of any evaluation. */
static void leave_out_inputs(Eval *e)
{
	int passnet = e->o->preset == PM_PRESET_PASSNET;
	int n = passnet ? PM_N_INPUT_CLASSES : PM_N_ALL_CLASSES;
	char what[64];

	for (int c = 0; c < n; c++) {
		if (was_drawn(e->rec, (PmInputClass)c) || e->rec->reached.of[c].drawn == 2)
			continue;
		snprintf(what, sizeof what, "inputs %s, alternative %d", pm_input_class_name((PmInputClass)c),
			 e->first_alt);
		pm__leave_out(e, what);
	}
	if (passnet)
		return;
	snprintf(what, sizeof what, "inputs %s (edited), alternative %d",
		 pm_input_class_name(PM_INPUTS_NORMAL), e->first_alt);
	pm__leave_out(e, what);
}

void pm__first_leave_out(Eval *e)
{
	int races = 0;

	leave_out_inputs(e);
	for (int alt = 0; alt < e->n_alts; alt++)
		races |= pm__races_wanted(e, alt);
	if (e->n_alts > 1)
		pm__leave_out(e, "the other alternatives");
	if (races)
		pm__leave_out(e, "races in shared memory");
	if (!e->o->check_only)
		pm__leave_out(e, "what calls give that are timed or rehearsed");
	if (!e->o->check_only && e->rec->measured)
		pm__leave_out(e, "whether a longer clock agrees");
	if (e->o->preset == PM_PRESET_SOUND)
		pm__leave_out(e, "hidden shapes");
}

static void tell(Eval *e, const PmFirstAnswer *a)
{
	e->answered = 1;
	e->o->answered(e->o->answered_arg, a);
}

/* Hidden shapes and first answers themselves have none that goes before. */
static int may_tell(const Eval *e)
{
	return e->o->answered && !e->answered && !e->told && !e->o->kind && !e->o->first_answer &&
	       e->n_right >= pm__first_classes(e);
}

void pm__first_tell(Eval *e, int alt)
{
	int timed = !e->o->check_only;
	PmFirstAnswer a = { e->m->label, e->n_right, alt, NAN, 0, NAN, NAN };

	if (!may_tell(e) || (timed && pm_device_kind(e->o->device) == PM_DEVICE_CUDA) || !pm__judge_right(e))
		return;
	if (timed)
		a.speedup = pm__modelled_speedup(e, alt);
	if (!timed || isfinite(a.speedup))
		tell(e, &a);
}

void pm__first_tell_measured(Eval *e, int alt, double speedup, double lo, double hi)
{
	const PmFirstAnswer a = { e->m->label, e->n_right, alt, speedup, 1, lo, hi };

	if (may_tell(e) && e->right)
		tell(e, &a);
}
