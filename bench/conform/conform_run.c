/* SPDX-License-Identifier: Apache-2.0 */
/* conform_run.c - picks the ONNX backend-test cases of a folder and runs them one after the other. */
#include "bench/conform/conform.h"

#include "base/sys/io.h"
#include "bench/conform/conform_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- which cases ---- */

typedef struct Found {
	char *folder;
	char op[64];
	int out; /* left out */
} Found;

typedef struct FoundList {
	PM_VEC(Found) list;
} FoundList;

static void found_release(FoundList *f)
{
	size_t k;

	for (k = 0; k < f->list.n; k++)
		free(f->list.v[k].folder);
	PM_VEC_RELEASE(&f->list);
}

enum { MAX_DEPTH = 4 };

/* Adds the folder when it is a case, else looks into its sub-folders. */
static PmStatus find_in(const char *folder, int depth, FoundList *to, PmErr *err)
{
	PmNames names = { 0 };
	PmStr path = PM_STR_INIT, model = PM_STR_INIT;
	PmStatus st = PM_OK;
	PmModelPeek peek;
	size_t k;

	pm_path_join(folder, "model.onnx", &path);
	if (pm_path_exists(path.s)) {
		Found f = { 0 };

		st = pm_read_file(path.s, 0, &model, err);
		if (!st) {
			pm__model_peek(model.s, model.len, &peek);
			memcpy(f.op, peek.op, sizeof f.op);
			f.folder = pm_xstrdup(folder);
			PM_VEC_PUSH(&to->list, f);
		}
	} else if (depth < MAX_DEPTH) {
		st = pm_list_dir(folder, &names, err);
		for (k = 0; !st && k < names.n; k++) {
			pm_str_clear(&path);
			pm_path_join(folder, names.v[k], &path);
			if (pm_path_is_dir(path.s))
				st = find_in(path.s, depth + 1, to, err);
		}
	}
	pm_names_release(&names);
	pm_str_release(&path);
	pm_str_release(&model);
	return st;
}

static PmStatus find(const char *folder, FoundList *to, PmErr *err)
{
	PmStatus st = find_in(folder, 0, to, err);

	if (!st && !to->list.n)
		st = pm_err(err, PM_E_NOT_FOUND,
			    "There is no case in '%.200s'; name a folder that has a model.onnx, or whose "
			    "sub-folders do.",
			    folder);
	return st;
}

/* Of n cases of an operator, those at the positions floor(i * n / per_op) stay. */
static size_t thin_out(FoundList *f, int per_op)
{
	size_t k, j, left_out = 0;

	for (k = 0; k < f->list.n; k++) {
		size_t n = 0, at = 0, want = (size_t)per_op, before, after;

		for (j = 0; j < f->list.n; j++)
			if (strcmp(f->list.v[j].op, f->list.v[k].op) == 0) {
				at += j < k;
				n++;
			}
		/* How many i have floor(i * n / want) below `at`, and how many below at + 1. */
		before = (at * want + n - 1) / n;
		after = ((at + 1) * want + n - 1) / n;
		if (n > want && before == after) {
			f->list.v[k].out = 1;
			left_out++;
		}
	}
	return left_out;
}

/* ---- running them ---- */

/* Most of the time on the emulated device goes into compiling: several processes do that before the first
 * case runs. What does not compile is reported by the case that needs it. */
static void compile_ahead(const FoundList *f, int jobs)
{
	PmSourceSet set = { 0 };
	size_t k;

	for (k = 0; k < f->list.n; k++)
		if (!f->list.v[k].out)
			pm__conform_sources(f->list.v[k].folder, &set);
	pm_emu_compile(set.v.v, set.v.n, jobs > 0 ? jobs : 1, NULL);
	pm__source_set_release(&set);
}

static PmStatus prepare(const FoundList *f, const char *device, int jobs, PmErr *err)
{
	PmDevice *d = NULL;
	PmStatus st;

	if (pm_device_kind(device) == PM_DEVICE_REF)
		return PM_OK;
	st = pm_device_open(device, &d, err);
	if (st)
		return st;
	d->ops->close(d);
	if (pm_device_kind(device) == PM_DEVICE_EMU)
		compile_ahead(f, jobs);
	return PM_OK;
}

PmStatus pm_conform_run(const char *folder, const PmConformOpts *opts, PmConform *out, PmErr *err)
{
	static const PmConformOpts defaults = { .device = "ref" };
	const PmConformOpts *o = opts ? opts : &defaults;
	const char *device = o->device ? o->device : "ref";
	FoundList f = { 0 };
	PmStatus st = find(folder, &f, err);
	size_t k, done = 0, left_out = 0;

	if (!st && o->per_op > 0)
		left_out = thin_out(&f, o->per_op);
	if (!st)
		st = prepare(&f, device, o->jobs, err);
	for (k = 0; !st && k < f.list.n; k++) {
		PmCase c;

		if (f.list.v[k].out)
			continue;
		if (o->on_case)
			o->on_case(o->arg, pm_path_base(f.list.v[k].folder), done++, f.list.n - left_out);
		st = pm_conform_case(f.list.v[k].folder, device, &c, err);
		if (!st)
			PM_VEC_PUSH(out, c);
	}
	out->left_out += left_out;
	found_release(&f);
	return st;
}

void pm_conform_release(PmConform *c)
{
	size_t k;

	for (k = 0; k < c->n; k++)
		free(c->v[k].name);
	PM_VEC_RELEASE(c);
}

PmStatus pm_conform_folder(PmStr *out, PmErr *err)
{
	static const char *const places[] = {
		"/usr/lib/python3/dist-packages/onnx/backend/test/data/node",
		"/usr/share/libonnx-testdata/data/node",
		"/usr/share/onnx/backend/test/data/node",
	};
	const char *env = getenv("PASSMITH_ONNX_TESTDATA");
	size_t k;

	if (env && *env && !pm_path_is_dir(env))
		return pm_err(err, PM_E_ENV,
			      "$PASSMITH_ONNX_TESTDATA names '%s', which is no folder; correct or unset it.",
			      env);
	if (env && *env) {
		pm_str_add(out, env);
		return PM_OK;
	}
	for (k = 0; k < sizeof places / sizeof places[0]; k++)
		if (pm_path_is_dir(places[k])) {
			pm_str_add(out, places[k]);
			return PM_OK;
		}
	return pm_err(
		err, PM_E_ENV,
		"The ONNX node tests are not installed; install libonnx-testdata, or name their folder in "
		"$PASSMITH_ONNX_TESTDATA.");
}
