/* heads.cu - y[b, h, s, d] = (x[b, s, h, d] + bias[h, d]) * scale: heads moved in front of the sequence. */
template<int N>
__device__ __forceinline__ void run(const T *x, const T *bias, T *y, long long n, int S, int heads, int D, float scale)
{
	const unsigned per = D / N, total = (unsigned)(n / N), places = S, h_all = heads;

	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
		const unsigned r = i / per, q = r / places, b = q / h_all;
		const int k = (int)(i - r * per) * N, s = (int)(r - q * places), h = (int)(q - b * h_all);
		const pm_vec<T, N> v = pm_load<N>(x + (((long long)b * S + s) * heads + h) * D + k);
		const pm_vec<T, N> c = pm_load<N>(bias + h * D + k);
		pm_vec<T, N> out;

		for (int j = 0; j < N; j++)
			out[j] = st((ld(v[j]) + ld(c[j])) * scale);
		pm_store<N>(y + (long long)r * D + k, out);
	}
}

extern "C" __global__ void heads_one(const T *x, const T *bias, T *y, long long n, int S, int heads, int D, float scale)
{
	run<1>(x, bias, y, n, S, heads, D, scale);
}

/* The grid is for 16 bytes per thread; where they do not line up, threads go round again. */
extern "C" __global__ void heads_vec(const T *x, const T *bias, T *y, long long n, int S, int heads, int D, float scale)
{
	const int V = 16 / (int)sizeof(T);

	if (D % V == 0 && pm_aligned(x, 16) && pm_aligned(bias, 16) && pm_aligned(y, 16))
		run<V>(x, bias, y, n, S, heads, D, scale);
	else
		run<1>(x, bias, y, n, S, heads, D, scale);
}
