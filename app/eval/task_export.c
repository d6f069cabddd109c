/* SPDX-License-Identifier: Apache-2.0 */
/* task_export.c - writes the graphs of a task for PyTorch, one folder each. */
#include "app/eval/task_export.h"

#include "base/sys/io.h"
#include "bench/torch/torch_export.h"
#include "dataset/store/subgraphs.h"

/* "003 s1 float16" as a folder name. */
static void folder(const PmTaskVariant *m, PmStr *out)
{
	pm_str_addf(out, "%03lld_", (long long)m->ordinal);
	for (const char *p = m->label; *p; p++)
		pm_str_addc(out, (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
						 (*p >= 'A' && *p <= 'Z') || *p == '-'
					 ? *p
					 : '_');
}

/* Writes one graph below o->dir; *path is its folder. */
static PmStatus write_one(const PmTaskExportOpts *o, const PmTaskVariant *m, PmStr *path, PmErr *err)
{
	PmTorchOpts t = { .name = m->label, .seed = (uint64_t)o->seed, .max_check = o->max_check };
	PmStr name = PM_STR_INIT;
	PmGraphKey key;
	PmStatus st;

	folder(m, &name);
	pm_path_join(o->dir, name.s, path);
	st = pm_graph_key(m->g, &key, err);
	t.graph = key.full;
	if (!st)
		st = pm_torch_export(m->g, path->s, &t, err);
	pm_str_release(&name);
	return st;
}

PmStatus pm_task_export(PmVariantList *v, const char *what, const PmTaskExportOpts *o, PmTaskExportFn *fn,
			void *arg, PmTaskExported *out, PmErr *err)
{
	PmStatus st = PM_OK;

	*out = (PmTaskExported){ 0 };
	pm_variant_list_keep_shapes(v, o->shapes);
	for (size_t i = 0; i < v->list.n && !st; i++) {
		PmStr path = PM_STR_INIT;
		PmErr why;

		pm_err_init(&why);
		st = write_one(o, &v->list.v[i], &path, &why);
		if (!st || st == PM_E_UNSUPPORTED) {
			out->written += !st;
			out->refused += st != 0;
			if (fn)
				fn(arg, v->list.v[i].label, path.s, why.text);
			st = PM_OK;
		} else {
			pm_err(err, st, "%s", why.text);
		}
		pm_str_release(&path);
	}
	if (!st && !out->written)
		st = pm_err(err, PM_E_UNSUPPORTED, "No graph of %s could be written for PyTorch.", what);
	return st;
}
