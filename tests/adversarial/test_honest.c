/* SPDX-License-Identifier: Apache-2.0 */
/* test_honest.c - honest kernels over random shapes and element types: at most one in 200 may be refused.
 *
 * Half of them are written as authors usually do (honest_kernels.c), half in unusual but legal ways
 * (unusual_kernels.c). Environment: PASSMITH_HONEST, how many (40, one of each rule; `make honest` asks for
 * 400), and PASSMITH_HONEST_SEED (1), which shapes and inputs come from. The first 40 are in float, the
 * others in all float types.
 */
#include "base/core/rng.h"
#include "bench/eval/runner.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"
#include "tests/lib/passes/secret.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* In a graph: # the element type, R C K sizes. Of each graph two rules, the usual and the unusual one. */
typedef struct Kind {
	const char *usual, *unusual, *graph;
} Kind;

#define SILU      "g (#[R,C] x) => (#[R,C] y) { s = Sigmoid(x)\n y = Mul(x, s) }"
#define TANH      "g (#[R,C] x) => (#[R,C] y) { y = Tanh(x) }"
#define SUM       "g (#[R,C] x) => (#[R] y) { y = ReduceSum<axes = [1], keepdims = 0>(x) }"
#define SOFTMAX   "g (#[R,C] x) => (#[R,C] y) { y = Softmax<axis = 1>(x) }"
#define NORM      "g (#[R,C] x, #[C] s, #[C] b) => (#[R,C] y) { y = LayerNormalization<axis = 1>(x, s, b) }"
#define PRODUCT   "g (#[R,K] a, #[K,C] b) => (#[R,C] y) { y = MatMul(a, b) }"
#define EW3(body) "g (#[R,C] x, #[R,C] a, #[R,C] b) => (#[R,C] y) { " body " }"

static const Kind kinds[] = {
	{ "silu", "silu_vectors", SILU },
	{ "product_tiled", "product_double_buffer", PRODUCT },
	{ "norm_one_pass", "norm_welford", NORM },
	{ "softmax_online", "softmax_merged", SOFTMAX },
	{ "sum_tree", "sum_half_warps", SUM },
	{ "gelu_erf", "gelu_erfc", "g (#[R,C] x) => (#[R,C] y) { y = Gelu(x) }" },
	{ "residual_relu", "residual_relu_pairs", EW3("m = Mul(x, a)\n t = Add(m, b)\n y = Relu(t)") },
	{ "tanh_by_exp", "tanh_by_expm1", TANH },
	{ "rms_norm", "rms_double",
	  "g (#[R,C] x, #[C] s) => (#[R,C] y) { y = RMSNormalization<axis = 1>(x, s) }" },
	{ "three_sum", "three_sum_double", EW3("t = Add(x, a)\n y = Add(t, b)") },
	{ "silu_exp2", "silu_no_overflow", SILU },
	{ "silu_fast", NULL, SILU },
	{ "tanh_library", NULL, TANH },
	{ "multiply_add", "multiply_add_shared", EW3("m = Mul(x, a)\n y = Add(m, b)") },
	{ "sum_serial", "sum_compensated", SUM },
	{ "mean_tree", "mean_last_block",
	  "g (#[R,C] x) => (#[R] y) { y = ReduceMean<axes = [1], keepdims = 0>(x) }" },
	{ "root_of_squares", "root_scaled",
	  "g (#[R,C] x) => (#[R] y) { y = ReduceL2<axes = [1], keepdims = 0>(x) }" },
	{ "softmax_serial", "softmax_launches", SOFTMAX },
	{ "norm_two_passes", "norm_dynamic", NORM },
	{ "product_plain", "product_split_k", PRODUCT },
	{ NULL, "product_warp", PRODUCT },
	{ NULL, "relu_transposed",
	  "g (#[R,C] x) => (#[C,R] y) { t = Transpose<perm = [1, 0]>(x)\n y = Relu(t) }" },
};

enum { SAMPLE = 40 }; /* as many as there are rules */

/* One, small, primes, beside powers of two, long. */
static int64_t draw_size(PmRng *r, int64_t most)
{
	static const int64_t sizes[] = { 1,  2,   3,   7,   16,  17,  31,   33,   64,
					 97, 127, 128, 129, 257, 511, 1000, 2048, 4093 };
	int64_t s;

	do
		s = sizes[pm_rng_range(r, 0, (int64_t)(sizeof sizes / sizeof *sizes) - 1)];
	while (s > most);
	return s;
}

static PmGraph *make(const Kind *k, const char *type, int64_t r, int64_t c, int64_t depth)
{
	PmStr text = PM_STR_INIT;
	PmGraph *g = NULL;

	for (const char *s = k->graph; *s; s++) {
		int64_t size = *s == 'R' ? r : *s == 'C' ? c : *s == 'K' ? depth : 0;

		if (*s == '#')
			pm_str_add(&text, type);
		else if (size && s > k->graph && strchr("[,", s[-1]))
			pm_str_addf(&text, "%lld", (long long)size);
		else
			pm_str_addc(&text, *s);
	}
	g = pm_test_graph(text.s);
	pm_str_release(&text);
	return g;
}

/* Rule number i: usual and unusual ones in turn. */
static const Kind *choose(int i, const char **rule)
{
	const Kind *k = kinds;

	for (int at = i / 2 % (SAMPLE / 2);; k++) {
		*rule = i % 2 ? k->unusual : k->usual;
		if (*rule && !at--)
			return k;
	}
}

/* 1 when the kernel is refused, and says why. */
static int is_refused(uint64_t seed, int i, PmRng *r)
{
	static const char *const types[] = { "float", "float16", "bfloat16" };
	const char *rule;
	const Kind *k = choose(i, &rule);
	const char *type = i < SAMPLE ? types[0] : types[pm_rng_range(r, 0, 2)];
	int is_product = strchr(k->graph, 'K') != NULL;
	int64_t rows = draw_size(r, is_product ? 64 : 33), depth = draw_size(r, 4093);
	int64_t cols = draw_size(r, is_product ? 64 : 4093);
	PmEvalOpts o = { .device = "emu",
			 .secret = test_secret(seed * 1000 + (uint64_t)i),
			 .preset = PM_PRESET_SOUND,
			 .only_rule = rule,
			 .check_only = 1 };
	PmEvalVariant m = { .label = rule, .g = make(k, type, rows, cols, depth) };
	PmEvalRecord rec;
	PmErr err;
	int refused;

	pm_err_init(&err);
	if (pm_eval_variant(built(i % 2 ? "tests/adversarial/passes/unusual_kernels.so"
					: "tests/adversarial/passes/honest_kernels.so"),
			    &m, &o, &rec, &err))
		fail_msg("%s: %s", rule, err.text);
	refused = rec.verdict != PM_VERDICT_OK;
	if (refused)
		printf("# refused: %s, %s, %lld x %lld (depth %lld): %s: %s\n", rule, type, (long long)rows,
		       (long long)cols, (long long)depth, pm_verdict_name(rec.verdict), rec.why);
	pm_eval_record_release(&rec);
	pm_graph_free(pm_unconst(m.g));
	return refused;
}

static void honest_kernels_are_not_refused(void **state)
{
	const char *want = getenv("PASSMITH_HONEST"), *from = getenv("PASSMITH_HONEST_SEED");
	uint64_t seed = from ? strtoull(from, NULL, 10) : 1;
	int n = want ? atoi(want) : SAMPLE, refused = 0;
	PmRng r;

	(void)state;
	pm_test_need_device("emu");
	pm_rng_init(&r, seed);
	for (int i = 0; i < n; i++)
		refused += is_refused(seed, i, &r);
	printf("# honest kernels, seed %llu: %d of %d refused\n", (unsigned long long)seed, refused, n);
	assert_true(n > 0 && refused * 200 <= n);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(honest_kernels_are_not_refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
