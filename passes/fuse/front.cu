/* front.cu - a product in a launch of its own, in front of the rest: parts of its sum, left in memory as floats.
 *
 * a is [m, K] with elements of a row side by side, b is [K, n] or, with ROWS, [n, K]. A block makes a tile for the elements k to end
 * of the sum (front_half.cu, front_float.cu). All its warps share pieces of K in shared memory, two buffers in turn, and D pieces more
 * are under way in registers. `m` and `n` are what is left of the matrix from the tile on, which begins at column `first`; what lies
 * behind is not read, and counts as 0. VA, V: elements of one access, along K, or along n for b without ROWS. `out` is the
 * tile's place; its rows are LDO elements apart, or with TURNED its columns.
 */

/* The product from S parts, SIZE elements apart: N neighbours of it, or one. Nothing stands between the loads, so that they are
 * under way together. */
template<int S, int SIZE, int C, int N> __device__ __forceinline__ void added_by(float (&v)[N], const float *p)
{
#pragma unroll
	for (int i = 0; i < N; i += C) {
		pm_vec<float, C> w[S];
#pragma unroll
		for (int s = 0; s < S; s++)
			w[s] = pm_load<C>(p + (long long)s * SIZE + i);
#pragma unroll
		for (int j = 0; j < C; j++) {
			v[i + j] = w[0][j];
#pragma unroll
			for (int s = 1; s < S; s++)
				v[i + j] += w[s][j];
		}
	}
}
template<int S, int SIZE, int N> __device__ __forceinline__ void added(float (&v)[N], const float *p)
{
	const int C = N < 4 ? N : 4;
	if (SIZE % C == 0 && pm_aligned(p, C * 4))
		added_by<S, SIZE, SIZE % C ? 1 : C>(v, p);
	else
		added_by<S, SIZE, 1>(v, p);
}
template<int S, int SIZE> __device__ __forceinline__ float added(const float *p)
{
	float sum = p[0];
#pragma unroll
	for (int s = 1; s < S; s++)
		sum += p[(long long)s * SIZE];
	return sum;
}

/* Four neighbours of a row of the result, of which `left` exist. */
template<int LDO, bool TURNED> __device__ __forceinline__ void leave(float *p, int left, const float (&v)[4])
{
	if (!TURNED && LDO % 4 == 0) {
		if (left > 0)
			*reinterpret_cast<float4 *>(p) = make_float4(v[0], v[1], v[2], v[3]);
		return;
	}
#pragma unroll
	for (int j = 0; j < 4; j++)
		if (j < left)
			p[(long long)j * (TURNED ? LDO : 1)] = v[j];
}

/* The image of a convolution as a matrix: row k is a place in the window of a channel, a column a pixel of the result. */
template<int H, int W, int OW, int KH, int KW, int SH, int SW, int DH, int DW, int PH, int PW> struct Window {
	int y, x;

	__device__ __forceinline__ explicit Window(int pixel) : y(pixel / OW * SH - PH), x(pixel % OW * SW - PW)
	{
	}

	/* Where its element lies; -1 when that is padding. */
	__device__ __forceinline__ int at(int k) const
	{
		const unsigned c = (unsigned)k / (KH * KW), r = k - c * (KH * KW), u = r / KW, v = r - u * KW;
		const int i = y + (int)u * DH, j = x + (int)v * DW;
		return (unsigned)i < H && (unsigned)j < W ? ((int)c * H + i) * W + j : -1;
	}
};
/* SPDX-License-Identifier: Apache-2.0 */
