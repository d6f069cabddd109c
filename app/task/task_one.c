/* SPDX-License-Identifier: Apache-2.0 */
/* task_one.c - making one task of a few stored graphs. */
#include "app/task/task_one.h"

#include "app/model/algebra.h"
#include "app/task/task_proxy.h"
#include "app/task/task_ref.h"
#include "base/core/json.h"
#include "bench/score/stratum.h"
#include "dataset/store/subgraphs.h"
#include "dataset/store/tasks.h"
#include "extract/variants/variants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SECONDS 50e-3
#define MAX_MEMORY  ((int64_t)16 << 30)

void pm_task_default_name(const PmGraph *g, const char *hash, PmStr *out)
{
	PmStr ops = PM_STR_INIT;

	pm_graph_ops(g, &ops);
	for (size_t i = 0; i < ops.len && i < 40; i++)
		pm_str_addc(out, ops.s[i] == ',' ? '_' : ops.s[i]);
	pm_str_addf(out, "%s-%.8s", ops.len > 40 ? ".." : "", hash);
	pm_str_release(&ops);
}

/* ---- the graph that is judged ---- */

void pm_task_gate_json(const PmGateReport *r, const char *label, PmStr *out)
{
	cJSON *j = cJSON_CreateObject(), *found = cJSON_AddObjectToObject(j, "found");

	cJSON_AddBoolToObject(j, "ok", r->ok);
	cJSON_AddStringToObject(j, "judged", label);
	if (!r->ok) {
		cJSON_AddStringToObject(j, "rule", pm_gate_rule_name(r->broken));
		cJSON_AddStringToObject(j, "why", r->why);
	}
	for (int k = 0; k < PM_GATE_N_RULES; k++)
		if (!isnan(r->found[k])) /* six digits, so that the text is the same everywhere */
			cJSON_AddNumberToObject(found, pm_gate_rule_name((PmGateRule)k),
						round(r->found[k] * 1e6) / 1e6);
	pm_json_add_i64(j, "mutants", r->n_mutants);
	pm_json_add_i64(j, "killed", r->n_killed);
	pm_json_print(j, 0, out);
	if (out->len && out->s[out->len - 1] == '\n')
		out->s[--out->len] = '\0';
	cJSON_Delete(j);
}

/* ---- one task ---- */

typedef struct One {
	PmDb *db;
	const PmTaskSpec *spec;
	PmTaskMade *out;
	PmTaskBuilder *b;
	PmStr name, gate;
	PmStratum stratum;
	char why[PM_ERR_MAX], does_not_run[160];
} One;

/* Says that this is no task. */
static void reject(One *o, const char *rule, const char *why)
{
	snprintf(o->out->rule, sizeof o->out->rule, "%s", rule);
	snprintf(o->why, sizeof o->why, "%s", why);
}

static PmStatus judge_size(One *o, const PmGraph *g, PmErr *err)
{
	char why[160];
	PmErr no;
	PmStatus st;

	(void)err;
	pm_err_init(&no);
	st = pm_stratum(g, &o->stratum, &no);
	o->stratum.algebraic = pm_cli_is_algebraic(g);
	if (st) {
		reject(o, "variants", no.text);
	} else if (o->stratum.seconds > MAX_SECONDS || o->stratum.memory > MAX_MEMORY) {
		snprintf(why, sizeof why, "It takes %.3g s and %.3g GiB; 0.05 s and 16 GiB are the limits.",
			 o->stratum.seconds, (double)o->stratum.memory / (1 << 30));
		reject(o, "size", why);
	}
	return PM_OK;
}

PmStatus pm_task_judge(const PmGraph *g, int64_t seed, int n_honest, PmTaskVerdict *out, PmErr *err)
{
	PmGateOpts go = { .seed = (uint64_t)seed, .n_honest = n_honest };
	PmStr json = PM_STR_INIT;
	PmGateReport r;
	PmGraph *proxy = NULL;
	char label[96];
	PmErr no;
	PmStatus st;

	memset(out, 0, sizeof *out);
	pm_err_init(&no);
	if (pm_task_proxy(g, &proxy, label, &no)) {
		snprintf(out->rule, sizeof out->rule, "size");
		out->why = pm_xstrdup(no.text);
		out->json = pm_xstrdup("");
		return PM_OK;
	}
	st = pm_gate(proxy, &go, &r, err);
	pm_graph_free(proxy);
	if (st)
		return st;
	out->ok = r.ok;
	if (!r.ok)
		snprintf(out->rule, sizeof out->rule, "%s", pm_gate_rule_name(r.broken));
	pm_task_gate_json(&r, label, &json);
	out->why = pm_xstrdup(r.why);
	out->json = pm_xstrdup(json.s);
	pm_str_release(&json);
	return PM_OK;
}

void pm_task_verdict_release(PmTaskVerdict *v)
{
	free(v->why);
	free(v->json);
	memset(v, 0, sizeof *v);
}

static PmStatus judge_worth(One *o, const PmGraph *g, PmErr *err)
{
	PmTaskVerdict own = { 0 };
	const PmTaskVerdict *v = &own;
	PmStatus st = o->spec->judge ? o->spec->judge(o->spec->judge_arg, &v, err)
				     : pm_task_judge(g, o->spec->seed, o->spec->n_honest, &own, err);

	if (!st && !v->ok)
		reject(o, v->rule, v->why);
	if (!st)
		pm_str_add(&o->gate, v->json);
	pm_task_verdict_release(&own);
	return st;
}

/* Takes out the shapes that the reference does not run. Returns what became of the rest, owned. */
static PmRefCase *keep_running(One *o, const PmGraph *g, PmGraphVariants *v)
{
	PmRefCase *c = pm_xcalloc(v->list.n + 1, sizeof *c);
	size_t n = 0;

	for (size_t i = 0; i < v->list.n; i++)
		c[i] = (PmRefCase){ .g = v->list.v[i].g,
				    .label = v->list.v[i].label,
				    .shape = v->list.v[i].shape,
				    .dtype = v->list.v[i].dtype };
	pm_task_ref(g, !strcmp(o->spec->split, "eval"), (uint64_t)o->spec->seed, c, v->list.n);
	for (size_t i = 0; i < v->list.n; i++) {
		if (c[i].how == PM_REF_FAILED) {
			if (!i || c[i].shape != c[i - 1].shape) {
				v->n_shapes--;
				o->out->shapes_dropped++;
				snprintf(o->does_not_run, sizeof o->does_not_run, "%s", c[i].why);
			}
			pm_graph_free(v->list.v[i].g);
			free(v->list.v[i].label);
			continue;
		}
		c[n] = c[i];
		v->list.v[n++] = v->list.v[i];
	}
	v->list.n = n;
	return c;
}

/* Adds the variants of one base, or says why there are too few. */
static PmStatus add_base(One *o, int64_t id, const PmGraph *g, PmErr *err)
{
	PmVariantOpts vo = { .n_shapes = (int)(o->spec->n_base > 1 ? PM_TASK_MIN_SHAPES : o->spec->shapes),
			     .max_elements = o->spec->max_elements,
			     .seed = (uint64_t)o->spec->seed };
	PmGraphVariants v = { 0 };
	PmRefCase *ref = NULL;
	size_t n_shapes;
	PmErr no;
	PmStatus st = PM_OK;

	pm_err_init(&no);
	if (pm_variants_make(g, &vo, pm_task_collect, &v, NULL, &no))
		reject(o, "variants", no.text);
	n_shapes = v.n_shapes;
	if (!*o->out->rule)
		ref = keep_running(o, g, &v);
	if (*o->out->rule)
		;
	else if (n_shapes < PM_TASK_MIN_SHAPES)
		reject(o, "shapes", "It generalises to fewer than five shapes.");
	else if (v.n_shapes < PM_TASK_MIN_SHAPES)
		reject(o, "runs", o->does_not_run);
	else if (v.n_dtypes < 3 || v.list.n < 3 * v.n_shapes)
		reject(o, "types", "It does not exist in float, float16 and bfloat16 for all of its shapes.");
	else
		pm_task_set_base(o->b, id);
	for (size_t i = 0; i < v.list.n && !st && !*o->out->rule; i++) {
		pm_task_set_ref(o->b, pm_ref_how_name(ref[i].how), ref[i].why);
		st = pm_task_add(o->b, v.list.v[i].g, v.list.v[i].label, v.list.v[i].shape, v.list.v[i].dtype,
				 err);
	}
	free(ref);
	pm_task_variants_release(&v);
	return st;
}

static PmStatus add_all(One *o, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < o->spec->n_base && !st; i++) {
		PmGraph *g = NULL;
		PmGraphKey key;

		*o->out->rule = '\0';
		st = pm_subgraph_get(o->db, o->spec->base[i], &g, err);
		if (!st)
			st = pm_graph_key(g, &key, err);
		if (!st)
			st = add_base(o, o->spec->base[i], g, err);
		if (!st && !*o->out->rule && !o->name.len) { /* the first that has variants stands for all */
			pm_task_default_name(g, o->spec->key, &o->name);
			st = judge_size(o, g, err);
			if (!st && !*o->out->rule)
				st = judge_worth(o, g, err);
			if (*o->out->rule) {
				pm_graph_free(g);
				return st;
			}
		}
		pm_graph_free(g);
	}
	if (!st && o->name.len)
		*o->out->rule = '\0'; /* of bases that were left out */
	return st;
}

/* A task that an earlier run made under the same key is found by its name, which ends with the key's digits.
 */
static PmStatus find_before(One *o, PmErr *err)
{
	PmGraph *g = NULL;
	PmErr none;
	PmStatus st = PM_OK;
	int rejected = 0;

	pm_err_init(&none);
	st = pm_rejected_has(o->db, o->spec->key, &rejected, err);
	for (size_t i = 0; i < o->spec->n_base && !st && !rejected && !o->out->made; i++) {
		st = pm_subgraph_get(o->db, o->spec->base[i], &g, err);
		if (st)
			break;
		pm_str_clear(&o->name);
		pm_task_default_name(g, o->spec->key, &o->name);
		o->out->made = pm_task_find(o->db, o->name.s, &o->out->task, &none) == PM_OK;
		pm_graph_free(g);
	}
	o->out->before = rejected || o->out->made;
	pm_str_clear(&o->name);
	return st;
}

static PmStatus count_variants(void *arg, const PmTaskRow *row, PmErr *err)
{
	(void)err;
	*(int64_t *)arg = row->n_variants;
	return PM_OK;
}

PmStatus pm_task_make_one(PmDb *db, const PmTaskSpec *spec, PmTaskMade *out, PmErr *err)
{
	One o = { .db = db, .spec = spec, .out = out, .name = PM_STR_INIT, .gate = PM_STR_INIT };
	PmStatus st;

	memset(out, 0, sizeof *out);
	st = find_before(&o, err);
	if (!st && !out->before) {
		o.b = pm_task_begin("", "fusible");
		st = add_all(&o, err);
		if (!st && *out->rule) {
			st = pm_rejected_put(db, spec->key, spec->base[0], out->rule, o.why, err);
		} else if (!st) {
			pm_task_set_name(o.b, o.name.s);
			pm_task_set_about(o.b, spec->split, spec->policy, pm_stratum_name(&o.stratum), "ok",
					  o.gate.s);
			st = pm_task_end(o.b, db, &out->task, &out->made, err);
			o.b = NULL;
			if (!st && !out->made) /* the same variants were reached from other graphs */
				st = pm_rejected_put(db, spec->key, spec->base[0], "duplicate",
						     "Another task has the same variants.", err);
		}
		pm_task_drop(o.b);
	}
	if (!st && out->made)
		st = pm_task_get(db, out->task, count_variants, &out->variants, err);
	pm_str_release(&o.name);
	pm_str_release(&o.gate);
	return st;
}
