/* scaled_masked_softmax.c - the inside of attention: scale the scores, add a mask, softmax over the last
 * axis.
 *
 *   softmax(x * s + mask)    softmax(x / s + mask * t)    softmax(x + mask)    softmax(x * s)
 *
 * With E bytes per score and a mask that is small beside them: apart, Mul 2 E, Add 2 E, Softmax 2 E (when a
 * row stays in cache), 3 or 4 launches and 6 E; here 1 launch and 2 E. The mask may broadcast along any axes,
 * and a Reshape that keeps the last axis may stand in front of Softmax (window attention has one).
 */
#include "passmith/dsl.h"

#include "scaled_masked_softmax.cu.h"

enum { X, MASK };

enum {
	MAX_ROW = 1 << 30,
	MAX_CACHED = 48 * 1024 / 4, /* floats of shared memory that every device has */
	MAX_WARP_ROW = 1024,
	WARP_ROWS = 4 /* per block */
};

/* A term of the sum: a tensor, times or divided by a constant. */
typedef struct Term {
	PmVal v;
	int how; /* 0 as it is, 1 times, 2 divided by `by` */
	double by;
} Term;

/* The mask row of row r = (i0 * n1 + i1) * n2 + i2 starts at i0 * s[0] + i1 * s[1] + i2 * s[2]. */
typedef struct Walk {
	int64_t n1, n2, s[3];
	int32_t last; /* stride along the row */
} Walk;

typedef struct Parts {
	Term x, mask;
	int has_mask;
	Walk walk;
} Parts;

static int is_matched(PmMatch *m, PmVal v)
{
	uint32_t i;

	for (i = 0; i < m->node.n; i++)
		if (pm_same(m->node.v[i], v))
			return 1;
	return 0;
}

/* What stands at v: a matched Mul or Div by a constant, or a value from outside. */
static const char *read_term(PmMatch *m, PmVal v, Term *t)
{
	PmVal a = pm_in(v, 0), b = pm_in(v, 1);

	t->v = v;
	t->how = 0;
	t->by = 1;
	if (!is_matched(m, v))
		return 0;
	t->how = pm_is_op(v, Div) ? 2 : 1;
	t->v = a;
	if (!pm_scalar(b, &t->by)) {
		t->v = b;
		if (t->how == 2 || !pm_scalar(a, &t->by))
			return "the scale is not one constant number";
	}
	if (t->how == 2 && t->by == 0)
		return "the scores are divided by zero";
	return pm_same_shape(t->v, v) ? 0 : "the scale has more axes than what it scales";
}

/* Axes of the mask, merged as far as one stride serves several, must come down to three. */
static const char *plan_walk(PmVal mask, PmVal sum, Walk *w)
{
	int64_t size[3] = { 1, 1, 1 }, stride[3] = { 0, 0, 0 }, step;
	int32_t r = pm_rank(sum), rm = pm_rank(mask), k;
	int n = 0;

	w->last = pm_dim(mask, -1) == pm_dim(sum, -1) && rm > 0;
	step = w->last ? pm_dim(mask, -1) : 1;
	for (k = 2; k <= r; k++) { /* from the innermost row axis outwards */
		int64_t d = pm_dim(sum, -k), have = k <= rm ? pm_dim(mask, -k) : 1;
		int64_t s = have == 1 ? 0 : step;

		step *= have;
		if (d == 1)
			continue;
		if (n && ((s == 0 && stride[n - 1] == 0) ||
			  (stride[n - 1] != 0 && s == stride[n - 1] * size[n - 1]))) {
			size[n - 1] *= d;
			continue;
		}
		if (n == 3)
			return "the mask broadcasts along more separate axes than the kernel can walk";
		size[n] = d;
		stride[n++] = s;
	}
	w->n2 = size[0];
	w->n1 = size[1];
	w->s[2] = stride[0];
	w->s[1] = stride[1];
	w->s[0] = stride[2];
	return 0;
}

/* From the root down. Returns NULL, or why this is not for the kernel. */
static const char *read_parts(PmMatch *m, Parts *p)
{
	PmVal v = pm_in(m->root, 0);
	const char *why;
	Term t[2];

	p->has_mask = 0;
	p->walk = (Walk){ 1, 1, { 0, 0, 0 }, 0 };
	if (is_matched(m, v) && pm_is_op(v, Reshape)) {
		v = pm_in(v, 0);
		if (pm_rank(v) < 1 || pm_dim(v, -1) != pm_dim(m->root, -1))
			return "the reshape changes the rows";
	}
	if (!is_matched(m, v) || !pm_is_op(v, Add)) {
		why = read_term(m, v, &p->x);
		p->mask = p->x;
		return why ? why : p->x.how ? 0 : "there is nothing but the softmax";
	}
	why = read_term(m, pm_in(v, 0), &t[0]);
	if (!why)
		why = read_term(m, pm_in(v, 1), &t[1]);
	if (why)
		return why;
	p->x = t[pm_same_shape(t[0].v, v) ? 0 : 1];
	p->mask = t[pm_same_shape(t[0].v, v) ? 1 : 0];
	p->has_mask = 1;
	if (!pm_same_shape(p->x.v, v))
		return "both terms broadcast";
	if (pm_same(p->x.v, p->mask.v))
		return "scores and mask are the same value";
	return plan_walk(p->mask.v, v, &p->walk);
}

static PmStatus check(PmMatch *m)
{
	int64_t n = pm_numel(m->root), len = pm_dim(m->root, -1);
	const char *why;
	Parts p;

	if (n <= 0 || len < 1)
		return pm_decline(m, "the scores are empty or their size is not known");
	if (len > MAX_ROW || n / len > INT32_MAX)
		return pm_decline(m, "a row is longer, or rows are more, than the kernel can index");
	why = read_parts(m, &p);
	return why ? pm_decline(m, why) : PM_OK;
}

/* Elements per lane of the warp kernel, a power of two so that few variants are compiled; 0: row too long. */
static int per_lane(int64_t n)
{
	int per = 1;

	if (n > MAX_WARP_ROW)
		return 0;
	while (per * 32 < n)
		per *= 2;
	return per;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t len = pm_dim(m->root, -1), rows = pm_numel(m->root) / len;
	int cache = len <= MAX_CACHED, per = per_lane(len);
	uint32_t threads = len > 2048 ? 256 : len > 512 ? 128 : len > 64 ? 64 : 32;
	PmVal in[2];
	Parts p;

	if (read_parts(m, &p))
		return PM_DECLINED;
	in[0] = p.x.v;
	in[1] = p.mask.v;

	PmArgs arg = PM_ARGS(IN(0), IN(p.has_mask ? 1 : 0), OUT(0), I64(rows), I32(len), I64(p.walk.n1),
			     I64(p.walk.n2), I64(p.walk.s[0]), I64(p.walk.s[1]), I64(p.walk.s[2]),
			     I32(p.walk.last), F32(p.x.by), F32(p.mask.by));
	PmDefines define = PM_DEFINES(DEF(SCALE, p.x.how), DEF(MASK_SCALE, p.has_mask ? p.mask.how : 0),
				      DEF(MASK, p.has_mask), DEF(CACHE, cache), DEF(PER, per));
	const PmKernelSpec *block = PM_ALTERNATIVE(.entry = "softmax_block",
						   .source = scaled_masked_softmax_cu,
						   .grid = { (uint32_t)rows }, .block = { threads },
						   .smem = cache ? (uint32_t)len * 4 : 0, .arg = arg,
						   .define = define);

	if (!per)
		return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "softmax_block",
					      .source = scaled_masked_softmax_cu, .grid = { (uint32_t)rows },
					      .block = { threads }, .smem = cache ? (uint32_t)len * 4 : 0,
					      .in = { in, p.has_mask ? 2 : 1 }, .arg = arg, .define = define,
					      .like = m->root);
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "softmax_warp", .source = scaled_masked_softmax_cu,
				      .grid = { pm_blocks(rows, WARP_ROWS) }, .block = { 32, WARP_ROWS },
				      .in = { in, p.has_mask ? 2 : 1 }, .arg = arg, .define = define,
				      .like = m->root, .alt = block);
}

#define SOFTMAX(p) WITH(OP(Softmax, ANYATTR(OPT(Reshape, p))), INT(axis, -1))
#define SCORES     TYPED(V(X), FLOATS, -1)
/* check() wants the other operand to be a constant number; the fixed text form has no word for that. */
#define SCALED(p) ALT(OP(Mul, p, ANY), OP(Div, p, ANY))

PM_RULE(scaled_scaled_softmax, .doc = "Softmax(x * s + mask * t) -> one kernel",
	.pattern = SOFTMAX(OP(Add, SCALED(SCORES), SCALED(V(MASK)))), .check = check, .rewrite = rewrite);
PM_RULE(scaled_masked_softmax, .doc = "Softmax(x * s + mask) -> one kernel",
	.pattern = SOFTMAX(OP(Add, SCALED(SCORES), V(MASK))), .check = check, .rewrite = rewrite);
PM_RULE(masked_softmax, .doc = "Softmax(x + mask) -> one kernel",
	.pattern = SOFTMAX(OP(Add, SCORES, V(MASK))), .check = check, .rewrite = rewrite);
PM_RULE(scaled_softmax, .doc = "Softmax(x * s) -> one kernel", .pattern = SOFTMAX(SCALED(SCORES)),
	.check = check, .rewrite = rewrite);

PM_PLUGIN("scaled_masked_softmax", "1", &scaled_scaled_softmax, &scaled_masked_softmax, &masked_softmax,
	  &scaled_softmax)
