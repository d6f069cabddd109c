/* heads.cu - y[b, h, s, d] = (x[b, s, h, d] + bias[h, d]) * scale: heads moved in front of the sequence.
 *
 * N  elements of a thread; they divide D
 */
template<bool ALIGNED>
__device__ __forceinline__ void run(const T *x, const T *bias, T *y, float scale)
{
	const pm_vec<T, N> v = pm_load<N, ALIGNED>(x), c = pm_load<N, ALIGNED>(bias);
	pm_vec<T, N> out;

	for (int j = 0; j < N; j++)
		out[j] = st((ld(v[j]) + ld(c[j])) * scale);
	pm_store<N, ALIGNED>(y, out);
}

extern "C" __global__ void heads(const T *__restrict__ x, const T *__restrict__ bias, T *__restrict__ y, int n, int per,
				 int per_m, int per_s, int S, int S_m, int S_s, int H, int H_m, int H_s, float scale)
{
	typedef unsigned U;
	const pm_divisor by_per = { (U)per, (U)per_m, (U)per_s }, by_S = { (U)S, (U)S_m, (U)S_s },
			 by_H = { (U)H, (U)H_m, (U)H_s };
	const U i = blockIdx.x * blockDim.x + threadIdx.x, r = by_per.quotient(i), q = by_S.quotient(r), b = by_H.quotient(q);
	const U k = (i - r * per) * N, s = r - q * S, h = q - b * H, D = per * N;

	if (i * N >= (U)n)
		return;
	x += ((b * S + s) * H + h) * D + k;
	bias += h * D + k;
	y += i * N;
	if (pm_aligned(x, N * (int)sizeof(T)) && pm_aligned(bias, N * (int)sizeof(T)) && pm_aligned(y, N * (int)sizeof(T)))
		run<true>(x, bias, y, scale);
	else
		run<false>(x, bias, y, scale);
}
/* SPDX-License-Identifier: Apache-2.0 */
