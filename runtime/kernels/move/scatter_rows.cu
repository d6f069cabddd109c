/* scatter_rows.cu - ScatterElements that joins, where all lines have the same indices: y[j, line] is x[j, line] joined
 * with those u[i, line] whose idx[i] is j, in order.
 *
 * Each warp has a place of 32 * V lines: its threads have neighbouring lines. The block takes CH indices at once and
 * leaves a bit for every update that has a place here. Each warp then puts the numbers of its place's updates in a list,
 * in order, and joins their rows in registers, MANY of them under way at once. So an index is read once for a block, and
 * an update only where it goes. A warp of several places would wait for each of them.
 */

enum { EACH = CH / B, WORDS = CH / 32 };
static_assert(R == B / 32, "a warp for each place");

/* The rows listed are joined with what the threads have of a place. */
static __device__ __forceinline__ void join_rows(A (&sum)[V], const T *const (&u)[V], const unsigned short *list, int n, I us)
{
	for (int n0 = 0; n0 < n; n0 += MANY) {
		T got[MANY][V];

		/* Where there is none another one is read, without a branch. */
#pragma unroll
		for (int k = 0; k < MANY; k++)
#pragma unroll
			for (int v = 0; v < V; v++)
				got[k][v] = u[v][list[n0 + k < n ? n0 + k : n - 1] * us];
#pragma unroll
		for (int k = 0; k < MANY; k++)
#pragma unroll
			for (int v = 0; v < V; v++)
				if (n0 + k < n) {
					const A a = sum[v], b = (A)pm_ld(got[k][v]);

					sum[v] = JOIN(a, b);
				}
	}
}

/* The numbers of the bits of a word for each thread of a warp, in order; returns how many there are. */
static __device__ __forceinline__ int list_bits(unsigned word, unsigned short *list)
{
	const int lane = threadIdx.x % 32, own = __popc(word);
	int at = own;

	for (int d = 1; d < 32; d *= 2) {
		const int lower = __shfl_up_sync(0xffffffffu, at, d);

		at += lane >= d ? lower : 0;
	}
	const int all = __shfl_sync(0xffffffffu, at, 31);

	for (at -= own; word; word &= word - 1)
		list[at++] = (unsigned short)(lane * 32 + __ffs((int)word) - 1);
	__syncwarp();
	return all;
}

/* Where updates i0 + threadIdx.x, B apart, go: below 0 or not below R, to none of the block's places. */
template <class J> static __device__ __forceinline__ void look(I (&to)[EACH], const J *idx, I step, I i0, I n, I j0, I places)
{
#pragma unroll
	for (int k = 0; k < EACH; k++) {
		const I i = i0 + threadIdx.x + k * B, j = (I)idx[(i < n ? i : n - 1) * step];

		to[k] = i < n ? j + (j < 0 ? places : 0) - j0 : -1;
	}
}

KERNEL
{
	__shared__ unsigned bits[R * WORDS];
	__shared__ unsigned short lists[R * CH];
	const I tile = (I)blockIdx.x, across = Q_tiles(tile), j0 = (tile - across * tiles) * R, line0 = across * (32 * V);
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const I j = j0 + warp < axis_dim ? j0 + warp : axis_dim - 1;
	const T *from[V];
	I to[EACH];
	A sum[V];

	for (int q = threadIdx.x; q < R * WORDS; q += B)
		bits[q] = 0;
	if (len)
		look(to, idx, is, 0, len, j0, axis_dim);
#pragma unroll
	for (int v = 0; v < V; v++) {
		const I line = line0 + v * 32 + lane < N_o ? line0 + v * 32 + lane : N_o - 1;

		from[v] = u + OFF_o_2(line);
		sum[v] = (A)pm_ld(x[OFF_o_0(line) + j * xs]);
	}
	for (I i0 = 0; i0 < len; i0 += CH) {
		unsigned word = 0;

		__syncthreads();
#pragma unroll
		for (int k = 0; k < EACH; k++)
			if (to[k] >= 0 && to[k] < R)
				atomicOr(&bits[to[k] * WORDS + warp + k * R], 1u << lane);
		__syncthreads();
		/* The next indices are under way while these updates are joined. */
		if (i0 + CH < len)
			look(to, idx, is, i0 + CH, len, j0, axis_dim);
		if (lane < WORDS) {
			word = bits[warp * WORDS + lane];
			bits[warp * WORDS + lane] = 0;
		}
		const int n = list_bits(word, lists + warp * CH);

		join_rows(sum, from, lists + warp * CH, n, us);
#pragma unroll
		for (int v = 0; v < V; v++)
			from[v] += CH * us;
	}
#pragma unroll
	for (int v = 0; v < V; v++) {
		const I line = line0 + v * 32 + lane;

		if (j0 + warp < axis_dim && line < N_o)
			pm_st(&y[OFF_o_3(line) + j * ys], sum[v]);
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
