/* SPDX-License-Identifier: Apache-2.0 */
/* group_norm.c - group normalisation as exporters spell it, with scale, bias and SiLU behind it, as one or
 * two launches.
 *
 *   y = reshape(InstanceNormalization(reshape(x, [N, G, -1]), 1, 0)) * scale + bias,  y * sigmoid(y)
 *
 * With E bytes per element: apart, the norm 2 E (when a row stays in cache), Mul 2 E, Add 2 E, SiLU 5 E: 3 to
 * 5 launches and 6 or 11 E; here 2 E when a block does a whole group in one launch, 3 E in two launches,
 * which is faster when groups are few and long. The tuning step chooses.
 *
 * Mined: 305 places in 9 of 811 models; in 5 of the 400 structures with most time at stake, the first of
 * rank 43. Measured on an H200: 1x320x14x14 float16 14.6 to 7.5 us (1.96x), PyTorch 90.9, TorchInductor
 * 8.3.
 */
#include "../../common/shapes.h"

#include "group_norm.cu.h"

enum { X, ONE, ZERO, NORM, SCALE, BIAS, Y };

enum { MIN_ROW = 64, MAX_GROUPS = 64, PIECE = 512, ENOUGH_BLOCKS = 264 };

/* 1 when every element of a constant is x. */
static int is_all(PmVal v, double x)
{
	double d[MAX_GROUPS];
	int32_t n = pm_floats(v, d, MAX_GROUPS), k;

	for (k = 0; k < n; k++)
		if (d[k] != x)
			return 0;
	return n > 0;
}

/* One element per channel of y = [N, C, ...], on any rank that broadcasts so. */
static int per_channel(PmVal v, PmVal y)
{
	Band b;

	return pm_same_dtype(v, y) && find_band(v, y, &b) && b.n == pm_dim(y, 1) &&
	       b.inner == pm_span(y, 2, pm_rank(y));
}

static PmStatus check(PmMatch *m)
{
	PmVal norm = m->v[NORM], x = m->v[X], y = m->root;
	int64_t g = pm_dim(norm, 1);

	if (pm_numel(y) <= 0 || pm_rank(y) < 3)
		return pm_decline(m, "x is empty, its size is not known, or it has no channels");
	if (pm_rank(norm) != 3 || !pm_same_type(x, y) || pm_dim(norm, 0) != pm_dim(x, 0) || pm_dim(x, 1) % g)
		return pm_decline(m, "the reshape does not merge channels into groups");
	if (!is_all(m->v[ONE], 1) || !is_all(m->v[ZERO], 0))
		return pm_decline(m,
				  "the groups have a scale or bias of their own, or there are more than 64");
	if (!per_channel(m->v[SCALE], y) || !per_channel(m->v[BIAS], y))
		return pm_decline(m, "scale or bias does not have one element per channel");
	if (pm_dim(norm, 2) < MIN_ROW)
		return pm_decline(m, "with so few elements float does not hold the deviations");
	if (pm_dim(norm, 2) > INT32_MAX / 2 || pm_dim(norm, 0) * g > 65535)
		return pm_decline(m, "a group is longer, or groups are more, than the kernel can index");
	if (m->out.n > 1)
		return pm_decline(m, "the normalised value is used outside");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	PmVal norm = m->v[NORM], y = m->root;
	int64_t g = pm_dim(norm, 1), len = pm_dim(norm, 2), rows = pm_dim(norm, 0) * g,
		inner = pm_span(y, 2, pm_rank(y));
	int64_t per = (len * rows / ENOUGH_BLOCKS / PIECE + 1) * PIECE; /* elements of a stretch */
	uint32_t stretches = pm_blocks(len, per), threads = len > 2048 ? 512 : len > 512 ? 256 : 64;
	float eps = (float)pm_attr_f(norm, "epsilon", 1e-5);
	PmDefines define = PM_DEFINES(DEF(ACT, m->n_slots > Y), DEF(SPLIT, stretches > 1));
	PmVals in = PM_VALS(m->v[X], m->v[SCALE], m->v[BIAS]);
	PmSizes scratch = PM_SCRATCH(rows * stretches * 8);
	const PmLaunch *parts = LAUNCH(.entry = "group_norm_parts", .grid = { stretches, (uint32_t)rows },
				       .block = { 256 },
				       .arg = PM_ARGS(IN(0), SCR(0), I32(len), I32(per), I32(inner)));
	const PmLaunch *apply = LAUNCH(.entry = "group_norm_apply", .grid = { stretches, (uint32_t)rows },
				       .block = { 256 },
				       .arg = PM_ARGS(IN(0), IN(1), IN(2), OUT(0), SCR(0), I32(len), I32(per),
						      I32(inner), I32(g), F32(eps)));

	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "group_norm_row", .source = group_norm_cu, .grid = { (uint32_t)rows },
		.block = { threads }, .in = in, .define = define, .like = m->root,
		.arg = PM_ARGS(IN(0), IN(1), IN(2), OUT(0), I32(len), I32(inner), I32(g), F32(eps)),
		.alt = stretches == 1
			       ? 0
			       : PM_ALTERNATIVE(.source = group_norm_cu, .launch = PM_LAUNCHES(parts, apply),
						.scratch = scratch, .define = define));
}

#define GROUPS ANYATTR(OP(Reshape, TYPED(V(X), FLOATS, -1), ANY))
#define GROUP_NORM                                                                                           \
	ANYATTR(OP(Reshape, AS(NORM, ANYATTR(OP(InstanceNormalization, GROUPS, V(ONE), V(ZERO)))), ANY))
#define AFFINE OP(Add, OP(Mul, GROUP_NORM, V(SCALE)), V(BIAS))

PM_RULE(group_norm_silu, .doc = "group normalisation and SiLU -> one kernel",
	.pattern = OP(Mul, AS(Y, AFFINE), OP(Sigmoid, V(Y))), .check = check, .rewrite = rewrite);
PM_RULE(group_norm, .doc = "group normalisation with scale and bias -> one kernel", .pattern = AFFINE,
	.check = check, .rewrite = rewrite);

PM_PLUGIN("group_norm", "1", &group_norm_silu, &group_norm)
