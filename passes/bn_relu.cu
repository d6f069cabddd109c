/* bn_relu.cu - y = act((x - mean) / sqrt(var + eps) * scale + bias (+ res)), one set of parameters per channel.
 *
 * x is [N, C, ...] with `inner` elements per image and channel.
 *
 * ACT       0 none  1 relu  2 silu  3 hard swish  4 leaky relu, slope p0  5 clip to [p0, p1]
 *           6 GELU, .5 v (1 + erf(p0 v))
 * RESIDUAL  1: add res, of the shape of x, before the activation  2: after it
 * IS_F32    1: T is float
 * P_F32     1: the parameters are float, whatever T is
 * ONE_CH    1: inner is a multiple of 16 / sizeof(T), so that the elements of one load share a channel
 */
__device__ __forceinline__ float act(float v, float p0, float p1)
{
#if ACT == 1
	return v > 0.f ? v : (v != v ? v : 0.f);
#elif ACT == 2
	return v / (1.f + expf(-v));
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

__device__ __forceinline__ Channel channel(const P *scale, const P *bias, const P *mean, const P *var, int c,
					   float eps)
{
	Channel p;

	p.mean = ld(mean[c]);
	p.k = ld(scale[c]) / sqrt((Real)ld(var[c]) + (Real)eps);
	p.shift = ld(bias[c]);
	return p;
}

__device__ __forceinline__ float apply(const Channel &p, float x, float res, float p0, float p1)
{
#if RESIDUAL == 2
	return act((float)((x - p.mean) * p.k + p.shift), p0, p1) + res;
#else
	return act((float)((x - p.mean) * p.k + p.shift + res), p0, p1);
#endif
}

/* V elements from i on, all of one channel and on a 16-byte border. */
__device__ __forceinline__ void apply_vec(const Channel &p, const T *x, const T *res, T *y, long long i, float p0,
					  float p1)
{
	const int V = 16 / (int)sizeof(T);
	const pm_vec<T, V> a = pm_load<V>(x + i);
#if RESIDUAL
	const pm_vec<T, V> b = pm_load<V>(res + i);
#endif
	pm_vec<T, V> out;

	for (int j = 0; j < V; j++)
#if RESIDUAL
		out[j] = st(apply(p, ld(a[j]), ld(b[j]), p0, p1));
#else
		out[j] = st(apply(p, ld(a[j]), 0.f, p0, p1));
#endif
	pm_store<V>(y + i, out);
}

/* 16 bytes per thread over the flat tensor. */
extern "C" __global__ void bn_act_flat(const T *x, const P *scale, const P *bias, const P *mean, const P *var,
				       const T *res, T *y, long long n, long long inner, int C, float eps, float p0,
				       float p1)
{
	const int V = 16 / (int)sizeof(T);
	const long long i = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * V;

	if (i >= n)
		return;
	if (ONE_CH && pm_aligned(x, 16) && pm_aligned(y, 16) && pm_aligned(res, 16)) {
		apply_vec(channel(scale, bias, mean, var, (int)(i / inner % C), eps), x, res, y, i, p0, p1);
		return;
	}
	for (long long j = i; j < n && j < i + V; j++) {
		const Channel p = channel(scale, bias, mean, var, (int)(j / inner % C), eps);

		y[j] = st(apply(p, ld(x[j]), RESIDUAL ? ld(res[j]) : 0.f, p0, p1));
	}
}

/* One block per image and channel: no division per element, the parameters are worked out once. */
extern "C" __global__ void bn_act_plane(const T *x, const P *scale, const P *bias, const P *mean, const P *var,
					const T *res, T *y, long long n, long long inner, int C, float eps, float p0,
					float p1)
{
	__shared__ Real params[3];
	const int V = 16 / (int)sizeof(T);
	const long long plane = blockIdx.x, base = plane * inner;
	Channel p;

	if (threadIdx.x == 0) {
		p = channel(scale, bias, mean, var, (int)(plane % C), eps);
		params[0] = p.mean;
		params[1] = p.k;
		params[2] = p.shift;
	}
	__syncthreads();
	p.mean = params[0];
	p.k = params[1];
	p.shift = params[2];
	if (ONE_CH && pm_aligned(x, 16) && pm_aligned(y, 16) && pm_aligned(res, 16)) {
		for (long long j = threadIdx.x * V; j < inner; j += blockDim.x * V)
			apply_vec(p, x, res, y, base + j, p0, p1);
		return;
	}
	for (long long j = base + threadIdx.x; j < base + inner; j += blockDim.x)
		y[j] = st(apply(p, ld(x[j]), RESIDUAL ? ld(res[j]) : 0.f, p0, p1));
}
