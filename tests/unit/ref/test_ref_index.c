/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref_index.c - gathering and scattering by index tensors: inverses and index formulas. */
#include "tests/lib/graphs/eval.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 30 };

static int64_t wrapped(int64_t at, int64_t dim)
{
	return at < 0 ? at + dim : at;
}

/* y[i][j] = x[idx[i][j]][j] for axis 0, x[i][idx[i][j]] for axis 1. */
static void gather_elements_follows_the_index_formula(void **state)
{
	PmRng r;
	int round;

	(void)state;
	pm_rng_init(&r, 21);
	for (round = 0; round < ROUNDS; round++) {
		int64_t rows = pm_rng_range(&r, 1, 6), cols = pm_rng_range(&r, 1, 6), axis = round % 2, i, j;
		int64_t xd[2] = { rows, cols },
			yd[2] = { pm_rng_range(&r, 1, rows), pm_rng_range(&r, 1, cols) };
		int64_t dim = xd[axis];
		PmTensor x = eval_normal(&r, 2, xd), idx = eval_ints(&r, -dim, dim - 1, 2, yd);
		PmTensor want = eval_tensor(PM_F64, 2, yd), idx2, x2;

		for (i = 0; i < yd[0]; i++)
			for (j = 0; j < yd[1]; j++) {
				int64_t at = wrapped(pm_tensor_get_i(&idx, i * yd[1] + j), dim);

				pm_tensor_set(&want, i * yd[1] + j,
					      pm_tensor_get(&x, axis ? i * cols + at : at * cols + j));
			}
		pm_tensor_copy(&idx2, &idx, NULL);
		pm_tensor_copy(&x2, &x, NULL);
		eval_same(eval_take2("GatherElements", axis ? "axis=1" : "axis=0", x, idx), want, 0,
			  "formula");
		/* Adding nothing at those places changes nothing. */
		want = eval_tensor(PM_F64, 2, yd);
		pm_tensor_copy(&x, &x2, NULL);
		eval_same(eval_take3("ScatterElements",
				     axis ? "axis=1 reduction='add'" : "axis=0 reduction='add'", x, idx2,
				     want),
			  x2, 0, "scatter of zeros");
	}
}

/* Rows in a random order, put back where they came from. */
static void scatter_undoes_gather(void **state)
{
	PmRng r;
	int round;

	(void)state;
	pm_rng_init(&r, 22);
	for (round = 0; round < ROUNDS; round++) {
		int64_t n = pm_rng_range(&r, 1, 7), d[2] = { n, 3 }, id[2] = { n, 1 }, i;
		PmTensor x = eval_normal(&r, 2, d), idx = eval_tensor(PM_I64, 2, id), idx2, y, x2;

		for (i = 0; i < n; i++)
			pm_tensor_set_i(&idx, i, i);
		for (i = n - 1; i > 0; i--) {
			int64_t k = pm_rng_range(&r, 0, i), t = pm_tensor_get_i(&idx, i);

			pm_tensor_set_i(&idx, i, pm_tensor_get_i(&idx, k));
			pm_tensor_set_i(&idx, k, t);
		}
		pm_tensor_copy(&idx2, &idx, NULL);
		pm_tensor_copy(&x2, &x, NULL);
		y = eval_take2("GatherND", "", x, idx);
		eval_same(eval_take3("ScatterND", "", eval_tensor(PM_F64, 2, d), idx2, y), x2, 0, "back");
	}
}

/* Places named twice: every reduction by hand. */
static void reductions_join_in_order(void **state)
{
	static const struct {
		const char *attrs;
		double want[3];
	} cases[] = {
		{ "reduction='add'", { 2 + 3 + 4, 5, 7 - 1 } },
		{ "reduction='mul'", { 2 * 3 * 4, 5, 7 * -1 } },
		{ "reduction='max'", { 4, 5, 7 } },
		{ "reduction='min'", { 2, 5, -1 } },
		{ "reduction='none'", { 4, 5, -1 } },
	};
	static const double data[] = { 2, 5, 7 }, updates[] = { 3, 4, -1 };
	int64_t three = 3, tuples[2] = { 3, 1 };
	size_t k;
	int dtype;

	(void)state;
	for (k = 0; k < sizeof cases / sizeof *cases; k++)
		for (dtype = 0; dtype < 2; dtype++) {
			int dt = dtype ? PM_I64 : PM_F64;
			PmTensor idx = eval_tensor(PM_I64, 1, &three), flat = eval_tensor(PM_I64, 2, tuples);
			char attrs[64];

			pm_tensor_set_i(&idx, 1, -3);
			pm_tensor_set_i(&idx, 2, 2);
			pm_tensor_set_i(&flat, 1, -3);
			pm_tensor_set_i(&flat, 2, 2);
			snprintf(attrs, sizeof attrs, "axis=0 %s", cases[k].attrs);
			eval_same(eval_take3("ScatterElements", attrs, eval_vector(dt, data, 3), idx,
					     eval_vector(dt, updates, 3)),
				  eval_vector(dt, cases[k].want, 3), 0, attrs);
			eval_same(eval_take3("ScatterND", cases[k].attrs, eval_vector(dt, data, 3), flat,
					     eval_vector(dt, updates, 3)),
				  eval_vector(dt, cases[k].want, 3), 0, attrs);
		}
}

/* y[b][m] = x[b][idx[b][m]] */
static void batch_dims_choose_the_row(void **state)
{
	int64_t xd[2] = { 3, 4 }, id[3] = { 3, 2, 1 }, yd[2] = { 3, 2 }, b, m;
	PmTensor x, idx, want = eval_tensor(PM_F64, 2, yd);
	PmRng r;

	(void)state;
	pm_rng_init(&r, 23);
	x = eval_normal(&r, 2, xd);
	idx = eval_ints(&r, -4, 3, 3, id);
	for (b = 0; b < 3; b++)
		for (m = 0; m < 2; m++)
			pm_tensor_set(
				&want, b * 2 + m,
				pm_tensor_get(&x, b * 4 + wrapped(pm_tensor_get_i(&idx, b * 2 + m), 4)));
	eval_same(eval_take2("GatherND", "batch_dims=1", x, idx), want, 0, "batch_dims");
}

static void an_index_out_of_range_is_refused(void **state)
{
	static const char *const ops[] = { "GatherElements", "GatherND" };
	static const double data[] = { 1, 2, 3 };
	size_t k;

	(void)state;
	for (k = 0; k < 2; k++) {
		int64_t one = 1;
		PmTensor in[2] = { eval_vector(PM_F64, data, 3), eval_tensor(PM_I64, 1, &one) }, out;
		PmErr err;

		pm_err_init(&err);
		pm_tensor_set_i(&in[1], 0, 3);
		assert_int_equal(eval_try(ops[k], k ? "" : "axis=0", in, 2, NULL, &out, 1, &err),
				 PM_E_INVALID);
		assert_non_null(strstr(err.text, "index 3"));
		pm_tensor_release(&in[0]);
		pm_tensor_release(&in[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gather_elements_follows_the_index_formula),
		cmocka_unit_test(scatter_undoes_gather),
		cmocka_unit_test(reductions_join_in_order),
		cmocka_unit_test(batch_dims_choose_the_row),
		cmocka_unit_test(an_index_out_of_range_is_refused),
	};

	return cmocka_run_group_tests_name("ref_index", tests, NULL, NULL);
}
