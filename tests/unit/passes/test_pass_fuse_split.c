/* SPDX-License-Identifier: Apache-2.0 */
/* test_pass_fuse_split.c - automatic fusion of few long rows or columns: several launches, parts in memory,
 * and what threads keep of a row.
 */
#include "ir/core/kernel.h"
#include "ir/text/text.h"
#include "matcher/host/pass_host.h"
#include "runtime/exec/exec.h"
#include "tests/lib/need.h"
#include "tests/lib/passes/pass_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PASS "fuse"

static const char norm[] = "g ($T[1,$a,$b] x, $T[$a] s, $T[$a] b) => ($T[1,$a,$b] y) { "
			   "n = InstanceNormalization(x, s, b) y = Relu(n) }";
static const char columns[] =
	"g ($T[$b,$a] x, $T[$b,$a] w) => ($T[$a] y) { z = Mul(x, w) "
	"n = Softmax<axis = 0>(z) m = Mul(n, w) y = ReduceMax<axes = [0], keepdims = 0>(m) }";

static int launches(const char *tmpl, PassDims row)
{
	PmGraph *g = pass_fused(PASS, tmpl, "float16", row);
	PmPlanStats stats;
	PmErr err;

	pm_err_init(&err);
	if (pm_graph_plan_stats(g, NULL, 0, NULL, &stats, &err))
		fail_msg("%s", err.text);
	pm_graph_free(g);
	return (int)stats.n_launches;
}

/* One for each reduction, mean and variance or maximum and sum together, and one for the results; none more
 * where a block for each row will do. */
static void only_few_and_long_rows_are_split(void **state)
{
	(void)state;
	assert_int_equal(launches(norm, (PassDims){ { 1, 1 << 20 } }), 2);
	assert_int_equal(launches(norm, (PassDims){ { 7, 300000 } }), 2);
	assert_int_equal(launches(norm, (PassDims){ { 300, 4096 } }), 1);
	assert_int_equal(launches(norm, (PassDims){ { 1, 4096 } }), 1);
	assert_int_equal(launches(columns, (PassDims){ { 32, 2499 } }), 3);
	assert_int_equal(launches(columns, (PassDims){ { 4096, 2499 } }), 1);
}

static void norms_of_long_rows(void **state)
{
	static const PassDims rows[] = { { { 1, 400000 } }, { { 1, 100003 } } };
	static const PassDims held[] = { { { 264, 16388 } } };

	(void)state;
	pass_fuses(PASS, norm, 1, rows, PASS_COUNT(rows));
	pass_fuses_float(PASS, norm, 1, held, PASS_COUNT(held));
}

/* 16 threads share a row where 32 would leave more of them idle. */
static void rows_of_half_warps(void **state)
{
	static const PassDims rows[] = { { { 8449, 264 } } };

	(void)state;
	pass_fuses_float(PASS,
			 "g ($T[$a,$b] x) => ($T[$a] y) { s = Sigmoid(x) m = Mul(x, s) "
			 "y = ReduceMean<axes = [1], keepdims = 0>(m) }",
			 1, rows, PASS_COUNT(rows));
}

/* A result for each row beside those along it; reductions of reductions. */
static void several_reductions_and_results(void **state)
{
	static const PassDims rows[] = { { { 2, 100000 } }, { { 1, 100003 } } };

	(void)state;
	pass_fuses_float(
		PASS,
		"g ($T[$a,$b] x, $T[$b] s, $T[$b] b, $T[$a,$b] r) => ($T[$a,$b] y, $T[$a,$b] h, $T[$a] m) { "
		"h = Add(x, r) n = LayerNormalization<axis = 1>(h, s, b) y = Softmax<axis = 1>(n) "
		"m = ReduceMax<axes = [1], keepdims = 0>(y) }",
		1, rows, PASS_COUNT(rows));
}

/* Slices of a softmax that have no maximum, and slices that have no elements, where the mean is far from 0.
 */
static void slices_of_nothing(void **state)
{
	static const PassDims rows[] = { { { 1, 50000, 110000 } }, { { 2, 40000, 100000 } } };
	static const PassDims odd[] = { { { 1, 140009 } } };

	(void)state;
	pass_fuses_float(PASS,
			 "g ($T[$a,$b] x) => ($T[$a,$c] y) <$T low = {-inf}> { n = Neg(x) "
			 "p = Pad<pads = [0, 60000, 0, 0]>(n, low) y = Softmax<axis = 1>(p) }",
			 1, rows, PASS_COUNT(rows));
	pass_fuses_float(PASS,
			 "g ($T[1,$a,$b] x, $T[$a] s, $T[$a] b) => ($T[1,$a,$b] y) <$T far = {100}> { "
			 "h = Add(x, far) y = InstanceNormalization(h, s, b) }",
			 1, odd, PASS_COUNT(odd));
}

static void long_columns(void **state)
{
	static const PassDims rows[] = { { { 33, 2499 } }, { { 2, 1024 } } };

	(void)state;
	pass_fuses(PASS, columns, 1, rows, PASS_COUNT(rows));
}

/* From 8 MB on a thread has a vector of columns: all that one block has of them, or in slices; a last turn
 * that is not whole, what is the same for a column or for all of them, results along columns. */
static void columns_by_vectors(void **state)
{
	static const PassDims few[] = { { { 1031, 4104 } } }, many[] = { { { 3, 87, 4104 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[$a,$b] x, $T[$a,1] w, $T[$b] s) => ($T[$b] y) { p = Mul(x, w) q = Add(p, s) "
		   "y = ReduceMean<axes = [0], keepdims = 0>(q) }",
		   1, few, PASS_COUNT(few));
	pass_fuses_float(PASS,
			 "g ($T[$a,$b,$c] x, $T[$c] s) => ($T[$a,$b,$c] y, $T[$a,$c] m) { p = Add(x, s) "
			 "y = Softmax<axis = 1>(p) m = ReduceMax<axes = [1], keepdims = 0>(p) }",
			 1, many, PASS_COUNT(many));
}

static void everything_is_one_row(void **state)
{
	static const PassDims rows[] = { { { 30, 5000 } }, { { 1, 100 } } };

	(void)state;
	pass_fuses_float(PASS,
			 "g ($T[$a,$b] x, $T[$b] w) => ($T[$a,$b] y, $T m) { p = Mul(x, w) "
			 "m = ReduceMean<axes = [0, 1], keepdims = 0>(p) y = Sub(p, m) }",
			 1, rows, PASS_COUNT(rows));
}

/* Words that a thread keeps from loop to loop: "long long c4[24];" and the like in a kernel's text. */
static int words_kept(const char *source)
{
	static const struct {
		const char *type;
		int words;
	} types[] = { { "\nfloat c", 1 }, { "\nlong long c", 2 }, { "\ndouble c", 2 } };
	int sum = 0;

	for (const char *at = source; (at = strchr(at, '\n')); at++)
		for (size_t i = 0; i < PASS_COUNT(types); i++) {
			size_t len = strlen(types[i].type);
			int n, end = 0, lanes = 1;

			if (strncmp(at, types[i].type, len) || sscanf(at + len, "%*d[%d]%n", &n, &end) != 1)
				continue;
			sscanf(at + len + end, "[%d]", &lanes);
			sum += n * lanes * types[i].words;
		}
	return sum;
}

/* Indices that two later loops ask for are two words each: more threads share a row, or each loop loads them
 * again. Rows that share what they read were given 32 threads and 120 words each. */
static void what_is_kept_fits(void **state)
{
	enum { MOST = 96 };
	PmGraph *g = pass_fused(
		PASS,
		"g ($T[1,$a,64,64] x, int64[2,32] i, $T[$b] s, $T[$b] b) => ($T[1,1024,$b] y) "
		"<int64[3] to = {1, $b, -1}> { "
		"p = Gather<axis = 2>(x, i) q = Gather<axis = 4>(p, i) "
		"t = Transpose<perm = [0, 1, 2, 4, 3, 5]>(q) r = Reshape(t, to) "
		"u = Transpose<perm = [0, 2, 1]>(r) y = LayerNormalization<axis = 2>(u, s, b) }",
		"float", (PassDims){ { 192, 768 } });
	PmArena *arena = pm_arena_new(0);
	PmKernelDesc d;
	PmErr err;
	int most = 0;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_graph_n_nodes(g), 1);
	if (pm_kernel_decode(g, pm_graph_node_at(g, 0), arena, &d, &err))
		fail_msg("%s", err.text);
	for (int i = 0; i < d.n_alts; i++) {
		int n = words_kept(d.alts[i].source);

		most = n > most ? n : most;
	}
	assert_in_range(most, 1, MOST);
	pm_arena_free(arena);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_few_and_long_rows_are_split),
		cmocka_unit_test(norms_of_long_rows),
		cmocka_unit_test(rows_of_half_warps),
		cmocka_unit_test(several_reductions_and_results),
		cmocka_unit_test(slices_of_nothing),
		cmocka_unit_test(long_columns),
		cmocka_unit_test(columns_by_vectors),
		cmocka_unit_test(everything_is_one_row),
		cmocka_unit_test(what_is_kept_fits),
	};

	pm_test_need_device("emu");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
