/* tiles.cu - a batched transposition with an epilogue: y[b, skip + q, r] = (x[b, r, q] + bias) * scale + pos[skip + q, r].
 *
 * x is [B, R, Q], y [B, skip + Q, R]; rows before `skip` are head[t, r] + pos[t, r]. `bias` has one element per r
 * (BIAS 1) or per q (BIAS 2). Tiles of 32 x 32 go through shared memory, so that reads and writes are both along
 * rows. Block: 32 x 8; grid: y's rows, R, B.
 *
 * BIAS  0: none  1: bias[r]  2: bias[q]
 * POS   1: add pos   SKIP 1: there is a head
 */
extern "C" __global__ void transpose_tiles(const T *x, const T *bias, const T *pos, const T *head, T *y, int R, int Q,
					   int skip, float scale)
{
	__shared__ float tile[32][33];
	const long long b = blockIdx.z;
	const int rows = skip + Q, t0 = blockIdx.x * 32, r0 = blockIdx.y * 32;

#pragma unroll
	for (int j = threadIdx.y; j < 32; j += 8) {
		const int r = r0 + j, t = t0 + threadIdx.x, q = t - skip;
		float v = 0.f;

		if (r < R && t < rows && q >= 0) {
			v = ld(x[(b * R + r) * Q + q]);
#if BIAS == 1
			v += ld(bias[r]);
#elif BIAS == 2
			v += ld(bias[q]);
#endif
			v *= scale;
		}
		tile[j][threadIdx.x] = v;
	}
	__syncthreads();
#pragma unroll
	for (int j = threadIdx.y; j < 32; j += 8) {
		const int r = r0 + threadIdx.x, t = t0 + j;

		if (r >= R || t >= rows)
			continue;
		float v = tile[threadIdx.x][j];

#if SKIP
		if (t < skip)
			v = ld(head[(long long)t * R + r]);
#endif
#if POS
		v += ld(pos[(long long)t * R + r]);
#endif
		y[(b * rows + t) * R + r] = st(v);
	}
}
