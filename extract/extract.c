/* SPDX-License-Identifier: Apache-2.0 */
/* extract.c - finds, cuts and names the subgraphs of a model. */
#include "extract/extract.h"

#include "extract/single.h"
#include "extract/skeleton.h"
#include "ir/canon/canon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Job {
	const PmGraph *g;
	const PmExtractOpts *opts;
	PmCutter *cutter;
	PmExtractSeen *seen;
	PmExtractFn fn;
	void *arg;
	PmExtractReport *report;
} Job;

const char *pm_extract_kind(PmExtractKind k)
{
	static const char *const names[PM_N_KINDS] = { "fusible", "classical", "single" };

	return (unsigned)k < PM_N_KINDS ? names[k] : "unknown";
}

void pm_extract_report_add(PmExtractReport *sum, const PmExtractReport *r)
{
	int k;

	sum->n_nodes += r->n_nodes;
	sum->n_opaque += r->n_opaque;
	sum->n_launches += r->n_launches;
	for (k = 0; k < PM_N_KINDS; k++) {
		PmKindReport *to = &sum->kind[k];
		const PmKindReport *from = &r->kind[k];

		to->n_found += from->n_found;
		to->n_new += from->n_new;
		to->n_covered += from->n_covered;
		to->n_ops += from->n_ops;
		to->n_launches += from->n_launches;
		to->n_not_connected += from->n_not_connected;
		to->n_not_convex += from->n_not_convex;
		to->n_rejected += from->n_rejected;
		if (!to->why[0])
			memcpy(to->why, from->why, sizeof to->why);
	}
}

void pm_extract_seen_init(PmExtractSeen *s)
{
	int k;

	for (k = 0; k < PM_N_KINDS; k++)
		s->kind[k] = pm_dedup_new();
}

void pm_extract_seen_release(PmExtractSeen *s)
{
	int k;

	for (k = 0; k < PM_N_KINDS; k++)
		pm_dedup_free(s->kind[k]);
}

static PmStatus name_it(PmExtracted *e, PmErr *err)
{
	PmStatus st = pm_canon_hash(e->sub, PM_CANON_FULL, e->full, err);

	if (st == PM_OK)
		st = pm_canon_hash(e->sub, PM_CANON_SHAPES, e->shapes, err);
	if (st == PM_OK)
		st = pm_canon_hash(e->sub, PM_CANON_STRUCTURE, e->structure, err);
	return st;
}

static void reject(Job *j, PmKindReport *r, const PmErr *why)
{
	r->n_not_connected += pm_cutter_fault(j->cutter) == PM_CUT_NOT_CONNECTED;
	r->n_not_convex += pm_cutter_fault(j->cutter) == PM_CUT_NOT_CONVEX;
	if (!r->n_rejected++)
		snprintf(r->why, sizeof r->why, "%.255s", why->text);
}

/* One set. That it cannot be cut is counted, not an error. */
static PmStatus one_set(Job *j, PmExtractKind kind, const PmNode *nodes, size_t n, PmErr *err)
{
	PmExtracted e = { NULL, kind, nodes, n, "", "", "", 0 };
	PmKindReport *r = &j->report->kind[kind];
	PmGraph *sub = NULL;
	PmErr why;
	PmStatus st;
	size_t i;

	pm_err_init(&why);
	st = pm_cutter_cut(j->cutter, nodes, n, &sub, &why);
	e.sub = sub;
	if (st == PM_OK)
		st = name_it(&e, &why);
	if (st) {
		reject(j, r, &why);
		pm_graph_free(sub);
		return PM_OK;
	}
	pm_dedup_add(j->seen->kind[kind], e.full, &e.seen);
	r->n_new += e.seen == 1;
	if (kind != PM_KIND_SINGLE) {
		r->n_found++;
		r->n_covered += n;
		r->n_ops += n;
		for (i = 0; i < n; i++)
			r->n_launches += pm_fusible_launches(j->g, j->opts->fusible.launches, nodes[i]);
	}
	st = j->fn(j->arg, &e, err);
	pm_graph_free(sub);
	return st;
}

static PmStatus all_sets(Job *j, PmExtractKind kind, const PmNodeSets *s, PmErr *err)
{
	PmStatus st = PM_OK;
	size_t i;

	for (i = 0; i < s->n && st == PM_OK; i++)
		st = one_set(j, kind, s->nodes + s->start[i], s->start[i + 1] - s->start[i], err);
	return st;
}

static PmStatus fusible(Job *j, PmErr *err)
{
	PmNodeSets sets;
	PmStatus st = pm_fusible_sets(j->g, &j->opts->fusible, &sets, err);

	if (st == PM_OK)
		st = all_sets(j, PM_KIND_FUSIBLE, &sets, err);
	j->report->kind[PM_KIND_FUSIBLE].n_ops += sets.n_ends;
	pm_node_sets_release(&sets);
	return st;
}

static PmStatus fold_alone(Job *j, PmNodeSets *sets, PmErr *err)
{
	PmSkeleton s;
	const PmSkeleton *one = &s;
	PmFoldDag f;
	PmStatus st = pm_skeleton_make(j->g, &s, err);

	if (st)
		return st;
	pm_fold_dag(&one, 1, &j->opts->fold, &f);
	pm_fold_dag_sets(&f, 0, &s, sets);
	pm_fold_dag_release(&f);
	pm_skeleton_release(&s);
	return PM_OK;
}

static PmStatus classical(Job *j, PmErr *err)
{
	PmNodeSets own = { NULL, NULL, 0, 0 };
	PmStatus st = PM_OK;

	if (!j->opts->motifs)
		st = fold_alone(j, &own, err);
	if (st == PM_OK)
		st = all_sets(j, PM_KIND_CLASSICAL, j->opts->motifs ? j->opts->motifs : &own, err);
	pm_node_sets_release(&own);
	return st;
}

static PmStatus single(Job *j, PmErr *err)
{
	PmKindReport *r = &j->report->kind[PM_KIND_SINGLE];
	PmSingles s;
	PmStatus st = pm_single_ops(j->g, &s, err);
	size_t i;

	for (i = 0; i < s.n && st == PM_OK; i++)
		st = one_set(j, PM_KIND_SINGLE, &s.v[i].node, 1, err);
	r->n_found = s.n_nodes;
	r->n_covered = r->n_ops = s.n_covered;
	pm_singles_release(&s);
	return st;
}

static void count_nodes(Job *j)
{
	PmExtractReport *r = j->report;
	size_t i;

	r->n_nodes = pm_graph_n_nodes(j->g);
	for (i = 0; i < r->n_nodes; i++) {
		PmNode n = pm_graph_node_at(j->g, i);

		r->n_opaque += (pm_op_desc(pm_node_op(j->g, n))->flags & PM_OPF_OPAQUE) != 0;
		r->n_launches += pm_fusible_launches(j->g, j->opts->fusible.launches, n);
	}
}

PmStatus pm_extract_model(const PmGraph *g, const PmExtractOpts *opts, PmExtractSeen *seen, PmExtractFn fn,
			  void *arg, PmExtractReport *report, PmErr *err)
{
	static PmStatus (*const find[PM_N_KINDS])(Job *, PmErr *) = { fusible, classical, single };
	static const PmExtractOpts defaults;
	PmExtractReport own;
	PmExtractSeen fresh;
	Job j = { g, opts ? opts : &defaults, NULL, seen, fn, arg, report ? report : &own };
	uint32_t kinds = j.opts->kinds ? j.opts->kinds : UINT32_MAX;
	PmStatus st;
	int k;

	memset(j.report, 0, sizeof *j.report);
	count_nodes(&j);
	if (!seen) {
		pm_extract_seen_init(&fresh);
		j.seen = &fresh;
	}
	st = pm_cutter_new(g, &j.opts->cut, &j.cutter, err);
	for (k = 0; k < PM_N_KINDS && st == PM_OK; k++) {
		if (kinds >> k & 1)
			st = find[k](&j, err);
	}
	pm_cutter_free(j.cutter);
	if (!seen)
		pm_extract_seen_release(&fresh);
	return st;
}
