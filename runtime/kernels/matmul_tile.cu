/* matmul_tile.cu - matmul.cu's product in squares of TILE x TILE results: a block takes both operands through shared
 * memory, DEPTH of the summed dimension at a time; a thread makes EACH x EACH results.
 *
 * A_FAST and B_FAST: the operand's neighbours lie along the summed dimension.
 */

#define SIDE (TILE / EACH)

KERNEL
{
	enum { PITCH = TILE + (EACH == 4 ? 4 : 1) }; /* four neighbours are read at once */
	__shared__ A as[DEPTH][PITCH], bs[DEPTH][PITCH];
	const int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
	const I down = Q_tiles_n((I)blockIdx.x), n0 = ((I)blockIdx.x - down * tiles_n) * TILE;
	const I batch = Q_tiles_m(down), m0 = (down - batch * tiles_m) * TILE;
	A sum[EACH][EACH];

	a += OFF_o_0(batch);
	b += OFF_o_1(batch);
#pragma unroll
	for (int i = 0; i < EACH * EACH; i++)
		sum[i / EACH][i % EACH] = 0;
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
