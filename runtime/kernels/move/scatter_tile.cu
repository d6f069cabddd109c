/* scatter_tile.cu - ScatterElements seen from the result: y[o, j] is x[o, j] joined with those u[o, i] whose idx[o, i]
 * is j, in order. Without a join: scatter_last.cu.
 *
 * A block holds R places (8 to 64) of C lines in shared memory and takes the lines' updates in pieces of CH. All threads
 * read a piece, neighbours along the axis (LAST) or along the lines, and leave a bit for each update that has its place
 * here, in a word of the warp that has the place; then that warp joins it, so that sums are made in the order of the
 * updates, and in A. What is read is under way together: loops over a thread's elements have known lengths, and nothing
 * is put away before all of it was asked for.
 *
 * SORTED: scatter_sort.cu was before, and a line's updates are those of its range, which has this tile.
 */

enum { C = 32, PITCH = C + 1, WARPS = B / 32, WORDS = (CH + 31) / 32, OWN = R * C / B, EACH = CH * C / B };

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
	__shared__ unsigned bits[WARPS * WORDS * C]; /* thread (warp, lane) looks at those of its places */
	__shared__ unsigned char at[CH * PITCH];     /* places in the tile */
#ifdef SORTED
	__shared__ I from[C]; /* of each line: where its updates begin, and their number */
	__shared__ int many[C];
#endif
	const I tile = (I)blockIdx.x, across = Q_tiles(tile), j0 = (tile - across * tiles) * R, line0 = across * C;
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	T own[OWN];
#ifdef SORTED
	const I sorted = OFF_o_1(line0 + lane < N_o ? line0 + lane : N_o - 1);
	const int *const range = first + sorted * (RANGES + 1) + (j0 >> SHIFT);
	const int mine = line0 + lane < N_o ? range[1] - range[0] : 0;
	int most = mine;

	for (int d = 16; d; d /= 2) {
		const int other = __shfl_xor_sync(0xffffffffu, most, d);

		most = other > most ? other : most;
	}
	if (!warp) {
		from[lane] = sorted * len + range[0];
		many[lane] = mine;
	}
	__syncthreads();
#else
	const I most = len;
#endif

#pragma unroll
	for (int w = 0; w < WORDS; w++)
		bits[(warp * WORDS + w) * C + lane] = 0;
#pragma unroll
	for (int k = 0; k < OWN; k++) {
		const int q = threadIdx.x + k * B, r = ROW(q, R), c = COL(q, R);

		if (j0 + r < axis_dim && line0 + c < N_o)
			own[k] = x[OFF_o_0(line0 + c) + (j0 + r) * xs];
	}
	for (I i0 = 0; i0 < most || !i0; i0 += CH) {
		I j[EACH];
		T got[EACH];
#ifdef SORTED
		uint2 next[EACH];

#pragma unroll
		for (int k = 0; k < EACH; k++) {
			const int q = threadIdx.x + k * B, e = ROW(q, CH), c = COL(q, CH);

			next[k] = i0 + e < many[c] ? order[from[c] + i0 + e] : make_uint2(0, ~0u);
		}
#endif

		/* Where there is none another one is read, without a branch. */
#pragma unroll
		for (int k = 0; k < EACH; k++) {
			const int q = threadIdx.x + k * B, e = ROW(q, CH), c = COL(q, CH);
			const I line = line0 + c < N_o ? line0 + c : N_o - 1;
#ifdef SORTED
			const I to = (I)(int)next[k].y - j0, i = to >= 0 && to < R ? (I)next[k].x : 0;

			j[k] = to;
#else
			const I i = i0 + e < len ? i0 + e : len - 1;

			j[k] = (I)idx[OFF_o_1(line) + i * is];
#endif
			got[k] = u[OFF_o_2(line) + i * us];
		}
		__syncthreads();
		if (!i0) {
#pragma unroll
			for (int k = 0; k < OWN; k++) {
				const int q = threadIdx.x + k * B, r = ROW(q, R), c = COL(q, R);

				if (j0 + r < axis_dim && line0 + c < N_o)
					sum[r * PITCH + c] = (A)pm_ld(own[k]);
			}
		}
#pragma unroll
		for (int k = 0; k < EACH; k++) {
			const int q = threadIdx.x + k * B, e = ROW(q, CH), c = COL(q, CH);
#ifdef SORTED
			const I to = j[k];
#else
			const I to = i0 + e < len && line0 + c < N_o ? j[k] + (j[k] < 0 ? axis_dim : 0) - j0 : -1;
#endif

			if (to >= 0 && to < R) {
				v[e * PITCH + c] = (A)pm_ld(got[k]);
				at[e * PITCH + c] = (unsigned char)to;
				atomicOr(&bits[((int)to % WARPS * WORDS + e / 32) * C + c], 1u << e % 32);
			}
		}
		__syncthreads();
		for (int w = 0; w < WORDS; w++) {
			unsigned left = bits[(warp * WORDS + w) * C + lane];

			bits[(warp * WORDS + w) * C + lane] = 0;
			for (; left; left &= left - 1) {
				const int e = (w * 32 + __ffs((int)left) - 1) * PITCH + lane,
					  to = at[e] * PITCH + lane;
				const A a = sum[to], b = v[e];

				sum[to] = JOIN(a, b);
			}
		}
	}
	__syncthreads();
#pragma unroll
	for (int k = 0; k < OWN; k++) {
		const int q = threadIdx.x + k * B, r = ROW(q, R), c = COL(q, R);

		if (j0 + r < axis_dim && line0 + c < N_o)
			pm_st(&y[OFF_o_3(line0 + c) + (j0 + r) * ys], sum[r * PITCH + c]);
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
