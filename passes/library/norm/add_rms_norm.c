/* SPDX-License-Identifier: Apache-2.0 */
/* add_rms_norm.c - root mean square normalisation as exporters spell it, with the residual addition in front
 * when there is one, also when the sum is used later.
 *
 *   s = a + b;  y = w * (s / sqrt(mean(s^2) + eps))
 *
 * In half-precision models a Cast to float stands in front of the square and one back behind the division.
 * With E bytes per element: apart, Add 3 E, Pow 2 E, mean E, Mul 3 E, Mul 2 E and with the casts 6 E more: 7
 * to 9 launches, 11 to 17 E; here 1 launch, 2 E in and 1 or 2 E out (without the addition 2 E).
 *
 * Mined: 1624 places in 35 of 811 models; in 9 of the 400 structures with most time at stake, the first of
 * rank 5. Measured on an H200: 1x256x1024 float16 26.5 to 3.5 us (7.65x), PyTorch 31.6, TorchInductor 3.0.
 */
#include "../../common/norm_rows.h"

enum { WIDE, EPS, W, SUM, A, B };

static PmStatus check(PmMatch *m)
{
	PmVal sum = m->v[SUM];
	const char *why = norm_rows_refuse(m->root);
	double eps;

	if (why)
		return pm_decline(m, why);
	if (!pm_same_type(sum, m->root))
		return pm_decline(m, "the result has another type than what is normalised");
	if (!is_column_vector(m->v[W], m->root))
		return pm_decline(m, "the weight has another element type, or not one element per column");
	if (!pm_scalar(m->v[EPS], &eps) || !(eps >= 0))
		return pm_decline(m, "eps is not a constant");
	if (m->n_slots > A && (!row_period(m->v[A], sum) || !row_period(m->v[B], sum)))
		return pm_decline(m, "an addend does not consist of whole rows of the sum");
	if (!only_leaves(m, sum))
		return pm_decline(m, "a value other than the sum is used outside");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int has_sum = m->n_slots > A;
	NormRows p = { .a = m->v[has_sum ? A : SUM], .scale = m->v[W] };

	if (pm_is_op(m->root, Cast))
		p.flags |= NORM_ONE_PLUS;
	pm_scalar(m->v[EPS], &p.eps);
	if (has_sum) {
		p.b = m->v[B];
		p.ra = row_period(m->v[A], m->v[SUM]);
		p.rb = row_period(m->v[B], m->v[SUM]);
		if (m->out.n > 1) {
			p.flags |= NORM_KEEP;
			if (pm_replace_slot(rw, m, SUM))
				return PM_DECLINED;
		}
	}
	return norm_rows_replace(rw, m, &p);
}

#define SQUARE ALT(OP(Pow, V(WIDE), NUM(2)), OP(Mul, V(WIDE), V(WIDE)))
#define ROOT   OP(Sqrt, OP(Add, WITH(OP(ReduceMean, SQUARE), INTS(axes, -1)), V(EPS)))
#define RMS(p)                                                                                               \
	ALT(OP(Mul, AS(WIDE, OPT(Cast, p)), OP(Reciprocal, ROOT)), OP(Div, AS(WIDE, OPT(Cast, p)), ROOT))
#define NORM(p) OP(Mul, OPT(Cast, RMS(p)), V(W))
/* Gemma stores weights less one, and casts behind them. */
#define GEMMA(p) OP(Cast, OP(Mul, RMS(p), OP(Add, OPT(Cast, V(W)), NUM(1))))

PM_RULE(add_rms_norm, .doc = "RMS norm of a + b, and a + b where it is used -> one kernel",
	.pattern = NORM(AS(SUM, OP(Add, TYPED(V(A), FLOATS, -1), V(B)))), .check = check, .rewrite = rewrite);
PM_RULE(rms_norm, .doc = "RMS norm -> one kernel", .pattern = NORM(TYPED(V(SUM), FLOATS, -1)), .check = check,
	.rewrite = rewrite);

PM_RULE(gemma_add_rms_norm, .doc = "RMS norm of a + b times 1 + w, and a + b where it is used -> one kernel",
	.pattern = GEMMA(AS(SUM, OP(Add, TYPED(V(A), FLOATS, -1), V(B)))), .check = check,
	.rewrite = rewrite);
PM_RULE(gemma_rms_norm, .doc = "RMS norm times 1 + w -> one kernel",
	.pattern = GEMMA(TYPED(V(SUM), FLOATS, -1)), .check = check, .rewrite = rewrite);

PM_PLUGIN("add_rms_norm", "1", &gemma_add_rms_norm, &gemma_rms_norm, &add_rms_norm, &rms_norm)
