/* SPDX-License-Identifier: Apache-2.0 */
/* passnet_inputs.c - the input tensors that the published harness draws, bit for bit. */
#include "bench/inputs/passnet_inputs.h"

#include "base/core/arena.h"
#include "ir/core/element.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the generator ---- */

enum { MT_N = 624, MT_M = 397 };

void pm_mt_init(PmMt *m, uint32_t seed)
{
	m->s[0] = seed;
	for (uint32_t i = 1; i < MT_N; i++)
		m->s[i] = 1812433253u * (m->s[i - 1] ^ m->s[i - 1] >> 30) + i;
	m->at = MT_N;
	m->has_spare = 0;
	m->spare = 0;
}

static void refill(PmMt *m)
{
	for (int i = 0; i < MT_N; i++) {
		uint32_t y = (m->s[i] & 0x80000000u) | (m->s[(i + 1) % MT_N] & 0x7fffffffu);

		m->s[i] = m->s[(i + MT_M) % MT_N] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
	}
	m->at = 0;
}

uint32_t pm_mt_u32(PmMt *m)
{
	uint32_t y;

	if (m->at >= MT_N)
		refill(m);
	y = m->s[m->at++];
	y ^= y >> 11;
	y ^= y << 7 & 0x9d2c5680u;
	y ^= y << 15 & 0xefc60000u;
	return y ^ y >> 18;
}

double pm_mt_uniform(PmMt *m)
{
	double hi = pm_mt_u32(m) >> 5, lo = pm_mt_u32(m) >> 6;

	return (hi * 67108864.0 + lo) / 9007199254740992.0;
}

double pm_mt_gauss(PmMt *m)
{
	double x, y, xx, yy, r2, f;

	if (m->has_spare) {
		m->has_spare = 0;
		return m->spare;
	}
	do {
		x = 2.0 * pm_mt_uniform(m) - 1.0;
		y = 2.0 * pm_mt_uniform(m) - 1.0;
		/* in statements of their own: a fused multiply-add would change the last bit */
		xx = x * x;
		yy = y * y;
		r2 = xx + yy;
	} while (r2 >= 1.0 || r2 == 0.0);
	f = sqrt(-2.0 * log(r2) / r2);
	m->spare = f * x;
	m->has_spare = 1;
	return f * y;
}

int64_t pm_mt_range(PmMt *m, int64_t lo, int64_t hi)
{
	uint64_t span = (uint64_t)hi - (uint64_t)lo, mask = span, v;

	if (span == 0)
		return lo;
	for (int s = 1; s < 64; s *= 2)
		mask |= mask >> s;
	do {
		v = pm_mt_u32(m);
		if (span > UINT32_MAX)
			v = v << 32 | pm_mt_u32(m);
		v &= mask;
	} while (v > span);
	return (int64_t)((uint64_t)lo + v);
}

/* ---- elements ---- */

/* The low bits, as a cast of the tensor does. */
static void store_int(int dtype, void *data, int64_t k, int64_t v)
{
	pm_int_store(dtype, (char *)data + k * (int64_t)pm_dtype_size(dtype), v);
}

/* Through float, as the draw of PyTorch goes, but for double. */
static void store_float(int dtype, void *data, int64_t k, double v)
{
	size_t size = pm_dtype_size(dtype);

	pm_float_store(dtype, (char *)data + k * (int64_t)size, size > 4 ? v : (double)(float)v);
}

static double load_float(int dtype, const void *data, int64_t k)
{
	return pm_float_load(dtype, (const char *)data + k * (int64_t)pm_dtype_size(dtype));
}

/* Truncates towards zero; what no 64-bit integer can hold becomes the nearest one, NaN becomes 0. */
static int64_t to_int(double v)
{
	if (isnan(v))
		return 0;
	if (v >= 0x1p63)
		return INT64_MAX;
	return v < -0x1p63 ? INT64_MIN : (int64_t)v;
}

/* A bound as the clamp of a tensor sees it: rounded to the element type first. */
static double bound(int dtype, double v)
{
	double slot;

	store_float(dtype, &slot, 0, v);
	return load_float(dtype, &slot, 0);
}

static void clamp_float(const PmPassnetMeta *m, PmMt *rng, void *data, int64_t k)
{
	int dtype = m->type.dtype;
	double v = load_float(dtype, data, k);

	if (m->has_min && v < m->min)
		v = bound(dtype, m->min);
	if (m->has_max && v > m->max)
		v = bound(dtype, m->max);
	if (!isfinite(v))
		v = pm_mt_gauss(rng) * 0.01;
	store_float(dtype, data, k, fmin(fmax(v, -100), 100));
}

/* ---- tensors ---- */

static int is_bounded_int(const PmPassnetMeta *m)
{
	return pm_dtype_is_int(m->type.dtype) && m->type.dtype != PM_U8 && m->has_min && m->has_max;
}

static void draw_ints(const PmPassnetMeta *m, int64_t n, PmMt *rng, void *data)
{
	int64_t lo = to_int(m->min), hi = to_int(m->max);

	for (int64_t k = 0; k < n; k++)
		store_int(m->type.dtype, data, k, pm_mt_range(rng, lo, hi));
}

static void copy_literal(const PmPassnetMeta *m, int64_t n, void *data)
{
	for (int64_t k = 0; k < n; k++) {
		if (pm_dtype_is_float(m->type.dtype))
			store_float(m->type.dtype, data, k, m->data[k]);
		else if (m->type.dtype == PM_BOOL)
			((uint8_t *)data)[k] = m->data[k] != 0;
		else
			store_int(m->type.dtype, data, k, to_int(m->data[k]));
	}
}

static void draw_rest(const PmPassnetMeta *m, int64_t n, PmMt *rng, void *data)
{
	double std = m->has_std ? m->std : 0.1, mean = m->has_mean ? m->mean : 0;

	if (m->type.dtype == PM_BOOL) {
		for (int64_t k = 0; k < n; k++)
			((uint8_t *)data)[k] = pm_mt_uniform(rng) > 0.5;
		return;
	}
	for (int64_t k = 0; k < n; k++) {
		double v = mean;

		if (std != 0) {
			/* three roundings, as three array operations give */
			v = pm_mt_gauss(rng) * std;
			v *= 0.2;
			v += mean;
		}
		if (pm_dtype_is_float(m->type.dtype)) {
			store_float(m->type.dtype, data, k, v);
			continue;
		}
		if (m->has_min)
			v = fmax(trunc(v), m->min);
		if (m->has_max)
			v = fmin(trunc(v), m->max);
		store_int(m->type.dtype, data, k, to_int(v));
	}
	/* After all draws of the tensor, since a replacement draws again. */
	for (int64_t k = 0; k < n && pm_dtype_is_float(m->type.dtype); k++)
		clamp_float(m, rng, data, k);
}

static PmStatus check(const PmPassnetMeta *m, int64_t *numel, PmErr *err)
{
	PmStatus st = pm_type_numel(&m->type, numel, err);

	if (st != PM_OK)
		return pm_err_ctx(err, "Input tensor %s", m->cls ? m->cls : "(no class)");
	if (!m->cls || pm_dtype_size(m->type.dtype) == 0)
		return pm_err(err, PM_E_INVALID,
			      "Input tensor %s has no class name or no known element type.",
			      m->cls ? m->cls : "(no class)");
	if (m->has_data && !m->data && *numel > 0)
		return pm_err(err, PM_E_INVALID, "Input tensor %s says it has literal data but has none.",
			      m->cls);
	if (is_bounded_int(m) && !(m->min <= m->max))
		return pm_err(err, PM_E_INVALID,
			      "Input tensor %s has a minimum of %g above its maximum of %g.", m->cls, m->min,
			      m->max);
	return PM_OK;
}

/* Indices of meta in byte order of the class names, equal names in the given order. Returns owned. */
static size_t *sorted(const PmPassnetMeta *meta, size_t n)
{
	size_t *at = pm_xcalloc(n + 1, sizeof *at);

	for (size_t i = 0; i < n; i++) {
		size_t k = i;

		for (; k > 0 && strcmp(meta[at[k - 1]].cls, meta[i].cls) > 0; k--)
			at[k] = at[k - 1];
		at[k] = i;
	}
	return at;
}

PmStatus pm_passnet_draw(const PmPassnetMeta *meta, size_t n, uint32_t seed, void *const *data, size_t *order,
			 PmErr *err)
{
	int64_t *numel = pm_xcalloc(n + 1, sizeof *numel);
	size_t *at = NULL;
	PmStatus st = PM_OK;
	PmMt rng;

	for (size_t i = 0; i < n && st == PM_OK; i++)
		st = check(&meta[i], &numel[i], err);
	if (st != PM_OK)
		goto out;
	at = sorted(meta, n);
	pm_mt_init(&rng, seed);
	for (size_t i = 0; i < n; i++) {
		if (is_bounded_int(&meta[at[i]]))
			draw_ints(&meta[at[i]], numel[at[i]], &rng, data[at[i]]);
	}
	for (size_t i = 0; i < n; i++) {
		const PmPassnetMeta *m = &meta[at[i]];

		if (order)
			order[i] = at[i];
		if (is_bounded_int(m))
			continue;
		if (m->has_data)
			copy_literal(m, numel[at[i]], data[at[i]]);
		else
			draw_rest(m, numel[at[i]], &rng, data[at[i]]);
	}
out:
	free(at);
	free(numel);
	return st;
}
