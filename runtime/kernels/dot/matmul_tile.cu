/* matmul_tile.cu - matmul.cu's product in squares of TILE x TILE results: a block takes both operands through shared
 * memory, DEPTH of the summed dimension at a time; a thread makes EACH x EACH results.
 *
 * A_FAST and B_FAST: the operand's neighbours lie along the summed dimension.
 */

#define SIDE (TILE / EACH)

/* Where element e of a tile lies in it. */
#ifdef A_FAST
#define A_M(e) ((e) / DEPTH)
#define A_K(e) ((e) % DEPTH)
#else
#define A_M(e) ((e) % TILE)
#define A_K(e) ((e) / TILE)
#endif
#ifdef B_FAST
#define B_N(e) ((e) / DEPTH)
#define B_K(e) ((e) % DEPTH)
#else
#define B_N(e) ((e) % TILE)
#define B_K(e) ((e) / TILE)
#endif

KERNEL
{
	enum { PITCH = TILE + (EACH == 4 ? 4 : 1), /* four neighbours are read at once */
	       MINE = TILE * DEPTH / B };
	__shared__ A as[DEPTH][PITCH], bs[DEPTH][PITCH];
	const int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
	const I down = Q_tiles_n((I)blockIdx.x), n0 = ((I)blockIdx.x - down * tiles_n) * TILE;
	const I batch = Q_tiles_m(down), m0 = (down - batch * tiles_m) * TILE;
	const T none = (T)0.0f;
	A sum[EACH][EACH];
	T next_a[MINE], next_b[MINE];

	a += OFF_o_0(batch);
	b += OFF_o_1(batch);
#pragma unroll
	for (int i = 0; i < EACH * EACH; i++)
		sum[i / EACH][i % EACH] = 0;
	/* What the next turn needs is under way while this one multiplies. */
	for (I k0 = -DEPTH; k0 < depth; k0 += DEPTH) {
		if (k0 >= 0) {
#pragma unroll
			for (int i = 0; i < MINE; i++) {
				const int e = threadIdx.x + i * B;

				as[A_K(e)][A_M(e)] = (A)pm_ld(next_a[i]);
				bs[B_K(e)][B_N(e)] = (A)pm_ld(next_b[i]);
			}
			__syncthreads();
		}
		if (k0 + DEPTH < depth) {
#pragma unroll
			for (int i = 0; i < MINE; i++) {
				const int e = threadIdx.x + i * B;
				const I ka = k0 + DEPTH + A_K(e), kb = k0 + DEPTH + B_K(e);

				next_a[i] = m0 + A_M(e) < rows && ka < depth ? a[(m0 + A_M(e)) * am + ka * ak] : none;
				next_b[i] = n0 + B_N(e) < cols && kb < depth ? b[kb * bk + (n0 + B_N(e)) * bn] : none;
			}
		}
		if (k0 < 0)
			continue;
#pragma unroll
		for (int d = 0; d < DEPTH; d++) {
			A u[EACH], v[EACH];

#pragma unroll
			for (int i = 0; i < EACH; i++) {
				u[i] = as[d][ty * EACH + i];
				v[i] = bs[d][tx * EACH + i];
			}
#pragma unroll
			for (int i = 0; i < EACH * EACH; i++)
				sum[i / EACH][i % EACH] += u[i / EACH] * v[i % EACH];
		}
		__syncthreads();
	}
#pragma unroll
	for (int i = 0; i < EACH * EACH; i++) {
		const I row = m0 + ty * EACH + i / EACH, col = n0 + tx * EACH + i % EACH;
		A s = sum[i / EACH][i % EACH];

#ifdef GEMM
		s *= (A)alpha;
#endif
		if (row < rows && col < cols) {
#ifdef HAS_C
			s += (A)beta * (A)pm_ld(c[row * cm + col * cn]);
#endif
			pm_st(&y[(batch * rows + row) * cols + col], s);
		}
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
