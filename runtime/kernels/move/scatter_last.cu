/* scatter_last.cu - a scatter that replaces, seen from the result: y[o, j] is the last of those u[o, i] whose idx[o, i]
 * is j, or x[o, j] where there is none.
 *
 * A block has R places of C lines (neighbours lie along the axis, LAST, or along the lines). It looks through the
 * indices of LINES of them (C, or 1 where all lines have the same indices), B * EACH at once, and keeps for each place
 * the number of the last update, which no order of threads changes. So memory is waited for twice: for indices, and for
 * x or u.
 *
 * SORTED: scatter_sort.cu was before, and a line's updates are those of its range, which has this tile.
 */

enum { TURN = B * EACH / LINES, OWN = R * C / B };

#ifdef LAST
#define ALONG(q, n, c) ((q) % (n))
#define ACROSS(q, n, c) ((q) / (n))
#else
#define ALONG(q, n, c) ((q) / (c))
#define ACROSS(q, n, c) ((q) % (c))
#endif

KERNEL
{
	__shared__ int last[R * LINES];
#ifdef SORTED
	__shared__ I from[LINES]; /* of each line: where its updates begin, and their number */
	__shared__ int many[LINES], most;
#endif
	const I tile = (I)blockIdx.x, across = Q_tiles(tile), j0 = (tile - across * tiles) * R, line0 = across * C;
	T own[OWN];

	for (int q = threadIdx.x; q < R * LINES; q += B)
		last[q] = -1;
#ifdef SORTED
	if (!threadIdx.x)
		most = 0;
	__syncthreads();
	if (threadIdx.x < LINES && line0 + threadIdx.x < N_o) {
		const I sorted = OFF_o_1(line0 + threadIdx.x);
		const int *const range = first + sorted * (RANGES + 1) + (j0 >> SHIFT);

		from[threadIdx.x] = sorted * len + range[0];
		many[threadIdx.x] = range[1] - range[0];
		atomicMax(&most, many[threadIdx.x]);
	} else if (threadIdx.x < LINES) {
		many[threadIdx.x] = 0;
	}
	__syncthreads();
	for (I i0 = 0; i0 < most; i0 += TURN) {
		uint2 next[EACH];

#pragma unroll
		for (int k = 0; k < EACH; k++) {
			const int q = threadIdx.x + k * B, e = ALONG(q, TURN, LINES), c = ACROSS(q, TURN, LINES);

			next[k] = i0 + e < many[c] ? order[from[c] + i0 + e] : make_uint2(0, ~0u);
		}
#pragma unroll
		for (int k = 0; k < EACH; k++) {
			const int q = threadIdx.x + k * B, c = ACROSS(q, TURN, LINES);
			const I to = (I)(int)next[k].y - j0;

			if ((int)next[k].y >= 0 && to >= 0 && to < R)
				atomicMax(&last[(int)to * LINES + c], (int)next[k].x);
		}
	}
#else
	__syncthreads();
	for (I i0 = 0; i0 < len; i0 += TURN) {
		I j[EACH];

		/* Where there is none the last one is read, without a branch. */
#pragma unroll
		for (int k = 0; k < EACH; k++) {
			const int q = threadIdx.x + k * B, e = ALONG(q, TURN, LINES), c = ACROSS(q, TURN, LINES);
			const I i = i0 + e < len ? i0 + e : len - 1, line = line0 + c < N_o ? line0 + c : N_o - 1;

			j[k] = (I)idx[OFF_o_1(line) + i * is];
		}
#pragma unroll
		for (int k = 0; k < EACH; k++) {
			const int q = threadIdx.x + k * B, e = ALONG(q, TURN, LINES), c = ACROSS(q, TURN, LINES);
			const I to = j[k] + (j[k] < 0 ? axis_dim : 0) - j0;

			if (i0 + e < len && to >= 0 && to < R)
				atomicMax(&last[(int)to * LINES + c], (int)(i0 + e));
		}
	}
#endif
	__syncthreads();
	/* All are asked for before any is put away; where there is none another one is read, without a branch. */
#pragma unroll
	for (int k = 0; k < OWN; k++) {
		const int q = threadIdx.x + k * B, r = ALONG(q, R, C), c = ACROSS(q, R, C);
		const I line = line0 + c < N_o ? line0 + c : N_o - 1, j = j0 + r < axis_dim ? j0 + r : axis_dim - 1;
		const int i = last[r * LINES + c % LINES];

		own[k] = *(i < 0 ? x + OFF_o_0(line) + j * xs : u + OFF_o_2(line) + i * us);
	}
#pragma unroll
	for (int k = 0; k < OWN; k++) {
		const int q = threadIdx.x + k * B, r = ALONG(q, R, C), c = ACROSS(q, R, C);

		if (j0 + r < axis_dim && line0 + c < N_o)
			y[OFF_o_3(line0 + c) + (j0 + r) * ys] = own[k];
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
