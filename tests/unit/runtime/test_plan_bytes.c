/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_bytes.c - the modelled clock charges a fused kernel for what it needs of a table, as it does the
 * eager ones. */
#include "ir/core/kernel.h"
#include "runtime/exec/exec.h"
#include "tests/lib/passes/pass_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A table of $a rows of $b numbers, $c of them picked. */
#define GATHER                                                                                               \
	"g ($T[$a,$b] table, int64[$c] rows, $T[$b] scale) => ($T[$c,$b] y)\n{ e = Gather<axis=0>(table, "   \
	"rows)\n y = Mul(e, scale) }\n"
/* Picked from what was computed of the table, twice. */
#define BEHIND                                                                                               \
	"g ($T[$a,$b] table, int64[$c] rows, int64[$c] more) => ($T[$c,$b] y)\n{ t = Tanh(table)\n e = "     \
	"Gather<axis=0>(t, rows)\n f = Gather<axis=0>(t, more)\n y = Mul(e, f) }\n"
/* A sum needs all of the table, whatever is picked beside. */
#define SUM                                                                                                  \
	"g ($T[$a,$b] table, int64[$c] rows) => ($T[$c,$b] y)\n{ e = Gather<axis=0>(table, rows)\n s = "     \
	"ReduceSum<axes=[0],keepdims=1>(table)\n y = Mul(e, s) }\n"

static int64_t bytes_of(const PmGraph *g)
{
	PmPlanStats s;
	PmErr err;

	pm_err_init(&err);
	if (pm_graph_plan_stats(g, NULL, 0, NULL, &s, &err))
		fail_msg("%s", err.text);
	return s.bytes;
}

static int64_t fused_bytes(const char *tmpl, PassDims d)
{
	PmGraph *g = pass_fused("fuse", tmpl, "float", d);
	int64_t bytes = bytes_of(g);

	assert_int_equal(pm_graph_n_nodes(g), 1);
	pm_graph_free(g);
	return bytes;
}

/* 122,880 rows of 96 floats are 47 MB, 16 of them 6 KB. */
static void a_table_is_charged_by_its_rows(void **state)
{
	static const int64_t rows = (int64_t)16 * 96 * 4;

	(void)state;
	/* The rows in and out, their indices, the factor. */
	assert_int_equal(fused_bytes(GATHER, (PassDims){ { 122880, 96, 16 } }), 2 * rows + 16 * 8 + 96 * 4);
	assert_int_equal(fused_bytes(BEHIND, (PassDims){ { 122880, 96, 16 } }), 3 * rows + 2 * 16 * 8);
}

/* Fusing never costs bytes: the eager kernels are charged by the same rule. */
static void eager_is_charged_alike(void **state)
{
	static const char *const tmpl[] = { GATHER, BEHIND };

	(void)state;
	for (int i = 0; i < 2; i++) {
		PmGraph *g = pass_fused("fuse", tmpl[i], "float", (PassDims){ { 122880, 96, 16 } });
		int64_t fused = bytes_of(g);
		PmErr err;

		pm_err_init(&err);
		if (pm_graph_inline_kernels(g, &err))
			fail_msg("%s", err.text);
		assert_true(fused < bytes_of(g));
		/* Only what is computed of the whole table passes over it. */
		assert_true((bytes_of(g) > 122880 * 96 * 4) == (i == 1));
		pm_graph_free(g);
	}
}

/* More is picked than there is: each row is read once. */
static void a_small_table_is_charged_whole(void **state)
{
	(void)state;
	assert_int_equal(fused_bytes(GATHER, (PassDims){ { 4, 96, 16 } }),
			 4 * 96 * 4 + 16 * 96 * 4 + 16 * 8 + 96 * 4);
}

/* No kernel that adds up a table is cheaper than its bytes. */
static void a_sum_is_charged_whole(void **state)
{
	PmGraph *g = pass_fused("fuse", SUM, "float", (PassDims){ { 1024, 96, 16 } });

	(void)state;
	assert_true(bytes_of(g) >= (int64_t)1024 * 96 * 4 + 2 * 16 * 96 * 4 / 2);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_is_charged_by_its_rows),
		cmocka_unit_test(eager_is_charged_alike),
		cmocka_unit_test(a_small_table_is_charged_whole),
		cmocka_unit_test(a_sum_is_charged_whole),
	};

	return cmocka_run_group_tests_name("unit/plan_bytes", tests, NULL, NULL);
}
