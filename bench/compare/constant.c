/* SPDX-License-Identifier: Apache-2.0 */
/* constant.c - is a result nearer to what is wanted than the best constant is? */
#include "bench/compare/constant.h"

#include <math.h>

void pm_spread_add(PmSpread *s, const PmTensor *want, const PmTensor *got)
{
	enum { SOME = 256 };
	double w[SOME], y[SOME];
	int64_t n = pm_tensor_numel(want);

	for (int64_t i = 0; i < n; i += SOME) {
		int64_t some = n - i < SOME ? n - i : SOME;

		pm_tensor_gets(want, i, some, w);
		pm_tensor_gets(got, i, some, y);
		for (int64_t k = 0; k < some; k++) {
			double d = y[k] - w[k];

			if (!isfinite(w[k]) || !isfinite(d))
				continue;
			s->n++;
			s->sum += w[k];
			s->square += w[k] * w[k];
			s->off += d * d;
		}
	}
}

void pm_spread_join(PmSpread *s, const PmSpread *part)
{
	s->n += part->n;
	s->sum += part->sum;
	s->square += part->square;
	s->off += part->off;
}

int pm_beats_constant(const PmSpread *s)
{
	double variance = s->n > 0 ? s->square - s->sum * s->sum / s->n : 0;

	return s->n < 2 || variance <= 0x1p-40 * s->square || s->off < variance / 2;
}
