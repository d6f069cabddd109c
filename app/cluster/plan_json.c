/* SPDX-License-Identifier: Apache-2.0 */
/* plan_json.c - plan.json, written and read. The file is input: every member is checked. */
#include "app/cluster/folder.h"
#include "app/cluster/plan.h"
#include "app/cluster/plan_priv.h"

#include "base/core/version.h"
#include "base/sys/io.h"
#include "bench/compare/bound/bound.h"
#include "runtime/device/device.h"
#include "runtime/exec/exec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "passmith cluster 1"

enum { PLAN_MAX = 1 << 28, HIDDEN_MAX = 64 };

/* ---- writing ---- */

static void add_options(cJSON *plan, const PmClusterOptions *o)
{
	cJSON *j = cJSON_AddObjectToObject(plan, "options");

	cJSON_AddStringToObject(j, "device", o->device);
	if (o->profile)
		cJSON_AddStringToObject(j, "profile", o->profile);
	cJSON_AddStringToObject(j, "preset", o->preset);
	cJSON_AddStringToObject(j, "precision", o->precision);
	cJSON_AddStringToObject(j, "reference", o->reference);
	pm_json_add_i64(j, "seed", o->seed);
	pm_json_add_i64(j, "hidden", o->hidden);
	cJSON_AddNumberToObject(j, "deadline", o->deadline);
	cJSON_AddNumberToObject(j, "lease", o->lease);
	cJSON_AddBoolToObject(j, "tf32", o->tf32);
	cJSON_AddBoolToObject(j, "graphs", o->graphs);
	cJSON_AddBoolToObject(j, "confirm", o->confirm);
	cJSON_AddBoolToObject(j, "weak_sandbox", o->weak);
}

static void add_tasks(cJSON *plan, const PmClusterPlan *p)
{
	cJSON *list = cJSON_AddArrayToObject(plan, "tasks");

	for (size_t i = 0; i < p->task.n; i++) {
		cJSON *j = cJSON_CreateObject();

		cJSON_AddStringToObject(j, "hash", p->task.v[i].hash);
		cJSON_AddStringToObject(j, "name", p->task.v[i].name);
		pm_json_add_i64(j, "variants", p->task.v[i].n_variants);
		cJSON_AddItemToArray(list, j);
	}
}

static void add_passes(cJSON *plan, const PmClusterPlan *p)
{
	cJSON *list = cJSON_AddArrayToObject(plan, "passes");

	for (size_t i = 0; i < p->pass.n; i++) {
		cJSON *j = cJSON_CreateObject();

		cJSON_AddStringToObject(j, "sha256", p->pass.v[i].sha256);
		cJSON_AddStringToObject(j, "path", p->pass.v[i].path);
		cJSON_AddItemToArray(list, j);
	}
}

/* Lists of numbers: an item is task, pass and seconds; a shard is its items. */
static void add_items(cJSON *plan, const PmClusterPlan *p)
{
	cJSON *list = cJSON_AddArrayToObject(plan, "items");

	for (size_t i = 0; i < p->item.n; i++) {
		const double v[] = { (double)p->item.v[i].task, (double)p->item.v[i].pass,
				     p->item.v[i].seconds };

		cJSON_AddItemToArray(list, cJSON_CreateDoubleArray(v, 3));
	}
	list = cJSON_AddArrayToObject(plan, "shards");
	for (size_t i = 0; i < p->shard.n; i++) {
		const PmClusterShard *s = &p->shard.v[i];
		cJSON *j = cJSON_CreateArray();

		for (size_t k = 0; k < s->item.n; k++)
			cJSON_AddItemToArray(j, cJSON_CreateNumber((double)s->item.v[k]));
		cJSON_AddItemToArray(list, j);
	}
}

PmStatus pm__cluster_plan_write(const PmClusterPlan *p, PmErr *err)
{
	cJSON *j = cJSON_CreateObject();
	PmStr text = PM_STR_INIT, path = PM_STR_INIT;
	char hex[PM_SECRET_HEX], sha256[PM_SHA256_HEX];
	PmStatus st;

	cJSON_AddStringToObject(j, "format", FORMAT);
	cJSON_AddStringToObject(j, "version", PM_VERSION);
	add_options(j, &p->opts);
	cJSON_AddStringToObject(j, "tasks_sha256", p->tasks_sha256);
	add_tasks(j, p);
	add_passes(j, p);
	add_items(j, p);
	pm_secret_hex(p->secret, hex);
	cJSON_AddStringToObject(j, "secret", hex);
	pm_json_print(j, 0, &text);
	pm_sha256_hex(text.s, text.len, sha256);
	cJSON_AddStringToObject(j, "sha256", sha256); /* of the same without it */
	pm_str_clear(&text);
	pm_json_print(j, 0, &text);
	pm_cluster_path(p->dir, NULL, "plan.json", &path);
	st = pm_cluster_publish(path.s, text.s, text.len, 0600, err);
	explicit_bzero(hex, sizeof hex);
	explicit_bzero(text.s, text.len);
	explicit_bzero(cJSON_GetObjectItem(j, "secret")->valuestring, PM_SECRET_HEX - 1);
	cJSON_Delete(j);
	pm_str_release(&text);
	pm_str_release(&path);
	return st;
}

/* ---- reading ---- */

static PmStatus bad(const char *dir, PmErr *err, const char *what)
{
	return pm_err(err, PM_E_INVALID, "%s/plan.json: %s; make the plan again in another folder.", dir,
		      what);
}

static int is_hash(const char *s)
{
	return strlen(s) == PM_SHA256_HEX - 1 && strspn(s, "0123456789abcdef") == PM_SHA256_HEX - 1;
}

static int flag(const cJSON *j, const char *key)
{
	return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(j, key));
}

static int is_seconds(double s)
{
	return isfinite(s) && s >= 0 && s < 1e9;
}

static PmStatus take_options(const char *dir, const cJSON *j, PmClusterOptions *o, PmErr *err)
{
	const char *profile = pm_json_str(j, "profile", NULL);
	PmPrecisionTier tier;

	o->device = pm_xstrdup(pm_json_str(j, "device", ""));
	o->profile = profile ? pm_xstrdup(profile) : NULL;
	o->preset = pm_xstrdup(pm_json_str(j, "preset", ""));
	o->precision = pm_xstrdup(pm_json_str(j, "precision", ""));
	o->reference = pm_xstrdup(pm_json_str(j, "reference", ""));
	o->seed = pm_json_i64(j, "seed", 0);
	o->hidden = pm_json_i64(j, "hidden", -1);
	o->deadline = pm_json_num(j, "deadline", NAN);
	o->lease = pm_json_num(j, "lease", NAN);
	o->tf32 = flag(j, "tf32");
	o->graphs = flag(j, "graphs");
	o->confirm = flag(j, "confirm");
	o->weak = flag(j, "weak_sandbox");
	if (strcmp(o->device, "emu") && strcmp(o->device, "cuda"))
		return bad(dir, err, "it names a device that there is not");
	if (profile && !pm_profile(profile))
		return bad(dir, err, "it names a target that there is not");
	if (strcmp(o->preset, "sound") && strcmp(o->preset, "passnet"))
		return bad(dir, err, "it names a preset that there is not");
	if (!pm_tier_from_name(o->precision, &tier))
		return bad(dir, err, "it names a precision that there is not");
	if (strcmp(o->reference, "cpu") && strcmp(o->reference, "auto"))
		return bad(dir, err, "it names a reference that there is not");
	if (o->hidden < 0 || o->hidden > HIDDEN_MAX || !is_seconds(o->deadline) || !is_seconds(o->lease) ||
	    o->lease <= 0)
		return bad(dir, err, "a number of its options is out of range");
	return PM_OK;
}

static PmStatus take_tasks(const char *dir, const cJSON *list, PmClusterPlan *p, PmErr *err)
{
	const cJSON *j;

	cJSON_ArrayForEach(j, list)
	{
		const char *hash = pm_json_str(j, "hash", "");
		PmClusterTask t = { .n_variants = pm_json_i64(j, "variants", 0) };

		if (!is_hash(hash) || t.n_variants <= 0)
			return bad(dir, err, "a task has no hash or no variants");
		snprintf(t.hash, sizeof t.hash, "%s", hash);
		t.name = pm_xstrdup(pm_json_str(j, "name", ""));
		PM_VEC_PUSH(&p->task, t);
	}
	return PM_OK;
}

static PmStatus take_passes(const char *dir, const cJSON *list, PmClusterPlan *p, PmErr *err)
{
	const cJSON *j;

	cJSON_ArrayForEach(j, list)
	{
		const char *hash = pm_json_str(j, "sha256", "");
		PmClusterPass pass = { .path = NULL };

		if (!is_hash(hash))
			return bad(dir, err, "a pass has no SHA-256");
		snprintf(pass.sha256, sizeof pass.sha256, "%s", hash);
		pass.path = pm_xstrdup(pm_json_str(j, "path", ""));
		PM_VEC_PUSH(&p->pass, pass);
	}
	return PM_OK;
}

/* 1 when j is a whole number from 0 to below n. */
static int take_index(const cJSON *j, size_t n, size_t *out)
{
	if (!cJSON_IsNumber(j) || !(j->valuedouble >= 0) || j->valuedouble >= (double)n ||
	    j->valuedouble != floor(j->valuedouble))
		return 0;
	*out = (size_t)j->valuedouble;
	return 1;
}

static PmStatus take_items(const char *dir, const cJSON *list, PmClusterPlan *p, PmErr *err)
{
	const cJSON *j;

	cJSON_ArrayForEach(j, list)
	{
		const cJSON *task = cJSON_IsArray(j) ? j->child : NULL, *pass = task ? task->next : NULL;
		const cJSON *seconds = pass ? pass->next : NULL;
		PmClusterItem it;

		if (!seconds || seconds->next || !take_index(task, p->task.n, &it.task) ||
		    !take_index(pass, p->pass.n, &it.pass) || !cJSON_IsNumber(seconds) ||
		    !(seconds->valuedouble >= 0) || !isfinite(seconds->valuedouble))
			return bad(dir, err, "an item is no task, pass and seconds");
		if (p->item.n == PM_CLUSTER_MAX_ITEMS)
			return bad(dir, err, "it has too many items");
		it.seconds = seconds->valuedouble;
		PM_VEC_PUSH(&p->item, it);
	}
	return PM_OK;
}

/* Each item stands in one shard. */
static PmStatus take_shards(const char *dir, const cJSON *list, PmClusterPlan *p, PmErr *err)
{
	char *seen = pm_xcalloc(p->item.n + 1, 1);
	const cJSON *j, *k;
	size_t item, n = 0;
	PmStatus st = PM_OK;

	cJSON_ArrayForEach(j, list)
	{
		PmClusterShard s = { 0 };

		if (p->shard.n == PM_CLUSTER_MAX_SHARDS)
			st = bad(dir, err, "it has too many shards");
		else if (!cJSON_IsArray(j))
			st = bad(dir, err, "a shard is no list of items");
		cJSON_ArrayForEach(k, j)
		{
			if (st)
				break;
			if (!take_index(k, p->item.n, &item) || seen[item]) {
				st = bad(dir, err, "a shard has an item twice, or one that there is not");
				break;
			}
			seen[item] = 1;
			n++;
			s.seconds += p->item.v[item].seconds;
			PM_VEC_PUSH(&s.item, item);
		}
		PM_VEC_PUSH(&p->shard, s);
		if (st)
			break;
	}
	free(seen);
	if (!st && n != p->item.n)
		st = bad(dir, err, "an item is in no shard");
	return st;
}

PmStatus pm_cluster_plan_from_json(const char *dir, cJSON *j, PmClusterPlan *out, PmErr *err)
{
	cJSON *secret = cJSON_GetObjectItemCaseSensitive(j, "secret");
	PmStatus st;

	memset(out, 0, sizeof *out);
	out->dir = pm_xstrdup(dir);
	out->secret = cJSON_IsString(secret) ? pm_secret_parse(secret->valuestring) : NULL;
	if (cJSON_IsString(secret))
		explicit_bzero(secret->valuestring, strlen(secret->valuestring));
	if (!pm_str_eq(pm_json_str(j, "format", ""), FORMAT))
		return bad(dir, err, "it is no plan of passmith cluster");
	if (!pm_str_eq(pm_json_str(j, "version", ""), PM_VERSION))
		return pm_err(
			err, PM_E_INVALID,
			"%s/plan.json was made by version %.40s of passmith, and this is %s, whose results "
			"may differ; use that version, or make the plan again in another folder.",
			dir, pm_json_str(j, "version", "?"), PM_VERSION);
	if (!out->secret)
		return bad(dir, err, "it has no secret of 64 hexadecimal digits");
	if (!is_hash(pm_json_str(j, "tasks_sha256", "")))
		return bad(dir, err, "it has no SHA-256 of its tasks");
	snprintf(out->tasks_sha256, sizeof out->tasks_sha256, "%s", pm_json_str(j, "tasks_sha256", ""));
	st = take_options(dir, cJSON_GetObjectItemCaseSensitive(j, "options"), &out->opts, err);
	if (!st)
		st = take_tasks(dir, cJSON_GetObjectItemCaseSensitive(j, "tasks"), out, err);
	if (!st)
		st = take_passes(dir, cJSON_GetObjectItemCaseSensitive(j, "passes"), out, err);
	if (!st)
		st = take_items(dir, cJSON_GetObjectItemCaseSensitive(j, "items"), out, err);
	return st ? st : take_shards(dir, cJSON_GetObjectItemCaseSensitive(j, "shards"), out, err);
}

/* The SHA-256 of everything else stands in the last member: *j without it. */
static int is_whole(cJSON *j)
{
	cJSON *is = cJSON_DetachItemFromObjectCaseSensitive(j, "sha256");
	char sha256[PM_SHA256_HEX];
	PmStr text = PM_STR_INIT;
	int same;

	pm_json_print(j, 0, &text);
	pm_sha256_hex(text.s, text.len, sha256);
	same = cJSON_IsString(is) && !strcmp(is->valuestring, sha256);
	explicit_bzero(text.s, text.len);
	pm_str_release(&text);
	cJSON_Delete(is);
	return same;
}

PmStatus pm_cluster_plan_parse(const char *dir, char *text, size_t n, PmClusterPlan *out, PmErr *err)
{
	cJSON *j = NULL;
	PmStatus st;

	memset(out, 0, sizeof *out);
	st = pm_json_parse(text, n, &j, NULL);
	explicit_bzero(text, n);
	if (st || !cJSON_IsObject(j))
		st = bad(dir, err, "it is no JSON object");
	else if (pm_str_eq(pm_json_str(j, "format", ""), FORMAT) && !is_whole(j))
		st = bad(dir, err, "it is damaged: its SHA-256 is another one");
	else
		st = pm_cluster_plan_from_json(dir, j, out, err);
	cJSON_Delete(j);
	return st;
}

PmStatus pm_cluster_plan_read(const char *dir, PmClusterPlan *out, PmErr *err)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	PmStatus st = PM_OK;

	memset(out, 0, sizeof *out);
	pm_cluster_path(dir, NULL, "plan.json", &path);
	if (!pm_path_exists(path.s))
		st = pm_err(err, PM_E_NOT_FOUND,
			    "The folder %s has no plan.json; make a plan with passmith cluster plan -o %s.",
			    dir, dir);
	if (!st)
		st = pm_read_file(path.s, PLAN_MAX, &text, err);
	if (!st)
		st = pm_cluster_plan_parse(dir, text.s, text.len, out, err);
	pm_str_release(&text);
	pm_str_release(&path);
	return st;
}
