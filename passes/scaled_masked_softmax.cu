/* scaled_masked_softmax.cu - rows of L elements: y = softmax(x * scale + mask * mask_scale).
 *
 * The mask broadcasts: row r = (i0 * n1 + i1) * n2 + i2 of x reads it from i0 * s0 + i1 * s1 + i2 * s2, element
 * k of it with stride sk (0 or 1).
 *
 * With MASK 2 the mask is a table of n1 columns, one per head: element k of row r is table[index[i2 * L + k]][i1].
 *
 * SCALE, MASK_SCALE  0: none  1: multiply  2: divide
 * MASK               0: there is none  1: a tensor  2: a table that is read through an index
 * GUARD              1: a NaN in the result becomes 0 (a row of -infinity)
 * CACHE              1: the block kernel keeps the row in L floats of dynamic shared memory; 0: reads it again
 * PER                elements per lane of the warp kernel, at least L / 32; 0: leave that kernel out
 */
__device__ __forceinline__ float score(float x, float scale, float mask, float mask_scale)
{
#if SCALE == 1
	x *= scale;
#elif SCALE == 2
	x /= scale;
#endif
#if MASK_SCALE == 1
	mask *= mask_scale;
#elif MASK_SCALE == 2
	mask /= mask_scale;
#endif
#if MASK
	x += mask;
#endif
	return x;
}

struct Mask {
	const T *p;
	const long long *index;
	int stride, size;

	__device__ __forceinline__ float operator[](int k) const
	{
#if MASK == 2
		const long long i = index[k];

		return ld(p[(i < 0 ? i + size : i) * stride]);
#elif MASK
		return ld(p[(long long)k * stride]);
#else
		return 0.f;
#endif
	}
};

/* The mask of row r. A table has s0 rows. */
__device__ __forceinline__ Mask mask_row(const T *mask, const long long *index, long long r, int L, long long n1,
					 long long n2, long long s0, long long s1, long long s2, int sk)
{
	const unsigned i = (unsigned)r, q = i / (unsigned)n2, i2 = i - q * (unsigned)n2;
	const unsigned i0 = q / (unsigned)n1, i1 = q - i0 * (unsigned)n1;

#if MASK == 2
	return Mask{ mask + i1, index + (long long)i2 * L, (int)n1, (int)s0 };
#else
	return Mask{ mask + i0 * s0 + i1 * s1 + i2 * s2, index, sk, 0 };
#endif
}

__device__ __forceinline__ float finish(float v)
{
#if GUARD
	return v != v ? 0.f : v;
#else
	return v;
#endif
}

template<int N>
__device__ __forceinline__ void load_scores(float (&v)[N], const T *x, const Mask &mask, int k, float scale,
					    float mask_scale)
{
	const pm_vec<T, N> a = pm_load<N>(x + k);

	for (int i = 0; i < N; i++)
		v[i] = score(ld(a[i]), scale, mask[k + i], mask_scale);
}

/* One row by one block, N elements of x per load. */
template<int N>
__device__ __forceinline__ void softmax_row(const T *x, const Mask &mask, T *y, int L, float scale,
					    float mask_scale, float *cache)
{
	float v[N], high = -INFINITY, total = 0.f;

	for (int k = threadIdx.x * N; k < L; k += blockDim.x * N) {
		load_scores<N>(v, x, mask, k, scale, mask_scale);
		for (int i = 0; i < N; i++) {
			high = pm_max(high, v[i]);
#if CACHE
			cache[k + i] = v[i];
#endif
		}
	}
	high = pm_block_max(high);
	for (int k = threadIdx.x * N; k < L; k += blockDim.x * N) {
#if !CACHE
		load_scores<N>(v, x, mask, k, scale, mask_scale);
#endif
		for (int i = 0; i < N; i++) {
#if CACHE
			v[i] = cache[k + i] = expf(cache[k + i] - high);
#else
			v[i] = expf(v[i] - high);
#endif
			total += v[i];
		}
	}
	total = pm_block_sum(total);
	for (int k = threadIdx.x * N; k < L; k += blockDim.x * N) {
		pm_vec<T, N> out;

#if !CACHE
		load_scores<N>(v, x, mask, k, scale, mask_scale);
#endif
		for (int i = 0; i < N; i++) {
#if CACHE
			out[i] = st(finish(cache[k + i] / total));
#else
			out[i] = st(finish(expf(v[i] - high) / total));
#endif
		}
		pm_store<N>(y + k, out);
	}
}

/* Grid: one block per row. 16 bytes of x per load when every row starts on such a border. */
extern "C" __global__ void softmax_block(const T *x, const T *mask, const long long *index, T *y, long long rows, int L, long long n1,
					 long long n2, long long s0, long long s1, long long s2, int sk,
					 float scale, float mask_scale)
{
	extern __shared__ float cache[];
	const int V = 16 / (int)sizeof(T);
	const long long r = blockIdx.x;
	const bool wide = L % V == 0 && pm_aligned(x, 16) && pm_aligned(y, 16);

	const Mask row = mask_row(mask, index, r, L, n1, n2, s0, s1, s2, sk);

	if (wide)
		softmax_row<V>(x + r * L, row, y + r * L, L, scale, mask_scale, cache);
	else
		softmax_row<1>(x + r * L, row, y + r * L, L, scale, mask_scale, cache);
}

#if PER
/* Block: 32 x rows per block. A warp holds its row in registers; no shared memory, no barrier. */
extern "C" __global__ void softmax_warp(const T *x, const T *mask, const long long *index, T *y, long long rows, int L, long long n1,
					long long n2, long long s0, long long s1, long long s2, int sk,
					float scale, float mask_scale)
{
	const long long r = blockIdx.x * (long long)blockDim.y + threadIdx.y;
	const int lane = threadIdx.x;
	float v[PER], high = -INFINITY, total = 0.f;

	if (r >= rows)
		return;
	const Mask row = mask_row(mask, index, r, L, n1, n2, s0, s1, s2, sk);

#pragma unroll
	for (int j = 0; j < PER; j++) {
		const int k = j * 32 + lane;

		v[j] = k < L ? score(ld(x[r * L + k]), scale, row[k], mask_scale) : -INFINITY;
		high = pm_max(high, v[j]);
	}
	high = pm_warp_max(high);
#pragma unroll
	for (int j = 0; j < PER; j++) {
		v[j] = j * 32 + lane < L ? expf(v[j] - high) : 0.f;
		total += v[j];
	}
	total = pm_warp_sum(total);
#pragma unroll
	for (int j = 0; j < PER; j++)
		if (j * 32 + lane < L)
			y[r * L + j * 32 + lane] = st(finish(v[j] / total));
}
#endif
