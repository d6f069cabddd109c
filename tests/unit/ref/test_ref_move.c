/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref_move.c - operators that move elements: inverses, index formulas, edges. */
#include "tests/lib/graphs/eval.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 40 };

static int shape(PmRng *r, int min_rank, int64_t max_dim, int64_t *dim)
{
	int rank = (int)pm_rng_range(r, min_rank, 5), d;

	for (d = 0; d < rank; d++)
		dim[d] = pm_rng_range(r, 1, max_dim);
	return rank;
}

static void transpose_follows_the_index_formula_and_undoes_itself(void **state)
{
	PmRng r;
	int round, d;

	(void)state;
	pm_rng_init(&r, 11);
	for (round = 0; round < ROUNDS; round++) {
		int64_t dim[5], perm[5], back[5], i;
		int rank = shape(&r, 1, 7, dim);
		PmTensor x = eval_normal(&r, rank, dim), y, want;

		for (d = 0; d < rank; d++)
			perm[d] = d;
		for (d = rank - 1; d > 0; d--) {
			int64_t k = pm_rng_range(&r, 0, d), t = perm[d];

			perm[d] = perm[k];
			perm[k] = t;
		}
		for (d = 0; d < rank; d++)
			back[perm[d]] = d;
		y = eval1("Transpose", eval_list("perm", perm, (size_t)rank), x);
		want = eval_tensor(PM_F64, rank, y.type.dim);
		for (i = 0; i < pm_tensor_numel(&x); i++) {
			int64_t at[5], rest = i, to = 0;

			for (d = rank; d-- > 0;) {
				at[d] = rest % dim[d];
				rest /= dim[d];
			}
			for (d = 0; d < rank; d++)
				to = to * dim[perm[d]] + at[perm[d]];
			pm_tensor_set(&want, to, pm_tensor_get(&x, i));
		}
		eval_same(eval1("Transpose", eval_list("perm", back, (size_t)rank), y), x, 0, "back");
		eval_same(y, want, 0, "Transpose");
	}
}

static void split_and_concat_undo_each_other(void **state)
{
	PmRng r;
	int round, d;

	(void)state;
	pm_rng_init(&r, 12);
	for (round = 0; round < ROUNDS; round++) {
		int64_t dim[5], parts[4], axis;
		int rank = shape(&r, 1, 5, dim), n = (int)pm_rng_range(&r, 1, 4);
		PmTensor x, out[4];
		char attrs[300], axis_text[32];

		axis = pm_rng_range(&r, 0, rank - 1);
		dim[axis] = 0;
		for (d = 0; d < n; d++)
			dim[axis] += parts[d] = pm_rng_range(&r, 0, 4);
		x = eval_normal(&r, rank, dim);
		snprintf(axis_text, sizeof axis_text, "axis=%d", (int)axis);
		snprintf(attrs, sizeof attrs, "%s %s", axis_text, eval_list("split", parts, (size_t)n));
		eval_all("Split", attrs, &x, 1, NULL, out, (size_t)n);
		{
			PmTensor whole;

			eval_all("Concat", axis_text, out, (size_t)n, NULL, &whole, 1);
			eval_same(whole, x, 0, attrs);
		}
		for (d = 0; d < n; d++)
			pm_tensor_release(&out[d]);
	}
}

/* Slice along one axis is Gather of the positions it names. */
static void slice_is_a_gather_of_its_positions(void **state)
{
	static const int64_t steps[] = { 1, 2, 3, -1, -2, 7, INT64_MAX, -INT64_MAX };
	PmRng r;
	int round;

	(void)state;
	pm_rng_init(&r, 13);
	for (round = 0; round < 4 * ROUNDS; round++) {
		int64_t dim[5], start, end, step = steps[pm_rng_range(&r, 0, 7)], n = 0, at[64], lo, hi, p;
		int rank = shape(&r, 1, 9, dim), axis = (int)pm_rng_range(&r, 0, rank - 1);
		PmTensor x = eval_normal(&r, rank, dim), index;
		char attrs[300];

		start = pm_rng_range(&r, -12, 12);
		end = pm_rng_range(&r, -12, 12);
		/* As the ONNX text says it: add the length to negative ends, then clamp. */
		lo = start < 0 ? start + dim[axis] : start;
		hi = end < 0 ? end + dim[axis] : end;
		if (step > 0) {
			lo = lo < 0 ? 0 : lo;
			hi = hi > dim[axis] ? dim[axis] : hi;
			for (p = lo; p<hi; p = step> dim[axis] ? hi : p + step)
				at[n++] = p;
		} else {
			lo = lo < 0 ? 0 : (lo > dim[axis] - 1 ? dim[axis] - 1 : lo);
			hi = hi < -1 ? -1 : hi;
			for (p = lo; p > hi; p = step < -dim[axis] ? hi : p + step)
				at[n++] = p;
		}
		snprintf(attrs, sizeof attrs, "starts=[%lld] ends=[%lld] axes=[%d] steps=[%lld]",
			 (long long)start, (long long)end, axis, (long long)step);
		index = eval_tensor(PM_I64, 1, &n);
		for (p = 0; p < n; p++)
			pm_tensor_set_i(&index, p, at[p]);
		{
			char gather[32];

			snprintf(gather, sizeof gather, "axis=%d", axis);
			eval_same(eval1("Slice", attrs, x), eval2("Gather", gather, x, index), 0, attrs);
		}
		pm_tensor_release(&x);
		pm_tensor_release(&index);
	}
}

static void gather_reads_rows_and_counts_from_the_end(void **state)
{
	double v[] = { 10, 11, 20, 21, 30, 31 };
	double i[] = { 2, -3, -1, 1 }, want[] = { 30, 31, 10, 11, 30, 31, 20, 21 };
	PmTensor flat = eval_vector(PM_F64, v, 6), index = eval_vector(PM_I32, i, 4);
	PmTensor x = eval_with("Reshape", "", flat, "int64{3,2}"), y = eval2("Gather", "axis=0", x, index),
		 out;
	PmTensor in[2];
	PmErr err;

	(void)state;
	pm_err_init(&err);
	eval_same(eval_with("Reshape", "", y, "int64{-1}"), eval_vector(PM_F64, want, 8), 0, "rows");
	pm_tensor_set_i(&index, 2, 3);
	in[0] = x;
	in[1] = index;
	assert_int_equal(eval_try("Gather", "axis=0", in, 2, NULL, &out, 1, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "Gather"));
	assert_non_null(strstr(err.text, "index 3 (element 2 of '"));
	pm_tensor_set_i(&index, 2, -4);
	assert_int_equal(eval_try("Gather", "axis=0", in, 2, NULL, &out, 1, NULL), PM_E_INVALID);
	pm_tensor_release(&flat);
	pm_tensor_release(&index);
	pm_tensor_release(&x);
	pm_tensor_release(&y);
}

/* Tile of one axis is Concat of copies; Expand of an axis of 1 is Tile. */
static void tile_and_expand_repeat(void **state)
{
	int64_t dim[] = { 2, 1, 3 };
	PmTensor x, in[4], many;
	PmRng r;
	int d;

	(void)state;
	pm_rng_init(&r, 14);
	x = eval_normal(&r, 3, dim);
	for (d = 0; d < 4; d++)
		in[d] = x;
	eval_all("Concat", "axis=2", in, 4, NULL, &many, 1);
	eval_same(eval_with("Tile", "", x, "int64{1,1,4}"), many, 0, "last axis");
	eval_all("Concat", "axis=0", in, 3, NULL, &many, 1);
	eval_same(eval_with("Tile", "", x, "int64{3,1,1}"), many, 0, "first axis");
	eval_same(eval_with("Expand", "", x, "int64{5,1}"), eval_with("Tile", "", x, "int64{1,5,1}"), 0,
		  "Expand");
	many = eval_with("Tile", "", x, "int64{2,3,0}");
	assert_int_equal(pm_tensor_numel(&many), 0);
	pm_tensor_release(&many);
	pm_tensor_release(&x);
}

/* Per axis, the source of position p of a reflected row is found by bouncing step by step. */
static int64_t bounce(int64_t p, int64_t n)
{
	int64_t at = 0, step = p < 0 ? -1 : 1, k;

	if (n == 1)
		return 0;
	for (k = 0; k != p; k += p < 0 ? -1 : 1) {
		if (at + step < 0 || at + step >= n)
			step = -step;
		at += step;
	}
	return at;
}

static void pads_take_from_where_the_mode_says(void **state)
{
	static const char *const modes[] = { "constant", "edge", "reflect" };
	PmRng r;
	int round, d;

	(void)state;
	pm_rng_init(&r, 15);
	for (round = 0; round < 3 * ROUNDS; round++) {
		const char *mode = modes[round % 3];
		int64_t dim[5], pads[10], to[5], i;
		int rank = shape(&r, 1, 4, dim);
		PmTensor in[2], got, want;
		char attrs[300];

		in[0] = eval_normal(&r, rank, dim);
		in[1] = eval_tensor(PM_F64, 0, NULL);
		pm_tensor_set(&in[1], 0, 7.5);
		for (d = 0; d < rank; d++) {
			int64_t least = dim[d] > 2 ? -1 : 0;

			pads[d] = pm_rng_range(&r, least, 3);
			pads[rank + d] = pm_rng_range(&r, least, 3);
			to[d] = dim[d] + pads[d] + pads[rank + d];
		}
		want = eval_tensor(PM_F64, rank, to);
		for (i = 0; i < pm_tensor_numel(&want); i++) {
			int64_t at[5], rest = i, from = 0;

			for (d = rank; d-- > 0;) {
				at[d] = rest % to[d] - pads[d];
				rest /= to[d];
			}
			for (d = 0; d < rank && from >= 0; d++) {
				int64_t p = at[d], n = dim[d];

				if (p < 0 || p >= n)
					p = mode[0] == 'c'
						    ? -1
						    : (mode[0] == 'r' ? bounce(p, n) : (p < 0 ? 0 : n - 1));
				from = p < 0 ? -1 : from * n + p;
			}
			pm_tensor_set(&want, i, from < 0 ? 7.5 : pm_tensor_get(&in[0], from));
		}
		snprintf(attrs, sizeof attrs, "mode='%s' %s", mode,
			 eval_list("pads", pads, 2 * (size_t)rank));
		eval_all("Pad", attrs, in, mode[0] == 'c' ? 2 : 1, NULL, &got, 1);
		eval_same(got, want, 0, attrs);
		pm_tensor_release(&in[0]);
		pm_tensor_release(&in[1]);
	}
}

static void integers_move_whole(void **state)
{
	PmTensor x = eval_tensor(PM_I64, 1, (int64_t[]){ 3 }), y;

	(void)state;
	pm_tensor_set_i(&x, 0, INT64_MAX);
	pm_tensor_set_i(&x, 1, INT64_MIN + 1);
	pm_tensor_set_i(&x, 2, ((int64_t)1 << 53) + 1);
	y = eval1("Slice", "starts=[2] ends=[-9] axes=[0] steps=[-1]", x);
	assert_true(pm_tensor_get_i(&y, 0) == ((int64_t)1 << 53) + 1);
	eval_same(eval1("Slice", "starts=[2] ends=[-9] axes=[0] steps=[-1]", y), x, 0, "twice reversed");
	pm_tensor_release(&y);
}

static void shapes_become_values(void **state)
{
	double all[] = { 2, 0, 5 }, some[] = { 0, 5 };
	PmTensor x = eval_tensor(PM_F32, 3, (int64_t[]){ 2, 0, 5 }), y;

	(void)state;
	eval_same(eval1("Shape", "start=0 end=3", x), eval_vector(PM_I64, all, 3), 0, "Shape");
	eval_same(eval1("Shape", "start=1 end=3", x), eval_vector(PM_I64, some, 2), 0, "Shape from 1");
	eval_all("ConstantOfShape", "value=int32{-7}", NULL, 0, "int64{2,3}", &y, 1);
	assert_int_equal(y.type.dtype, PM_I32);
	assert_int_equal(pm_tensor_numel(&y), 6);
	assert_int_equal(pm_tensor_get_i(&y, 5), -7);
	pm_tensor_release(&x);
	pm_tensor_release(&y);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(transpose_follows_the_index_formula_and_undoes_itself),
		cmocka_unit_test(split_and_concat_undo_each_other),
		cmocka_unit_test(slice_is_a_gather_of_its_positions),
		cmocka_unit_test(gather_reads_rows_and_counts_from_the_end),
		cmocka_unit_test(tile_and_expand_repeat),
		cmocka_unit_test(pads_take_from_where_the_mode_says),
		cmocka_unit_test(integers_move_whole),
		cmocka_unit_test(shapes_become_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
