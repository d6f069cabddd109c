/* SPDX-License-Identifier: Apache-2.0 */
/* ref_quant.c - QuantizeLinear and DequantizeLinear. */
#include "ir/core/narrow.h"
#include "runtime/ref/ref_priv.h"

#include <math.h>

/* Where the scale of an element stands: element i of x belongs to element at(i) of the scale. */
typedef struct Places {
	int64_t dim, inner, block, outer_step, axis_step, inner_step;
} Places;

static Places places(const PmRefCall *c)
{
	const PmType *x = &c->in[0].type;
	int64_t axis = pm_node_i(c->g, c->node, "axis", 1), block = pm_node_i(c->g, c->node, "block_size", 0);
	Places p = { 1, 1, 1, 0, 0, 0 };

	if (c->in[1].numel == 1 && !block)
		return p;
	p.dim = x->dim[axis];
	p.inner = pm__ref_extent(x, (int)axis + 1, x->rank);
	p.axis_step = 1;
	if (block) {
		p.block = block;
		p.axis_step = p.inner;
		p.outer_step = (p.dim / block + (p.dim % block != 0)) * p.inner;
		p.inner_step = 1;
	}
	return p;
}

static int64_t at(const Places *p, int64_t i)
{
	return i / p->inner / p->dim * p->outer_step + i / p->inner % p->dim / p->block * p->axis_step +
	       i % p->inner * p->inner_step;
}

static double zero_at(const PmRefTensor *zero, int64_t k)
{
	int64_t i = zero && zero->numel == 1 ? 0 : k;

	return !zero ? 0 : zero->f ? zero->f[i] : (double)zero->i[i];
}

/* Rounding to an integer is this operator's meaning, and a tie must not be decided by digits that the
 * operands do not have: operands and quotient stand in the precision kernels have. */
PmStatus pm__ref_quantize(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0], *zero = pm__ref_in(c, 2);
	PmRefTensor *y = &c->out[0];
	int is_double = x->type.dtype == PM_F64;
	PmNarrowCast how = { pm_node_i(c->g, c->node, "saturate", 1) != 0, PM_ROUND_NEAREST };
	Places p = places(c);

	(void)err;
	for (int64_t i = 0; i < x->numel; i++) {
		int64_t k = at(&p, i);
		double q = pm__ref_round(x->type.dtype, x->f[i]) /
			   pm__ref_round(c->in[1].type.dtype, c->in[1].f[k]);

		q = is_double ? q : (double)(float)q;
		if (y->f)
			y->f[i] = pm_narrow_round(y->type.dtype, q + zero_at(zero, k), how);
		else
			y->i[i] = pm_int_from_f64(y->type.dtype, rint(q) + zero_at(zero, k));
	}
	return PM_OK;
}

PmStatus pm__ref_dequantize(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0], *zero = pm__ref_in(c, 2);
	Places p = places(c);

	(void)err;
	for (int64_t i = 0; i < x->numel; i++) {
		int64_t k = at(&p, i);

		double v = x->f ? x->f[i] : (double)x->i[i];

		c->out[0].f[i] = (v - zero_at(zero, k)) * c->in[1].f[k];
	}
	return PM_OK;
}
