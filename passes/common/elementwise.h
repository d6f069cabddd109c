/* SPDX-License-Identifier: Apache-2.0 */
/* elementwise.h - the host's side of elementwise.cu, for the passes that use it.
 *
 * A pass fills an Elementwise with its formula and operands; elementwise_replace() makes the kernel.
 */
#ifndef PASSES_ELEMENTWISE_H
#define PASSES_ELEMENTWISE_H

#include "choose.h"
#include "elementwise.cu.h"
#include "shapes.h"

/* Numbers of elementwise.cu. */
enum { FORM_ACT_SUM = 1, FORM_ACT_TIMES, FORM_TIMES_ACT, FORM_SCALED, FORM_BIASED_SCALED, FORM_ACT };
enum {
	ACT_NONE,
	ACT_RELU,
	ACT_SIGMOID_OF, /* x * sigmoid(p0 x) */
	ACT_HARD_SWISH, /* x * clip(p0 x + p1, 0, 1) */
	ACT_GELU,
	ACT_GELU_TANH,
	ACT_SIGMOID,
	ACT_HARD_SIGMOID /* clip(p0 x + p1, 0, 1) */
};

typedef struct ElementwiseOperand {
	PmVal v;
	int64_t inner, n, ld, off;
} ElementwiseOperand;

typedef struct Elementwise {
	int form, act;
	double p0, p1;
	ElementwiseOperand op[4]; /* x, a, b, c */
	uint32_t n_op;
} Elementwise;

/* The next operand: one that is a band of axes of the result. 0 when it is none, or has another type. */
static inline int elementwise_add(Elementwise *e, PmVal v, PmVal result)
{
	ElementwiseOperand *o = &e->op[e->n_op];
	Band band;

	if (!pm_same_dtype(v, result) || !find_band(v, result, &band))
		return 0;
	*o = (ElementwiseOperand){ v, band.inner, band.n, 0, 0 };
	e->n_op++;
	return 1;
}

/* The next operand: columns [off, off + width) of each row of v. */
static inline void elementwise_add_part(Elementwise *e, PmVal v, int64_t width, int64_t off)
{
	e->op[e->n_op++] = (ElementwiseOperand){ v, width, 0, pm_dim(v, -1), off };
}

/* Walks of elementwise.cu. */
enum { WALK_SAME, WALK_COLUMN, WALK_BAND, WALK_PART };

/* How an operand is read for a result of n elements. */
static inline int elementwise_walk(const ElementwiseOperand *o, int64_t n)
{
	if (o->n == 0)
		return WALK_PART;
	return o->n == n ? WALK_SAME : o->inner == 1 ? WALK_COLUMN : WALK_BAND;
}

/* Elements of a thread: none of its loads may end where a row ends. */
static inline int64_t elementwise_each(const Elementwise *e, int64_t n, PmVal like)
{
	int64_t ends = 0;
	uint32_t k;

	for (k = 0; k < e->n_op; k++) {
		const ElementwiseOperand *o = &e->op[k];
		int walk = elementwise_walk(o, n);

		ends |= walk == WALK_COLUMN ? o->n : walk == WALK_SAME ? 0 : o->inner;
		ends |= walk == WALK_PART ? o->ld | o->off : 0;
	}
	return load_size(ends, like);
}

/* Replaces the match by elementwise.cu with these operands; operands that are the same value are read
 * through one pointer. Declines what has more elements than an int can index. */
static inline PmStatus elementwise_replace(PmRewriter *rw, PmMatch *m, const Elementwise *e)
{
	enum { THREADS = 128, N_DEFINE = 7 };
	int64_t n = pm_numel(m->root), most = elementwise_each(e, n, m->root);
	PmDefine define[2][N_DEFINE];
	PmKernelSpec spec[2] = { 0 };
	uint32_t n_in = 0, at[4], k, j;
	ElementwiseOperand o[4];
	PmVal in[4];

	if (n > INT32_MAX / 2)
		return pm_decline(m, "it has more elements than the kernel can index");
	for (k = 0; k < 4; k++) {
		o[k] = e->op[k < e->n_op ? k : 0];
		for (j = 0; j < n_in && !pm_same(in[j], o[k].v); j++)
			;
		at[k] = j;
		in[j] = o[k].v;
		n_in += j == n_in;
	}

#define WALK_ARGS(k_) DIVISOR(o[k_].inner), DIVISOR(o[k_].n), I32(o[k_].ld), I32(o[k_].off)
	PmArgs arg = PM_ARGS(IN(at[0]), IN(at[1]), IN(at[2]), IN(at[3]), OUT(0), I32(n), WALK_ARGS(0),
			     WALK_ARGS(1), WALK_ARGS(2), WALK_ARGS(3), F32(e->p0), F32(e->p1));
#undef WALK_ARGS

	for (k = 0; k < 2; k++) {
		int64_t each = k == 0 && most > FEW ? FEW : most;
		const PmDefine d[N_DEFINE] = { DEF(FORM, e->form),
					       DEF(ACT, e->act),
					       DEF(N, each),
					       DEF(WALK_X, elementwise_walk(&o[0], n)),
					       DEF(WALK_A, elementwise_walk(&o[1], n)),
					       DEF(WALK_B, elementwise_walk(&o[2], n)),
					       DEF(WALK_C, elementwise_walk(&o[3], n)) };

		for (j = 0; j < N_DEFINE; j++)
			define[k][j] = d[j];
		spec[k] = (PmKernelSpec){ .entry = "elementwise",
					  .source = elementwise_cu,
					  .grid = { pm_blocks((n - 1) / each + 1, THREADS) },
					  .block = { THREADS },
					  .arg = arg,
					  .define = { define[k], N_DEFINE } };
	}
	return replace_with_any(rw, spec, n < LARGE ? 1 : 2, (PmVals){ in, n_in }, m->root);
}

#endif
