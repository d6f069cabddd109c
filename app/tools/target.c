/* SPDX-License-Identifier: Apache-2.0 */
/* target.c - what a call names: a task and its variant, a model, a pass. */
#include "app/tools/tools_priv.h"

#include "app/exemplar/folder.h"
#include "dataset/pack/pack.h"
#include "dataset/store/tasks.h"
#include "ir/text/text.h"
#include "runtime/exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Elements of all values of a graph that a first answer may take its time for; of the graph as extracted,
 * which an author has before him. */
enum { FIRST_ELEMENTS = 1 << 16, FIRST_OF_ORIGINAL = 1 << 18 };

/* ---- models ---- */

static void add_bundled(const PmTools *t, const char *folder, PmStr *out)
{
	PmStr path = PM_STR_INIT;
	PmNames names = { 0 };

	if (!pm_text_folder(t->root, folder, &path, NULL) && !pm_list_dir(path.s, &names, NULL))
		for (size_t i = 0; i < names.n; i++)
			if (pm_str_ends(names.v[i], ".gpt"))
				pm_str_addf(out, "%s%s/%s", out->len ? ", " : "", folder, names.v[i]);
	pm_names_release(&names);
	pm_str_release(&path);
}

PmStatus pm__model_path(const PmTools *t, const char *name, PmStr *out, PmErr *err)
{
	PmStr all = PM_STR_INIT;
	PmStatus st = pm__ws_path(name, err);

	if (st)
		return st;
	if (pm__ws_kind(t, name) == 1) {
		pm_path_join(t->workspace, name, out);
		return PM_OK;
	}
	if (!strncmp(name, "models/", strlen("models/"))) {
		PmStr folder = PM_STR_INIT;

		if (!pm_text_folder(t->root, "models", &folder, NULL))
			pm_path_join(folder.s, name + strlen("models/"), out);
		pm_str_release(&folder);
		if (out->len && pm_file_size(out->s) >= 0)
			return PM_OK;
		pm_str_clear(out);
	}
	add_bundled(t, "models", &all);
	st = pm_err(err, PM_E_NOT_FOUND,
		    "There is no model %.80s, in the workspace or bundled. Bundled are: %.600s.", name,
		    all.len ? all.s : "none");
	pm_str_release(&all);
	return st;
}

/* ---- variants of a task ---- */

typedef struct Pick {
	int64_t wanted; /* ordinal; -1: one for a first answer */
	int64_t ordinal;
	double work;
	int fits, original;
	PmStr text, label;
} Pick;

static double work_of(const char *text)
{
	PmGraph *g = NULL;
	double all = 0;

	if (pm_graph_parse(text, strlen(text), &g, NULL))
		return 1e300;
	for (uint32_t i = 1; i < pm_graph_value_limit(g); i++) {
		int64_t n = 0;

		if (!pm_type_numel(pm_value_type(g, (PmValue){ i }), &n, NULL))
			all += (double)n;
	}
	pm_graph_free(g);
	return all;
}

static void take(Pick *p, const PmVariantRow *v, double work)
{
	p->ordinal = v->ordinal;
	p->work = work;
	p->fits = work <= FIRST_ELEMENTS;
	pm_str_clear(&p->text);
	pm_str_clear(&p->label);
	pm_str_add(&p->text, v->text);
	pm_str_add(&p->label, v->label);
}

/* For a first answer the graph as extracted; where that is large, the largest that is quickly done, which
 * shows more than the least; where none is, the least. The first of equals, which is of float. */
static PmStatus pick_one(void *arg, const PmVariantRow *v, PmErr *err)
{
	Pick *p = arg;
	double work;

	(void)err;
	if (p->wanted >= 0) {
		if (v->ordinal == p->wanted)
			take(p, v, 0);
		return PM_OK;
	}
	if (p->ordinal >= 0 && v->dtype != PM_F32)
		return PM_OK;
	if (p->original)
		return PM_OK;
	work = work_of(v->text);
	p->original = v->shape == 0 && work <= FIRST_OF_ORIGINAL;
	if (p->original || p->ordinal < 0 || (work <= FIRST_ELEMENTS && (!p->fits || work > p->work)) ||
	    (!p->fits && work < p->work))
		take(p, v, work);
	return PM_OK;
}

static PmStatus one_variant(PmTools *t, PmToolRun *r, int64_t wanted, PmErr *err)
{
	Pick p = { .wanted = wanted, .ordinal = -1, .text = PM_STR_INIT, .label = PM_STR_INIT };
	PmStr path = PM_STR_INIT;
	PmStatus st = pm_task_variants_each(t->db, r->task, pick_one, &p, err);

	if (!st && p.ordinal < 0)
		st = pm_err(
			err, PM_E_NOT_FOUND,
			"The task has no variant %lld; show_task lists them, and their numbers begin with "
			"0.",
			(long long)wanted);
	pm_str_addf(&r->target, ".runs/graphs/task-%lld-%lld.gpt", (long long)r->task, (long long)p.ordinal);
	pm_path_join(t->workspace, ".runs/graphs", &path);
	st = st ? st : pm_mkdirs(path.s, err);
	pm_str_clear(&path);
	pm_path_join(t->workspace, r->target.s, &path);
	st = st ? st : pm_write_file(path.s, p.text.s, p.text.len, err);
	r->variant = p.ordinal;
	pm_str_addf(&r->label, "%lld (%s)", (long long)p.ordinal, p.label.s);
	pm_str_addf(&r->key, "task %lld, variant %lld", (long long)r->task, (long long)p.ordinal);
	pm_str_release(&p.text);
	pm_str_release(&p.label);
	pm_str_release(&path);
	return st;
}

/* Operations, and elements of inputs and outputs: what the time of a variant goes with. */
static PmStatus weigh(void *arg, const PmVariantRow *v, PmErr *err)
{
	PmToolRun *r = arg;
	PmGraph *g = NULL;
	PmPlanStats s = { 0 };
	double work = 1;
	int64_t n = 0;

	(void)err;
	if (!pm_graph_parse(v->text, strlen(v->text), &g, NULL)) {
		if (!pm_graph_plan_stats(g, NULL, 0, pm_profile(NULL), &s, NULL))
			work += (double)s.flops;
		for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
			if (!pm_type_numel(pm_value_type(g, pm_graph_input(g, i)), &n, NULL))
				work += (double)n;
		for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
			if (!pm_type_numel(pm_value_type(g, pm_graph_output(g, i)), &n, NULL))
				work += (double)n;
	}
	pm_graph_free(g);
	PM_VEC_PUSH(&r->work, work);
	return PM_OK;
}

static PmStatus all_variants(PmTools *t, PmToolRun *r, int64_t variant, PmErr *err)
{
	PmStr root = PM_STR_INIT;
	PmStatus st;

	pm_path_join(t->workspace, ".runs/packs", &root);
	st = pm_mkdirs(root.s, err);
	st = st ? st : pm_pack_write(t->db, r->task, root.s, NULL, &r->target, NULL, err);
	st = st ? st : pm_task_variants_each(t->db, r->task, weigh, r, err);
	pm_str_addf(&r->key, "task %lld", (long long)r->task);
	if (variant >= 0)
		pm_str_addf(&r->key, ", variant %lld", (long long)variant);
	pm_str_release(&root);
	return st;
}

PmStatus pm__target_variant(PmTools *t, PmToolRun *r, int64_t number, PmErr *err)
{
	pm_str_clear(&r->target);
	pm_str_clear(&r->label);
	pm_str_clear(&r->key);
	return one_variant(t, r, number, err);
}

void pm__say_looked_at(const PmToolRun *r, PmStr *out)
{
	int n = cJSON_GetArraySize(r->graphs);
	const cJSON *x;
	PmStr rest = PM_STR_INIT;

	if (!n)
		return;
	cJSON_ArrayForEach(x, r->graphs)
	{
		if (pm_json_i64(x, "number", -1) == r->variant)
			pm_str_addf(out, "Only variant %s was looked at, of graph %lld (variants %s).",
				    r->label.s, (long long)pm_json_i64(x, "graph", 0),
				    pm_json_str(x, "variants", ""));
		else
			pm_str_addf(&rest, "%s%lld (variants %s)", rest.len ? ", " : "",
				    (long long)pm_json_i64(x, "graph", 0), pm_json_str(x, "variants", ""));
	}
	if (rest.len)
		pm_str_addf(out, " Graphs that were not looked at: %s.", rest.s);
	else
		pm_str_add(out, " The task has no other graph.");
	pm_str_release(&rest);
}

PmStatus pm__task_id(const PmTools *t, const char *task, int64_t *id, PmErr *err)
{
	if (!t->db)
		return pm_err(err, PM_E_NOT_FOUND,
			      "This session has no database, and so no tasks; name a model instead "
			      "(\"model\": \"models/llama_block.gpt\").");
	if (pm_task_find(t->db, task, id, err))
		return pm_err(err, PM_E_NOT_FOUND, "There is no task %.60s; list_tasks shows their numbers.",
			      task);
	return PM_OK;
}

PmStatus pm__target(PmTools *t, PmToolRun *r, int whole, PmErr *err)
{
	const char *task = pm__arg(r->args, "task"), *model = pm__arg(r->args, "model");
	int64_t variant = pm_json_i64(r->args, "variant", -1);
	PmStatus st;

	if (!task == !model)
		return pm_err(err, PM_E_INVALID,
			      "Give either task (a number or name of list_tasks) or model (a graph in the "
			      "workspace, or a bundled one such as models/llama_block.gpt).");
	if (model) {
		st = pm__model_path(t, model, &r->target, err);
		pm_str_addf(&r->key, "model %s", model);
		if (variant >= 0)
			pm_str_addf(&r->key, ", variant %lld", (long long)variant);
		return st;
	}
	st = pm__task_id(t, task, &r->task, err);
	return st ? st : whole ? all_variants(t, r, variant, err) : one_variant(t, r, variant, err);
}
