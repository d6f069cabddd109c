/* rotary.cu - rows of D elements: y = (x * cos + rotated(x) * sin) * scale, rotated(x) = (-x[D/2:], x[:D/2]).
 *
 * Row r = (b * heads + h) * S + s of y reads row (b * S + s) * heads + h of x when `moved`, else row r of x, and row
 * r % rows of cos and sin. One thread computes N elements of the first half and those opposite to them.
 *
 * WIDE  1: half a row is a multiple of 16 bytes, and a thread loads as much
 */
template<int N>
__device__ __forceinline__ void rotate(const T *x, const T *c, const T *s, T *y, int half, int k, float scale)
{
	const pm_vec<T, N> a = pm_load<N>(x + k), b = pm_load<N>(x + half + k);
	const pm_vec<T, N> ca = pm_load<N>(c + k), cb = pm_load<N>(c + half + k);
	const pm_vec<T, N> sa = pm_load<N>(s + k), sb = pm_load<N>(s + half + k);
	pm_vec<T, N> ya, yb;

	for (int i = 0; i < N; i++) {
		ya[i] = st((ld(a[i]) * ld(ca[i]) - ld(b[i]) * ld(sa[i])) * scale);
		yb[i] = st((ld(b[i]) * ld(cb[i]) + ld(a[i]) * ld(sb[i])) * scale);
	}
	pm_store<N>(y + k, ya);
	pm_store<N>(y + half + k, yb);
}

template<int N>
__device__ __forceinline__ void run(const T *x, const T *c, const T *s, T *y, long long n, int D, unsigned heads, unsigned S,
				    long long rows, int moved, float scale)
{
	const unsigned half = D / 2, per = half / N, total = (unsigned)(n / 2 / N);

	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
		const unsigned r = i / per, q = r / S, b = q / heads;
		const long long from = moved ? (b * S + (r - q * S)) * heads + (q - b * heads) : r;
		const long long at = (long long)(r % (unsigned)rows) * D;

		rotate<N>(x + from * D, c + at, s + at, y + (long long)r * D, half, (int)(i - r * per) * N, scale);
	}
}

/* The grid is for one pair per thread, with WIDE for 16 bytes of them; where those do not line up, threads go round again. */
extern "C" __global__ void rotary(const T *x, const T *c, const T *s, T *y, long long n, int D, int heads, int S,
				  long long rows, int moved, float scale)
{
#if WIDE
	if (pm_aligned(x, 16) && pm_aligned(c, 16) && pm_aligned(s, 16) && pm_aligned(y, 16)) {
		run<16 / (int)sizeof(T)>(x, c, s, y, n, D, heads, S, rows, moved, scale);
		return;
	}
#endif
	run<1>(x, c, s, y, n, D, heads, S, rows, moved, scale);
}
