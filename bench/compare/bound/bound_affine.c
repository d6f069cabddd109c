/* SPDX-License-Identifier: Apache-2.0 */
/* bound_affine.c - units of error of BatchNormalization: a factor and a shift for each channel. */
#include "bench/compare/bound/bound_priv.h"

#include <math.h>

/* y = (x - mean) k + bias, k = scale / sqrt(var + epsilon). With d = |x - mean| |k| and r =
 * PM_BOUND_ROUNDING, the variances over u^2 of what honest orders round, the result not counted:
 *
 *   (x - mean) * rsqrt * scale + bias   three roundings of size d: the difference and two products
 *   x * k + (bias - mean * k)           the product, |x k|; in common to a channel |mean k| and the shift
 *   k, in common                        the root is good to its last two digits (1), as functions are;
 *                                       epsilon is a rounded constant and var + epsilon a rounded sum, of
 * which the root keeps half each (r^2 / 2); the product with scale (r^2)
 *
 * Each element has the larger of the first and the product of the second for itself. Where x k and the shift,
 * or x and mean, cancel, all of these stay as large as they were (Higham, 1.7): none of it goes by |y|. */
typedef struct Channel {
	double mean, k, shift, bias;
} Channel;

static Channel channel_of(const PmBoundCall *c, int64_t at)
{
	const PmRefTensor *in = c->call.in;
	double eps = pm_node_f(c->call.g, c->call.node, "epsilon", 1e-5);
	Channel ch = { .mean = in[3].f[at], .k = in[1].f[at] / sqrt(in[4].f[at] + eps), .bias = in[2].f[at] };

	ch.shift = ch.bias - ch.mean * ch.k;
	return ch;
}

static double square(double v)
{
	return v * v;
}

/* What the arithmetic does to one element: for itself, and in common with its channel. */
static void errors_of(const Channel *ch, double x, double u, double *own, double *common)
{
	double d = square((x - ch->mean) * ch->k), r = square(PM_BOUND_ROUNDING);

	*own = u * sqrt(r * fmax(3 * d, square(x * ch->k)));
	*common = u * sqrt((1 + 1.5 * r) * d + r * (square(ch->mean * ch->k) + square(ch->shift)));
}

PmStatus pm__bound_batch_norm(PmBoundCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->call.in[0], *y = &c->call.out[0];
	int64_t channels = c->call.in[1].numel, size = 1;
	double u = pm__bound_u(y->type.dtype), tier = c->tier == PM_TIER_STRICT ? 0 : 0x1p-11;
	double tiny = pm__bound_flushed(y->type.dtype), *e = pm__bound_unit(c, 0);
	PmBoundPart p = { .all = pm_xcalloc((size_t)y->numel + 1, sizeof *p.all),
			  .shared = pm_xcalloc((size_t)y->numel + 1, sizeof *p.shared),
			  .inv = channels ? 1 / (double)channels : 0 };

	c->widened = tier > 0;
	for (int k = 2; k < x->type.rank; k++)
		size *= x->type.dim[k];
	for (int64_t i = 0; i < y->numel; i++) {
		Channel ch = channel_of(c, i / size % channels);

		if (!isfinite(y->f[i]))
			continue;
		errors_of(&ch, x->f[i], u, &e[i], &p.all[i]);
		e[i] += tier * fabs(y->f[i]) + tiny;
		p.shared[i] = p.all[i];
	}
	pm__bound_own(c, 0, 0);
	pm__bound_add(c, 0, &p);
	pm__bound_rounded(c);
	return pm__bound_move_operands(c, 0, err);
}
