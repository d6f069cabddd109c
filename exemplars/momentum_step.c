/* SPDX-License-Identifier: Apache-2.0 */
/* momentum_step.c - one step of SGD with momentum and weight decay, parameters and state, as one kernel. */
#include "passmith/dsl.h"

enum { P, G, S, DECAY, MOMENTUM, RATE, NEW_S };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	extern "C" __global__ void momentum_step(const T *p, const T *g, const T *s, T *new_p, T *new_s, long long n, float decay,
						 float momentum, float rate)
	{
		const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
		if (i >= n)
			return;
		const float w = ld(p[i]);
		const float v = momentum * ld(s[i]) + (ld(g[i]) + decay * w);
		new_s[i] = st(v);
		new_p[i] = st(w - rate * v);
	}
);
/* clang-format on */

static PmStatus check(PmMatch *m)
{
	double c;

	if (!pm_same_type(m->v[P], m->v[G]) || !pm_same_type(m->v[P], m->v[S]))
		return pm_decline(m, "parameters, gradient and state differ in type or shape");
	if (pm_numel(m->v[P]) <= 0)
		return pm_decline(m, "the parameters are empty or their size is not known");
	if (!pm_scalar(m->v[DECAY], &c) || !pm_scalar(m->v[MOMENTUM], &c) || !pm_scalar(m->v[RATE], &c))
		return pm_decline(m, "decay, momentum or rate is not one constant number");
	if (m->out.n != 2)
		return pm_decline(m, "the new state is not used outside");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[P]);
	double decay = 0, momentum = 0, rate = 0;

	pm_scalar(m->v[DECAY], &decay);
	pm_scalar(m->v[MOMENTUM], &momentum);
	pm_scalar(m->v[RATE], &rate);
	pm_replace_slot(rw, m, NEW_S); /* outputs: the root, then the state */
	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "momentum_step", .source = SRC, .grid = { pm_blocks(n, 256) },
		.block = { 256 }, .in = PM_VALS(m->v[P], m->v[G], m->v[S]),
		.arg = PM_ARGS(I64(n), F32(decay), F32(momentum), F32(rate)), .like = m->root);
}

#define GRADIENT OP(Add, V(G), OP(Mul, V(P), V(DECAY)))
#define STATE    OP(Add, OP(Mul, V(S), V(MOMENTUM)), GRADIENT)

PM_RULE(momentum_step, .doc = "SGD with momentum and weight decay, two results -> one kernel",
	.pattern = OP(Sub, TYPED(V(P), FLOATS, -1), OP(Mul, AS(NEW_S, STATE), V(RATE))), .check = check,
	.rewrite = rewrite);

PM_PLUGIN("momentum_step", "1", &momentum_step)
