/* SPDX-License-Identifier: Apache-2.0 */
/* test_eager.c - the eager executor on the emulated device against the reference device. */
#include "tests/lib/device/bound_check.h"
#include "tests/lib/device/eager_bench.h"

#include "bench/compare/agree.h"
#include "bench/inputs/inputs.h"
#include "ir/infer/infer.h"
#include "ir/onnx/onnx.h"
#include "runtime/worker/run.h"
#include "tests/lib/graphs/eval.h"
#include "tests/lib/graphs/gen_graph.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Every row on every pair of awkward values. */
static void rows_in_double(void **state)
{
	(void)state;
	eager_check("emu", PM_F64, EAGER_ROWS);
}

static void rows_in_float(void **state)
{
	(void)state;
	eager_check("emu", PM_F32, EAGER_ROWS);
}

static void rows_in_float16(void **state)
{
	(void)state;
	eager_check("emu", PM_F16, EAGER_ROWS);
}

static void rows_in_int64(void **state)
{
	(void)state;
	eager_check("emu", PM_I64, EAGER_ROWS);
}

static void rows_in_uint8(void **state)
{
	(void)state;
	eager_check("emu", PM_U8, EAGER_ROWS);
}

/* The type whose arithmetic is unsigned. */
static void rows_in_uint64(void **state)
{
	(void)state;
	eager_check("emu", PM_U64, EAGER_ROWS);
}

static void rows_in_bool(void **state)
{
	(void)state;
	eager_check("emu", PM_BOOL, EAGER_ROWS);
}

static void casts_agree(void **state)
{
	(void)state;
	eager_check("emu", PM_F32, EAGER_CASTS);
}

static void mixed_powers_agree(void **state)
{
	(void)state;
	eager_check("emu", PM_F32, EAGER_POWERS);
}

static void operators_agree_in_float(void **state)
{
	(void)state;
	eager_check("emu", PM_F32, EAGER_NUMBERS | EAGER_FLOATS | EAGER_MOVES);
}

static void mark(EagerBench *b, unsigned char *used)
{
	for (size_t i = 0; i < pm_graph_n_nodes(b->g); i++)
		used[pm_node_op(b->g, pm_graph_node_at(b->g, i))] = 1;
	eager_free(b);
}

/* A new operator of the table needs a case in tests/lib/device/eager_bench.c, where it is compared with the
 * reference. Some are compared by the ONNX node tests (tests/conform) alone; Shape and ConstantOfShape launch
 * nothing. */
static void every_operator_has_a_case(void **state)
{
	unsigned char used[PM_N_OPS] = { [PM_OP_ReduceLogSum] = 1,
					 [PM_OP_BatchNormalization] = 1,
					 [PM_OP_DequantizeLinear] = 1,
					 [PM_OP_Shape] = 1,
					 [PM_OP_ConstantOfShape] = 1 };
	EagerBench *b = eager_open();
	PmStr missing = PM_STR_INIT;

	(void)state;
	eager_add_rows(b, PM_F32);
	eager_add_numbers(b, PM_F32);
	eager_add_floats(b, PM_F32);
	mark(b, used);
	b = eager_open();
	eager_add_moves(b, PM_F32);
	eager_add_infinity(b, PM_F32);
	eager_add_casts(b);
	eager_add_rows(b, PM_BOOL);
	eager_add_rows(b, PM_I64);
	mark(b, used);
	for (int op = PM_OP_NONE + 1; op < PM_N_OPS; op++)
		if (!used[op] &&
		    !(pm_op_desc((PmOp)op)->flags & (PM_OPF_OPAQUE | PM_OPF_KERNEL | PM_OPF_DATA)))
			pm_str_addf(&missing, " %s", pm_op_desc((PmOp)op)->name);
	if (missing.len)
		fail_msg("without a case in tests/lib/device/eager_bench.c:%s", missing.s);
	pm_str_release(&missing);
}

static void operators_agree_in_double(void **state)
{
	(void)state;
	eager_check("emu", PM_F64, EAGER_NUMBERS | EAGER_FLOATS);
}

static void operators_agree_in_bfloat16(void **state)
{
	(void)state;
	eager_check("emu", PM_BF16, EAGER_FLOATS);
}

static void operators_agree_on_integers(void **state)
{
	static const int types[] = { PM_I32, PM_U8, PM_U64 };

	(void)state;
	eager_check_integers("emu", types, sizeof types / sizeof *types);
}

/* Rows of infinities and NaN go through softmax and the extremes alike. */
static void reductions_meet_infinity(void **state)
{
	(void)state;
	eager_check("emu", PM_F32, EAGER_INFINITY);
}

static const char *name_of(void *g, size_t k)
{
	return pm_value_name(g, pm_graph_output(g, k));
}

/* Random graphs of the whole table, views on views included, agree as far as their conditioning lets them. */
static void random_graphs_agree(void **state)
{
	enum { GRAPHS = 20 };
	PmDevice *d = NULL;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	if (pm_device_open("emu", &d, &err))
		pm_test_skip("%s", err.text);
	d->ops->close(d);
	for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
		GenOpts o = { .seed = seed, .n_nodes = 14, .zero_dims = seed % 4 == 0, .max_numel = 512 };
		PmRunOpts ref = { .device = "ref" },
			  emu = { .device = "emu", .deadline = 100, .poison = 0x7fc1d00d };
		PmGraph *g = gen_graph(&o);
		size_t n_in = pm_graph_n_inputs(g), n_out = pm_graph_n_outputs(g);
		PmTensor *in = test_calloc(n_in + 1, sizeof *in);
		PmAgreement *a = test_calloc(n_out + 1, sizeof *a);
		PmRunResult want, got;

		assert_int_equal(pm_inputs_make(g, seed, PM_INPUTS_NORMAL, in, &err), PM_OK);
		if (pm_run_graph(g, in, n_in, &ref, &want, &err))
			fail_msg("seed %d on ref: %s", (int)seed, err.text);
		if (pm_run_graph(g, in, n_in, &emu, &got, &err))
			fail_msg("seed %d on emu: %s", (int)seed, err.text);
		assert_int_equal(pm_agree(g, in, got.out, want.out, n_out, 1, a, &err), PM_OK);
		bound_check(g, in, got.out, n_out, name_of, g);
		for (size_t k = 0; k < n_out; k++)
			if (!a[k].agrees && !a[k].ill_conditioned)
				fail_msg("seed %d, output '%s': element %lld is %g instead of %g", (int)seed,
					 pm_value_name(g, pm_graph_output(g, k)),
					 (long long)a[k].c.worst.index, a[k].c.worst.got,
					 a[k].c.worst.expected);
		pm_run_result_release(&want);
		pm_run_result_release(&got);
		pm_tensors_release(in, n_in);
		test_free(in);
		test_free(a);
		pm_graph_free(g);
	}
}

/* One group of a million elements: a single float sum would be off by 1e-4. */
static void long_rows_keep_their_digits(void **state)
{
	static const char text[] =
		"g (float[1,2,500000] x, float[2] s, float[2] b) => (float[1,2,500000] y) { "
		"y = GroupNormalization<num_groups = 1>(x, s, b) }";
	PmRunOpts ref = { .device = "ref" }, emu = { .device = "emu", .deadline = 100 };
	PmRunResult want, got;
	PmAgreement a;
	PmTensor in[3];
	PmGraph *g;
	PmErr err;

	(void)state;
	pm_test_need_device("emu");
	pm_err_init(&err);
	g = pm_test_graph(text);
	assert_int_equal(pm_inputs_make(g, 1, PM_INPUTS_NORMAL, in, &err), PM_OK);
	for (int64_t i = 0; i < 1000000; i++) /* a mean far from 0 */
		pm_tensor_set(&in[0], i, pm_tensor_get(&in[0], i) + 1);
	assert_int_equal(pm_run_graph(g, in, 3, &ref, &want, &err), PM_OK);
	assert_int_equal(pm_run_graph(g, in, 3, &emu, &got, &err), PM_OK);
	assert_int_equal(pm_agree(g, in, got.out, want.out, 1, 1, &a, &err), PM_OK);
	if (a.nrms > 1e-6)
		fail_msg("the norm of the difference is %g", a.nrms);
	pm_run_result_release(&want);
	pm_run_result_release(&got);
	pm_tensors_release(in, 3);
	pm_graph_free(g);
}

/* What is padded counts as 0, also where a weight is infinite. */
static void padding_counts_as_zero(void **state)
{
	static const char text[] =
		"g (float[1,2,3,4] x) => (float[1,2,3,4] y) <float[2,1,3,3] w = {inf, 1, 1, 1, 1, 1, 1, 1, "
		"-inf, "
		"1, 1, 1, 1, 1, nan, 1, 1, 1}> { y = Conv <group = 2, strides = [1, 1], pads = [1, 1, 1, 1], "
		"dilations = [1, 1]> (x, w) }";
	PmRunOpts ref = { .device = "ref" }, emu = { .device = "emu", .deadline = 100 };
	PmRunResult want, got;
	PmTensor in[1];
	PmGraph *g;
	PmErr err;

	(void)state;
	pm_test_need_device("emu");
	pm_err_init(&err);
	g = pm_test_graph(text);
	assert_int_equal(pm_inputs_make(g, 1, PM_INPUTS_NORMAL, in, &err), PM_OK);
	assert_int_equal(pm_run_graph(g, in, 1, &ref, &want, &err), PM_OK);
	assert_int_equal(pm_run_graph(g, in, 1, &emu, &got, &err), PM_OK);
	for (int64_t i = 0; i < 24; i++) {
		double a = pm_tensor_get(&want.out[0], i), b = pm_tensor_get(&got.out[0], i);

		if (isfinite(a) != isfinite(b) || isnan(a) != isnan(b) ||
		    (isfinite(a) && fabs(a - b) > 1e-5) || (isinf(a) && a != b))
			fail_msg("element %d is %g instead of %g", (int)i, b, a);
	}
	pm_run_result_release(&want);
	pm_run_result_release(&got);
	pm_tensors_release(in, 1);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_rows_keep_their_digits),
		cmocka_unit_test(rows_in_double),
		cmocka_unit_test(rows_in_float),
		cmocka_unit_test(rows_in_float16),
		cmocka_unit_test(rows_in_int64),
		cmocka_unit_test(rows_in_uint8),
		cmocka_unit_test(rows_in_uint64),
		cmocka_unit_test(rows_in_bool),
		cmocka_unit_test(casts_agree),
		cmocka_unit_test(mixed_powers_agree),
		cmocka_unit_test(operators_agree_in_float),
		cmocka_unit_test(every_operator_has_a_case),
		cmocka_unit_test(operators_agree_in_double),
		cmocka_unit_test(operators_agree_in_bfloat16),
		cmocka_unit_test(operators_agree_on_integers),
		cmocka_unit_test(reductions_meet_infinity),
		cmocka_unit_test(random_graphs_agree),
		cmocka_unit_test(padding_counts_as_zero),
	};

	return cmocka_run_group_tests_name("eager", tests, NULL, NULL);
}
