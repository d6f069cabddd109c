/* bound_fit.c - judges results by the bound. */
#include "bench/bound_priv.h"

#include <math.h>

/* The class of a value in a type: an exact value beyond its range has become infinite there. */
static int class_of(double v, double top)
{
	return isnan(v) ? 3 : v > top ? 1 : v < -top ? 2 : 0;
}

void pm_bound_fit(const PmBound *b, const PmTensor *got, PmBoundFit *out)
{
	int dtype = b->y.type.dtype;
	double ud = b->rounds ? pm__bound_ud(dtype) : 0, tiny = b->rounds ? pm__bound_tiny(dtype) : 0;
	/* Halfway to the next power of two is where rounding gives an infinity. */
	double top = pm__bound_largest(dtype) * (1 + pm__bound_ud(dtype) / 2), sum = 0;

	*out = (PmBoundFit){ .index = -1 };
	for (int64_t i = 0; i < b->y.numel; i++) {
		double y = b->y.f ? b->y.f[i] : pm_int_to_f64(dtype, b->y.i[i]), e = b->unit ? b->unit[i] : 0;
		double g = pm_tensor_get(got, i), off, round, ratio;

		if (isinf(e)) {
			out->open++;
			continue;
		}
		if (class_of(y, top) != class_of(g, top)) {
			/* At the edge of the range both are right. */
			if (fabs(fabs(y) - top) <= 16 * e + ud * top && !isnan(y) && !isnan(g)) {
				out->open++;
				continue;
			}
			if (!out->n_class++) {
				out->index = i;
				out->expected = y;
				out->got = g;
			}
			continue;
		}
		if (class_of(y, top) || (b->y.f ? y == g : b->y.i[i] == pm_tensor_get_i(got, i)))
			continue;
		round = ud * fabs(y) * (1 + 0x1p-20) + tiny;
		off = fabs(y - g);
		ratio = 16 * e + round > 0 ? off / (16 * e + round) : INFINITY;
		sum += 4 * e + round > 0 ? off / (4 * e + round) * (off / (4 * e + round)) : INFINITY;
		if (!out->n_class && (out->index < 0 || ratio > out->max)) {
			out->index = i;
			out->expected = y;
			out->got = g;
		}
		out->max = fmax(out->max, ratio);
	}
	out->rms = b->y.numel > out->open ? sqrt(sum / (double)(b->y.numel - out->open)) : 0;
	out->within = !out->n_class && out->max <= 1 && out->rms <= 1;
}
