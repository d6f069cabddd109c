/* elementwise.h - the host's side of elementwise.cu, for the passes that use it.
 *
 * A pass fills an Elementwise with its formula and operands; elementwise_replace() makes the kernel: 16 bytes
 * per thread, or one element per thread as the alternative, which the tuning step takes where a tensor is
 * small.
 */
#ifndef PASSES_ELEMENTWISE_H
#define PASSES_ELEMENTWISE_H

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

static inline PmStatus elementwise_replace(PmRewriter *rw, PmMatch *m, const Elementwise *e)
{
	int64_t n = pm_numel(m->root), vec = 16 / pm_dtype_bytes(pm_dtype(m->root));
	uint32_t n_in = 0, at[4], k, j;
	ElementwiseOperand o[4];
	PmVal in[4];

	for (k = 0; k < 4; k++) {
		o[k] = e->op[k < e->n_op ? k : 0];
		for (j = 0; j < n_in && !pm_same(in[j], o[k].v); j++)
			;
		at[k] = j;
		in[j] = o[k].v;
		n_in += j == n_in;
	}

#define WALK_ARGS(k_) I64(o[k_].inner), I64(o[k_].n), I64(o[k_].ld), I64(o[k_].off)
	PmArgs arg = PM_ARGS(IN(at[0]), IN(at[1]), IN(at[2]), IN(at[3]), OUT(0), I64(n), WALK_ARGS(0),
			     WALK_ARGS(1), WALK_ARGS(2), WALK_ARGS(3), F32(e->p0), F32(e->p1));
#undef WALK_ARGS
	PmDefines define = PM_DEFINES(DEF(FORM, e->form), DEF(ACT, e->act), DEF(LONG, n > INT32_MAX / 2));

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "ew_vec", .source = elementwise_cu,
				      .grid = { pm_blocks((n - 1) / vec + 1, 256) }, .block = { 256 },
				      .in = { in, n_in }, .arg = arg, .define = define, .like = m->root,
				      .alt = PM_ALTERNATIVE(.entry = "ew_one", .source = elementwise_cu,
							    .grid = { pm_blocks(n, 128) }, .block = { 128 },
							    .arg = arg, .define = define));
}

#endif
