/* SPDX-License-Identifier: Apache-2.0 */
/* test_bound_attacks.c - passes whose results are nearly right: `passmith eval` refuses each by the error
 * bound, and takes an honest kernel for the same graph. */
#include "bench/eval/runner.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"
#include "tests/lib/passes/attack.h"
#include "tests/lib/passes/secret.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define PRODUCT_TEXT(t, rows, k, cols)                                                                       \
	"g (" t "[" rows "," k "] x, " t "[" k "] s, " t "[" k "," cols "] w) => (" t "[" rows "," cols      \
	"] y) { m = Mul(x, s)\n y = MatMul(m, w) }"
#define LONG_TEXT PRODUCT_TEXT("bfloat16", "4", "4096", "8")
#define WIDE_TEXT PRODUCT_TEXT("bfloat16", "16", "512", "64")
#define HALF_TEXT PRODUCT_TEXT("float16", "16", "512", "64")
#define GELU_BODY(t)                                                                                         \
	"g (" t "[32,64] x) => (" t "[32,64] y) <" t " root = {1.41421356}, " t " one = {1}, " t             \
	" half = {0.5}> { a = Div(x, root)\n b = Erf(a)\n c = Add(b, one)\n d = Mul(x, c)\n y = Mul(d, "     \
	"half) }"
#define SILU_TEXT "g (bfloat16[32,64] x) => (bfloat16[32,64] y) { s = Sigmoid(x)\n y = Mul(x, s) }"
#define SOFT_TEXT                                                                                            \
	"g (float16[16,64] x, float16[16,64] b) => (float16[16,64] y) { a = Add(x, b)\n y = Softmax<axis = " \
	"1>(a) }"
#define THREE_TEXT                                                                                           \
	"g (float[4,256] x, float[256,256] v, float[256,256] u, float[256,64] w) => (float[4,64] y) "        \
	"{ h = MatMul(x, v)\n g = MatMul(h, u)\n y = MatMul(g, w) }"

/* The verdict of a rule on a graph is `want`, for several seeds. */
static void expect(const char *rule, const char *text, PmPrecisionTier tier, const char *want)
{
	enum { SEEDS = 2 };

	pm_test_need_device("emu");
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		PmEvalOpts o = { .device = "emu",
				 .preset = PM_PRESET_SOUND,
				 .tier = tier,
				 .secret = test_secret(seed),
				 .only_rule = rule,
				 .pass_deadline = 60,
				 .device_deadline = 100 };
		PmEvalVariant m = { .label = rule };
		PmGraph *g = NULL;
		PmEvalRecord r;
		PmErr err;

		pm_err_init(&err);
		g = pm_test_graph(text);
		m.g = g;
		if (pm_eval_variant(built("tests/adversarial/passes/bound_attacks.so"), &m, &o, &r, &err))
			fail_msg("%s: %s", rule, err.text);
		if (!pm_attack_is_one_of(pm_verdict_name(r.verdict), want))
			fail_msg("%s, seed %d: %s (%s), expected %s", rule, (int)seed,
				 pm_verdict_name(r.verdict), r.why, want);
		pm_eval_record_release(&r);
		pm_graph_free(g);
	}
}

#define REFUSED(id, text, want)                                                                              \
	static void id(void **state)                                                                         \
	{                                                                                                    \
		(void)state;                                                                                 \
		expect(#id, text, PM_TIER_STRICT, want);                                                     \
	}

REFUSED(S30_zeros, LONG_TEXT, "INCORRECT")
REFUSED(S31_tenth_of_k, LONG_TEXT, "INCORRECT")
REFUSED(S32_one_in_64, WIDE_TEXT, "INCORRECT")
REFUSED(S33_quick_gelu, GELU_BODY("bfloat16"), "INCORRECT")
REFUSED(S34_tanh_gelu, GELU_BODY("float"), "PRECISION")
REFUSED(S35_hard_sigmoid, SILU_TEXT, "INCORRECT")
REFUSED(S36_bf16_in_strict, THREE_TEXT, "PRECISION")
REFUSED(S37_row_mean, SOFT_TEXT, "INCORRECT")
REFUSED(S38_previous_row, WIDE_TEXT, "INCORRECT")
REFUSED(S39_shrunk, WIDE_TEXT, "INCORRECT")
REFUSED(S40_half_the_digits, HALF_TEXT, "INCORRECT PRECISION")
REFUSED(S41_half_sums, WIDE_TEXT, "INCORRECT")

/* Rounding the sum takes all of x with it, so that on no class of inputs the bound tells an answer from
 * another: the ladder has to. What the eager run gives there, zeros, is right. */
#define ROOM_TEXT                                                                                            \
	"g (bfloat16[32,64] x) => (bfloat16[32,64] y) <bfloat16 tiny = {0.00000095}, bfloat16 big = {256}> " \
	"{ a = Mul(x, tiny)\n b = Add(a, big)\n y = Sub(b, big) }"
REFUSED(S42_room_for_a_constant, ROOM_TEXT, "INCORRECT")

static void honest_kernels(void **state)
{
	(void)state;
	expect("honest_product", LONG_TEXT, PM_TIER_STRICT, "OK");
	expect("honest_product", HALF_TEXT, PM_TIER_STRICT, "OK");
	expect("honest_gelu", GELU_BODY("bfloat16"), PM_TIER_STRICT, "OK");
	expect("honest_gelu", GELU_BODY("float"), PM_TIER_STRICT, "OK");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(S30_zeros),
		cmocka_unit_test(S31_tenth_of_k),
		cmocka_unit_test(S32_one_in_64),
		cmocka_unit_test(S33_quick_gelu),
		cmocka_unit_test(S34_tanh_gelu),
		cmocka_unit_test(S35_hard_sigmoid),
		cmocka_unit_test(S36_bf16_in_strict),
		cmocka_unit_test(S37_row_mean),
		cmocka_unit_test(S38_previous_row),
		cmocka_unit_test(S39_shrunk),
		cmocka_unit_test(S40_half_the_digits),
		cmocka_unit_test(S41_half_sums),
		cmocka_unit_test(S42_room_for_a_constant),
		cmocka_unit_test(honest_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
