/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.c - what was found of a pass, as pieces of evidence. */
#include "app/bank/evidence.h"

#include "app/eval/record.h"
#include "app/eval/variant_list.h"
#include "base/core/renamed.h"
#include "base/sys/io.h"
#include "bench/eval/run_key.h"
#include "bench/report/report.h"
#include "dataset/store/results.h"
#include "dataset/store/tasks.h"
#include "ir/canon/canon.h"
#include "matcher/host/pass_host.h"
#include "runtime/device/device.h"
#include "runtime/exec/exec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One evaluation, wherever it was kept. */
typedef struct Found {
	const PmObject *object;
	const char *source; /* "database", "record" */
	const char *task, *task_key, *device, *version, *options, *profile, *hidden;
	PmPreset preset;
	uint64_t seed;
	int64_t at;     /* seconds since 1970; 0 = not known */
	cJSON *machine; /* owned: what of the machine decides, {"GPU": "..."} */
	const PmVariantList *variants;
	const cJSON **record; /* by variant; NULL = it has none */
} Found;

/* ---- numbers ---- */

/* What the model gives where the times were measured: the pass is applied to the graph, and both are planned.
 * NaN when that cannot be. */
static double modelled_speedup(const PmObject *object, const PmGraph *g, const PmProfile *of)
{
	const PmPassOpts po = { .object = object, .seconds = 60, .target = of ? of->target : NULL };
	PmPassOutcome o = { 0 };
	PmPlanStats before, after;
	double ratio = NAN;

	if (!pm_pass_apply(object->path, g, &po, &o, NULL) && o.verdict == PM_VERDICT_OK && o.graph &&
	    !pm_graph_plan_stats(g, NULL, 0, of, &before, NULL) &&
	    !pm_graph_plan_stats(o.graph, NULL, 0, of, &after, NULL) && after.modelled_seconds > 0)
		ratio = before.modelled_seconds / after.modelled_seconds;
	pm_pass_outcome_release(&o);
	return ratio;
}

static int is_verdict(const cJSON *record, const char *verdict)
{
	return !strcmp(pm_json_str(record, "verdict", ""), verdict);
}

static int is_modelled(const cJSON *record)
{
	return !strcmp(pm_json_str(record, "time", "modelled"), "modelled");
}

static PmStatus add_variant(const Found *f, size_t i, cJSON *list, PmErr *err)
{
	static const char *const numbers[] = { "speedup",           "baseline_seconds",   "candidate_seconds",
					       "baseline_launches", "candidate_launches", "baseline_bytes",
					       "candidate_bytes" };
	const PmTaskVariant *v = &f->variants->list.v[i];
	const cJSON *r = f->record[i], *clock = cJSON_GetObjectItem(r, "clock"),
		    *code = cJSON_GetObjectItem(r, "code");
	cJSON *j = cJSON_CreateObject();
	char hash[PM_SHA256_HEX];
	PmStatus st = pm_canon_hash(v->g, PM_CANON_FULL, hash, err);

	cJSON_AddItemToArray(list, j);
	if (st)
		return st;
	cJSON_AddStringToObject(j, "variant", v->label);
	pm_json_add_i64(j, "number", v->ordinal);
	cJSON_AddStringToObject(j, "graph", hash);
	cJSON_AddStringToObject(j, "verdict", pm_json_str(r, "verdict", "not evaluated"));
	if (!is_verdict(r, "OK"))
		return PM_OK;
	cJSON_AddStringToObject(j, "time", is_modelled(r) ? "modelled" : "measured");
	for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
		pm_json_add_num(j, numbers[k], pm_json_num(r, numbers[k], NAN));
	if (clock) {
		pm_json_add_num(j, "speedup_lo", pm_json_num(clock, "speedup_lo", NAN));
		pm_json_add_num(j, "speedup_hi", pm_json_num(clock, "speedup_hi", NAN));
	}
	pm_json_add_num(j, "modelled_speedup",
			is_modelled(r) ? pm_json_num(r, "speedup", NAN)
				       : modelled_speedup(f->object, v->g, pm_profile(f->profile)));
	cJSON_AddStringToObject(j, "sources", pm_json_str(code, "sources", ""));
	return PM_OK;
}

/* ES and AS over the variants on which the pass matched. */
static PmStatus add_score(const Found *f, cJSON *out, PmErr *err)
{
	size_t n = f->variants->list.n;
	PmEvalReport r = { .rec = pm_xcalloc(n + 1, sizeof *r.rec) };
	cJSON *o = cJSON_AddObjectToObject(out, "score"), *es = cJSON_AddArrayToObject(o, "es");
	PmStatus st = PM_OK;

	r.opts.preset = f->preset;
	for (size_t i = 0; i < n && !st; i++)
		if (is_verdict(f->record[i], "OK"))
			st = pm_eval_record_from_json(f->record[i], &r.rec[r.n++], err);
	if (!st && r.n)
		st = pm_eval_score(&r, err);
	cJSON_AddStringToObject(o, "preset", f->preset == PM_PRESET_PASSNET ? "passnet" : "sound");
	pm_json_add_i64(o, "matched", (int64_t)r.n);
	pm_json_add_num(o, "as", !st && r.n ? r.score.as : NAN);
	for (int t = 0; t < r.score.n_t && !st && r.n; t++)
		cJSON_AddItemToArray(es, cJSON_CreateNumber(r.score.es[t]));
	pm_eval_report_release(&r);
	return st;
}

/* By which the same evaluation is known again. */
static void add_key(const Found *f, cJSON *j)
{
	PmStr s = PM_STR_INIT, machine = PM_STR_INIT;
	char hex[PM_SHA256_HEX];

	pm_json_print(f->machine, 0, &machine);
	pm_str_addf(&s, "%s\n%s\n%s\n%s\n%s\n%llu\n%s", f->task_key, f->object->sha256, f->device, f->version,
		    f->options, (unsigned long long)f->seed, machine.s);
	pm_sha256_hex(s.s, s.len, hex);
	cJSON_AddStringToObject(j, "key", hex);
	pm_str_release(&s);
	pm_str_release(&machine);
}

/* In the place of one with the same key. */
static void put_piece(cJSON *list, cJSON *piece)
{
	const cJSON *x;
	int at = 0;

	cJSON_ArrayForEach(x, list)
	{
		if (!strcmp(pm_json_str(x, "key", ""), pm_json_str(piece, "key", "-"))) {
			cJSON_ReplaceItemInArray(list, at, piece);
			return;
		}
		at++;
	}
	cJSON_AddItemToArray(list, piece);
}

/* Takes f->machine. */
static PmStatus add_piece(Found *f, cJSON *list, PmErr *err)
{
	cJSON *j = cJSON_CreateObject(), *task = cJSON_AddObjectToObject(j, "task"), *variants;
	PmStatus st = PM_OK;

	cJSON_AddStringToObject(task, "name", f->task);
	cJSON_AddStringToObject(task, "key", f->task_key);
	cJSON_AddStringToObject(j, "source", f->source);
	cJSON_AddStringToObject(j, "pass_sha256", f->object->sha256);
	cJSON_AddStringToObject(j, "device", f->device);
	cJSON_AddStringToObject(j, "profile", f->profile);
	cJSON_AddStringToObject(j, "passmith", f->version);
	cJSON_AddStringToObject(j, "options", f->options);
	pm_json_add_i64(j, "at", f->at);
	cJSON_AddStringToObject(j, "hidden", f->hidden);
	add_key(f, j);
	cJSON_AddItemToObject(j, "machine", f->machine);
	f->machine = NULL;
	st = add_score(f, j, err);
	variants = cJSON_AddArrayToObject(j, "variants");
	for (size_t i = 0; i < f->variants->list.n && !st; i++)
		st = add_variant(f, i, variants, err);
	if (st)
		cJSON_Delete(j);
	else
		put_piece(list, j);
	return st;
}

/* ---- from a database ---- */

typedef struct FromDb {
	PmDb *db;
	const PmObject *object;
	const PmBankQuery *q;
	int64_t *task; /* owned: those that are asked for */
	cJSON *list;
	int64_t unfinished; /* runs */
	int64_t other;      /* objects that have results */
} FromDb;

/* "A=x; B=y" as an object. */
static cJSON *machine_of(const char *text)
{
	cJSON *j = cJSON_CreateObject();

	while (*text) {
		size_t n = strcspn(text, ";"), eq = strcspn(text, "=");
		PmStr k = PM_STR_INIT, v = PM_STR_INIT;

		if (eq < n) {
			pm_str_addn(&k, text, eq);
			pm_str_addn(&v, text + eq + 1, n - eq - 1);
			cJSON_AddStringToObject(j, k.s, v.s);
		}
		text += n;
		text += strspn(text, "; ");
		pm_str_release(&k);
		pm_str_release(&v);
	}
	return j;
}

typedef struct Results {
	const PmVariantList *variants;
	cJSON **record; /* owned, by variant */
} Results;

static PmStatus take_result(void *arg, const PmResultRow *row, PmErr *err)
{
	Results *r = arg;

	for (size_t i = 0; i < r->variants->list.n; i++) {
		if (r->variants->list.v[i].ordinal != row->ordinal || r->record[i])
			continue;
		return pm_json_parse(row->json, strlen(row->json), &r->record[i], err);
	}
	return PM_OK;
}

static PmStatus take_name(void *arg, const PmTaskRow *row, PmErr *err)
{
	char **names = arg;

	(void)err;
	names[0] = pm_xstrdup(row->name);
	names[1] = pm_xstrdup(row->hash);
	return PM_OK;
}

/* The word behind "profile=" in the options of a run. */
static void profile_of(const char *options, char *out, size_t size)
{
	const char *p = strstr(options, "profile=");

	snprintf(out, size, "%.*s", p ? (int)strcspn(p + 8, " ") : 0, p ? p + 8 : "");
}

static PmStatus add_run(FromDb *d, const PmRunRow *row, PmErr *err)
{
	PmVariantList variants = { 0 };
	char *names[2] = { NULL, NULL }, profile[64], id[32];
	Results r = { .variants = &variants };
	Found f = { .object = d->object,
		    .source = "database",
		    .device = row->device,
		    .version = row->version,
		    .options = row->options,
		    .profile = profile,
		    .hidden = row->hidden,
		    .preset = pm_run_key_preset(row->options),
		    .seed = row->seed,
		    .at = row->finished,
		    .variants = &variants };
	PmStatus st;

	snprintf(id, sizeof id, "%lld", (long long)row->task);
	profile_of(row->options, profile, sizeof profile);
	st = pm_variant_list_of_task(d->db, id, &variants, err);
	if (!st)
		st = pm_task_get(d->db, row->task, take_name, names, err);
	r.record = pm_xcalloc(variants.list.n + 1, sizeof *r.record);
	if (!st)
		st = pm_results_each(d->db, row->id, take_result, &r, err);
	if (!st) {
		f.task = names[0];
		f.task_key = names[1];
		f.record = (const cJSON **)(void *)r.record;
		f.machine = machine_of(row->machine);
		st = add_piece(&f, d->list, err);
	}
	for (size_t i = 0; i < variants.list.n; i++)
		cJSON_Delete(r.record[i]);
	free(r.record);
	free(names[0]);
	free(names[1]);
	cJSON_Delete(f.machine);
	pm_variant_list_release(&variants);
	return st;
}

static int is_asked(const FromDb *d, const PmRunRow *row)
{
	const char *device = pm_device_kind(row->device) == PM_DEVICE_CUDA ? "cuda" : "emu";

	if (d->q->device && strcmp(device, d->q->device) != 0)
		return 0;
	for (size_t i = 0; i < d->q->n_tasks; i++)
		if (d->task[i] == row->task)
			return 1;
	return !d->q->n_tasks;
}

static PmStatus take_run(void *arg, const PmRunRow *row, PmErr *err)
{
	FromDb *d = arg;

	if (strcmp(row->pass_sha256, d->object->sha256) != 0) {
		d->other += *row->pass_sha256 != 0;
		return PM_OK;
	}
	if (!row->task || !is_asked(d, row))
		return PM_OK;
	if (!row->finished) {
		d->unfinished++;
		return PM_OK;
	}
	return add_run(d, row, err);
}

PmStatus pm_bank_from_db(PmDb *db, const PmObject *object, const PmBankQuery *q, cJSON *list, PmErr *err)
{
	FromDb d = { .db = db, .object = object, .q = q, .list = list };
	PmStatus st = PM_OK;

	d.task = pm_xcalloc(q->n_tasks + 1, sizeof *d.task);
	for (size_t i = 0; i < q->n_tasks && !st; i++)
		st = pm_task_find(db, q->task[i], &d.task[i], err);
	if (!st)
		st = pm_runs_each(db, 0, take_run, &d, err);
	if (!st && !cJSON_GetArraySize(list))
		st = pm_err(err, PM_E_NOT_FOUND,
			    "Database '%s' has no finished evaluation of %s (SHA-256 %.16s...)%s%s: evaluate "
			    "this "
			    "object with passmith eval TASK --db first.",
			    pm_db_path(db), object->path, object->sha256,
			    q->n_tasks || q->device ? " on the tasks and device asked for" : "",
			    d.unfinished ? ", only one that was interrupted"
			    : d.other    ? ", only of other objects"
					 : "");
	free(d.task);
	return st;
}

/* ---- from a record ---- */

/* A record has no task: its graphs are what was evaluated. */
static void graphs_key(const PmRecord *r, char hex[PM_SHA256_HEX])
{
	const cJSON *g;
	PmStr s = PM_STR_INIT;

	cJSON_ArrayForEach(g, cJSON_GetObjectItem(r->payload, "graphs"))
		pm_str_addf(&s, "%s\n", pm_json_str(g, "hash", ""));
	pm_sha256_hex(s.s, s.len, hex);
	pm_str_release(&s);
}

static PmStatus add_report(const PmRecord *r, const cJSON *part, const PmObject *object, cJSON *list,
			   PmErr *err)
{
	const cJSON *records = cJSON_GetObjectItem(part, "records");
	const cJSON *machine = cJSON_GetObjectItem(r->payload, "machine");
	char key[PM_SHA256_HEX];
	const char *preset = pm_json_str(part, "preset", "sound");
	Found f = { .object = object,
		    .source = "record",
		    .task = pm_path_base(pm_json_str(part, "task", "")),
		    .task_key = key,
		    .device = pm_json_str(part, "device", "emu"),
		    .version = pm_json_str(r->payload, "passmith", ""),
		    .profile = pm_json_str(part, "profile", ""),
		    .hidden = pm_json_str(cJSON_GetObjectItem(part, "hidden"), "verdict", ""),
		    .preset = !strcmp(preset, "passnet") ? PM_PRESET_PASSNET : PM_PRESET_SOUND,
		    .variants = &r->variants };
	PmStr options = PM_STR_INIT;
	PmStatus st;

	graphs_key(r, key);
	pm_str_addf(&options, "preset=%s lane=%s hidden=%lld", preset,
		    pm_json_str(part, pm_json_key(part, "precision"), "strict"), (long long)r->opts.hidden);
	f.options = options.s;
	f.record = pm_xcalloc(r->variants.list.n + 1, sizeof *f.record);
	for (int i = 0; i < (int)r->variants.list.n; i++)
		f.record[i] = cJSON_GetArrayItem(records, i);
	f.machine = cJSON_Duplicate(machine, 1);
	st = add_piece(&f, list, err);
	cJSON_Delete(f.machine);
	free(f.record);
	pm_str_release(&options);
	return st;
}

static PmStatus check_seal(const char *path, const PmSealed *s, const char *key, PmErr *err)
{
	if (s->is_signed && !s->is_valid)
		return pm_err(err, PM_E_INVALID,
			      "The signature of %s does not hold: the record was changed after it was "
			      "signed; ask for "
			      "the record as it was.",
			      path);
	if (key && strcmp(key, s->key) != 0)
		return pm_err(err, PM_E_INVALID, "%s was %s; the key asked for is %s.", path,
			      s->is_signed ? "signed by another key" : "signed by nobody", key);
	return PM_OK;
}

/* *n counts those that are of the object. */
static PmStatus add_reports(const PmRecord *r, const PmObject *object, cJSON *list, int *n, PmErr *err)
{
	const cJSON *part;

	cJSON_ArrayForEach(part, cJSON_GetObjectItem(r->payload, "reports"))
	{
		cJSON *piece;
		PmStatus st;

		if (strcmp(pm_json_str(part, "pass_sha256", ""), object->sha256) != 0)
			continue;
		st = add_report(r, part, object, list, err);
		if (st)
			return st;
		piece = cJSON_GetArrayItem(list, cJSON_GetArraySize(list) - 1);
		cJSON_AddStringToObject(piece, "signature", r->seal.is_signed ? "valid" : "absent");
		cJSON_AddStringToObject(piece, "signed_by", r->seal.key);
		++*n;
	}
	return PM_OK;
}

PmStatus pm_bank_from_record(const char *path, const char *key, const PmObject *object, cJSON *list,
			     PmErr *err)
{
	PmRecord r;
	int n = 0;
	PmStatus st = pm_record_read(path, &r, err);

	if (!st)
		st = check_seal(path, &r.seal, key, err);
	if (!st)
		st = add_reports(&r, object, list, &n, err);
	if (!st && !n)
		st = pm_err(err, PM_E_NOT_FOUND,
			    "%s is not a pass that the record %s is about (SHA-256 %.16s...); give the very "
			    "object.",
			    object->path, path, object->sha256);
	pm_record_release(&r);
	return st;
}

/* ---- what pieces say ---- */

/* 0 = it is in order; else `why` says what is not. */
static int is_bad(const cJSON *e, double above, PmStr *why)
{
	const char *task = pm_json_str(cJSON_GetObjectItem(e, "task"), "name", "");
	const char *hidden = pm_json_str(e, "hidden", "");
	const cJSON *v;
	double as = pm_json_num(cJSON_GetObjectItem(e, "score"), "as", NAN);
	int n = 0;

	cJSON_ArrayForEach(v, cJSON_GetObjectItem(e, "variants"))
	{
		if (!is_verdict(v, "OK") && !is_verdict(v, "NO_MATCH"))
			pm_str_addf(why, "On task '%s' the verdict of variant '%s' is %s.", task,
				    pm_json_str(v, "variant", ""), pm_json_str(v, "verdict", ""));
		else if (is_verdict(v, "OK") && !(pm_json_num(v, "speedup", NAN) > 0))
			pm_str_addf(why, "On task '%s' variant '%s' was not timed.", task,
				    pm_json_str(v, "variant", ""));
		if (why->len)
			return 1;
		n += is_verdict(v, "OK");
	}
	if (*hidden && strcmp(hidden, "OK") != 0)
		pm_str_addf(why, "On task '%s' the verdict on hidden shapes is %s.", task, hidden);
	else if (!n)
		pm_str_addf(why, "The pass matches no variant of task '%s'.", task);
	else if (!(as > above))
		pm_str_addf(why,
			    "On task '%s' AS is %.4g over the variants on which it matches; more than %g is "
			    "asked for.",
			    task, as, above);
	return why->len != 0;
}

int pm_bank_accepts(const cJSON *list, double above, PmStr *why)
{
	const cJSON *e;

	cJSON_ArrayForEach(e, list)
	{
		if (is_bad(e, above, why))
			return 0;
	}
	return 1;
}

int pm_bank_is_measured(const cJSON *e)
{
	return pm_device_kind(pm_json_str(e, "device", "emu")) == PM_DEVICE_CUDA;
}

int pm_bank_cc(const cJSON *e)
{
	const char *gpu = pm_json_str(cJSON_GetObjectItem(e, "machine"), "GPU", "");
	const char *cc = strstr(gpu, "compute capability ");
	int major = 0, minor = 0;

	if (!pm_bank_is_measured(e) || !cc || sscanf(cc, "compute capability %d.%d", &major, &minor) != 2)
		return 0;
	return major * 10 + minor;
}

int pm_bank_logs(const cJSON *e, double *sum)
{
	const cJSON *v;
	int n = 0;

	*sum = 0;
	cJSON_ArrayForEach(v, cJSON_GetObjectItem(e, "variants"))
	{
		double s = pm_json_num(v, "speedup", NAN);

		if (!is_verdict(v, "OK") || !(s > 0))
			continue;
		*sum += log(s);
		n++;
	}
	return n;
}

int pm_bank_savings(const cJSON *e, double *found, double *modelled)
{
	const cJSON *v;
	int n = 0;

	*found = *modelled = 0;
	cJSON_ArrayForEach(v, cJSON_GetObjectItem(e, "variants"))
	{
		double s = pm_json_num(v, "speedup", NAN), m = pm_json_num(v, "modelled_speedup", NAN);

		if (!is_verdict(v, "OK") || !(s > 0) || !(m > 0))
			continue;
		*found += 1 - 1 / s;
		*modelled += 1 - 1 / m;
		n++;
	}
	return n;
}
