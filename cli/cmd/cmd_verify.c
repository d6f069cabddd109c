/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_verify.c - passmith verify: checks a sealed record, and evaluates again what it says. */
#include "cli/cmds.h"
#include "cli/device_lock.h"

#include "app/eval/eval_task.h"
#include "app/eval/record.h"
#include "base/core/renamed.h"
#include "base/sys/io.h"
#include "bench/report/report.h"
#include "runtime/device/device.h"
#include "runtime/exec/exec.h"
#include "runtime/gpus/target.h"

#include <stdio.h>
#include <string.h>

typedef struct Verify {
	const char *path, *key, *device, *new_key;
	PmStrList passes;
	PmRecord record;
	PmProgress bar;
	cJSON *json; /* what is found, for --json */
	PmStr text;  /* the same for people */
	int bad;     /* something does not hold */
} Verify;

/* ---- the seal ---- */

static void check_seal(Verify *v)
{
	const PmSealed *s = &v->record.seal;
	const char *state = !s->is_signed ? "absent" : !s->is_valid ? "broken" : "valid";
	int other = v->key && strcmp(v->key, s->key) != 0;

	cJSON_AddStringToObject(v->json, "signature", state);
	cJSON_AddStringToObject(v->json, "key", s->key);
	if (v->key)
		cJSON_AddBoolToObject(v->json, "expected_key", !other);
	if (!s->is_signed)
		pm_str_add(&v->text, "Not signed: nobody vouches for it.\n");
	else if (!s->is_valid)
		pm_str_addf(&v->text,
			    "The signature of key %s does not hold: the record was changed after it "
			    "was signed.\n",
			    s->key);
	else
		pm_str_addf(&v->text, "Signed by key %s.\n", s->key);
	if (other)
		pm_str_addf(&v->text, "That is not the key asked for, %s.\n", v->key);
	v->bad |= (s->is_signed && !s->is_valid) || other;
}

/* ---- the evaluation ---- */

static const cJSON *report_of(const Verify *v, const char *so, PmErr *err)
{
	const cJSON *part, *reports = cJSON_GetObjectItem(v->record.payload, "reports");
	char hex[PM_SHA256_HEX];
	PmMap map;

	if (pm_map_file(so, &map, err))
		return NULL;
	pm_sha256_hex(map.p, map.n, hex);
	pm_unmap(&map);
	cJSON_ArrayForEach(part, reports) if (!strcmp(pm_json_str(part, "pass_sha256", ""), hex)) return part;
	pm_err(err, PM_E_NOT_FOUND,
	       "%s is not a pass that this record is about (SHA-256 %.16s...); give the very object.", so,
	       hex);
	return NULL;
}

/* The version without the path behind it. */
static int same_version(const char *a, const char *b)
{
	size_t n = strcspn(a, ",");

	return n == strcspn(b, ",") && !strncmp(a, b, n);
}

/* Machine code is the same only from the same compiler, for the same GPU. */
static int is_same_compiler(const Verify *v, const char *device)
{
	cJSON *here = pm_record_machine();
	const cJSON *there = cJSON_GetObjectItem(v->record.payload, "machine");
	int same = same_version(pm_json_str(here, "NVRTC", ""), pm_json_str(there, "NVRTC", ""));

	if (pm_device_kind(device) == PM_DEVICE_CUDA)
		same &= same_version(pm_json_str(here, "GPU", ""), pm_json_str(there, "GPU", ""));
	cJSON_Delete(here);
	return same;
}

static PmStatus options_of(const Verify *v, const cJSON *part, PmEvalTask *t, PmErr *err)
{
	t->preset = pm_json_str(part, "preset", "sound");
	t->opts.preset = !strcmp(t->preset, "passnet") ? PM_PRESET_PASSNET : PM_PRESET_SOUND;
	t->opts.device = v->device ? v->device : pm_json_str(part, "device", "emu");
	t->opts.profile = pm_json_str(part, "profile", NULL);
	t->opts.graphs = v->record.opts.graphs;
	t->opts.confirm_above = v->record.opts.confirm ? 1 : 0;
	t->opts.seed = (uint64_t)pm_json_i64(part, "seed", 0);
	t->tf32 = v->record.opts.tf32;
	t->hidden = (int)v->record.opts.hidden;
	if (!pm_tier_from_name(pm_json_str(part, pm_json_key(part, "precision"), "strict"), &t->opts.tier) ||
	    (pm_device_kind(t->opts.device) != PM_DEVICE_EMU &&
	     pm_device_kind(t->opts.device) != PM_DEVICE_CUDA) ||
	    pm_target_choose(t->opts.profile, t->opts.device, NULL) || t->hidden < 0 ||
	    t->hidden > PM_MAX_HIDDEN_SHAPES)
		return pm_err(err, PM_E_INVALID,
			      "%s names a precision, device, target or number of hidden shapes that this "
			      "version does "
			      "not have.",
			      v->path);
	return PM_OK;
}

static void tell(Verify *v, const char *so, const cJSON *part, const PmEvalReport *r)
{
	cJSON *now = pm_eval_report_json(r, pm_json_str(part, "task", "")), *o = cJSON_CreateObject();
	PmStr differences = PM_STR_INIT;
	int same = is_same_compiler(v, r->opts.device) && !v->device,
	    n = pm_record_compare(part, now, same, &differences);

	pm_str_addf(&v->text,
		    "%s: evaluated again on %s with what was drawn then: %d things compared, %s\n%s",
		    pm_path_base(so), r->opts.device, n,
		    differences.len ? "these differ:" : "all are the same.", differences.s);
	if (!same)
		pm_str_add(&v->text,
			   "PTX and machine code are not compared: another compiler or device is here.\n");
	cJSON_AddStringToObject(o, "pass", so);
	cJSON_AddNumberToObject(o, "compared", n);
	cJSON_AddBoolToObject(o, "machine_code_compared", same);
	cJSON_AddStringToObject(o, "differences", differences.s);
	cJSON_AddItemToArray(cJSON_GetObjectItem(v->json, "evaluated"), o);
	v->bad |= differences.len > 0;
	cJSON_Delete(now);
	pm_str_release(&differences);
}

static PmStatus evaluate(Verify *v, const char *so, PmErr *err)
{
	cJSON *reports = cJSON_GetObjectItem(v->record.payload, "reports");
	PmReplayFile replay = { .path = v->path, .json = reports };
	PmEvalTask t = {
		.variants = &v->record.variants, .replay = &replay, .step = pm_cli_step, .step_arg = &v->bar
	};
	const cJSON *part = report_of(v, so, err);
	PmEvalReport r = { .n = 0 };
	PmDeviceInfo device = { 0 };
	PmStatus st;

	if (!part)
		return err->code;
	st = options_of(v, part, &t, err);
	if (!st)
		st = pm_worker_look(t.opts.device, &device, err);
	if (!st)
		st = pm_cli_device_lock(t.opts.device, &device, &t.opts.lock, err);
	if (st)
		return st;
	if (pm_device_kind(t.opts.device) == PM_DEVICE_CUDA)
		t.opts.cc = device.cc;
	pm_cli_libraries(t.opts.device, t.tf32);
	if (!pm_cli_quiet)
		pm_progress_start(&v->bar, "evaluating again", (int64_t)v->record.variants.list.n);
	st = pm_eval_task(&t, so, &r, NULL, err);
	pm_rwlock_free(t.opts.lock);
	pm_progress_end(&v->bar);
	if (!st && strcmp(r.sha256, pm_json_str(part, "pass_sha256", "")) != 0)
		st = pm_err(err, PM_E_INVALID,
			    "%s was exchanged while it was verified; verify again when nothing writes to it.",
			    so);
	if (!st)
		tell(v, so, part, &r);
	pm_eval_report_release(&r);
	return st;
}

/* ---- the command ---- */

static PmStatus verify(Verify *v, PmErr *err)
{
	PmStatus st = pm_record_read(v->path, &v->record, err);

	if (st)
		return st;
	v->json = cJSON_CreateObject();
	cJSON_AddStringToObject(v->json, "record", v->path);
	check_seal(v);
	cJSON_AddNumberToObject(v->json, "graphs", (double)v->record.variants.list.n);
	cJSON_AddArrayToObject(v->json, "evaluated");
	pm_str_addf(&v->text, "%zu graphs are those whose hashes it names.\n", v->record.variants.list.n);
	for (size_t i = 0; i < v->passes.list.n && !st; i++)
		st = evaluate(v, v->passes.list.v[i], err);
	if (st)
		return st;
	if (!v->passes.list.n)
		pm_str_add(&v->text, "Not evaluated again; give --pass PASS.so for that.\n");
	cJSON_AddBoolToObject(v->json, "holds", !v->bad);
	if (!pm_cli_json)
		fputs(v->text.s, stdout);
	return PM_OK;
}

static int make_key(const char *path, PmErr *err)
{
	char key[PM_SEAL_KEY_HEX];
	cJSON *j;

	if (pm_seal_make_key(path, key, err))
		return pm_cli_fail(err);
	if (pm_cli_json) {
		j = cJSON_CreateObject();
		cJSON_AddStringToObject(j, "file", path);
		cJSON_AddStringToObject(j, "key", key);
		pm_cli_put_json(j);
	} else {
		printf("%s signs (keep it secret); who verifies gives --key %s\n", path, key);
	}
	return 0;
}

int pm_cmd_verify(const PmCmd *cmd, int argc, char **argv)
{
	Verify v = { .text = PM_STR_INIT, .record = { .text = PM_STR_INIT } };
	const PmOpt opts[] = {
		{ "--pass", PM_OPT_LIST, &v.passes, "the pass: evaluate it again with what was drawn then" },
		{ "--key", PM_OPT_STR, &v.key,
		  "the public key that must have signed (64 hexadecimal digits)" },
		{ "--device", PM_OPT_DEVICE, &v.device, "evaluate there (default: the record's)" },
		{ "--new-key", PM_OPT_STR, &v.new_key,
		  "instead: make a key to sign records with, in this file" },
		{ 0 },
	};
	PmStrList files = { 0 };
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		if (v.new_key ? files.list.n != 0 : files.list.n != 1) {
			code = pm_cli_usage(cmd, "verify takes one record, or --new-key FILE alone.");
		} else if (v.key && (strlen(v.key) != PM_SEAL_KEY_HEX - 1 ||
				     v.key[strspn(v.key, "0123456789abcdef")])) {
			code = pm_cli_usage(cmd, "--key takes 64 hexadecimal digits in lower case.");
		} else if (v.new_key) {
			code = make_key(v.new_key, &err);
		} else {
			v.path = files.list.v[0];
			code = verify(&v, &err) ? pm_cli_fail(&err) : v.bad;
			pm_cli_put_json(v.json); /* as far as it got */
			v.json = NULL;
		}
	}
	cJSON_Delete(v.json);
	pm_record_release(&v.record);
	pm_str_release(&v.text);
	PM_VEC_RELEASE(&v.passes.list);
	PM_VEC_RELEASE(&files.list);
	return code;
}
