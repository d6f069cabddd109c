/* add_layer_norm.c - residual addition and layer normalisation as one kernel, also when the sum is used
 * later.
 *
 * Per element of x + residual -> LayerNorm, with E bytes each: apart, two launches move 3 E (Add) and 2 E
 * (norm, when a row stays in cache) = 5 E; here one launch moves 2 E in, 1 E out and, where the sum is used
 * again, 1 E more: 3 or 4 E. With a bias in front (x + bias + residual) it is 3 launches and 7 E before.
 * Each addend may repeat its rows: a bias of shape [H], a position embedding of shape [1, S, H].
 *
 * Mined: 12053 places in 441 of 811 models; in 38 of the 400 structures with most time at stake, the first
 * of rank 4.
 */
#include "shapes.h"

#include "add_layer_norm.cu.h"

/* BIAS and C come last: not every rule has them. */
enum { SUM, A, B, SCALE, BIAS, C };

enum {
	MAX_ROW = 1 << 30,
	MAX_CACHED = 48 * 1024 / 4, /* floats of shared memory that every device has */
	MAX_DOUBLE = 64,            /* rows up to here are worked out in double when the elements are float */
	WARP_ROWS = 4               /* per block */
};

static PmStatus check(PmMatch *m)
{
	PmVal sum = m->v[SUM];
	int64_t n = pm_numel(sum), h = pm_dim(sum, -1);
	uint32_t i;

	if (n <= 0 || h < 1)
		return pm_decline(m, "the sum is empty or its size is not known");
	if (h > MAX_ROW || n / h > INT32_MAX)
		return pm_decline(m, "a row is longer, or rows are more, than the kernel can index");
	if (!row_period(m->v[A], sum) || !row_period(m->v[B], sum) ||
	    (m->n_slots > C && !row_period(m->v[C], sum)))
		return pm_decline(m, "an addend does not consist of whole rows of the sum");
	if (pm_same(m->v[A], m->v[B]))
		return pm_decline(m, "both addends are the same value");
	if (!pm_same_dtype(m->v[SCALE], sum) || (m->n_slots > BIAS && !pm_same_dtype(m->v[BIAS], sum)))
		return pm_decline(m, "scale or bias has another element type than the sum");
	if (pm_numel(m->v[SCALE]) != h || (m->n_slots > BIAS && pm_numel(m->v[BIAS]) != h))
		return pm_decline(m, "scale or bias does not have one element per column");
	if (pm_attr_i(m->root, "stash_type", 1) != 1)
		return pm_decline(m, "mean and variance are asked for in another precision than float");
	for (i = 0; i < m->out.n; i++)
		if (!pm_same(m->out.v[i], m->root) && !pm_same(m->out.v[i], sum))
			return pm_decline(m, "a value other than the sum is used outside");
	return PM_OK;
}

static uint32_t threads_for(int64_t h)
{
	return h > 2048 ? 256 : h > 512 ? 128 : h > 64 ? 64 : 32;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	PmVal sum = m->v[SUM], in[5];
	int64_t h = pm_dim(sum, -1), rows = pm_numel(sum) / h;
	int three = m->n_slots > C, has_bias = m->n_slots > BIAS, keep = m->out.n > 1;
	int cache = h <= MAX_CACHED, per = per_lane(h);
	int dbl = h <= MAX_DOUBLE && pm_dtype(sum) == PM_F32;
	uint32_t n = 0, at_scale, at_bias, at_c;
	float eps = (float)pm_attr_f(m->root, "epsilon", 1e-5);
	int64_t ra = row_period(m->v[A], sum), rb = row_period(m->v[B], sum), rc = 1;

	in[n++] = m->v[A];
	in[n++] = m->v[B];
	at_scale = n;
	in[n++] = m->v[SCALE];
	at_bias = at_scale;
	if (has_bias) {
		at_bias = n;
		in[n++] = m->v[BIAS];
	}
	at_c = 0;
	if (three) {
		at_c = n;
		in[n++] = m->v[C];
		rc = row_period(m->v[C], sum);
	}
	if (keep && pm_replace_slot(rw, m, SUM))
		return PM_DECLINED;

	PmArgs arg = PM_ARGS(IN(0), IN(1), IN(at_c), IN(at_scale), IN(at_bias), OUT(0), OUT(keep ? 1 : 0),
			     I64(rows), I64(ra), I64(rb), I64(rc), I32(h), F32(eps));
	PmDefines define = PM_DEFINES(DEF(N_ADD, three ? 3 : 2), DEF(HAS_BIAS, has_bias), DEF(KEEP, keep),
				      DEF(CACHE, cache), DEF(PER, per), DEF(DOUBLE, dbl));
	const PmKernelSpec *warp = PM_ALTERNATIVE(.entry = "add_layer_norm_warp", .source = add_layer_norm_cu,
						  .grid = { pm_blocks(rows, WARP_ROWS) },
						  .block = { 32, WARP_ROWS }, .arg = arg, .define = define);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "add_layer_norm_block", .source = add_layer_norm_cu,
				      .grid = { (uint32_t)rows }, .block = { threads_for(h) },
				      .smem = cache ? (uint32_t)h * (dbl ? 8 : 4) : 0, .in = { in, n },
				      .arg = arg, .define = define, .like = m->root, .alt = per ? warp : 0);
}

#define LAST_AXIS(p) WITH(ANYATTR(p), INT(axis, -1)) /* any epsilon; check() looks at stash_type */
#define SUM_OF(p, q) AS(SUM, OP(Add, p, q))

PM_RULE(add_layer_norm_plain, .doc = "LayerNormalization(a + b) without bias -> one kernel",
	.pattern = LAST_AXIS(OP(LayerNormalization, SUM_OF(TYPED(V(A), FLOATS, -1), TYPED(V(B), FLOATS, -1)),
				V(SCALE))),
	.check = check, .rewrite = rewrite);

PM_RULE(add_layer_norm, .doc = "LayerNormalization(a + b), and a + b where it is used -> one kernel",
	.pattern = LAST_AXIS(OP(LayerNormalization, SUM_OF(TYPED(V(A), FLOATS, -1), TYPED(V(B), FLOATS, -1)),
				V(SCALE), V(BIAS))),
	.check = check, .rewrite = rewrite);

PM_RULE(bias_add_layer_norm,
	.doc = "LayerNormalization((a + b) + c), and the sum where it is used -> one kernel",
	.pattern = LAST_AXIS(OP(LayerNormalization,
				SUM_OF(OP(Add, TYPED(V(A), FLOATS, -1), TYPED(V(B), FLOATS, -1)), V(C)),
				V(SCALE), V(BIAS))),
	.check = check, .rewrite = rewrite);

PM_PLUGIN("add_layer_norm", "1", &add_layer_norm_plain, &add_layer_norm, &bias_add_layer_norm)
