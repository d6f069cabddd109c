/* batch_norm.h - the host's side of bn_relu.cu, for the passes that use it. */
#ifndef PASSES_BATCH_NORM_H
#define PASSES_BATCH_NORM_H

#include "bn_relu.cu.h"
#include "passmith/dsl.h"

/* RES, LO and HI are bound by some rules only; they share the numbers after the parameters of the norm. */
enum { BN, X, SCALE, BIAS, MEAN, VAR, RES, LO = RES, HI };

/* Numbers of bn_relu.cu. */
enum { BN_RELU = 1, BN_SILU, BN_HARD_SWISH, BN_LEAKY, BN_CLIP, BN_GELU };
enum { RES_NONE, RES_BEFORE, RES_AFTER }; /* the activation */

/* Any epsilon; momentum means nothing at inference; check() looks at training_mode. */
#define NORM                                                                                                 \
	AS(BN, ANYATTR(OP(BatchNormalization, TYPED(V(X), FLOATS, -1), V(SCALE), V(BIAS), V(MEAN), V(VAR))))

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

static inline PmStatus bn_check_residual(PmMatch *m)
{
	if (!pm_same_type(m->v[RES], m->v[X]))
		return pm_decline(m, "the residual broadcasts");
	if (pm_same(m->v[RES], m->v[X]))
		return pm_decline(m, "the residual is x itself");
	return bn_check(m);
}

static inline PmStatus bn_replace(PmRewriter *rw, PmMatch *m, int act, int residual, double p0, double p1)
{
	PmVal x = m->v[X];
	int64_t n = pm_numel(x), c = pm_dim(x, 1), inner = pm_span(x, 2, pm_rank(x));
	int64_t vec = 16 / pm_dtype_bytes(pm_dtype(x)), planes = n / inner;
	PmVal in[6];
	int k;

	for (k = 0; k < 5; k++)
		in[k] = m->v[X + k];
	in[5] = residual ? m->v[RES] : x;

	PmVals vals = { in, residual ? 6 : 5 };
	PmArgs arg = PM_ARGS(IN(0), IN(1), IN(2), IN(3), IN(4), IN(residual ? 5 : 0), OUT(0), I64(n),
			     I64(inner), I32(c), F32(pm_attr_f(m->v[BN], "epsilon", 1e-5)), F32(p0), F32(p1));
	PmDefines define = PM_DEFINES(DEF(ACT, act), DEF(RESIDUAL, residual), DEF(ONE_CH, inner % vec == 0),
				      DEF(IS_F32, pm_dtype(x) == PM_F32),
				      DEF(P_F32, pm_dtype(m->v[SCALE]) == PM_F32));
	uint32_t threads = inner > 2048 ? 256 : inner > 256 ? 128 : 32;

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "bn_act_plane", .source = bn_relu_cu,
				      .grid = { pm_blocks(planes, 1) }, .block = { threads }, .in = vals,
				      .arg = arg, .define = define, .like = m->root,
				      .alt = PM_ALTERNATIVE(.entry = "bn_act_flat", .source = bn_relu_cu,
							    .grid = { pm_blocks((n - 1) / vec + 1, 256) },
							    .block = { 256 }, .arg = arg, .define = define));
}

#endif
