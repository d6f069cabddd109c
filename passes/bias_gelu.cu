/* bias_gelu.cu - y = gelu(x + bias), exact or by tanh.
 *
 * The bias of element i is bias[i / inner % nb]: one value per column (inner = 1), per channel (inner =
 * height x width), or any other single band of axes.
 *
 * HAS_BIAS  0: bias is not read
 * BY_TANH   0: 0.5 v (1 + erf(c0 v))   1: 0.5 v (1 + tanh(c0 (v + c1 v^3)))
 * LONG      1: indices need 64 bits
 */
#if LONG
typedef long long Index;
#else
typedef unsigned Index;
#endif

__device__ __forceinline__ float gelu(float v, float c0, float c1)
{
#if BY_TANH
	return .5f * v * (1.f + tanhf(c0 * (v + c1 * v * v * v)));
#else
	return .5f * v * (1.f + erff(c0 * v));
#endif
}

/* One element per thread. */
extern "C" __global__ void bias_gelu(const T *x, const T *bias, T *y, long long n, long long inner, long long nb,
				     float c0, float c1)
{
	const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	float v = ld(x[i]);
#if HAS_BIAS
	v += ld(bias[(Index)i / (Index)inner % (Index)nb]);
#endif
	y[i] = st(gelu(v, c0, c1));
}

/* 16 bytes per thread; the place in the bias is computed once and then counted on. */
extern "C" __global__ void bias_gelu_vec(const T *x, const T *bias, T *y, long long n, long long inner,
					 long long nb, float c0, float c1)
{
	const int V = 16 / (int)sizeof(T);
	const long long i = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * V;
	pm_vec<T, V> a;
	int m = V;

	if (i >= n)
		return;
	if (n - i < V || !pm_aligned(x, 16) || !pm_aligned(y, 16)) {
		m = n - i < V ? (int)(n - i) : V;
		for (int j = 0; j < m; j++)
			a[j] = x[i + j];
	} else {
		a = pm_load<V>(x + i);
	}
#if HAS_BIAS
	const Index q = (Index)i / (Index)inner;
	Index at = q % (Index)nb, left = (Index)inner - ((Index)i - q * (Index)inner);
#endif
	for (int j = 0; j < m; j++) {
		float v = ld(a[j]);
#if HAS_BIAS
		v += ld(bias[at]);
		if (--left == 0) {
			left = (Index)inner;
			at = at + 1 == (Index)nb ? 0 : at + 1;
		}
#endif
		a[j] = st(gelu(v, c0, c1));
	}
	if (m < V || !pm_aligned(x, 16) || !pm_aligned(y, 16)) {
		for (int j = 0; j < m; j++)
			y[i + j] = a[j];
	} else {
		pm_store<V>(y + i, a);
	}
}
