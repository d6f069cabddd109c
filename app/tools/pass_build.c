/* SPDX-License-Identifier: Apache-2.0 */
/* pass_build.c - the pass that a call names, built first where that is needed. */
#include "app/tools/tools_priv.h"

#include <stdio.h>
#include <string.h>

/* ---- what a build says ---- */

cJSON *pm__build_answer(const PmTools *t, const cJSON *j, int *ok)
{
	cJSON *a = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(a, "messages");
	const cJSON *m, *kernels = cJSON_GetObjectItemCaseSensitive(j, "kernels");
	int good = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(j, "ok")), errors = 0;

	(void)t;
	cJSON_AddBoolToObject(a, "ok", good);
	cJSON_ArrayForEach(m, cJSON_GetObjectItemCaseSensitive(j, "messages"))
	{
		errors += !strcmp(pm_json_str(m, "severity", ""), "error");
		cJSON_AddItemToArray(list, cJSON_Duplicate(m, 1));
	}
	cJSON_AddNumberToObject(a, "errors", errors);
	if (good) {
		cJSON_AddStringToObject(a, "file", pm_json_str(j, "file", ""));
		cJSON_AddNumberToObject(a, "kernels_compiled", pm_json_num(kernels, "compiled", 0));
		cJSON_AddNumberToObject(a, "kernels_not_known_yet", pm_json_num(kernels, "unknown", 0));
		cJSON_AddStringToObject(a, "next", "explain says where it matches; evaluate judges it.");
	} else {
		if (!errors && pm_json_str(j, "error", NULL))
			cJSON_AddStringToObject(a, "why", pm_json_str(j, "error", ""));
		cJSON_AddStringToObject(
			a, "next",
			"Mend the first error; lines and columns are of your file. Then build "
			"again.");
	}
	if (ok)
		*ok = good;
	return a;
}

void pm__not_built(PmTools *t, PmToolRun *r, cJSON *build)
{
	cJSON *a = cJSON_CreateObject();

	if (!strcmp(r->tool, "evaluate") || !strcmp(r->tool, "submit")) {
		cJSON_AddStringToObject(a, "stage", "build");
		cJSON_AddStringToObject(a, "verdict", "COMPILE_FAIL");
		cJSON_AddStringToObject(a, "blame", "pass");
		cJSON_AddStringToObject(a, "why", "The pass does not compile.");
	} else {
		cJSON_AddStringToObject(a, "stage", "build");
		cJSON_AddBoolToObject(a, "ok", 0);
	}
	cJSON_AddItemToObject(a, "messages", cJSON_DetachItemFromObject(build, "messages"));
	cJSON_AddItemToObject(a, "next", cJSON_DetachItemFromObject(build, "next"));
	cJSON_Delete(build);
	pm__run_answer(t, r, a, 0);
}

/* ---- the pass ---- */

/* "p.c", "p.so" and "p" are the pass p.so; of the folder p too. */
static PmStatus find_source(const PmTools *t, const char *pass, PmStr *source, PmStr *so, PmErr *err)
{
	PmStatus st = pm__ws_path(pass, err);
	PmStr stem = PM_STR_INIT;

	if (st)
		return st;
	pm_str_add(&stem, pass);
	while (stem.len && stem.s[stem.len - 1] == '/')
		stem.s[--stem.len] = '\0';
	if (pm_str_ends(stem.s, ".so"))
		stem.s[stem.len -= 3] = '\0';
	else if (pm_str_ends(stem.s, ".c"))
		stem.s[stem.len -= 2] = '\0';
	pm_str_addf(so, "%s.so", stem.s);
	pm_str_addf(source, "%s.c", stem.s);
	if (pm__ws_kind(t, source->s) != 1) {
		pm_str_clear(source);
		if (pm__ws_kind(t, stem.s) == 2)
			pm_str_add(source, stem.s);
	}
	if (!source->len && pm__ws_kind(t, so->s) != 1)
		st = pm_err(err, PM_E_NOT_FOUND,
			    "There is no pass %.80s in the workspace; list_files shows what there is, and "
			    "write_file or new_pass makes a source.",
			    pass);
	pm_str_release(&stem);
	return st;
}

/* The folder of a source, "" = the workspace. */
static void folder_of(const char *source, PmStr *folder)
{
	if (!pm_str_ends(source, ".c")) {
		pm_str_add(folder, source);
		return;
	}
	pm_path_dir(source, folder);
	if (!strcmp(folder->s, "."))
		pm_str_clear(folder);
}

static PmStatus publish(PmTools *t, PmToolRun *r, PmErr *err)
{
	PmStr source = PM_STR_INIT, so = PM_STR_INIT, folder = PM_STR_INIT;
	PmStatus st = find_source(t, pm__arg(r->args, "pass"), &source, &so, err);

	r->built = 1;
	if (!st)
		folder_of(source.s, &folder);
	/* A source that is gone by now leaves the object of an earlier one. */
	st = st || !source.len ? PM_OK : pm__publish_object(t, r, folder.s, r->newest, err);
	pm_str_release(&source);
	pm_str_release(&so);
	pm_str_release(&folder);
	return st;
}

static void built(PmTools *t, PmToolRun *r, const cJSON *j)
{
	int ok;
	cJSON *answer = pm__build_answer(t, j, &ok);
	PmErr err;

	pm_err_init(&err);
	if (!ok) {
		pm__not_built(t, r, answer);
		return;
	}
	cJSON_Delete(answer);
	if (r->whole && publish(t, r, &err))
		pm__run_fail(t, r, "%s", err.text);
	else
		r->after(t, r, NULL);
}

/* What is evaluated as a whole has an object of its own, which no other build replaces before it is read. */
static void build(PmTools *t, PmToolRun *r, const char *source, PmRunNext then)
{
	PmStr kept = PM_STR_INIT;
	const char *argv[] = { "build", source, NULL, NULL, NULL };

	if (r->whole) {
		pm__kept_object(r, &kept);
		argv[2] = "-o";
		argv[3] = kept.s;
	}
	pm__run_start(t, r, argv, then);
	pm_str_release(&kept);
}

PmStatus pm__with_pass(PmTools *t, PmToolRun *r, int always, PmRunNext then, PmErr *err)
{
	PmStr source = PM_STR_INIT, folder = PM_STR_INIT;
	PmStatus st = find_source(t, pm__arg(r->args, "pass"), &source, &r->so, err);
	int stale = always;

	if (!st && source.len) {
		double at = pm__ws_time(t, r->so.s);

		folder_of(source.s, &folder);
		r->newest = pm__ws_sources_time(t, folder.s);
		stale |= at == 0 || r->newest >= at;
	}
	if (!st && source.len && r->whole)
		st = pm__keep_sources(t, r, folder.s, pm_str_ends(source.s, ".c") ? source.s : NULL, err);
	if (!st && always && !source.len)
		st = pm_err(err, PM_E_NOT_FOUND,
			    "Of the pass %.80s there is only the built object; build takes a source.",
			    r->so.s);
	r->after = then;
	if (!st && stale && source.len)
		build(t, r, source.s, always ? then : built);
	else if (!st)
		then(t, r, NULL);
	pm_str_release(&source);
	pm_str_release(&folder);
	return st;
}
