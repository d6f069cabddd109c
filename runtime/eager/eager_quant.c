/* SPDX-License-Identifier: Apache-2.0 */
/* eager_quant.c - QuantizeLinear and DequantizeLinear. */
#include "runtime/exec/plan_priv.h"

#include "kernels/quantize.cu.h"
#include "runtime/ref/ref.h"

#include <stdio.h>

/* Steps through the scale: by what lies outside the axis, by block of the axis, by what lies inside. */
static void scale_steps(KGen *k, const PmType *x, int64_t axis, int64_t block, int64_t scales)
{
	int64_t inner = 1, blocks, dim = 1;
	int spread = scales != 1 || block;

	if (spread) {
		dim = x->dim[axis];
		for (int d = (int)axis + 1; d < x->rank; d++)
			inner *= x->dim[d];
	}
	blocks = block ? dim / block + (dim % block != 0) : 0;
	pm__kg_divisor(k, "inner", inner);
	pm__kg_divisor(k, "dim", dim);
	pm__kg_divisor(k, "block", block ? block : 1);
	pm__kg_int(k, "so", blocks * inner);
	pm__kg_int(k, "sa", !spread ? 0 : (block ? inner : 1));
	pm__kg_int(k, "si", block ? 1 : 0);
}

static PmStatus quantize(PmPlan *p, PmNode n, int back, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), s = pm_node_in(p->g, n, 1), z = pm_node_in(p->g, n, 2),
		y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	const int64_t *row = pm__loc(p, x)->stride;
	int real = back ? pm__type(p, y)->dtype : t->dtype;
	Loc sl, zl;
	char label[96];
	KGen k;
	PmStatus st = pm__make_contiguous(p, n, s, &sl, err);

	if (!st && z.id)
		st = pm__make_contiguous(p, n, z, &zl, err);
	if (!st)
		st = pm__place(p, y, err);
	if (st)
		return st;
	pm__kg_init(&k, p, n, real);
	pm_str_addf(&k.head, "typedef %s A;\n", pm__acc_type(real));
	if (back)
		pm__kg_define(&k, "DEQUANTIZE", "1");
	pm__kg_out(&k, "y", pm__loc(p, y), pm__type(p, y)->dtype, pm__numel(p, y));
	pm__kg_in(&k, "x", pm__loc(p, x), t->dtype, pm__distinct(t, pm__loc(p, x)));
	pm__kg_in(&k, "scale", &sl, pm__type(p, s)->dtype, pm__numel(p, s));
	if (z.id) {
		pm__kg_in(&k, "zero", &zl, pm__type(p, z)->dtype, pm__numel(p, z));
		pm__kg_define(&k, "HAS_ZERO", "1");
		pm__kg_int(&k, "zs", pm__numel(p, z) != 1);
	}
	pm__kg_space(&k, "o", t->dim, t->rank, &row, 1);
	scale_steps(&k, t, pm_node_i(p->g, n, "axis", 1), pm_node_i(p->g, n, "block_size", 0),
		    pm__numel(p, s));
	snprintf(label, sizeof label, "eager %s %s", pm_node_op_name(p->g, n), pm_dtype_name(real));
	return pm__kg_launch(&k, label, quantize_cu, pm__numel(p, y), pm_op_flops(p->g, n), err);
}

PmStatus eager_quantize(PmPlan *p, PmNode n, PmErr *err)
{
	return quantize(p, n, 0, err);
}

PmStatus eager_dequantize(PmPlan *p, PmNode n, PmErr *err)
{
	return quantize(p, n, 1, err);
}
