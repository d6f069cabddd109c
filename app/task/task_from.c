/* SPDX-License-Identifier: Apache-2.0 */
/* task_from.c - a whole model as a task: cut, varied, stored, tagged. */
#include "app/task/task_from.h"

#include "app/task/task_proxy.h"
#include "base/core/hash.h"
#include "base/sys/io.h"
#include "dataset/store/subgraphs.h"
#include "dataset/store/tags.h"
#include "dataset/store/tasks.h"
#include "extract/dedup.h"
#include "ir/data/law.h"
#include "ir/data/stats.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { OWN_SHAPES = 5, MFLOP = 1000000 };

void pm_task_from_name(const char *path, PmStr *out)
{
	const char *base = pm_path_base(path), *dot = strrchr(base, '.');

	pm_str_addn(out, base, dot && dot != base ? (size_t)(dot - base) : strlen(base));
}

/* ---- tags ---- */

/* level2__9_name is problem 9 of KernelBench's level 2; mkb_reduce__name is one that MultiKernelBench added;
 * passbench__name is a group of PassBench. */
static PmStatus tag_by_name(PmDb *db, int64_t task, const char *path, PmErr *err)
{
	const char *base = pm_path_base(path), *end = strstr(base, "__");
	PmStr part = PM_STR_INIT;
	PmStatus st = PM_OK;

	if (!end)
		return PM_OK;
	if (!strncmp(base, "level", 5) && end == base + 6 && isdigit((unsigned char)base[5])) {
		pm_str_addc(&part, base[5]);
		st = pm_task_tag_set(db, task, "suite", "kernelbench", err);
		if (!st)
			st = pm_task_tag_set(db, task, "level", part.s, err);
	} else if (!strncmp(base, "mkb_", 4) && end > base + 4) {
		pm_str_addn(&part, base + 4, (size_t)(end - base) - 4);
		st = pm_task_tag_set(db, task, "suite", "multikernelbench", err);
		if (!st)
			st = pm_task_tag_set(db, task, "category", part.s, err);
	} else if (!strncmp(base, "passbench__", 11)) {
		st = pm_task_tag_set(db, task, "suite", "passbench", err);
	}
	pm_str_release(&part);
	return st;
}

static PmStatus tag_as_asked(PmDb *db, const PmTaskFromOpts *o, int64_t task, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < o->n_tags && !st; i++)
		st = pm_task_tag_set(db, task, o->tag[i].key, o->tag[i].value, err);
	return st;
}

static PmStatus tag(PmDb *db, const PmTaskFromOpts *o, const PmTaskFrom *t, PmErr *err)
{
	PmStr cut = PM_STR_INIT;
	PmStatus st = tag_by_name(db, t->id, o->path, err);

	if (t->cut.is_cut)
		pm_str_addf(&cut, "largest value %lld to %lld elements, %.6g to %.6g megaflops",
			    (long long)t->cut.elements_before, (long long)t->cut.elements,
			    (double)t->cut.cost_before / MFLOP, (double)t->cut.cost / MFLOP);
	if (!st && cut.len)
		st = pm_task_tag_set(db, t->id, "cut", cut.s, err);
	pm_str_release(&cut);
	return st ? st : tag_as_asked(db, o, t->id, err);
}

/* ---- variants ---- */

typedef struct Keep {
	PmTaskBuilder *b;
	const PmTaskFromOpts *o;
	size_t dropped;
} Keep;

/* The shapes beside the first may take more than it does. */
static PmStatus keep(void *arg, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err)
{
	Keep *k = arg;

	if (shape && k->o->max_mflop && pm_graph_flops(g) > k->o->max_mflop * MFLOP) {
		k->dropped++;
		return PM_OK;
	}
	return pm_task_add(k->b, g, label, shape, dtype, err);
}

/* No kernel has the narrow element types, so that no pass could be judged. */
static PmStatus refuse_narrow(const PmGraph *g, PmErr *err)
{
	for (uint32_t id = 1; id < pm_graph_value_limit(g); id++) {
		PmValue v = { id };

		if (pm_dtype_is_narrow(pm_value_type(g, v)->dtype))
			return pm_err(err, PM_E_UNSUPPORTED,
				      "Value '%.120s' is %s, which no kernel can read or write; extract the "
				      "parts of the model without it, or cast it to int8 or float16.",
				      pm_value_name(g, v), pm_dtype_name(pm_value_type(g, v)->dtype));
	}
	return PM_OK;
}

/* Tasks are told apart by kind and content. Two problems of a suite may be the same once they are cut, and
 * still count as two. */
static PmTaskBuilder *begin(const char *what, const char *name)
{
	char kind[24];

	snprintf(kind, sizeof kind, "%s-%08x", what,
		 (unsigned)(pm_hash64(name, strlen(name), PM_HASH_SEED) & UINT32_MAX));
	return pm_task_begin(name, kind);
}

/* The graph that a task begins with, owned: cut as asked, with laws in place of statistics. */
static PmStatus own_graph(const PmGraph *g, const PmTaskFromOpts *o, PmGraph **own, PmShrinkReport *cut,
			  size_t *laws, PmErr *err)
{
	const PmShrinkOpts so = { o->max_elements, o->max_mflop * MFLOP, pm_graph_flops };
	PmStatus st = refuse_narrow(g, err);

	if (!st)
		st = pm_shrink(g, &so, own, cut, err);
	if (!st)
		st = pm_laws_from_stats(*own, laws, err);
	if (!st) /* they name inputs that have other names in the task */
		pm_graph_drop_meta(*own, PM_STATS_KEY);
	return st;
}

PmStatus pm_task_from(PmDb *db, const PmGraph *g, const PmTaskFromOpts *o, PmTaskFrom *out, PmErr *err)
{
	const PmVariantOpts vo = { .n_shapes = (int)(o->shapes ? o->shapes : OWN_SHAPES),
				   .max_elements = o->max_elements,
				   .own_dtype = 1,
				   .seed = (uint64_t)o->seed };
	Keep k = { .o = o };
	PmGraph *own = NULL;
	PmStatus st;

	memset(out, 0, sizeof *out);
	st = own_graph(g, o, &own, &out->cut, &out->laws, err);
	if (st) {
		pm_graph_free(own);
		return st;
	}
	k.b = begin("model", o->name);
	st = pm_variants_make(own, &vo, keep, &k, &out->variants, err);
	out->dropped = k.dropped;
	if (st)
		pm_task_drop(k.b);
	else
		st = pm_task_end(k.b, db, &out->id, &out->is_new, err);
	if (!st)
		st = tag(db, o, out, err);
	pm_graph_free(own);
	return st;
}

/* ---- several models ---- */

struct PmTaskGroup {
	const PmTaskFromOpts *o;
	PmTaskBuilder *b;
	PmDedup *shapes, *op_lists, *graphs; /* lists of operators with all sizes; those lists; full hashes */
	PmTaskGroupMade made;
};

PmTaskGroup *pm_task_group_begin(const PmTaskFromOpts *o)
{
	PmTaskGroup *t = pm_xcalloc(1, sizeof *t);

	t->o = o;
	t->b = begin("group", o->name);
	t->shapes = pm_dedup_new();
	t->op_lists = pm_dedup_new();
	t->graphs = pm_dedup_new();
	return t;
}

void pm_task_group_drop(PmTaskGroup *t)
{
	if (!t)
		return;
	pm_task_drop(t->b);
	pm_dedup_free(t->shapes);
	pm_dedup_free(t->op_lists);
	pm_dedup_free(t->graphs);
	free(t);
}

/* Graphs of one list of operators whose inputs have the same sizes are one shape, in several element types.
 */
static PmStatus add_one(void *arg, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err)
{
	PmTaskGroup *t = arg;
	const char *sizes = strchr(label, ':');
	PmStr list = PM_STR_INIT, said = PM_STR_INIT;
	PmGraphKey key;
	size_t seen = 0;
	PmStatus st = pm_graph_key(g, &key, err);

	if (st)
		return st;
	pm_dedup_add(t->graphs, key.full, &seen);
	if (seen > 1) {
		t->made.equal++;
		return PM_OK;
	}
	pm_graph_ops(g, &list);
	pm_str_addc(&list, ';');
	pm_dedup_add(t->op_lists, list.s, NULL);
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++) {
		const PmType *in = pm_value_type(g, pm_graph_input(g, i));

		for (int k = 0; k < in->rank; k++)
			pm_str_addf(&list, "%lldx", (long long)in->dim[k]);
		pm_str_addc(&list, ' ');
	}
	shape = (int)pm_dedup_add(t->shapes, list.s, NULL);
	pm_str_addf(&said, "shape %d, %s%s", shape, dtype < 0 ? "as is" : pm_dtype_name(dtype),
		    sizes ? sizes : "");
	st = pm_task_add(t->b, g, said.s, shape, dtype, err);
	t->made.graphs += !st;
	pm_str_release(&list);
	pm_str_release(&said);
	return st;
}

PmStatus pm_task_group_add(PmTaskGroup *t, const PmGraph *g, PmErr *err)
{
	const PmVariantOpts vo = { .n_shapes = 1, .own_dtype = 1, .seed = (uint64_t)t->o->seed };
	PmShrinkReport cut = { 0 };
	PmGraph *own = NULL;
	size_t laws = 0;
	PmStatus st = own_graph(g, t->o, &own, &cut, &laws, err);

	if (!st)
		st = pm_variants_make(own, &vo, add_one, t, NULL, err);
	t->made.laws += laws;
	t->made.cut += (size_t)cut.is_cut;
	t->made.over += (size_t)cut.is_over;
	pm_graph_free(own);
	return st;
}

static PmStatus tag_group(const PmTaskGroup *t, PmDb *db, int64_t listed, PmErr *err)
{
	size_t added = t->made.graphs + t->made.equal;
	PmStr text = PM_STR_INIT;
	PmStatus st = tag_by_name(db, t->made.id, t->o->path, err);

	if (!st && t->made.cut) {
		pm_str_addf(&text, "%zu of %zu graphs", t->made.cut, added);
		st = pm_task_tag_set(db, t->made.id, "cut", text.s, err);
	}
	pm_str_clear(&text);
	if (!st && (int64_t)added < listed) {
		pm_str_addf(&text, "%zu of %lld graphs", added, (long long)listed);
		st = pm_task_tag_set(db, t->made.id, "partial", text.s, err);
	}
	pm_str_release(&text);
	return st ? st : tag_as_asked(db, t->o, t->made.id, err);
}

PmStatus pm_task_group_end(PmTaskGroup *t, PmDb *db, int64_t listed, PmTaskGroupMade *out, PmErr *err)
{
	PmTaskBuilder *b = t->b;
	PmStatus st;

	t->b = NULL;
	t->made.shapes = pm_dedup_size(t->shapes);
	t->made.op_lists = pm_dedup_size(t->op_lists);
	st = pm_task_end(b, db, &t->made.id, &t->made.is_new, err);
	if (!st)
		st = tag_group(t, db, listed, err);
	*out = t->made;
	return st;
}
