/* SPDX-License-Identifier: Apache-2.0 */
/* test_report.c - the figures of an experiment against their definitions: every subset of samples is drawn.
 */
#include "app/agent/agent.h"
#include "base/core/rng.h"
#include "base/sys/io.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TASKS = 3, MOST = 6, TURNS = 4, TRIALS = 25 };

/* What happened to one sample: an evaluation after each turn, or none. */
typedef struct Sample {
	int compiled[TURNS], right[TURNS], evaluated[TURNS];
	double score[TURNS], speedup[TURNS];
} Sample;

static PmStr dir;

static int prepare(void **state)
{
	PmStr path = PM_STR_INIT;

	(void)state;
	pm_str_init(&dir);
	assert_int_equal(pm_temp_dir("report", &dir, NULL), PM_OK);
	pm_path_join(dir.s, "samples", &path);
	assert_int_equal(pm_mkdirs(path.s, NULL), PM_OK);
	pm_str_release(&path);
	return 0;
}

static int clean(void **state)
{
	(void)state;
	pm_remove_tree(dir.s, NULL);
	pm_str_release(&dir);
	return 0;
}

static void put_file(const char *name, const char *text)
{
	PmStr path = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	pm_path_join(dir.s, name, &path);
	if (pm_write_file(path.s, text, strlen(text), &err))
		fail_msg("%s", err.text);
	pm_str_release(&path);
}

static void put_experiment(int samples)
{
	PmStr s = PM_STR_INIT;

	pm_str_addf(&s,
		    "{\"model\": \"m\", \"device\": \"emu\", \"mode\": \"sample\", \"feedback\": \"E\", "
		    "\"samples\": %d, "
		    "\"iterations\": %d, \"tasks\": [",
		    samples, TURNS);
	for (int t = 0; t < TASKS; t++)
		pm_str_addf(&s, "%s{\"hash\": \"%016d\", \"name\": \"task %d\"}", t ? ", " : "", t, t);
	pm_str_add(&s, "]}");
	put_file("experiment.json", s.s);
	pm_str_release(&s);
}

static void put_sample(int task, int number, const Sample *x)
{
	PmStr s = PM_STR_INIT;
	char name[64];

	for (int i = 0; i < TURNS; i++) {
		pm_str_addf(&s, "{\"e\":\"ask\"}\n{\"e\":\"reply\",\"tokens_in\":10,\"tokens_out\":3,"
				"\"money\":0.5,\"seconds\":2}\n");
		if (x->evaluated[i])
			pm_str_addf(&s,
				    "{\"e\":\"tool\",\"whole\":true,\"iteration\":%d,\"seconds\":1,"
				    "\"answer\":{\"verdict\":\"%s\","
				    "\"score\":%.17g,\"speedup\":%.17g}}\n",
				    i + 1,
				    !x->compiled[i] ? "COMPILE_FAIL"
				    : x->right[i]   ? "OK"
						    : "INCORRECT",
				    x->score[i], x->speedup[i]);
	}
	pm_str_add(&s, "{\"e\":\"end\",\"outcome\":\"iterations\"}\n");
	snprintf(name, sizeof name, "samples/%016d-%d.jsonl", task, number);
	put_file(name, s.s);
	pm_str_release(&s);
}

static void draw(PmRng *rng, Sample *x)
{
	for (int i = 0; i < TURNS; i++) {
		x->evaluated[i] = pm_rng_uniform(rng) < 0.7;
		x->compiled[i] = pm_rng_uniform(rng) < 0.6;
		x->right[i] = x->compiled[i] && pm_rng_uniform(rng) < 0.6;
		x->score[i] = 0.1 + 2 * pm_rng_uniform(rng);
		x->speedup[i] = 0.25 + 2.5 * pm_rng_uniform(rng);
	}
}

/* The definition: the share of subsets of k samples of which one at least is good. */
static double by_subsets(const int *good, int n, int k)
{
	int subsets = 0, hits = 0;

	for (int set = 0; set < 1 << n; set++) {
		int size = 0, any = 0;

		for (int i = 0; i < n; i++)
			if (set >> i & 1) {
				size++;
				any |= good[i];
			}
		subsets += size == k;
		hits += size == k && any;
	}
	return (double)hits / subsets;
}

static int compiles(const Sample *x)
{
	int any = 0;

	for (int i = 0; i < TURNS; i++)
		any |= x->evaluated[i] && x->compiled[i];
	return any;
}

static int is_fast(const Sample *x, double p)
{
	int any = 0;

	for (int i = 0; i < TURNS; i++)
		any |= x->evaluated[i] && x->right[i] && x->speedup[i] > p;
	return any;
}

static double best_by(const Sample *x, int turns)
{
	double best = 0.1;

	for (int i = 0; i < turns; i++)
		if (x->evaluated[i])
			best = fmax(best, x->score[i]);
	return best;
}

static void near(double got, double want)
{
	if (!(fabs(got - want) < 1e-12))
		fail_msg("%.17g instead of %.17g", got, want);
}

/* Means over tasks of what the subsets say. p < 0: compiles. */
static double mean_of(const Sample x[TASKS][MOST], int n, int k, double p)
{
	double sum = 0;

	for (int t = 0; t < TASKS; t++) {
		int good[MOST];

		for (int i = 0; i < n; i++)
			good[i] = p < 0 ? compiles(&x[t][i]) : is_fast(&x[t][i], p);
		sum += by_subsets(good, n, k);
	}
	return sum / TASKS;
}

static void check(const cJSON *j, const Sample x[TASKS][MOST], int n)
{
	const cJSON *one, *f;
	double sum;
	int seen = 0;

	cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(j, "at_k"))
	{
		int k = (int)pm_json_i64(one, "k", 0);

		seen = k;
		near(pm_json_num(one, "pass", NAN), mean_of(x, n, k, 0));
		near(pm_json_num(one, "compile", NAN), mean_of(x, n, k, -1));
		cJSON_ArrayForEach(f, cJSON_GetObjectItemCaseSensitive(one, "fast"))
			near(pm_json_num(f, "value", NAN), mean_of(x, n, k, pm_json_num(f, "p", NAN)));
	}
	assert_int_equal(seen, n);
	for (int i = 1; i <= TURNS; i++) {
		sum = 0;
		for (int t = 0; t < TASKS; t++)
			for (int s = 0; s < n; s++)
				sum += log(best_by(&x[t][s], i));
		one = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(j, "as_at_iteration"), i - 1);
		near(pm_json_num(one, "AS", NAN), exp(sum / (TASKS * n)));
	}
	assert_int_equal(pm_json_i64(j, "tokens_in", 0), 10 * TASKS * n * TURNS);
	near(pm_json_num(j, "usd", NAN), 0.5 * TASKS * n * TURNS);
}

static void figures_are_what_every_subset_says(void **state)
{
	PmRng rng;

	(void)state;
	pm_rng_init(&rng, 11);
	for (int trial = 0; trial < TRIALS; trial++) {
		static Sample x[TASKS][MOST];
		int n = 1 + trial % MOST;
		cJSON *j = NULL;
		PmErr err;

		pm_err_init(&err);
		put_experiment(n);
		for (int t = 0; t < TASKS; t++)
			for (int s = 0; s < n; s++) {
				draw(&rng, &x[t][s]);
				put_sample(t, s, &x[t][s]);
			}
		if (pm_agent_report(dir.s, &j, &err))
			fail_msg("%s", err.text);
		check(j, (const Sample(*)[MOST])x, n);
		cJSON_Delete(j);
	}
}

/* A report of what an undisturbed run never writes. */
static void broken_files_are_said(void **state)
{
	static const struct {
		const char *name, *text, *says;
	} bad[] = {
		{ "samples/0000000000000000-0.jsonl", "{\"e\":\"ask\"}\nno json\n", "line 2" },
		{ "samples/0000000000000000-0.jsonl", "[]\n", "line 1" },
		{ "experiment.json", "{}", "was changed" },
		{ "experiment.json", "{\"samples\": 1e300, \"iterations\": 1, \"tasks\": [{}]}",
		  "was changed" },
		{ "experiment.json", "no json", "no experiment" },
	};

	clean(state);
	prepare(state);
	put_experiment(1);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		cJSON *j = NULL;
		PmErr err;

		pm_err_init(&err);
		put_file(bad[i].name, bad[i].text);
		assert_int_not_equal(pm_agent_report(dir.s, &j, &err), PM_OK);
		if (!strstr(err.text, bad[i].says))
			fail_msg("'%s' does not say '%s'", err.text, bad[i].says);
	}
	/* A line that a kill cut off is none. */
	put_experiment(1);
	put_file("samples/0000000000000000-0.jsonl", "{\"e\":\"ask\"}\n{\"e\":\"re");
	{
		cJSON *j = NULL;

		assert_int_equal(pm_agent_report(dir.s, &j, NULL), PM_OK);
		assert_int_equal(pm_json_i64(j, "samples_open", 0), TASKS);
		cJSON_Delete(j);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_what_every_subset_says),
		cmocka_unit_test(broken_files_are_said),
	};

	return cmocka_run_group_tests(tests, prepare, clean);
}
