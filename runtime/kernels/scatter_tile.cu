/* scatter_tile.cu - ScatterElements seen from the result: y[o, j] is x[o, j] joined with those u[o, i] whose idx[o, i]
 * is j, in order; without a join the last of them.
 *
 * A block holds R places (8 to 64) of C lines in shared memory and takes the lines' updates in pieces of CH. All threads
 * read a piece, neighbours along the axis (LAST) or along the lines; then the warp that has an update's place joins it,
 * so that sums are made in the order of the updates, and in A.
 */

enum { C = 32, PITCH = C + 1, WARPS = B / 32, AHEAD = 8 };

#ifdef LAST
#define ROW(q, n) ((q) % (n))
#define COL(q, n) ((q) / (n))
#else
#define ROW(q, n) ((q) / C)
#define COL(q, n) ((q) % C)
#endif

KERNEL
{
	__shared__ A sum[R * PITCH], v[CH * PITCH];
	__shared__ signed char at[CH * PITCH]; /* places in the tile, -1 = in another one */
	const I tile = (I)blockIdx.x, across = Q_tiles(tile), j0 = (tile - across * tiles) * R, line0 = across * C;
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	for (int q = threadIdx.x; q < R * C; q += B) {
		const int r = ROW(q, R), c = COL(q, R);

		if (j0 + r < axis_dim && line0 + c < N_o)
			sum[r * PITCH + c] = (A)pm_ld(x[OFF_o_0(line0 + c) + (j0 + r) * xs]);
	}
	for (I i0 = 0; i0 < len; i0 += CH) {
		if (i0)
			__syncthreads();
		/* What is not there reads the last one, so that all reads are under way at once. */
#pragma unroll
		for (int q = threadIdx.x; q < CH * C; q += B) {
			const int e = ROW(q, CH), c = COL(q, CH), there = i0 + e < len && line0 + c < N_o;
			const I i = i0 + e < len ? i0 + e : len - 1, line = line0 + c < N_o ? line0 + c : N_o - 1;
			long long j = (long long)idx[OFF_o_1(line) + i * is];

			v[e * PITCH + c] = (A)pm_ld(u[OFF_o_2(line) + i * us]);
			j += (j < 0 ? axis_dim : 0) - j0;
			at[e * PITCH + c] = (signed char)(there && j >= 0 && j < R ? j : -1);
		}
		__syncthreads();
		for (int e0 = 0; e0 < CH && i0 + e0 < len; e0 += AHEAD) {
			int to[AHEAD];

#pragma unroll
			for (int k = 0; k < AHEAD; k++)
				to[k] = at[(e0 + k) * PITCH + lane];
#pragma unroll
			for (int k = 0; k < AHEAD; k++)
				if (to[k] >= 0 && to[k] % WARPS == warp) {
					const A a = sum[to[k] * PITCH + lane], b = v[(e0 + k) * PITCH + lane];

					sum[to[k] * PITCH + lane] = JOIN(a, b);
				}
		}
	}
	__syncthreads();
	for (int q = threadIdx.x; q < R * C; q += B) {
		const int r = ROW(q, R), c = COL(q, R);

		if (j0 + r < axis_dim && line0 + c < N_o)
			pm_st(&y[OFF_o_3(line0 + c) + (j0 + r) * ys], sum[r * PITCH + c]);
	}
}
