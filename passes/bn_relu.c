/* bn_relu.c - batch normalisation (inference) with the activation behind it as one kernel.
 *
 *   Relu(bn(x))   Relu(bn(x) + residual)   bn(x) * Sigmoid(bn(x))   HardSwish, LeakyRelu, Clip of bn(x)
 *
 * With E bytes per element: apart, the normalisation moves 2 E and the activation 2 E (SiLU 5 E, with a
 * residual 3 E more) in 2 to 3 launches; here 1 launch moves 2 E (3 E with a residual).
 */
#include "passmith/dsl.h"

#include "bn_relu.cu.h"

/* RES, LO and HI are bound by some rules only; they share the numbers after the parameters of the norm. */
enum { BN, X, SCALE, BIAS, MEAN, VAR, RES, LO = RES, HI };

enum { ACT_RELU = 1, ACT_SILU, ACT_HARD_SWISH, ACT_LEAKY, ACT_CLIP };

static PmStatus check(PmMatch *m)
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

static PmStatus check_residual(PmMatch *m)
{
	if (!pm_same_type(m->v[RES], m->v[X]))
		return pm_decline(m, "the residual broadcasts");
	if (pm_same(m->v[RES], m->v[X]))
		return pm_decline(m, "the residual is x itself");
	return check(m);
}

static PmStatus check_clip(PmMatch *m)
{
	double lo, hi;

	if (!pm_scalar(m->v[LO], &lo) || !pm_scalar(m->v[HI], &hi))
		return pm_decline(m, "a bound of Clip is not a constant number");
	return check(m);
}

static PmStatus replace(PmRewriter *rw, PmMatch *m, int act, int residual, double p0, double p1)
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

static PmStatus rewrite_relu(PmRewriter *rw, PmMatch *m)
{
	return replace(rw, m, ACT_RELU, 0, 0, 0);
}

static PmStatus rewrite_add_relu(PmRewriter *rw, PmMatch *m)
{
	return replace(rw, m, ACT_RELU, 1, 0, 0);
}

static PmStatus rewrite_silu(PmRewriter *rw, PmMatch *m)
{
	return replace(rw, m, ACT_SILU, 0, 0, 0);
}

static PmStatus rewrite_hard_swish(PmRewriter *rw, PmMatch *m)
{
	return replace(rw, m, ACT_HARD_SWISH, 0, 0, 0);
}

static PmStatus rewrite_leaky(PmRewriter *rw, PmMatch *m)
{
	return replace(rw, m, ACT_LEAKY, 0, pm_attr_f(m->root, "alpha", 0.01), 0);
}

static PmStatus rewrite_clip(PmRewriter *rw, PmMatch *m)
{
	double lo = 0, hi = 0;

	pm_scalar(m->v[LO], &lo);
	pm_scalar(m->v[HI], &hi);
	return replace(rw, m, ACT_CLIP, 0, lo, hi);
}

/* Any epsilon; momentum means nothing at inference; check() looks at training_mode. */
#define NORM                                                                                                 \
	AS(BN, ANYATTR(OP(BatchNormalization, TYPED(V(X), FLOATS, -1), V(SCALE), V(BIAS), V(MEAN), V(VAR))))

PM_RULE(bn_relu, .doc = "Relu(BatchNormalization(x)) -> one kernel", .pattern = OP(Relu, NORM),
	.check = check, .rewrite = rewrite_relu);
PM_RULE(bn_add_relu, .doc = "Relu(BatchNormalization(x) + residual) -> one kernel",
	.pattern = OP(Relu, OP(Add, NORM, V(RES))), .check = check_residual, .rewrite = rewrite_add_relu);
PM_RULE(bn_silu, .doc = "BatchNormalization(x) times its Sigmoid -> one kernel",
	.pattern = OP(Mul, NORM, OP(Sigmoid, V(BN))), .check = check, .rewrite = rewrite_silu);
PM_RULE(bn_hard_swish, .doc = "HardSwish(BatchNormalization(x)) -> one kernel",
	.pattern = OP(HardSwish, NORM), .check = check, .rewrite = rewrite_hard_swish);
PM_RULE(bn_leaky_relu, .doc = "LeakyRelu(BatchNormalization(x)) -> one kernel",
	.pattern = ANYATTR(OP(LeakyRelu, NORM)), .check = check, .rewrite = rewrite_leaky);
PM_RULE(bn_clip, .doc = "Clip(BatchNormalization(x), lo, hi), such as ReLU6 -> one kernel",
	.pattern = OP(Clip, NORM, V(LO), V(HI)), .check = check_clip, .rewrite = rewrite_clip);

PM_PLUGIN("bn_relu", "1", &bn_add_relu, &bn_relu, &bn_silu, &bn_hard_swish, &bn_leaky_relu, &bn_clip)
