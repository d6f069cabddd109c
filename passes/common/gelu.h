/* SPDX-License-Identifier: Apache-2.0 */
/* gelu.h - GELU in the spellings of exporters, as patterns. For passes only.
 *
 *   x * (0.5 * G(x))    0.5 * (x * G(x))    (0.5 * x) * G(x)      with G(x) = 1 + erf(x / sqrt(2))
 *                                                            or 1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))
 *
 * The constants of half-precision models are rounded, and a model keeps them when its type is changed later;
 * gelu_read() takes them from the graph.
 */
#ifndef PASSES_GELU_H
#define PASSES_GELU_H

#include "elementwise.h"

#define GELU_SQRT_2    ALT(NUM(1.4142135623730951), NUM(1.4140625))
#define GELU_SQRT_HALF ALT(NUM(0.7071067811865476), NUM(0.70703125))
#define GELU_SQRT_2_PI ALT(NUM(0.7978845608028654), NUM(0.7978515625), NUM(0.796875))
#define GELU_CUBIC     ALT(NUM(0.044715), NUM(0.0447082519), NUM(0.0446777344))

/* erf or tanh of the value in slot s. */
#define GELU_ERF(s) OP(Erf, ALT(OP(Div, V(s), GELU_SQRT_2), OP(Mul, V(s), GELU_SQRT_HALF)))
#define GELU_TANH(s)                                                                                         \
	OP(Tanh,                                                                                             \
	   ALT(OP(Mul, GELU_SQRT_2_PI,                                                                       \
		  OP(Add, V(s),                                                                              \
		     OP(Mul, GELU_CUBIC, ALT(OP(Pow, V(s), NUM(3)), OP(Mul, V(s), OP(Mul, V(s), V(s))))))),  \
	       OP(Mul, OP(Mul, V(s), GELU_SQRT_2_PI),                                                        \
		  OP(Add, NUM(1), OP(Mul, OP(Mul, V(s), GELU_CUBIC), V(s))))))

/* p is x, f is erf or tanh of it. */
#define GELU_HALF_GATE(p, f) OP(Mul, p, OP(Mul, NUM(0.5), OP(Add, NUM(1), f)))
#define GELU_HALF_LAST(p, f) OP(Mul, NUM(0.5), OP(Mul, p, OP(Add, NUM(1), f)))
#define GELU_HALF_X(p, f)    OP(Mul, ALT(OP(Mul, p, NUM(0.5)), OP(Div, p, NUM(2))), OP(Add, NUM(1), f))

/* The constant among the operands that is x, up to the rounding of a half-precision model. */
static inline double gelu_constant(PmMatch *m, double x)
{
	uint32_t i;
	double c;

	for (i = 0; i < m->in.n; i++)
		if (pm_scalar(m->in.v[i], &c) && c > 0.99 * x && c < 1.01 * x)
			return c;
	return x;
}

/* Which GELU was matched, and its constants. */
static inline void gelu_read(PmMatch *m, Elementwise *e)
{
	PmVal erf = find_op(m, "Erf");

	if (erf.id == 0) {
		e->act = ACT_GELU_TANH;
		e->p0 = gelu_constant(m, 0.7978845608028654);
		e->p1 = gelu_constant(m, 0.044715);
		return;
	}
	e->act = ACT_GELU;
	e->p0 = pm_is_op(pm_in(erf, 0), Div) ? 1 / gelu_constant(m, 1.4142135623730951)
					     : gelu_constant(m, 0.7071067811865476);
}

#endif
