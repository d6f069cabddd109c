/* SPDX-License-Identifier: Apache-2.0 */
/* test_sums.c - parts of a body left out end as INCORRECT, and the same kernels done honestly as OK. */
#include "bench/eval/runner.h"
#include "bench/report/report.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"
#include "tests/lib/passes/attack.h"
#include "tests/lib/passes/secret.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SUMS "tests/adversarial/passes/sum_attacks.so"

#define PRODUCT_TEXT                                                                                         \
	"g (bfloat16[24,256] x, bfloat16[256] s, bfloat16[256,48] w) => (bfloat16[24,48] y) "                \
	"{ m = Mul(x, s)\n y = MatMul(m, w) }"
#define ATTENTION_TEXT                                                                                       \
	"g (bfloat16[32,16] q, bfloat16[16,1000] k, bfloat16[1000,32] v) => (bfloat16[32,32] y) "            \
	"<bfloat16 scale = {0.25}> { d = MatMul(q, k)\n s = Mul(d, scale)\n p = Softmax<axis = 1>(s)\n "     \
	"y = MatMul(p, v) }"
#define GELU_TEXT                                                                                            \
	"g (float[32,40] x) => (float[32,40] y) <float half = {0.5}, float root = {0.70710678}, "            \
	"float one = {1}> { h = Mul(x, half)\n z = Mul(x, root)\n e = Erf(z)\n f = Add(e, one)\n "           \
	"y = Mul(h, f) }"

static void expect(const char *rule, const char *text, const char *want)
{
	PmEvalOpts o = { .device = "emu",
			 .preset = PM_PRESET_SOUND,
			 .secret = test_secret(7),
			 .only_rule = rule,
			 .pass_deadline = 60,
			 .device_deadline = 100 };
	PmEvalVariant m = { .label = rule, .g = NULL };
	PmEvalRecord r;
	PmGraph *g = NULL;
	PmErr err;

	pm_test_need_device("emu");
	pm_err_init(&err);
	g = pm_test_graph(text);
	m.g = g;
	if (pm_eval_variant(built(SUMS), &m, &o, &r, &err))
		fail_msg("%s: %s", rule, err.text);
	if (!pm_attack_is_one_of(pm_verdict_name(r.verdict), want))
		fail_msg("%s: %s (%s), expected %s", rule, pm_verdict_name(r.verdict), r.why, want);
	pm_eval_record_release(&r);
	pm_graph_free(g);
}

/* With what lies between the operators kept in float, and rounded as the eager run rounds it. */
static void honest_products(void **state)
{
	(void)state;
	expect("honest_product", PRODUCT_TEXT, "OK");
	expect("honest_rounded", PRODUCT_TEXT, "OK");
}

static void honest_attention_and_gelu(void **state)
{
	(void)state;
	expect("honest_attention", ATTENTION_TEXT, "OK");
	expect("honest_gelu", GELU_TEXT, "OK");
}

static void S45_every_hundredth_key(void **state)
{
	(void)state;
	expect("S45_every_hundredth_key", ATTENTION_TEXT, "INCORRECT");
}

static void S46_half_a_factor(void **state)
{
	(void)state;
	expect("S46_half_a_factor", PRODUCT_TEXT, "INCORRECT");
}

static void S47_half_sums(void **state)
{
	(void)state;
	expect("S47_half_sums", PRODUCT_TEXT, "INCORRECT");
}

static void S48_the_row_before(void **state)
{
	(void)state;
	expect("S48_the_row_before", ATTENTION_TEXT, "INCORRECT");
}

static void S49_tanh_for_erf(void **state)
{
	(void)state;
	expect("S49_tanh_for_erf", GELU_TEXT, "PRECISION INCORRECT");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(honest_products),         cmocka_unit_test(honest_attention_and_gelu),
		cmocka_unit_test(S45_every_hundredth_key), cmocka_unit_test(S46_half_a_factor),
		cmocka_unit_test(S47_half_sums),           cmocka_unit_test(S48_the_row_before),
		cmocka_unit_test(S49_tanh_for_erf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
