/* SPDX-License-Identifier: Apache-2.0 */
/* synth.c - made-up elements by law, seed and position. */
#include "ir/data/synth.h"

#include "base/sys/threads.h"
#include "ir/core/element.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN     0x9e3779b97f4a7c15ull /* splitmix64's step */
#define QUARTER_SD 37837.22723720648     /* sqrt((2^32 - 1) / 3), the deviation of a sum of four quarters */

static uint64_t mix(uint64_t seed, uint64_t i)
{
	uint64_t x = seed + (i + 1) * GOLDEN;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static double bell(uint64_t u)
{
	int64_t sum = (int64_t)((u & 0xffff) + (u >> 16 & 0xffff) + (u >> 32 & 0xffff) + (u >> 48));

	return (double)(sum - 2 * 0xffff) * (1 / QUARTER_SD);
}

static double held(double x, double lo, double hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

void pm_synth_ready(PmSynth *s)
{
	const PmFloatType *f = pm_float_type(s->dtype);
	double most = (f ? f : pm_float_type(PM_F32))->made;
	double cv = s->mean > 0 ? s->std / s->mean : 0, q2;

	s->lo = s->lo < -most ? -most : s->lo;
	s->hi = s->hi > most ? most : s->hi;
	if (s->law == PM_SYNTH_POSITIVE) {
		/* With p^2 + q^2 = 1 the mean of (p + q z)^2 is 1 and its variance 4 q^2 - 2.3 q^4. */
		cv = cv > 1.3 ? 1.3 : cv;
		q2 = (4 - sqrt(16 - 9.2 * cv * cv)) / 4.6;
		s->q = sqrt(q2);
		s->p = sqrt(1 - q2);
	}
	if (s->row < 1)
		s->row = 1;
}

void pm_synth_release(PmSynth *s)
{
	free(s->literal);
	s->literal = NULL;
	s->n_literal = 0;
}

double pm_synth_element(const PmSynth *s, uint64_t i)
{
	uint64_t u = mix(s->seed, i), range;
	double x;

	switch (s->law) {
	case PM_SYNTH_NORMAL:
		x = s->std * bell(u);
		return held(s->mean + x, s->lo, s->hi);
	case PM_SYNTH_POSITIVE:
		x = s->q * bell(u);
		x = s->p + x;
		x = x * x;
		return held(s->mean * (x < 1.0 / 64 ? 1.0 / 64 : x), s->lo, s->hi);
	case PM_SYNTH_UNIFORM:
		x = (double)(u >> 11) * 0x1p-53 * (s->hi - s->lo);
		return s->lo + x;
	case PM_SYNTH_INTS:
		range = (uint64_t)(s->hi - s->lo) + 1;
		return s->lo + (double)((u >> 32) * range >> 32);
	case PM_SYNTH_MASK:
		return i % (uint64_t)s->row == 0 || u >> 62 ? s->hi : s->lo;
	default:
		return s->n_literal ? s->literal[i % s->n_literal] : 0;
	}
}

typedef struct Filling {
	const PmSynth *s;
	uint64_t first;
	unsigned char *out;
} Filling;

static void fill_some(void *arg, int64_t from, int64_t to)
{
	enum { SOME = 256 };
	const Filling *f = arg;
	const PmSynth *s = f->s;
	int is_float = pm_dtype_is_float(s->dtype);
	size_t size = pm_dtype_size(s->dtype);
	double v[SOME];

	for (int64_t k = from; k < to; k += SOME) {
		unsigned char *p = f->out + (size_t)k * size;
		int64_t n = to - k < SOME ? to - k : SOME;

		for (int64_t i = 0; i < n; i++)
			v[i] = pm_synth_element(s, f->first + (uint64_t)(k + i));
		if (is_float)
			pm_floats_store(s->dtype, p, n, v);
		for (int64_t i = 0; i < n && !is_float; i++)
			pm_int_store(s->dtype, p + (size_t)i * size, (int64_t)v[i]);
	}
}

void pm_synth_fill(const PmSynth *s, uint64_t first, size_t n, void *out)
{
	enum { LEAST = 1 << 15 };

	pm_threads_run((int64_t)n, LEAST, fill_some, &(Filling){ s, first, out });
}
