/* SPDX-License-Identifier: Apache-2.0 */
/* ref_random.c - random numbers as a function of seed and position, as runtime/kernels/move/random.cu makes
 * them.
 */
#include "runtime/ref/ref_priv.h"

#include <math.h>
#include <string.h>

/* Bits number n of a seed: the finaliser of MurmurHash3 (Appleby, 2011) over an odd multiple of n, as in
 * SplitMix64 (Steele, Lea, Flood, 2014). */
static uint64_t bits(uint64_t seed, uint64_t n)
{
	uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* 24 bits, so that every number is exact in float: [0, 1). */
static double unit(uint64_t seed, uint64_t n)
{
	return (double)(bits(seed, n) >> 40) * 0x1p-24;
}

PmStatus pm__ref_random(const PmRefCall *c, PmErr *err)
{
	int normal = pm_node_op(c->g, c->node) == PM_OP_RandomNormalLike;
	double a = pm_node_f(c->g, c->node, normal ? "mean" : "low", 0);
	double b = pm_node_f(c->g, c->node, normal ? "scale" : "high", 1);
	double seed_as_written = pm_node_f(c->g, c->node, "seed", 0);
	uint64_t seed, k;
	PmRefTensor *y = &c->out[0];

	if (!y->f && y->numel)
		return pm__ref_fail(c, err, PM_E_UNSUPPORTED,
				    "random numbers of type %s cannot be made; use float.",
				    pm_dtype_name(y->type.dtype));
	memcpy(&seed, &seed_as_written, sizeof seed);
	for (k = 0; k < (uint64_t)y->numel; k++) {
		double v;

		if (normal)
			v = a + b * (sqrt(-2 * log(1 - unit(seed, 2 * k))) *
				     cos(6.283185307179586476925286766559 * unit(seed, 2 * k + 1)));
		else
			v = a + (b - a) * unit(seed, k);
		y->f[k] = pm__ref_round(y->type.dtype, v);
	}
	return PM_OK;
}
