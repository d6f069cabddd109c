/* SPDX-License-Identifier: Apache-2.0 */
/* sketch.c - 64 sums of a tensor's elements under random signs. */
#include "runtime/device/sketch.h"

#include "runtime/device/digest.h"

#include <math.h>
#include <string.h>

static const uint64_t golden = 0x9e3779b97f4a7c15u;

uint64_t pm_sketch_base(uint64_t key, uint64_t which, int64_t n)
{
	return pm_digest_base(~key, which, n, 0);
}

void pm_sketch_make(PmSketch *s, uint64_t key, uint64_t which, const PmTensor *t)
{
	int64_t n = pm_tensor_numel(t);
	uint64_t base = pm_sketch_base(key, which, n);

	memset(s, 0, sizeof *s);
	for (int64_t i = 0; i < n; i++) {
		uint64_t signs = pm_mix64(base + golden * (uint64_t)i);
		double v = pm_tensor_get(t, i);

		if (!isfinite(v))
			s->odd += signs * (isnan(v) ? 1u : v > 0 ? 2u : 3u);
		for (int k = 0; k < PM_SKETCH_SUMS && isfinite(v); k++)
			s->sum[k] += signs >> k & 1 ? -v : v;
	}
}

double pm_sketch_distance(const PmSketch *a, const PmSketch *b)
{
	double most = 0, apart = 0, norm = 0;

	if (a->odd != b->odd)
		return INFINITY;
	for (int k = 0; k < PM_SKETCH_SUMS; k++)
		most = fmax(most, fmax(fabs(a->sum[k]), fabs(b->sum[k])));
	for (int k = 0; k < PM_SKETCH_SUMS && most > 0; k++) { /* scaled: squares of large sums are none */
		double d = a->sum[k] / most - b->sum[k] / most, y = b->sum[k] / most;

		apart += d * d;
		norm += y * y;
	}
	if (apart == 0)
		return 0;
	return norm > 0 && isfinite(apart) ? sqrt(apart / norm) : INFINITY;
}
