/* SPDX-License-Identifier: Apache-2.0 */
/* test_rewritten.c - the text that is kept of a rewritten graph, on graphs whose kernels are written by hand.
 */
#include "base/core/json.h"
#include "bench/eval/rewritten.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KERNEL(body, source)                                                                                 \
	"Kernel <alts = 1, body = b " body                                                                   \
	", launch_0 = [\"f grid=1,1,1 block=1,1,1 smem=0 args=i0,o0\"], name = \"f\", "                      \
	"source_0 = \"" source "\", type_0 = \"float\">"
#define SILU      "(float[4] a) => (float[4] c) { b = Sigmoid (a)\n c = Mul (a, b) }"
#define TANH_TANH "(float[4] a) => (float[4] c) { b = Tanh (a)\n c = Tanh (b) }"

static char *kept(const char *text)
{
	PmGraph *g = pm_test_graph(text);
	char *out = NULL;

	assert_int_equal(pm_rewritten_json(g, 0, &out, NULL), PM_OK);
	pm_graph_free(g);
	return out;
}

static void same_code(const char *a, const char *b, int same)
{
	char *x = kept(a), *y = kept(b);
	cJSON *i = NULL, *j = NULL;

	assert_int_equal(pm_json_parse(x, strlen(x), &i, NULL), PM_OK);
	assert_int_equal(pm_json_parse(y, strlen(y), &j, NULL), PM_OK);
	assert_int_equal(!strcmp(pm_json_str(i, "code", "-"), pm_json_str(j, "code", "+")), same);
	cJSON_Delete(i);
	cJSON_Delete(j);
	free(x);
	free(y);
}

#define ONE(type, body, source) "g (" type " x) => (" type " y) { y = " KERNEL(body, source) " (x) }"

static void a_source_is_kept_by_its_digest(void **state)
{
	char *text = kept("g (float[4] x) => (float[4] y) { m = " KERNEL(SILU, "abc") " (x)\n y = " KERNEL(
		SILU, "abc") " (m) }");
	cJSON *j = NULL;
	PmGraph *g;

	(void)state;
	assert_int_equal(pm_json_parse(text, strlen(text), &j, NULL), PM_OK);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(j, "sources")), 1);
	assert_string_equal(cJSON_GetArrayItem(cJSON_GetObjectItem(j, "sources"), 0)->valuestring, "abc");
	assert_non_null(strstr(
		pm_json_str(j, "text", ""),
		"source_0 = \"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\""));
	g = pm_test_graph(pm_json_str(j, "text", "")); /* it is a graph still */
	pm_graph_free(g);
	cJSON_Delete(j);
	free(text);
}

static void code_is_the_same_for_other_shapes_and_sources(void **state)
{
	(void)state;
	same_code(ONE("float[4]", SILU, "s"),
		  ONE("float[9]", "(float[9] a) => (float[9] c) { b = Sigmoid (a)\n c = Mul (a, b) }", "u"),
		  1);
	same_code(ONE("float[4]", SILU, "s"), ONE("float[4]", TANH_TANH, "s"), 0);
	same_code(ONE("float[4]", SILU, "s"),
		  "g (float[4] x) => (float[4] y) { t = Exp (x)\n y = " KERNEL(SILU, "s") " (t) }", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_source_is_kept_by_its_digest),
		cmocka_unit_test(code_is_the_same_for_other_shapes_and_sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
