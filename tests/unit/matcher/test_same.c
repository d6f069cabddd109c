/* SPDX-License-Identifier: Apache-2.0 */
/* test_same.c - which rewritten graphs are accepted: only those that compute the original. */
#include "matcher/rewrite/same.h"

#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define KERNEL(body, launch)                                                                                 \
	"Kernel <alts = 1, body = " body ", launch_0 = [\"" launch                                           \
	"\"], name = \"r\", source_0 = \"__global__ void f(T *x, T *y, T *z) {}\", type_0 = \"float\">"
#define LAUNCH3 "f grid=1,1,1 block=32,1,1 smem=0 args=i0,i1,o0"

static const char original[] =
	"g (float[4] x, float[4] y) => (float[4] r, float[4] q)\n<float[4] w = {1, 2, 3, 4}>\n{\n"
	"  a = Sub(x, y)\n  b = LeakyRelu<alpha = 0.5>(a)\n  r = Mul(b, w)\n  q = Sub(x, y)\n}\n";

/* part NULL: accepted. */
static void check(const char *before, const char *after, const char *part)
{
	PmGraph *a = pm_test_graph(before), *b = pm_test_graph(after);
	PmErr err;
	PmStatus st;

	pm_err_init(&err);
	st = pm_rewrite_check(a, b, &err);
	if ((st == PM_OK) != !part || (part && !strstr(err.text, part)))
		fail_msg("%s\n%s: %d %s", before, after, (int)st, err.text);
	pm_graph_free(a);
	pm_graph_free(b);
}

static void the_same_meaning_is_accepted(void **state)
{
	(void)state;
	check(original, original, NULL);
	/* Other names inside, other order, constants elsewhere. */
	check(original,
	      "g (float[4] x, float[4] y) => (float[4] r, float[4] q)\n<float[4] k = {1, 2, 3, 4}>\n{\n"
	      "  q = Sub(x, y)\n  m = Sub(x, y)\n  n = LeakyRelu<alpha = 0.5>(m)\n  r = Mul(n, k)\n}\n",
	      NULL);
	check(original,
	      "g (float[4] x, float[4] y) => (float[4] r, float[4] q)\n{\n  r = " KERNEL(
		      "p (float[4] u, float[4] v) => (float[4] o)\n<float[4] w = {1, 2, 3, 4}>\n"
		      "{\n d = Sub(u, v)\n e = LeakyRelu<alpha = 0.5>(d)\n o = Mul(e, w)\n}\n",
		      LAUNCH3) " (x, y)\n  q = Sub(x, y)\n}\n",
	      NULL);
}

static void every_difference_is_found(void **state)
{
	static const struct {
		const char *consts, *body, *part;
	} cases[] = {
		{ "<float[4] w = {1, 2, 3, 4}>",
		  "a = Sub(y, x)\nb = LeakyRelu<alpha = 0.5>(a)\nr = Mul(b, w)\nq = Sub(x, y)\n",
		  "of the original, another value is used in its place" },
		{ "<float[4] w = {1, 2, 3, 4}>",
		  "a = Add(x, y)\nb = LeakyRelu<alpha = 0.5>(a)\nr = Mul(b, w)\nq = Sub(x, y)\n",
		  "at value 'a' of the original, the operator is another one" },
		{ "<float[4] w = {1, 2, 3, 4}>",
		  "a = Sub(x, y)\nb = LeakyRelu<alpha = 0.25>(a)\nr = Mul(b, w)\nq = Sub(x, y)\n",
		  "the attributes of the node differ" },
		{ "<float[4] w = {1, 2, 3, 4}>",
		  "a = Sub(x, y)\nb = LeakyRelu(a)\nr = Mul(b, w)\nq = Sub(x, y)\n",
		  "the attributes of the node differ" },
		{ "<float[4] w = {1, 2, 3, 5}>",
		  "a = Sub(x, y)\nb = LeakyRelu<alpha = 0.5>(a)\nr = Mul(b, w)\nq = Sub(x, y)\n",
		  "the constant differs" },
		{ "", "a = Sub(x, y)\nb = LeakyRelu<alpha = 0.5>(a)\nr = Mul(b, x)\nq = Sub(x, y)\n",
		  "at value 'w' of the original, another value is used in its place" },
		{ "<float[4] w = {1, 2, 3, 4}>",
		  "a = Sub(x, y)\nb = LeakyRelu<alpha = 0.5>(a)\nr = Mul(w, b)\nq = Sub(x, y)\n",
		  "does not mean the same" },
		{ "<float[4] w = {1, 2, 3, 4}>",
		  "q = Sub(x, y)\nb = LeakyRelu<alpha = 0.5>(q)\nr = Mul(b, w)\n",
		  "another value is used in its place" },
		{ "<float[4] w = {1, 2, 3, 4}>", "a = Sub(x, y)\nr = Mul(a, w)\nq = Sub(x, y)\n",
		  "the operator is another one" },
		{ "<float[4] w = {1, 2, 3, 4}, float[4] c = {0, 0, 0, 0}>",
		  "a = Sub(x, c)\nb = LeakyRelu<alpha = 0.5>(a)\nr = Mul(b, w)\nq = Sub(x, y)\n",
		  "another kind" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		PmStr s = PM_STR_INIT;

		pm_str_addf(&s, "g (float[4] x, float[4] y) => (float[4] r, float[4] q)\n%s\n{\n%s}\n",
			    cases[i].consts, cases[i].body);
		check(original, s.s, cases[i].part);
		pm_str_release(&s);
	}
}

static void the_frame_of_the_graph_is_compared(void **state)
{
	static const char text[] = "g (float[4] x) => (float[4] r)\n{\n  r = Neg(x)\n}\n";

	(void)state;
	check(text, "g (float[4] x, float[4] y) => (float[4] r)\n{\n  r = Neg(x)\n}\n",
	      "2 inputs and 1 outputs");
	check(text, "g (float[4] x) => (float[4] r, float[4] x)\n{\n  r = Neg(x)\n}\n",
	      "1 inputs and 2 outputs");
	check(text, "g (float[4] x) => (float[4] s)\n{\n  s = Neg(x)\n}\n",
	      "Output 0 of the rewritten graph has another name");
	check(text, "g (float[4] z) => (float[4] r)\n{\n  r = Neg(z)\n}\n",
	      "Input 0 of the rewritten graph has another name");
	check(text, "g (float[5] x) => (float[5] r)\n{\n  r = Neg(x)\n}\n",
	      "the type of the graph input differs");
	check(text, "g (float16[4] x) => (float16[4] r)\n{\n  r = Neg(x)\n}\n",
	      "the type of the graph input differs");
	check("g (float[N] x) => (float[N] r)\n{\n  r = Neg(x)\n}\n",
	      "g (float[M] x) => (float[M] r)\n{\n  r = Neg(x)\n}\n", "the type of the graph input differs");
	check("g (float[N] x) => (float[N] r)\n{\n  r = Neg(x)\n}\n",
	      "g (float[N] x) => (float[N] r)\n{\n  r = Neg(x)\n}\n", NULL);
	check("g (float[4] x) => (float[4] r)\n{\n  a, b = Split<axis = 0, split = [2, 2]>(x)\n  r = "
	      "Concat<axis = 0>(a, b)\n}\n",
	      "g (float[4] x) => (float[4] r)\n{\n  a, b = Split<axis = 0, split = [2, 2]>(x)\n  r = "
	      "Concat<axis = 0>(b, a)\n}\n",
	      "does not mean the same");
}

/* Text says "nan", not which: the payload may change on the way through the child. */
static void a_nan_is_a_nan(void **state)
{
	static const char text[] =
		"g (float[2] x) => (float[2] r)\n<float[2] w = {nan, 1}>\n{\n  r = Add(x, w)\n}\n";
	static const char other[] =
		"g (float[2] x) => (float[2] r)\n<float[2] w = {1, nan}>\n{\n  r = Add(x, w)\n}\n";
	uint32_t payload[2] = { 0xffc12345, 0x3f800000 };
	PmGraph *a = pm_test_graph(text), *b = pm_graph_new(0);
	PmType t = *pm_value_type(a, pm_graph_input(a, 0));
	PmValue in[2];
	PmNode n;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_graph_add_input(b, "x", &t, &in[0], &err), PM_OK);
	assert_int_equal(pm_graph_add_const(b, "w", &t, pm_blob_copy(payload, sizeof payload), &in[1], &err),
			 PM_OK);
	assert_int_equal(pm_graph_add_node(b, PM_OP_Add, in, 2, 1, &n, &err), PM_OK);
	pm_value_set_type(b, pm_node_out(b, n, 0), &t);
	assert_int_equal(pm_value_set_name(b, pm_node_out(b, n, 0), "r", &err), PM_OK);
	assert_int_equal(pm_graph_add_output(b, pm_node_out(b, n, 0), &err), PM_OK);
	assert_int_equal(pm_rewrite_check(a, b, &err), PM_OK);
	pm_graph_free(a);
	pm_graph_free(b);
	check(text, other, "the constant differs");
}

static void opaque_nodes_and_their_types_are_compared(void **state)
{
	static const char text[] = "g (float[4] x) => (float[4] r)\n{\n  r = \"acme:Thing\"<k = 1>(x)\n}\n";

	(void)state;
	check(text, text, NULL);
	check(text, "g (float[4] x) => (float[4] r)\n{\n  r = \"acme:Other\"<k = 1>(x)\n}\n", "another one");
	check(text, "g (float[4] x) => (float[4] r)\n{\n  r = \"other:Thing\"<k = 1>(x)\n}\n", "another one");
	check(text, "g (float[4] x) => (float[4] r)\n{\n  r = \"acme:Thing\"<k = 2>(x)\n}\n", "attributes");
	check(text, "g (float[4] x) => (float[4] r)\n{\n  r = \"acme:Thing\"<k = 1, j = 1>(x)\n}\n",
	      "attributes");
	check(text, "g (float[4] x) => (float[5] r)\n{\n  r = \"acme:Thing\"<k = 1>(x)\n}\n",
	      "the type differs");
}

static void kernels_have_to_be_right_and_needed(void **state)
{
	static const char text[] = "g (float[4] x, float[4] y) => (float[4] r)\n{\n  r = Sub(x, y)\n}\n";

	(void)state;
#define SUB_BODY "p (float[4] u, float[4] v) => (float[4] o)\n{\n o = Sub(u, v)\n}\n"
	check(text,
	      "g (float[4] x, float[4] y) => (float[4] r)\n{\n  r = " KERNEL(SUB_BODY,
									     LAUNCH3) " (x, y)\n}\n",
	      NULL);
	check(text,
	      "g (float[4] x, float[4] y) => (float[4] r)\n{\n  r = " KERNEL(SUB_BODY,
									     LAUNCH3) " (y, x)\n}\n",
	      "does not mean the same");
	check(text,
	      "g (float[4] x, float[4] y) => (float[4] r)\n{\n  r = " KERNEL(
		      SUB_BODY, "f grid=1,1,1 block=32,1,1 smem=0 args=i0,i1") " (x, y)\n}\n",
	      "has 3 parameters, but 2 arguments");
	check(text,
	      "g (float[4] x, float[4] y) => (float[4] r)\n{\n  r = Sub(x, y)\n  d = " KERNEL(
		      SUB_BODY, LAUNCH3) " (x, y)\n}\n",
	      "is not needed by any output");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_meaning_is_accepted),
		cmocka_unit_test(every_difference_is_found),
		cmocka_unit_test(the_frame_of_the_graph_is_compared),
		cmocka_unit_test(a_nan_is_a_nan),
		cmocka_unit_test(opaque_nodes_and_their_types_are_compared),
		cmocka_unit_test(kernels_have_to_be_right_and_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
