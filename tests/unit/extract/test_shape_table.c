/* SPDX-License-Identifier: Apache-2.0 */
/* test_shape_table.c - sizes from a table: signatures as the table spells them, rows, and tables that are
 * wrong. */
#include "base/sys/io.h"
#include "extract/variants/shape_table.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static PmStatus find(const cJSON *table, const char *inputs, size_t index, int64_t size[PM_TABLE_SYMBOLS],
		     PmStr *sig)
{
	const char *name[PM_TABLE_SYMBOLS];
	PmGraph *g;
	size_t n;
	PmStatus st;
	PmErr err;

	pm_err_init(&err);
	g = pm_test_graphf("g (%s) => (float[7] y) <float[7] c = {1,2,3,4,5,6,7}> { y = Relu (c) }", inputs);
	pm_str_clear(sig);
	assert_int_equal(pm_shape_signature(g, sig, name, &n, &err), PM_OK);
	st = pm_shape_table_find(table, "t.json", sig->s, index, size, n, &err);
	if (st && err.text[strlen(err.text) - 1] != '.')
		fail_msg("no sentence: %s", err.text);
	pm_graph_free(g);
	return st;
}

static const char small[] =
	"{\"tables\": [{\"rules\": {\"two\": {\"symbols\": [\"S1\", \"S0\"], \"values\": [[5, 2], [7, 3]]}}, "
	"\"signatures\": {\"[(S0,),(S0,3,S1)]\": \"two\", \"[(S0,9)]\": \"none\"}}, "
	"{\"rules\": {\"other\": {\"symbols\": [\"S0\"], \"values\": [[8], [\"x\"]]}}, "
	"\"signatures\": {\"[(S0,)]\": \"other\", \"[(S0,),(S0,3,S1)]\": \"other\"}}]}";

static void signatures_are_spelled_as_in_the_table(void **state)
{
	int64_t size[PM_TABLE_SYMBOLS];
	PmStr s = PM_STR_INIT;
	cJSON *j;

	(void)state;
	assert_int_equal(pm_json_parse(small, strlen(small), &j, NULL), PM_OK);
	/* symbols are numbered as the inputs come, tuples sorted, inputs without symbols left out */
	assert_int_equal(find(j, "float[batch,3,seq] x, float[4] b, int64[batch] n", 1, size, &s), PM_OK);
	assert_string_equal(s.s, "[(S0,),(S0,3,S1)]");
	assert_int_equal(size[0], 3);
	assert_int_equal(size[1], 7);
	assert_int_equal(find(j, "float[n] x", 0, size, &s), PM_OK); /* in the second table only */
	assert_int_equal(size[0], 8);
	assert_int_equal(find(j, "float[n] x", 1, size, &s), PM_E_INVALID);
	assert_int_equal(find(j, "float[n] x", 2, size, &s), PM_E_NOT_FOUND);
	assert_int_equal(find(j, "float[n,9] x", 0, size, &s), PM_E_INVALID);
	assert_int_equal(find(j, "float[n,8] x", 0, size, &s), PM_E_NOT_FOUND);
	cJSON_Delete(j);
	assert_int_equal(pm_json_parse("{}", 2, &j, NULL), PM_OK);
	assert_int_equal(find(j, "float[n] x", 0, size, &s), PM_E_INVALID);
	cJSON_Delete(j);
	pm_str_release(&s);
}

/* The two signatures that most of the published samples have, and their nine assignments. */
static void the_published_tables_give_the_published_sizes(void **state)
{
	static const int64_t nlp[9][2] = { { 1, 16 },   { 4, 16 },   { 1, 256 },  { 16, 16 },  { 4, 256 },
					   { 256, 16 }, { 1, 4096 }, { 16, 256 }, { 16, 4096 } };
	static const int64_t batch[3] = { 1, 32, 128 }, side[3] = { 224, 256, 384 };
	const char *shared = getenv("PASSMITH_SHARED");
	char path[512];
	PmStr text = PM_STR_INIT, s = PM_STR_INIT;
	int64_t size[PM_TABLE_SYMBOLS];
	cJSON *j, *t;
	int n = 0, short_rule = 0;

	(void)state;
	snprintf(path, sizeof path, "%s/spec/dataset_fixtures/shape_reifier_tables.json",
		 shared && *shared ? shared : "../shared");
	pm_test_need_path(path);
	assert_int_equal(pm_read_file(path, 0, &text, NULL), PM_OK);
	assert_int_equal(pm_json_parse(text.s, text.len, &j, NULL), PM_OK);
	for (size_t i = 0; i < 9; i++) {
		assert_int_equal(find(j, "float[b,3,h,h] x", i, size, &s), PM_OK);
		assert_int_equal(size[0], batch[i / 3]);
		assert_int_equal(size[1], side[i % 3]);
		assert_int_equal(find(j, "int64[b,s] ids, int64[b,s] mask", i, size, &s), PM_OK);
		assert_int_equal(size[0], nlp[i][0]);
		assert_int_equal(size[1], nlp[i][1]);
	}
	assert_int_equal(find(j, "int64[b,s] ids, int64[b,s] mask", 9, size, &s), PM_E_NOT_FOUND);
	cJSON_ArrayForEach(t, cJSON_GetObjectItem(j, "tables"))
	{
		cJSON *one;

		cJSON_ArrayForEach(one, cJSON_GetObjectItem(t, "signatures"))
		{
			size_t symbols = 0;

			while (symbols < PM_TABLE_SYMBOLS) {
				char name[24];

				snprintf(name, sizeof name, "S%zu", symbols);
				if (!strstr(one->string, name))
					break;
				symbols++;
			}
			for (size_t i = 0; i < 9; i++) {
				PmStatus st = pm_shape_table_find(j, "t", one->string, i, size, symbols,
								  NULL);

				/* one signature has a symbol that its rule gives nothing for */
				assert_true(st == PM_OK || st == PM_E_INVALID);
				short_rule += st != PM_OK;
			}
			n++;
		}
	}
	assert_int_equal(n, 908);
	assert_int_equal(short_rule, 9);
	cJSON_Delete(j);
	pm_str_release(&text);
	pm_str_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signatures_are_spelled_as_in_the_table),
		cmocka_unit_test(the_published_tables_give_the_published_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
