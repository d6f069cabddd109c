/* SPDX-License-Identifier: Apache-2.0 */
/* test_input_pool.c - are the inputs of timed calls new in every call, legal, and the same wherever they are
 * made?
 */
#include "base/sys/threads.h"
#include "bench/inputs/inputs.h"
#include "kernels/redraw.cu.h"
#include "runtime/device/device.h"
#include "runtime/device/input_pool.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 10000, ROWS = 5, ROW = 4 };

/* A input pool of a graph's inputs, all of them drawn. */
static PmInputPool input_pool_of(const PmGraph *g, uint64_t seed)
{
	size_t n = pm_graph_n_inputs(g);
	PmTensor *t = calloc(n, sizeof *t), *table = calloc(n, sizeof *table);

	for (size_t i = 0; i < n; i++) {
		assert_true(pm_inputs_are_free(g, i));
		t[i].type = *pm_value_type(g, pm_graph_input(g, i));
		assert_int_equal(pm_inputs_draw(g, i, seed, PM_INPUTS_NORMAL, PM_BANK_TABLE, &table[i], NULL),
				 PM_OK);
	}
	return (PmInputPool){ .t = t, .n_sets = 1, .n_in = n, .seed = seed, .table = table };
}

static void drop_input_pool(PmInputPool *b)
{
	pm_tensors_release(pm_unconst(b->table), b->n_in);
	free(pm_unconst(b->table));
	free(pm_unconst(b->t));
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t hash_row(const void *p, size_t bytes)
{
	PmDigest d = { { 0, 0 } };

	pm_digest_add(&d, 1, 0, p, (int64_t)bytes);
	return d.v[0];
}

/* Rows of four elements are the shortest for which that can be asked: in 10,000 calls none is there twice. */
static void no_row_recurs(void **state)
{
	static const char *const types[] = { "float", "float16", "bfloat16", "double" };
	uint64_t *seen = malloc(sizeof *seen * CALLS * ROWS);

	(void)state;
	for (int k = 0; k < 4; k++) {
		char text[128];
		PmGraph *g;
		PmInputPool b;
		PmTensor in;
		size_t n = 0;

		snprintf(text, sizeof text, "g (%s[%d,%d] x) => (%s[%d,%d] y) { y = Neg(x) }", types[k], ROWS,
			 ROW, types[k], ROWS, ROW);
		g = pm_test_graph(text);
		b = input_pool_of(g, 20261122);
		for (uint64_t call = 0; call < CALLS; call++) {
			assert_int_equal(pm_input_pool_inputs(&b, call, &in, NULL), PM_OK);
			for (size_t r = 0; r < ROWS; r++, n++)
				seen[n] = hash_row((const char *)in.data + r * in.bytes / ROWS,
						   in.bytes / ROWS);
			pm_tensor_release(&in);
		}
		qsort(seen, n, sizeof *seen, by_value);
		for (size_t i = 1; i < n; i++)
			if (seen[i] == seen[i - 1])
				fail_msg("A row of four %s elements is there twice.", types[k]);
		drop_input_pool(&b);
		pm_graph_free(g);
	}
	free(seen);
}

/* What an input may hold is what it holds, in every call: positive numbers, probabilities, indices in range.
 */
static void values_are_legal(void **state)
{
	PmGraph *g = pm_test_graph(
		"g (float[3,50] x, float[50] var, float[4,7] p, int64[20] i, float[9,50] w) => "
		"(float[3,50] a, float[4,7] b, float[20,50] c)\n"
		"{ s = Sqrt(var)\n a = Div(x, s)\n b = Log(p)\n c = Gather <axis = 0> (w, i) }");
	PmInputPool b = input_pool_of(g, 5);
	PmTensor in[5];

	(void)state;
	for (uint64_t call = 0; call < 500; call++) {
		assert_int_equal(pm_input_pool_inputs(&b, call, in, NULL), PM_OK);
		for (int k = 0; k < 50; k++) {
			double v = pm_tensor_get(&in[1], k);

			assert_true(v >= 0.2 && v <= 2 && isfinite(pm_tensor_get(&in[0], k)));
		}
		for (int k = 0; k < 28; k++)
			assert_true(pm_tensor_get(&in[2], k) > 0);
		for (int k = 0; k < 20; k++)
			assert_in_range(pm_tensor_get_i(&in[3], k), 0, 8);
		pm_tensors_release(in, 5);
	}
	drop_input_pool(&b);
	pm_graph_free(g);
}

/* The mean is the distribution's, and so is the deviation: 400,000 elements of N(0, 1). */
static void the_distribution_stays(void **state)
{
	PmGraph *g = pm_test_graph("g (float[100,40] x) => (float[100,40] y) { y = Neg(x) }");
	PmInputPool b = input_pool_of(g, 77);
	double sum = 0, squares = 0, n = 0;
	PmTensor in;

	(void)state;
	for (uint64_t call = 0; call < 100; call++) {
		assert_int_equal(pm_input_pool_inputs(&b, call, &in, NULL), PM_OK);
		for (int k = 0; k < 4000; k++, n++) {
			double v = pm_tensor_get(&in, k);

			sum += v;
			squares += v * v;
		}
		pm_tensor_release(&in);
	}
	assert_true(fabs(sum / n) < 0.08 && fabs(squares / n - 1) < 0.12); /* of a table of 4,096 */
	drop_input_pool(&b);
	pm_graph_free(g);
}

/* What is tied together is not drawn one by one. */
static void tied_elements_are_left_alone(void **state)
{
	PmGraph *g = pm_test_graph(
		"g (float[4,6] x, bool[4,6] m, int64[3] i, float[3,6] u) => (float[4,6] y, float[4,6] z)\n"
		"{ c = Constant <value = float {-inf}> ()\n w = Where(m, x, c)\n"
		"y = Softmax <axis = 1> (w)\n k = Constant <value = int64[2] {3, 1}> ()\n"
		"j = Reshape(i, k)\n z = ScatterND(x, j, u) }");

	(void)state;
	assert_true(pm_inputs_are_free(g, 0) && pm_inputs_are_free(g, 3));
	assert_false(pm_inputs_are_free(g, 1));
	assert_false(pm_inputs_are_free(g, 2));
	pm_graph_free(g);
}

/* The emulated device makes the bits that the host makes, of every type, and not a byte more. */
static void the_device_makes_the_same(void **state)
{
	enum { N = 1003 };
	PmDevice *d = NULL;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	if (pm_device_open("emu", &d, &err))
		fail_msg("%s", err.text);
	for (int dtype = 0; dtype < PM_N_DTYPES; dtype++) {
		size_t size = pm_dtype_size(dtype);
		unsigned char *table = malloc(PM_BANK_TABLE * size), *here = malloc(N * size),
			      *there = malloc((N + 1) * size);
		PmBuf buf, from;

		if (!size)
			continue;
		for (size_t i = 0; i < PM_BANK_TABLE * size; i++)
			table[i] = (unsigned char)pm_mix64(i);
		assert_int_equal(d->ops->alloc(d, (int64_t)((N + 1) * size), PM_BUF_INPUT, &buf, &err),
				 PM_OK);
		assert_int_equal(d->ops->alloc(d, (int64_t)(PM_BANK_TABLE * size), PM_BUF_INPUT, &from, &err),
				 PM_OK);
		assert_int_equal(d->ops->upload(d, from, 0, table, (int64_t)(PM_BANK_TABLE * size), &err),
				 PM_OK);
		assert_int_equal(d->ops->fill(d, buf, 0, (int64_t)((N + 1) * size), 0x5a5a5a5au, &err),
				 PM_OK);
		assert_int_equal(d->ops->draw(d, buf, N, dtype, from, 42, &err), PM_OK);
		assert_int_equal(d->ops->download(d, buf, 0, there, (int64_t)((N + 1) * size), &err), PM_OK);
		pm_input_pool_draw(here, N, dtype, table, 42);
		assert_memory_equal(here, there, N * size);
		for (size_t k = 0; k < size; k++)
			assert_int_equal(there[N * size + k], 0x5a);
		assert_int_equal(d->ops->draw(d, buf, N + 2, dtype, from, 42, &err), PM_E_INVALID);
		d->ops->release(d, buf);
		d->ops->release(d, from);
		free(table);
		free(here);
		free(there);
	}
	d->ops->close(d);
}

/* The kernel that a GPU runs, on the emulated device: the bits that the host makes, in every place. */
static void the_gpus_kernel_makes_the_same(void **state)
{
	enum { N = 1003 };
	static const char *const entry[] = { "redraw1", "redraw2", "redraw4", "redraw8" };
	static const int dtype[] = { PM_I8, PM_U8, PM_F16, PM_BF16, PM_F32, PM_I32, PM_F64, PM_I64 };
	PmSource source = { "redraw.cu", redraw_cu, PM_F32 };
	PmDevice *d = NULL;
	PmModule m;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	if (pm_device_open("emu", &d, &err) || d->ops->load(d, &source, 1, &m, &err))
		fail_msg("%s", err.text);
	for (int k = 0; k < 8; k++) {
		int64_t size = (int64_t)pm_dtype_size(dtype[k]);
		unsigned char *table = malloc((size_t)(PM_BANK_TABLE * size)), here[N * 8], there[N * 8];
		PmDevArg arg[5] = { { .kind = PM_DARG_BUF },
				    { .kind = PM_DARG_I64, .i = N },
				    { .kind = PM_DARG_BUF, .readonly = 1 },
				    { .kind = PM_DARG_I64, .i = 1234567 + k },
				    { .kind = PM_DARG_I64, .i = (int64_t)pm_input_pool_noise(dtype[k]) } };
		PmDevLaunch l = { m, entry[k / 2], { 2, 1, 1 }, { 64, 1, 1 }, 0, arg, 5 };

		for (int64_t i = 0; i < PM_BANK_TABLE * size; i++)
			table[i] = (unsigned char)pm_mix64((uint64_t)i);
		if (d->ops->alloc(d, N * size, PM_BUF_OUTPUT, &arg[0].buf, &err) ||
		    d->ops->alloc(d, PM_BANK_TABLE * size, PM_BUF_SCRATCH, &arg[2].buf, &err) ||
		    d->ops->upload(d, arg[2].buf, 0, table, PM_BANK_TABLE * size, &err) ||
		    d->ops->launch(d, &l, &err) || d->ops->download(d, arg[0].buf, 0, there, N * size, &err))
			fail_msg("%s", err.text);
		pm_input_pool_draw(here, N, dtype[k], table, 1234567 + (uint64_t)k);
		assert_memory_equal(here, there, (size_t)(N * size));
		free(table);
	}
	d->ops->close(d);
}

/* Much is drawn and digested by several threads: the bits are those of the formulas, element by element. */
static void threads_make_the_same(void **state)
{
	enum { N = 200003, TABLE = PM_BANK_TABLE };
	static const int dtype[] = { PM_U8, PM_F16, PM_F32, PM_F64 };
	const uint64_t golden = 0x9e3779b97f4a7c15u;

	(void)state;
	for (int k = 0; k < 4; k++) {
		size_t size = pm_dtype_size(dtype[k]), per = size <= 2 ? 4 : 8 / size;
		unsigned char *table = malloc(TABLE * size), *want = malloc(N * size),
			      *got = malloc(N * size);
		uint64_t noise = pm_input_pool_noise(dtype[k]);
		PmDigest sum = { { 0, 0 } };

		assert_true(table && want && got);
		for (size_t i = 0; i < TABLE * size; i++)
			table[i] = (unsigned char)pm_mix64(i);
		for (size_t i = 0; i < N; i++) {
			uint64_t h = pm_mix64(77 + golden * (i / per)), v = 0;

			h >>= i % per * (per == 1 ? 0 : 64 / per);
			memcpy(&v, table + (h & (TABLE - 1)) * size, size);
			v ^= v & noise ? h >> PM_BANK_TABLE_BITS & noise : 0;
			memcpy(want + i * size, &v, size);
		}
		for (int half = 0; half < 2; half++) {
			uint64_t base = pm_digest_base(5, 3, (int64_t)(N * size), half);

			for (size_t i = 0; i * 8 < N * size; i++) {
				uint64_t w = 0;

				memcpy(&w, want + i * 8, N * size - i * 8 < 8 ? N * size - i * 8 : 8);
				sum.v[half] += pm_mix64(w ^ pm_mix64(base + golden * i));
			}
		}
		for (int threads = 1; threads < 5; threads += 3) {
			PmDigest d = { { 0, 0 } };

			pm_threads_limit(threads);
			memset(got, 0, N * size);
			pm_input_pool_draw(got, N, dtype[k], table, 77);
			assert_memory_equal(got, want, N * size);
			pm_digest_add(&d, 5, 3, got, (int64_t)(N * size));
			assert_true(pm_digest_equal(&d, &sum));
		}
		pm_threads_limit(0);
		free(table);
		free(want);
		free(got);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_make_the_same),
		cmocka_unit_test(no_row_recurs),
		cmocka_unit_test(values_are_legal),
		cmocka_unit_test(the_distribution_stays),
		cmocka_unit_test(tied_elements_are_left_alone),
		cmocka_unit_test(the_device_makes_the_same),
		cmocka_unit_test(the_gpus_kernel_makes_the_same),
	};

	return cmocka_run_group_tests_name("bank", tests, NULL, NULL);
}
