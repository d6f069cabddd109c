/* extract.c - finds, cuts and names the fusible subgraphs of a model. */
#include "extract/extract.h"

#include "ir/canon.h"

#include <stdio.h>
#include <string.h>

typedef struct Job {
	PmCutter *cutter;
	PmDedup *seen;
	PmExtractFn fn;
	void *arg;
	PmExtractReport *report;
} Job;

static PmStatus name_it(PmExtracted *e, PmErr *err)
{
	PmStatus st = pm_canon_hash(e->sub, PM_CANON_FULL, e->full, err);

	if (st == PM_OK)
		st = pm_canon_hash(e->sub, PM_CANON_SHAPES, e->shapes, err);
	if (st == PM_OK)
		st = pm_canon_hash(e->sub, PM_CANON_STRUCTURE, e->structure, err);
	return st;
}

/* One set. That it cannot be cut is counted, not an error. */
static PmStatus one_set(Job *j, const PmNode *nodes, size_t n, PmErr *err)
{
	PmExtracted e = { NULL, nodes, n, "", "", "", 0 };
	PmGraph *sub = NULL;
	PmErr why;
	PmStatus st;

	pm_err_init(&why);
	st = pm_cutter_cut(j->cutter, nodes, n, &sub, &why);
	e.sub = sub;
	if (st == PM_OK)
		st = name_it(&e, &why);
	if (st) {
		if (!j->report->n_rejected++)
			snprintf(j->report->why, sizeof j->report->why, "%.255s", why.text);
		pm_graph_free(sub);
		return PM_OK;
	}
	pm_dedup_add(j->seen, e.full, &e.seen);
	j->report->n_found++;
	j->report->n_new += e.seen == 1;
	j->report->n_covered += n;
	st = j->fn(j->arg, &e, err);
	pm_graph_free(sub);
	return st;
}

static size_t count_opaque(const PmGraph *g)
{
	size_t i, n = 0;

	for (i = 0; i < pm_graph_n_nodes(g); i++)
		n += (pm_op_desc(pm_node_op(g, pm_graph_node_at(g, i)))->flags & PM_OPF_OPAQUE) != 0;
	return n;
}

PmStatus pm_extract_model(const PmGraph *g, const PmExtractOpts *opts, PmDedup *seen, PmExtractFn fn,
			  void *arg, PmExtractReport *report, PmErr *err)
{
	PmExtractReport own;
	PmDedup *fresh = seen ? NULL : pm_dedup_new();
	Job j = { NULL, seen ? seen : fresh, fn, arg, report ? report : &own };
	PmNodeSets sets = { NULL, NULL, 0 };
	PmStatus st;
	size_t i;

	memset(j.report, 0, sizeof *j.report);
	j.report->n_nodes = pm_graph_n_nodes(g);
	j.report->n_opaque = count_opaque(g);
	st = pm_fusible_sets(g, opts ? &opts->fusible : NULL, &sets, err);
	if (st == PM_OK)
		st = pm_cutter_new(g, opts ? &opts->cut : NULL, &j.cutter, err);
	for (i = 0; i < sets.n && st == PM_OK; i++)
		st = one_set(&j, sets.nodes + sets.start[i], sets.start[i + 1] - sets.start[i], err);
	pm_cutter_free(j.cutter);
	pm_node_sets_release(&sets);
	pm_dedup_free(fresh);
	return st;
}
