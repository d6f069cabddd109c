/* SPDX-License-Identifier: Apache-2.0 */
/* eval_answer.c - what a report of `passmith eval` says to an author: verdict, whose fault, what is wrong,
 * what it gains, and what changed since the best so far. */
#include "app/tools/tools_priv.h"

#include "matcher/host/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- whose fault ---- */

static const char *blame_of(const char *verdict)
{
	PmVerdict v = pm_verdict_from_name(verdict);

	if (v == PM_VERDICT_OK)
		return "none";
	if (v == PM_VERDICT_HARNESS_FAIL || v == PM_N_VERDICTS)
		return "harness";
	/* Its sizes are too large for the deadline, or its times too short to rank. */
	if (v == PM_VERDICT_NOT_CHECKED || v == PM_VERDICT_TIMING_UNSTABLE)
		return "task";
	return "pass";
}

/* ---- what to do ---- */

/* Where time was short the reason names the deadline: the seconds, else 0 (the inputs did not tell, or it is
 * something else). */
static double too_short(const char *verdict, const char *why)
{
	const char *at = strstr(why, "deadline of ");
	double seconds = 0;

	if (strcmp(verdict, "NOT_CHECKED") != 0 || !at || sscanf(at, "deadline of %lf", &seconds) != 1)
		return 0;
	return seconds;
}

static void add_next(const PmToolRun *r, const char *verdict, const char *why, int number, cJSON *j)
{
	PmVerdict v = pm_verdict_from_name(verdict);
	PmStr next = PM_STR_INIT;

	if (v == PM_VERDICT_OK && !r->whole)
		pm_str_add(&next, "It is right on this one variant. level full looks at the others (other "
				  "shapes, float16, bfloat16), and takes longer.");
	else if (v == PM_VERDICT_OK && r->submits)
		pm_str_add(&next, "It is stored. leaderboard shows its place; score_terms says what would "
				  "raise the score.");
	else if (v == PM_VERDICT_OK && r->task)
		pm_str_add(&next, "submit stores it: it is judged anew then, with other inputs and hidden "
				  "shapes. score_terms says what would raise the score.");
	else if (v != PM_N_VERDICTS)
		pm_str_addf(&next, "%s.", pm_verdict_advice(v));
	if (too_short(verdict, why) > 0 && number >= 0)
		pm_str_addf(&next,
			    " evaluate with level full and variant %d does the first; with deadline more "
			    "than %g the second.",
			    number, too_short(verdict, why));
	cJSON_AddStringToObject(j, "next", next.s);
	pm_str_release(&next);
}

static void add_verdict(const PmToolRun *r, const cJSON *report, const PmEvalSum *s, cJSON *j)
{
	const cJSON *hidden = pm_json_get(report, "hidden");
	const char *of_hidden = pm_json_str(hidden, "verdict", "OK");
	const char *verdict = s->wrong ? pm_json_str(s->wrong, "verdict", "") : of_hidden;
	const char *why = s->wrong ? pm_json_str(s->wrong, "why", "") : pm_json_str(hidden, "why", "");
	cJSON *failure = pm__failure(r, s->wrong ? s->wrong : hidden);

	cJSON_AddStringToObject(j, "stage", s->wrong ? pm_json_str(s->wrong, "stage", "") : "speed");
	cJSON_AddStringToObject(j, "verdict", verdict);
	cJSON_AddStringToObject(j, "blame", blame_of(verdict));
	cJSON_AddStringToObject(j, "why", why);
	if (strcmp(verdict, "OK") && pm_verdict_from_name(verdict) != PM_N_VERDICTS)
		cJSON_AddStringToObject(j, "meaning", pm_verdict_meaning(pm_verdict_from_name(verdict)));
	add_next(r, verdict, why, s->wrong ? pm__eval_number(r, s->wrong, s->wrong_at) : -1, j);
	if (s->wrong)
		cJSON_AddStringToObject(j, "failing_variant",
					r->label.len ? r->label.s : pm_json_str(s->wrong, "variant", ""));
	else if (strcmp(verdict, "OK"))
		cJSON_AddStringToObject(j, "failing_variant", "a hidden shape");
	if (failure)
		cJSON_AddItemToObject(j, "failure", failure);
	if (r->whole && s->wrong &&
	    pm_json_get(s->wrong, "explained")) /* a quick one is explained by its rules */
		pm__json_copy(j, s->wrong, "explained");
}

/* ---- what was not looked at ---- */

/* "inputs wide, alternative 0": the class, and 1 when the first answer looked at none of that class. */
static int is_class(const char *what, const cJSON *looked_at, char name[32])
{
	static const char before[] = "inputs ";
	const cJSON *seen;
	size_t n;

	if (strncmp(what, before, sizeof before - 1) != 0)
		return 0;
	what += sizeof before - 1;
	n = strcspn(what, ",");
	if (n >= 32 || memchr(what, ' ', n))
		return 0;
	memcpy(name, what, n);
	name[n] = '\0';
	cJSON_ArrayForEach(seen, looked_at)
	{
		if (!strcmp(seen->valuestring, name))
			return 0;
	}
	return 1;
}

static int has_text(const cJSON *list, const char *text)
{
	const cJSON *m;

	cJSON_ArrayForEach(m, list)
	{
		if (!strcmp(m->valuestring, text))
			return 1;
	}
	return 0;
}

/* Classes of inputs in a list of their own, the rest as it is. */
static void add_not_checked(const cJSON *rec, cJSON *j)
{
	const cJSON *u = pm_json_get(rec, "not_checked"), *what,
		    *looked_at = pm_json_get(pm_json_get(rec, "first_answer"), "inputs");
	cJSON *classes, *rest;
	char name[32];

	if (!looked_at) {
		pm__json_copy(j, rec, "not_checked");
		return;
	}
	classes = cJSON_CreateArray();
	rest = cJSON_CreateArray();
	cJSON_ArrayForEach(what, pm_json_get(u, "what"))
	{
		if (!is_class(what->valuestring, looked_at, name))
			cJSON_AddItemToArray(rest, cJSON_Duplicate(what, 1));
		else if (!has_text(classes, name))
			cJSON_AddItemToArray(classes, cJSON_CreateString(name));
	}
	cJSON_AddItemToObject(j, "classes_not_looked_at", classes);
	if (u) {
		cJSON *n = cJSON_AddObjectToObject(j, "not_checked");

		pm__json_copy(n, u, "n");
		cJSON_AddItemToObject(n, "what", rest);
	} else {
		cJSON_Delete(rest);
	}
}

/* ---- the answer ---- */

static void add_ratio(cJSON *j, const char *name, double x)
{
	if (isfinite(x) && x > 0)
		cJSON_AddNumberToObject(j, name, x);
}

static void add_numbers(const PmTools *t, const PmToolRun *r, const cJSON *report, const PmEvalSum *s,
			cJSON *j)
{
	const cJSON *first = pm_json_get(report, "records")->child;

	cJSON_AddNumberToObject(j, "variants", s->n);
	cJSON_AddNumberToObject(j, "matched", pm_json_num(report, "matched", 0));
	cJSON_AddNumberToObject(j, "correct", pm_json_num(report, "correct", 0));
	if (s->n == 1) {
		cJSON_AddNumberToObject(j, "rewrites", pm_json_num(first, "applied", 0));
		cJSON_AddNumberToObject(j, "kernels", pm_json_num(first, "kernels", 0));
		add_ratio(j, "share_of_time_replaced", pm_json_num(first, "coverage", 0));
		add_not_checked(first, j);
	}
	if (s->n_speed)
		cJSON_AddNumberToObject(j, "speedup", exp(s->log_speed / s->n_speed));
	if (cJSON_IsNumber(pm_json_get(report, "AS")))
		cJSON_AddNumberToObject(j, "score", pm_json_num(report, "AS", 0));
	if (cJSON_IsNumber(pm_json_get(report, "fast_1")))
		pm__json_copy(j, report, "fast_1");
	pm__json_copy(j, report, "score_terms");
	if (s->n > 1)
		cJSON_AddItemToObject(j, "verdicts", pm__eval_verdicts(pm_json_get(report, "records")));
	if (s->slowest && s->n > 1)
		cJSON_AddItemToObject(j, "slowest_variant", pm__eval_slowest(t, r, s));
	if (cJSON_IsArray(pm_json_get(report, "printed")))
		pm__json_copy(j, report, "printed");
}

cJSON *pm__eval_answer(PmTools *t, PmToolRun *r, const cJSON *report)
{
	const cJSON *records = pm_json_get(report, "records");
	cJSON *j = cJSON_CreateObject();
	PmStr looked_at = PM_STR_INIT;
	PmEvalSum s;

	pm__eval_sum(records, &s);
	add_verdict(r, report, &s, j);
	cJSON_AddStringToObject(j, "level", r->whole ? "full" : "quick");
	cJSON_AddStringToObject(j, "of", r->key.s);
	pm__say_looked_at(r, &looked_at);
	if (looked_at.len)
		cJSON_AddStringToObject(j, "looked_at", looked_at.s);
	pm_str_release(&looked_at);
	cJSON_AddStringToObject(j, "device", t->device);
	if (s.n)
		add_numbers(t, r, report, &s, j);
	pm__eval_limits(t, r, records, j);
	cJSON_AddItemToObject(j, "records", pm__eval_records(t, r, records, pm_json_str(j, "why", "")));
	if (s.n > 1) {
		char uri[64];

		snprintf(uri, sizeof uri, "passmith://run/%s", r->handle);
		cJSON_AddStringToObject(j, "all_records", uri);
	}
	pm__best_compare(t, r, records, j);
	return j;
}
