/* SPDX-License-Identifier: Apache-2.0 */
/* task_from.c - a whole model as a task: cut, varied, stored, tagged. */
#include "app/task/task_from.h"

#include "app/task/task_proxy.h"
#include "base/core/hash.h"
#include "base/sys/io.h"
#include "dataset/store/tags.h"
#include "dataset/store/tasks.h"
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

/* level2__9_name is problem 9 of KernelBench's level 2; mkb_reduce__name is one that MultiKernelBench added.
 */
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
	}
	pm_str_release(&part);
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
	for (size_t i = 0; i < o->n_tags && !st; i++)
		st = pm_task_tag_set(db, t->id, o->tag[i].key, o->tag[i].value, err);
	return st;
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

PmStatus pm_task_from(PmDb *db, const PmGraph *g, const PmTaskFromOpts *o, PmTaskFrom *out, PmErr *err)
{
	const PmShrinkOpts so = { o->max_elements, o->max_mflop * MFLOP, pm_graph_flops };
	const PmVariantOpts vo = { .n_shapes = (int)(o->shapes ? o->shapes : OWN_SHAPES),
				   .max_elements = o->max_elements,
				   .own_dtype = 1,
				   .seed = (uint64_t)o->seed };
	Keep k = { .o = o };
	PmGraph *own = NULL;
	char kind[16];
	PmStatus st;

	memset(out, 0, sizeof *out);
	st = refuse_narrow(g, err);
	if (!st)
		st = pm_shrink(g, &so, &own, &out->cut, err);
	if (!st)
		st = pm_laws_from_stats(own, &out->laws, err);
	if (st) {
		pm_graph_free(own);
		return st;
	}
	/* They name inputs that have other names in the task. */
	pm_graph_drop_meta(own, PM_STATS_KEY);
	/* Tasks are told apart by kind and content. Two problems of a suite may be the same once they are
	 * cut, and still count as two. */
	snprintf(kind, sizeof kind, "model-%08x",
		 (unsigned)(pm_hash64(o->name, strlen(o->name), PM_HASH_SEED) & UINT32_MAX));
	k.b = pm_task_begin(o->name, kind);
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
