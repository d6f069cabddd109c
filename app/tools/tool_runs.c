/* SPDX-License-Identifier: Apache-2.0 */
/* tool_runs.c - get_run, cancel_run, compare. */
#include "app/tools/tools_priv.h"

#include <stdio.h>
#include <string.h>

static cJSON *no_run(const char *handle, int *is_error)
{
	return pm__error(
		is_error,
		"There is no run %.20s in this workspace; handles look like r3, and come from build, "
		"check, explain, evaluate and submit.",
		handle);
}

static cJSON *copy_of(const cJSON *j, const char *name)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(j, name);

	return m ? cJSON_Duplicate(m, 1) : NULL;
}

/* What a run had finished when its session went away without a word. */
static void add_lost(const PmTools *t, const char *handle, const cJSON *file, cJSON *j)
{
	PmToolRun *r = pm_xcalloc(1, sizeof *r);
	PmStr words = PM_STR_INIT;

	snprintf(r->handle, sizeof r->handle, "%s", handle);
	r->lock = -1;
	r->state = PM__CANCELLED;
	r->whole = 1;
	r->variant = pm_json_i64(cJSON_GetObjectItemCaseSensitive(file, "args"), "variant", -1);
	pm_str_init(&r->so);
	pm_str_init(&r->target);
	pm_str_init(&r->label);
	pm_str_init(&r->key);
	pm__so_far_read(t, r, &words);
	pm__so_far_add(t, r, j);
	pm__run_free(r);
	pm_str_release(&words);
	cJSON_AddStringToObject(j, "next", "Its session ended before it did; begin it again.");
}

/* A run of another session: as it stands in its file. */
static cJSON *from_file(PmTools *t, const char *handle, int *is_error)
{
	cJSON *file = pm__run_read(t, handle), *j;

	if (!file)
		return no_run(handle, is_error);
	j = copy_of(file, "answer");
	*is_error = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(file, "is_error"));
	if (!j) {
		j = cJSON_CreateObject();
		cJSON_AddStringToObject(j, "run", handle);
		cJSON_AddItemToObject(j, "state", copy_of(file, "state"));
		cJSON_AddItemToObject(j, "tool", copy_of(file, "tool"));
		if (!strcmp(pm_json_str(file, "state", ""), "lost"))
			add_lost(t, handle, file, j);
	}
	cJSON_Delete(file);
	return j;
}

cJSON *pm__tool_get_run(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	const char *handle = pm__arg(args, "run");

	*run = pm__run_find(t, handle);
	return *run ? NULL : from_file(t, handle, is_error);
}

cJSON *pm__tool_cancel_run(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	static const char *const same[] = { "progress", "so_far" };
	const char *handle = pm__arg(args, "run");
	PmToolRun *r = pm__run_find(t, handle);
	cJSON *j, *m;

	(void)run;
	if (!r)
		return no_run(handle, is_error);
	pm__run_cancel(t, r);
	j = cJSON_CreateObject();
	cJSON_AddStringToObject(j, "run", handle);
	cJSON_AddStringToObject(j, "state",
				r->state == PM__CANCELLED ? "cancelled"
				: r->state == PM__DONE    ? "done"
							  : "failed");
	for (size_t i = 0; r->state == PM__CANCELLED && i < sizeof same / sizeof *same; i++)
		if ((m = copy_of(r->answer, same[i])) != NULL)
			cJSON_AddItemToObject(j, same[i], m);
	return j;
}

/* ---- compare ---- */

static void add_side(cJSON *to, const char *name, const char *handle, const cJSON *answer)
{
	static const char *const same[] = { "verdict", "level",   "of",    "variants", "matched",
					    "correct", "speedup", "score", "fast_1" };
	cJSON *j = cJSON_AddObjectToObject(to, name), *m;

	cJSON_AddStringToObject(j, "run", handle);
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		if ((m = copy_of(answer, same[i])) != NULL)
			cJSON_AddItemToObject(j, same[i], m);
}

static const cJSON *records_of(const cJSON *file)
{
	return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(file, "report"), "records");
}

static const cJSON *record_of(const cJSON *records, const char *variant)
{
	const cJSON *rec;

	cJSON_ArrayForEach(rec, records)
	{
		if (!strcmp(pm_json_str(rec, "variant", ""), variant))
			return rec;
	}
	return NULL;
}

/* What became of each variant, where something did. */
static void add_variants(cJSON *to, const cJSON *a, const cJSON *b)
{
	cJSON *list = cJSON_AddArrayToObject(to, "variants");
	const cJSON *rec, *other;

	cJSON_ArrayForEach(rec, b)
	{
		const char *variant = pm_json_str(rec, "variant", "");
		double was, is = pm_json_num(rec, "speedup", 0);
		cJSON *j;

		other = record_of(a, variant);
		was = pm_json_num(other, "speedup", 0);
		if (!other || (!strcmp(pm_json_str(rec, "verdict", ""), pm_json_str(other, "verdict", "")) &&
			       !pm__best_change(was, pm__record_noise(other), is, pm__record_noise(rec))))
			continue;
		j = cJSON_CreateObject();
		cJSON_AddStringToObject(j, "variant", variant);
		cJSON_AddStringToObject(j, "verdict_before", pm_json_str(other, "verdict", ""));
		cJSON_AddStringToObject(j, "verdict", pm_json_str(rec, "verdict", ""));
		if (was > 0)
			cJSON_AddNumberToObject(j, "speedup_before", was);
		if (is > 0)
			cJSON_AddNumberToObject(j, "speedup", is);
		cJSON_AddItemToArray(list, j);
	}
}

static double value_of(const cJSON *answer)
{
	return pm_json_num(answer, "score", pm_json_num(answer, "speedup", 0));
}

static int has_score(const cJSON *answer)
{
	return cJSON_HasObjectItem(answer, "score");
}

/* `fa` and `fb`: the files of the runs. */
static cJSON *compared(const char *ha, const cJSON *fa, const char *hb, const cJSON *fb)
{
	const cJSON *a = cJSON_GetObjectItemCaseSensitive(fa, "answer"),
		    *b = cJSON_GetObjectItemCaseSensitive(fb, "answer");
	cJSON *j = cJSON_CreateObject();
	PmStr say = PM_STR_INIT;
	double x = value_of(a), y = value_of(b);

	add_side(j, "before", ha, a);
	add_side(j, "after", hb, b);
	add_variants(j, records_of(fa), records_of(fb));
	if (strcmp(pm_json_str(a, "of", ""), pm_json_str(b, "of", "")) || has_score(a) != has_score(b) ||
	    strcmp(pm_json_str(a, "level", ""), pm_json_str(b, "level", ""))) {
		pm_str_add(&say, "They are not of the same task, variant and level, so that their numbers "
				 "cannot be compared.");
	} else if (!strcmp(ha, hb)) {
		pm_str_addf(&say, "%s is compared with itself: name another run in with.", hb);
	} else if (x > 0 && y > 0) {
		cJSON_AddNumberToObject(j, "ratio", y / x);
		if (pm__best_change(x, pm__best_noise(records_of(fa)), y, pm__best_noise(records_of(fb))))
			pm_str_addf(&say, "%s is %.3g times %s.", hb, y / x, ha);
		else
			pm_str_addf(&say, "%s and %s are the same, within what another run may differ by.",
				    hb, ha);
	} else {
		pm_str_addf(&say, "%s.",
			    x <= 0 && y <= 0 ? "Neither is right and timed"
			    : x <= 0         ? "Only the second is right and timed"
					     : "Only the first is right and timed");
	}
	cJSON_AddStringToObject(j, "summary", say.s);
	pm_str_release(&say);
	return j;
}

cJSON *pm__tool_compare(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	const char *hb = pm__arg(args, "run"), *ha = pm__arg(args, "with");
	cJSON *b = pm__run_read(t, hb), *a = NULL, *j = NULL;
	const cJSON *answer_a, *answer_b = cJSON_GetObjectItemCaseSensitive(b, "answer");

	(void)run;
	if (!b)
		return no_run(hb, is_error);
	if (!ha && !*(ha = pm__best_run(t, answer_b)))
		j = pm__error(is_error,
			      "Nothing right and timed is stored of %.200s to compare %s with; name "
			      "another run in with.",
			      pm_json_str(b, "of", "it"), hb);
	a = j ? NULL : pm__run_read(t, ha);
	answer_a = cJSON_GetObjectItemCaseSensitive(a, "answer");
	if (!j && !a)
		j = no_run(ha, is_error);
	if (!j && (!cJSON_GetObjectItemCaseSensitive(answer_a, "level") ||
		   !cJSON_GetObjectItemCaseSensitive(answer_b, "level")))
		j = pm__error(is_error, "Only evaluations that are done can be compared, and %s is none.",
			      cJSON_GetObjectItemCaseSensitive(answer_a, "level") ? hb : ha);
	if (!j)
		j = compared(ha, a, hb, b);
	cJSON_Delete(a);
	cJSON_Delete(b);
	return j;
}
