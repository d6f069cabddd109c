/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_profile.c - passmith profile: what is known of the kernels that a pass launches. */
#include "cli/cmds.h"

#include "app/profile/profile.h"
#include "app/profile/show.h"
#include "base/core/version.h"
#include "base/sys/io.h"
#include "dataset/pack/pack.h"
#include "dataset/store/rewrites.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct Profile {
	PmProfileOpts o;
	const char *target; /* NULL: not given */
	const char *device, *arch, *db_path, *ptx, *sass;
	int64_t seed, variant, alternative; /* variant -1: the first */
	PmStrList passes;
	PmVariantList variants;
	PmDb *db;
} Profile;

static PmStatus find_target(Profile *p, PmErr *err)
{
	const char *digits = p->arch && !strncmp(p->arch, "sm_", 3) ? p->arch + 3 : "";
	int cc = 0;

	if (strlen(digits) < 4)
		sscanf(digits, "%d", &cc);
	if (p->arch && pm_target_of_cc(cc))
		pm_target_set(pm_target_of_cc(cc));
	p->o.target = p->arch ? pm_profile_of_cc(cc) : pm_profile(NULL);
	if (p->o.target)
		return PM_OK;
	return pm_err(err, PM_E_NOT_FOUND,
		      "There is no description of a GPU of '%.40s'; give --arch sm_90 or --arch sm_80.",
		      p->arch);
}

static PmStatus find_variants(Profile *p, const char *target, PmErr *err)
{
	PmStatus st;

	if (p->db_path) {
		st = pm_db_open(p->db_path, PM_DB_MUST_EXIST, &p->db, err);
		return st ? st : pm_variant_list_of_task(p->db, target, &p->variants, err);
	}
	if (pm_pack_is(target))
		return pm_variant_list_of_pack(target, &p->variants, err);
	return pm_cli_variants(target, p->variant >= 0, (uint64_t)p->seed, &p->variants, err);
}

static PmStatus find_variant(Profile *p, const char *target, const PmTaskVariant **out, PmErr *err)
{
	PmStatus st = find_variants(p, target, err);

	for (size_t i = 0; i < p->variants.list.n && !st; i++)
		if (p->variant < 0 || p->variants.list.v[i].ordinal == p->variant) {
			*out = &p->variants.list.v[i];
			return PM_OK;
		}
	return st ? st
		  : pm_err(err, PM_E_NOT_FOUND,
			   "%s has no variant %lld; passmith explain --variants lists them.", target,
			   (long long)p->variant);
}

static cJSON *report_json(const PmProfileReport *r, const Profile *p, const PmProfileOpts *o,
			  const PmTaskVariant *m)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "pass", p->o.so);
	cJSON_AddStringToObject(j, "variant", m->label);
	pm_json_add_i64(j, "number", m->ordinal);
	pm_profile_json(r, o, j);
	return j;
}

/* In the database of the task, for its report; without listings. A database that may not be written is read.
 */
static PmStatus store(const PmProfileReport *r, const Profile *p, const PmTaskVariant *m, PmErr *err)
{
	PmProfileOpts plain = p->o;
	PmStr options = PM_STR_INIT, text = PM_STR_INIT;
	PmObject object = { .bytes = PM_STR_INIT };
	PmProfileRow row = {
		.task = p->variants.task, .ordinal = m->ordinal, .pass_path = p->o.so, .version = PM_VERSION
	};
	PmStatus st;
	cJSON *j;

	if (!p->db || !p->variants.task || r->verdict != PM_VERDICT_OK ||
	    access(pm_db_path(p->db), W_OK) != 0)
		return PM_OK;
	st = pm_object_read(p->o.so, &object, err);
	plain.listing = 0;
	j = report_json(r, p, &plain, m);
	pm_json_print(j, 0, &text);
	pm_str_addf(&options, "device=%s sm_%d alternative=%d%s%.60s", p->o.device, r->cc, p->o.alternative,
		    p->o.only_rule ? " rule=" : "", p->o.only_rule ? p->o.only_rule : "");
	/* The first of an architecture was the only one once. */
	if (pm_target_now() != pm_target_of_cc(r->cc))
		pm_str_addf(&options, " target=%s", pm_target_now()->name);
	row.pass_sha256 = object.sha256;
	row.options = options.s;
	row.json = text.s;
	if (!st)
		st = pm_profile_put(p->db, &row, err);
	cJSON_Delete(j);
	pm_object_release(&object);
	pm_str_release(&options);
	pm_str_release(&text);
	return st;
}

static void put(const PmProfileReport *r, const Profile *p, const PmTaskVariant *m)
{
	PmStr text = PM_STR_INIT;

	if (pm_cli_json) {
		pm_cli_put_json(report_json(r, p, &p->o, m));
		return;
	}
	if (r->verdict != PM_VERDICT_OK)
		pm_str_addf(&text, "%s: %s\n", pm_verdict_name(r->verdict), r->why);
	else
		pm_profile_text(r, &p->o, &text);
	fputs(text.s, stdout);
	pm_str_release(&text);
}

/* The PTX or the SASS of all kernels, one after another. */
static PmStatus listing(const PmProfileReport *r, int sass, PmStr *out, PmErr *err)
{
	for (size_t i = 0; i < r->code.n; i++) {
		const PmProfileCode *c = &r->code.v[i];

		if (*c->why || (sass && *c->why_sass))
			return pm_err(err, PM_E_ENV, "%s", *c->why ? c->why : c->why_sass);
		pm_str_addn(out, sass ? c->sass.s : c->ptx.s, sass ? c->sass.len : c->ptx.len);
	}
	return PM_OK;
}

static PmStatus put_listing(const Profile *p, const PmProfileReport *r, int sass, PmErr *err)
{
	const char *file = sass ? p->sass : p->ptx;
	PmStr text = PM_STR_INIT;
	PmStatus st = PM_OK;

	if (file && r->verdict == PM_VERDICT_OK) {
		st = listing(r, sass, &text, err);
		if (!st && !strcmp(file, "-"))
			fwrite(text.s, 1, text.len, stdout);
		else if (!st)
			st = pm_write_file(file, text.s, text.len, err);
	}
	pm_str_release(&text);
	return st;
}

/* 1 when stdout has a listing and no report. */
static int is_listing(const Profile *p)
{
	return (p->ptx && !strcmp(p->ptx, "-")) || (p->sass && !strcmp(p->sass, "-"));
}

static int profile(Profile *p, const char *target)
{
	const PmTaskVariant *m = NULL;
	PmProfileReport r = { 0 };
	int code = 0;
	PmStatus st;
	PmErr err;

	pm_err_init(&err);
	st = find_target(p, &err);
	if (!st)
		st = find_variant(p, target, &m, &err);
	if (!st)
		st = pm_cli_pass_is_there(p->o.so, &err);
	if (!st)
		st = pm_profile_make(m->g, &p->o, &r, &err);
	if (!st)
		st = put_listing(p, &r, 0, &err);
	if (!st)
		st = put_listing(p, &r, 1, &err);
	if (!st)
		st = store(&r, p, m, &err);
	if (st)
		code = pm_cli_fail(&err);
	else if (!is_listing(p) || r.verdict != PM_VERDICT_OK)
		put(&r, p, m);
	if (!st && r.verdict != PM_VERDICT_OK)
		code = 1;
	pm_profile_release(&r);
	return code;
}

int pm_cmd_profile(const PmCmd *cmd, int argc, char **argv)
{
	Profile p = { .o = { .deadline = 60 }, .device = "emu", .variant = -1 };
	const PmOpt opts[] = {
		{ "--pass", PM_OPT_LIST, &p.passes, "the pass" },
		{ "--rule", PM_OPT_STR, &p.o.only_rule, "only this rule" },
		{ "--variant", PM_OPT_COUNT, &p.variant,
		  "the variant with this number (default: the first)" },
		{ "--alternative", PM_OPT_COUNT, &p.alternative, "of each kernel (default 0)" },
		{ "--device", PM_OPT_DEVICE, &p.device,
		  "emu: accesses are counted; cuda: times are measured, and the GPU's counters read" },
		{ "--arch", PM_OPT_STR, &p.arch,
		  "instead of --target: the first GPU of that architecture, sm_90 or sm_80" },
		PM_OPT_TARGET_ROW(&p.target),
		{ "--seed", PM_OPT_INT, &p.seed, "of shapes and inputs (default 0)" },
		{ "--listing", PM_OPT_FLAG, &p.o.listing,
		  "with --json: PTX and SASS, too; the report has more than 16 KB then" },
		{ "--ptx", PM_OPT_STR, &p.ptx,
		  "file for the PTX of all kernels; - writes it instead of the report" },
		{ "--sass", PM_OPT_STR, &p.sass,
		  "file for the SASS of all kernels, which needs nvdisasm; - as above" },
		{ "--db", PM_OPT_STR, &p.db_path,
		  "database that holds the task; the profile is stored there, for passmith report" },
		{ "--deadline", PM_OPT_NUM, &p.o.deadline,
		  "seconds that the pass, and each run, may take (default 60)" },
		{ 0 },
	};
	PmStrList files = { 0 };
	int code = 0;

	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		p.o.listing |= p.ptx || p.sass;
		p.o.device = p.device;
		p.o.seed = (uint64_t)p.seed;
		p.o.alternative = p.alternative < INT32_MAX ? (int)p.alternative : INT32_MAX;
		p.o.so = p.passes.list.n ? p.passes.list.v[0] : NULL;
		if (files.list.n != 1 || p.passes.list.n != 1)
			code = pm_cli_usage(cmd, "profile takes one model, pack or task and one --pass.");
		else if (pm_cli_json && is_listing(&p))
			code = pm_cli_usage(cmd, "With --json a listing goes into a file, or use --listing.");
		else
			code = profile(&p, files.list.v[0]);
	}
	pm_variant_list_release(&p.variants);
	pm_db_close(p.db);
	PM_VEC_RELEASE(&files.list);
	PM_VEC_RELEASE(&p.passes.list);
	return code;
}
