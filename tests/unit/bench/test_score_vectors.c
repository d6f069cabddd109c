/* SPDX-License-Identifier: Apache-2.0 */
/* test_score_vectors.c - the scorer against stored results of the published one. */
#include "bench/score/score.h"

#include "base/core/arena.h"
#include "tests/lib/graphs/vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Case {
	const char *id;
	size_t n;
	PmScoreRecord *rec;
	PmScoreOutput *out;
} Case;

static size_t n_compared;

/* Complex and float8 types, which we do not have, score by equality like every type without tolerance. */
static int dtype_of(const char *name)
{
	static const char *const names[] = { "float32", "float16", "bfloat16", "float64" };
	static const int types[] = { PM_F32, PM_F16, PM_BF16, PM_F64 };

	for (int i = 0; i < 4; i++) {
		if (strcmp(name, names[i]) == 0)
			return types[i];
	}
	return PM_I64;
}

static const cJSON *member(const cJSON *j, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(j, key);
}

static void read_output(const cJSON *j, PmScoreOutput *o)
{
	const cJSON *v;
	int k = 0;

	o->dtype = dtype_of(pm_json_str(j, "dtype", ""));
	o->equal = pm_json_num(j, "equal", 0) == 1;
	cJSON_ArrayForEach(v, member(j, "close"))
	{
		assert_true(k < PM_T_COUNT);
		o->close[k++] = cJSON_IsNumber(v) && v->valuedouble == 1;
	}
	assert_int_equal(k, PM_T_COUNT);
}

static void read_case(const cJSON *j, Case *c)
{
	const cJSON *records = member(j, "records"), *r, *o;
	size_t i = 0, k = 0, n_out = 0;

	cJSON_ArrayForEach(r, records) n_out += (size_t)cJSON_GetArraySize(member(r, "outputs"));
	c->id = pm_json_str(j, "id", "?");
	c->n = (size_t)cJSON_GetArraySize(records);
	c->rec = pm_xcalloc(c->n + 1, sizeof *c->rec);
	c->out = pm_xcalloc(n_out + 1, sizeof *c->out);
	cJSON_ArrayForEach(r, records)
	{
		PmScoreRecord *x = &c->rec[i++];

		x->status = pm_json_str(r, "status", "");
		x->speedup = vectors_num(member(r, "speedup_e2e"));
		x->outputs = &c->out[k];
		cJSON_ArrayForEach(o, member(r, "outputs")) read_output(o, &c->out[k++]);
		x->n_outputs = (size_t)(&c->out[k] - x->outputs);
	}
}

static void free_case(Case *c)
{
	free(c->rec);
	free(c->out);
}

static void same_number(const Case *c, const char *what, int t, const cJSON *want, double got)
{
	n_compared++;
	if (!vectors_close(vectors_num(want), got))
		fail_msg("%s: %s at t=%d is %.17g, not %.17g", c->id, what, t, got, vectors_num(want));
}

static void same_array(const Case *c, const cJSON *run, const char *key, const double *got, int n_t)
{
	const cJSON *want = member(run, key), *v;
	int k = 0;

	if (!want)
		return;
	assert_int_equal(cJSON_GetArraySize(want), n_t);
	cJSON_ArrayForEach(v, want)
	{
		same_number(c, key, PM_T_MIN + k, v, got[k]);
		k++;
	}
}

static void check_macro(const Case *c, const cJSON *run, const PmScoreRule *rule, PmScoreMacro *m)
{
	const cJSON *count = member(run, "correct_count"), *pi = member(run, "pi_frozen"), *v;
	PmStatus st = pm_score_macro(rule, c->rec, c->n, m, NULL);
	double shares = 0, listed = 0;
	int k = 0;

	if (member(run, "macro_raises")) {
		assert_int_equal(st, PM_E_INVALID);
		return;
	}
	assert_int_equal(st, PM_OK);
	same_array(c, run, "alpha", m->alpha, m->n_t);
	same_array(c, run, "beta", m->beta, m->n_t);
	same_array(c, run, "gamma", m->gamma, m->n_t);
	same_array(c, run, "lambda", m->lambda, m->n_t);
	same_array(c, run, "eta", m->eta, m->n_t);
	same_array(c, run, "expected_S", m->s, m->n_t);
	same_array(c, run, "expected_ES", m->es, m->n_t);
	cJSON_ArrayForEach(v, count) same_number(c, "correct_count", k - 10, v, (double)m->n_correct[k]), k++;
	cJSON_ArrayForEach(v, pi)
	{
		int e = atoi(v->string);

		assert_in_range(e, 1, PM_N_ERRNO - 1);
		same_number(c, "pi", 1, v, m->pi[e]);
		listed += v->valuedouble;
	}
	for (int e = 0; e < PM_N_ERRNO; e++)
		shares += m->pi[e];
	if (pi)
		assert_true(fabs(shares - listed) < 1e-9);
}

/* A logarithm near 0 magnifies the last digit of ES, so it is checked twice: as a function of the stored ES
 * values to relative 1e-12, and from the records with 10 to its power. */
static void check_log10(const Case *c, const cJSON *run, const PmScore *s)
{
	const cJSON *want = member(run, "graphnet_weighted_log10"), *v;
	double es[PM_T_COUNT] = { 0 }, log10_score = vectors_num(want);
	int k = 0;

	cJSON_ArrayForEach(v, member(run, "ES"))
	{
		assert_true(k < PM_T_COUNT);
		es[k++] = vectors_num(v);
	}
	same_number(c, "graphnet_weighted_log10", 0, want, pm_score_graphnet_log10(es));
	n_compared++;
	if (!vectors_close(pow(10, log10_score), pow(10, pm_score_graphnet_log10(s->es))))
		fail_msg("%s: 10^graphnet_weighted_log10 differs", c->id);
}

static void check_run(const Case *c, const cJSON *run, PmErrorMode mode, int graphnet)
{
	PmScoreRule rule = pm_score_rule(PM_PRESET_PASSNET);
	PmScoreMacro macro;
	PmScore s;
	PmStatus st;

	rule.mode = mode;
	rule.forgive_eager_fail = graphnet;
	rule.p = pm_json_num(run, "p", NAN);
	rule.b = pm_json_num(run, "b", NAN);
	st = pm_score(&rule, c->rec, c->n, &s, NULL);
	if (member(run, "alpha") || member(run, "macro_raises"))
		check_macro(c, run, &rule, &macro);
	if (!cJSON_IsArray(member(run, "ES"))) {
		assert_int_equal(st, PM_E_INVALID);
		assert_true(isnan(s.as) && isnan(s.es[0]));
		return;
	}
	assert_int_equal(st, PM_OK);
	same_array(c, run, "ES", s.es, s.n_t);
	same_array(c, run, "S", s.s, s.n_t);
	if (mode == PM_ERRORS_DEFAULT) {
		same_number(c, "AS", 0, member(run, "AS"), s.as);
		check_log10(c, run, &s);
	} else {
		assert_true(isnan(s.as));
	}
	assert_int_equal(pm_score_macro(&rule, c->rec, c->n, &macro, NULL), PM_OK);
	if (pm_score_agrees(&s, &macro) != cJSON_IsTrue(member(run, "micro_macro_match")))
		fail_msg("%s: micro_macro_match differs", c->id);
}

static void check_errno(const Case *c, const PmScoreRecord *r, const cJSON *want, PmErrorMode mode)
{
	PmScoreRule rule = pm_score_rule(PM_PRESET_PASSNET);

	rule.mode = mode;
	if (cJSON_IsNumber(want) && pm_score_errno(&rule, r->status) != want->valueint)
		fail_msg("%s: status \"%s\" has number %d", c->id, r->status,
			 pm_score_errno(&rule, r->status));
	if (cJSON_IsNull(want))
		assert_string_equal(r->status, "correct");
}

static void check_records(const Case *c, const cJSON *per_record)
{
	PmScoreRule rule = pm_score_rule(PM_PRESET_PASSNET);
	const cJSON *j, *v;
	size_t i = 0;

	assert_int_equal(cJSON_GetArraySize(per_record), (int)c->n);
	rule.p = 0.5;
	cJSON_ArrayForEach(j, per_record)
	{
		const PmScoreRecord *r = &c->rec[i++];
		const cJSON *single = member(j, "ES_single_default_p0.5_b0.1");
		PmScore s;
		int k = 0;

		cJSON_ArrayForEach(v, member(j, "correct"))
		{
			if (pm_score_correct_at(&rule, r, PM_T_MIN + k) != v->valueint)
				fail_msg("%s: record %zu, t=%d: correctness differs", c->id, i - 1, k - 10);
			k++;
		}
		check_errno(c, r, member(j, "errno_default"), PM_ERRORS_DEFAULT);
		check_errno(c, r, member(j, "errno_mismatch_extended"), PM_ERRORS_EXTENDED);
		if (pm_score(&rule, r, 1, &s, NULL) == PM_OK)
			same_array(c, j, "ES_single_default_p0.5_b0.1", s.es, s.n_t);
		else
			assert_true(cJSON_IsNull(single));
	}
}

static void check_file(VectorSet set, const char *name, int min_cases)
{
	cJSON *file = vectors_load(set, name);
	const cJSON *j, *run;
	int n = 0;

	n_compared = 0;
	cJSON_ArrayForEach(j, member(file, "cases"))
	{
		const cJSON *expected = member(j, "expected"), *passnet = member(expected, "passnet");
		Case c;

		read_case(j, &c);
		cJSON_ArrayForEach(run, member(passnet, "default")) check_run(&c, run, PM_ERRORS_DEFAULT, 0);
		cJSON_ArrayForEach(run, member(passnet, "mismatch_extended"))
			check_run(&c, run, PM_ERRORS_EXTENDED, 0);
		cJSON_ArrayForEach(run, member(member(expected, "graphnet"), "default"))
			check_run(&c, run, PM_ERRORS_DEFAULT, 1);
		check_records(&c, member(j, "per_record"));
		free_case(&c);
		n++;
	}
	cJSON_Delete(file);
	print_message("# %s: %d cases, %zu numbers\n", name, n, n_compared);
	assert_true(n >= min_cases);
}

static void own_scores(void **state)
{
	(void)state;
	check_file(VECTORS_OWN, "scores.json", 20);
}

static void shared_edges(void **state)
{
	(void)state;
	check_file(VECTORS_SHARED, "scoring_edges.json", 188);
}

static void shared_random(void **state)
{
	(void)state;
	check_file(VECTORS_SHARED, "scoring_random.json", 130);
}

static void shared_real_log(void **state)
{
	(void)state;
	check_file(VECTORS_SHARED, "scoring_real_log.json", 1);
}

static int flag(const cJSON *row, const char *key)
{
	return pm_json_num(row, key, -1) == 1;
}

static void shared_status_rules(void **state)
{
	cJSON *file = vectors_load(VECTORS_SHARED, "status_rules.json");
	const cJSON *row;
	int n = 0;

	(void)state;
	cJSON_ArrayForEach(row, member(file, "rows"))
	{
		PmLogFlags f = { flag(row, "datatype_eager"),    flag(row, "datatype_compiled"),
				 flag(row, "shape_match_true"),  flag(row, "datatype_match_true"),
				 flag(row, "all_close_line"),    flag(row, "error_text"),
				 flag(row, "no_passes_modified") };

		assert_string_equal(pm_status_from_log(&f), pm_json_str(row, "passnet", ""));
		f.no_passes_modified = 0;
		assert_string_equal(pm_status_from_log(&f), pm_json_str(row, "graphnet", ""));
		n++;
	}
	cJSON_Delete(file);
	assert_int_equal(n, 128);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_scores),          cmocka_unit_test(shared_edges),
		cmocka_unit_test(shared_random),       cmocka_unit_test(shared_real_log),
		cmocka_unit_test(shared_status_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
