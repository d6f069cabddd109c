/* scaled_masked_softmax.cu - rows of L elements: y = softmax(x * scale + mask * mask_scale).
 *
 * The mask broadcasts: row r = (i0 * n1 + i1) * n2 + i2 of x reads it from i0 * s0 + i1 * s1 + i2 * s2, element
 * k of it with stride sk (0 or 1).
 *
 * With MASK 2 the mask is a table of n1 columns, one per head: element k of row r is table[index[i2 * L + k]][i1].
 *
 * SCALE, MASK_SCALE  0: none  1: multiply  2: divide
 * MASK               0: there is none  1: a tensor  2: a table that is read through an index  3: a tensor with sk = 0
 * GUARD              1: a NaN in the result becomes 0 (a row of -infinity)
 * CACHE              1: the block kernel keeps the row in L floats of dynamic shared memory; 0: reads it again
 * EACH, LOADS        of the warp kernel: elements of a load, 1 or 16 bytes of them, and loads of a lane; LOADS 0: leave
 *                    that kernel out
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

#if !LOADS
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
#else
typedef pm_vec<T, EACH> Piece;

/* One row by blockDim.x lanes, which hold it in registers. Everything is asked for before anything is used. */
template<bool ALIGNED>
__device__ __forceinline__ void softmax_lanes(const T *x, const Mask &mask, T *y, int L, float scale, float mask_scale,
					      bool live)
{
	const int lanes = blockDim.x, first = threadIdx.x * EACH, step = lanes * EACH;
	float v[LOADS][EACH], high = -INFINITY, total = 0.f;
	Piece a[LOADS], b[LOADS];
#if MASK == 2
	int at[LOADS][EACH];

#pragma unroll
	for (int j = 0; j < LOADS; j++)
		for (int i = 0; i < EACH; i++)
			at[j][i] = first + j * step < L ? (int)mask.index[first + j * step + i] : 0;
#elif MASK == 3
	const float same = mask[0];
#endif

#pragma unroll
	for (int j = 0; j < LOADS; j++) {
		const int k = first + j * step;

		if (k < L) {
			a[j] = pm_load<EACH, ALIGNED>(x + k);
#if MASK == 1
			b[j] = pm_load<EACH, ALIGNED>(mask.p + k);
#endif
		}
	}
#if MASK == 2
#pragma unroll
	for (int j = 0; j < LOADS; j++)
		for (int i = 0; i < EACH; i++)
			b[j][i] = mask.p[(long long)(at[j][i] < 0 ? at[j][i] + mask.size : at[j][i]) * mask.stride];
#endif
#pragma unroll
	for (int j = 0; j < LOADS; j++)
		for (int i = 0; i < EACH; i++) {
#if MASK == 3
			const float m = same;
#else
			const float m = MASK ? ld(b[j][i]) : 0.f;
#endif

			v[j][i] = first + j * step < L ? score(ld(a[j][i]), scale, m, mask_scale) : -INFINITY;
			high = pm_max(high, v[j][i]);
		}
#pragma unroll
	for (int d = 16; d > 0; d /= 2)
		if (d < lanes)
			high = pm_max(high, __shfl_xor_sync(0xffffffffu, high, d));
#pragma unroll
	for (int j = 0; j < LOADS; j++)
		for (int i = 0; i < EACH; i++) {
			v[j][i] = first + j * step < L ? expf(v[j][i] - high) : 0.f;
			total += v[j][i];
		}
#pragma unroll
	for (int d = 16; d > 0; d /= 2)
		if (d < lanes)
			total += __shfl_xor_sync(0xffffffffu, total, d);
	const float inv = 1.f / total;

#pragma unroll
	for (int j = 0; j < LOADS; j++) {
		const int k = first + j * step;
		Piece out;

		for (int i = 0; i < EACH; i++)
			out[i] = st(finish(v[j][i] * inv));
		if (k >= L || !live)
			continue;
		pm_store<EACH, ALIGNED>(y + k, out);
	}
}

/* Block: lanes of a row, a power of two, x rows. */
extern "C" __global__ void softmax_warp(const T *__restrict__ x, const T *__restrict__ mask,
					const long long *__restrict__ index, T *__restrict__ y, int n_rows, int L, int n1,
					int n1_m, int n1_s, int n2, int n2_m, int n2_s, long long s0, long long s1,
					long long s2, float scale, float mask_scale)
{
	typedef unsigned U;
	const U rows = n_rows, at = blockIdx.x * blockDim.y + threadIdx.y, r = at < rows ? at : rows - 1;
	const pm_divisor by1 = { (U)n1, (U)n1_m, (U)n1_s }, by2 = { (U)n2, (U)n2_m, (U)n2_s };
	const U q = by2.quotient(r), i2 = r - q * by2.d, i0 = by1.quotient(q), i1 = q - i0 * by1.d;
#if MASK == 2
	const Mask m = { mask + i1, index + (long long)i2 * L, n1, (int)s0 };
#else
	const Mask m = { mask + i0 * s0 + i1 * s1 + i2 * s2, index, 1, 0 };
#endif

	x += (long long)r * L;
	y += (long long)r * L;
	if (EACH == 1 || (pm_aligned(x, 16) && pm_aligned(y, 16) && (MASK != 1 || pm_aligned(mask, 16))))
		softmax_lanes<true>(x, m, y, L, scale, mask_scale, at < rows);
	else
		softmax_lanes<false>(x, m, y, L, scale, mask_scale, at < rows);
}
#endif
/* SPDX-License-Identifier: Apache-2.0 */
