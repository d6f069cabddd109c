/* SPDX-License-Identifier: Apache-2.0 */
/* softmax.h - the scores of attention: what stands in front of a Softmax, and the kernel for it. For passes
 * only. */
#ifndef PASSES_SOFTMAX_H
#define PASSES_SOFTMAX_H

#include "scaled_masked_softmax.cu.h"
#include "shapes.h"

enum {
	MAX_ROW = 1 << 30,
	MAX_CACHED = 48 * 1024 / 4 /* floats of shared memory that every device has */
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
	int has_mask; /* 1: a tensor that broadcasts, 2: a table, read through `index` */
	PmVal index;
	Walk walk; /* with a table: n1 its columns, n2 the rows of the index, s[0] its rows */
} Parts;

/* 1 when v is made by a node of the match. */
static inline int is_matched(PmMatch *m, PmVal v)
{
	uint32_t i;

	for (i = 0; i < m->node.n; i++)
		if (pm_same(m->node.v[i], v))
			return 1;
	return 0;
}

/* What stands at v: a matched Mul or Div by a constant, or a value from outside. */
static inline const char *read_term(PmMatch *m, PmVal v, Term *t)
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
static inline const char *plan_walk(PmVal mask, PmVal sum, Walk *w)
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
static inline const char *read_parts(PmMatch *m, PmVal soft, Parts *p)
{
	PmVal v = pm_in(soft, 0);
	const char *why;
	Term t[2];

	p->has_mask = 0;
	p->index = (PmVal){ 0 };
	p->walk = (Walk){ 1, 1, { 0, 0, 0 }, 0 };
	if (is_matched(m, v) && pm_is_op(v, Reshape)) {
		v = pm_in(v, 0);
		if (pm_rank(v) < 1 || pm_dim(v, -1) != pm_dim(soft, -1))
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

/* PM_OK when the softmax `soft` and what is in front of it can be one kernel; else a decline that says why
 * not. */
static inline PmStatus softmax_check(PmMatch *m, PmVal soft)
{
	int64_t n = pm_numel(soft), len = pm_dim(soft, -1);
	const char *why;
	Parts p;

	if (n <= 0 || len < 1)
		return pm_decline(m, "the scores are empty or their size is not known");
	if (len > MAX_ROW || n / len > INT32_MAX)
		return pm_decline(m, "a row is longer, or rows are more, than the kernel can index");
	why = read_parts(m, soft, &p);
	return why ? pm_decline(m, why) : PM_OK;
}

/* The kernel for the parts; `guard`: a NaN in the result becomes 0. */
static inline PmStatus softmax_emit(PmRewriter *rw, PmMatch *m, PmVal soft, const Parts *p, int guard)
{
	int64_t len = pm_dim(soft, -1), rows = pm_numel(soft) / len;
	enum { LANE = 8, THREADS = 128 }; /* elements of a lane, at least; threads of a block */
	int cache = len <= MAX_CACHED, mask = p->has_mask == 1 && !p->walk.last ? 3 : p->has_mask;
	int64_t vec = 16 / pm_dtype_bytes(pm_dtype(soft)), each = len % vec || mask == 2 ? 1 : vec;
	int64_t loads = LANE / each;
	uint32_t lanes = 4;
	const PmVal in[3] = { p->x.v, p->mask.v, p->index };
	PmVals vals = { in, p->has_mask + 1u };
	PmArgs arg = PM_ARGS(IN(0), IN(p->has_mask ? 1 : 0), IN(p->has_mask == 2 ? 2 : 0), OUT(0), I64(rows),
			     I32(len), I64(p->walk.n1), I64(p->walk.n2), I64(p->walk.s[0]), I64(p->walk.s[1]),
			     I64(p->walk.s[2]), I32(p->walk.last), F32(p->x.by), F32(p->mask.by));
	PmArgs warp = PM_ARGS(IN(0), IN(p->has_mask ? 1 : 0), IN(p->has_mask == 2 ? 2 : 0), OUT(0), I32(rows),
			      I32(len), DIVISOR(p->walk.n1), DIVISOR(p->walk.n2), I64(p->walk.s[0]),
			      I64(p->walk.s[1]), I64(p->walk.s[2]), F32(p->x.by), F32(p->mask.by));

	while (lanes < 32 && lanes * each * loads < len)
		lanes *= 2;
	while (lanes * each * loads < len)
		loads *= 2;
	loads = len > MAX_WARP_ROW ? 0 : loads;

	PmDefines define = PM_DEFINES(DEF(SCALE, p->x.how), DEF(MASK_SCALE, p->has_mask ? p->mask.how : 0),
				      DEF(MASK, mask), DEF(CACHE, cache), DEF(LOADS, loads), DEF(EACH, each),
				      DEF(GUARD, guard));

	if (!loads)
		return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "softmax_block",
					      .source = scaled_masked_softmax_cu, .grid = { (uint32_t)rows },
					      .block = { len > 2048 ? 256 : 128 },
					      .smem = cache ? (uint32_t)len * 4 : 0, .in = vals, .arg = arg,
					      .define = define, .like = m->root);
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "softmax_warp", .source = scaled_masked_softmax_cu,
				      .grid = { pm_blocks(rows, THREADS / lanes) },
				      .block = { lanes, THREADS / lanes }, .in = vals, .arg = warp,
				      .define = define, .like = m->root);
}

/* Replaces the match, whose softmax is `soft`; `guard`: a NaN in the result becomes 0. */
static inline PmStatus softmax_replace(PmRewriter *rw, PmMatch *m, PmVal soft, int guard)
{
	Parts p;

	return read_parts(m, soft, &p) ? PM_DECLINED : softmax_emit(rw, m, soft, &p, guard);
}

#define SOFTMAX_OF(p) WITH(OP(Softmax, ANYATTR(OPT(Reshape, p))), INT(axis, -1))
/* softmax_check() wants the other operand to be a constant number; the fixed text form has no word for that.
 */
#define SOFTMAX_SCALED(p) ALT(OP(Mul, p, ANY), OP(Div, p, ANY))

#endif
