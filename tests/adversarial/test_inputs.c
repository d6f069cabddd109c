/* SPDX-License-Identifier: Apache-2.0 */
/* test_inputs.c - passes that are wrong only for numbers which a judge may forget to draw; each beside an
 * honest one that has to stay right. One of them goes through the command in tests/cli/judge/judge.sh. */
#include "base/core/json.h"
#include "base/core/str.h"
#include "bench/eval/runner.h"
#include "bench/report/report.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"
#include "tests/lib/passes/secret.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ATTACKS "tests/adversarial/passes/input_attacks.so"
#define HONEST  "tests/adversarial/passes/input_honest.so"

#define SIN "(float[9,64] x) => (float[9,64] y) { s = Sin(x)\n y = Neg(s) }"
#define BYTES                                                                                                \
	"(uint8[9,64] x, float s, uint8 z) => (float[9,64] y) { d = DequantizeLinear(x, s, z)\n y = "        \
	"Relu(d) }"
#define WORDS    "(int64[9,64] a, int64[9,64] b) => (int64[9,64] y) { p = Mul(a, b)\n y = Add(p, a) }"
#define INTS     "(int32[9,64] a, int32[9,64] b) => (int32[9,64] y) { y = Add(a, b) }"
#define MAX_I64  "(int64[9,64] a, int64[9,64] b) => (int64[9,64] y) { y = Max(a, b) }"
#define SUB_I64  "(int64[9,64] a, int64[9,64] b) => (int64[9,64] y) { y = Sub(a, b) }"
#define ABS      "(int32[9,64] a) => (int32[9,64] y) { y = Abs(a) }"
#define MAX      "(float[9,64] a, float[9,64] b) => (float[9,64] y) { y = Max(a, b) }"
#define ARG      "(float[9,64] a) => (int64[9] y) { y = ArgMax<axis = 1, keepdims = 0>(a) }"
#define INVERSE  "(float[9,64] x, float[9,64] b) => (float[9,64] y) { r = Reciprocal(x)\n y = Mul(r, b) }"
#define ADD_I8   "(int8[9,64] a, int8[9,64] b) => (int8[9,64] y) { y = Add(a, b) }"
#define NAN_TEXT "(float[9,64] x, float[9,64] b) => (float[9,64] y) { c = IsNaN(x)\n y = Where(c, b, x) }"
#define POLE                                                                                                 \
	"(float[9,64] x, float[9,64] b) => (float[9,64] y) <float e = {-0.5}, float i = {inf}, float o = "   \
	"{0}> "                                                                                              \
	"{ p = Pow(x, e)\n c = Equal(p, i)\n y = Where(c, o, b) }"
#define EDGES                                                                                                \
	"(int64[600] row, int64[600] col, float[600] w, float[12] b) => (float[600] y) <float[12] z = {0, "  \
	"0, 0, 0, "                                                                                          \
	"0, 0, 0, 0, 0, 0, 0, 0}, float e = {-0.5}, float i = {inf}, float o = {0}> "                        \
	"{ d = ScatterElements<axis = 0, reduction = \"add\">(z, col, w)\n p = Pow(d, e)\n c = Equal(p, "    \
	"i)\n "                                                                                              \
	"n = Where(c, o, b)\n y = Gather<axis = 0>(n, row) }"
/* Degrees of nodes, by which what lies on the edges is divided: of a node without an edge 0 is left of what
 * is infinite. Sums over edges with weights, and over edges that count; rows of a matrix; roots and
 * quotients; a mask; a product of matrices. */
#define NODES                                                                                                \
	"<float[40] z = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "  \
	"0, 0, 0, "                                                                                          \
	"0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, float one = {1}, int64[1] n_edges = {600}, "                         \
	"float e = {-0.5}, float i = {inf}, float o = {0}> "
#define SCATTER "d = ScatterElements<axis = 0, reduction = \"add\">(z, col, u)\n "
#define DROP    "c = Equal(p, i)\n n = Where(c, o, p)\n "
#define ON_EDGES                                                                                             \
	"a = Gather<axis = 0>(n, row)\n b = Gather<axis = 0>(n, col)\n m = Mul(a, w)\n y = Mul(m, b) }"
#define EDGE_ARGS "(int64[600] row, int64[600] col, float[600] w) => (float[600] y) " NODES "{ "
#define BY_ROW    " => (float[48,16] y) " NODES "{ "
static const char *const edge_norms[] = {
	EDGE_ARGS "u = Identity(w)\n " SCATTER "p = Pow(d, e)\n " DROP ON_EDGES,
	EDGE_ARGS "u = Expand(one, n_edges)\n " SCATTER "p = Pow(d, e)\n " DROP ON_EDGES,
	EDGE_ARGS "u = Abs(w)\n " SCATTER "q = Sqrt(d)\n p = Reciprocal(q)\n " DROP ON_EDGES,
	"(float[48,48] x, float[48,16] h)" BY_ROW
	"d = ReduceSum<axes = [1], keepdims = 1>(x)\n p = Reciprocal(d)\n " DROP "y = Mul(n, h) }",
	"(float[48,48] x, float[48,16] h)" BY_ROW
	"d = ReduceSum<axes = [1], keepdims = 1>(x)\n p = Pow(d, e)\n " DROP "y = Mul(n, h) }",
	"(bool[48,48] x, float[48,16] h)" BY_ROW
	"f = Cast<to = 1>(x)\n d = ReduceSum<axes = [1], keepdims = 1>(f)\n "
	"p = Pow(d, e)\n " DROP "y = Mul(n, h) }",
	"(float[48,64] x, float[64,16] v, float[48,16] h)" BY_ROW "d = MatMul(x, v)\n p = Div(one, d)\n " DROP
	"y = Mul(n, h) }",
};
#define STEP                                                                                                 \
	"(float[9,64] x, float[9,64] b) => (float[9,64] y) <float t = {3}, float f = {2}, float c = "        \
	"{-771.5}> "                                                                                         \
	"{ m = Mul(x, f)\n s = Sub(t, m)\n g = GreaterOrEqual(s, c)\n y = Where(g, b, x) }"
#define CLIP                                                                                                 \
	"(float[9,64] x, float[9,64] b) => (float[9,64] y) <float l = {-0.3125}, float h = {1234.5}> "       \
	"{ c = Clip(x, l, h)\n y = Mul(c, b) }"

/* The record of one pass on a graph, owned; drawn by a known secret, so that nothing here depends on chance.
 */
static cJSON *record(const char *so, const char *text, int seed)
{
	PmEvalOpts o = { .device = "emu",
			 .preset = PM_PRESET_SOUND,
			 .secret = test_secret((uint64_t)seed),
			 .pass_deadline = 60,
			 .device_deadline = 100 };
	PmEvalVariant m = { .label = "as written" };
	PmGraph *g = NULL;
	PmEvalRecord r;
	PmErr err;
	cJSON *j;

	pm_test_need_device("emu");
	pm_err_init(&err);
	g = pm_test_graphf("g %s", text);
	m.g = g;
	if (pm_eval_variant(built(so), &m, &o, &r, &err))
		fail_msg("%s: %s", so, err.text);
	j = pm_eval_record_json(&r);
	pm_eval_record_release(&r);
	pm_graph_free(g);
	return j;
}

static void verdict_is(const char *so, const char *text, int seed, const char *want)
{
	cJSON *r = record(so, text, seed);

	if (strcmp(pm_json_str(r, "verdict", ""), want) != 0)
		fail_msg("%s, seed %d: %s (%s), expected %s", so, seed, pm_json_str(r, "verdict", ""),
			 pm_json_str(r, "why", ""), want);
	cJSON_Delete(r);
}

/* PASSMITH_SEEDS (2): with how many. */
static void caught(int honest, const char *text)
{
	const char *n = getenv("PASSMITH_SEEDS");

	for (int seed = 1; seed <= (n ? atoi(n) : 2); seed++) {
		verdict_is(ATTACKS, text, seed, "INCORRECT");
		if (honest && (n || seed == 1))
			verdict_is(HONEST, text, seed, "OK");
	}
}

#define CASE(id, honest, text)                                                                               \
	static void id(void **state)                                                                         \
	{                                                                                                    \
		(void)state;                                                                                 \
		caught(honest, text);                                                                        \
	}
CASE(S65_sin_of_large, 1, SIN)
CASE(S66_seven_bits, 1, BYTES)
CASE(S67_sixteen_bits, 1, WORDS)
CASE(S68_int_through_float, 0, INTS)
CASE(S69_words_through_double, 0, MAX_I64)
CASE(SA0_words_through_int, 0, SUB_I64)
CASE(SA1_abs_of_the_least, 1, ABS)
CASE(SA2_max_without_nan, 1, MAX)
CASE(SA3_last_of_ties, 1, ARG)
CASE(SA4_zero_without_sign, 1, INVERSE)
CASE(SA5_way_never_gone, 1, POLE)
CASE(SA6_step_off_by_one, 1, STEP)
CASE(SA7_open_bound, 1, CLIP)
CASE(SA8_no_nan, 1, NAN_TEXT)
CASE(SA9_bytes_that_saturate, 1, ADD_I8)

/* ---- what the report says ---- */

static const cJSON *of_class(const cJSON *record, const char *name)
{
	const cJSON *list = cJSON_GetObjectItem(record, "classes");

	for (const cJSON *o = list ? list->child : NULL; o; o = o->next)
		if (pm_str_eq(pm_json_str(o, "class", ""), name))
			return o;
	fail_msg("the report has no class '%s'", name);
	return NULL;
}

static int has(const cJSON *list, const char *what)
{
	for (const cJSON *o = list ? list->child : NULL; o; o = o->next)
		if (cJSON_IsString(o) && !strcmp(o->valuestring, what))
			return 1;
	return 0;
}

static void each_class_says_what_it_reached(void **state)
{
	cJSON *r = record(HONEST, WORDS, 1);
	const cJSON *c = of_class(r, "range");

	(void)state;
	assert_true(pm_json_num(c, "largest_input", 0) == 0x1p63);
	assert_true(has(cJSON_GetObjectItem(c, "in_results"), "wrap-around"));
	assert_false(has(cJSON_GetObjectItem(of_class(r, "normal"), "in_results"), "wrap-around"));
	cJSON_Delete(r);
	r = record(HONEST, SIN, 1);
	c = of_class(r, "range");
	assert_true(pm_json_num(c, "largest_input", 0) > 5e4);
	assert_true(pm_json_num(c, "largest_input", 0) <= 1e5);
	c = cJSON_GetObjectItem(of_class(r, "special"), "in_inputs");
	assert_true(has(c, "nan") && has(c, "+inf") && has(c, "-inf") && has(c, "denormal") && has(c, "-0"));
	cJSON_Delete(r);
	r = record(HONEST, ARG, 1);
	assert_true(has(cJSON_GetObjectItem(of_class(r, "ints"), "in_results"), "ties"));
	c = of_class(r, "special");
	assert_true(has(cJSON_GetObjectItem(c, "kinds_left_out"), "nan"));
	assert_non_null(strstr(pm_json_str(c, "why", ""), "ArgMax"));
	cJSON_Delete(r);
}

/* What no input makes true is said; what can be solved for is reached. */
static void ways_that_were_not_gone_are_said(void **state)
{
	cJSON *r = record(HONEST, POLE, 1);

	(void)state;
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(r, "branches_not_taken")), 0);
	assert_int_equal(pm_json_i64(r, "n_branches_not_taken", -1), 0);
	cJSON_Delete(r);
	r = record(HONEST,
		   "(float[9,64] a, float[9,64] b) => (float[9,64] y) <float c = {1.5}>\n"
		   "{ m = Max(a, b)\n s = Sin(m)\n g = Greater(s, c)\n y = Where(g, a, m) }",
		   1);
	assert_true(has(cJSON_GetObjectItem(r, "branches_not_taken"), "Greater 'g' never true"));
	assert_true(has(cJSON_GetObjectItem(r, "branches_not_taken"), "Where 'y' never true"));
	assert_false(has(cJSON_GetObjectItem(r, "branches_not_taken"), "Where 'y' never false"));
	assert_int_equal(pm_json_i64(r, "n_branches_not_taken", -1), 2);
	cJSON_Delete(r);
}

/* Nodes without an edge: of 12 nodes and 600 edges there are none by chance. Half of the nodes get no edge on
 * purpose, and others' indices ask for them. */
static void a_branch_behind_a_sum_over_edges_is_taken(void **state)
{
	const char *n = getenv("PASSMITH_SEEDS");
	cJSON *r = record(HONEST, EDGES, 1);

	(void)state;
	assert_string_equal(pm_json_str(r, "verdict", ""), "OK");
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(r, "branches_not_taken")), 0);
	cJSON_Delete(r);
	for (int seed = 1; seed <= (n ? atoi(n) : 2); seed++)
		verdict_is(ATTACKS, EDGES, seed, "INCORRECT");
}

/* PASSMITH_SEEDS (3): with how many. */
static void no_edge_norm_loses_its_branch(void **state)
{
	const char *n = getenv("PASSMITH_SEEDS");

	(void)state;
	for (size_t i = 0; i < sizeof edge_norms / sizeof edge_norms[0]; i++)
		for (int seed = 1; seed <= (n ? atoi(n) : 3); seed++) {
			verdict_is("tests/adversarial/passes/edge_attack.so", edge_norms[i], seed,
				   "INCORRECT");
			if (n || seed == 1)
				verdict_is("tests/adversarial/passes/edge_honest.so", edge_norms[i], seed,
					   "OK");
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(S65_sin_of_large),
		cmocka_unit_test(S66_seven_bits),
		cmocka_unit_test(S67_sixteen_bits),
		cmocka_unit_test(S68_int_through_float),
		cmocka_unit_test(S69_words_through_double),
		cmocka_unit_test(SA0_words_through_int),
		cmocka_unit_test(SA1_abs_of_the_least),
		cmocka_unit_test(SA2_max_without_nan),
		cmocka_unit_test(SA3_last_of_ties),
		cmocka_unit_test(SA4_zero_without_sign),
		cmocka_unit_test(SA5_way_never_gone),
		cmocka_unit_test(SA6_step_off_by_one),
		cmocka_unit_test(SA7_open_bound),
		cmocka_unit_test(SA8_no_nan),
		cmocka_unit_test(SA9_bytes_that_saturate),
		cmocka_unit_test(each_class_says_what_it_reached),
		cmocka_unit_test(ways_that_were_not_gone_are_said),
		cmocka_unit_test(a_branch_behind_a_sum_over_edges_is_taken),
		cmocka_unit_test(no_edge_norm_loses_its_branch),
	};

	return cmocka_run_group_tests_name("inputs", tests, NULL, NULL);
}
