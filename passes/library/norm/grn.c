/* SPDX-License-Identifier: Apache-2.0 */
/* grn.c - global response normalisation (ConvNeXt V2) as two launches.
 *
 *   g = |x| over the image, per channel;  y = x + (bias + scale * (x * (g / (mean(g) + eps))))      x [B, h,
 * w, C]
 *
 * With E bytes per element: apart, ReduceL2 E, two launches over g, Mul 2 E, Mul 2 E, Add 2 E, Add 3 E: 8
 * launches and 10 E; here 2 launches: the first reads E, the second moves 2 E, and sums of squares that are
 * small.
 *
 * Mined: 135 places in 5 of 811 models; in 1 of the 400 structures with most time at stake, the first of
 * rank 21. Measured on an H200: 1x14x14x1536 float16 24.5 to 12.9 us (1.93x), PyTorch 34.0, TorchInductor
 * 11.4.
 */
#include "../../common/shapes.h"

#include "grn.cu.h"

enum { X, G, SCALE, BIAS, EPS };

enum { MAX_CHANNELS = 48 * 1024 / 4, PLACES_PER_PART = 64, MAX_PARTS = 16, ENOUGH_BLOCKS = 264 };

static PmStatus check(PmMatch *m)
{
	PmVal x = m->v[X];
	double eps;

	if (pm_numel(x) <= 0)
		return pm_decline(m, "x is empty or its size is not known");
	if (pm_rank(x) != 4 || !pm_same_type(x, m->root))
		return pm_decline(m, "x is not an image with its channels last");
	if (!is_column_vector(m->v[SCALE], x) || !is_column_vector(m->v[BIAS], x))
		return pm_decline(m, "scale or bias does not have one element per channel");
	if (!pm_scalar(m->v[EPS], &eps))
		return pm_decline(m, "eps is not a constant");
	if (pm_dim(x, 3) > MAX_CHANNELS || pm_dim(x, 0) > 65535 || pm_span(x, 1, 3) > INT32_MAX / 2)
		return pm_decline(m, "there are more channels, images or places than the kernel can hold");
	if (m->out.n > 1)
		return pm_decline(m, "the norms are used outside");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	PmVal x = m->v[X];
	int64_t b = pm_dim(x, 0), s = pm_span(x, 1, 3), c = pm_dim(x, 3),
		parts = (s - 1) / PLACES_PER_PART + 1;
	int64_t per;
	double eps = 0;

	pm_scalar(m->v[EPS], &eps);
	parts = parts > MAX_PARTS ? MAX_PARTS : parts;
	per = b * s / ENOUGH_BLOCKS + 1;

	const PmLaunch *squares = LAUNCH(.entry = "grn_squares",
					 .grid = { pm_blocks(c, 32), (uint32_t)parts, (uint32_t)b },
					 .block = { 32, 8 },
					 .arg = PM_ARGS(IN(0), SCR(0), I32(s), I32(c), I32(parts)));
	const PmLaunch *apply = LAUNCH(.entry = "grn_apply", .grid = { pm_blocks(s, per), (uint32_t)b },
				       .block = { 256 }, .smem = (uint32_t)c * 4,
				       .arg = PM_ARGS(IN(0), IN(1), IN(2), OUT(0), SCR(0), I32(s), I32(c),
						      I32(parts), I32(per), F32(eps)));

	return PM_REPLACE_WITH_KERNEL(rw, m, .source = grn_cu, .launch = PM_LAUNCHES(squares, apply),
				      .in = PM_VALS(x, m->v[SCALE], m->v[BIAS]),
				      .scratch = PM_SCRATCH(b * parts * c * 4), .like = m->root);
}

#define NORMS    AS(G, WITH(OP(ReduceL2, V(X)), INTS(axes, 1, 2)))
#define RESPONSE OP(Div, NORMS, OP(Add, WITH(OP(ReduceMean, V(G)), INTS(axes, -1)), V(EPS)))

PM_RULE(grn, .doc = "global response normalisation with its residual -> two launches",
	.pattern = OP(Add, TYPED(V(X), FLOATS, 4),
		      OP(Add, V(BIAS), OP(Mul, V(SCALE), OP(Mul, V(X), RESPONSE)))),
	.check = check, .rewrite = rewrite);

PM_PLUGIN("grn", "1", &grn)
