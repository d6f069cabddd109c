/* SPDX-License-Identifier: Apache-2.0 */
/* ref_line.c - operators along one axis: ArgMax, ArgMin, LpNormalization, DFT. */
#include "runtime/ref/ref_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether v takes the place of the best so far; a NaN is better than any number. */
static int better(double v, double best, int smallest, int last)
{
	if (v != v || best != best)
		return v != v && (best == best || last);
	if (v == best)
		return last;
	return smallest ? v < best : v > best;
}

static int better_i(int dtype, int64_t v, int64_t best, int smallest, int last)
{
	if (v == best)
		return last;
	return smallest ? pm_int_less(dtype, v, best) : pm_int_less(dtype, best, v);
}

PmStatus pm__ref_arg(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0];
	const PmType *t = &x->type;
	int axis = (int)pm_node_i(c->g, c->node, "axis", 0), wins;
	int smallest = pm_node_op(c->g, c->node) == PM_OP_ArgMin;
	int last = pm_node_i(c->g, c->node, "select_last_index", 0) != 0;
	int64_t dim, inner, line, k;

	if (axis >= t->rank || !t->dim[axis])
		return pm__ref_fail(c, err, PM_E_SHAPE, "axis %d has no elements.", axis);
	dim = t->dim[axis];
	inner = pm__ref_extent(t, axis + 1, t->rank);
	for (line = 0; line < c->out[0].numel; line++) {
		int64_t base = line / inner * dim * inner + line % inner, best = 0;

		for (k = 1; k < dim; k++) {
			int64_t at = base + k * inner, was = base + best * inner;

			wins = x->f ? better(x->f[at], x->f[was], smallest, last)
				    : better_i(t->dtype, x->i[at], x->i[was], smallest, last);
			best = wins ? k : best;
		}
		c->out[0].i[line] = best;
	}
	return PM_OK;
}

PmStatus pm__ref_lp_norm(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0];
	const PmType *t = &x->type;
	int axis = (int)pm_node_i(c->g, c->node, "axis", 0);
	int64_t dim, inner, line, k, p = pm_node_i(c->g, c->node, "p", 2);

	if (axis >= t->rank)
		return pm__ref_fail(c, err, PM_E_SHAPE, "axis %d does not exist.", axis);
	dim = t->dim[axis];
	inner = pm__ref_extent(t, axis + 1, t->rank);
	for (line = 0; dim && line < x->numel / dim; line++) {
		int64_t base = line / inner * dim * inner + line % inner;
		double norm = 0;

		for (k = 0; k < dim; k++) {
			double v = x->f[base + k * inner];

			norm += p == 1 ? fabs(v) : v * v;
		}
		norm = p == 1 ? norm : sqrt(norm);
		for (k = 0; k < dim; k++)
			c->out[0].f[base + k * inner] = norm == 0 ? 0 : x->f[base + k * inner] / norm;
	}
	return PM_OK;
}

/* The direct sum; elements past the end of the operand count as zero. */
PmStatus pm__ref_dft(const PmRefCall *c, PmErr *err)
{
	static const double two_pi = 6.283185307179586476925286766559;
	const PmRefTensor *x = &c->in[0], *length = pm__ref_in(c, 1);
	const PmType *t = &x->type, *ot = &c->out[0].type;
	int axis = (int)pm_node_i(c->g, c->node, "axis", 0);
	int inverse = pm_node_i(c->g, c->node, "inverse", 0) != 0;
	int64_t parts = t->dim[t->rank - 1], dim, n, inner, outer, o, i, k, j, used;
	double *cs, *sn;

	if (axis > t->rank - 2)
		return pm__ref_fail(c, err, PM_E_SHAPE, "axis %d does not exist.", axis);
	dim = t->dim[axis];
	n = length && length->numel ? length->i[0] : dim;
	if (n < 1 || (pm_node_i(c->g, c->node, "onesided", 0) ? n / 2 + 1 : n) != ot->dim[axis])
		return pm__ref_fail(c, err, PM_E_SHAPE, "a length of %lld is not what the graph says.",
				    (long long)n);
	used = dim < n ? dim : n;
	outer = pm__ref_extent(t, 0, axis);
	inner = pm__ref_extent(t, axis + 1, t->rank - 1);
	cs = pm_xcalloc((size_t)n, sizeof *cs);
	sn = pm_xcalloc((size_t)n, sizeof *sn);
	for (k = 0; k < n; k++) {
		cs[k] = cos(two_pi * (double)k / (double)n);
		sn[k] = (inverse ? 1 : -1) * sin(two_pi * (double)k / (double)n);
	}
	for (o = 0; o < outer; o++)
		for (i = 0; i < inner; i++)
			for (k = 0; k < ot->dim[axis]; k++) {
				double re = 0, im = 0,
				       *y = c->out[0].f + ((o * ot->dim[axis] + k) * inner + i) * 2;
				int64_t w = 0;

				for (j = 0; j < used; j++) {
					const double *v = x->f + ((o * dim + j) * inner + i) * parts;
					double b = parts == 2 ? v[1] : 0;

					re += v[0] * cs[w] - b * sn[w];
					im += v[0] * sn[w] + b * cs[w];
					w = w + k >= n ? w + k - n : w + k;
				}
				y[0] = inverse ? re / (double)n : re;
				y[1] = inverse ? im / (double)n : im;
			}
	free(cs);
	free(sn);
	return PM_OK;
}
