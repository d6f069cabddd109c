/* add_layer_norm.cu - rows of H elements, longer than norm_rows.cu holds: sum = a + b (+ c), y = (sum - mean) / sqrt(var + eps) * scale + bias.
 *
 * Row r of an addend is its row r % rows of it, so that a bias or a position embedding is an addend like any
 * other. A block adds a row up three times, from memory or its cache. Sums are not rounded between load and store.
 *
 * N_ADD     addends, 2 or 3
 * HAS_BIAS  0: bias is not read
 * KEEP      1: the sum is an output of its own
 */

template<int N> __device__ __forceinline__ void add_from(float (&v)[N], const T *p)
{
	const pm_vec<T, N> x = pm_load<N>(p);

	for (int i = 0; i < N; i++)
		v[i] += ld(x[i]);
}

template<int N>
__device__ __forceinline__ void add_up(float (&v)[N], const T *a, const T *b, const T *c, int k)
{
	for (int i = 0; i < N; i++)
		v[i] = 0;
	add_from<N>(v, a + k);
	add_from<N>(v, b + k);
#if N_ADD > 2
	add_from<N>(v, c + k);
#endif
}

/* One row by one block, N elements per load. */
template<int N>
__device__ __forceinline__ void norm_row(const T *a, const T *b, const T *c, const T *scale, const T *bias, T *y,
					 T *sum, int H, float eps)
{
	float v[N], total = 0.f, square = 0.f;

	for (int k = threadIdx.x * N; k < H; k += blockDim.x * N) {
		pm_vec<T, N> s;

		add_up<N>(v, a, b, c, k);
		for (int i = 0; i < N; i++) {
			total += v[i];
			s[i] = st(v[i]);
		}
#if KEEP
		pm_store<N>(sum + k, s);
#endif
	}
	const float mean = pm_block_sum(total) / H;

	for (int k = threadIdx.x * N; k < H; k += blockDim.x * N) {
		add_up<N>(v, a, b, c, k);
		for (int i = 0; i < N; i++) {
			square += (v[i] - mean) * (v[i] - mean);
		}
	}
	const float inv = rsqrtf(pm_block_sum(square) / H + eps);

	for (int k = threadIdx.x * N; k < H; k += blockDim.x * N) {
		const pm_vec<T, N> g = pm_load<N>(scale + k);
#if HAS_BIAS
		const pm_vec<T, N> h = pm_load<N>(bias + k);
#endif
		pm_vec<T, N> out;

		add_up<N>(v, a, b, c, k);
		for (int i = 0; i < N; i++) {
			v[i] = (v[i] - mean) * inv * ld(g[i]);
#if HAS_BIAS
			v[i] += ld(h[i]);
#endif
			out[i] = st(v[i]);
		}
		pm_store<N>(y + k, out);
	}
}

/* Grid: one block per row. 16 bytes per load when every row of every buffer starts on such a border. */
extern "C" __global__ void add_layer_norm(const T *a, const T *b, const T *c, const T *scale, const T *bias,
						T *y, T *sum, long long rows, long long ra, long long rb,
						long long rc, int H, float eps)
{
	const int V = 16 / (int)sizeof(T);
	const long long r = blockIdx.x;
	const bool wide = H % V == 0 && pm_aligned(a, 16) && pm_aligned(b, 16) && pm_aligned(c, 16) &&
			  pm_aligned(scale, 16) && pm_aligned(bias, 16) && pm_aligned(y, 16) && pm_aligned(sum, 16);

	a += r % ra * H;
	b += r % rb * H;
	c += r % rc * H;
	y += r * H;
	sum += r * H;
	if (wide)
		norm_row<V>(a, b, c, scale, bias, y, sum, H, eps);
	else
		norm_row<1>(a, b, c, scale, bias, y, sum, H, eps);
}
/* SPDX-License-Identifier: Apache-2.0 */
