/* norm.cu - normalises rows of `len` neighbouring elements to mean 0 and variance 1 (RMS: to mean square 1 as they are),
 * then scales and shifts them.
 *
 * Variance is the mean square of the distance from the mean, in two passes: over registers (row.cu), or with ITEMS 0,
 * for rows too long, over memory. Scale and bias: one element per element of the row (WFLAT: they lie alike; else
 * the space w), or with GROUPS one per channel of `plane` elements, a row being a group of `per_group` channels.
 */

#ifdef GROUPS
#define CHANNEL(i) ((t - Q_groups(t) * groups) * per_group + Q_plane(i))
#define SCALE_AT(i) CHANNEL(i)
#define BIAS_AT(i)  CHANNEL(i)
#else
#define SCALE_AT(i) OFF_w_0(i)
#define BIAS_AT(i)  OFF_w_1(i)
#endif

/* y at i: the vector e, normalised. */
#ifdef HAS_BIAS
#define WITH_BIAS(...) __VA_ARGS__
#else
#define WITH_BIAS(...)
#endif
#define WRITE(i, value)                                                                                      \
	do {                                                                                                 \
		pm_vec<X, V> out_;                                                                           \
		WEIGHTS(i)                                                                                   \
		_Pragma("unroll") for (int j = 0; j < V; j++)                                                \
		{                                                                                            \
			A r_ = ((value) - mean) * inv * (A)pm_ld(SCALE_J);                                   \
			WITH_BIAS(r_ += (A)pm_ld(BIAS_J);)                                                   \
			pm_st(&out_.v[j], r_);                                                               \
		}                                                                                            \
		pm_put(y + (i), out_);                                                                       \
	} while (0)

#ifdef WFLAT
#define WEIGHTS(i) const pm_vec<W, V> s_ = pm_get<V>(scale + (i)); WITH_BIAS(const pm_vec<W, V> b_ = pm_get<V>(bias + (i));)
#define SCALE_J    s_.v[j]
#define BIAS_J     b_.v[j]
#elif defined(WSAME)
#define WEIGHTS(i) const W s_ = scale[SCALE_AT(i)]; WITH_BIAS(const W b_ = bias[BIAS_AT(i)];)
#define SCALE_J    s_
#define BIAS_J     b_
#else
#define WEIGHTS(i)
#define SCALE_J    scale[SCALE_AT(at_ + j)]
#define BIAS_J     bias[BIAS_AT(at_ + j)]
#endif

KERNEL
{
	const I t = ROW, end = t < rows ? len : 0;
	A mean = 0, var = 0, inv;

	if (end)
		x += OFF_o_0(t);
	y += t * len;
#if ITEMS > 0
	A v[ITEMS][V];

#pragma unroll
	for (int n = 0; n < ITEMS; n++) {
		const I i = (n * G + ROW_LANE) * V;

#pragma unroll
		for (int j = 0; j < V; j++)
			v[n][j] = 0;
		if (i < end) {
			const pm_vec<X, V> e = pm_get<V>(x + i);

#pragma unroll
			for (int j = 0; j < V; j++)
				v[n][j] = (A)pm_ld(e.v[j]);
		}
	}
#ifndef RMS
#pragma unroll
	for (int n = 0; n < ITEMS; n++)
#pragma unroll
		for (int j = 0; j < V; j++)
			mean += v[n][j];
	mean = row_sum(mean) / (A)len;
#endif
#pragma unroll
	for (int n = 0; n < ITEMS; n++)
		if ((n * G + ROW_LANE) * V < end)
#pragma unroll
			for (int j = 0; j < V; j++)
				var += pm_square(v[n][j] - mean);
	inv = rsqrt(row_sum(var) / (A)len + (A)eps);
#pragma unroll
	for (int n = 0; n < ITEMS; n++) {
		const I at_ = (n * G + ROW_LANE) * V;

		if (at_ < end)
			WRITE(at_, v[n][j]);
	}
#else
	A part[V];

#pragma unroll
	for (int j = 0; j < V; j++)
		part[j] = 0;
#ifndef RMS
#pragma unroll 4
	for (I i = ROW_LANE * V; i < end; i += G * V) {
		const pm_vec<X, V> e = pm_get<V>(x + i);

#pragma unroll
		for (int j = 0; j < V; j++)
			part[j] += (A)pm_ld(e.v[j]);
	}
#pragma unroll
	for (int j = 0; j < V; j++) {
		mean += part[j];
		part[j] = 0;
	}
	mean = row_sum(mean) / (A)len;
#endif
#pragma unroll 4
	for (I i = ROW_LANE * V; i < end; i += G * V) {
		const pm_vec<X, V> e = pm_get<V>(x + i);

#pragma unroll
		for (int j = 0; j < V; j++)
			part[j] += pm_square((A)pm_ld(e.v[j]) - mean);
	}
#pragma unroll
	for (int j = 0; j < V; j++)
		var += part[j];
	inv = rsqrt(row_sum(var) / (A)len + (A)eps);
#pragma unroll 2
	for (I at_ = ROW_LANE * V; at_ < end; at_ += G * V) {
		const pm_vec<X, V> e = pm_get<V>(x + at_);

		WRITE(at_, (A)pm_ld(e.v[j]));
	}
#endif
#ifdef HAS_MEAN
	if (t < rows && ROW_LANE == 0)
		pm_st(&y_mean[t], mean);
#endif
#ifdef HAS_INV
	if (t < rows && ROW_LANE == 0)
		pm_st(&y_inv[t], inv);
#endif
}
/* SPDX-License-Identifier: Apache-2.0 */
