/* SPDX-License-Identifier: Apache-2.0 */
/* compile.c - from a model to a package: shapes, tables, kernels, file. */
#include "app/compile/compile_priv.h"

#include "app/model/model_file.h"
#include "base/core/arena.h"
#include "base/core/version.h"
#include "base/sys/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static PmStatus plan_shapes(PmPackage *p, PmErr *err)
{
	const PmCompileAsk *a = p->ask;
	size_t n = a->n_shapes ? a->n_shapes : 1;
	PmStatus st = pm_model_load(a->model, &p->open, NULL, err);

	if (st)
		return st;
	PM_VEC_RESERVE(&p->shape, n); /* plans point into graphs that must not move */
	pm_watch_begin(&a->watch, "planning", (int64_t)n);
	for (size_t k = 0; k < n && !st; k++) {
		PmShapePlan *s = &p->shape.v[p->shape.n++];

		memset(s, 0, sizeof *s);
		st = pm__shape_plan(a, k, s, err);
		pm_watch_step(&a->watch, NULL);
	}
	pm_watch_end(&a->watch);
	return st;
}

/* ---- what the package says of itself ---- */

static cJSON *architectures(const PmCompileAsk *a)
{
	cJSON *list = cJSON_CreateArray();
	char name[32];

	if (a->emu)
		cJSON_AddItemToArray(list, cJSON_CreateString("emu"));
	for (size_t i = 0; i < a->n_cc; i++) {
		snprintf(name, sizeof name, "sm_%d", a->cc[i]);
		cJSON_AddItemToArray(list, cJSON_CreateString(name));
	}
	return list;
}

static cJSON *passes(const PmPackage *p)
{
	const PmApply *a = &p->shape.v[0].apply;
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; i < a->pass.n; i++) {
		cJSON *o = cJSON_CreateObject();
		int64_t n = 0;

		for (size_t k = 0; k < p->shape.n; k++)
			n += p->shape.v[k].apply.pass.v[i].n;
		cJSON_AddStringToObject(o, "name", pm_path_base(a->pass.v[i].path));
		cJSON_AddStringToObject(o, "sha256", a->pass.v[i].sha256);
		pm_json_add_i64(o, "applied", n);
		cJSON_AddItemToArray(list, o);
	}
	return list;
}

static cJSON *shapes(const PmPackage *p)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t k = 0; k < p->shape.n; k++) {
		cJSON *o = cJSON_CreateObject(), *sizes = cJSON_AddObjectToObject(o, "sizes");

		for (size_t i = 0; p->ask->n_shapes && i < p->ask->shape[k].n; i++)
			pm_json_add_i64(sizes, p->ask->shape[k].dim[i].name, p->ask->shape[k].dim[i].size);
		pm_json_add_i64(o, "launches", (int64_t)p->shape.v[k].ex.n_steps);
		pm_json_add_i64(o, "arena_bytes", p->shape.v[k].ex.arena);
		cJSON_AddItemToArray(list, o);
	}
	return list;
}

static void write_about(PmPackage *p)
{
	cJSON *o = cJSON_CreateObject();
	char *text;

	cJSON_AddStringToObject(o, "passmith", PM_VERSION);
	cJSON_AddStringToObject(o, "model", pm_path_base(p->ask->model));
	cJSON_AddItemToObject(o, "architectures", architectures(p->ask));
	cJSON_AddItemToObject(o, "passes", passes(p));
	cJSON_AddItemToObject(o, "shapes", shapes(p));
	if (p->ask->pieces)
		cJSON_AddStringToObject(o, "pieces", p->ask->pieces);
	text = cJSON_PrintUnformatted(o);
	pm_str_add(&p->about, text);
	cJSON_free(text);
	cJSON_Delete(o);
}

/* ---- all of it ---- */

static void count(const PmPackage *p, PmCompiled *out)
{
	for (size_t k = 0; k < p->shape.n; k++) {
		const PmShapePlan *s = &p->shape.v[k];
		PmCompiledShape c = { s->ex.n_steps, s->apply.applied, s->ex.arena };

		PM_VEC_PUSH(&out->shape, c);
	}
	out->n_units = p->units.n;
	out->n_constants = p->constant.n;
	out->n_tuned = p->choice.n;
	out->weight_bytes = (int64_t)p->weights;
	for (size_t i = 0; i < p->packed.n; i++) {
		out->n_made_up += !p->packed.v[i].blob->data && p->packed.v[i].blob->size;
		out->external_bytes += p->packed.v[i].file >= 0 ? (int64_t)p->packed.v[i].blob->size : 0;
	}
}

static void release(PmPackage *p)
{
	for (size_t k = 0; k < p->shape.n; k++)
		pm__shape_plan_release(&p->shape.v[k]);
	for (size_t i = 0; i < p->external.n; i++) {
		free(p->external.v[i].location);
		free(p->external.v[i].path);
	}
	PM_VEC_RELEASE(&p->shape);
	PM_VEC_RELEASE(&p->place);
	PM_VEC_RELEASE(&p->units);
	PM_VEC_RELEASE(&p->packed);
	PM_VEC_RELEASE(&p->external);
	PM_VEC_RELEASE(&p->value);
	PM_VEC_RELEASE(&p->shapes);
	PM_VEC_RELEASE(&p->extent);
	PM_VEC_RELEASE(&p->buffer);
	PM_VEC_RELEASE(&p->step);
	PM_VEC_RELEASE(&p->arg);
	PM_VEC_RELEASE(&p->constant);
	PM_VEC_RELEASE(&p->file);
	PM_VEC_RELEASE(&p->unit);
	PM_VEC_RELEASE(&p->image);
	PM_VEC_RELEASE(&p->call);
	PM_VEC_RELEASE(&p->choice);
	PM_VEC_RELEASE(&p->lib);
	pm_str_release(&p->text);
	pm_str_release(&p->about);
	pm_str_release(&p->code);
	pm_intern_free(p->texts);
	pm_graph_free(p->open);
}

PmStatus pm_compile(const PmCompileAsk *ask, const char *out, PmCompiled *result, PmErr *err)
{
	PmPackage p = { .ask = ask, .text = PM_STR_INIT, .about = PM_STR_INIT, .code = PM_STR_INIT };
	PmStatus st;

	*result = (PmCompiled){ 0 };
	p.texts = pm_intern_new();
	st = plan_shapes(&p, err);
	if (!st && ask->pieces)
		st = pm__pieces_check(&p, err);
	if (!st)
		st = pm__tables_fill(&p, err);
	if (!st)
		st = pm__units_compile(&p, err);
	if (!st && ask->tune)
		st = pm__calls_tune(&p, err);
	if (!st) {
		write_about(&p);
		st = pm__package_write(&p, out, result, err);
	}
	if (!st)
		count(&p, result);
	release(&p);
	return st;
}

void pm_compiled_release(PmCompiled *c)
{
	PM_VEC_RELEASE(&c->shape);
}
