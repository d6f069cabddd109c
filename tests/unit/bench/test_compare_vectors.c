/* SPDX-License-Identifier: Apache-2.0 */
/* test_compare_vectors.c - tolerances, comparisons, broadcasting and timing figures against stored results.
 */
#include "bench/compare/allclose.h"
#include "bench/compare/stats.h"
#include "bench/score/score.h"

#include "base/core/arena.h"
#include "tests/lib/graphs/vectors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ELEMS = 64 };

static const cJSON *member(const cJSON *j, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(j, key);
}

static int dtype_of(const cJSON *j, const char *key)
{
	static const char *const names[] = { "float32", "float16", "bfloat16", "float64", "int64" };
	static const int types[] = { PM_F32, PM_F16, PM_BF16, PM_F64, PM_I64 };
	const char *name = pm_json_str(j, key, "?");

	for (int i = 0; i < 5; i++) {
		if (strcmp(name, names[i]) == 0)
			return types[i];
	}
	fail_msg("unknown element type %s", name);
	return -1;
}

static void check_tolerance(VectorSet set, int want_rows)
{
	cJSON *file = vectors_load(set, "tolerance.json");
	const cJSON *row;
	int n = 0;

	cJSON_ArrayForEach(row, member(file, "rows"))
	{
		int dtype = dtype_of(row, "dtype"), t = (int)pm_json_i64(row, "t", 99);
		PmTol tol, raw;
		char key[80];

		assert_true(pm_tol(dtype, t, &tol) && pm_tol_raw(dtype, t, &raw));
		assert_true(tol.atol == pm_json_num(row, "atol", 0) &&
			    tol.rtol == pm_json_num(row, "rtol", 0));
		if (member(row, "atol_hex")) {
			assert_true(tol.atol == strtod(pm_json_str(row, "atol_hex", ""), NULL));
			assert_true(tol.rtol == strtod(pm_json_str(row, "rtol_hex", ""), NULL));
			assert_true(vectors_close(pm_json_num(row, "atol_raw", 0), raw.atol));
			assert_true(vectors_close(pm_json_num(row, "rtol_raw", 0), raw.rtol));
			snprintf(key, sizeof key, "[all_close_atol_%.2E_rtol_%.2E]", raw.atol, raw.rtol);
			assert_string_equal(key, pm_json_str(row, "key", ""));
		}
		n++;
	}
	cJSON_Delete(file);
	assert_int_equal(n, want_rows);
}

/* Reads hexadecimal bit patterns (most significant digit first) into elements of this machine. */
static int64_t read_bits(const cJSON *list, int dtype, uint64_t *store)
{
	size_t size = pm_dtype_size(dtype);
	char *to = (char *)store;
	const cJSON *v;
	int64_t n = 0;

	cJSON_ArrayForEach(v, list)
	{
		uint64_t u = strtoull(v->valuestring, NULL, 16);
		uint32_t u32 = (uint32_t)u;
		uint16_t u16 = (uint16_t)u;

		assert_true(n < MAX_ELEMS);
		memcpy(to + size * (size_t)n++,
		       size == 8   ? (void *)&u
		       : size == 4 ? (void *)&u32
				   : (void *)&u16,
		       size);
	}
	return n;
}

typedef struct Pair {
	uint64_t e[MAX_ELEMS], c[MAX_ELEMS];
	int64_t n;
	PmTensorView expected, got;
} Pair;

static void check_column(const cJSON *j, const Pair *p, const char *column, PmCloseRule rule,
			 size_t *verdicts)
{
	int tol_type = dtype_of(j, "tolerance_dtype"), t = PM_T_MIN;
	PmComparison cmp;
	const cJSON *v;

	pm_compare(&p->expected, &p->got, &rule, &cmp);

	cJSON_ArrayForEach(v, member(j, column))
	{
		PmTol tol;

		assert_true(pm_tol(tol_type, t, &tol));
		if (pm_tensors_close(&p->expected, &p->got, &tol, &rule) != v->valueint)
			fail_msg("pair %d (%s, %s) at t=%d: %s is not %d", (int)pm_json_i64(j, "id", -1),
				 pm_json_str(j, "dtype", ""), pm_json_str(j, "kind", ""), t, column,
				 v->valueint);
		/* the one-pass report takes a short cut over the levels */
		if (tol_type == p->expected.dtype)
			assert_int_equal(cmp.close[t - PM_T_MIN], v->valueint);
		t++;
		++*verdicts;
	}
	assert_true(t == PM_T_MIN || t == PM_T_MAX + 1);
}

static void check_pair(const cJSON *j, size_t *verdicts)
{
	static const struct {
		const char *column;
		PmCloseRule rule;
	} columns[] = {
		{ "rtol_on_compiled", { PM_ARITH_CUDA, 1, 1, 0 } },
		{ "rtol_on_expected", { PM_ARITH_CUDA, 0, 1, 0 } },
		{ "rtol_on_compiled_torch113_cpu", { PM_ARITH_TORCH113_CPU, 1, 1, 0 } },
		{ "rtol_on_expected_torch113_cpu", { PM_ARITH_TORCH113_CPU, 0, 1, 0 } },
		{ "rtol_on_compiled_exact", { PM_ARITH_EXACT, 1, 1, 0 } },
		{ "rtol_on_expected_exact", { PM_ARITH_EXACT, 0, 1, 0 } },
	};
	PmCloseRule passnet = pm_close_rule(PM_PRESET_PASSNET);
	PmComparison cmp;
	const cJSON *v;
	Pair p;
	int k = 0;

	memset(&p, 0, sizeof p);
	p.n = read_bits(member(j, "expected_bits"), dtype_of(j, "dtype"), p.e);
	assert_int_equal(p.n, read_bits(member(j, "compiled_bits"), dtype_of(j, "dtype"), p.c));
	p.expected = (PmTensorView){ dtype_of(j, "dtype"), 1, &p.n, p.e };
	p.got = (PmTensorView){ dtype_of(j, "dtype"), 1, &p.n, p.c };
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		check_column(j, &p, columns[i].column, columns[i].rule, verdicts);
	pm_compare(&p.expected, &p.got, &passnet, &cmp);
	assert_true(cmp.comparable);
	assert_int_equal(cmp.equal, pm_json_i64(j, "equal", -1));
	assert_int_equal(pm_tensors_equal(&p.expected, &p.got, &passnet), cmp.equal);
	cJSON_ArrayForEach(v, member(j, "score_passnet"))
	{
		assert_int_equal(cmp.close[k++], v->valueint);
		++*verdicts;
	}
}

static void check_allclose(VectorSet set, int want_pairs)
{
	cJSON *file = vectors_load(set, "allclose.json");
	const cJSON *j;
	size_t verdicts = 0;
	int n = 0;

	cJSON_ArrayForEach(j, member(file, "pairs"))
	{
		check_pair(j, &verdicts);
		n++;
	}
	cJSON_Delete(file);
	print_message("# allclose.json: %d pairs, %zu verdicts\n", n, verdicts);
	assert_int_equal(n, want_pairs);
}

static PmTensorView ones(const cJSON *shape, int64_t *dim, const float *data)
{
	PmTensorView v = { PM_F32, 0, dim, data };
	const cJSON *d;

	cJSON_ArrayForEach(d, shape) dim[v.rank++] = d->valueint;
	return v;
}

static void check_shapes(VectorSet set, int want_rows)
{
	cJSON *file = vectors_load(set, "shape_rules.json");
	PmCloseRule rule = pm_close_rule(PM_PRESET_PASSNET), sound = pm_close_rule(PM_PRESET_SOUND);
	float data[MAX_ELEMS];
	PmTol tol;
	const cJSON *row;
	int n = 0;

	for (int i = 0; i < MAX_ELEMS; i++)
		data[i] = 1;
	pm_tol(PM_F32, -5, &tol);
	cJSON_ArrayForEach(row, member(file, "rows"))
	{
		int64_t de[PM_MAX_RANK], dg[PM_MAX_RANK];
		PmTensorView e = ones(member(row, "expected_shape"), de, data);
		PmTensorView g = ones(member(row, "compiled_shape"), dg, data);
		int close = pm_tensors_close(&e, &g, &tol, &rule), equal = pm_tensors_equal(&e, &g, &rule);
		const cJSON *want = member(row, "allclose");
		PmComparison cmp;
		PmLogFlags log = { 1, 1, 0, 1, 0, 0, 0 };

		assert_int_equal(equal, pm_json_i64(row, "equal", -1));
		assert_int_equal(close, cJSON_IsNumber(want) ? want->valueint : -1);
		pm_compare(&e, &g, &rule, &cmp);
		assert_int_equal(cmp.comparable, close >= 0);
		/* what the reference's runner prints then: nothing more, or an error for an empty maximum */
		log.all_close = close >= 0;
		log.error_text = close < 0 || cmp.numel == 0;
		assert_string_equal(pm_status_from_log(&log), pm_json_str(row, "status_torch_harness", ""));
		pm_compare(&e, &g, &sound, &cmp);
		assert_int_equal(cmp.comparable, equal);
		n++;
	}
	cJSON_Delete(file);
	assert_int_equal(n, want_rows);
}

static void same(const cJSON *j, const char *key, double got)
{
	const cJSON *want = member(j, key);

	if (want && !vectors_close(vectors_num(want), got))
		fail_msg("%s is %.17g, not %.17g", key, got, vectors_num(want));
}

static void check_stats_row(const cJSON *row)
{
	const cJSON *times = member(row, "times_ms"), *raw = member(row, "unrounded"), *v;
	const cJSON *want = member(row, "stats");
	double *x = pm_xcalloc((size_t)cJSON_GetArraySize(times) + 1, sizeof *x);
	PmStats s, r;
	size_t n = 0;

	cJSON_ArrayForEach(v, times) x[n++] = v->valuedouble;
	pm_stats(x, n, &s);
	free(x);
	same(raw, "median", s.median);
	same(raw, "q1", s.q1);
	same(raw, "q3", s.q3);
	assert_int_equal(pm_stats_unstable(&s, PM_UNSTABLE_IQR), member(row, "raises") != NULL);
	pm_stats_round6(&s, &r);
	same(want, "median", r.median);
	same(want, "iqr", r.iqr);
	same(want, "mean", r.mean);
	same(want, "std", r.std);
	same(want, "min", r.min);
	same(want, "max", r.max);
}

static void check_timing(VectorSet set, int want_stats, int want_speedups)
{
	cJSON *file = vectors_load(set, "timing.json");
	const cJSON *row;
	int n_stats = 0, n_speed = 0;

	cJSON_ArrayForEach(row, member(file, "stats"))
	{
		check_stats_row(row);
		n_stats++;
	}
	cJSON_ArrayForEach(row, member(file, "speedup"))
	{
		double got = pm_speedup_printed(pm_json_num(row, "eager_median", NAN),
						pm_json_num(row, "compiled_median", NAN));

		assert_true(got == pm_json_num(row, "score_speedup", NAN));
		assert_true(got == strtod(pm_json_str(row, "printed", "nan"), NULL));
		n_speed++;
	}
	cJSON_Delete(file);
	assert_int_equal(n_stats, want_stats);
	assert_int_equal(n_speed, want_speedups);
}

static void own_tolerance(void **state)
{
	(void)state;
	check_tolerance(VECTORS_OWN, 64);
}

static void own_allclose(void **state)
{
	(void)state;
	check_allclose(VECTORS_OWN, 90);
}

static void own_shapes(void **state)
{
	(void)state;
	check_shapes(VECTORS_OWN, 10);
}

static void own_timing(void **state)
{
	(void)state;
	check_timing(VECTORS_OWN, 8, 8);
}

static void shared_tolerance(void **state)
{
	(void)state;
	check_tolerance(VECTORS_SHARED, 64);
}

static void shared_allclose(void **state)
{
	(void)state;
	check_allclose(VECTORS_SHARED, 392);
}

static void shared_shapes(void **state)
{
	(void)state;
	check_shapes(VECTORS_SHARED, 18);
}

static void shared_timing(void **state)
{
	(void)state;
	check_timing(VECTORS_SHARED, 28, 41);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_tolerance),    cmocka_unit_test(own_allclose),
		cmocka_unit_test(own_shapes),       cmocka_unit_test(own_timing),
		cmocka_unit_test(shared_tolerance), cmocka_unit_test(shared_allclose),
		cmocka_unit_test(shared_shapes),    cmocka_unit_test(shared_timing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
