/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - writing, reading and comparing sealed records. */
#include "app/eval/record.h"

#include "base/core/version.h"
#include "base/sys/io.h"
#include "ir/canon/canon.h"
#include "ir/text/text.h"
#include "runtime/device/probe.h"

#include <string.h>

#define FORMAT "passmith record 1"

static const size_t largest = (size_t)1 << 28;

/* ---- writing ---- */

cJSON *pm_record_machine(void)
{
	cJSON *o = cJSON_CreateObject();
	PmFound found[PM_MAX_PROBES];
	int n = pm_probe_all(found);

	for (int i = 0; i < n; i++)
		if (found[i].found)
			cJSON_AddStringToObject(o, found[i].what, found[i].detail);
	return o;
}

static PmStatus add_graph(cJSON *list, const PmTaskVariant *m, PmErr *err)
{
	cJSON *o = cJSON_CreateObject();
	char hash[PM_SHA256_HEX];
	PmStr text = PM_STR_INIT;
	PmStatus st = pm_canon_hash(m->g, PM_CANON_FULL, hash, err);

	if (!st)
		st = pm_graph_print(m->g, NULL, &text, err);
	if (!st) {
		cJSON_AddStringToObject(o, "variant", m->label);
		pm_json_add_i64(o, "number", m->ordinal);
		cJSON_AddStringToObject(o, "hash", hash);
		cJSON_AddStringToObject(o, "text", text.s);
	}
	cJSON_AddItemToArray(list, o);
	pm_str_release(&text);
	return st;
}

PmStatus pm_record_write(const char *path, const char *key_path, const cJSON *reports, const PmVariantList *m,
			 const PmRecordOpts *opts, PmErr *err)
{
	cJSON *j = cJSON_CreateObject(), *o, *graphs;
	PmStr line = PM_STR_INIT, sealed = PM_STR_INIT;
	PmStatus st = PM_OK;

	cJSON_AddStringToObject(j, "format", FORMAT);
	cJSON_AddStringToObject(j, "passmith", PM_VERSION);
	cJSON_AddItemToObject(j, "machine", pm_record_machine());
	o = cJSON_AddObjectToObject(j, "options");
	pm_json_add_i64(o, "hidden", opts->hidden);
	cJSON_AddBoolToObject(o, "tf32", opts->tf32);
	cJSON_AddBoolToObject(o, "graphs", opts->graphs);
	cJSON_AddBoolToObject(o, "confirm", opts->confirm);
	graphs = cJSON_AddArrayToObject(j, "graphs");
	for (size_t i = 0; i < m->list.n && !st; i++)
		st = add_graph(graphs, &m->list.v[i], err);
	cJSON_AddItemToObject(j, "reports", cJSON_Duplicate(reports, 1));
	pm_json_print(j, 0, &line);
	if (!st)
		st = pm_seal(line.s, line.len - 1, key_path, &sealed, err);
	if (!st)
		st = pm_write_file(path, sealed.s, sealed.len, err);
	cJSON_Delete(j);
	pm_str_release(&line);
	pm_str_release(&sealed);
	return st;
}

PmStatus pm_record_try_key(const char *key_path, PmErr *err)
{
	PmStr out = PM_STR_INIT;
	PmStatus st = pm_seal("{}", 2, key_path, &out, err);

	pm_str_release(&out);
	return st;
}

/* ---- reading ---- */

static PmStatus read_graph(const cJSON *o, size_t i, PmVariantList *m, PmErr *err)
{
	const char *text = pm_json_str(o, "text", ""), *label = pm_json_str(o, "variant", "");
	char hash[PM_SHA256_HEX];
	PmGraph *g = NULL;
	PmStatus st = pm_graph_parse(text, strlen(text), &g, err);

	if (!st)
		st = pm_canon_hash(g, PM_CANON_FULL, hash, err);
	if (!st && strcmp(hash, pm_json_str(o, "hash", "")) != 0)
		st = pm_err(err, PM_E_INVALID, "its hash is %.16s... and the record says %.16s...", hash,
			    pm_json_str(o, "hash", ""));
	if (st) {
		pm_graph_free(g);
		return pm_err_ctx(err, "graph %zu ('%.80s')", i, label);
	}
	PM_VEC_PUSH(&m->list,
		    ((PmTaskVariant){ pm_xstrdup(label), g, pm_json_i64(o, "number", 0), 0, PM_F32 }));
	return PM_OK;
}

static PmStatus read_payload(PmRecord *r, PmErr *err)
{
	const cJSON *o, *graphs, *reports;
	size_t i = 0;
	PmStatus st = pm_json_parse(r->seal.payload, r->seal.n, &r->payload, err);

	if (st)
		return st;
	graphs = cJSON_GetObjectItem(r->payload, "graphs");
	reports = cJSON_GetObjectItem(r->payload, "reports");
	if (strcmp(pm_json_str(r->payload, "format", ""), FORMAT) != 0 || !cJSON_IsArray(graphs) ||
	    !cJSON_IsArray(reports) || !cJSON_GetArraySize(reports))
		return pm_err(err, PM_E_INVALID,
			      "It is no \"" FORMAT
			      "\" with graphs and reports; give a file that passmith eval "
			      "--record wrote.");
	cJSON_ArrayForEach(o, graphs)
	{
		st = read_graph(o, i++, &r->variants, err);
		if (st)
			return st;
	}
	cJSON_ArrayForEach(
		o, reports) if (cJSON_GetArraySize(cJSON_GetObjectItem(o, "records")) !=
				(int)r->variants.list.n) return pm_err(err, PM_E_INVALID,
								       "The report on '%.80s' has not one "
								       "record for each of %zu graphs.",
								       pm_json_str(o, "pass", ""),
								       r->variants.list.n);
	o = cJSON_GetObjectItem(r->payload, "options");
	r->opts.hidden = pm_json_i64(o, "hidden", 0);
	r->opts.tf32 = cJSON_IsTrue(cJSON_GetObjectItem(o, "tf32"));
	r->opts.graphs = cJSON_IsTrue(cJSON_GetObjectItem(o, "graphs"));
	r->opts.confirm = cJSON_IsTrue(cJSON_GetObjectItem(o, "confirm"));
	return PM_OK;
}

PmStatus pm_record_read(const char *path, PmRecord *out, PmErr *err)
{
	PmStatus st;

	memset(out, 0, sizeof *out);
	pm_str_init(&out->text);
	st = pm_read_file(path, largest, &out->text, err);
	if (st)
		return st;
	st = pm_seal_open(out->text.s, out->text.len, &out->seal, err);
	if (!st)
		st = read_payload(out, err);
	return st ? pm_err_ctx(err, "%s is no whole record", path) : PM_OK;
}

void pm_record_release(PmRecord *r)
{
	cJSON_Delete(r->payload);
	pm_variant_list_release(&r->variants);
	pm_str_release(&r->text);
	r->payload = NULL;
}

/* ---- comparing ---- */

typedef struct Compare {
	const char *variant;
	PmStr *out;
	int n;
} Compare;

static void compare_text(Compare *c, const char *what, const char *was, const char *is)
{
	c->n++;
	if (strcmp(was, is) != 0)
		pm_str_addf(c->out, "  %s: %s is %.80s, the record says %.80s\n", c->variant, what,
			    *is ? is : "none", *was ? was : "none");
}

static void compare_number(Compare *c, const char *key, const cJSON *was, const cJSON *is)
{
	c->n++;
	if (pm_json_i64(was, key, -1) != pm_json_i64(is, key, -1))
		pm_str_addf(c->out, "  %s: %s is %lld, the record says %lld\n", c->variant, key,
			    (long long)pm_json_i64(is, key, -1), (long long)pm_json_i64(was, key, -1));
}

static void compare_records(Compare *c, const cJSON *was, const cJSON *is, int same_compiler)
{
	static const char *const texts[] = { "verdict", "inputs" };
	static const char *const numbers[] = { "applied",           "kernels",
					       "baseline_launches", "candidate_launches",
					       "baseline_bytes",    "candidate_bytes" };
	static const char *const code[] = { "sources", "ptx", "cubin" };
	const cJSON *a = cJSON_GetObjectItem(was, "code"), *b = cJSON_GetObjectItem(is, "code");

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		compare_text(c, texts[i], pm_json_str(was, texts[i], ""), pm_json_str(is, texts[i], ""));
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		compare_number(c, numbers[i], was, is);
	for (size_t i = 0; i < sizeof code / sizeof *code && (same_compiler || !i); i++)
		compare_text(c, code[i], pm_json_str(a, code[i], ""), pm_json_str(b, code[i], ""));
}

int pm_record_compare(const cJSON *recorded, const cJSON *now, int same_compiler, PmStr *differences)
{
	const cJSON *list = cJSON_GetObjectItem(recorded, "records"),
		    *mine = cJSON_GetObjectItem(now, "records"),
		    *hidden = cJSON_GetObjectItem(recorded, "hidden");
	Compare c = { .out = differences };

	for (int i = 0; i < cJSON_GetArraySize(list); i++) {
		const cJSON *was = cJSON_GetArrayItem(list, i), *is = cJSON_GetArrayItem(mine, i);

		c.variant = pm_json_str(was, "variant", "");
		compare_records(&c, was, is, same_compiler);
	}
	c.variant = "hidden shapes";
	if (hidden)
		compare_text(&c, "verdict", pm_json_str(hidden, "verdict", ""),
			     pm_json_str(cJSON_GetObjectItem(now, "hidden"), "verdict", ""));
	return c.n;
}
