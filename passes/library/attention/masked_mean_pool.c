/* SPDX-License-Identifier: Apache-2.0 */
/* masked_mean_pool.c - mean over the sequence axis, ignoring masked tokens, as one kernel.
 *
 *   y[b,h] = sum_s x[b,s,h] * mask[b,s] / max(sum_s mask[b,s], eps)
 *
 * Exporters spell the mask in several ways (cast before, between or after unsqueeze and expand; either may be
 * absent), hence the OPT()s. Numerator and denominator share the widened mask: AS() names it, V() asks for
 * the same value again. With E bytes per element of x: apart, up to 7 launches: the widened mask is written
 * (E), read by the product and by the count (2 E), x is read (E), the product is written and read (2 E): 6 E.
 * Here 1 launch reads x once: E.
 *
 * Mined: 4 places in 4 of 811 models. Measured on an H200: 8x128x384 float16 20.9 to 3.3 us (6.37x),
 * PyTorch 23.9, TorchInductor 3.7; 4x512x1024 float16 28.9 to 4.5 us (6.48x), PyTorch 42.5, TorchInductor
 * 10.7.
 */
#include "../../common/choose.h"

#include "masked_mean_pool.cu.h"

enum { X, MASK, WIDE, EPS };

/* Not bool and not the small integers: a cast to them loses counts. As the mask itself bool is fine. */
#define NUMBERS     (FLOATS | TYPE(I64) | TYPE(I32))
#define RAW_MASK    TYPED(V(MASK), NUMBERS | TYPE(BOOL), 2)
#define COLUMN      WITH(OP(Unsqueeze, TYPED(OPT(Cast, RAW_MASK), NUMBERS | TYPE(BOOL), 2)), INTS(axes, -1))
#define CASTED(p)   OPT(Cast, p)
#define WIDE_MASK   TYPED(CASTED(OPT(Expand, CASTED(COLUMN))), FLOATS, 3)
#define OVER_SEQ(p) WITH(OP(ReduceSum, p), INTS(axes, 1), INT(keepdims, 0))

/* From the widened mask down to the mask: how often it is cast, and whether one of the casts loses counts. */
static const char *read_casts(PmMatch *m)
{
	PmVal v = m->v[WIDE];
	int32_t from;

	for (; !pm_same(v, m->v[MASK]); v = pm_in(v, 0)) {
		if (!pm_is_op(v, Cast))
			continue;
		from = pm_dtype(pm_in(v, 0));
		if (pm_dtype(v) == PM_BOOL && from != PM_BOOL)
			return "the mask is cast through bool, which makes every count 1";
		/* The kernel rounds once, to the type of x. */
		if (pm_dtype(v) != pm_dtype(m->v[X]) && pm_dtype(v) != PM_I64 && pm_dtype(v) != PM_BOOL &&
		    from != PM_BOOL)
			return "the mask is cast through a type that may round it differently";
	}
	return 0;
}

static PmStatus check(PmMatch *m)
{
	PmVal x = m->v[X], mask = m->v[MASK], wide = m->v[WIDE];
	const char *why;
	double eps;

	if (pm_numel(x) <= 0)
		return pm_decline(m, "x is empty or its size is not known");
	if (pm_dim(x, 0) != pm_dim(mask, 0) || pm_dim(x, 1) != pm_dim(mask, 1))
		return pm_decline(m, "mask does not cover x");
	if (pm_dim(wide, 0) != pm_dim(x, 0) || pm_dim(wide, 1) != pm_dim(x, 1) ||
	    (pm_dim(wide, 2) != 1 && pm_dim(wide, 2) != pm_dim(x, 2)))
		return pm_decline(m, "mask is expanded to another shape than that of x");
	if (!pm_same_shape(m->v[EPS], pm_in(m->root, 1)) && pm_rank(m->v[EPS]) > 2)
		return pm_decline(m, "eps has more axes than the result");
	if (!pm_scalar(m->v[EPS], &eps) || !(eps > 0))
		return pm_decline(m, "eps is not a positive constant");
	if (pm_dim(x, 0) > INT32_MAX || pm_dim(x, 1) > INT32_MAX / 2 || pm_dim(x, 2) > 65535 * 2)
		return pm_decline(m, "x has more rows or columns than the grid can have blocks");
	if (m->out.n > 1)
		return pm_decline(m, "the widened mask is used outside");
	why = read_casts(m);
	return why ? pm_decline(m, why) : PM_OK;
}

/* 64 bytes of a row for each row of threads, and so many of these that a thread has few loads, all under way
 * at once. */
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	enum { ROW_BYTES = 64 };
	PmVal x = m->v[X], mask = m->v[MASK];
	int64_t batch = pm_dim(x, 0), s = pm_dim(x, 1), h = pm_dim(x, 2), bytes = pm_dtype_bytes(pm_dtype(x)),
		each = load_size(h, x);
	uint32_t across, down = s > 128 ? 128 : 64, loads = pm_blocks(s, down);
	double eps = 0;

	across = (uint32_t)(ROW_BYTES / each / bytes);
	across = across > 8 ? 8 : across;
	pm_scalar(m->v[EPS], &eps);
	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "masked_mean_pool", .source = masked_mean_pool_cu,
		.grid = { (uint32_t)batch, pm_blocks(h, across * each) }, .block = { across, down },
		.in = PM_VALS(x, mask), .arg = PM_ARGS(I32(s), I32(h), F32(eps)), .like = m->root,
		.define = PM_DEFINES(DEF(MASK_TYPE, pm_dtype(mask)), DEF(N, each), DEF(ACROSS, across),
				     DEF(DOWN, down), DEF(LOADS, loads > 2 ? 4 : loads)));
}

PM_RULE(masked_mean_pool, .doc = "sum(x * mask, 1) / max(sum(mask, 1), eps) -> one kernel",
	.pattern = OP(Div, OVER_SEQ(OP(Mul, TYPED(V(X), FLOATS, 3), AS(WIDE, WIDE_MASK))),
		      ALT(OP(Max, OVER_SEQ(V(WIDE)), V(EPS)), OP(Clip, OVER_SEQ(V(WIDE)), V(EPS)))),
	.check = check, .rewrite = rewrite);

PM_PLUGIN("masked_mean_pool", "1", &masked_mean_pool)
