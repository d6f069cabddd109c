/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref_dot.c - MatMul, Gemm and Conv against plain loops and against each other. */
#include "runtime/ref/ref_priv.h"
#include "tests/lib/graphs/eval.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void product_equals_plain_loops_bit_for_bit(void **state)
{
	PmRng r;
	int round;

	(void)state;
	pm_rng_init(&r, 1);
	for (round = 0; round < 40; round++) {
		int64_t m = pm_rng_range(&r, 1, 9), n = pm_rng_range(&r, 1, round % 8 ? 40 : 1200);
		int64_t k = pm_rng_range(&r, 1, round % 5 ? 30 : 200), i, j, p;
		PmTensor a = eval_normal(&r, 2, (int64_t[]){ m, k }),
			 b = eval_normal(&r, 2, (int64_t[]){ k, n });
		PmTensor want = eval_tensor(PM_F64, 2, (int64_t[]){ m, n });

		for (i = 0; i < m; i++)
			for (j = 0; j < n; j++) {
				double sum = 0;

				for (p = 0; p < k; p++)
					sum += pm_tensor_get(&a, i * k + p) * pm_tensor_get(&b, p * n + j);
				pm_tensor_set(&want, i * n + j, sum);
			}
		eval_same(eval2("MatMul", "", a, b), want, 0, "MatMul");
		pm_tensor_release(&a);
		pm_tensor_release(&b);
	}
}

/* Whatever vectors the processor has, whatever is left over at the edges of tiles and blocks, and with
 * infinities and NaN: the bits of plain loops. */
static void product_has_the_same_bits_with_all_vectors(void **state)
{
	static const int64_t size[][3] = { { 4, 6, 8 },     { 8, 24, 256 },   { 9, 25, 257 }, { 67, 53, 300 },
					   { 5, 700, 520 }, { 160, 241, 33 }, { 3, 24, 9 } };
	PmRng r;

	(void)state;
	pm_rng_init(&r, 3);
	for (size_t s = 0; s < sizeof size / sizeof *size; s++) {
		int64_t m = size[s][0], n = size[s][1], k = size[s][2], lda = k + 3, ldb = n + 1, ldc = n + 5;
		double *a = pm_xcalloc((size_t)(m * lda), sizeof *a),
		       *b = pm_xcalloc((size_t)(k * ldb), sizeof *b);
		double *want = pm_xcalloc((size_t)(m * ldc), sizeof *want),
		       *c = pm_xcalloc((size_t)(m * ldc), sizeof *c);

		for (int64_t i = 0; i < m * lda; i++)
			a[i] = pm_rng_normal(&r);
		for (int64_t i = 0; i < k * ldb; i++)
			b[i] = pm_rng_normal(&r);
		a[lda + 1] = INFINITY;
		b[2 * ldb + 3] = NAN;
		b[ldb + 2] = 0; /* times infinity */
		for (int64_t i = 0; i < m; i++)
			for (int64_t j = 0; j < n; j++) {
				double sum = (double)j;

				for (int64_t p = 0; p < k; p++) {
					volatile double product = a[i * lda + p] * b[p * ldb + j];

					sum += product;
				}
				want[i * ldc + j] = sum;
			}
		for (int lanes = 2; lanes <= 8; lanes *= 2) {
			for (int64_t i = 0; i < m * ldc; i++)
				c[i] = i % ldc < n ? (double)(i % ldc) : 0;
			pm__ref_vectors(lanes);
			pm__ref_gemm_f(m, n, k, a, lda, b, ldb, c, ldc);
			for (int64_t i = 0; i < m * ldc; i++)
				if (isnan(want[i]) ? !isnan(c[i]) : memcmp(&c[i], &want[i], sizeof *c) != 0)
					fail_msg("%lld x %lld x %lld, %d lanes: element %lld is %a, not %a",
						 (long long)m, (long long)n, (long long)k, lanes,
						 (long long)i, c[i], want[i]);
		}
		free(a);
		free(b);
		free(c);
		free(want);
	}
	pm__ref_vectors(8);
}

/* A batch of products is the products of the slices, with batch axes broadcast. */
static void batches_broadcast(void **state)
{
	int64_t da[] = { 3, 1, 4, 5 }, db[] = { 2, 5, 6 };
	PmTensor a, b, all;
	int64_t i, j;
	PmRng r;

	(void)state;
	pm_rng_init(&r, 2);
	a = eval_normal(&r, 4, da);
	b = eval_normal(&r, 3, db);
	all = eval2("MatMul", "", a, b);
	assert_int_equal(all.type.rank, 4);
	for (i = 0; i < 3; i++)
		for (j = 0; j < 2; j++) {
			PmTensor pa = eval_tensor(PM_F64, 2, da + 2), pb = eval_tensor(PM_F64, 2, db + 1);
			PmTensor part = eval_tensor(PM_F64, 2, (int64_t[]){ 4, 6 });

			memcpy(pa.data, (double *)a.data + i * 20, pa.bytes);
			memcpy(pb.data, (double *)b.data + j * 30, pb.bytes);
			memcpy(part.data, (double *)all.data + (i * 2 + j) * 24, part.bytes);
			eval_same(part, eval2("MatMul", "", pa, pb), 0, "slice");
			pm_tensor_release(&pa);
			pm_tensor_release(&pb);
		}
	pm_tensor_release(&a);
	pm_tensor_release(&b);
	pm_tensor_release(&all);
}

static void vectors_are_rows_and_columns(void **state)
{
	PmTensor v, m, row, got;
	PmRng r;

	(void)state;
	pm_rng_init(&r, 3);
	v = eval_normal(&r, 1, (int64_t[]){ 5 });
	m = eval_normal(&r, 3, (int64_t[]){ 2, 5, 3 });
	row = eval1("Unsqueeze", "axes=[0]", v);
	got = eval2("MatMul", "", row, m);
	eval_same(eval2("MatMul", "", v, m), eval1("Squeeze", "axes=[1]", got), 0, "vector first");
	pm_tensor_release(&row);
	pm_tensor_release(&got);
	got = eval2("MatMul", "", v, v);
	assert_int_equal(got.type.rank, 0);
	eval_same(got, eval1("ReduceSumSquare", "axes=[0] keepdims=0", v), 1e-14, "dot product");
	pm_tensor_release(&v);
	pm_tensor_release(&m);
}

static void integer_products_wrap_to_their_dtype(void **state)
{
	double a[] = { 100, 100, -128, 127 }, b[] = { 100, -3, 127, 1 };
	PmTensor x = eval_vector(PM_I8, a, 4), y = eval_vector(PM_I8, b, 4), z = eval2("MatMul", "", x, y);

	(void)state;
	assert_int_equal(z.type.dtype, PM_I8);
	/* 10000 - 300 - 16256 + 127 = -6429 = -29 modulo 256 */
	assert_int_equal(pm_tensor_get_i(&z, 0), -29);
	pm_tensor_release(&x);
	pm_tensor_release(&y);
	pm_tensor_release(&z);
}

static void gemm_is_matmul_transpose_and_axpy(void **state)
{
	int flags;
	PmRng r;

	(void)state;
	pm_rng_init(&r, 4);
	for (flags = 0; flags < 16; flags++) {
		int ta = flags & 1, tb = flags >> 1 & 1;
		int64_t m = pm_rng_range(&r, 1, 70), n = pm_rng_range(&r, 1, 70), k = pm_rng_range(&r, 1, 70);
		PmTensor a = eval_normal(&r, 2, ta ? (int64_t[]){ k, m } : (int64_t[]){ m, k });
		PmTensor b = eval_normal(&r, 2, tb ? (int64_t[]){ n, k } : (int64_t[]){ k, n });
		PmTensor c = eval_normal(&r, flags & 4 ? 1 : 2,
					 flags & 4 ? (int64_t[]){ n } : (int64_t[]){ m, 1 });
		PmTensor at = eval1(ta ? "Transpose" : "Identity", ta ? "perm=[1,0]" : "", a);
		PmTensor bt = eval1(tb ? "Transpose" : "Identity", tb ? "perm=[1,0]" : "", b);
		double scales[] = { 0.5, -2.0 };
		PmTensor half = eval_vector(PM_F64, scales, 1), two = eval_vector(PM_F64, scales + 1, 1);
		PmTensor p = eval2("MatMul", "", at, bt), ps = eval2("Mul", "", p, half);
		PmTensor cs = eval2("Mul", "", c, two);
		char attrs[96];

		snprintf(attrs, sizeof attrs, "alpha=0.5 beta=-2.0 transA=%d transB=%d", ta, tb);
		eval_same(eval3("Gemm", attrs, a, b, c), eval2("Add", "", ps, cs), 0, "Gemm");
		snprintf(attrs, sizeof attrs, "transA=%d transB=%d", ta, tb);
		eval_same(eval2("Gemm", attrs, a, b), p, 0, "Gemm without C");
		pm_tensor_release(&a);
		pm_tensor_release(&b);
		pm_tensor_release(&c);
		pm_tensor_release(&at);
		pm_tensor_release(&bt);
		pm_tensor_release(&half);
		pm_tensor_release(&two);
		pm_tensor_release(&ps);
		pm_tensor_release(&cs);
	}
}

/* ---- Conv ---- */

typedef struct Case {
	int nd;
	int64_t batch, groups, icg, ocg; /* channels per group */
	int64_t in[3], kernel[3], stride[3], dilation[3], pad[6], out[3];
} Case;

static Case draw(PmRng *r, int nd)
{
	Case c = { .nd = nd };
	int d;

	c.batch = pm_rng_range(r, 1, 2);
	c.groups = pm_rng_range(r, 1, 3);
	c.icg = pm_rng_range(r, 1, 4);
	c.ocg = pm_rng_range(r, 1, 4);
	for (d = 0; d < nd; d++) {
		int64_t reach;

		c.kernel[d] = pm_rng_range(r, 1, 3);
		c.stride[d] = pm_rng_range(r, 1, 3);
		c.dilation[d] = pm_rng_range(r, 1, 2);
		c.pad[d] = pm_rng_range(r, 0, 2);
		c.pad[nd + d] = pm_rng_range(r, 0, 2);
		reach = (c.kernel[d] - 1) * c.dilation[d] + 1;
		c.in[d] = pm_rng_range(r, reach, nd == 1 ? 900 : (nd == 2 ? 30 : 9));
		c.out[d] = (c.in[d] + c.pad[d] + c.pad[nd + d] - reach) / c.stride[d] + 1;
	}
	return c;
}

static const char *attrs_of(const Case *c)
{
	static char text[1024];

	snprintf(text, sizeof text, "group=%lld %s %s %s", (long long)c->groups,
		 eval_list("strides", c->stride, (size_t)c->nd),
		 eval_list("dilations", c->dilation, (size_t)c->nd),
		 eval_list("pads", c->pad, 2 * (size_t)c->nd));
	return text;
}

static PmTensor tensor_of(PmRng *r, const Case *c, int64_t a, int64_t b, const int64_t *spatial)
{
	int64_t dim[5] = { a, b };
	int d;

	for (d = 0; d < c->nd; d++)
		dim[d + 2] = spatial[d];
	return eval_normal(r, c->nd + 2, dim);
}

/* The convolution scattered from the input's side: each input element times each filter tap goes to the one
 * output it meets, if any. Axes missing in 1-D and 2-D have size 1. */
static void scatter_conv(const Case *c, const PmTensor *x, const PmTensor *w, PmTensor *y)
{
	int64_t in[3] = { 1, 1, 1 }, out[3] = { 1, 1, 1 }, ks[3] = { 1, 1, 1 }, n, g, i, o, e, t, d;
	int64_t taps, size, osize, ic = c->icg * c->groups, oc = c->ocg * c->groups;

	for (d = 0; d < c->nd; d++) {
		in[d] = c->in[d];
		out[d] = c->out[d];
		ks[d] = c->kernel[d];
	}
	taps = ks[0] * ks[1] * ks[2];
	size = in[0] * in[1] * in[2];
	osize = out[0] * out[1] * out[2];
	for (n = 0; n < c->batch; n++)
		for (e = 0; e < size; e++)
			for (t = 0; t < taps; t++) {
				int64_t pos[3] = { e / (in[1] * in[2]), e / in[2] % in[1], e % in[2] };
				int64_t tap[3] = { t / (ks[1] * ks[2]), t / ks[2] % ks[1], t % ks[2] };
				int64_t to = 0;

				for (d = 0; d < 3 && to >= 0; d++) {
					int64_t p = d < c->nd ? pos[d] + c->pad[d] - tap[d] * c->dilation[d]
							      : 0;
					int64_t s = d < c->nd ? c->stride[d] : 1;

					to = p < 0 || p % s || p / s >= out[d] ? -1 : to * out[d] + p / s;
				}
				if (to < 0)
					continue;
				for (g = 0; g < c->groups; g++)
					for (i = 0; i < c->icg; i++)
						for (o = 0; o < c->ocg; o++) {
							int64_t at = (n * oc + g * c->ocg + o) * osize + to;
							double v = pm_tensor_get(x, (n * ic + g * c->icg +
										     i) * size +
											    e) *
								   pm_tensor_get(w,
										 ((g * c->ocg + o) * c->icg +
										  i) * taps +
											 t);

							pm_tensor_set(y, at, pm_tensor_get(y, at) + v);
						}
			}
}

static void conv_equals_a_scatter_from_the_input(void **state)
{
	PmRng r;
	int round;

	(void)state;
	pm_rng_init(&r, 5);
	for (round = 0; round < 60; round++) {
		Case c = draw(&r, 1 + round % 3);
		PmTensor x = tensor_of(&r, &c, c.batch, c.icg * c.groups, c.in);
		PmTensor w = tensor_of(&r, &c, c.ocg * c.groups, c.icg, c.kernel);
		PmTensor y = tensor_of(&r, &c, c.batch, c.ocg * c.groups, c.out);

		memset(y.data, 0, y.bytes);
		scatter_conv(&c, &x, &w, &y);
		eval_same(eval2("Conv", attrs_of(&c), x, w), y, 1e-13, attrs_of(&c));
		pm_tensor_release(&x);
		pm_tensor_release(&w);
	}
}

static void conv_adds_the_bias_of_each_channel(void **state)
{
	PmRng r;
	int round;

	(void)state;
	pm_rng_init(&r, 6);
	for (round = 0; round < 9; round++) {
		Case c = draw(&r, 1 + round % 3);
		int64_t oc = c.ocg * c.groups, column[5] = { oc, 1, 1, 1, 1 };
		PmTensor x = tensor_of(&r, &c, c.batch, c.icg * c.groups, c.in);
		PmTensor w = tensor_of(&r, &c, oc, c.icg, c.kernel), b = eval_normal(&r, 1, &oc);
		PmTensor wide = eval_tensor(PM_F64, c.nd + 1, column), y;

		memcpy(wide.data, b.data, b.bytes);
		y = eval2("Conv", attrs_of(&c), x, w);
		eval_same(eval3("Conv", attrs_of(&c), x, w, b), eval2("Add", "", y, wide), 1e-13, "bias");
		pm_tensor_release(&x);
		pm_tensor_release(&w);
		pm_tensor_release(&b);
		pm_tensor_release(&wide);
		pm_tensor_release(&y);
	}
}

/* A 1x1 filter is a product over channels; more rows than a panel of the implementation holds. */
static void pointwise_conv_is_a_matmul(void **state)
{
	int64_t channels = 300, size = 700, filters = 7;
	PmTensor x, w, flat, y;
	PmRng r;

	(void)state;
	pm_rng_init(&r, 7);
	x = eval_normal(&r, 3, (int64_t[]){ 1, channels, size });
	w = eval_normal(&r, 3, (int64_t[]){ filters, channels, 1 });
	flat = eval1("Squeeze", "axes=[2]", w);
	y = eval2("MatMul", "", flat, x);
	eval_same(eval2("Conv", "strides=[1] dilations=[1] pads=[0,0]", x, w), y, 0, "1x1");
	pm_tensor_release(&x);
	pm_tensor_release(&w);
	pm_tensor_release(&flat);
}

/* ---- ConvTranspose ---- */

/* Every input element adds the filter where it reaches, in the order of channels, elements and taps. */
static void spread(const PmTensor *x, const PmTensor *w, int groups, const int64_t *stride,
		   const int64_t *dilation, const int64_t *pad, PmTensor *y)
{
	const int64_t *xd = x->type.dim, *wd = w->type.dim, *yd = y->type.dim;
	const double *xf = x->data, *wf = w->data;
	double *yf = y->data;

	for (int64_t b = 0; b < xd[0]; b++)
		for (int64_t i = 0; i < xd[1]; i++)
			for (int64_t o = 0; o < wd[1]; o++) {
				int64_t plane = b * yd[1] + i / (xd[1] / groups) * wd[1] + o;

				for (int64_t p = 0; p < xd[2] * xd[3] * wd[2] * wd[3]; p++) {
					int64_t at = p / (wd[2] * wd[3]), tap = p % (wd[2] * wd[3]);
					int64_t r = at / xd[3] * stride[0] + tap / wd[3] * dilation[0] -
						    pad[0];
					int64_t s = at % xd[3] * stride[1] + tap % wd[3] * dilation[1] -
						    pad[1];

					if (r >= 0 && r < yd[2] && s >= 0 && s < yd[3]) {
						volatile double product =
							xf[((b * xd[1] + i) * xd[2]) * xd[3] + at] *
							wf[((i * wd[1] + o) * wd[2]) * wd[3] + tap];

						yf[(plane * yd[2] + r) * yd[3] + s] += product;
					}
				}
			}
}

static void conv_transpose_has_the_bits_of_a_scatter(void **state)
{
	PmRng r;

	(void)state;
	pm_rng_init(&r, 8);
	for (int round = 0; round < 40; round++) {
		int64_t groups = pm_rng_range(&r, 1, 2), oc = pm_rng_range(&r, 1, 9),
			b = pm_rng_range(&r, 1, 2);
		int64_t xd[4] = { b, groups * pm_rng_range(&r, 1, 9), pm_rng_range(&r, 1, 7),
				  pm_rng_range(&r, 1, 40) };
		int64_t wd[4] = { xd[1], oc, pm_rng_range(&r, 1, 4), pm_rng_range(&r, 1, 5) };
		int64_t stride[2] = { pm_rng_range(&r, 1, 3), pm_rng_range(&r, 1, 4) };
		int64_t dilation[2] = { pm_rng_range(&r, 1, 2), pm_rng_range(&r, 1, 3) };
		int64_t pad[2] = { pm_rng_range(&r, 0, wd[2] - 1), pm_rng_range(&r, 0, wd[3] - 1) },
			more = stride[1] - 1;
		int64_t yd[4] = { b, groups * oc,
				  (xd[2] - 1) * stride[0] + (wd[2] - 1) * dilation[0] + 1 - pad[0],
				  (xd[3] - 1) * stride[1] + (wd[3] - 1) * dilation[1] + 1 + more -
					  2 * pad[1] };
		PmTensor x = eval_normal(&r, 4, xd), w = eval_normal(&r, 4, wd), want;
		char attrs[256];

		if (yd[2] < 1 || yd[3] < 1) {
			pm_tensor_release(&x);
			pm_tensor_release(&w);
			continue;
		}
		want = eval_tensor(PM_F64, 4, yd);
		if (round % 8 == 7) /* beside x there are no terms: no NaN comes of it */
			pm_tensor_set(&w, 0, INFINITY);
		snprintf(attrs, sizeof attrs,
			 "group=%lld strides=[%lld,%lld] dilations=[%lld,%lld] pads=[%lld,%lld,0,%lld] "
			 "output_padding=[0,%lld]",
			 (long long)groups, (long long)stride[0], (long long)stride[1],
			 (long long)dilation[0], (long long)dilation[1], (long long)pad[0], (long long)pad[1],
			 (long long)pad[1], (long long)more);
		spread(&x, &w, (int)groups, stride, dilation, pad, &want);
		eval_same(eval2("ConvTranspose", attrs, x, w), want, 0, attrs);
		pm_tensor_release(&x);
		pm_tensor_release(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(product_equals_plain_loops_bit_for_bit),
		cmocka_unit_test(product_has_the_same_bits_with_all_vectors),
		cmocka_unit_test(batches_broadcast),
		cmocka_unit_test(vectors_are_rows_and_columns),
		cmocka_unit_test(integer_products_wrap_to_their_dtype),
		cmocka_unit_test(gemm_is_matmul_transpose_and_axpy),
		cmocka_unit_test(conv_equals_a_scatter_from_the_input),
		cmocka_unit_test(conv_adds_the_bias_of_each_channel),
		cmocka_unit_test(pointwise_conv_is_a_matmul),
		cmocka_unit_test(conv_transpose_has_the_bits_of_a_scatter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
