/* SPDX-License-Identifier: Apache-2.0 */
/* lib_algo_back.c - algorithms of transposed convolutions, and products by a kernel of ours. */
#include "runtime/cuda/library/lib_algo_priv.h"

#include "ir/core/type.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

/* The products of a transposed convolution, [images, channels of y, taps, places of x], in scratch memory;
 * and the stage that makes y of them, but for the numbers of its kernel behind those of its size. Products of
 * half types are rounded before that stage, so they have the bias already; or, of one that adds them, they
 * are floats (sums). */
static PmAlgoStage *products_then(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z, const char *entry,
				  int64_t places, int sums)
{
	const PmLibConv *v = &c->conv;
	int64_t each_co = z->co / v->groups * z->taps, each_ci = z->ci / v->groups, planes = z->n * z->co;
	int64_t lanes = pm__algo_lanes_for(places), blocks_p = (places + lanes - 1) / lanes,
		each = PM_ALGO_BLOCK / lanes;
	int onto = v->has_bias && pm_dtype_is_half(c->dtype) && !sums, last = v->has_bias && !onto;
	int64_t total = planes * z->taps * z->px;
	PmAlgoPlace m = pm__algo_scratch(algo, total,
					 sums ? (int64_t)pm_dtype_size(pm_dtype_sums(c->dtype)) : z->bytes);
	PmLibCall *g;
	PmAlgoStage *s;

	if (onto)
		pm__algo_fill(algo, m, z->taps * z->px, z->co, total);
	g = pm__algo_call_stage(algo, PM_LIB_GEMM, c->dtype);
	g->gemm = (PmLibGemm){ .m = each_co,
			       .n = z->px,
			       .k = each_ci,
			       .batch = z->batch,
			       .a_row = 1,
			       .a_col = each_co,
			       .a_batch = v->groups > 1 ? each_ci * each_co : 0,
			       .b_row = z->px,
			       .b_col = 1,
			       .b_batch = each_ci * z->px,
			       .outer = 1,
			       .c = onto ? PM_LIB_C_MATRIX : PM_LIB_C_NONE,
			       .sums = sums,
			       .alpha = 1,
			       .beta = onto };
	pm__algo_operands(algo, c, m, pm__algo_arg(2), pm__algo_arg(1));
	if (onto)
		pm__algo_pointer(&algo->stage[algo->n - 1], m);
	s = pm__algo_stage(algo, entry);
	pm__algo_pointer(s, pm__algo_arg(0));
	pm__algo_pointer(s, m);
	pm__algo_pointer(s, last ? pm__algo_arg(3) : m);
	pm__algo_number(s, last);
	pm__algo_number(s, planes);
	pm__algo_number(s, z->co);
	pm__algo_number(s, blocks_p);
	pm__algo_number(s, lanes);
	pm__algo_three(s, v->x + 2, v->spatial, 1);
	pm__algo_three(s, v->w + 2, v->spatial, 1);
	s->blocks = (uint32_t)(blocks_p * ((planes + each - 1) / each));
	return s;
}

/* 1 when the windows of a transposed convolution lie side by side. */
static int side_by_side(const PmLibConv *v)
{
	for (int d = 0; d < v->spatial; d++)
		if (v->w[2 + d] != v->stride[d] || v->pad[d] || v->dilation[d] != 1 ||
		    v->y[2 + d] != v->x[2 + d] * v->stride[d])
			return 0;
	return 1;
}

int pm__algo_as_interleaved(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z)
{
	if (!c->conv.transposed || !z->batch || !side_by_side(&c->conv))
		return 0;
	products_then(algo, c, z, "interleave", z->px, 0);
	return 1;
}

int pm__algo_as_folded(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z)
{
	const PmLibConv *v = &c->conv;
	PmAlgoStage *s;

	if (!v->transposed || !z->batch || side_by_side(v))
		return 0;
	for (int d = 0; d < v->spatial; d++)
		if (v->dilation[d] != 1)
			return 0;
	s = products_then(algo, c, z, "fold", z->py, pm_dtype_is_half(c->dtype));
	pm__algo_three(s, v->y + 2, v->spatial, 1);
	pm__algo_three(s, v->stride, v->spatial, 1);
	pm__algo_three(s, v->pad, v->spatial, 0);
	return 1;
}

/* y [m, n] = a [m, k] b + c by one kernel. Where b lies decides which. */
int pm__algo_as_dot(PmAlgo *algo, const PmLibCall *c)
{
	static const char *const rows[] = { "dot_rows_1", "dot_rows_2", "dot_rows_4", "dot_rows_8" };
	static const char *const columns[] = { "dot_columns_1", "dot_columns_2", "dot_columns_4",
					       "dot_columns_8" };
	const PmLibGemm *g = &c->gemm;
	int64_t wide = 16 / (int64_t)pm_dtype_size(c->dtype), ldb = g->b_row == 1 ? g->b_col : g->b_row;
	int aligned = c->align[1] % 16 == 0 && c->align[2] % 16 == 0 && ldb % wide == 0, third = g->c, at = 0;
	PmAlgoStage *s;

	if (g->outer != 1 || g->batch != 1 || g->m > PM_ALGO_DOT_ROWS || g->alpha != 1 || g->a_col != 1 ||
	    third == PM_LIB_C_MATRIX || g->n > INT_MAX / 8 || g->k > INT_MAX / 8 || g->a_row > INT_MAX ||
	    ldb > INT_MAX || g->a_row < g->k || ldb < 1)
		return 0;
	if (g->b_row != 1 && (g->b_col != 1 || !aligned || g->n % wide))
		return 0;
	while (1 << at < g->m)
		at++;
	s = pm__algo_stage(algo, g->b_row == 1 ? rows[at] : columns[at]);
	pm__algo_pointer(s, pm__algo_arg(0));
	pm__algo_pointer(s, pm__algo_arg(1));
	pm__algo_pointer(s, pm__algo_arg(2));
	pm__algo_pointer(s, pm__algo_arg(third ? 3 : 1));
	pm__algo_number(s, third != PM_LIB_C_NONE);
	pm__algo_number(s, g->m);
	pm__algo_number(s, g->n);
	pm__algo_number(s, g->k);
	pm__algo_number(s, g->a_row);
	pm__algo_number(s, ldb);
	if (g->b_row == 1) {
		pm__algo_number(s, aligned && g->k % wide == 0 && g->a_row % wide == 0);
		s->blocks = (uint32_t)((g->n + 7) / 8);
	} else {
		s->blocks = (uint32_t)((g->n + 2 * wide - 1) / (2 * wide));
	}
	return 1;
}

/* The same of a convolution of images of one pixel. */
int pm__algo_as_dot_of_pixels(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z)
{
	PmAlgo product;

	if (z->px != 1 || !pm__algo_as_last_product((memset(&product, 0, sizeof product), &product), c, z))
		return 0;
	return pm__algo_as_dot(algo, &product.stage[0].call);
}
