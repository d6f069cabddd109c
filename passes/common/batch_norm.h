/* SPDX-License-Identifier: Apache-2.0 */
/* batch_norm.h - the host's side of bn_relu.cu, for the passes that use it. */
#ifndef PASSES_BATCH_NORM_H
#define PASSES_BATCH_NORM_H

#include "bn_relu.cu.h"
#include "choose.h"

/* RES, LO and HI are bound by some rules only; they share the numbers after the parameters of the norm. */
enum { BN, X, SCALE, BIAS, MEAN, VAR, RES, LO = RES, HI };

/* Numbers of bn_relu.cu. */
enum { BN_RELU = 1, BN_SILU, BN_HARD_SWISH, BN_LEAKY, BN_CLIP, BN_GELU };
enum { RES_NONE, RES_BEFORE, RES_AFTER }; /* the activation */

/* Any epsilon; momentum means nothing at inference; check() looks at training_mode. */
#define NORM                                                                                                 \
	AS(BN, ANYATTR(OP(BatchNormalization, TYPED(V(X), FLOATS, -1), V(SCALE), V(BIAS), V(MEAN), V(VAR))))

/* PM_OK when the normalisation at BN is one of inference that the kernel covers; else a decline that says
 * why not. */
static inline PmStatus bn_check(PmMatch *m)
{
	PmVal x = m->v[X], bn = m->v[BN];
	int64_t c = pm_dim(x, 1);
	int32_t k;

	if (pm_numel(x) <= 0)
		return pm_decline(m, "x is empty or its size is not known");
	if (pm_rank(x) < 2 || c > INT32_MAX || pm_span(x, 0, 2) >= INT32_MAX)
		return pm_decline(m, "x has no channel axis, or more planes than a grid can have blocks");
	if (pm_attr_i(bn, "training_mode", 0) != 0)
		return pm_decline(m, "the normalisation is in training mode");
	for (k = SCALE; k <= VAR; k++)
		if (!pm_same_dtype(m->v[k], m->v[SCALE]) || pm_numel(m->v[k]) != c)
			return pm_decline(
				m, "the parameters differ in their element types, or have not C elements");
	if (!pm_same_dtype(m->v[SCALE], x) && pm_dtype(m->v[SCALE]) != PM_F32)
		return pm_decline(m, "the parameters are neither of x's element type nor float");
	if (m->out.n > 1)
		return pm_decline(m, "the normalised value is used outside");
	if (!pm_same_shape(m->root, x))
		return pm_decline(m, "the activation broadcasts x to a larger shape");
	return PM_OK;
}

/* The same with a residual at RES, which may neither broadcast nor be x. */
static inline PmStatus bn_check_residual(PmMatch *m)
{
	if (!pm_same_type(m->v[RES], m->v[X]))
		return pm_decline(m, "the residual broadcasts");
	if (pm_same(m->v[RES], m->v[X]))
		return pm_decline(m, "the residual is x itself");
	return bn_check(m);
}

/* Replaces the match by bn_relu.cu: `act` and `residual` are the numbers above, p0 and p1 what the
 * activation takes (slope, or bounds). */
static inline PmStatus bn_replace(PmRewriter *rw, PmMatch *m, int act, int residual, double p0, double p1)
{
	enum { THREADS = 128, N_DEFINE = 5 };
	PmVal x = m->v[X], in[6];
	int64_t n = pm_numel(x), c = pm_dim(x, 1), inner = pm_span(x, 2, pm_rank(x)),
		most = load_size(inner, x);
	PmDefine define[2][N_DEFINE];
	PmKernelSpec spec[2] = { 0 };
	uint32_t k, j;

	if (n > INT32_MAX / 2)
		return pm_decline(m, "it has more elements than the kernel can index");
	for (k = 0; k < 5; k++)
		in[k] = m->v[X + k];
	in[5] = residual ? m->v[RES] : x;

	PmVals vals = { in, residual ? 6 : 5 };

	PmArgs arg = PM_ARGS(IN(0), IN(1), IN(2), IN(3), IN(4), IN(residual ? 5 : 0), OUT(0), I32(n),
			     DIVISOR(inner), DIVISOR(c), F32(pm_attr_f(m->v[BN], "epsilon", 1e-5)), F32(p0),
			     F32(p1));

	for (k = 0; k < 2; k++) {
		int64_t each = k == 0 && most > FEW ? FEW : most;
		const PmDefine d[N_DEFINE] = { DEF(ACT, act), DEF(RESIDUAL, residual), DEF(N, each),
					       DEF(IS_F32, pm_dtype(x) == PM_F32),
					       DEF(P_F32, pm_dtype(m->v[SCALE]) == PM_F32) };

		for (j = 0; j < N_DEFINE; j++)
			define[k][j] = d[j];
		spec[k] = (PmKernelSpec){ .entry = "bn_act",
					  .source = bn_relu_cu,
					  .grid = { pm_blocks(n / each, THREADS) },
					  .block = { THREADS },
					  .arg = arg,
					  .define = { define[k], N_DEFINE } };
	}
	return replace_with_any(rw, spec, n < LARGE ? 1 : 2, vals, m->root);
}

#endif
