/* matmul_tile.cu - matmul.cu's product in squares of TILE x TILE results: a block takes both operands through shared
 * memory, DEPTH of the summed dimension at a time; a thread makes 4 x 4 results.
 *
 * A_FAST and B_FAST: the operand's neighbours lie along the summed dimension.
 */

#define SIDE (TILE / 4)

KERNEL
{
	__shared__ A as[DEPTH][TILE + 4], bs[DEPTH][TILE + 4];
	const int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
	const I down = Q_tiles_n((I)blockIdx.x), n0 = ((I)blockIdx.x - down * tiles_n) * TILE;
	const I batch = Q_tiles_m(down), m0 = (down - batch * tiles_m) * TILE;
	A sum[4][4];

	a += OFF_o_0(batch);
	b += OFF_o_1(batch);
#pragma unroll
	for (int i = 0; i < 16; i++)
		sum[i / 4][i % 4] = 0;
	for (I k0 = 0; k0 < depth; k0 += DEPTH) {
#pragma unroll
		for (int e = threadIdx.x; e < TILE * DEPTH; e += B) {
#ifdef A_FAST
			const int am_ = e / DEPTH, ak_ = e % DEPTH;
#else
			const int am_ = e % TILE, ak_ = e / TILE;
#endif
#ifdef B_FAST
			const int bn_ = e / DEPTH, bk_ = e % DEPTH;
#else
			const int bn_ = e % TILE, bk_ = e / TILE;
#endif

			as[ak_][am_] = m0 + am_ < rows && k0 + ak_ < depth ?
			                       (A)pm_ld(a[(m0 + am_) * am + (k0 + ak_) * ak]) : (A)0;
			bs[bk_][bn_] = n0 + bn_ < cols && k0 + bk_ < depth ?
			                       (A)pm_ld(b[(k0 + bk_) * bk + (n0 + bn_) * bn]) : (A)0;
		}
		__syncthreads();
#pragma unroll
		for (int d = 0; d < DEPTH; d++) {
			A u[4], v[4];

#pragma unroll
			for (int i = 0; i < 4; i++) {
				u[i] = as[d][ty * 4 + i];
				v[i] = bs[d][tx * 4 + i];
			}
#pragma unroll
			for (int i = 0; i < 16; i++)
				sum[i / 4][i % 4] += u[i / 4] * v[i % 4];
		}
		__syncthreads();
	}
#pragma unroll
	for (int i = 0; i < 16; i++) {
		const I row = m0 + ty * 4 + i / 4, col = n0 + tx * 4 + i % 4;
		A s = sum[i / 4][i % 4];

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
