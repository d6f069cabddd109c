/* SPDX-License-Identifier: Apache-2.0 */
/* test_pass_silu.c - silu on many shapes, and what it must leave alone. */
#include "tests/lib/passes/pass_case.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MODEL(body) "g ($T[$a,$b] x) => ($T[$a,$b] y) {" body "}"

static const PassDims shapes[] = {
	{ { 1, 1 } },   { { 1, 2 } },   { { 1, 3 } },    { { 7, 1 } },    { { 3, 5 } },
	{ { 13, 17 } }, { { 1, 31 } },  { { 1, 32 } },   { { 1, 33 } },   { { 2, 255 } },
	{ { 8, 32 } },  { { 1, 257 } }, { { 4, 1021 } }, { { 5, 2048 } }, { { 3, 4099 } },
};

static void both_operand_orders_fuse(void **state)
{
	(void)state;
	pass_fuses("silu", MODEL("s = Sigmoid(x) y = Mul(x, s)"), 1, shapes, PASS_COUNT(shapes));
	pass_fuses_float("silu", MODEL("s = Sigmoid(x) y = Mul(s, x)"), 1, shapes, 4);
}

static void near_misses_are_left_alone(void **state)
{
	(void)state;
	pass_refuses("silu", MODEL("s = Sigmoid(x) y = Add(x, s)"), shapes[4], "");
	pass_refuses("silu", MODEL("s = HardSigmoid(x) y = Mul(x, s)"), shapes[4], "Sigmoid");
	pass_refuses("silu", "g ($T[$a,$b] x, $T[$a,$b] z) => ($T[$a,$b] y) { s = Sigmoid(z) y = Mul(x, s) }",
		     shapes[4], "");
	pass_refuses("silu", "g ($T[$a,$b] x) => ($T[$a,$b] y, $T[$a,$b] s) { s = Sigmoid(x) y = Mul(x, s) }",
		     shapes[4], "output of the graph");
	pass_refuses("silu", "g (double[$a,$b] x) => (double[$a,$b] y) { s = Sigmoid(x) y = Mul(x, s) }",
		     shapes[4], "double");
	pass_refuses("silu", MODEL("s = Sigmoid(x) y = Mul(x, s)"), (PassDims){ { 0, 5 } }, "empty");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_operand_orders_fuse),
		cmocka_unit_test(near_misses_are_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
