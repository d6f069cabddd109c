/* SPDX-License-Identifier: Apache-2.0 */
/* lib_loops.c - what a library call says, by plain loops in double. */
#include "tests/lib/device/lib_loops.h"

#include "runtime/device/tensor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The whole buffer behind an argument as numbers, and how many stand before its offset. */
static PmTensor fetch(PmDevice *d, const PmDevArg *a, int dtype, int64_t numel, int64_t *first)
{
	PmType t = { .dtype = dtype, .rank = 1 };
	PmTensor out;
	PmErr err;

	pm_err_init(&err);
	*first = a->offset / (int64_t)pm_dtype_size(dtype);
	t.dim[0] = numel + *first;
	if (pm_tensor_init(&out, &t, &err) ||
	    d->ops->download(d, a->buf, 0, out.data, (int64_t)out.bytes, &err))
		fail_msg("%s", err.text);
	return out;
}

static void gemm_once(PmDevice *d, const PmLibCall *c, const PmDevArg *args)
{
	const PmLibGemm *g = &c->gemm;
	int64_t fa, fb, fy, fc = 0, ny = g->batch * g->m * g->n;
	int64_t na = (g->batch - 1) * g->a_batch + (g->m - 1) * g->a_row + (g->k - 1) * g->a_col + 1;
	int64_t nb = (g->batch - 1) * g->b_batch + (g->k - 1) * g->b_row + (g->n - 1) * g->b_col + 1;
	PmTensor a = fetch(d, &args[1], c->dtype, na, &fa), b = fetch(d, &args[2], c->dtype, nb, &fb),
		 y = fetch(d, &args[0], g->sums ? pm_dtype_sums(c->dtype) : c->dtype, ny, &fy),
		 third = { .data = NULL };

	if (g->c)
		third = fetch(d, &args[3], c->dtype, g->c == PM_LIB_C_COLUMNS ? g->n : ny, &fc);
	for (int64_t i = 0; i < ny; i++) {
		int64_t col = i % g->n, row = i / g->n % g->m, at = i / g->n / g->m;
		double sum = 0;

		for (int64_t k = 0; k < g->k; k++)
			sum += pm_tensor_get(&a, fa + at * g->a_batch + row * g->a_row + k * g->a_col) *
			       pm_tensor_get(&b, fb + at * g->b_batch + k * g->b_row + col * g->b_col);
		sum *= g->alpha;
		if (g->c == PM_LIB_C_COLUMNS)
			sum += pm_tensor_get(&third, fc + col);
		if (g->c == PM_LIB_C_MATRIX)
			sum += g->beta * pm_tensor_get(&third, fc + i);
		pm_tensor_set(&y, fy + i, sum);
	}
	assert_int_equal(d->ops->upload(d, args[0].buf, 0, y.data, (int64_t)y.bytes, NULL), PM_OK);
	pm_tensor_release(&a);
	pm_tensor_release(&b);
	pm_tensor_release(&y);
	pm_tensor_release(&third);
}

static void gemm(PmDevice *d, const PmLibCall *c, const PmDevArg *args)
{
	PmDevArg moved[4];

	for (int64_t o = 0; o < c->gemm.outer; o++) {
		for (int i = 0; i < 3 + (c->gemm.c != 0); i++) {
			moved[i] = args[i];
			moved[i].offset += o * c->step[i];
			assert_true(moved[i].offset % c->align[i] == 0);
		}
		gemm_once(d, c, moved);
	}
}

static int64_t product(const int64_t *v, int n)
{
	int64_t p = 1;

	while (n-- > 0)
		p *= v[n];
	return p;
}

/* Where element (n, c, p) of [n, channels, places] lies. */
static int64_t element(const PmLibConv *v, int64_t n, int64_t c, int64_t p, int64_t channels, int64_t places)
{
	return v->channels_last ? (n * places + p) * channels + c : (n * channels + c) * places + p;
}

/* The sum for one output element; `at` holds its coordinates. */
static double conv_one(const PmLibConv *v, const PmTensor *x, const PmTensor *w, const int64_t *at,
		       int64_t fx, int64_t fw)
{
	int64_t places = product(v->x + 2, v->spatial);
	int64_t per_group = v->w[0] / v->groups, channels = v->w[1], group = at[1] / per_group, taps;
	double sum = 0;

	taps = product(v->w + 2, v->spatial);
	for (int64_t c = 0; c < channels; c++)
		for (int64_t k = 0; k < taps; k++) {
			int64_t rest = k, xi = 0, scale = 1;
			int inside = 1;

			for (int d = v->spatial - 1; d >= 0; d--) {
				int64_t p = at[2 + d] * v->stride[d] - v->pad[d] +
					    rest % v->w[2 + d] * v->dilation[d];

				rest /= v->w[2 + d];
				inside &= p >= 0 && p < v->x[2 + d];
				xi += p * scale;
				scale *= v->x[2 + d];
			}
			if (inside)
				sum += pm_tensor_get(x, fx + element(v, at[0], group * channels + c, xi,
								     v->x[1], places)) *
				       pm_tensor_get(w, fw + element(v, at[1], c, k, channels, taps));
		}
	return sum;
}

/* The same of a transposed one: what each tap of each input that reaches the place gives. */
static double transposed_one(const PmLibConv *v, const PmTensor *x, const PmTensor *w, const int64_t *at,
			     int64_t fx, int64_t fw)
{
	int64_t each = v->w[1], channels = v->x[1] / v->groups, group = at[1] / each,
		taps = product(v->w + 2, v->spatial), places = product(v->x + 2, v->spatial);
	double sum = 0;

	for (int64_t c = group * channels; c < (group + 1) * channels; c++)
		for (int64_t k = 0; k < taps; k++) {
			int64_t rest = k, xi = 0, scale = 1;
			int inside = 1;

			for (int d = v->spatial - 1; d >= 0; d--) {
				int64_t p = at[2 + d] + v->pad[d] - rest % v->w[2 + d] * v->dilation[d];

				rest /= v->w[2 + d];
				inside &= p >= 0 && p % v->stride[d] == 0 && p / v->stride[d] < v->x[2 + d];
				xi += p / v->stride[d] * scale;
				scale *= v->x[2 + d];
			}
			if (inside)
				sum += pm_tensor_get(x, fx + element(v, at[0], c, xi, v->x[1], places)) *
				       pm_tensor_get(w, fw + element(v, c, at[1] % each, k, each, taps));
		}
	return sum;
}

static void conv(PmDevice *d, const PmLibCall *c, const PmDevArg *args)
{
	const PmLibConv *v = &c->conv;
	int rank = v->spatial + 2;
	int64_t fx, fw, fy, fb = 0, ny = product(v->y, rank), places = product(v->y + 2, v->spatial);
	PmTensor x = fetch(d, &args[1], c->dtype, product(v->x, rank), &fx),
		 w = fetch(d, &args[2], c->dtype, product(v->w, rank), &fw),
		 y = fetch(d, &args[0], c->dtype, ny, &fy), bias = { .data = NULL };

	if (v->has_bias)
		bias = fetch(d, &args[3], c->dtype, v->y[1], &fb);
	for (int64_t i = 0; i < ny; i++) {
		int64_t at[5], rest = i, to;

		for (int k = rank - 1; k >= 0; k--) {
			at[k] = rest % v->y[k];
			rest /= v->y[k];
		}
		to = fy + element(v, at[0], at[1], i % places, v->y[1], places);
		pm_tensor_set(&y, to,
			      (v->transposed ? transposed_one : conv_one)(v, &x, &w, at, fx, fw) +
				      (v->onto ? pm_tensor_get(&y, to) : 0) +
				      (v->has_bias ? pm_tensor_get(&bias, fb + at[1]) : 0));
	}
	assert_int_equal(d->ops->upload(d, args[0].buf, 0, y.data, (int64_t)y.bytes, NULL), PM_OK);
	pm_tensor_release(&x);
	pm_tensor_release(&w);
	pm_tensor_release(&y);
	pm_tensor_release(&bias);
}

void lib_loops_run(PmDevice *d, const PmLibCall *c, const PmDevArg *args)
{
	for (int i = 0; i < 3; i++) {
		assert_int_equal(args[i].kind, PM_DARG_BUF);
		assert_true(c->align[i] >= 1 && args[i].offset % c->align[i] == 0);
	}
	(c->kind == PM_LIB_GEMM ? gemm : conv)(d, c, args);
}
