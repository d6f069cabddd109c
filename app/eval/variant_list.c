/* SPDX-License-Identifier: Apache-2.0 */
/* variant_list.c - the graphs an evaluation runs on. */
#include "app/eval/variant_list.h"

#include "bench/inputs/inputs.h"
#include "dataset/pack/pack.h"
#include "dataset/store/tasks.h"
#include "extract/variants/variants.h"
#include "ir/text/text.h"
#include "runtime/ref/ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static PmStatus add_row(void *arg, const PmVariantRow *row, PmErr *err)
{
	PmVariantList *m = arg;
	PmGraph *g;
	PmStatus st = pm_graph_parse(row->text, strlen(row->text), &g, err);

	if (st)
		return pm_err_ctx(err, "variant %lld of the task", (long long)row->ordinal);
	PM_VEC_PUSH(&m->list, ((PmTaskVariant){ pm_xstrdup(row->label), g, row->ordinal, (int)row->shape,
						row->dtype }));
	return PM_OK;
}

PmStatus pm_variant_list_of_task(PmDb *db, const char *target, PmVariantList *out, PmErr *err)
{
	PmStatus st = pm_task_find(db, target, &out->task, err);

	return st ? st : pm_task_variants_each(db, out->task, add_row, out, err);
}

static PmStatus add_packed(void *arg, const PmPackGraph *p, PmErr *err)
{
	PmVariantList *m = arg;
	PmGraph *copy;
	PmStatus st = p->ordinal < 0 ? PM_DECLINED : pm_graph_clone(p->g, &copy, err);

	if (!st)
		PM_VEC_PUSH(&m->list,
			    ((PmTaskVariant){ pm_xstrdup(p->label), copy, p->ordinal, p->shape, p->dtype }));
	return st == PM_DECLINED ? PM_OK : st;
}

PmStatus pm_variant_list_of_pack(const char *dir, PmVariantList *out, PmErr *err)
{
	return pm_pack_read(dir, add_packed, out, NULL, err);
}

static PmStatus add_variant(void *arg, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err)
{
	PmVariantList *m = arg;
	int64_t ordinal = (int64_t)m->list.n;
	PmGraph *copy;
	PmStatus st = pm_graph_clone(g, &copy, err);

	if (!st)
		PM_VEC_PUSH(&m->list, ((PmTaskVariant){ pm_xstrdup(label), copy, ordinal, shape, dtype }));
	return st;
}

PmStatus pm_variant_list_of_graph(const PmGraph *g, int variants, uint64_t seed, PmVariantList *out,
				  PmErr *err)
{
	PmVariantOpts opts = { .seed = seed };
	PmStatus st;

	if (variants)
		return pm_variants_make(g, &opts, add_variant, out, NULL, err);
	st = pm_inputs_have_sizes(g, err);
	return st ? st : add_variant(out, g, "as written", 0, PM_F32, err);
}

/* Keeps those for which `keeps` says 1. */
static size_t keep(PmVariantList *m, int (*keeps)(const void *arg, const PmTaskVariant *one), const void *arg)
{
	size_t kept = 0, n = m->list.n;

	for (size_t i = 0; i < n; i++) {
		if (keeps(arg, &m->list.v[i])) {
			m->list.v[kept++] = m->list.v[i];
			continue;
		}
		free(m->list.v[i].label);
		pm_graph_free(m->list.v[i].g);
	}
	m->list.n = kept;
	return n - kept;
}

static int is_selected(const void *arg, const PmTaskVariant *one)
{
	const PmSelect *s = arg;
	int named = !s->n_only;

	for (size_t i = 0; i < s->n_only; i++)
		named |= s->only[i] == one->ordinal;
	return named && (s->dtype < 0 || s->dtype == one->dtype) && (s->shape < 0 || s->shape == one->shape);
}

size_t pm_variant_list_select(PmVariantList *m, const PmSelect *s)
{
	return keep(m, is_selected, s);
}

/* What is no size is no small one. */
static double work(const PmGraph *g)
{
	double sum = 0;
	int64_t n;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		sum += (double)pm_op_flops(g, pm_graph_node_at(g, i));
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		sum += pm_type_numel(pm_value_type(g, pm_graph_input(g, i)), &n, NULL) ? INFINITY : (double)n;
	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		sum += pm_type_numel(pm_value_type(g, pm_graph_output(g, i)), &n, NULL) ? INFINITY
											: (double)n;
	return sum;
}

static int is_that(const void *arg, const PmTaskVariant *one)
{
	return one->g == arg;
}

size_t pm_variant_list_keep_smallest(PmVariantList *m)
{
	const PmGraph *least = m->list.n ? m->list.v[0].g : NULL;

	for (size_t i = 1; i < m->list.n; i++)
		if (work(m->list.v[i].g) < work(least))
			least = m->list.v[i].g;
	return keep(m, is_that, least);
}

static int is_of_first_shapes(const void *arg, const PmTaskVariant *one)
{
	return one->shape < *(const int64_t *)arg;
}

void pm_variant_list_keep_shapes(PmVariantList *m, int64_t n)
{
	if (n > 0)
		keep(m, is_of_first_shapes, &n);
}

void pm_variant_list_release(PmVariantList *m)
{
	for (size_t i = 0; i < m->list.n; i++) {
		free(m->list.v[i].label);
		pm_graph_free(m->list.v[i].g);
	}
	PM_VEC_RELEASE(&m->list);
}
