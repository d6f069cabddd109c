/* SPDX-License-Identifier: Apache-2.0 */
/* best.c - the best evaluation so far of each thing that was evaluated in a workspace, and whether another
 * one differs from it: .runs/best.json. */
#include "app/tools/tools_priv.h"

#include "base/sys/io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what is compared ---- */

static const char *kind_of(const cJSON *answer)
{
	return pm_json_get(answer, "score") ? "score" : "speedup";
}

/* The score where there is one, else the speed of what is right; 0 = there is nothing to compare. */
static double value_of(const cJSON *answer)
{
	if (pm_json_get(answer, "score"))
		return pm_json_num(answer, "score", 0);
	return strcmp(pm_json_str(answer, "verdict", ""), "OK") ? 0 : pm_json_num(answer, "speedup", 0);
}

/* Level, what it is of (a task or graph, and the variant where there is one), and which number: those of one
 * variant are no numbers of a task. */
static void key_of(const cJSON *answer, PmStr *out)
{
	pm_str_addf(out, "%s %s: %s", pm_json_str(answer, "level", "quick"), kind_of(answer),
		    pm_json_str(answer, "of", ""));
}

double pm__record_noise(const cJSON *rec)
{
	const cJSON *clock = pm_json_get(rec, "clock");
	double lo = pm_json_num(clock, "speedup_lo", 0), hi = pm_json_num(clock, "speedup_hi", 0);

	return lo > 0 && hi > lo ? log(hi / lo) / 2 : 0;
}

/* Errors of a mean of logarithms that do not depend on each other: their squares add. */
double pm__best_noise(const cJSON *records)
{
	const cJSON *rec;
	double squares = 0;
	int n = 0;

	cJSON_ArrayForEach(rec, records)
	{
		squares += pow(pm__record_noise(rec), 2);
		n++;
	}
	return n ? sqrt(squares) / n : 0;
}

/* As it is shown. */
static double shown(double x)
{
	char text[32];
	double y = x;

	snprintf(text, sizeof text, "%.3g", x);
	sscanf(text, "%lf", &y);
	return y;
}

/* Equal as they are shown, or by less than what rounding to three digits takes away. */
static int is_shown_equal(double a, double b)
{
	double digit = pow(10, floor(log10(fmin(a, b))) - 2);

	return shown(a) == shown(b) || fabs(a - b) < digit / 2;
}

int pm__best_change(double before, double noise_before, double value, double noise)
{
	double both = hypot(noise_before, noise);

	if (!(before > 0) || !(value > 0))
		return value > 0 ? 1 : before > 0 ? -1 : 0;
	if (is_shown_equal(before, value) || fabs(log(value / before)) <= both)
		return 0;
	return value > before ? 1 : -1;
}

/* ---- the file ---- */

static void put_file(const PmTools *t)
{
	PmStr text = PM_STR_INIT, path = PM_STR_INIT;

	pm_path_join(t->workspace, ".runs/best.json", &path);
	pm_json_print(t->best, 1, &text);
	pm_write_file(path.s, text.s, text.len, NULL); /* a full disk costs the file, not the answer */
	pm_str_release(&text);
	pm_str_release(&path);
}

static void put(PmTools *t, const char *key, cJSON *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(t->best, key);
	cJSON_AddItemToObject(t->best, key, value);
	put_file(t);
}

static void keep(PmTools *t, const char *key, const char *run, double value, double noise)
{
	cJSON *b = cJSON_CreateObject();

	cJSON_AddStringToObject(b, "run", run);
	cJSON_AddNumberToObject(b, "value", value);
	cJSON_AddNumberToObject(b, "noise", noise);
	put(t, key, b);
}

void pm__best_compare(PmTools *t, const PmToolRun *r, const cJSON *records, cJSON *answer)
{
	static const char *const words[] = { "worse", "same", "better" };
	double value = value_of(answer), noise = pm__best_noise(records), before, noise_before;
	PmStr key = PM_STR_INIT;
	const cJSON *best;
	int change;

	key_of(answer, &key);
	best = pm_json_get(t->best, key.s);
	before = pm_json_num(best, "value", 0);
	noise_before = pm_json_num(best, "noise", 0);
	change = pm__best_change(before, noise_before, value, noise);
	if (before > 0) {
		cJSON *c = cJSON_AddObjectToObject(answer, "best_so_far");

		cJSON_AddStringToObject(c, "run", pm_json_str(best, "run", ""));
		cJSON_AddStringToObject(c, "number", kind_of(answer));
		cJSON_AddNumberToObject(c, "value", shown(before));
		if (value > 0)
			cJSON_AddNumberToObject(c, "ratio", shown(value / before));
		/* What is handed in is as a rule the best: that it is no better is no failure. */
		if (!r->submits || change) {
			cJSON_AddStringToObject(c, "this_is", words[change + 1]);
			cJSON_AddBoolToObject(c, "this_is_better", change > 0);
		}
	}
	if (value > 0 && change > 0)
		keep(t, key.s, r->handle, value, noise);
	pm_str_release(&key);
}

const char *pm__best_run(const PmTools *t, const cJSON *answer)
{
	PmStr key = PM_STR_INIT;
	const char *run;

	key_of(answer, &key);
	run = pm_json_str(pm_json_get(t->best, key.s), "run", "");
	pm_str_release(&key);
	return run;
}

/* ---- how long ---- */

static void key_of_seconds(const PmToolRun *r, PmStr *out)
{
	pm_str_addf(out, "seconds: %s", r->key.s);
}

void pm__best_put_seconds(PmTools *t, const PmToolRun *r, double seconds)
{
	PmStr key = PM_STR_INIT;
	cJSON *b = cJSON_CreateObject();

	key_of_seconds(r, &key);
	cJSON_AddStringToObject(b, "run", r->handle);
	cJSON_AddNumberToObject(b, "seconds", seconds);
	put(t, key.s, b);
	pm_str_release(&key);
}

double pm__best_seconds(const PmTools *t, const PmToolRun *r)
{
	PmStr key = PM_STR_INIT;
	double seconds;

	key_of_seconds(r, &key);
	seconds = pm_json_num(pm_json_get(t->best, key.s), "seconds", 0);
	pm_str_release(&key);
	return seconds;
}
