/* SPDX-License-Identifier: Apache-2.0 */
/* test_agree.c - two devices agree as far as the graph's conditioning lets them, and no further. */
#include "bench/compare/agree.h"
#include "bench/inputs/inputs.h"
#include "runtime/ref/ref.h"
#include "tests/lib/graphs/graph_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Judges the reference's output with `change` added to element 0. */
static PmAgreement judge(const char *text, double change)
{
	PmGraph *g = pm_test_graph(text);
	PmTensor in[2], want, got;
	PmAgreement a;

	assert_int_equal(pm_inputs_make(g, 5, PM_INPUTS_NORMAL, in, NULL), PM_OK);
	assert_int_equal(pm_ref_run(g, in, pm_graph_n_inputs(g), &want, 1, NULL), PM_OK);
	assert_int_equal(pm_tensor_copy(&got, &want, NULL), PM_OK);
	pm_tensor_set(&got, 0, pm_tensor_get(&want, 0) + change);
	assert_int_equal(pm_agree(g, in, &got, &want, 1, 9, &a, NULL), PM_OK);
	pm_tensor_release(&got);
	pm_tensor_release(&want);
	pm_tensors_release(in, pm_graph_n_inputs(g));
	pm_graph_free(g);
	return a;
}

static const char plain[] = "g (float[100] x) => (float[100] y) { y = Tanh(x) }";
/* One ulp of x is a hundred ulp of the result. */
static const char steep[] =
	"g (float[100] x) => (float[100] y) <float c = {100}> { t = Mul(x, c)\n y = Sin(t) }";
/* One ulp of x decides everything. */
static const char chaotic[] =
	"g (float[100] x) => (float[100] y) <float c = {100000000}> { t = Mul(x, c)\n y = Sin(t) }";

static void equal_outputs_agree(void **state)
{
	PmAgreement a = judge(plain, 0);

	(void)state;
	assert_true(a.agrees && a.c.equal && !a.by_conditioning && a.nrms == 0);
}

static void a_real_difference_does_not(void **state)
{
	PmAgreement a = judge(plain, 0.01);

	(void)state;
	assert_true(!a.agrees && !a.ill_conditioned);
	assert_true(a.nrms > 1e-4 && a.one_ulp < 1e-6);
}

static void nan_in_one_place_is_never_agreement(void **state)
{
	PmAgreement a = judge(plain, NAN);

	(void)state;
	assert_true(!a.agrees && isinf(a.nrms));
}

static void what_one_ulp_explains_agrees(void **state)
{
	PmAgreement a = judge(steep, 2e-5);

	(void)state;
	assert_true(a.agrees && a.by_conditioning);
	a = judge(steep, 1e-2);
	assert_true(!a.agrees && !a.ill_conditioned);
}

static void nothing_is_claimed_of_a_chaotic_graph(void **state)
{
	PmAgreement a = judge(chaotic, 0.5);

	(void)state;
	if (a.agrees || !a.ill_conditioned)
		fail_msg("agrees %d, nrms %g, one ulp %g", a.agrees, a.nrms, a.one_ulp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_outputs_agree),
		cmocka_unit_test(a_real_difference_does_not),
		cmocka_unit_test(nan_in_one_place_is_never_agreement),
		cmocka_unit_test(what_one_ulp_explains_agrees),
		cmocka_unit_test(nothing_is_claimed_of_a_chaotic_graph),
	};

	return cmocka_run_group_tests_name("agree", tests, NULL, NULL);
}
