/* SPDX-License-Identifier: Apache-2.0 */
/* eval_answer.c - what a report of `passmith eval` says to an author: verdict, whose fault, what is wrong,
 * what it gains, and what changed since the best so far. */
#include "app/tools/tools_priv.h"

#include "matcher/host/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const cJSON *member(const cJSON *o, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(o, name);
}

static void copy(cJSON *to, const cJSON *from, const char *name)
{
	const cJSON *m = member(from, name);

	if (m)
		cJSON_AddItemToObject(to, name, cJSON_Duplicate(m, 1));
}

static int is_right(const cJSON *rec)
{
	return !strcmp(pm_json_str(rec, "verdict", ""), "OK");
}

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

/* The worst of a list first: what an author has to mend. */
static int weight(const char *verdict)
{
	static const char *const light[] = { "OK", "NOT_CHECKED", "NO_CREDIT", "NO_MATCH", "HARNESS_FAIL" };

	for (int i = 0; i < (int)(sizeof light / sizeof *light); i++)
		if (!strcmp(light[i], verdict))
			return i;
	return (int)(sizeof light / sizeof *light);
}

/* ---- what to do ---- */

static const char *advice(const char *verdict)
{
	static const struct {
		const char *verdict, *text;
	} rows[] = {
		{ "OK", "It is right on all variants and on hidden shapes. submit stores it; score_terms "
			"says what would "
			"raise the score." },
		{ "REJECT_ELF",
		  "A function is called that does not exist, or one of the C library: build's warnings name "
		  "the line. show_api finds the SDK's names." },
		{ "REJECT_API",
		  "show_api with PmKernelSpec has the fields of a kernel; arguments are inputs, outputs, "
		  "scratch, then .arg." },
		{ "REJECT_LINT", "check lists every problem of the rules." },
		{ "NO_MATCH",
		  "rules says where each pattern ended; mend the pattern, or check, and evaluate again." },
		{ "NO_CREDIT",
		  "The rewrite replaces nothing that counts: fuse more operators into the kernel." },
		{ "COMPILE_FAIL",
		  "Mend the kernel's source; build shows its errors with lines of your file." },
		{ "INCORRECT",
		  "Compare the kernel's formula with the graph's (show_graph); failure has the first wrong "
		  "element. A factor that is the same everywhere is a wrong formula, a wrong tail a wrong "
		  "bound. Where threads share memory, a missing __syncthreads() looks like this too." },
		{ "PRECISION", "Sum in float, and round to the output's type once, at the end." },
		{ "UNWRITTEN",
		  "Every element of every output must be written: check the bounds and the grid." },
		{ "OOB", "Check the index against the number of elements before each access." },
		{ "NONDET",
		  "Put __syncthreads() between a write to shared memory and the read of it by another "
		  "thread, and initialise what is read." },
		{ "DEVICE_TIMEOUT",
		  "A loop of the kernel does not end: look at its condition and its step." },
		{ "PASS_TIMEOUT", "A loop in check or rewrite does not end." },
		{ "PASS_CRASH",
		  "check or rewrite followed a pointer that is none: look at indices of m->v." },
		{ "LAUNCH_FAIL", "Grid and block must be positive, a block has 1024 threads at most." },
		{ "REJECT_MATCH",
		  "The kernel node must have the type of what it replaces, and take all that it "
		  "depends on." },
		{ "INPUT_MUTATED", "A kernel may write its outputs only." },
		{ "HARNESS_FAIL", "This is no fault of the pass: evaluate again." },
		{ "NOT_CHECKED",
		  "There was no time to check all, or the inputs did not tell: evaluate another variant." },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].verdict, verdict))
			return rows[i].text;
	return "show_api with the verdict's name says what it means.";
}

/* ---- one variant ---- */

static void add_ratio(cJSON *j, const char *name, double x)
{
	if (isfinite(x) && x > 0)
		cJSON_AddNumberToObject(j, name, x);
}

/* What moving inputs and outputs once would take, over what it takes; where both are of one model of the
 * clock. */
static void add_roofline(const PmTools *t, const PmToolRun *r, const cJSON *rec, int number, cJSON *j)
{
	double best = strcmp(pm_json_str(rec, "time", ""), "modelled") ? 0 : pm__roofline(t, r, number),
	       is = pm_json_num(rec, "candidate_seconds", 0);

	if (best > 0 && is > 0)
		cJSON_AddNumberToObject(j, "roofline", best / is);
}

static void add_interval(const cJSON *rec, cJSON *j)
{
	const cJSON *clock = member(rec, "clock");
	cJSON *list;

	if (!cJSON_IsNumber(member(clock, "speedup_lo")) || !cJSON_IsNumber(member(clock, "speedup_hi")))
		return;
	list = cJSON_AddArrayToObject(j, "speedup_interval");
	cJSON_AddItemToArray(list, cJSON_CreateNumber(pm_json_num(clock, "speedup_lo", 0)));
	cJSON_AddItemToArray(list, cJSON_CreateNumber(pm_json_num(clock, "speedup_hi", 0)));
}

static void add_speed(cJSON *j, const cJSON *rec)
{
	static const char *const same[] = { "baseline_launches", "candidate_launches", "baseline_bytes",
					    "candidate_bytes",   "baseline_seconds",   "candidate_seconds" };

	if (pm_json_num(rec, "speedup", 0) <= 0)
		return;
	copy(j, rec, "speedup");
	add_interval(rec, j);
	copy(j, rec, "time");
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		copy(j, rec, same[i]);
}

/* The first wrong element and the worst, and how far beyond what rounding explains the worst is. */
static cJSON *failure_of(const PmToolRun *r, const cJSON *rec)
{
	const cJSON *f = member(rec, "failure"), *bound = member(rec, "bound");
	cJSON *j;

	if (!f)
		return NULL;
	j = cJSON_Duplicate(f, 1);
	if (r->label.len)
		cJSON_ReplaceItemInObject(j, "variant", cJSON_CreateString(r->label.s));
	if (member(f, "output") && pm_json_num(bound, "max", 0) > 0) {
		cJSON_AddNumberToObject(j, "times_what_rounding_explains", pm_json_num(bound, "max", 0));
		cJSON_AddNumberToObject(j, "rms_times_what_rounding_explains", pm_json_num(bound, "rms", 0));
	}
	return j;
}

/* Its number among the variants: that of the one that was asked for, or its place. */
static int number_of(const PmToolRun *r, int i)
{
	return r->variant >= 0 ? (int)r->variant : i;
}

static cJSON *variant_of(const PmTools *t, const PmToolRun *r, const cJSON *rec, int i, const char *said)
{
	const char *verdict = pm_json_str(rec, "verdict", ""), *why = pm_json_str(rec, "why", "");
	cJSON *j = cJSON_CreateObject();

	cJSON_AddNumberToObject(j, "number", number_of(r, i));
	cJSON_AddStringToObject(j, "variant", r->label.len ? r->label.s : pm_json_str(rec, "variant", ""));
	cJSON_AddStringToObject(j, "verdict", verdict);
	if (*why && strcmp(why, said))
		cJSON_AddStringToObject(j, "why", why);
	if (*pm_json_str(rec, "near_miss", "") && r->whole)
		copy(j, rec, "near_miss");
	add_speed(j, rec);
	add_roofline(t, r, rec, number_of(r, i), j);
	return j;
}

/* How many variants end in each way, and which. */
static void add_verdicts(const PmToolRun *r, const cJSON *records, cJSON *j)
{
	cJSON *list = cJSON_AddArrayToObject(j, "verdicts");

	for (int v = 0; v < PM_N_VERDICTS; v++) {
		const char *name = pm_verdict_name((PmVerdict)v);
		cJSON *numbers = cJSON_CreateArray(), *one;
		const cJSON *rec;
		int i = 0;

		cJSON_ArrayForEach(rec, records)
		{
			if (!strcmp(pm_json_str(rec, "verdict", ""), name))
				cJSON_AddItemToArray(numbers, cJSON_CreateNumber(number_of(r, i)));
			i++;
		}
		if (!numbers->child) {
			cJSON_Delete(numbers);
			continue;
		}
		one = cJSON_CreateObject();
		cJSON_AddStringToObject(one, "verdict", name);
		cJSON_AddNumberToObject(one, "variants", cJSON_GetArraySize(numbers));
		cJSON_AddItemToObject(one, "numbers", numbers);
		cJSON_AddItemToArray(list, one);
	}
}

/* ---- all of them ---- */

typedef struct Sum {
	const cJSON *wrong, *slowest;
	int n, right;
	double log_speed;
	int n_speed;
} Sum;

static void sum_up(const cJSON *records, Sum *s)
{
	const cJSON *rec;

	cJSON_ArrayForEach(rec, records)
	{
		double x = pm_json_num(rec, "speedup", 0);
		int w = weight(pm_json_str(rec, "verdict", ""));

		s->n++;
		s->right += is_right(rec);
		if (w && (!s->wrong || w > weight(pm_json_str(s->wrong, "verdict", ""))))
			s->wrong = rec;
		if (x > 0) {
			s->log_speed += log(x);
			s->n_speed++;
			if (!s->slowest || x < pm_json_num(s->slowest, "speedup", 0))
				s->slowest = rec;
		}
	}
}

static void add_verdict(const PmToolRun *r, const cJSON *report, const Sum *s, cJSON *j)
{
	const cJSON *hidden = member(report, "hidden");
	const char *of_hidden = pm_json_str(hidden, "verdict", "OK");
	const char *verdict = s->wrong ? pm_json_str(s->wrong, "verdict", "") : of_hidden;
	const char *why = s->wrong ? pm_json_str(s->wrong, "why", "") : pm_json_str(hidden, "why", "");
	cJSON *failure = failure_of(r, s->wrong ? s->wrong : hidden);

	cJSON_AddStringToObject(j, "stage", s->wrong ? pm_json_str(s->wrong, "stage", "") : "speed");
	cJSON_AddStringToObject(j, "verdict", verdict);
	cJSON_AddStringToObject(j, "blame", blame_of(verdict));
	cJSON_AddStringToObject(j, "why", why);
	if (strcmp(verdict, "OK") && pm_verdict_from_name(verdict) != PM_N_VERDICTS)
		cJSON_AddStringToObject(j, "meaning", pm_verdict_meaning(pm_verdict_from_name(verdict)));
	cJSON_AddStringToObject(
		j, "next",
		!strcmp(verdict, "OK") && !r->whole
			? "It is right on this one variant. level full looks at the others (other "
			  "shapes, float16, bfloat16), and takes longer."
			: advice(verdict));
	if (s->wrong)
		cJSON_AddStringToObject(j, "failing_variant",
					r->label.len ? r->label.s : pm_json_str(s->wrong, "variant", ""));
	else if (strcmp(verdict, "OK"))
		cJSON_AddStringToObject(j, "failing_variant", "a hidden shape");
	if (failure)
		cJSON_AddItemToObject(j, "failure", failure);
	if (r->whole && s->wrong && member(s->wrong, "explained")) /* a quick one is explained by its rules */
		copy(j, s->wrong, "explained");
}

/* ---- the best so far ---- */

/* What is compared: the score where there is one, else the speed of what is right. */
static double value_of(const cJSON *j)
{
	if (strcmp(pm_json_str(j, "verdict", ""), "OK") && !member(j, "score"))
		return 0;
	return pm_json_num(j, "score", pm_json_num(j, "speedup", 0));
}

static void keep_best(PmTools *t, const char *key, const char *run, double value)
{
	PmStr text = PM_STR_INIT, path = PM_STR_INIT;
	cJSON *b = cJSON_CreateObject();

	cJSON_AddStringToObject(b, "run", run);
	cJSON_AddNumberToObject(b, "value", value);
	cJSON_DeleteItemFromObjectCaseSensitive(t->best, key);
	cJSON_AddItemToObject(t->best, key, b);
	pm_path_join(t->workspace, ".runs/best.json", &path);
	pm_json_print(t->best, 1, &text);
	pm_write_file(path.s, text.s, text.len, NULL);
	pm_str_release(&text);
	pm_str_release(&path);
}

/* Quick and full answers are compared each with their own: the numbers are different ones. */
static void add_change(PmTools *t, PmToolRun *r, cJSON *j)
{
	PmStr key = PM_STR_INIT;
	const cJSON *best;
	double value = value_of(j), before;
	cJSON *c;

	pm_str_addf(&key, "%s: %s", r->whole ? "full" : "quick", r->key.s);
	best = member(t->best, key.s);
	before = pm_json_num(best, "value", 0);
	if (best && before > 0) {
		c = cJSON_AddObjectToObject(j, "best_so_far");
		copy(c, best, "run");
		cJSON_AddNumberToObject(c, "value", before);
		if (value > 0)
			cJSON_AddNumberToObject(c, "ratio", value / before);
		cJSON_AddBoolToObject(c, "this_is_better", value > before);
	}
	if (value > before)
		keep_best(t, key.s, r->handle, value);
	pm_str_release(&key);
}

/* ---- the answer ---- */

static void add_numbers(const PmToolRun *r, const cJSON *report, const Sum *s, cJSON *j)
{
	const cJSON *first = member(report, "records")->child;

	cJSON_AddNumberToObject(j, "variants", s->n);
	cJSON_AddNumberToObject(j, "matched", pm_json_num(report, "matched", 0));
	cJSON_AddNumberToObject(j, "correct", pm_json_num(report, "correct", 0));
	if (s->n == 1) {
		cJSON_AddNumberToObject(j, "rewrites", pm_json_num(first, "applied", 0));
		cJSON_AddNumberToObject(j, "kernels", pm_json_num(first, "kernels", 0));
		add_ratio(j, "share_of_time_replaced", pm_json_num(first, "coverage", 0));
		copy(j, first, "not_checked");
	}
	if (s->n_speed)
		cJSON_AddNumberToObject(j, "speedup", exp(s->log_speed / s->n_speed));
	if (cJSON_IsNumber(member(report, "AS")))
		cJSON_AddNumberToObject(j, "score", pm_json_num(report, "AS", 0));
	if (cJSON_IsNumber(member(report, "fast_1")))
		copy(j, report, "fast_1");
	copy(j, report, "score_terms");
	if (s->n > 1)
		add_verdicts(r, member(report, "records"), j);
	if (s->slowest && s->n > 1) {
		cJSON *w = cJSON_AddObjectToObject(j, "slowest_variant");

		cJSON_AddStringToObject(w, "variant", pm_json_str(s->slowest, "variant", ""));
		add_speed(w, s->slowest);
	}
	if (cJSON_IsArray(member(report, "printed")))
		copy(j, report, "printed");
}

cJSON *pm__eval_answer(PmTools *t, PmToolRun *r, const cJSON *report)
{
	cJSON *j = cJSON_CreateObject(), *list;
	const cJSON *records = member(report, "records"), *rec;
	Sum s = { 0 };
	int i = 0;

	sum_up(records, &s);
	add_verdict(r, report, &s, j);
	cJSON_AddStringToObject(j, "level", r->whole ? "full" : "quick");
	cJSON_AddStringToObject(j, "of", r->key.s);
	cJSON_AddStringToObject(j, "device", t->device);
	if (s.n)
		add_numbers(r, report, &s, j);
	list = cJSON_AddArrayToObject(j, "records");
	cJSON_ArrayForEach(rec, records)
	{
		cJSON_AddItemToArray(list, variant_of(t, r, rec, i, pm_json_str(j, "why", "")));
		i++;
	}
	add_change(t, r, j);
	return j;
}
