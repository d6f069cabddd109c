/* SPDX-License-Identifier: Apache-2.0 */
/* referee.c - runs the pass host twice and checks what it says. */
#include "integrity/referee/referee.h"

#include "base/core/json.h"
#include "base/core/str.h"
#include "ir/text/text.h"
#include "matcher/host/pass_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static PmStatus say(PmCandidate *out, PmVerdict v, const char *why)
{
	out->verdict = v;
	snprintf(out->why, sizeof out->why, "%s", why);
	return PM_OK;
}

/* The deepest near miss of all rules, as one line. */
static char *nearest(const PmPassOutcome *o)
{
	const char *rule = "";
	const PmNearMiss *best = pm_pass_outcome_nearest(o, &rule);
	PmStr s = PM_STR_INIT;

	if (!best)
		return NULL;
	pm_str_addf(&s, "rule %s matched %u of %u operators: %s", rule, best->depth, best->of, best->text);
	return pm_str_detach(&s, NULL);
}

static int count_kernels(const PmGraph *g)
{
	int n = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		n += (pm_op_desc(pm_node_op(g, pm_graph_node_at(g, i)))->flags & PM_OPF_KERNEL) != 0;
	return n;
}

/* Two answers are the same when they print the same. */
static PmStatus same_text(const PmGraph *a, const PmGraph *b, int *same, PmErr *err)
{
	PmStr ta = PM_STR_INIT, tb = PM_STR_INIT;
	PmPrintOpts po = { .max_inline = 64 };
	PmStatus st = pm_graph_print(a, &po, &ta, err);

	if (!st)
		st = pm_graph_print(b, &po, &tb, err);
	*same = !st && ta.len == tb.len && !memcmp(ta.s, tb.s, ta.len);
	pm_str_release(&ta);
	pm_str_release(&tb);
	return st;
}

static PmStatus judge(PmPassOutcome *first, PmPassOutcome *second, PmCandidate *out, PmErr *err)
{
	int same = 1;
	PmStatus st = PM_OK;

	out->n_applied = (int)first->applied;
	out->seconds = first->seconds + second->seconds;
	if (first->verdict != second->verdict || first->applied != second->applied)
		return say(out, PM_VERDICT_PASS_NONDET,
			   "Two runs of the pass on the same graph did different things; a pass must depend "
			   "on the graph only.");
	out->explained = pm_pass_outcome_explained(second);
	if (first->verdict == PM_VERDICT_NO_MATCH)
		out->near_miss = nearest(second);
	if (first->verdict != PM_VERDICT_OK)
		return say(out, first->verdict, first->message);
	st = same_text(first->graph, second->graph, &same, err);
	if (st)
		return st;
	if (!same)
		return say(out, PM_VERDICT_PASS_NONDET,
			   "Two runs of the pass on the same graph gave different graphs; a pass must depend "
			   "on the graph only.");
	out->n_kernels = count_kernels(first->graph);
	if (!out->n_kernels)
		return say(out, PM_VERDICT_NO_CREDIT,
			   "The pass applied rules but left no kernel in the graph.");
	out->g = first->graph;
	first->graph = NULL;
	return say(out, PM_VERDICT_OK, "");
}

PmStatus pm_referee_rewrite_object(const PmObject *object, const char *rule, const PmGraph *g,
				   double deadline, PmCandidate *out, PmErr *err)
{
	PmPassOpts opts = { .seconds = deadline, .only_rule = rule, .object = object };
	PmPassOutcome first = { 0 }, second = { 0 };
	PmStatus st;

	memset(out, 0, sizeof *out);
	st = pm_pass_apply(object->path, g, &opts, &first, err);
	/* A run that crashed, hung or was refused says all there is to say. */
	if (!st && first.verdict != PM_VERDICT_OK && first.verdict != PM_VERDICT_NO_MATCH) {
		out->seconds = first.seconds;
		st = say(out, first.verdict, first.message);
	} else if (!st) {
		opts.misses = first.verdict == PM_VERDICT_NO_MATCH;
		opts.variant = 1;
		st = pm_pass_apply(object->path, g, &opts, &second, err);
		if (!st)
			st = judge(&first, &second, out, err);
		pm_pass_outcome_release(&second);
	}
	pm_pass_outcome_release(&first);
	if (st)
		pm_candidate_release(out);
	return st;
}

PmStatus pm_referee_rewrite(const char *so_path, const char *rule, const PmGraph *g, double deadline,
			    PmCandidate *out, PmErr *err)
{
	PmObject object;
	PmErr why;
	PmStatus st;

	pm_err_init(&why);
	memset(out, 0, sizeof *out);
	if (pm_object_read(so_path, &object, &why))
		st = say(out, PM_VERDICT_REJECT_ELF, why.text);
	else
		st = pm_referee_rewrite_object(&object, rule, g, deadline, out, err);
	pm_object_release(&object);
	return st;
}

void pm_candidate_release(PmCandidate *c)
{
	pm_graph_free(c->g);
	free(c->near_miss);
	free(c->explained);
	c->g = NULL;
	c->near_miss = c->explained = NULL;
}
