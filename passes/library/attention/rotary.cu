/* rotary.cu - rows of D elements: y = (x * cos + rotated(x) * sin) * scale, rotated(x) = (-x[D/2:], x[:D/2]).
 *
 * Row r = (b * heads + h) * S + s of y reads row (b * S + s) * heads + h of x when `moved`, else row r of x, and row
 * r % rows of cos and sin. One thread computes N elements of the first half and those opposite to them.
 *
 * N  elements of a load; they divide half a row
 */
template<bool ALIGNED>
__device__ __forceinline__ void rotate(const T *x, const T *c, const T *s, T *y, int half, float scale)
{
	const pm_vec<T, N> a = pm_load<N, ALIGNED>(x), b = pm_load<N, ALIGNED>(x + half);
	const pm_vec<T, N> ca = pm_load<N, ALIGNED>(c), cb = pm_load<N, ALIGNED>(c + half);
	const pm_vec<T, N> sa = pm_load<N, ALIGNED>(s), sb = pm_load<N, ALIGNED>(s + half);
	pm_vec<T, N> ya, yb;

	for (int i = 0; i < N; i++) {
		ya[i] = st((ld(a[i]) * ld(ca[i]) - ld(b[i]) * ld(sa[i])) * scale);
		yb[i] = st((ld(b[i]) * ld(cb[i]) + ld(a[i]) * ld(sb[i])) * scale);
	}
	pm_store<N, ALIGNED>(y, ya);
	pm_store<N, ALIGNED>(y + half, yb);
}

/* One pair of N elements per thread, n of them; `per` of half a row. */
extern "C" __global__ void rotary(const T *__restrict__ x, const T *__restrict__ c, const T *__restrict__ s, T *__restrict__ y,
				  int n, int per, int per_m, int per_s, int heads, int heads_m, int heads_s, int S, int S_m,
				  int S_s, int rows, int rows_m, int rows_s, int moved, float scale)
{
	typedef unsigned U;
	const pm_divisor by_per = { (U)per, (U)per_m, (U)per_s }, by_heads = { (U)heads, (U)heads_m, (U)heads_s },
			 by_S = { (U)S, (U)S_m, (U)S_s }, by_rows = { (U)rows, (U)rows_m, (U)rows_s };
	const U i = blockIdx.x * blockDim.x + threadIdx.x, r = by_per.quotient(i), q = by_S.quotient(r), b = by_heads.quotient(q);
	const U from = moved ? (b * S + (r - q * S)) * heads + (q - b * heads) : r;
	const int half = per * N, k = (i - r * per) * N, bytes = N * (int)sizeof(T);
	const U at = by_rows.rest(r) * 2 * half + k;

	if (i >= (U)n)
		return;
	x += from * 2 * half + k;
	y += r * 2 * half + k;
	if (pm_aligned(x, bytes) && pm_aligned(c, bytes) && pm_aligned(s, bytes) && pm_aligned(y, bytes))
		rotate<true>(x, c + at, s + at, y, half, scale);
	else
		rotate<false>(x, c + at, s + at, y, half, scale);
}
/* SPDX-License-Identifier: Apache-2.0 */
