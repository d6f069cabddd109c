/* scatter_tile.cu - ScatterElements seen from the result: y[o, j] is x[o, j] joined with those u[o, i] whose idx[o, i]
 * is j, in order. Without a join: scatter_last.cu.
 *
 * A block holds R places of C lines in shared memory and takes the lines' updates in pieces of CH. Neighbouring threads
 * read neighbours along the axis (LAST) or along the lines, of PIECES pieces at once: loops over a thread's elements
 * have known lengths, and nothing is put away before all of it was asked for. Each thread then leaves a bit for every
 * update of its own that has its place here, in a word of the thread that has the place, and a bit for that word. That
 * thread joins them, so that sums are made in the order of the updates, and in A.
 *
 * PICKED: of updates only those are read that have their place here, behind the indices.
 * SORTED: scatter_sort.cu was before, and a line's updates are those of its range, which has this tile.
 */

enum { G = B / C, WORDS = (CH + 31) / 32, OWN = R * C / B, EACH = CH * C / B };

/* Where neighbours along the axis are neighbouring threads', those are in different banks. */
#ifdef LAST
enum { PITCH = C + 1 - C % 2 };
#define ROW(q, n) ((q) % (n))
#define COL(q, n) ((q) / (n))
#else
enum { PITCH = C };
#define ROW(q, n) ((q) / C)
#define COL(q, n) ((q) % C)
#endif

KERNEL
{
	__shared__ A sum[R * PITCH], v[CH * PITCH];
	__shared__ unsigned bits[WORDS * B], words[B]; /* a thread looks at those of its places, every G-th of a line */
	__shared__ unsigned short at[CH * PITCH];      /* places in the tile */
#ifdef SORTED
	__shared__ I from[C]; /* of each line: where its updates begin, and their number */
	__shared__ int many[C], longest;
#endif
	const I tile = (I)blockIdx.x, across = Q_tiles(tile), j0 = (tile - across * tiles) * R, line0 = across * C;
	const int mine = threadIdx.x % C;
	T own[OWN];
#ifdef SORTED
	if (!threadIdx.x)
		longest = 0;
	__syncthreads();
	if (threadIdx.x < C) {
		const I line = line0 + mine < N_o ? line0 + mine : N_o - 1, sorted = OFF_o_1(line);
		const int *const range = first + sorted * (RANGES + 1) + (j0 >> SHIFT);

		from[mine] = sorted * len + range[0];
		many[mine] = line0 + mine < N_o ? range[1] - range[0] : 0;
		atomicMax(&longest, many[mine]);
	}
	__syncthreads();
	const I most = longest;
#else
	const I most = len;
#endif

#pragma unroll
	for (int w = 0; w < WORDS; w++)
		bits[w * B + threadIdx.x] = 0;
	words[threadIdx.x] = 0;
#pragma unroll
	for (int k = 0; k < OWN; k++) {
		const int q = threadIdx.x + k * B, r = ROW(q, R), c = COL(q, R);

		if (j0 + r < axis_dim && line0 + c < N_o)
			own[k] = x[OFF_o_0(line0 + c) + (j0 + r) * xs];
	}
	for (I i0 = 0; i0 < most || !i0; i0 += CH * PIECES) {
		int to[PIECES * EACH]; /* below 0 or not below R: it has no place here */
		T got[PIECES * EACH];

		/* Where there is none another one is read, without a branch. */
#pragma unroll
		for (int k = 0; k < PIECES * EACH; k++) {
			const int q = threadIdx.x + k % EACH * B, e = k / EACH * CH + ROW(q, CH), c = COL(q, CH);
			const I line = line0 + c < N_o ? line0 + c : N_o - 1;
#ifdef SORTED
			const uint2 next = i0 + e < many[c] ? order[from[c] + i0 + e] : make_uint2(0, ~0u);
			const I is_at = (int)next.y < 0 ? -1 : (I)next.y - j0, i = is_at >= 0 && is_at < R ? (I)next.x : 0;

			to[k] = (int)is_at;
#else
			const I i = i0 + e < len ? i0 + e : len - 1, j = (I)idx[OFF_o_1(line) + i * is];

			to[k] = i0 + e < len && line0 + c < N_o ? (int)(j + (j < 0 ? axis_dim : 0) - j0) : -1;
#endif
#ifndef PICKED
			got[k] = u[OFF_o_2(line) + i * us];
#endif
		}
#ifdef PICKED
#pragma unroll
		for (int k = 0; k < PIECES * EACH; k++) {
			const int q = threadIdx.x + k % EACH * B, e = k / EACH * CH + ROW(q, CH), c = COL(q, CH);

			if (to[k] >= 0 && to[k] < R)
				got[k] = u[OFF_o_2(line0 + c) + (i0 + e) * us];
		}
#endif
#pragma unroll
		for (int piece = 0; piece < PIECES; piece++) {
			if (piece && i0 + piece * CH >= most)
				break;
			__syncthreads();
			if (!piece && !i0) {
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
				const int place = to[piece * EACH + k], whose = place % G * C + c;

				if (place >= 0 && place < R) {
					v[e * PITCH + c] = (A)pm_ld(got[piece * EACH + k]);
					at[e * PITCH + c] = (unsigned short)place;
					atomicOr(&bits[e / 32 * B + whose], 1u << e % 32);
					atomicOr(&words[whose], 1u << e / 32);
				}
			}
			__syncthreads();
			/* What the next one needs is under way while one is joined. */
			unsigned more = words[threadIdx.x], left = 0, w = 0;
			int place = -1;
			A b = 0;

			words[threadIdx.x] = 0;
			while (more | left) {
				if (!left) {
					w = __ffs((int)more) - 1;
					more &= more - 1;
					left = bits[w * B + threadIdx.x];
					bits[w * B + threadIdx.x] = 0;
				}
				const int e = ((int)w * 32 + __ffs((int)left) - 1) * PITCH + mine, next = at[e] * PITCH + mine;
				const A next_b = v[e];

				left &= left - 1;
				if (place >= 0) {
					const A a = sum[place];

					sum[place] = JOIN(a, b);
				}
				place = next;
				b = next_b;
			}
			if (place >= 0) {
				const A a = sum[place];

				sum[place] = JOIN(a, b);
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
