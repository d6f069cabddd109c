/* bn_relu.cu - y = act((x - mean) / sqrt(var + eps) * scale + bias (+ res)), one set of parameters per channel.
 *
 * x is [N, C, ...] with `inner` elements per image and channel.
 *
 * ACT       0 none  1 relu  2 silu  3 hard swish  4 leaky relu, slope p0  5 clip to [p0, p1]
 *           6 GELU, .5 v (1 + erf(p0 v))
 * RESIDUAL  1: add res, of the shape of x, before the activation  2: after it
 * IS_F32    1: T is float
 * P_F32     1: the parameters are float, whatever T is
 * N         elements of a thread: they divide inner, so that they share a channel
 */
__device__ __forceinline__ float act(float v, float p0, float p1)
{
#if ACT == 1
	return v > 0.f ? v : (v != v ? v : 0.f);
#elif ACT == 2
	return __fdividef(v, 1.f + expf(-v));
#elif ACT == 3
	return v * fmaxf(0.f, fminf(1.f, v / 6.f + .5f));
#elif ACT == 4
	return v >= 0.f ? v : p0 * v;
#elif ACT == 5
	v = v < p0 ? p0 : v;
	return v > p1 ? p1 : v;
#elif ACT == 6
	return .5f * v * (1.f + erff(p0 * v));
#else
	return v;
#endif
}

/* In f32 the sum of (x - mean) * k and the shift may cancel: both are then larger than what is left, by more than
 * a float can hold. One double multiply-add per element costs nothing beside the loads. */
#if IS_F32
typedef double Real;
#else
typedef float Real;
#endif

#if P_F32
typedef float P;
#else
typedef T P;
#endif

/* What the parameters of a channel come down to: y = (x - mean) * k + shift. */
struct Channel {
	Real mean, k, shift;
};

__device__ __forceinline__ float apply(const Channel &p, float x, float res, float p0, float p1)
{
#if RESIDUAL == 2
	return act((float)((x - p.mean) * p.k + p.shift), p0, p1) + res;
#else
	return act((float)((x - p.mean) * p.k + p.shift + res), p0, p1);
#endif
}

/* N elements from i on, all of one channel, WHOLE: in one access. Parameters and elements are asked for before
 * any is used: a small kernel is one wait for memory. */
template<bool WHOLE>
__device__ __forceinline__ void run(const P *scale, const P *bias, const P *mean, const P *var, const T *x, const T *res, T *y,
				    unsigned i, unsigned c, float eps, float p0, float p1)
{
	const P s = scale[c], b = bias[c], u = mean[c], v = var[c];
	pm_vec<T, N> a, r, out;

	if (WHOLE) {
		a = pm_load<N>(x + i);
		if (RESIDUAL)
			r = pm_load<N>(res + i);
	} else {
		for (int j = 0; j < N; j++)
			a[j] = x[i + j];
		for (int j = 0; j < N && RESIDUAL; j++)
			r[j] = res[i + j];
	}
	const Channel p = { (Real)ld(u), ld(s) / sqrt((Real)ld(v) + (Real)eps), (Real)ld(b) };

	for (int j = 0; j < N; j++)
		out[j] = st(apply(p, ld(a[j]), RESIDUAL ? ld(r[j]) : 0.f, p0, p1));
	if (WHOLE)
		pm_store<N>(y + i, out);
	for (int j = 0; j < N && !WHOLE; j++)
		y[i + j] = out[j];
}

/* N elements per thread over the flat tensor. */
extern "C" __global__ void bn_act(const T *__restrict__ x, const P *__restrict__ scale, const P *__restrict__ bias,
				  const P *__restrict__ mean, const P *__restrict__ var, const T *__restrict__ res,
				  T *__restrict__ y, int n, int inner, int inner_m, int inner_s, int C, int C_m, int C_s,
				  float eps, float p0, float p1)
{
	typedef unsigned U;
	const U i = (blockIdx.x * blockDim.x + threadIdx.x) * N;
	const pm_divisor by_inner = { (U)inner, (U)inner_m, (U)inner_s }, by_c = { (U)C, (U)C_m, (U)C_s };
	const int bytes = N * (int)sizeof(T);

	if (i >= (U)n)
		return;
	const U c = by_c.rest(by_inner.quotient(i));

	if (pm_aligned(x, bytes) && pm_aligned(res, bytes) && pm_aligned(y, bytes))
		run<true>(scale, bias, mean, var, x, res, y, i, c, eps, p0, p1);
	else
		run<false>(scale, bias, mean, var, x, res, y, i, c, eps, p0, p1);
}
/* SPDX-License-Identifier: Apache-2.0 */
